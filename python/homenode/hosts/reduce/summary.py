"""A whole result reduced: its cells, its scaling sets, what was rejected."""

from __future__ import annotations

from dataclasses import dataclass

from homenode.hosts.reduce.guests import guests_of
from homenode.hosts.reduce.measured import Measured
from homenode.hosts.reduce.repetitions import Cell, cells_of
from homenode.hosts.reduce.scaling import Capability, ScalingSet, scaling_sets
from homenode.hosts.reduce.two_hosts import two_hosts


@dataclass(frozen=True)
class Summary:
    """The cells and scaling sets of one result."""

    cells: tuple[Cell, ...]
    sets: tuple[ScalingSet, ...]

    @property
    def rejections(self) -> dict[str, int]:
        """Why repetitions were rejected, and how many."""
        found: dict[str, int] = {}
        for cell in self.cells:
            for reason, count in cell.reasons.items():
                found[reason] = found.get(reason, 0) + count
        return found

    def as_json(self) -> dict[str, object]:
        """Its part of `--json`."""
        shared = two_hosts(self.cells)
        both: dict[str, object] = {"hosts": [one.as_json() for one in shared]} if shared else {}
        inside = guests_of(self.cells)
        both |= {"guests": [one.as_json() for one in inside]} if inside else {}
        return {
            "cells": [cell.as_json() for cell in self.cells],
            "scaling": [one.as_json() for one in self.sets],
            "rejected": self.rejections,
            **both,
        }


def summarize(
    result: Measured, capability: Capability | None = None, source: str = "linear scaling"
) -> Summary:
    """Reduce a result. `capability` is what scaling sets are held against, `source` what it is."""
    cells = cells_of(result.records)
    return Summary(tuple(cells), tuple(scaling_sets(cells, capability, source)))


def summary_json(
    result: Measured, capability: Capability | None = None, source: str = "linear scaling"
) -> dict[str, object]:
    """What `--json` prints of a result, and what its session says of itself."""
    session: dict[str, object] = {
        name: getattr(result, name)
        for name in ("started", "finished", "interrupted", "systems", "failures")
        if hasattr(result, name)
    }
    return {
        "suite": dict(result.suite),
        **session,
        "settings": dict(result.settings),
        "versions": dict(result.versions),
        "left_out": [dict(one) for one in result.left_out],
        **summarize(result, capability, source).as_json(),
    }
