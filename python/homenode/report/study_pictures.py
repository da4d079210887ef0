"""A study's picture, as its source draws it: what is published as ratios to one layout as bars
beside the simulated ones, all else as what the cases did over time; and every row in its tolerance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from homenode.model.numbers import significant
from homenode.report.charts import (
    GAIN,
    LOSS,
    NULL,
    OTHER,
    OUTSIDE,
    QUIET,
    WITHIN,
    Against,
    Beside,
    Moment,
    Panel,
    Placed,
    against,
    bands,
    beside,
    over_time,
    said,
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
    """Bars where every row of a study is a ratio, what went on over time where anything did; below,
    all rows beside their tolerances.
    """
    import altair as alt

    title = result.study.title
    parts: list[alt.VConcatChart | alt.LayerChart] = []
    panels = bars(result)
    cases = {
        name: moments(run, result.study.cases[name].partition) for name, run in result.runs.items()
    }
    if panels:
        parts.append(beside(panels, title, _BESIDE))
    elif any(cases.values()):
        parts.append(over_time(cases, _PANELS, title, _OVER_TIME))
    parts.append(rows_picture(result))
    whole = alt.vconcat(*parts).resolve_scale(color="independent", shape="independent")
    chart: alt.VConcatChart = whole.properties(description=said(parts))
    return chart


def rows_picture(result: StudyResult) -> alt.LayerChart:
    """All rows beside their tolerances."""
    return bands(placed(result), f"{result.study.title}: published / simulated")


def placed(result: StudyResult) -> list[Placed]:
    """Every row that was simulated, where it lies in its tolerance; beside it where the null model
    does.
    """
    found = []
    for one in result.comparisons:
        row, mean = one.published, one.simulated.mean
        if mean is None:
            continue
        label = f"{row.case} {row.metric}"
        shown = f"{row.shown} / {significant(mean)} {row.unit} ({row.tolerance})"
        kind = WITHIN if one.within else OUTSIDE
        found.append(Placed(label=label, kind=kind, at=_at(row.bounds, mean), shown=shown))
        guess = result.null_answer(one)
        if guess is not None:
            found.append(Placed(label=label, kind=NULL, at=_at(row.bounds, guess), shown=""))
    return found


def _at(bounds: tuple[float, float], value: float) -> float:
    """From -1 at the lower bound to 1 at the upper; where both are one number, any other lies far
    off.
    """
    low, high = bounds
    if low == high:
        return math.copysign(math.inf, value - low) if value != low else 0.0
    return (2.0 * value - low - high) / (high - low)


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


def trust_picture(results: Sequence[StudyResult]) -> alt.LayerChart:
    """Of each study the share of rows within tolerance that nothing is fitted to, and how many of
    them one number for each metric would pass.
    """
    rows = []
    for one in results:
        count, null = one.not_fitted_count, one.not_fitted_count.null_within
        if not count.rows:
            continue
        shown = f"{count.within}/{count.rows}" + ("" if null is None else f", {NULL} {null}")
        other = None if null is None else 100.0 * null / count.rows
        share = 100.0 * count.within / count.rows
        rows.append(Against(label=one.study.name, value=share, other=other, shown=shown))
    axis = f"rows within tolerance [%]; diamonds: {NULL}"
    return against(rows, "Studies: rows that nothing is fitted to", axis, 100.0)
