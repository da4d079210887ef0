"""Bars that lie, made of pieces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

from homenode.report.charts.colours import LINE, colour_of, letter_on, letters

if TYPE_CHECKING:
    import altair as alt

_LYING_WIDTH = 260
_NARROWEST_PIECE = 0.05
"""Share of the longest bar below which a piece has no room for its letter."""


class Piece(TypedDict):
    """Part of a bar that lies: where, whose, how long, what stands on it."""

    place: str
    kind: str
    value: float
    at: int
    """Its order in the bar, from zero."""
    shown: str


def lying(
    panels: Mapping[str, Sequence[Piece]], title: str, colours: Mapping[str, str]
) -> alt.ConcatChart:
    """Panels two a row, in each a bar a place made of pieces; a piece says whose it is where it is
    wide enough for that, so that nothing rests on colour alone. Panels of the same places show all
    that any of them has.
    """
    import altair as alt

    first = _places(next(iter(panels.values()), ()))
    drawn = [_lying(name, pieces, colours, first) for name, pieces in panels.items() if pieces]
    chart: alt.ConcatChart = alt.concat(*drawn, columns=2).properties(
        title=title, description=f"{title}. {_read(panels)}"
    )
    return chart


def _read(panels: Mapping[str, Sequence[Piece]]) -> str:
    """Of each panel whose how much is, for those who do not see it."""
    told = []
    for name, pieces in panels.items():
        sums: dict[str, float] = {}
        for piece in pieces:
            sums[piece["kind"]] = sums.get(piece["kind"], 0.0) + piece["value"]
        told.append(f"{name}: {', '.join(f'{kind} {value:.6g}' for kind, value in sums.items())}")
    return "; ".join(told)


def _places(pieces: Sequence[Piece]) -> list[str]:
    return list(dict.fromkeys(piece["place"] for piece in pieces))


def _lying(
    name: str, pieces: Sequence[Piece], colours: Mapping[str, str], first: Sequence[str]
) -> alt.LayerChart:
    import altair as alt

    ends: dict[str, float] = {}
    values = []
    for piece in sorted(pieces, key=lambda one: one["at"]):
        start = ends.get(piece["place"], 0.0)
        ends[piece["place"]] = start + piece["value"]
        middle = start + piece["value"] / 2
        where = {"start": start, "end": ends[piece["place"]], "middle": middle}
        values.append({**piece, **where, "letter": letter_on(colours[piece["kind"]])})
    places = _places(pieces)
    places = [*first] if set(places) <= set(first) else places
    most = max(ends.values(), default=0.0) or 1.0
    base = alt.Chart(alt.InlineData(values=values)).encode(
        y=alt.Y(
            "place:N",
            sort=places,
            title=None,
            axis=alt.Axis(labelLimit=240),
            scale=alt.Scale(domain=places),
        )
    )
    bars = base.mark_bar(stroke=LINE, strokeWidth=0.6).encode(
        x=alt.X("start:Q", title=name, scale=alt.Scale(domain=[0.0, most])),
        x2="end:Q",
        color=colour_of(colours),
    )
    wide = f"datum.value >= {_NARROWEST_PIECE * most}"
    names = (
        base.mark_text(fontSize=9)
        .encode(x="middle:Q", text="shown:N", color=letters())
        .transform_filter(wide)
    )
    chart: alt.LayerChart = (bars + names).properties(width=_LYING_WIDTH, height=alt.Step(18))
    return chart
