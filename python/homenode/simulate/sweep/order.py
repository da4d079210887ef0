"""What every worker of a sweep is told, and what a point comes to: bytes that do not depend on who
worked it out, where, or when.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any

from pydantic_core import from_json, to_json

from homenode.errors import HomenodeError
from homenode.model.catalog.names import is_path
from homenode.model.scenario import Scenario
from homenode.model.scenario.kept import named_files
from homenode.simulate.engine import build
from homenode.simulate.runner.job import Job
from homenode.version import program_version

_KEY_DIGITS = 32
_FORM = 2
"""Of a point's record: one of another form is not gone on from."""
_NUMBER = re.compile(rb'\{"number":(\d+),')


@dataclass(frozen=True)
class Order:
    """A sweep, as little of it as a worker needs; points are told by their numbers."""

    text: str
    """The scenario file."""
    source: str
    folder: str
    """Where files that it names are looked for; empty where they come with the order."""
    files: Mapping[str, bytes]
    """Files that it names, for a worker who cannot see the folder."""
    replications: int
    seed: int | None
    build: str
    version: str
    """Of the program, which is part of a run's id."""
    threads: int = 1
    """Of a worker; replications of a point run side by side in so many."""

    def here(self, threads: int) -> Order:
        """The order for workers of this machine, who see the folder: files need not be sent. Its
        id is told before.
        """
        return replace(self, files={}, threads=threads)

    def elsewhere(self, threads: int) -> Order:
        """The order for workers who see none of our files. Raises `HomenodeError` for a file that
        cannot lie at the same place below a folder of theirs.
        """
        for name in self.files:
            path = PurePath(name)
            if path.is_absolute() or ".." in path.parts:
                raise HomenodeError(
                    f"{self.source} names {name}",
                    there="a worker of a cluster gets the files that lie beside the scenario or"
                    " below",
                    next_step="put it there and name it by its relative path",
                )
        return replace(self, folder="", threads=threads)

    @property
    def id(self) -> str:
        """Digest of all that decides the results, and of their form."""
        said = [self.text, self.replications, self.seed, self.build, _FORM]
        held = {name: hashlib.sha256(self.files[name]).hexdigest() for name in sorted(self.files)}
        return hashlib.sha256(json.dumps([said, held]).encode()).hexdigest()


@dataclass(frozen=True)
class RunsOrder:
    """Whole runs: of frozen layouts all that their replications come to, tables too. Its numbers
    are replications, those of one layout after those of another.
    """

    specs: tuple[str, ...]
    counts: tuple[int, ...]
    """Replications of each."""
    build: str
    threads: int = 1

    def here(self, _threads: int) -> RunsOrder:
        """See `Order`: a replication has no use for more than a thread."""
        return self

    def elsewhere(self, _threads: int) -> RunsOrder:
        """See `Order`: a frozen layout names no files."""
        return self

    @property
    def id(self) -> str:
        """Digest of all that decides the results."""
        return hashlib.sha256(
            json.dumps([self.specs, self.counts, self.build]).encode()
        ).hexdigest()

    def replication(self, number: int) -> tuple[int, int]:
        """Which layout a number is of, and which of its replications."""
        for at, count in enumerate(self.counts):
            if number < count:
                return at, number
            number -= count
        raise IndexError(number)


@dataclass(frozen=True)
class Done:
    """A point as it is committed."""

    number: int
    key: str
    """Of the run: its canonical spec with the seed, its replications, the engine."""
    line: bytes
    """Its record, in one spelling."""


def line_of(record: Mapping[str, Any]) -> bytes:
    """A record in its one spelling: keys in the order in which they are made, its number first, so
    that this is found without reading the rest.
    """
    told = {"number": record["number"], **record}
    return to_json(told, inf_nan_mode="constants") + b"\n"


def record_in(line: bytes) -> dict[str, Any]:
    """The record of a line."""
    record: dict[str, Any] = from_json(line)
    return record


def number_in(line: bytes) -> int:
    """Its number. Raises `ValueError` where the line holds no record."""
    match = _NUMBER.match(line)
    if match is None or not line.endswith(b"}\n"):
        raise ValueError(line[:80])
    return int(match[1])


@dataclass(frozen=True)
class Reply:
    """What a worker gives back for a batch; fewer points than were asked for if it was stopped."""

    worker: str
    build: str
    done: tuple[Done, ...] = ()
    busy_s: float = 0.0
    """Time that it took."""
    error: str = ""
    """Why nothing more can come from this worker."""
    next_step: str = "install the same homenode on all machines of the cluster"


AnyOrder = Order | RunsOrder
Batch = tuple[int, ...]
"""Numbers of points, or of replications of whole runs."""


def order_of(scenario: Scenario, replications: int | None, seed: int | None) -> Order:
    """The order of a sweep. Its files are read once: what the results hang on is known."""
    names = dict.fromkeys([*named_files(scenario), *_of_axes(scenario)])
    return Order(
        text=scenario.text,
        source=Path(scenario.source).name,
        folder=str(scenario.folder.absolute()),
        files={name: (scenario.folder / name).read_bytes() for name in names},
        replications=scenario.replications if replications is None else replications,
        seed=seed,
        build=build(),
        version=program_version(),
    )


def _of_axes(scenario: Scenario) -> Iterator[str]:
    """Files that values of axes name."""
    for values in scenario.axes.values():
        for value in values:
            if isinstance(value, str) and is_path(value) and (scenario.folder / value).is_file():
                yield value


def key_of(spec_text: str, replications: int, engine: str) -> str:
    """The key of a run."""
    facts: list[Any] = [spec_text, replications, engine]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:_KEY_DIGITS]


def key_of_job(job: Job, order: Order) -> str:
    """The same of a job, which has read its spec for its own id."""
    return job.digest_with(order.replications, order.build)[:_KEY_DIGITS]
