"""An amount over places that hold so much each, on as few of them as can be."""

from __future__ import annotations

from collections.abc import Mapping


def pour(amount: float, room: Mapping[int, float], nothing: float) -> dict[int, float]:
    """What each place gets: the roomiest are filled first, and the rest goes where it just fits.

    Of equals the first is taken. Less than `nothing` is none; what no place holds is left out.
    """
    left = {place: size for place, size in room.items() if size > nothing}
    taken: dict[int, float] = {}
    while amount > nothing and left:
        holding = [place for place, size in left.items() if size >= amount - nothing]
        if holding:
            place = min(holding, key=lambda place: (left[place], place))
        else:
            place = min(left, key=lambda place: (-left[place], place))
        taken[place] = min(amount, left.pop(place))
        amount -= taken[place]
    return taken


def add(amounts: dict[int, float], more: Mapping[int, float]) -> float:
    """Put more on amounts; the sum of what came."""
    for place, amount in more.items():
        amounts[place] = amounts.get(place, 0.0) + amount
    return sum(more.values())


def whole_bytes(amounts: Mapping[int, float], total: int) -> dict[int, int]:
    """Amounts in whole bytes that add up to the total: the largest remainders are rounded up, the
    first of equals.
    """
    found = {place: int(amount) for place, amount in sorted(amounts.items())}
    missing = total - sum(found.values())
    by_remainder = sorted(found, key=lambda place: (round(found[place] - amounts[place], 3), place))
    for turn in range(missing):
        found[by_remainder[turn % len(found)]] += 1
    return {place: size for place, size in found.items() if size}
