"""A study's picture, as its source draws it: what is published as ratios to one layout as bars
beside the simulated ones, all else as what the cases did over time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from homenode.errors import HomenodeError
from homenode.report.charts import (
    GAIN,
    LOSS,
    OTHER,
    QUIET,
    Beside,
    Moment,
    Panel,
    beside,
    over_time,
)
from homenode.simulate.kept.totals import NS_PER_S

if TYPE_CHECKING:
    import altair as alt

    from homenode.evidence.study.deviation import Comparison
    from homenode.evidence.study.result import StudyResult
    from homenode.simulate.run import Run

CORES = {"user": "user_ns", "system": "sys_ns"}
"""Time by mode: cores once divided by the time it was counted in."""
SWITCHES = {"vlcs": "vlcs", "ilcs": "ilcs"}
"""Voluntary and involuntary switches of logical processors."""
_PANELS: dict[str, Panel] = {
    "cores": {"title": "cores", "stacked": True},
    "switches": {"title": "switches/s", "stacked": False},
}
_OVER_TIME = {"user": QUIET, "system": LOSS, "vlcs": GAIN, "ilcs": OTHER}
_PUBLISHED, _SIMULATED = "published", "simulated"
_BESIDE = {_PUBLISHED: QUIET, _SIMULATED: LOSS}


def study_picture(result: StudyResult) -> alt.VConcatChart:
    """Bars where every row of a study is a ratio, what went on over time elsewhere.

    Raises `HomenodeError` for a study that has neither.
    """
    panels = bars(result)
    if panels:
        return beside(panels, result.study.title, _BESIDE)
    cases = {
        name: moments(run, result.study.cases[name].partition) for name, run in result.runs.items()
    }
    if not any(cases.values()):
        raise HomenodeError(
            f"study {result.study.name} simulates nothing that goes on over time",
            next_step="leave --picture out",
        )
    return over_time(cases, _PANELS, result.study.title, _OVER_TIME)


def bars(result: StudyResult) -> dict[str, list[Beside]]:
    """By what they are ratios to, the base first: published and simulated, a range as its middle.
    Nothing if some row is no ratio.
    """
    ratios = result.study.ratios
    if not all(one.published.case in ratios for one in result.comparisons):
        return {}
    panels: dict[str, list[Beside]] = {}
    for one in result.comparisons:
        ratio = ratios[one.published.case]
        base = " + ".join(ratio.to)
        panel = panels.setdefault(
            f"{one.published.metric}, {base} = 1",
            [_bar(base, kind, 1.0, (1.0, 1.0), "1") for kind in _BESIDE],
        )
        panel += _pair(" + ".join(ratio.of), one)
    return panels


def _pair(label: str, one: Comparison) -> list[Beside]:
    """A row's bars; what could not be simulated has none."""
    row, found = one.published, one.simulated
    told = _bar(label, _PUBLISHED, row.value, (row.low, row.high), row.shown)
    if found.mean is None:
        return [told]
    off = found.ci95 or 0.0
    shown = f"{found.mean:.3f}"
    ends = found.mean - off, found.mean + off
    return [told, _bar(label, _SIMULATED, found.mean, ends, shown)]


def _bar(label: str, kind: str, value: float, ends: tuple[float, float], shown: str) -> Beside:
    low, high = ends
    return {
        "label": label, "kind": kind, "value": value, "low": low, "high": high, "shown": shown,
    }  # fmt: skip


def moments(run: Run, partition: str | None) -> list[Moment]:
    """What a partition of a run did in each interval of the first replication (a mean over
    replications would be smoother than any run is); the only partition if none is named.
    """
    import polars as pl

    rows = run.intervals("partition").filter(pl.col("replication") == 0)
    name = partition or str(rows["partition"][0])
    found: list[Moment] = []
    before = 0
    for row in rows.filter(pl.col("partition") == name).sort("time_ns").iter_rows(named=True):
        now = row["time_ns"]
        for panel, kinds, unit in (("cores", CORES, 1.0), ("switches", SWITCHES, NS_PER_S)):
            for kind, column in kinds.items():
                value = row[column] * unit / (now - before)
                found.append(
                    {"seconds": now / NS_PER_S, "panel": panel, "kind": kind, "value": value}
                )
        before = now
    return found
