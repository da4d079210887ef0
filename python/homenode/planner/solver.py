"""The steady solver, asked for many layouts at once."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from homenode.errors import HomenodeError
from homenode.model.spec import PartitionSpec, Spec
from homenode.simulate.answers import PartitionSolved, SolvedAnswer
from homenode.simulate.engine import load_engine
from homenode.simulate.kept.work import kinds_of

Floats = NDArray[np.float64]
_MOST_AT_ONCE = 4096
"""Rows of a batch, between which a search may be stopped."""
_SILENT = {"loops", "idle"}
COLUMNS = ("cores", "response_ns", "p95_ns", "throughput", "steady", "far")
NONE = (0.0, np.inf, np.inf, 0.0, 0.0, 0.0)
"""Of a partition of a layout that the engine does not bring to an end."""


class _Layouts(Protocol):
    """`homenode._engine.Layouts`: the layouts of one machine."""

    def add(self, partition: int, partition_json: str) -> int:
        """Another form of a partition; its number."""
        ...

    def near(self, chosen: list[int]) -> None:
        """Solve others from this layout on."""
        ...

    def solve(self, choices: list[list[int]], p95: bool = False) -> dict[str, list[float]]:
        """Columns, for each layout a value of each partition."""
        ...


@dataclass(frozen=True)
class Figures:
    """What rows come out with, a column a partition."""

    cores: Floats
    response_ns: Floats
    p95_ns: Floats
    throughput: Floats
    """Transactions [1/s]."""
    steady: Floats
    """1 where demand is met."""
    far: Floats
    """Share of core time far from home."""


@dataclass(frozen=True)
class Features:
    """What rules and licences look at of a form."""

    entitlement: float
    """Cores; all of a dedicated partition."""
    virtual: float
    capped: bool
    pool: int
    """Number of its pool; -1 of a dedicated partition."""
    nodes: Floats
    """Share of its home on each node."""
    places: Floats
    """The same by what partitions are kept apart: nodes, chips of a machine that is one node."""
    memory: Floats
    """Bytes in each memory domain."""


def features_of(machine: Any, form: PartitionSpec) -> Features:
    """Of a partition's form on a machine."""
    processors: Any = form["processors"]
    nodes, per_node = machine["nodes"], machine["chips_per_node"]
    shared = processors["mode"] == "shared"
    count = processors["virtual"] if shared else len(processors["cores"])
    domains = nodes * (per_node if machine["memory_beside"] == "chip" else 1)
    memory, share = np.zeros(domains), np.zeros(nodes)
    chips = np.zeros(nodes * per_node)
    for part in form["memory"]:
        for domain in part["domains"]:
            memory[min(domain, domains - 1)] += part["bytes"] / len(part["domains"])
    for chip in form["home"]:
        share[chip // per_node] += 1 / len(form["home"])
        chips[chip] += 1 / len(form["home"])
    return Features(
        entitlement=processors.get("entitlement", count) if shared else count,
        virtual=count,
        capped=not shared or bool(processors.get("capped", False)),
        pool=int(processors.get("pool", 0)) if shared else -1,
        nodes=share,
        places=share if nodes > 1 else chips,
        memory=memory,
    )


def most_of_pools(specs: Sequence[Spec]) -> Floats:
    """The most cores that the partitions of each pool can use: its maximum, those of its type."""
    most = max((len(spec["pools"]) for spec in specs), default=0)
    found = np.full((len(specs), most), np.inf)
    for row, spec in enumerate(specs):
        for at, pool in enumerate(spec["pools"]):
            cores = pool.get("cores")
            told = (pool["maximum"], None if cores is None else len(cores))
            found[row, at] = min((float(one) for one in told if one is not None), default=np.inf)
    return found


def offered(partition: PartitionSpec) -> float:
    """Transactions that come in a second, whether or not earlier ones are done."""
    loads: list[Any] = [partition, *partition.get("beside", ())]
    return fsum(_arriving(one["workload"], one["profile"]) for one in loads)


def is_open(partition: PartitionSpec) -> bool:
    """Whether all that it does comes by itself: then what it gets done is that, or its demand is
    not met.
    """
    loads: list[Any] = [partition, *partition.get("beside", ())]
    return all(_arriving(one["workload"], one["profile"]) > 0 for one in loads)


def _arriving(workload: Any, profile: Any) -> float:
    if "instructions_per_s" in workload:
        lengths, rates = workload["lengths_ns"], workload["instructions_per_s"]
        mean = float(np.average(rates, weights=lengths))
        return mean / float(profile["instructions_per_unit"])
    return float(workload.get("rate_per_s", 0.0))


class Told:
    """A feature of all forms of all partitions, read by rows of options."""

    def __init__(self) -> None:
        self.of: list[list[Features]] = []
        self._made: dict[tuple[int, str], NDArray[Any]] = {}

    def column(self, index: int, name: str, options: NDArray[np.int64]) -> NDArray[Any]:
        """A feature of a partition, a value (or a row of values) for each row."""
        forms = self.of[index]
        made = self._made.get((index, name))
        if made is None or len(made) != len(forms):
            known = 0 if made is None else len(made)
            new = np.array([getattr(form, name) for form in forms[known:]])
            made = new if made is None else np.concatenate([made, new])
            self._made[index, name] = made
        return np.asarray(made[options[:, index]])


class NotSolvedError(HomenodeError):
    """A machine whose layouts are simulated only."""

    def __init__(self, spec: Spec, fault: Exception) -> None:
        super().__init__(f"{spec['name']}: {fault}")
        self.why = str(fault).partition(";")[0]
        """The reason without the scenario's name, and without what else there is."""


class Solver:
    """The layouts of one machine. Raises `NotSolvedError` for a machine that it cannot solve."""

    whole = False
    """Whether a form is one of all partitions together."""
    simulates = False
    """Whether layouts are simulated, for want of a solution."""
    most: int | None = None
    """Layouts that are tried; None = as many as the search likes."""

    def __init__(self, spec: Spec) -> None:
        engine = load_engine()
        self._start(spec)
        self._refusal = engine.SpecError
        try:
            self._layouts = cast(_Layouts, cast(Any, engine).Layouts(json.dumps(spec)))
        except engine.SpecError as error:
            raise NotSolvedError(spec, error) from error

    def _start(self, spec: Spec) -> None:
        self.spec = spec
        self.solved = 0
        """Layouts that were solved so far."""
        self.silent = np.array([kinds_of(one) <= _SILENT for one in spec["partitions"]])
        """Which partitions answer nobody: nothing of what they do is a response."""
        self.tells_p95 = False
        """Whether the 95th percentile of responses is worked out, which takes as long again."""
        self._forms = [[one] for one in spec["partitions"]]
        self._alone: dict[tuple[int, ...], list[tuple[float, ...]]] = {}
        self.features = Told()
        self.features.of = [[features_of(spec["machine"], one)] for one in spec["partitions"]]

    def add(self, index: int, form: PartitionSpec) -> int | None:
        """Another form of a partition; its number, or None for what the engine refuses."""
        try:
            number = self._layouts.add(index, json.dumps(form))
        except self._refusal:
            return None
        self._forms[index].append(form)
        self.features.of[index].append(features_of(self.spec["machine"], form))
        return number

    def near(self, options: NDArray[np.int64]) -> None:
        """Solve others from these options on: sooner, the fewer of them differ. A figure hangs on
        it by less than that to which it is solved, and on nothing else that was asked before.
        """
        self._layouts.near(options.tolist())

    def solve(self, options: NDArray[np.int64]) -> Figures:
        """Figures of rows of options, one a partition."""
        parts = [
            self._layouts.solve(options[at : at + _MOST_AT_ONCE].tolist(), self.tells_p95)
            for at in range(0, len(options), _MOST_AT_ONCE)
        ]
        self.solved += len(options)
        shape = (len(options), len(self.spec["partitions"]))
        told = {
            name: np.array([value for part in parts for value in part[name]]).reshape(shape)
            for name in COLUMNS
        }
        return self._heard(Figures(**told))

    def exactly(self, options: NDArray[np.int64]) -> Figures:
        """The same of each solved by itself from the beginning: what `homenode solve` says of it,
        whatever was asked before. It takes some hundred times as long.
        """
        rows = [tuple(map(int, row)) for row in options]
        for row in rows:
            if row not in self._alone:
                spec = self.layout(row)
                self._alone[row] = self._figures(spec, json.dumps(spec))
        return self._table([self._alone[row] for row in rows])

    def most_of_pools(self, options: NDArray[np.int64]) -> Floats:
        """The most cores that the partitions of each pool can use, by row."""
        return np.repeat(most_of_pools([self.spec]), len(options), axis=0)

    def layout(self, options: Iterable[int]) -> Spec:
        """The engine's input with a form of each partition."""
        partitions = [of[number] for of, number in zip(self._forms, options, strict=True)]
        return {**self.spec, "partitions": partitions}

    def _table(self, found: Sequence[Sequence[tuple[float, ...]]]) -> Figures:
        """Figures of rows, of which each has those of its partitions."""
        shape = (len(found), len(self.spec["partitions"]), len(NONE))
        told = np.array(found, dtype=np.float64).reshape(shape)
        return self._heard(Figures(*(told[:, :, at] for at in range(len(NONE)))))

    def _ask(self, spec: Spec, text: str) -> SolvedAnswer:
        """The answer to a layout, whose spec is this text as JSON."""
        engine = load_engine()
        try:
            answer: SolvedAnswer = json.loads(engine.solve(text))
        except engine.SpecError as error:
            raise NotSolvedError(spec, error) from error
        return answer

    def _figures(self, spec: Spec, text: str) -> list[tuple[float, ...]]:
        """Of each partition what `Figures` has."""
        try:
            answer = self._ask(spec, text)
        except NotSolvedError:
            return [NONE] * len(spec["partitions"])
        return [_solved(of) for of in answer["partitions"]]

    def _heard(self, told: Figures) -> Figures:
        """Without responses of those that answer nobody: how long a loop takes is none."""
        response, p95 = (
            np.where(self.silent, np.nan, one) for one in (told.response_ns, told.p95_ns)
        )
        return replace(told, response_ns=response, p95_ns=p95)


def _solved(of: PartitionSolved) -> tuple[float, ...]:
    response, percentiles = of["response_ns"], of["percentiles_ns"]
    mean = np.nan if response is None else response
    p95 = np.nan if percentiles is None else percentiles[1]
    return of["cores"], mean, p95, of["throughput"], float(of["steady"]), of["by_distance"][2]
