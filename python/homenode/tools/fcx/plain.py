"""Reports of which only the fields are known: a plain table under their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from homenode.tools.fcx.heading import OUR_LAYOUT, heading
from homenode.tools.guestview import GuestView

Cells = dict[str, object]
BLANK = "...."


@dataclass(frozen=True)
class PlainTable:
    """Rows of unrounded figures, and the decimals to print them with."""

    rows: Callable[[GuestView, str], list[Cells]]
    decimals: Mapping[str, int]
    """By field; 1 where nothing is said. Whole numbers and words are printed as they are."""
    note: str = ""

    def render(self, view: GuestView, partition: str, title: str) -> str:
        """Heading, remark on the layout, the table."""
        number, _, name = title.partition(" ")
        lines = [heading(view, number), f"{name} {OUR_LAYOUT}"]
        lines += [self.note] if self.note else []
        return "\n".join([*lines, "", *table(self.rows(view, partition), self.decimals)]) + "\n"


def table(rows: Sequence[Mapping[str, object]], decimals: Mapping[str, int]) -> list[str]:
    """Columns as wide as what stands in them, the first left, all others right."""
    if not rows:
        return ["(nothing was counted)"]
    heads = list(rows[0])
    cells = [heads, *([_text(row[h], decimals.get(h, 1)) for h in heads] for row in rows)]
    widths = [max(len(line[place]) for line in cells) for place in range(len(heads))]
    return [
        "  ".join(
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in cells
    ]


def _text(value: object, decimals: int) -> str:
    if value is None:
        return BLANK
    return f"{value:.{decimals}f}" if isinstance(value, float) else str(value)
