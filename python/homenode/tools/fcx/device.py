"""FCX108 DEVICE: the paging volumes, averaged over all of them as the toolkit's device groups are
(one line), or each by itself; and FCX176 CTLUNIT, the control units before them.

The heading of DEVICE is that of the report's excerpt in "Eighty Logical Processors" (IBM's z/VM
performance report), which puts the name of the run before it. What is not modelled is blank, that
is dots: links of minidisks, paths, times in a control unit's queue.
"""

from __future__ import annotations

from typing import TypedDict

import polars as pl

from homenode.simulate.kept.totals import NS_PER_S
from homenode.tools.errors import ToolError
from homenode.tools.fcx.heading import heading, narrow
from homenode.tools.fcx.plain import Cells, PlainTable
from homenode.tools.guestview import GuestView

_GROUPS = (
    "          <-- Device Descr. -->  Mdisk Pa- <-Rate/s-> <------- Time (msec) -------> "
    "Req. <Percent>"
)
_COLUMNS = (
    "Run       Addr Type   Label/ID   Links ths  I/O Avoid Pend Disc Conn Serv Resp CUWt "
    "Qued Busy READ"
)
HEADING = (_GROUPS, _COLUMNS, "")
GROUP = "PAGING"
_RUN = 8


class DeviceRow(TypedDict):
    """A volume, or all of them: requests a second, times in ms, requests that wait, percent."""

    address: str
    volumes: int
    io_per_s: float
    pend_ms: float
    disc_ms: float
    conn_ms: float
    serv_ms: float
    resp_ms: float
    qued: float
    busy_pct: float
    read_pct: float


def rows(view: GuestView, partition: str, every: bool = False) -> list[DeviceRow]:
    """Unrounded: requests a second, times in ms, queued requests, percent busy and read."""
    table = _volumes(view, partition)
    count = table["volume"].n_unique()
    if not every:
        return [_row(view, GROUP, view.total("volume", partition), count)]
    return [
        _row(view, f"{number:04X}", view.total("volume", partition, volume=number), 1)
        for number in table["volume"].unique().sort()
    ]


def _volumes(view: GuestView, partition: str) -> pl.DataFrame:
    """Rows of a partition's volumes; `ToolError` if it has none."""
    table = view.rows("volume", partition)
    if not table.height:
        raise ToolError(
            f"partition {partition} of run {view.name} has no paging volumes",
            next_step="give it some: [partition.paging] with volumes and size",
        )
    return table


def _control_units(view: GuestView, partition: str) -> list[Cells]:
    """A row a control unit, and one of all; the engine deals volumes out to them in turn."""
    table = _volumes(view, partition)
    paging = view.zvm(partition)["paging"]
    units = paging["control_units"] if paging else 1
    parts = {f"{unit:02X}": table.filter(pl.col("volume") % units == unit) for unit in range(units)}
    return [_unit(view, *one) for one in {**parts, "All": table}.items()]


def _unit(view: GuestView, name: str, table: pl.DataFrame) -> Cells:
    ios, reads, hits, disc = (
        int(table[column].sum()) for column in ("ios", "reads", "cache_hits", "disc_ns")
    )
    return {
        "Ctl Unit": name,
        "Volumes": table["volume"].n_unique(),
        "I/O /s": ios / view.seconds,
        "%Read": 100.0 * reads / ios if ios else None,
        "%Read hits": 100.0 * hits / reads if reads else None,
        "Misses /s": (reads - hits) / view.seconds,
        "Disc msec/miss": disc / (reads - hits) / 1e6 if reads > hits else None,
    }


def _row(view: GuestView, address: str, counted: dict[str, int], volumes: int) -> DeviceRow:
    ios = counted["ios"]
    spans = [counted[f"{name}_ns"] / ios / 1e6 if ios else 0.0 for name in ("pend", "disc", "conn")]
    wait = counted["queue_ns"] / ios / 1e6 if ios else 0.0
    time = view.seconds * volumes
    return {
        "address": address,
        "volumes": volumes,
        "io_per_s": ios / time,
        "pend_ms": spans[0],
        "disc_ms": spans[1],
        "conn_ms": spans[2],
        "serv_ms": sum(spans),
        "resp_ms": sum(spans) + wait,
        "qued": counted["queue_ns"] / (time * NS_PER_S),
        "busy_pct": 100.0 * counted["busy_ns"] / (time * NS_PER_S),
        "read_pct": 100.0 * counted["reads"] / ios if ios else 0.0,
    }


def render(view: GuestView, partition: str, every: bool = False) -> str:
    """The report FCX108: a partition's paging volumes together, or `every` one."""
    run = view.scenario[:_RUN].upper()
    lines = [heading(view, "FCX108"), *HEADING]
    lines += [_line(run, row) for row in rows(view, partition, every)]
    return "\n".join(lines) + "\n"


def _line(run: str, row: DeviceRow) -> str:
    spans = (row["pend_ms"], row["disc_ms"], row["conn_ms"], row["serv_ms"], row["resp_ms"])
    cells = [
        f"{run:<8}  {row['address']:<6}{'....':>22}  ..",
        narrow(row["io_per_s"], decimals=1),
        "   .0",
        *map(narrow, spans),
        ".000",
        narrow(row["qued"], decimals=2),
        f"{row['busy_pct']:4.0f}",
        f"{row['read_pct']:4.0f}",
    ]
    return " ".join(cells)


CTLUNIT = PlainTable(
    _control_units,
    {"Disc msec/miss": 3},
    "Here not even the names are, only that it tells read hits. One read cache serves all units.\n"
    "What writes find in a cache is not simulated: none waits for a disk.",
)
