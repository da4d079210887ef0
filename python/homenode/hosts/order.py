"""In which order repetitions run, so that drift and neighbours hit both sides alike.

Blocks AAA..BBB call equal systems different in most sessions under slow drift; turns ABBA or BAAB,
drawn a pair of rounds at a time, keep the false calls of a 5 % test near 5 %.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Turn:
    """One repetition to come."""

    cell: int
    """Index of case and number of processors."""
    system: str
    replicate: int
    """Counted from 0 within cell and system; equal numbers of two systems are a pair."""


def turns(repeats: Sequence[int], systems: Sequence[str], *, seed: int) -> Iterator[Turn]:
    """All turns of a session: in rounds, a repetition of every cell and system in each.

    `repeats` are those of each cell. Cells run forth in one round and back in the next; the systems
    of a cell change places likewise, beginning with whichever is drawn.
    """
    chance = random.Random(seed)  # noqa: S311 - order of runs, no secret
    first: dict[tuple[int, int], bool] = {}
    for number in range(max(repeats, default=0)):
        cells = [cell for cell, count in enumerate(repeats) if number < count]
        for cell in cells if number % 2 == 0 else reversed(cells):
            swapped = first.setdefault((cell, number // 2), chance.random() < 0.5)
            backwards = swapped != (number % 2 == 1)
            for system in reversed(systems) if backwards else systems:
                yield Turn(cell, system, number)
