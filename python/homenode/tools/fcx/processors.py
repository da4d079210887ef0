"""Reports on a z/VM partition's own processors: FCX225 SYSSUMLG, FCX299 PUCFGLOG, FCX304 PRCLOG."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from homenode.simulate.kept.totals import NS_PER_S
from homenode.simulate.kept.zvm_metrics import BUSY
from homenode.tools.fcx.plain import Cells, PlainTable
from homenode.tools.guestview import GuestView, clock


def intervals(view: GuestView, partition: str) -> Iterator[tuple[dict[str, int], float]]:
    """Each interval's counters of the partition, and its length [ns]."""
    before = 0
    for row in view.rows("partition", partition).sort("time_ns").iter_rows(named=True):
        yield row, float(row["time_ns"] - before)
        before = row["time_ns"]


def _volumes_by_time(view: GuestView, partition: str) -> dict[int, dict[str, int]]:
    rows = view.rows("volume", partition)
    if not rows.height:
        return {}
    sums = rows.group_by("time_ns").agg(pl.all().exclude("time_ns").sum())
    return {row["time_ns"]: row for row in sums.to_dicts()}


def busy_ns(row: dict[str, int]) -> int:
    """Busy time of cores [ns]."""
    return sum(row[name] for name in BUSY)


def _logical_busy(row: dict[str, int], smt: int) -> int:
    """Busy time of logical processors [ns]: that of the threads where they share cores."""
    return int(row["thread_ns"]) if smt > 1 else busy_ns(row)


def _syssumlg(view: GuestView, partition: str) -> list[Cells]:
    smt = view.smt(partition)
    online = view.processors(partition) * smt
    volumes = _volumes_by_time(view, partition)
    found = []
    for row, span in intervals(view, partition):
        io = volumes.get(row["time_ns"], {})
        taken = sum(io.get(f"{name}_ns", 0) for name in ("pend", "disc", "conn", "queue"))
        found.append(
            {
                "Interval End Time": clock(row["time_ns"]),
                "Pct Busy": 100.0 * _logical_busy(row, smt) / (span * online),
                "T/V Ratio": busy_ns(row) / row["guest_ns"] if row["guest_ns"] else None,
                "On-line": online,
                "SSCH+RSCH /s": io.get("ios", 0) * NS_PER_S / span,
                "DASD Resp msec": taken / io["ios"] / 1e6 if io.get("ios") else None,
                "PGIN+PGOUT /s": (row["pages_in"] + row["pages_out"]) * NS_PER_S / span,
                "Read+Write /s": (row["page_reads"] + row["page_writes"]) * NS_PER_S / span,
            }
        )
    return found


def _pucfglog(view: GuestView, partition: str) -> list[Cells]:
    guest = view.zvm(partition)
    online = view.processors(partition)
    smt = view.smt(partition)
    found = []
    for row, span in intervals(view, partition):
        unparked = row["unparked_ns"] / span
        busy = 100.0 * _logical_busy(row, smt) / span
        found.append(
            {
                "Interval End Time": clock(row["time_ns"]),
                "Type": view.core_type(partition),
                "Online": online,
                "Unparked": unparked,
                "Unparking": str(guest["unparking"]).upper(),
                "CPUPAD %": 100.0 * guest["cpupad"],
                "Util %": busy,
                "Util/Unparked %": busy / unparked / smt if unparked else None,
                "T/V": busy_ns(row) / row["guest_ns"] if row["guest_ns"] else None,
            }
        )
    return found


def _prclog(view: GuestView, partition: str) -> list[Cells]:
    rows = view.rows("cpu", partition).group_by("cpu").agg(pl.all().exclude("cpu").sum())
    scale = 100.0 / (view.seconds * NS_PER_S)
    shared = view.partitions[view.index(partition)]["processors"]["mode"] == "shared"
    numbers, types = view.processor_numbers(partition), view.core_types(partition)
    smt = view.smt(partition)
    return [
        {
            "CPU": f"{numbers[row['cpu']]:02X}",
            "Type": types[row["cpu"] // smt],
            "PPD": "Shr" if shared else "Ded",
            "Total %": (row["user_ns"] + row["sys_ns"]) * scale,
        }
        for row in rows.sort("cpu").iter_rows(named=True)
    ]


SYSSUMLG = PlainTable(_syssumlg, {"T/V Ratio": 2, "DASD Resp msec": 2})
PUCFGLOG = PlainTable(
    _pucfglog,
    {"CPUPAD %": 0, "T/V": 2},
    "Unparked and utilisation are means of the interval; forecasts are not kept.",
)
PRCLOG = PlainTable(_prclog, {})
