"""Pictures of measured results: a comparison, and what comes out under each load."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from homenode.errors import HomenodeError
from homenode.hosts.comparison import Comparison
from homenode.hosts.record import RunRecord
from homenode.hosts.reduce import Cell, Measured, Pair, cells_of
from homenode.model.estimate import mean_of
from homenode.report import charts
from homenode.report.charts import Interval, Loaded
from homenode.report.hosts.words import between, counted, deviation

if TYPE_CHECKING:
    import altair as alt

_KINDS = {"better": "faster", "worse": "slower", "undecided": "undecided"}
_COLOURS = {"faster": charts.GAIN, "slower": charts.LOSS, "undecided": charts.DARK}
_TAILS = ("p99", "p95", "max", "mean")
"""The first that every load tells is drawn."""


def comparison_picture(found: Comparison) -> alt.LayerChart:
    """Each case's deviation with its interval and its noise floor."""
    several = len({pair.first.key.processors for pair in found.pairs}) > 1
    rows = [_interval(pair, several=several) for pair in found.pairs]
    title = f"{found.second} against {found.first}"
    return charts.intervals(rows, (title, "deviation [%], noise shaded"), _COLOURS)


def _interval(pair: Pair, *, several: bool) -> Interval:
    speed, key = pair.speed, pair.first.key
    low, high = (speed.mean if end is None else end for end in (speed.low, speed.high))
    return Interval(
        label=f"{key.case}, {counted(key.processors, 'CPU')}" if several else key.case,
        kind=_KINDS[pair.verdict],
        value=100.0 * (speed.mean - 1.0),
        low=100.0 * (low - 1.0),
        high=100.0 * (high - 1.0),
        noise=100.0 * (pair.floor or 0.0),
        shown=f"{deviation(speed.mean)} ({between(speed.low, speed.high)})",
    )


def load_picture(result: Measured) -> alt.VConcatChart:
    """A row for each kind of case that was measured under several loads: what it did, and how long
    its responses took.

    Raises `HomenodeError` where there is no such case.
    """
    curves = load_curves(result)
    if not curves:
        raise HomenodeError(
            "no case of this result has several loads: there is no curve to draw",
            next_step="measure cases that differ in their load alone, as those of suite network",
        )
    title = f"{result.suite.get('name', '')}: means of the runs, from the least to the most of them"
    return charts.loads(curves, title, "load [clients, threads or jobs]")


def load_curves(result: Measured) -> dict[str, dict[str, list[Loaded]]]:
    """By kind of case, its figures by load; runs that count alone."""
    kinds: dict[tuple[object, ...], list[Cell]] = {}
    for cell in cells_of(result.records):
        if cell.score is not None and cell.key.load > 0:
            kinds.setdefault(_kind(cell, result), []).append(cell)
    found: dict[str, dict[str, list[Loaded]]] = {}
    for cells in kinds.values():
        cells.sort(key=lambda cell: cell.key.load)
        if len({cell.key.load for cell in cells}) > 1:
            name = _name(cells, len(kinds))
            found[name if name not in found else f"{name} ({len(found) + 1})"] = _figures(cells)
    return found


def _kind(cell: Cell, result: Measured) -> tuple[object, ...]:
    """All but the load: what two points of one curve have in common."""
    told = result.cases.get(cell.key.case, {}).get("parameters")
    given = dict(told) if isinstance(told, Mapping) else {}
    given.pop("load", None)
    key = cell.key
    return (key.system, key.area, key.processors, cell.unit, json.dumps(given, sort_keys=True))


def _name(cells: Sequence[Cell], kinds: int) -> str:
    """What the names of its cases begin with, with the processors."""
    names = [cell.key.case for cell in cells]
    common = names[0]
    while not all(name.startswith(common) for name in names):
        common = common[: max(common.rfind(part) for part in "-/")]
    first = cells[0].key
    system = f" on {first.system}" if kinds > 1 and first.system != "host" else ""
    return f"{common}, {counted(first.processors, 'CPU')}{system}"


def _figures(cells: Sequence[Cell]) -> dict[str, list[Loaded]]:
    found = {f"result [{cells[0].unit}]": [_loaded(c, lambda run: run.score) for c in cells]}
    tail = next((t for t in _TAILS if all(cell.latency(t) is not None for cell in cells)), None)
    if tail is not None:
        response = [_loaded(cell, lambda run: run.latency_ms.get(tail)) for cell in cells]
        found[f"response, {tail} [ms]"] = response
    return found


def _loaded(cell: Cell, figure: Callable[[RunRecord], float | None]) -> Loaded:
    """A figure under one load; an interval of two or three runs would hide the curve."""
    values = cell.values(figure)
    return Loaded(load=cell.key.load, value=mean_of(values), low=min(values), high=max(values))
