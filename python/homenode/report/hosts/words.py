"""How ratios and shares are told."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from homenode.model.numbers import NOTHING, signed

_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def deviation(ratio: float | None, digits: int = 1) -> str:
    """`+31.2`, the per cent of a ratio above one."""
    return NOTHING if ratio is None else signed(100.0 * (ratio - 1.0), digits)


def between(low: float | None, high: float | None, digits: int = 1) -> str:
    """`+28.9 .. +33.1` of two ratios."""
    if low is None or high is None:
        return NOTHING
    return f"{deviation(low, digits)} .. {deviation(high, digits)}"


def span(low: float, high: float, digits: int = 1) -> str:
    """`+28.9 .. +33.1` of two percentages; one number where they print alike."""
    first, last = signed(low, digits), signed(high, digits)
    return first if first == last else f"{first} .. {last}"


def percent(share: float | None, digits: int = 1) -> str:
    """A share as per cent without the sign."""
    return NOTHING if share is None else f"{100.0 * share:.{digits}f}"


def counted(count: int, one: str, many: str | None = None) -> str:
    """`1 case`, `2 cases`."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def reasons(found: Mapping[str, int]) -> str:
    """`3 (others used 4.1 to 22.0 % of the host), 1 (...)`: those that differ in their first number
    alone are one kind, told with its range.
    """
    kinds: dict[str, list[tuple[str, int]]] = {}
    for why, count in found.items():
        number = _NUMBER.search(why)
        kind = why if number is None else f"{why[: number.start()]}{{}}{why[number.end() :]}"
        kinds.setdefault(kind, []).append((number.group() if number else "", count))
    return ", ".join(
        f"{sum(count for _, count in values)} ({kind.replace('{}', _range(values))})"
        for kind, values in kinds.items()
    )


def _range(values: Sequence[tuple[str, int]]) -> str:
    numbers = sorted({text for text, _ in values}, key=lambda text: float(text or 0))
    return numbers[0] if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"
