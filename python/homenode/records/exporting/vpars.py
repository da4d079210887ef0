"""The layout of virtual partitions on a machine of cells as commands of their monitor.

Cores and memory are added by cell (CLM), those of no cell by count and size (ILM), as
`vparresources(5)` writes them for vPars A.04 and later. The partition must be down and not have
these resources yet.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from shlex import quote
from typing import TYPE_CHECKING

from homenode.model.scenario import Scenario
from homenode.records.exporting.commands import Commands
from homenode.records.exporting.errors import ExportError
from homenode.records.exporting.options import ExportOptions
from homenode.records.exporting.registry import Exporter
from homenode.tools.errors import ToolError
from homenode.tools.vparstatus import Processors, VirtualPartition, told

if TYPE_CHECKING:
    from homenode.simulate.run import Run


_BY_PATH = re.compile("-a cpu:[^:]")
"""An option that asks for a core by its path."""


def commands(run: Run, options: ExportOptions) -> Iterator[str]:
    """The lines; `ExportError` on a machine without cells or without virtual partitions."""
    partitions = _told(run, options.partitions(run))
    yield f"# The layout of {run.name} as commands of the vPars monitor. homenode runs none of"
    yield "# them. Each partition must be down, and not have what is added here."
    yield "# Granules (-g) can be set with the first vparcreate only, which makes the database."
    for number, partition in enumerate(partitions):
        create = f"vparcreate -p {quote(partition['name'])}{'' if number else _granules(partition)}"
        yield ""
        yield f"# {partition['name']}; if it is not there yet: {create}"
        yield f"# boots on {partition['processors']['boot']}"
        yield f"vparmodify -p {quote(partition['name'])} {' '.join(_resources(partition))}"


def changed(before: Run, after: Run) -> Iterator[str]:
    """From one layout of the same partitions to the other: what is taken away in all of them
    first, then what is given. `ExportError` where there is no monitor, and for cores by path:
    whether those that are taken away count less then is not known.
    """
    ours, others = ({one["name"]: one for one in _told(run, ())} for run in (before, after))
    lines: dict[str, list[str]] = {"-d": [], "-a": []}
    for name, partition in others.items():
        old, new = ([*_resources(one)] for one in (ours[name], partition))
        gone = [one for one in old if one not in new and not one.startswith("-m")]
        come = [one for one in new if one not in old]
        if any(_BY_PATH.match(one) for one in (*gone, *come)):
            raise ExportError(f"cores of {name} are asked for by path, and others than before")
        taken = [one.replace("-a", "-d", 1) for one in gone]
        for word, options in (("-d", taken), ("-a", come)):
            lines[word] += [f"vparmodify -p {quote(name)} {' '.join(options)}"] if options else []
    if any(lines.values()):
        yield "# Each partition must be down. What is taken away first, then what is given:"
        yield from (*lines["-d"], *lines["-a"])


def _told(run: Run, names: Sequence[str]) -> list[VirtualPartition]:
    resolved = Scenario.load(run.path / "scenario.toml").resolved
    try:
        return told(resolved, names)
    except ToolError as error:
        raise ExportError(
            f"run {run.id} holds no virtual partitions: {error}",
            next_step="hmc and zvm are the forms for Power and for IBM Z",
        ) from error


def _granules(partition: VirtualPartition) -> str:
    """Written to the firmware, too, without which the monitor would not boot with them."""
    memory = partition["memory"]
    sizes = (("ILM", memory["interleaved"]["granule"]), ("CLM", memory["local"]["granule"]))
    return "".join(f" -g {kind}:{megabytes}:y" for kind, megabytes in sizes)


def _resources(partition: VirtualPartition) -> Iterator[str]:
    processors, memory = partition["processors"], partition["memory"]
    yield f"-m cpu:::{processors['minimum']}:{processors['maximum']}"
    yield from _cores(processors)
    interleaved = memory["interleaved"]
    yield from _sizes("mem::", interleaved["megabytes"], interleaved["floating"])
    for part in memory["local"]["by_cell"]:
        yield from _sizes(f"cell:{part['cell']}:mem::", part["megabytes"], part["floating"])
    for path in partition["io"]:
        yield f"-a io:{path['path']}"


def _cores(processors: Processors) -> Iterator[str]:
    """By cell, the rest by count; then which of them are wanted by path. The core it boots on is
    asked for by path if the scenario did.
    """
    by_cell = {part["cell"]: part["count"] for part in processors["by_cell"]}
    for cell, count in by_cell.items():
        yield f"-a cell:{cell}:cpu::{count}"
    rest = processors["user_count"] + processors["monitor_count"]
    if rest:
        yield f"-a cpu::{rest}"
    for path in processors["user"]:
        yield f"-a cpu:{path}"
    if processors["user_count"] > len(processors["user"]):
        yield f"-a cpu:{processors['boot']}"


def _sizes(head: str, megabytes: int, floating: int) -> Iterator[str]:
    if megabytes - floating:
        yield f"-a {head}{megabytes - floating}:base"
    if floating:
        yield f"-a {head}{floating}:floating"


EXPORTER: Exporter = Commands(
    name="vpars",
    title="vparmodify commands for a layout of virtual partitions",
    make=commands,
)
