"""A job: a frozen scenario with the replications asked for, and the id that follows from them.

The id is a short hash over everything that decides the numbers: the frozen scenario (its seed is in
it), what else is known of the machine, the replications and the version of the program. The same
job therefore always has the same id and the same results.
"""

from __future__ import annotations

import functools
import hashlib
import json
import operator
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol, SupportsIndex, runtime_checkable

from homenode.errors import HomenodeError
from homenode.model.scenario import Scenario
from homenode.model.scenario.kept import stand_alone
from homenode.model.spec import Spec
from homenode.simulate.answers import Details, MachineFacts
from homenode.simulate.runner.details import machine_facts, partition_details
from homenode.simulate.settle.work import ShareFn, settled, work_of

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.+]+")
_HASH_DIGITS = 8
_MOST_PIECES = 128
"""Tables of a spec whose spelling is remembered."""
MOST_REPLICATIONS = 10_000
"""As in a scenario file."""


@runtime_checkable
class FrozenScenario(Protocol):
    """What the runner needs of a scenario."""

    @property
    def text(self) -> str:
        """The scenario file as given."""
        ...

    @property
    def replications(self) -> int:
        """How often the scenario asks to be repeated."""
        ...

    def spec_json(self) -> str:
        """The frozen input of the engine."""
        ...


@dataclass(frozen=True)
class Job:
    """One frozen scenario and the indices of its replications."""

    spec: Spec
    text: str
    replications: tuple[int, ...]
    version: str
    details: Details = field(default_factory=dict)
    """Of each partition, what its own tools print but the engine need not know."""
    machine: MachineFacts = field(default_factory=MachineFacts)
    """Of the machine, what reports say but the engine need not know."""
    files: dict[str, bytes] = field(default_factory=dict)
    """By path below the run folder, the files that the scenario names."""
    point: dict[str, object] = field(default_factory=dict)
    """Values of the axes, if it is a point of a sweep."""
    changes: dict[str, object] = field(default_factory=dict)
    """What was set otherwise than in the scenario that it was made of, by path."""

    @property
    def name(self) -> str:
        """Name of the scenario, fit for a folder name."""
        return folder_name(str(self.spec["name"]))

    @functools.cached_property
    def spec_text(self) -> str:
        """The spec in its one canonical spelling."""
        return canonical(self.spec)

    @property
    def id(self) -> str:
        """`name-hash`."""
        digest = self.digest_with(self.machine, self.replications, self.version)
        return f"{self.name}-{digest[:_HASH_DIGITS]}"

    def digest_with(self, *facts: object) -> str:
        """Of the spec and these, as a list in JSON."""
        digest = self._digest.copy()
        digest.update(f", {json.dumps(facts)[1:]}".encode())
        return digest.hexdigest()

    @functools.cached_property
    def _digest(self) -> hashlib._Hash:
        return hashlib.sha256(f"[{json.dumps(self.spec_text)}".encode())

    def with_replications(self, indices: Iterable[int]) -> Job:
        """The same job with only those replications."""
        return replace(self, replications=tuple(sorted(indices)))


def freeze(
    scenario: FrozenScenario | str | Path,
    replications: int | None,
    seed: int | None,
    version: str,
    progress: ShareFn | None = None,
    *,
    kept: bool = True,
) -> Job:
    """Turn a scenario (or the path of one) into a job; `replications` and `seed` replace the
    scenario's own. Work that is told by the cores it takes is found; `progress` is told how far.
    Without `kept` there is only what is simulated, not what a run folder holds beside it.
    """
    frozen = Scenario.load(scenario) if isinstance(scenario, str | Path) else scenario
    if isinstance(frozen, Scenario):
        frozen = settled(frozen, progress)
    count = frozen.replications if replications is None else replications
    refuse_replications(count)
    spec: Spec = json.loads(frozen.spec_json())
    if seed is not None:
        refuse_seed(seed)
        spec["seed"] = whole("seed", seed)
    text, files = _kept(frozen) if kept else ("", {})
    return Job(
        spec=spec,
        text=text,
        files=files,
        replications=tuple(range(count)),
        version=version,
        details=partition_details(frozen) if kept else {},
        machine=machine_facts(frozen),
        point=dict(getattr(frozen, "point", {})),
        changes=dict(getattr(frozen, "changes", {})) if kept else {},
    )


def canonical(spec: Spec) -> str:
    """A spec as JSON in one spelling, as it is kept: a line a value, keys in their order."""
    lines = [f" {json.dumps(key)}: {_spelt(value)}" for key, value in sorted(spec.items())]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _spelt(value: object) -> str:
    """A value of a spec; its tables one by one, of which those of many points are the same."""
    if not isinstance(value, list) or not value:
        return _piece(json.dumps(value), 1)
    return "[\n  " + ",\n  ".join(_piece(json.dumps(one), 2) for one in value) + "\n ]"


@functools.lru_cache(_MOST_PIECES)
def _piece(text: str, depth: int) -> str:
    # To write by lines takes many times as long as to write and read without.
    told = json.dumps(json.loads(text), indent=1, sort_keys=True, ensure_ascii=False)
    return told.replace("\n", "\n" + " " * depth)


def folder_name(name: str) -> str:
    """A scenario's name, fit for that of a folder."""
    return _NOT_IN_NAMES.sub("-", name).strip("-.") or "run"


def refuse_seed(seed: int | None) -> None:
    """Raise `HomenodeError` for what is no seed."""
    if seed is not None and not 0 <= whole("seed", seed) < 2**64:
        raise HomenodeError(
            f"seed {seed} is out of range; a seed is a whole number from 0 to 2^64 - 1"
        )


def refuse_replications(count: int) -> None:
    """Raise `HomenodeError` for as many replications as no scenario can have."""
    if not 1 <= whole("replications", count) <= MOST_REPLICATIONS:
        raise HomenodeError(
            f"{count} replications were asked for; there can be 1 to {MOST_REPLICATIONS:,}"
        )


def whole(option: str, value: object) -> int:
    """An option that is a whole number. Raises `HomenodeError` for what is none."""
    # Numbers of numpy count too.
    if not isinstance(value, SupportsIndex) or isinstance(value, bool):
        raise HomenodeError(f"{option} = {value!r} is not a whole number")
    return operator.index(value)


def _kept(scenario: FrozenScenario) -> tuple[str, dict[str, bytes]]:
    """What to keep of a scenario in its file's language: all it needs; of any other its text."""
    if not isinstance(scenario, Scenario):
        return scenario.text, {}
    return stand_alone(scenario, work_of(scenario))
