"""The parameters of a suite's row, checked as they are taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from homenode.errors import hint, listed
from homenode.hosts.adapter import Parameters
from homenode.hosts.errors import MeasureError

Value = str | int | float | bool


@dataclass(frozen=True)
class Note:
    """What an adapter asked for under one name."""

    name: str
    default: Value
    takes: str
    """What is allowed, in words."""
    choices: tuple[str, ...] = ()
    """Of a choice among words."""

    @property
    def wanted(self) -> bool:
        """Whether a choice has no default of its own."""
        return bool(self.choices) and self.default not in self.choices


class Asked(dict[str, Value]):
    """Parameters that note what is asked of them, for a list of what an adapter takes."""

    def __init__(self, parameters: Parameters) -> None:
        super().__init__(parameters)
        self.notes: dict[str, Note] = {}


class Given:
    """What a suite's row gives an adapter; every parameter is asked for once, then `no_others`.

    `taken` holds what came of it, defaults filled in: the parameters of the case.
    """

    def __init__(self, adapter: str, case: str, parameters: Parameters) -> None:
        self._where = f"{adapter}/{case}"
        self._given = dict(parameters)
        self._notes = parameters.notes if isinstance(parameters, Asked) else {}
        self.taken: dict[str, Value] = {}

    def choice(self, key: str, allowed: Sequence[str], default: str) -> str:
        """One of the words allowed."""
        value, takes = self._given.get(key, default), f"one of {', '.join(allowed)}"
        self._notes[key] = Note(key, default, takes, tuple(allowed))
        if not isinstance(value, str) or value not in allowed:
            raise self._refused(key, value, takes)
        self.taken[key] = value
        return value

    def count(self, key: str, default: int, *, least: int, most: int) -> int:
        """A whole number within bounds, both allowed."""
        value, takes = self._given.get(key, default), f"a whole number from {least} to {most}"
        self._notes[key] = Note(key, default, takes)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not whole or not least <= int(value) <= most:
            raise self._refused(key, value, takes)
        self.taken[key] = int(value)
        return int(value)

    def amount(self, key: str, default: float, *, least: float, most: float) -> float:
        """A number within bounds, both allowed."""
        value, takes = self._given.get(key, default), f"a number from {least:g} to {most:g}"
        self._notes[key] = Note(key, default, takes)
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise self._refused(key, value, takes)
        if not least <= value <= most:
            raise self._refused(key, value, takes)
        self.taken[key] = float(value)
        return float(value)

    def flag(self, key: str, default: bool) -> bool:
        """A parameter that is true or false."""
        value, takes = self._given.get(key, default), "true or false"
        self._notes[key] = Note(key, default, takes)
        if not isinstance(value, bool):
            raise self._refused(key, value, takes)
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
