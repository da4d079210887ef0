"""What the cases of a suite need, and whether it is there."""

from __future__ import annotations

from dataclasses import dataclass

from homenode.hosts.adapter import Adapter, Need
from homenode.hosts.live.packages import missing
from homenode.hosts.suite import Suite


@dataclass(frozen=True)
class Wanted:
    """A tool and who needs it."""

    adapter: Adapter
    need: Need
    there: bool
    cases: tuple[str, ...]


def needs_of(suite: Suite) -> list[Wanted]:
    """Tools of all cases, by adapter, each once."""
    cases: dict[tuple[str, Need], list[str]] = {}
    adapters = {row.adapter.name: row.adapter for row in suite.rows}
    for row in suite.rows:
        for need in row.adapter.requires(row.case).needs:
            cases.setdefault((row.adapter.name, need), []).append(row.id)
    return [
        Wanted(adapters[name], need, not missing([need], adapters[name]), tuple(ids))
        for (name, need), ids in sorted(cases.items(), key=lambda item: item[0][0])
    ]
