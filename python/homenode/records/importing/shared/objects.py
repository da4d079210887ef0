"""Objects of a JSON text one by one, so that what is cut off or damaged loses only its own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

_MOST_BROKEN = 10_000
_MOST = 1e15
"""Above all amounts that tools print."""


@dataclass
class Lines:
    """Numbers of lines in a text, for places that are asked for in ascending order."""

    text: str
    _place: int = field(default=0, init=False)
    _line: int = field(default=1, init=False)

    def at(self, place: int) -> int:
        """The line of a place, counted from 1."""
        self._line += self.text.count("\n", self._place, place)
        self._place = max(place, self._place)
        return self._line


@dataclass
class Objects:
    """The objects of a text that begin as `marker` says, wherever they stand."""

    text: str
    marker: re.Pattern[str]
    broken: list[int] = field(default_factory=list, init=False)
    """Lines of those that are no sound JSON."""

    def __iter__(self) -> Iterator[tuple[int, int, Mapping[str, object]]]:
        """Place, line and content of each."""
        decoder, lines, place = json.JSONDecoder(), Lines(self.text), 0
        while match := self.marker.search(self.text, place):
            start = match.start()
            try:
                found, place = decoder.raw_decode(self.text, start)
            except (ValueError, RecursionError):
                self.broken.append(lines.at(start))
                place = start + 1
                if len(self.broken) >= _MOST_BROKEN:
                    return
                continue
            yield start, lines.at(start), found


def amount(value: object) -> float | None:
    """A number of at least 0 as JSON has it, or as a text of digits; None for anything else."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if 0 <= value < _MOST else None
