"""Values with units as people write them: `"10 ms"`, `"4.004 GHz"`, `"40 GiB"`, `"1400/s"`, `"49
%"`.

Every kind of quantity has one base unit, in which the program computes: nanoseconds, hertz, bytes,
bytes per second, events per second, a share of 1. Parsing and printing are exact (rational, never
binary, arithmetic), so that `parse(print(x)) == x`. A bare number is refused where a unit is
needed: the reader of a file should never have to guess.

>>> TIME.parse("10 ms")
Fraction(10000000, 1)
>>> TIME.format(1_500_000_000)
'1.5 s'
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from fractions import Fraction

_SHAPE = re.compile(
    r"\s*(?P<number>[+-]?[0-9][0-9_]*(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?)\s*(?P<unit>\S.*?)?\s*"
)
_LONGEST = 64
_PLAIN_LENGTH = 24
_MOST_DIGITS = 40
_MOST_EXPONENT = 999
_MOST_KNOWN = 4_096
"""Texts and values that are remembered."""


class UnitError(ValueError):
    """A text is not a quantity of the kind that is needed; the message says which units fit."""


@dataclass(frozen=True, eq=False)
class Kind:
    """One kind of quantity: its name, its units with their size in the base unit, an example."""

    name: str
    units: dict[str, Fraction]
    example: str
    confusable: dict[str, str]
    spaced: bool = True
    preferred: str | None = None

    @property
    def fitting(self) -> str:
        """The units that fit, for messages."""
        return ", ".join(self.units)

    def parse(self, text: object) -> Fraction:
        """Value in the base unit."""
        if isinstance(text, bool) or not isinstance(text, (str, int, float)):
            raise UnitError(
                f"{_shown(text)} is not a {self.name}; write it as text with its unit, like"
                f' "{self.example}"'
            )
        if not isinstance(text, str):
            raise UnitError(
                f"{_shown(text)} has no unit; a {self.name} is written with one of {self.fitting},"
                f' like "{self.example}"'
            )
        return _parsed(self, text)

    def format(self, value: Fraction | float) -> str:
        """The value, exactly, in the largest unit that leaves at least 1 of it."""
        # A float stands for the shortest decimal number that reads back as the same float.
        exact = Fraction(repr(value)) if isinstance(value, float) else Fraction(value)
        return _written(self, exact)


# Bounds of fields, and what stands in layouts that are compared, come again and again.
@functools.lru_cache(_MOST_KNOWN)
def _parsed(kind: Kind, text: str) -> Fraction:
    found = _SHAPE.fullmatch(text) if len(text) <= _LONGEST else None
    if found is None:
        raise UnitError(
            f'{_shown(text)} is not a {kind.name}; write a number and a unit, like "{kind.example}"'
        )
    return _number(kind, found["number"], text) * _unit(kind, found["unit"], text)


def _number(kind: Kind, digits: str, text: str) -> Fraction:
    plain = digits.replace("_", "")
    if sum(character.isdigit() for character in plain.lower().partition("e")[0]) > _MOST_DIGITS:
        raise UnitError(f"{_shown(text)} has more digits than any {kind.name} needs")
    return Fraction(plain)


def _unit(kind: Kind, unit: str | None, text: str) -> Fraction:
    if unit is None:
        raise UnitError(
            f"{_shown(text)} has no unit; a {kind.name} is written with one of {kind.fitting},"
            f' like "{kind.example}"'
        )
    size = kind.units.get(unit)
    if size is not None:
        return size
    if unit.startswith(","):
        point = text.replace(",", ".", 1).strip()
        raise UnitError(f'{_shown(text)} has a decimal comma; write a point, "{point}"')
    hint = kind.confusable.get(unit)
    advice = f"write {hint}" if hint else f"the units of a {kind.name} are {kind.fitting}"
    raise UnitError(
        f"{_shown(text)} has the unit {unit!r}, which is none of a {kind.name}; {advice}"
    )


@functools.lru_cache(_MOST_KNOWN)
def _written(kind: Kind, exact: Fraction) -> str:
    best: str | None = None
    for unit, size in kind.units.items():
        number = _decimal(exact / size)
        if number is None or (best is not None and abs(exact) < size):
            continue
        best = f"{number} {unit}" if kind.spaced else f"{number}{unit}"
        if unit == kind.preferred:
            break
    if best is None:
        raise UnitError(f"{exact} cannot be written exactly as a {kind.name}")
    return best


def _decimal(number: Fraction) -> str | None:
    """The number in decimal digits, if it has finitely many and not absurdly many."""
    rest = number.denominator
    twos = (rest & -rest).bit_length() - 1
    rest >>= twos
    fives = 0
    while rest % 5 == 0:
        rest //= 5
        fives += 1
    places = max(twos, fives)
    if rest != 1:
        return None
    scaled = abs(number.numerator) * 10**places // number.denominator
    digits = str(scaled).rjust(places + 1, "0")
    whole, part = digits[: len(digits) - places], digits[len(digits) - places :].rstrip("0")
    text = ("-" if number < 0 else "") + (f"{whole}.{part}" if part else whole)
    if len(text) <= _PLAIN_LENGTH:
        return text
    mantissa = str(scaled).rstrip("0")
    exponent = len(str(scaled)) - len(mantissa) - places
    if len(mantissa) > _MOST_DIGITS or abs(exponent) > _MOST_EXPONENT:
        return None
    return f"{'-' if number < 0 else ''}{mantissa}e{exponent}"


def _shown(text: object) -> str:
    """A value as it was written, cut if it is long."""
    shown = f'"{text}"' if isinstance(text, str) else str(text)
    shown = shown.lower() if isinstance(text, bool) else shown
    return shown if len(shown) <= _LONGEST else shown[: _LONGEST - 3] + "..."


def _powers(names: str, factor: int) -> dict[str, Fraction]:
    return {name: Fraction(factor**power) for power, name in enumerate(names.split())}


_MEANT_SIZES = {
    **dict.fromkeys(("KB", "kB", "K"), "KiB (2^10 bytes)"),
    **dict.fromkeys(("MB", "M"), "MiB (2^20 bytes)"),
    **dict.fromkeys(("GB", "G"), "GiB (2^30 bytes)"),
    **dict.fromkeys(("TB", "T"), "TiB (2^40 bytes)"),
}

TIME = Kind(
    "time",
    {
        "ns": Fraction(1),
        "us": Fraction(1_000),
        "ms": Fraction(1_000_000),
        "s": Fraction(1_000_000_000),
        "min": Fraction(60_000_000_000),
        "h": Fraction(3_600_000_000_000),
        "d": Fraction(86_400_000_000_000),
    },
    "10 ms",
    {
        "µs": "us",
        "μs": "us",
        "sec": "s",
        "seconds": "s",
        "m": "min for minutes or ms for milliseconds",
        "cycles": "a time",
    },
)
"""Base unit: nanosecond."""

CYCLES = Kind("number of cycles", {"cycles": Fraction(1)}, "25 cycles", {"cycle": "cycles"})
"""Base unit: one cycle of the core clock."""

FREQUENCY = Kind(
    "frequency",
    _powers("Hz kHz MHz GHz", 1000),
    "4.004 GHz",
    {"Ghz": "GHz", "ghz": "GHz", "Mhz": "MHz", "G": "GHz"},
)
"""Base unit: hertz."""

SIZE = Kind("size", _powers("B KiB MiB GiB TiB", 1024), "40 GiB", _MEANT_SIZES)
"""Base unit: byte. Powers of 1024 only: what the field calls GB of memory is meant as GiB, and
that is written.
"""

BANDWIDTH = Kind(
    "bandwidth",
    _powers("B/s kB/s MB/s GB/s TB/s", 1000),
    "100 GB/s",
    {"GB": "GB/s", "KB/s": "kB/s", "Gb/s": "GB/s"},
)
"""Base unit: byte per second."""

RATE = Kind(
    "rate",
    {"/s": Fraction(1), "/min": Fraction(1, 60), "/h": Fraction(1, 3600), "/ms": Fraction(1000)},
    "1400/s",
    {"tps": "/s", "per second": "/s", "1/s": "/s", "Hz": "/s"},
    spaced=False,
    preferred="/s",
)
"""Base unit: one a second."""

SHARE = Kind("share", {"%": Fraction(1, 100)}, "49 %", {"percent": "%"})
"""Base unit: 1, so 49 % is 0.49."""

KINDS = (TIME, CYCLES, FREQUENCY, SIZE, BANDWIDTH, RATE, SHARE)
