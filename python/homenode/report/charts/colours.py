"""Colours that mean the same in every chart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import altair as alt

LOSS, GAIN, QUIET, DARK, PALE, OTHER = (
    "#c8553d", "#3f8f6b", "#8fa3b0", "#5b6770", "#c9d1d6", "#5b3f8f",
)  # fmt: skip
"""Colours that mean the same in every chart: what costs, what saves, what is only there."""
LINE = "#2f363b"
MANY = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#f0e442", "#7f5fb0",
    "#8c564b", "#6b8e23", "#c0c0ff", "#ff9d9a",
)  # fmt: skip
"""Colours for things of one kind, taken in turn; the first seven tell apart those who see fewer."""


def colour_of(colours: Mapping[str, str], *, legend: bool = True) -> alt.Color:
    """Of kinds, in their order."""
    import altair as alt

    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    kinds = alt.Color("kind:N", title=None, scale=scale)
    return kinds if legend else kinds.legend(None)
