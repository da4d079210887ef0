"""Advice as a picture: what each layout uses, and what changes in it, before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING

from homenode.model.numbers import NOTHING, number
from homenode.planner.reasons import plain
from homenode.report import charts
from homenode.report.charts import Beside, Move

if TYPE_CHECKING:
    import altair as alt

    from homenode.planner.advice import Advice, Answer

_USED = "cores"


def advice_picture(told: Advice) -> alt.HConcatChart:
    """Cores of the layout as it is and of those that are advised, beside them the moves of each."""
    import altair as alt

    bars = [_bar("as it is", told.do_nothing)]
    parts: list[alt.LayerChart] = []
    for count, answer in enumerate(told.best, start=1):
        bars.append(_bar(f"advice {count}", answer))
        if answer.changes:
            parts.append(charts.moves(moves_of(answer), f"advice {count}: from, to"))
    title = f"Advice for {told.name}"
    first = charts.beside({"cores for the work of now": bars}, title, {_USED: charts.GAIN})
    drawn: list[alt.VConcatChart | alt.LayerChart] = [first, *parts]
    beside = [first, alt.vconcat(*parts)] if parts else [first]
    chart: alt.HConcatChart = alt.hconcat(*beside).properties(
        description=f"{told.told} {charts.said(drawn)}"
    )
    return chart


def moves_of(answer: Answer) -> list[Move]:
    """What of which partition changes."""
    return [
        Move(
            label=f"{change.partition}: {change.word}",
            before=NOTHING if change.before is None else plain(change.before),
            after=plain(change.after),
        )
        for change in answer.changes
    ]


def _bar(label: str, answer: Answer) -> Beside:
    mean, off = answer.cores.mean or 0.0, answer.cores.ci95 or 0.0
    return {
        "label": label, "kind": _USED, "value": mean, "low": mean - off, "high": mean + off,
        "shown": number(mean),
    }  # fmt: skip
