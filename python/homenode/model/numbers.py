"""Numbers as text: rounded last, with the digits their uncertainty allows."""

from __future__ import annotations

import math

from homenode.model.estimate import Estimate

NOTHING = "-"


def number(value: float | None, digits: int = 2) -> str:
    """A plain number with thousands separated; a dash where there is none."""
    return NOTHING if value is None else f"{value:z,.{digits}f}"


def significant(value: float | None, digits: int = 4) -> str:
    """A number with about as many digits as asked, never in exponent form between 1e-4 and 1e9."""
    if value is None:
        return NOTHING
    if value == 0:
        return "0"
    if not math.isfinite(value):
        return str(value)
    size = math.floor(math.log10(abs(value)))
    if not -5 < size < 9:
        return f"{value:.{digits - 1}e}"
    return f"{value:,.{max(digits - 1 - size, 0)}f}"


def with_interval(estimate: Estimate, digits: int = 2) -> str:
    """`17.42 ± 0.11`."""
    if estimate.mean is None:
        return NOTHING
    if estimate.ci95 is None:
        return number(estimate.mean, digits)
    return f"{number(estimate.mean, digits)} ± {number(estimate.ci95, digits)}"


def significant_with_interval(estimate: Estimate) -> str:
    """A mean with four significant digits and its interval with as many decimals."""
    if estimate.mean is None:
        return NOTHING
    mean = significant(estimate.mean)
    if estimate.ci95 is None or "e" in mean:
        return mean
    decimals = len(mean.partition(".")[2])
    return f"{mean} ± {number(estimate.ci95, decimals)}"


def duration(seconds: float) -> str:
    """A time for people: `42 s`, `3 min 05 s`, `2 h 10 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def signed(value: float | None, digits: int = 2, unit: str = "") -> str:
    """A difference with its sign; one that rounds to nothing is `+0`."""
    if value is None:
        return NOTHING
    rounded = round(value, digits) + 0.0  # -0.0 + 0.0 is 0.0
    return f"{rounded:+,.{digits}f}{unit}"
