"""A small table as text and as HTML: what `print` and a notebook show of a result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape


@dataclass(frozen=True)
class Grid:
    """Cells as they are to be read; the first column names the rows."""

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    total: Sequence[str] = ()
    """A last row that adds up the others."""
    paragraphs: Sequence[str] = field(default=())
    """What HTML says beneath."""

    def text(self) -> str:
        """The first column to the left, all others to the right, two blanks between."""
        lines = [self.heads, *self.rows, *([self.total] if self.total else [])]
        widths = [max(len(line[place]) for line in lines) for place in range(len(self.heads))]
        return "\n".join([self.title, *(_line(line, widths) for line in lines)])

    def html(self) -> str:
        """The same as a table of a page; other columns of words are to the left too."""
        sides = [_side(place, self.rows) for place in range(len(self.heads))]
        cells = [_cells(row, "td", sides) for row in self.rows]
        if self.total:
            cells.append(_cells(self.total, "th", sides))
        return "\n".join(
            [
                "<table>",
                f"<caption>{escape(self.title)}</caption>",
                f"<thead>{_cells(self.heads, 'th', sides)}</thead>",
                "<tbody>",
                *cells,
                "</tbody></table>",
                *(f"<p>{escape(text)}</p>" for text in self.paragraphs),
            ]
        )


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *rest = (
        cell.rjust(width) if place else cell.ljust(width)
        for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return "  ".join([first, *rest]).rstrip()


def _side(place: int, rows: Sequence[Sequence[str]]) -> str:
    """Figures stand to the right, one below the other."""
    words = place == 0 or any(row[place][:1].isalpha() for row in rows)
    return "left" if words else "right"


def _cells(cells: Sequence[str], tag: str, sides: Sequence[str]) -> str:
    aligned = (
        f'<{tag} style="text-align: {side}">{escape(cell)}</{tag}>'
        for cell, side in zip(cells, sides, strict=True)
    )
    return f"<tr>{''.join(aligned)}</tr>"
