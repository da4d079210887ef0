"""What a section of a report is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich.text import Text

from homenode.simulate.kept.grid import Grid

if TYPE_CHECKING:
    import altair as alt
    from rich.table import Table

    from homenode.report.machine_drawing import MachineDrawing


@dataclass(frozen=True)
class Picture:
    """A chart, with what it says for those who do not see it."""

    chart: alt.TopLevelMixin | MachineDrawing
    says: str


@dataclass(frozen=True)
class Section:
    """A heading with what stands beneath: sentences, then pictures, then tables."""

    title: str
    lines: Sequence[str] = ()
    pictures: Sequence[Picture] = ()
    tables: Sequence[Grid] = field(default=())
    commands: Sequence[str] = ()
    """Lines to copy."""


def grid_of(table: Table) -> Grid:
    """A table of the command line as one of a page."""
    heads = tuple(_plain(str(column.header)) for column in table.columns)
    columns = [[_plain(str(cell)) for cell in column.cells] for column in table.columns]
    # A title is plain as it is, brackets of a unit too.
    return Grid(str(table.title or ""), heads, list(zip(*columns, strict=True)))


def _plain(cell: str) -> str:
    """Without the marks that rich takes for style."""
    return Text.from_markup(cell).plain
