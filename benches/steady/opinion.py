"""A second opinion on closed cases: solved queues beside those of a queueing library.

A partition with cores of its own and one thread a core is a queue with as many servers. How long
an instruction takes is asked of the solved layout (cores over transactions); what waits for whom
must come out alike by an exact method that shares no code with ours. Ends with 1 where it does not.
The library has requirements of its own: the Python that has it is the program's argument.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from homenode.simulate.scenario import Scenario

LIBRARY = Path(__file__).parent / "on_line.py"
CORES = (1, 2, 4, 8)
LOADS = (0.3, 0.6, 0.9)
"""Of the cores, by transactions a second; of users, by how many there are."""
THINK_MS = 20.0
AGREED = 1e-6
"""Relative difference up to which two answers are one: both are exact but for rounding."""

LAYOUT = """
[machine]
model = "ibm-power-770"

[[partition]]
name = "db"
processors = {{ mode = "dedicated", cores = {cores} }}
smt = 1
memory = "16 GiB"
guest = {{ os = "linux" }}
workload = {{ {workload}, profile = "oltp" }}
"""
OPEN = 'kind = "transactions", rate = "{rate:.3f}/s"'
CLOSED = (
    'kind = "users", count = {users}, think = "{think_ms} ms", bursts = {bursts}, wait = "2 ms"'
)


@dataclass(frozen=True)
class Case:
    """A queue of bursts, as the library is told it."""

    cores: int
    service_ms: float
    """Mean time of a burst on a core."""
    rate_per_ms: float | None
    """Of bursts that come whatever is there; None where users send them."""
    users: int
    away_ms: float
    """Mean time that a user is away between two bursts."""


@dataclass(frozen=True)
class Told:
    """A case with our answer."""

    title: str
    case: Case
    bursts_per_ms: float
    burst_ms: float
    """Mean time that a burst is there."""


def solved(title: str, cores: int, workload: str, bursts: int = 1, users: int = 0) -> Told:
    """Our answer, as that of a queue of bursts."""
    layout = Scenario.from_toml(LAYOUT.format(cores=cores, workload=workload)).solve()
    row = layout.answer["partitions"][0]
    bursts_per_ms = row["throughput"] * bursts / 1e3
    away_ms = (THINK_MS + (bursts - 1) * 2.0) / bursts
    response_ms = row["response_ns"] / 1e6
    case = Case(
        cores=cores,
        service_ms=row["busy_vps"] / bursts_per_ms,
        rate_per_ms=None if users else bursts_per_ms,
        users=users,
        away_ms=away_ms,
    )
    return Told(title, case, bursts_per_ms, (response_ms - (bursts - 1) * 2.0) / bursts)


def alone_ms(cores: int) -> float:
    """Time of a burst with next to nothing there."""
    return solved("", cores, OPEN.format(rate=0.1)).case.service_ms


def cases() -> Iterator[Told]:
    """Open and closed ones, of one burst and of several with waits between."""
    for cores in CORES:
        burst_ms = alone_ms(cores)
        for load in LOADS:
            rate = 1e3 * load * cores / burst_ms
            yield solved(f"M/M/{cores}, load {load:.0%}", cores, OPEN.format(rate=rate))
        for load in (*LOADS, 1.5):
            for bursts in (1, 5):
                away_ms = (THINK_MS + (bursts - 1) * 2.0) / bursts
                users = max(1, round(load * cores * (away_ms + burst_ms) / burst_ms))
                work = CLOSED.format(users=users, think_ms=THINK_MS, bursts=bursts)
                title = f"{users} users, {cores} cores, {bursts} bursts"
                yield solved(title, cores, work, bursts, users)


def main(python: str) -> int:
    """Ask both, print where they part."""
    ours = list(cases())
    asked = json.dumps([asdict(one.case) for one in ours])
    command = [python, str(LIBRARY)]
    answer = subprocess.run(command, input=asked, stdout=subprocess.PIPE, text=True, check=True)
    theirs = json.loads(answer.stdout)
    worst = 0.0
    for one, (bursts_per_ms, burst_ms) in zip(ours, theirs["answers"], strict=True):
        apart = [one.bursts_per_ms / bursts_per_ms - 1, one.burst_ms / burst_ms - 1]
        worst = max(worst, *map(abs, apart))
        print(f"{one.title:32} throughput {apart[0]:+8.1e}  time there {apart[1]:+8.1e}")
    print(f"{len(ours)} queues beside {theirs['library']}: at most {worst:.1e} of it apart")
    return 0 if worst <= AGREED else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
