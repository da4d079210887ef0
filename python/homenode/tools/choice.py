"""Which of the tools of one name shows a partition: mpstat of AIX is another program than that of
Linux. Of a Linux or Xen host without a partition the host itself is shown.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

from homenode.model.catalog.policies import HOST_POLICIES
from homenode.tools.errors import ToolError
from homenode.tools.linux.system import LinuxSystem, guest_of, host_of
from homenode.tools.view import KeptRunView

if TYPE_CHECKING:
    from homenode.simulate.kept.kept_run import KeptRun

_OF_LINUX = ("mpstat", "vmstat", "sar")
_OF_HOSTS = {
    "pidstat": "pidstat",
    "domstats": "domstats",
    "virt-top": "virt_top",
    "xentop": "xentop",
    "esxtop": "esxtop",
    "numastat": "numastat",
}
_OF_HPUX = {"sar": "hpux_sar"}
_HPUX_LACKS = ("mpstat", "vmstat")


def tool_of(
    name: str, run: KeptRun, replication: int, named: str | None, only: Callable[[], str]
) -> tuple[ModuleType, KeptRunView | LinuxSystem, list[str]]:
    """The module of a tool, what it shows, and the words that name the partition to it. `only`
    gives the one partition, where none is named, or refuses.
    """
    view = KeptRunView.of(run, replication)
    hosted = run.spec["machine"]["hypervisor"]["policy"] in HOST_POLICIES
    if name in _OF_HOSTS:
        words = [] if named is None else ["-p", only()]
        return _linux(_OF_HOSTS[name]), host_of(view, name), words
    if hosted and named is None and name in _OF_LINUX:
        return _linux(name), host_of(view, name), []
    partition = only()
    system = _os_of(run, partition)
    if system == "linux" and name in _OF_LINUX:
        return _linux(name), guest_of(view, partition, name), []
    if system == "hpux" and name in _OF_HPUX:
        module = importlib.import_module(f"homenode.tools.{_OF_HPUX[name]}")
        return module, LinuxSystem(run, view, partition), []
    if system == "hpux" and name in _HPUX_LACKS:
        raise ToolError(
            f"{name}: partition {partition} of run {run.id} runs HP-UX",
            there="of its tools sar, vparstatus and parstatus are shown",
            next_step=f"`homenode sar -p {partition} -M` has each processor",
        )
    return importlib.import_module(f"homenode.tools.{name}"), view, ["-p", partition]


def _linux(module: str) -> ModuleType:
    return importlib.import_module(f"homenode.tools.linux.{module}")


def _os_of(run: Any, partition: str) -> str:
    """System in a partition."""
    guests = {one["name"]: one["guest"]["os"] for one in run.spec["partitions"]}
    return str(guests[partition])
