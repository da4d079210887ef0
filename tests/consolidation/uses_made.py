"""Recorded use made by hand: as demands, on a grid, to be placed, and as recordings in files."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from facts_made import at
from homenode.planner.consolidation.demand import Demand, Numbers
from homenode.planner.consolidation.grid import Grid
from homenode.planner.consolidation.spread import Loads, Placing, Room, placed
from homenode.records.importing.facts import PartitionFacts, SystemFacts, Told

GIB = 2**30
_HEAD = "PhysicalCPU,virtualCPUs,logicalCPUs,poolCPUs,entitled,weight,PoolIdle"
BEGIN = dt.datetime(2026, 9, 7)  # noqa: DTZ001 - as recorded, zoneless; a Monday


def demand(
    name: str,
    cores: Sequence[float],
    *,
    begin: float = 0.0,
    seconds: float = 300.0,
    system: SystemFacts | None = None,
) -> Demand:
    """Samples of one length, one after the other."""
    starts = begin + np.arange(len(cores)) * seconds
    partition = PartitionFacts(name, None if system is None else system.key)
    used = np.array(cores, dtype=float)
    return Demand(name, partition, system, starts, starts + seconds, used, (f"{name}.nmon",))


def server(key: str, model: str | None = None, clock_hz: float | None = None) -> SystemFacts:
    """A server as recordings tell of it."""
    found = SystemFacts(key)
    found.model = None if model is None else Told(model, at(1))
    found.clock_hz = None if clock_hz is None else Told(clock_hz, at(2))
    return found


def grid(rows: Sequence[Sequence[float]] | Numbers, step_s: float = 3600.0, **more: object) -> Grid:
    """Steps from a Monday in UTC on."""
    monday = 4 * 86_400.0
    return Grid(monday, step_s, np.array(rows, dtype=float), **more)  # type: ignore[arg-type]


def loads(
    use: Sequence[Sequence[float]] | Numbers,
    memory: Sequence[float] = (),
    apart: tuple[tuple[int, ...], ...] = (),
    percentile: float = 97.0,
) -> Loads:
    """Uses by partition and step, memory in GiB."""
    rows = np.array(use, dtype=float)
    own = np.array(memory or [0.0] * len(rows)) * GIB
    return Loads(rows, own, apart, percentile)


def room(cores: Sequence[float], memory: Sequence[float] = ()) -> Room:
    """Cores and GiB of each machine."""
    return Room(np.array(cores, float), np.array(memory or [1024.0] * len(cores)) * GIB)


def random_loads(seed: int, partitions: int, steps: int = 24, percentile: float = 90.0) -> Loads:
    """Partitions of several sizes that peak at times of their own."""
    chance = np.random.default_rng(seed)
    sizes = chance.lognormal(0.0, 0.7, partitions)
    return loads(sizes[:, None] * chance.gamma(2.0, 0.5, (partitions, steps)), (), (), percentile)


def put(of: Loads, into: Room, at: Sequence[int]) -> Placing:
    """A placement by hand."""
    return placed(of, into, np.array(at, dtype=np.int64))


def day_and_night(number: int, days: int = 3, step_s: int = 900) -> list[float]:
    """A use that goes up by day and down by night, each number at another level and hour."""
    steps = days * 86_400 // step_s
    turns = (2 * math.pi * (at * step_s / 86_400 - number / 10) for at in range(steps))
    return [round((1 + number) * (0.6 + 0.3 * math.sin(turn)), 3) for turn in turns]


def nmon(
    name: str,
    cores: Sequence[float],
    *,
    begin: dt.datetime = BEGIN,
    step_s: int = 900,
    memory_mib: int = 8192,
    virtual: int = 8,
    serial: str = "06AB1C7",
    machine: tuple[str, str] = ("IBM,9117-MMC", "POWER7"),
) -> str:
    """What nmon writes of a partition of AIX that uses so many cores."""
    model, processor = machine
    lines = [
        "AAA,progname,topas_nmon", f"AAA,host,{name}", "AAA,AIX,7.2.5.0", f"AAA,interval,{step_s}",
        f"AAA,hardware,Architecture PowerPC Implementation {processor} 64 bit",
        f"AAA,SerialNumber,{serial}", f"AAA,MachineType,{model}", f"AAA,LPARNumberName,1,{name}",
        f"LPAR,Logical Partition {name},{_HEAD}",
        "BBBP,001,lparstat -i",
        f'BBBP,002,lparstat -i,"{"Node Name":<43}: {name}"',
        f'BBBP,003,lparstat -i,"{"Type":<43}: Shared-SMT-4"',
        f'BBBP,004,lparstat -i,"{"Online Memory":<43}: {memory_mib} MB"',
    ]  # fmt: skip
    for index, used in enumerate(cores, 1):
        moment = begin + index * dt.timedelta(seconds=step_s)
        lines += [
            f"ZZZZ,T{index:04},{moment:%H:%M:%S},{moment:%d-%b-%Y}".upper(),
            f"LPAR,T{index:04},{used:.3f},{virtual},{virtual * 4},16,1.00,128,0.00",
        ]
    return "\n".join(lines) + "\n"


def four(folder: Path) -> Path:
    """Recordings of four partitions over three days: a, b, c, d use 1 to 4 cores at most."""
    folder.mkdir()
    for number, name in enumerate("abcd"):
        text = nmon(name, day_and_night(number), memory_mib=8192 * (number + 1))
        (folder / f"{name}.nmon").write_text(text)
    return folder
