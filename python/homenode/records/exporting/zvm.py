"""The layout of IBM Z as z/VM would be told of it: what PR/SM needs for each partition (in
comments; it is set on the HMC), and for each z/VM its CP commands and the directory of its virtual
machines.

The first half of a partition's text is CP commands, the second half directory statements; an
asterisk starts a comment in both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from homenode.model.spec import (
    CpShareSpec,
    PartitionSpec,
    VirtualMachineSpec,
    ZvmSpec,
    processors_of,
    shared_of,
    zvm_of,
)
from homenode.records.exporting.commands import Commands
from homenode.records.exporting.errors import ExportError
from homenode.records.exporting.options import ExportOptions
from homenode.records.exporting.registry import Exporter

if TYPE_CHECKING:
    from homenode.simulate.answers import CpuPoolDetails
    from homenode.simulate.run import Run

NIC = "0600"
"""Device number of every virtual machine's network card."""
_MIB = 1 << 20
_LONGEST_NAME = 8


def commands(run: Run, options: ExportOptions) -> Iterator[str]:
    """The lines; `ExportError` on another machine."""
    if run.spec["machine"]["hypervisor"]["policy"] != "prsm":
        raise ExportError(
            f"run {run.id} is of {run.spec['machine']['name']}, which is no IBM Z",
            next_step="hmc and vpars are the forms for Power and for machines of cells",
        )
    yield f"* The layout of {run.name}. homenode runs none of the commands."
    for name in options.partitions(run):
        spec = run.partition_spec(name)
        yield ""
        yield from _partition(run, name, spec)
        guest = zvm_of(spec)
        if guest is not None:
            yield from _control_program(run, name, guest)
            yield from _directory(guest)


def _partition(run: Run, name: str, spec: PartitionSpec) -> Iterator[str]:
    """What the partition's image profile holds."""
    shared, details, count = shared_of(spec), run.details.get(name, {}), processors_of(spec)
    words = "dedicated" if shared is None else "shared"
    kind = str(details.get("core_type", "")).upper()
    yield f"* Partition {name.upper()}: {count} {words} {kind} cores"
    yield f"*   central storage {details.get('mem_mb', 0)} MB"
    if shared is None:
        return
    capped = "initial capping" if shared["capped"] else "not capped"
    yield f"*   processing weight {shared['weight']}, {capped}"
    more = shared.get("prsm")
    if more is None:
        return
    if more.get("cap") is not None:
        yield f"*   absolute cap {more['cap']:.2f} cores"
    if (index := more.get("group")) is not None:
        group = run.spec["groups"][index]
        yield f"*   group {group['name']}, absolute cap {group['cap']:.2f} cores together"
    if (soft := more.get("defined_capacity")) is not None:
        yield f"*   defined capacity {soft['cores']:g} cores' worth"


def _control_program(run: Run, name: str, guest: ZvmSpec) -> Iterator[str]:
    """CP commands: dispatching, virtual switches, who may couple to them, shares."""
    kind = str(run.details.get(name, {}).get("core_type", "all")).upper()
    kind = kind if kind in ("CP", "IFL", "ICF", "ZIIP") else "ALL"
    for things in (guest["switches"], guest["machines"], guest.get("cpu_pools", [])):
        _refuse_alike([thing["name"] for thing in things])
    yield "* CP commands"
    vertical = guest["vertical"]
    yield f"SET SRM POLARIZATION {'VERTICAL' if vertical else 'HORIZONTAL'}"
    if vertical:
        yield f"SET SRM UNPARKING {guest['unparking'].upper()}"
        yield f"SET SRM CPUPAD TYPE {kind} {100 * guest['cpupad']:.0f}%"
        yield f"SET SRM EXCESSUSE TYPE {kind} {guest['excessuse'].upper()}"
    yield f"SET SRM DSPSLICE {guest['minor_slice_ns'] / 1e6:g}"
    switches = guest["switches"]
    for switch in switches:
        layer = "ETHERNET" if switch["layer"] == "ethernet" else "IP"
        yield f"DEFINE VSWITCH {_name(switch['name'])} {layer} RDEV NONE"
    for machine in guest["machines"]:
        if machine["switch"] is not None:
            switch = switches[machine["switch"]]
            yield f"SET VSWITCH {_name(switch['name'])} GRANT {_name(machine['name'])}"
    for machine in guest["machines"]:
        yield f"SET SHARE {_name(machine['name'])} {_share(machine)}"
    yield from _pools(guest, run.details.get(name, {}).get("cpu_pools", []))


def _pools(guest: ZvmSpec, told: Sequence[CpuPoolDetails]) -> Iterator[str]:
    """CPU pools, and who is in which."""
    pools = guest.get("cpu_pools", [])
    for at, pool in enumerate(pools):
        # Runs that were kept before pools had details tell cores alone.
        how = told[at] if told else None
        part = None if how is None else how["limit"]
        most = f"CAPACITY {pool['cores']:.2f}" if part is None else f"LIMITHARD {100 * part:.2f}%"
        kind = "" if how is None else f" TYPE {how['type'].upper()}"
        yield f"DEFINE CPUPOOL {_name(pool['name'])} {most}{kind}"
    for machine in guest["machines"]:
        if (index := machine.get("cpu_pool")) is not None:
            yield f"SCHEDULE {_name(machine['name'])} {_name(pools[index]['name'])}"


def _directory(guest: ZvmSpec) -> Iterator[str]:
    """Directory statements of each virtual machine; passwords are for the reader to set."""
    yield "* Directory statements"
    for machine in guest["machines"]:
        size = _storage(machine["memory_bytes"])
        yield f"USER {_name(machine['name'])} AUTOONLY {size} {size} G"
        yield f" MACHINE ESA {machine['cpus']}"
        for cpu in range(machine["cpus"]):
            yield f" CPU {cpu:02X}{' BASE' if cpu == 0 else ''}"
        yield f" SHARE {_share(machine)}"
        if machine["switch"] is not None:
            switch = guest["switches"][machine["switch"]]
            yield f" NICDEF {NIC} TYPE QDIO LAN SYSTEM {_name(switch['name'])}"


def _name(name: str) -> str:
    """A name as CP takes it; `ExportError` where it is too long for it."""
    if len(name) > _LONGEST_NAME:
        raise ExportError(
            f"z/VM cannot name anything {name}",
            there=f"names have at most {_LONGEST_NAME} characters",
            next_step="give it a shorter name in the scenario",
        )
    return name.upper()


def _refuse_alike(names: Sequence[str]) -> None:
    """`ExportError` where CP, which knows capital letters only, would take two for one."""
    first: dict[str, str] = {}
    for name in names:
        other = first.setdefault(name.upper(), name)
        if other != name:
            raise ExportError(
                f"z/VM cannot tell {other} from {name}",
                there="its names have no small letters",
                next_step="give one of them another name in the scenario",
            )


def _share(machine: VirtualMachineSpec) -> str:
    """Operands of SHARE: what a machine is to get at least, and what it may get at most."""
    words = _amount(machine["share"])
    if machine["maximum"] is not None:
        words += f" {_amount(machine['maximum'])}"
        words += " LIMITHARD" if machine["limit_hard"] else " LIMITSOFT"
    return words


def _amount(share: CpShareSpec) -> str:
    if "absolute" in share:
        return f"ABSOLUTE {100 * share['absolute']:g}%"
    return f"RELATIVE {share['relative']:g}"


def _storage(size: int) -> str:
    megabytes = size // _MIB
    return f"{megabytes // 1024}G" if megabytes % 1024 == 0 else f"{megabytes}M"


EXPORTER: Exporter = Commands(
    name="zvm",
    title="z/VM directory statements and CP commands for a layout of IBM Z",
    make=commands,
)
