"""What a metric is: a name, a unit, a meaning and a pure function of counters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from homenode.simulate.kept.totals import Totals, UnknownCounterError

Formula = Callable[[Totals], float | None]


@dataclass(frozen=True)
class Metric:
    """One figure: its name (unit last), what it means, how it is computed."""

    name: str
    unit: str
    meaning: str
    formula: Formula
    needs_steady: bool = False

    def of(self, totals: Totals) -> float | None:
        """Its value; None where it makes no sense, or needs a counter that is not known."""
        try:
            return self.formula(totals)
        except UnknownCounterError:
            return None

    def is_known(self, totals: Totals) -> bool:
        """Whether all counters that it needs are known."""
        try:
            self.formula(totals)
        except UnknownCounterError:
            return False
        return True
