"""Text columns as the tools print them: right-justified, at least so wide; wider values push the
rest to the right.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

Value = int | float | str | None
DASHES = "-" * 80


@dataclass(frozen=True)
class Column:
    """One column: its heading, its least width and the digits behind the point."""

    name: str
    width: int
    digits: int = 0

    def heading(self) -> str:
        """The heading over the values."""
        return self.name.rjust(self.width)

    def text(self, value: Value) -> str:
        """A value; nothing known is a dash."""
        if value is None:
            return "-".rjust(self.width)
        if isinstance(value, str):
            return value.rjust(self.width)
        if isinstance(value, int) and not self.digits:
            return f"{value:{self.width}d}"
        return f"{value:{self.width}.{self.digits}f}"


def columns(names: str, width: int, digits: int = 0) -> tuple[Column, ...]:
    """Several columns of one shape."""
    return tuple(Column(name, width, digits) for name in names.split())


def heading(shown: Iterable[Column]) -> str:
    """The headings in one line."""
    return " ".join(column.heading() for column in shown)


def row(shown: Iterable[Column], values: Mapping[str, Value]) -> str:
    """The values of one line, by heading."""
    return " ".join(column.text(values[column.name]) for column in shown)


def page(lines: Sequence[str]) -> str:
    """Lines as a text."""
    return "\n".join(lines) + "\n"
