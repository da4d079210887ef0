"""Units of hyptop's columns: how a value in microseconds, KiB or pieces is printed.

Taken from the tool's manual page (hyptop.8 of s390-tools, UNITS) and the decimals it prints.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

Value = int | str | None
"""Microseconds, KiB, a count, or a name; None where nothing is known."""
NOTHING = "-"
_MINUTE_US = 60_000_000


def _divided(divisor: int, decimals: int) -> Callable[[int], str]:
    return lambda value: f"{value / divisor:.{decimals}f}"


def _hours(value: int) -> str:
    minutes = value // _MINUTE_US
    return f"{minutes // 60}:{minutes % 60:02}"


def _days(value: int) -> str:
    minutes = value // _MINUTE_US
    return f"{minutes // 1440}:{minutes // 60 % 24:02}:{minutes % 60:02}"


RATE: Mapping[str, Callable[[int], str]] = {
    "us": str,
    "ms": _divided(1_000, 2),
    "%": _divided(10_000, 2),
    "s": _divided(1_000_000, 2),
}
"""Of time in each second [us]."""
TIME: Mapping[str, Callable[[int], str]] = {
    "us": str,
    "ms": _divided(1_000, 2),
    "s": _divided(1_000_000, 2),
    "m": _divided(_MINUTE_US, 0),
    "hm": _hours,
    "dhm": _days,
}
"""Of time in all [us]."""
MEMORY: Mapping[str, Callable[[int], str]] = {
    "KiB": str,
    "MiB": _divided(1 << 10, 2),
    "GiB": _divided(1 << 20, 2),
}
"""Of sizes [KiB]."""
COUNT: Mapping[str, Callable[[int], str]] = {"#": str}
NAME: Mapping[str, Callable[[int], str]] = {"str": str}
QUOTED = frozenset({"str", "hm", "dhm"})
"""Units whose values are text to a program that reads them."""


def shown(value: Value, unit: str, family: Mapping[str, Callable[[int], str]]) -> str:
    """A value as it is printed."""
    if value is None:
        return NOTHING
    return value if isinstance(value, str) else family[unit](value)
