"""A run's counters put together by recorded window, and in the words of recordings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from homenode.errors import RunError
from homenode.model.units import TIME
from homenode.records.importing.facts import HOME_DISPATCHES, REDISPATCHES, Quantity
from homenode.records.importing.figures import THREADS
from homenode.simulate.settle.probe import counted
from homenode.tools.linux.switches import linux_switches

if TYPE_CHECKING:
    import polars as pl

    from homenode.simulate.run import Run

_NS_PER_S = 1e9
_STATES = ("user", "sys", "wait", "idle")
_PARTITION = (
    "busy_ns", "runq_ns", "vcsw", "vlcs", "ilcs", "phint", "interrupts", "context_switches",
    *(f"{state}_ns" for state in _STATES[:3]), *(f"ticks_{state}" for state in _STATES),
)  # fmt: skip
"""Counters of a partition."""
_CPU = ("ics", *REDISPATCHES, *HOME_DISPATCHES)
"""Counters of its logical processors, which are added up."""
_RATES = {
    "vcsw_per_s": "vcsw",
    "vlcs_per_s": "vlcs",
    "ilcs_per_s": "ilcs",
    "phint_per_s": "phint",
    "interrupts_per_s": "interrupts",
}


@dataclass(frozen=True)
class Shape:
    """What decides how a partition's counters are read."""

    os: str
    quantity: Quantity
    virtual: int
    smt: int


def by_window(run: Run, name: str, ends: Sequence[int], smt: int) -> pl.DataFrame:
    """A row a window that the run holds: `end` and `length` [ns], each counter over the window as a
    mean over the replications, `vps_unfolded` at its end.

    Raises `RunError` if intervals and windows do not fit each other.
    """
    import polars as pl

    of = run.intervals().filter(pl.col("partition") == name)
    held = _held(of, ends, run.id)
    sums = _summed(of, held, [pl.col(one).sum() for one in _PARTITION])
    last = pl.col("vps_unfolded").sort_by("time_ns").last()
    unfolded = _summed(of, held, [last])
    table = run.intervals("cpu").filter(pl.col("partition") == name)
    busy = pl.col("user_ns") + pl.col("sys_ns")
    threads = [
        busy.filter(pl.col("cpu") % smt == place).sum().alias(thread)
        for place, thread in enumerate(THREADS[:smt])
    ]
    cpus = _summed(table, held, [*(pl.col(one).sum() for one in _CPU), *threads])
    lengths = [end - before for before, end in zip([0, *held], held, strict=False)]
    joined = sums.join(unfolded, on="end").join(cpus, on="end", how="left").sort("end")
    return joined.with_columns(pl.Series("length", lengths))


def _held(of: pl.DataFrame, ends: Sequence[int], run: str) -> list[int]:
    """Ends of the windows that intervals cover."""
    last = of["time_ns"].max()
    reach = int(last) if isinstance(last, int) else 0
    held = [end for end in ends if end <= reach]
    if not held or not set(held) <= set(of["time_ns"].unique().to_list()):
        step = TIME.format(ends[0])
        raise RunError(
            f"the intervals of {run} do not end where its recorded windows do",
            next_step=f'write interval = "{step}" under [run] and run it again',
        )
    return held


def _summed(table: pl.DataFrame, held: Sequence[int], columns: Sequence[pl.Expr]) -> pl.DataFrame:
    """Each window's columns, means over the replications."""
    import polars as pl

    bounds = pl.DataFrame({"end": held}).sort("end").with_columns(pl.col("end").set_sorted())
    return (
        table.filter(pl.col("time_ns") <= held[-1])
        .sort("time_ns")
        .join_asof(bounds, left_on="time_ns", right_on="end", strategy="forward")
        .group_by("replication", "end")
        .agg(columns)
        .group_by("end")
        .agg(pl.exclude("replication", "end").mean())
    )


def whole(table: pl.DataFrame) -> dict[str, float]:
    """All windows as one: counters added up, readings as their mean."""
    readings = ("vps_unfolded", "end")
    found = {name: float(table[name].sum()) for name in table.columns if name not in readings}
    unfolded = table["vps_unfolded"].mean()
    return {**found, "vps_unfolded": float(unfolded) if isinstance(unfolded, float) else 0.0}


def figures_of(row: Mapping[str, float], shape: Shape) -> dict[str, float]:
    """What a window of a run is in the words of recordings; `cores` are those of its quantity."""
    length = row["length"]
    ticks = "ticks_{}" if shape.os != "aix" else "{}_ns"
    states = {state: row[ticks.format(state)] for state in _STATES[:3]}
    found = {f"{state}_cores": spent / length for state, spent in states.items()}
    found["cores"] = sum(row[one] for one in counted(shape.quantity, shape.os)) / length
    if shape.quantity == "physc":
        found["idle_cores"] = max(0.0, row["busy_ns"] - sum(states.values())) / length
    found["folded"] = max(0.0, shape.virtual - row["vps_unfolded"])
    found["runnable_threads"] = row["runq_ns"] / length
    found["lbusy_pct"] = 100 * _busy_share(row)
    switches = row["context_switches"] if shape.os != "linux" else linux_switches(row)
    counts = {name: row[column] for name, column in _RATES.items()}
    counts |= {"context_switches_per_s": switches, "involuntary_switches_per_s": row["ics"]}
    found |= {name: count * _NS_PER_S / length for name, count in counts.items()}
    found |= {name: row[name] / length for name in THREADS[: shape.smt]}
    return found | _levels(row)


def _busy_share(row: Mapping[str, float]) -> float:
    spent = [row[f"ticks_{state}"] for state in _STATES]
    return sum(spent[:2]) / sum(spent) if sum(spent) else 0.0


def _levels(row: Mapping[str, float]) -> dict[str, float]:
    """Shares of dispatches by distance; none where nothing was dispatched."""
    found: dict[str, float] = {}
    for names in (REDISPATCHES, HOME_DISPATCHES):
        whole = sum(row[name] for name in names)
        if whole:
            found |= {f"{name}_pct": 100 * row[name] / whole for name in names}
    return found
