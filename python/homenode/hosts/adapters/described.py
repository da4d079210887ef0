"""What an adapter takes of a suite's case, found by letting it take its case: names, defaults and
bounds are those that it checks, and no list beside them can grow old.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass

from homenode.hosts.adapter import Adapter, Parameters
from homenode.hosts.adapters.given import Asked, Note, Value
from homenode.hosts.errors import MeasureError

_CASE = "case"
"""Name of a case that is no word of any adapter's own."""


@dataclass(frozen=True)
class Parameter:
    """One key of a case's `parameters`; `load` may stand beside them as well."""

    name: str
    default: Value | None
    """None where a case has to name it, by itself or by being called so."""
    takes: str
    """What is allowed, in words."""
    only_where: str = ""
    """The choice that it belongs to, such as `kernel = memory`; empty where it always counts."""

    def as_json(self) -> dict[str, object]:
        """A row of `--json`."""
        return {
            "parameter": self.name,
            "default": self.default,
            "takes": self.takes,
            "only_where": self.only_where,
        }


def parameters_of(adapter: Adapter) -> list[Parameter]:
    """All that the adapter asks for, in the order in which it does."""
    notes = _asked(adapter, {})
    missing = next((note for note in notes.values() if note.wanted), None)
    if missing is None:
        return [_parameter(note) for note in notes.values()]
    # A choice without a default: what else is asked depends on it.
    by_choice = {choice: _asked(adapter, {missing.name: choice}) for choice in missing.choices}
    found = [_parameter(missing)]
    for name in dict.fromkeys(name for notes in by_choice.values() for name in notes):
        if name != missing.name:
            found += _by_choice(name, missing.name, by_choice)
    return found


def meaning_of(adapter: Adapter) -> str:
    """What the parameters mean, in the adapter's own words."""
    return " ".join((inspect.getdoc(type(adapter).case) or "").split())


def _asked(adapter: Adapter, parameters: Parameters) -> Mapping[str, Note]:
    asked = Asked(parameters)
    try:
        adapter.case(_CASE, asked)
    except MeasureError:
        # It ends at a choice that nobody has made; what it asked until then is noted.
        if not any(note.wanted for note in asked.notes.values()):
            raise
    return asked.notes


def _by_choice(name: str, of: str, by_choice: Mapping[str, Mapping[str, Note]]) -> list[Parameter]:
    """A row for each way in which the choices ask for a parameter."""
    ways: dict[tuple[Value, str], list[str]] = {}
    for choice, notes in by_choice.items():
        if name in notes:
            note = notes[name]
            ways.setdefault((note.default, note.takes), []).append(choice)
    return [
        Parameter(
            name,
            default,
            takes,
            "" if len(choices) == len(by_choice) else f"{of} = {' or '.join(choices)}",
        )
        for (default, takes), choices in ways.items()
    ]


def _parameter(note: Note) -> Parameter:
    return Parameter(note.name, None if note.wanted else note.default, note.takes)
