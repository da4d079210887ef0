"""An amount over places that hold so much each, on as few of them as can be."""

from __future__ import annotations

from collections.abc import Mapping

LOGICAL_BLOCK = 256 << 20
"""Piece in which a server with more than 32 GB hands out memory, if nobody changes it [bytes]."""
_NEARLY = 1e-9


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


def in_blocks(amounts: Mapping[int, float], total: int, block: int) -> dict[int, int]:
    """Amounts of memory in whole blocks that add up to the total [bytes].

    The largest remainders are rounded up, the first of equals; what is no whole block goes where
    most is.
    """
    found = {place: int(amount / block + _NEARLY) for place, amount in sorted(amounts.items())}
    remainders = {place: found[place] - amounts[place] / block for place in found}
    by_remainder = sorted(found, key=lambda place: (round(remainders[place], 6), place))
    for turn in range(total // block - sum(found.values())):
        found[by_remainder[turn % len(found)]] += 1
    sizes = {place: count * block for place, count in found.items()}
    if sizes:
        most = max(amounts, key=lambda place: (amounts[place], -place))
        sizes[most] += total - sum(sizes.values())
    return {place: size for place, size in sizes.items() if size}
