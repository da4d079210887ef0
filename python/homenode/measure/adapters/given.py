"""The parameters of a suite's row, checked as they are taken."""

from __future__ import annotations

from collections.abc import Sequence

from homenode.errors import hint, listed
from homenode.measure.adapter import Parameters
from homenode.measure.errors import MeasureError

Value = str | int | float | bool


class Given:
    """What a suite's row gives an adapter; every parameter is asked for once, then `no_others`.

    `taken` holds what came of it, defaults filled in: the parameters of the case.
    """

    def __init__(self, adapter: str, case: str, parameters: Parameters) -> None:
        self._where = f"{adapter}/{case}"
        self._given = dict(parameters)
        self.taken: dict[str, Value] = {}

    def choice(self, key: str, allowed: Sequence[str], default: str) -> str:
        """One of the words allowed."""
        value = self._given.get(key, default)
        if not isinstance(value, str) or value not in allowed:
            raise self._refused(key, value, f"one of {', '.join(allowed)}")
        self.taken[key] = value
        return value

    def count(self, key: str, default: int, *, least: int, most: int) -> int:
        """A whole number within bounds, both allowed."""
        value = self._given.get(key, default)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not whole or not least <= int(value) <= most:
            raise self._refused(key, value, f"a whole number from {least} to {most}")
        self.taken[key] = int(value)
        return int(value)

    def amount(self, key: str, default: float, *, least: float, most: float) -> float:
        """A number within bounds, both allowed."""
        value = self._given.get(key, default)
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise self._refused(key, value, f"a number from {least:g} to {most:g}")
        if not least <= value <= most:
            raise self._refused(key, value, f"a number from {least:g} to {most:g}")
        self.taken[key] = float(value)
        return float(value)

    def flag(self, key: str, default: bool) -> bool:
        """True or false."""
        value = self._given.get(key, default)
        if not isinstance(value, bool):
            raise self._refused(key, value, "true or false")
        self.taken[key] = value
        return value

    def no_others(self) -> None:
        """Refuse parameters that nobody asked for, naming the nearest one there is."""
        for key in self._given:
            if key not in self.taken:
                raise MeasureError(
                    f"{self._where} knows no parameter {key!r}{hint(key, self.taken)}",
                    there=f"there are {listed(sorted(self.taken), 30)}",
                )

    def _refused(self, key: str, value: object, wanted: str) -> MeasureError:
        return MeasureError(
            f"{self._where}: parameter {key!r} is {value!r}",
            next_step=f"give {wanted}",
        )
