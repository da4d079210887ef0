"""Response times of a repetition, by the places that all tables have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

PERCENTILES = {"p50": 50.0, "p95": 95.0, "p99": 99.0, "p99.9": 99.9}
"""By the names under which a record keeps them [%]."""


def places(times: Sequence[float]) -> dict[str, float]:
    """Mean, percentiles by the nearest rank, and the longest of all responses, in their unit; none
    of none.
    """
    if not times:
        return {}
    ordered, last = sorted(times), len(times) - 1
    found = {name: ordered[int(last * pct / 100.0)] for name, pct in PERCENTILES.items()}
    mean = sum(ordered) / len(ordered)
    return told_by({"mean": mean, **found, "max": ordered[-1]}, len(ordered))


def told_by(found: Mapping[str, float], responses: float) -> dict[str, float]:
    """Without the percentiles that so many responses cannot tell: of a hundred one lies beyond the
    99th, none beyond the 99.9th, and what stands there is the longest under another name.
    """
    return {
        name: value
        for name, value in found.items()
        if name not in PERCENTILES or responses * (100.0 - PERCENTILES[name]) >= 100.0 - 1e-6
    }
