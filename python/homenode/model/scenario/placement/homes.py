"""Homes of virtual processors: as many on each chip as it has of the partition's capacity."""

from __future__ import annotations

from collections.abc import Mapping


def homes_in_turn(processors: int, cores: Mapping[int, float]) -> tuple[int, ...]:
    """Chips on which virtual processors are homed in turn, a chip as often as it is its due; the
    shortest list that says so.
    """
    counts = _counts(processors, cores)
    given = dict.fromkeys(counts, 0)
    turns = []
    for turn in range(1, processors + 1):
        chip = max(counts, key=lambda chip: (counts[chip] * turn - given[chip] * processors, -chip))
        given[chip] += 1
        turns.append(chip)
    return tuple(turns[: _period(turns)])


def _counts(processors: int, cores: Mapping[int, float]) -> dict[int, int]:
    """Virtual processors of each chip, in proportion; the largest remainders are rounded up, the
    first of equals.
    """
    total = sum(cores.values())
    even = 1.0 / len(cores)
    due = {c: processors * (amount / total if total else even) for c, amount in cores.items()}
    counts = {chip: int(share + 1e-9) for chip, share in due.items()}
    missing = processors - sum(counts.values())
    for chip in sorted(due, key=lambda chip: (round(counts[chip] - due[chip], 9), chip))[:missing]:
        counts[chip] += 1
    return {chip: count for chip, count in sorted(counts.items()) if count}


def _period(turns: list[int]) -> int:
    """After how many turns all begins anew."""
    return next(
        length
        for length in range(1, len(turns) + 1)
        if len(turns) % length == 0 and turns == turns[:length] * (len(turns) // length)
    )
