"""Words and numbers as the tools print them, and what their parsers say."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import PurePath

from homenode.errors import Where
from homenode.records.importing.opening.sources import ListingError, Notice

_LINE = re.compile(r"line (\d+): ")
_MOST = 1e15
"""Above all sizes that are printed: a byte count of a petabyte."""
_QUOTED = 40
_UNITS = {"MB": 1 << 20, "KB": 1 << 10, "GB": 1 << 30}


def counted(count: int, what: str) -> str:
    """`1 sample`, `2 samples`."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def named_after(file: str) -> str:
    """What a partition is called if nothing but the name of a file tells it."""
    name = PurePath(file.rsplit(":", 1)[-1]).name
    stem, dot, suffix = name.rpartition(".")
    return (stem if dot and suffix.isalpha() else name) or "partition"


def number(text: str) -> float | None:
    """A number as the tools print it, with a point or a comma, perhaps with a unit behind it; none
    below zero, for no size is.
    """
    words = text.split()
    plain = words[0].rstrip("%MBKkGb").replace(",", ".") if words else ""
    try:
        value = float(plain)
    except ValueError:
        return None
    return value if 0 <= value < _MOST else None


def unsound(what: str, text: str, where: Where) -> Notice:
    """What is said of a value that is no size."""
    return Notice(f'{what} is left out: "{text[:_QUOTED]}" is no size', where)


def whole(text: str) -> int | None:
    """A number without a fraction."""
    value = number(text)
    return int(value) if value is not None and value == int(value) else None


def size(text: str) -> int | None:
    """Bytes of `43008 MB`, `4096MB` or `8250048 kB`."""
    value = number(text)
    unit = _UNITS.get(text.strip()[-2:].upper())
    return None if value is None or unit is None or value < 0 else round(value * unit)


def unread(
    fault: Exception, at: Callable[[int | None], Where], next_step: str | None = None
) -> ListingError:
    """What a compiled parser says of a text that it cannot read, with the line that it names."""
    told = _LINE.match(str(fault))
    text = str(fault)[told.end() :] if told else str(fault)
    return ListingError(text, where=at(int(told[1]) if told else None), next_step=next_step)
