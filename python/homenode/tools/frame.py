"""The whole frame as lssrad would show it if it saw more than its own partition: on which nodes
(REF1) and chips (SRAD) everybody's memory and processors have their home.

Nodes and chips are numbered as they are built in, not as one partition counts them. No tool of AIX
prints this: the columns LPAR and ENT, the entitled cores there, are added.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from homenode.model.spec import PartitionSpec, Spec, chips_of, cores_of, shared_of, spec_at
from homenode.tools.lssrad import ranges
from homenode.tools.text_columns import page

_BYTES_PER_MB = 1 << 20
_WIDTH = 11
_NAME = 24


class FrameRow(TypedDict):
    """What a partition has at one place."""

    node: int
    chip: int | None
    """Counted over the whole machine; None for memory that hangs beside the node."""
    partition: str
    entitlement: float
    """Entitled cores that are at home there."""
    memory_bytes: int
    cpus: list[int]
    """Its logical processors that are at home there."""


def frame_rows(spec: Spec) -> list[FrameRow]:
    """A row for each partition at each place where it has anything, in the order of places."""
    machine = spec["machine"]
    each = int(machine["chips_per_node"])
    beside_chips = machine["memory_beside"] == "chip"
    found: list[FrameRow] = []
    for partition in spec_at(spec)["partitions"]:
        cpus = _cpus(partition, int(machine["cores_per_chip"]))
        memory = _memory(partition)
        count = sum(len(there) for there in cpus.values())
        chips = {*cpus, *memory} if beside_chips else {*cpus}
        found += [
            FrameRow(
                node=chip // each,
                chip=chip,
                partition=str(partition["name"]),
                entitlement=_entitled(partition) * len(cpus.get(chip, ())) / count
                if count
                else 0.0,
                memory_bytes=memory.get(chip, 0) if beside_chips else 0,
                cpus=cpus.get(chip, []),
            )
            for chip in chips
        ]
        found += [
            FrameRow(
                node=node,
                chip=None,
                partition=str(partition["name"]),
                entitlement=0.0,
                memory_bytes=size,
                cpus=[],
            )
            for node, size in (() if beside_chips else memory.items())
        ]
    # Sorting keeps the order of the partitions at each place.
    return sorted(found, key=lambda row: (row["node"], -1 if row["chip"] is None else row["chip"]))


def _entitled(partition: PartitionSpec) -> float:
    shared = shared_of(partition)
    return float(len(cores_of(partition)) if shared is None else shared["entitlement"])


def _cpus(partition: PartitionSpec, cores_per_chip: int) -> dict[int, list[int]]:
    """Logical processors by the chip where they are at home."""
    found: dict[int, list[int]] = {}
    smt = int(partition["smt"])
    for vp, chip in enumerate(chips_of(partition, cores_per_chip)):
        found.setdefault(chip, []).extend(range(vp * smt, (vp + 1) * smt))
    return found


def _memory(partition: PartitionSpec) -> dict[int, int]:
    """Bytes by domain; interleaved memory evenly over its domains."""
    found: dict[int, int] = {}
    for part in partition["memory"]:
        for domain in part["domains"]:
            found[domain] = found.get(domain, 0) + int(part["bytes"]) // len(part["domains"])
    return found


def render(spec: Spec) -> str:
    """The page: a line a node, beneath it a line for each partition at each chip."""
    rows = frame_rows(spec)
    name = max([len("LPAR"), *(len(row["partition"]) for row in rows)])
    head = (
        f"{'REF1':<5}{'SRAD':>6}   {'LPAR':<{name}}{'MEM':>{_WIDTH}}{'ENT':>{_WIDTH - 2}}      CPU"
    )
    lines, shown = [head], None
    for row in rows:
        if row["node"] != shown:
            shown = row["node"]
            lines.append(str(shown))
        lines.append(_line(row, name))
    return page(lines)


def _line(row: FrameRow, name: int) -> str:
    srad = "" if row["chip"] is None else str(row["chip"])
    memory = row["memory_bytes"] / _BYTES_PER_MB
    cpus = "".join(f" {part}" for part in ranges(row["cpus"]))
    text = f"{srad:>{_WIDTH}}   {row['partition']:<{name}}{memory:>{_WIDTH}.2f}"
    return f"{text}{row['entitlement']:>{_WIDTH - 2}.2f}     {cpus}".rstrip()


def rows(spec: Spec) -> list[dict[str, object]]:
    """The same as numbers, a dict a line."""
    return [
        {
            "REF1": row["node"],
            "SRAD": row["chip"],
            "LPAR": row["partition"],
            "MEM": row["memory_bytes"] / _BYTES_PER_MB,
            "ENT": row["entitlement"],
            "CPU": row["cpus"],
        }
        for row in frame_rows(spec)
    ]


__all__: Sequence[str] = ["FrameRow", "frame_rows", "render", "rows"]
