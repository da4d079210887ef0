"""A study's picture, as its source draws it: scenarios in several sizes as lines over the sizes,
what is published as ratios to one layout as bars beside the simulated ones, all else as what the
cases did over time; and every row in its tolerance.
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
    Sized,
    against,
    bands,
    beside,
    over_time,
    said,
    sizes,
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
_CAPABILITY = "capability"
_OVER_SIZES = {_SIMULATED: LOSS, _PUBLISHED: QUIET, _CAPABILITY: GAIN}
_QUANTITIES = (
    "itrr", "itr_per_s", "etr_per_s", "busy_pct", "guest_busy_per_tx", "cp_busy_per_tx", "eicpi",
    "efcpi", "client_wait_us", "server_wait_us", "unparked", "volume_io_per_s", "volume_resp_ms",
)  # fmt: skip
"""What is drawn over the sizes, of what a study publishes: that which its source draws first."""


def study_picture(result: StudyResult) -> alt.VConcatChart:
    """Lines over the sizes where a study has scenarios in several, bars where every row is a ratio,
    else what went on over time where anything did; below, all rows beside their tolerances.
    """
    import altair as alt

    title = result.study.title
    parts: list[alt.VConcatChart | alt.LayerChart] = []
    panels = bars(result)
    cases = {
        name: moments(run, result.study.cases[name].partition) for name, run in result.runs.items()
    }
    lines = over_sizes(result)
    if lines:
        parts.append(sizes(lines, (title, "processors"), _OVER_SIZES))
    elif panels:
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


def over_sizes(result: StudyResult) -> dict[str, list[Sized]]:
    """By quantity: what is published and simulated of each set by its sizes, the throughput of the
    smallest size's beside the capability of its machine.
    """
    rows = {(one.published.case, one.published.metric): one for one in result.comparisons}
    found: dict[str, list[Sized]] = {}
    for metric in _QUANTITIES:
        for series in result.study.series:
            for size in series.processors:
                case = series.case(size)
                one, capability = rows.get((case, metric)), None
                if metric == "itrr":
                    capability = rows.get((case, "capability_ratio"))
                points = _points(series.name, size, one, capability)
                if points:
                    found.setdefault(metric, []).extend(points)
    return found


def _points(
    name: str, size: int, one: Comparison | None, capability: Comparison | None
) -> list[Sized]:
    """What there is of a set at a size."""
    values = {
        _SIMULATED: one.simulated.mean if one else None,
        _PUBLISHED: one.published.value if one else None,
        _CAPABILITY: capability.published.value if capability else None,
    }
    return [
        Sized(name=name, kind=kind, size=size, value=value)
        for kind, value in values.items()
        if value is not None
    ]


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
