"""One scenario solved and simulated: what comes of both, partition by partition."""

from __future__ import annotations

import json
import random
import statistics
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from scenarios import PLATFORMS, Table, toml

from homenode import _engine
from homenode.errors import HomenodeError
from homenode.model.spec import PartitionSpec, Spec
from homenode.simulate.answers import PartitionSolved
from homenode.simulate.scenario import Scenario
from homenode.simulate.solved.sureness import kind_of, platform_of

SECOND = 1_000_000_000
GUESTS = "virtual machines"
"""What a partition of z/VM is called among kinds of work."""
SEVERAL = "several workloads"
"""What one is called that has several."""
_FULL = 0.9
"""Share of a node's cores from which on it counts as full."""
_BATCHES = 8
_STUDENT = 2.365
"""95 % quantile of Student's distribution for the means of so many parts of a run."""
_CHANCE = 0.01
"""Half of the interval of all cores, by their mean, from which on a run says too little."""
_LONGER = (1, 4, 16)
"""How many times as long a scenario is simulated, one after the other, until it says enough: what
chance leaves open of the reference is no error of the solver.
"""
_CAUSES = {
    "reload": "cold caches",
    "hypervisor": "dispatches",
    "guest_idle": "polling",
    "smt": "threads of a core",
    "useful": "threads of a core",
}
"""Books by what fills them; the rest of them are lines, by where they come from."""


@dataclass(frozen=True)
class Row:
    """A partition both ways, each pair solved first."""

    number: int
    """Of its scenario."""
    name: str
    kind: str
    """Of its workload."""
    processors: int
    cores: tuple[float, float]
    instructions: tuple[float, float]
    """In a second."""
    response_ns: tuple[float | None, float | None]
    p95_ns: tuple[float | None, float | None]
    """What 95 of 100 responses stay under."""
    steady: tuple[bool, bool]
    unknown: bool
    """Whether it has two balances, so that no figure is told."""
    crowded: bool
    """Whether a node at home is full."""
    chance: float
    """Half of the 95 % interval of the simulated figure, by its mean."""
    cause: str
    """In which book most of the difference lies."""
    sort: tuple[str | None, str]
    """Platform and kind as `homenode.simulate.solved.sureness` tells them."""

    @property
    def deviation(self) -> float:
        """Of the cores for the same work: how much came by chance is in both."""
        (solved, simulated), by_chance = self.instructions, 1.0
        if self.kind in ("transactions", GUESTS) and solved > 0:
            by_chance = simulated / solved
        return self.cores[0] * by_chance / self.cores[1] - 1.0

    @property
    def beyond_chance(self) -> float:
        """What of the deviation lies outside the simulated figure's interval."""
        size = max(0.0, abs(self.deviation) - self.chance)
        return size if self.deviation > 0 else -size

    @property
    def response_deviation(self) -> float | None:
        """None where one of them has none."""
        solved, simulated = self.response_ns
        return solved / simulated - 1.0 if solved and simulated else None

    @property
    def p95_deviation(self) -> float | None:
        """The same of the 95th percentile."""
        solved, simulated = self.p95_ns
        return solved / simulated - 1.0 if solved and simulated else None


@dataclass(frozen=True)
class Pair:
    """A scenario both ways, or why it was refused."""

    number: int
    rows: list[Row] = field(default_factory=list)
    load: float = 0.0
    """Share of the machine's active cores, of a host's processors, that all partitions used."""
    refused: str = ""


def pair(job: tuple[str, int, float]) -> Pair | None:
    """The scenario of a platform and a number, so many seconds of it simulated; None where the dice
    made none.
    """
    platform, number, seconds = job
    data, shares = PLATFORMS[platform](random.Random(f"{platform} {number}"))
    if not data["partition"]:
        return None
    try:
        spec = _scaled(data, shares)
    except (HomenodeError, _engine.SpecError) as fault:
        return Pair(number, refused=str(fault))
    spec["warmup_ns"], spec["duration_ns"] = SECOND, int(seconds * SECOND)
    _settle(spec)
    try:
        solved = json.loads(_engine.solve(json.dumps(spec)))["partitions"]
        return _simulated_enough(number, spec, solved)
    except (_engine.Runaway, _engine.SpecError) as fault:
        return Pair(number, refused=str(fault))


def _simulated_enough(number: int, spec: dict[str, Any], solved: list[dict[str, Any]]) -> Pair:
    """Beside what was solved as long a run as leaves little to chance, or the longest."""
    rows: list[Row] = []
    asked_ns = spec["duration_ns"]
    for times in _LONGER:
        spec["duration_ns"] = asked_ns * times
        spec["interval_ns"] = spec["duration_ns"] // _BATCHES
        simulated, parts = _simulate(json.dumps(spec))
        full = _full_nodes(spec, simulated)
        both = zip(spec["partitions"], solved, simulated, parts, strict=True)
        rows = [_row(number, spec, full, *one) for one in both]
        if _chance_of_all(rows, parts) <= _CHANCE:
            break
    used = sum(row.cores[1] for row in rows)
    machine = spec["machine"]
    threads = machine["hypervisor"].get("siblings", 1)
    return Pair(number, rows, used / (machine["active_cores"] * threads))


def _settle(spec: dict[str, Any]) -> None:
    """On a Linux host, scans of memory that cost nothing: in a run's first minute they come more
    often than later. Threads are drawn to their memory in tens of seconds.
    """
    numa = spec["machine"]["hypervisor"].get("linux", {}).get("numa_balancing")
    if numa:
        numa |= {"scan_bytes": 1 << 20, "fault_ns": 0, "move_ns": 0}
        spec["warmup_ns"] = 10 * SECOND
    for one in spec["partitions"]:
        if "machines" in one["guest"]:
            # As often decided in this time as else in a minute.
            one["guest"]["park_interval_ns"] = SECOND // 5
            spec["warmup_ns"] = 2 * SECOND


Parts = list[tuple[int, int]]
"""Busy time [ns] and instructions in each part of a run."""


def _simulate(text: str) -> tuple[list[dict[str, Any]], list[Parts]]:
    """What comes of each partition, in all and part by part."""
    batches: list[dict[str, array[int]]] = []

    def keep(batch: dict[str, Any]) -> bool:
        table = batch["tables"].get("partition", {})
        columns = ("partition", "busy_ns", "instructions")
        batches.append({name: array("q", table[name]) for name in columns if name in table})
        return True

    partitions = json.loads(_engine.simulate(text, 0, keep))["partitions"]
    parts: list[Parts] = [[] for _ in partitions]
    for batch in filter(None, batches):
        for at, *figures in zip(*batch.values(), strict=True):
            parts[at].append((figures[0], figures[1]))
    return partitions, parts


def _row(
    number: int,
    spec: dict[str, Any],
    full: set[int],
    one: dict[str, Any],
    of: dict[str, Any],
    by: dict[str, Any],
    parts: Parts,
) -> Row:
    totals, duration = by["totals"], spec["duration_ns"]
    kind = GUESTS if "machines" in one["guest"] else one["workload"]["kind"]
    kind = SEVERAL if "beside" in one else kind
    answered = _answered(one, of, by)
    return Row(
        number=number,
        name=one["name"],
        kind=kind,
        processors=_processors(one),
        cores=(_for_the_same(one, of, by, duration), totals["busy_ns"] / duration),
        instructions=(of["instructions"], totals["instructions"] / duration * SECOND),
        response_ns=(answered[0]["response_ns"], answered[1]["response_ns"]["mean"]),
        p95_ns=(
            (answered[0]["percentiles_ns"] or [None] * 3)[1],
            answered[1]["response_ns"].get("p95"),
        ),
        steady=(of["steady"], by["steady"]["is_steady"]),
        unknown=bool(of["balances"]),
        crowded=any(chip // spec["machine"]["chips_per_node"] in full for chip in one["home"]),
        chance=_chance(parts, kind),
        cause="how much it gets" if kind in _ALWAYS else _cause(of, totals),
        sort=_sort(spec, one, of),
    )


def _sort(spec: dict[str, Any], one: dict[str, Any], of: dict[str, Any]) -> tuple[str | None, str]:
    """Platform and kind of a partition, as they are told with solved cores."""
    platform = platform_of(cast("Spec", spec), cast("PartitionSpec", one))
    return platform, kind_of(platform, cast("PartitionSolved", of))


def _loads(one: dict[str, Any]) -> list[dict[str, Any]]:
    """What a partition runs, each workload."""
    return [one["workload"], *(load["workload"] for load in one.get("beside", ()))]


def _for_the_same(
    one: dict[str, Any], of: dict[str, Any], by: dict[str, Any], duration: int
) -> float:
    """Cores, of several workloads for as much of each one's transactions as came.

    One without a steady state takes what it can, however much comes.
    """
    cores = float(of["cores"])
    if not of["steady"]:
        return cores
    pairs = zip(_loads(one), of.get("workloads", ()), by.get("workloads", ()), strict=False)
    for work, solved, simulated in pairs:
        if work["kind"] == "transactions" and solved["instructions"]:
            came = simulated["totals"]["instructions"] / duration * SECOND
            cores += solved["cores"] * (came / solved["instructions"] - 1.0)
    return cores


def _answered(
    one: dict[str, Any], of: dict[str, Any], by: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Whose responses are compared: of several workloads the first that has arrivals."""
    if "beside" in one:
        for work, *both in zip(_loads(one), of["workloads"], by["workloads"], strict=True):
            if work["kind"] in ("transactions", "users"):
                return both[0], both[1]
    return of, by


_ALWAYS = ("loops", "warehouses")
"""Workloads whose threads always have work, so that only what they get can differ."""


def _chance(parts: Parts, kind: str) -> float:
    """Half of the interval of the cores, or of those for the same work, by their mean."""
    if kind in ("transactions", GUESTS):
        return _half([busy / done for busy, done in parts if done])
    return _half([float(busy) for busy, _ in parts])


def _chance_of_all(rows: Sequence[Row], parts: Sequence[Parts]) -> float:
    """The same of the cores of all partitions that are compared, for the same work."""
    each = [0.0] * max(map(len, parts), default=0)
    for row, own in zip(rows, parts, strict=True):
        if not all(row.steady) or row.unknown:
            continue
        mean = statistics.fmean(done for _, done in own) if own else 0.0
        for at, (busy, done) in enumerate(own):
            same = mean / done if row.kind in ("transactions", GUESTS) and done else 1.0
            each[at] += busy * same
    return _half(each)


def _half(each: Sequence[float]) -> float:
    """Half of the 95 % interval of the mean of a run's parts, by the mean."""
    mean = statistics.fmean(each) if len(each) > 1 else 0.0
    return _STUDENT * statistics.stdev(each) / len(each) ** 0.5 / mean if mean else 0.0


def _cause(of: dict[str, Any], totals: dict[str, Any]) -> str:
    """By the time of an instruction, cause by cause."""
    apart: dict[str, float] = {}
    for book, cores in of["books"].items():
        cause = _CAUSES.get(book, "where lines come from")
        solved = cores / max(of["instructions"], 1.0) * SECOND
        simulated = totals[f"book_{book}"] / max(totals["instructions"], 1)
        apart[cause] = apart.get(cause, 0.0) + solved - simulated
    return max(apart, key=lambda cause: abs(apart[cause]))


def _processors(one: dict[str, Any]) -> int:
    processors = one["processors"]
    return int(processors.get("virtual", len(processors.get("cores", []))))


def _full_nodes(spec: dict[str, Any], simulated: list[dict[str, Any]]) -> set[int]:
    """Nodes of which those at home there together take nearly all cores."""
    machine = spec["machine"]
    chips, cores = machine["chips_per_node"], machine["cores_per_chip"]
    used = [0.0] * machine["nodes"]
    for one, by in zip(spec["partitions"], simulated, strict=True):
        for chip in one["home"]:
            share = by["totals"]["busy_ns"] / spec["duration_ns"] / len(one["home"])
            used[chip // chips] += share
    return {node for node, of in enumerate(used) if of > _FULL * chips * cores}


def _scaled(data: Table, shares: list[float]) -> dict[str, Any]:
    """The spec with rates and users that keep so much of the virtual processors busy, by solving
    it: what is simulated then is independent of it.
    """
    partitions: Any = data["partition"]
    for one in partitions:
        loads = one["workload"] if isinstance(one["workload"], list) else [one["workload"]]
        for work in loads:
            if work.get("rate") == "0/s":
                work["rate"] = "0.001/s"
            if work.get("count") == 0:
                work["count"] = 1
    spec: dict[str, Any] = json.loads(json.dumps(Scenario.from_toml(toml(data)).spec()))
    alone = json.loads(_engine.solve(json.dumps(spec)))["partitions"]
    for one, of, share in zip(spec["partitions"], alone, shares, strict=True):
        loads = [work for work in _loads(one) if work["kind"] in ("transactions", "users")]
        told = of.get("workloads", [of])
        for work, alone in zip(_loads(one), told, strict=True):
            if share and alone["response_ns"] and work in loads:
                _load(one, work, alone["response_ns"], share / len(loads))
    return spec


def _load(one: dict[str, Any], work: dict[str, Any], response_ns: float, share: float) -> None:
    """Gives a partition as much to do as keeps this share of its processors busy, if a transaction
    that is alone takes so long.
    """
    processors = one["processors"]
    wanted = share * _processors(one)
    if processors.get("capped"):
        wanted = min(wanted, 0.8 * processors["entitlement"])
    waits_ns = (work["bursts"] - 1) * work["wait_ns"]
    each_s = (response_ns - waits_ns) / SECOND
    if work["kind"] == "transactions":
        work["rate_per_s"] = wanted / each_s
    else:
        away_s = 0.2 + waits_ns / SECOND + 1.5 * each_s
        work["count"] = max(1, round(wanted / each_s * away_s))
