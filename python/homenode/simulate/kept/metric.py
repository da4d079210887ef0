"""What a metric is: a name, a unit, a meaning and a pure function of counters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from homenode.simulate.kept.totals import Totals

Formula = Callable[[Totals], float | None]


@dataclass(frozen=True)
class Metric:
    """One figure: its name (unit last), what it means, how it is computed."""

    name: str
    unit: str
    meaning: str
    formula: Formula
    needs_steady: bool = False
