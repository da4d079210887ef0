"""Colours that mean the same in every chart."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import altair as alt

LOSS, GAIN, QUIET, DARK, PALE, OTHER = (
    "#c8553d", "#3f8f6b", "#74899a", "#64717b", "#c9d1d6", "#7f5fb0",
)  # fmt: skip
"""Colours that mean the same in every chart: what costs, what saves, what is only there. All but
the pale one are seen as lines too, three to one against both grounds.
"""
GROUND, DARK_GROUND, LIGHT_INK = "#ffffff", "#1b1b1b", "#e8ecee"


@dataclass(frozen=True)
class Ground:
    """On what a picture is drawn."""

    ink: str
    """Of what is written on it."""
    grid: str
    """Of lines that only help to read, and of what is filled to be seen as empty."""
    back: str | None
    """Its own colour; None = that of the page."""
    style: str = ""
    """Of the drawing itself."""


LIGHT = Ground("#1b2328", "#dde2e5", GROUND)
DARKENED = Ground(LIGHT_INK, "#3a3f43", DARK_GROUND)
BOTH = Ground(
    LIGHT.ink,
    LIGHT.grid,
    None,
    "@media screen and (prefers-color-scheme: dark) {"
    f' [fill="{LIGHT.ink}"] {{ fill: {DARKENED.ink} }}'
    f' [fill="{LIGHT.grid}"] {{ fill: {DARKENED.grid} }}'
    f' [stroke="{LIGHT.grid}"] {{ stroke: {DARKENED.grid} }} }}',
)
"""The ground of a page that is light or dark as its reader has it; on paper it is light."""
_TITLE, _TITLES_LETTER = 72, 8
"""Letters of a title that have room above a chart, and how wide one of them is [px]."""
_FONT = "Arial, Liberation Sans, Helvetica, sans-serif"
"""Of one width each, so that what was measured where it was drawn fits where it is looked at."""
_ROOM = {"left": 14, "right": 26, "top": 6, "bottom": 6}
"""Around a picture, for fonts that are wider all the same [px]."""
LINE = "#767676"
"""Of lines and of the outline that every bar, area and piece has: the light ones need it on white,
the dark ones on black.
"""
LETTER = "#000000"
"""On what is filled and light, on what is dark `GROUND`: the same on both grounds."""
_LIGHT_OF = (0.2126, 0.7152, 0.0722)
_GLARE = 0.05
"""How light red, green and blue are, and what the screen adds, as guidelines for pages have it."""
MANY = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#f0e442", "#7f5fb0",
    "#8c564b", "#6b8e23", "#c0c0ff", "#ff9d9a",
)  # fmt: skip
"""Colours for things of one kind, taken in turn, the first seven for those who see fewer too; for
what is filled and outlined, not for lines.
"""

LINES = (MANY[0], MANY[1], MANY[2], MANY[3], MANY[7], MANY[9])
"""Those that are seen as lines on both grounds."""
DASHES = ([1, 0], [6, 3], [2, 2], [8, 2, 2, 2], [12, 4], [1, 4], [4, 4])
"""Lines are told apart by their dashes too."""


def letter_on(colour: str) -> str:
    """Black or white, whichever is read more easily on what is filled with a colour."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts]
    light = sum(weight * one for weight, one in zip(_LIGHT_OF, linear, strict=True)) + _GLARE
    return GROUND if light * light < (1.0 + _GLARE) * _GLARE else LETTER


def letters() -> alt.Color:
    """Of what is written on things, each of which says its `letter`."""
    import altair as alt

    return alt.Color("letter:N", scale=None, legend=None)


def colour_of(colours: Mapping[str, str], *, legend: bool = True) -> alt.Color:
    """Of kinds, in their order."""
    import altair as alt

    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    kinds = alt.Color("kind:N", title=None, scale=scale)
    return kinds if legend else kinds.legend(None)


def inked(spec: dict[str, Any], ground: Ground) -> dict[str, Any]:
    """A chart's spec on a ground: what is written there, and the lines of the axes; marks are the
    same everywhere.
    """
    ink = ground.ink
    of_text = {"labelColor": ink, "titleColor": ink}
    before = spec.get("config", {})
    config = {
        "axis": {**of_text, "gridColor": ground.grid, "domainColor": LINE, "tickColor": LINE},
        "legend": of_text, "header": of_text, "title": {"color": ink}, "text": {"color": ink},
        "view": {**before.get("view", {}), "stroke": ground.grid},
    }  # fmt: skip
    whole = {"font": _FONT, **before, **config}
    return {**spec, "background": ground.back, "padding": _ROOM, "config": whole}


def lines_of(title: str, width: int = _TITLE * _TITLES_LETTER) -> str | list[str]:
    """A title on as many lines as it needs: those that it has, and none longer than a chart, which
    would cut it off.
    """
    room = width // _TITLES_LETTER
    found = [line for part in title.split("\n") for line in textwrap.wrap(part, room) or [""]]
    return found if len(found) > 1 else title


def said(parts: Iterable[alt.TopLevelMixin]) -> str:
    """What a chart made of others says: what they say."""
    return ". ".join(str(part.to_dict()["description"]) for part in parts)
