"""What is asked for: the table `[advise]` with what the caller says in its place."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from homenode.errors import HomenodeError, ScenarioError, Where, nearest
from homenode.model.document import Document, parse_document
from homenode.model.document.positions import Path
from homenode.model.scenario import Scenario
from homenode.model.scenario.file.advise import Advise

VARIANTS = ("split", "merge", "machine", "granules")
"""Words of `free` that make another scenario: other partitions, machines, units of memory."""
_SHARES = ("worth", "slower", "headroom")
"""Keys that are told as numbers [0..1]."""


@dataclass(frozen=True)
class Wishes:
    """What may change, what it is to reach, what must hold."""

    told: Advise
    document: Document = field(repr=False)
    asked: frozenset[str] = frozenset()
    """Keys that were said elsewhere."""
    added: Document | None = field(default=None, repr=False)
    """A file whose rules (`apart`, …) stand behind those of the scenario."""

    def where(self, *path: str | int) -> Where | None:
        """The place of a key of the table; None where it was said elsewhere."""
        if path[0] in self.asked:
            return None
        key, *rest = path
        row = rest[0] if rest else None
        if self.added is not None and isinstance(row, int):
            own = len(self.document.value(("advise", key)) or ())
            if row >= own:
                return _place(self.added, ("advise", key, row - own, *rest[1:]))
        return _place(self.document, ("advise", *path))

    @property
    def varies(self) -> bool:
        """Whether more may change than each partition by itself."""
        return any(word in VARIANTS for word in self.told.free)

    @property
    def currency(self) -> str | None:
        """That of all costs; None where nothing costs."""
        return next((one.currency for one in self.told.licence), None)


def _place(document: Document, path: Path) -> Where | None:
    return document.where(path) if document.value(path) is not None else None


def wishes_of(scenario: Scenario, **asked: Any) -> Wishes:
    """The scenario's wishes; `asked` are keys of `[advise]`, None for what is left as it is.

    Raises `HomenodeError` for words that there are not, and for what contradicts itself.
    """
    document = parse_document(scenario.text, scenario.source, ScenarioError)
    given = {key: value for key, value in asked.items() if value is not None}
    for key in given:
        if key not in Advise.model_fields:
            raise HomenodeError(f"advise knows no {key}{nearest(key, Advise.model_fields)}")
    if not given:
        return Wishes(scenario.file.advise or Advise(), document)
    spelt = {
        f"advise.{key}": f"{100 * value:.10g} %" if key in _SHARES else value
        for key, value in given.items()
    }
    try:
        told = scenario.with_(spelt).file.advise
    except ScenarioError as error:
        # Of who asks, not of a place in the file.
        there, step = error.there, error.next_step
        raise HomenodeError(error.problem, there=there, next_step=step) from error
    return Wishes(told or Advise(), document, frozenset(given))
