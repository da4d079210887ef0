"""A layout's first figures: near its steady state, from where the layout is that was opened, so
that only what was moved is worked out again.

The same layout has the same ones whatever was asked before. Those that stay are of `layouts`, which
solves each by itself.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from homenode.model.spec import PartitionSpec, Spec, shared_of, zvm_of
from homenode.serve.layouts import Edits, changed
from homenode.simulate.engine import load_engine
from homenode.simulate.solved.counters import WITHOUT_TRANSACTIONS, is_limited, is_recorded

_HELD = 8
"""Machines with their layouts that a worker keeps."""
_MOST_FORMS = 2000
"""Forms of partitions that are kept of a machine; then it begins anew."""
_MS = 1e-6
_COLUMNS = ("cores", "response_ns", "near", "far", "steady", "throughput")


class _Machine:
    """The machine of a layout that was opened, and what its partitions may be in others."""

    def __init__(self, spec: Spec) -> None:
        """Raises the engine's `SpecError` where layouts are simulated only."""
        self.spec = spec
        self._around = _around(spec)
        self._begin()

    def _begin(self) -> None:
        self._layouts = cast(Any, load_engine()).Layouts(json.dumps(self.spec))
        self._forms: dict[tuple[int, str], int] = {}

    def solved(self, spec: Spec) -> Mapping[str, list[float]] | None:
        """Columns, a value a partition; None where another layout of this machine is not all that
        is asked for.
        """
        own = self.spec["partitions"]
        if _around(spec) != self._around or len(spec["partitions"]) != len(own):
            return None
        if len(self._forms) > _MOST_FORMS:
            self._begin()
        pairs = enumerate(zip(spec["partitions"], own, strict=True))
        row = [0 if one == before else self._number(at, one) for at, (one, before) in pairs]
        found: Mapping[str, list[float]] = self._layouts.solve([row])
        return found

    def _number(self, at: int, form: PartitionSpec) -> int:
        key = at, json.dumps(form)
        if key not in self._forms:
            self._forms[key] = self._layouts.add(*key)
        return self._forms[key]


def _around(spec: Spec) -> dict[str, Any]:
    """All but the partitions."""
    return {key: value for key, value in spec.items() if key != "partitions"}


@functools.lru_cache(maxsize=_HELD)
def _machine(path: str, _stamp: int) -> _Machine:
    return _Machine(json.loads(changed(path, {}).layout_json))


def figures(path: str, edits: Edits) -> dict[str, Any] | None:
    """What the partitions come to; None where that is not known sooner than the whole layout.

    Raises `HomenodeError` for what is wrong with the layout.
    """
    scenario = changed(path, edits)
    spec: Spec = json.loads(scenario.layout_json)
    if scenario.resolved.asked or spec.get("changes"):  # work is found first; only simulated
        return None
    try:
        found = _machine(path, Path(path).stat().st_mtime_ns).solved(spec)
    except load_engine().SpecError:
        return None
    if found is None:
        return None
    columns = zip(*(found[name] for name in _COLUMNS), strict=True)
    partitions = {
        one["name"]: _part(spec, one, dict(zip(_COLUMNS, values, strict=True)))
        for one, values in zip(spec["partitions"], columns, strict=True)
    }
    return {"cores": math.fsum(found["cores"]), "partitions": partitions}


def _part(spec: Spec, one: PartitionSpec, of: Mapping[str, float]) -> dict[str, float | None]:
    """As `layouts` tells it; how long work waits is told where the whole answer tells it too."""
    alone = "beside" not in one and zvm_of(one) is None
    counts = not alone or one["workload"]["kind"] not in WITHOUT_TRANSACTIONS
    waits = counts and of["steady"] and not (is_limited(spec, one) or is_recorded(one))
    shared = shared_of(one) is not None
    return {
        "cores": of["cores"],
        "response_ms": _MS * of["response_ns"] if waits and of["response_ns"] > 0.0 else None,
        "home_share": 1.0 - of["near"] - of["far"] if shared else 1.0,
        "near_share": of["near"],
        "far_share": of["far"],
        "throughput": of["throughput"] if counts else None,
    }


def figures_text(path: str, edits: Edits) -> bytes:
    """The same as JSON, as it is sent: `solved` is null where the whole layout is to be asked."""
    return json.dumps({"solved": figures(path, edits)}).encode()
