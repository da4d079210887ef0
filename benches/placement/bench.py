"""Placement beside the best known: instances of machine reassignment, each for a given time.

The instances, and a table of the best known costs, lie in `../shared/instances` beside the
repository. Every assignment is judged by `checker.py`, not by the program that found it.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import checker
from generated import generate
from instance import Instance, places, read

from homenode import _engine
from homenode.errors import HomenodeError

SHARED = Path(__file__).resolve().parents[3] / "shared" / "instances"


@dataclass(frozen=True)
class Found:
    """What came of an instance."""

    cost: int
    moves: int
    broken: list[str]


def solve(
    one: Instance, seconds: float, searches: int, seed: int, since: float | None = None
) -> Found:
    """Places an instance; each search has the seconds, of processor time or by the wall's clock."""
    clock = time.process_time if since is None else time.monotonic
    limit = seconds * searches if since is None else seconds
    began = clock() if since is None else since
    placed = _engine.place(
        one.columns(),
        lambda _moves, _cost: (clock() - began) / limit,
        seed=seed,
        searches=searches,
        threads=searches,
    )
    at, cost = placed["at"], checker.cost(one, placed["at"])
    broken = list(checker.broken(one, at))
    if cost != placed["cost"]:
        broken.append(f"the engine says it costs {placed['cost']:,}")
    return Found(cost, placed["moves"], broken)


def best_known(folder: Path) -> dict[str, int]:
    """By instance, of the table in the folder's README: the column headed "best known"."""
    found: dict[str, int] = {}
    column = None
    readme = folder / "README.md"
    for line in readme.read_text(encoding="utf-8").splitlines() if readme.is_file() else []:
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if "best known" in cells:
            column = cells.index("best known")
        elif column is not None and len(cells) > column:
            number = re.match(r"[\d,]+", cells[column])
            if number:
                found[cells[0]] = int(number.group().replace(",", ""))
    return found


def row(one: Instance, found: Found, best: int | None) -> str:
    """One line of the table. The gap is to the best known, else to the lower bound."""
    start, bound = checker.cost(one, one.start.tolist()), checker.bound(one)
    against = best or bound
    gap = f"{found.cost / against - 1:.4%}" if against else "-"
    told = "" if best is None else f"{best:,}"
    costs = f"{start:>16,} {found.cost:>16,} {told:>16} {bound:>16,}"
    figures = f"{costs} {gap:>12} {found.moves / 1e6:>9,.0f}"
    return f"{one.name:<14} {figures}" + "".join(f"\n  BROKEN: {what}" for what in found.broken)


def options(arguments: list[str] | None) -> argparse.Namespace:
    """What is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--instances", type=Path, default=SHARED, help="where they lie")
    parser.add_argument("--seconds", type=float, nargs="+", default=[60.0, 300.0])
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these instances")
    parser.add_argument("--searches", type=int, default=2, help="searches, a thread each")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--generated", type=int, nargs=3, metavar=("MACHINES", "PROCESSES", "RESOURCES")
    )
    parser.add_argument("--wall", action="store_true", help="by the wall's clock, reading included")
    return parser.parse_args(arguments)


def instances(asked: argparse.Namespace) -> Iterator[tuple[str, Callable[[], Instance]]]:
    """Names of what is asked for, and how each is had."""
    if asked.generated:
        yield "generated", lambda: generate(*asked.generated, asked.seed)
        return
    for name, model, assignment in places(asked.instances):
        if not asked.only or name in asked.only:
            yield name, partial(read, model, assignment)


def rows(asked: argparse.Namespace, seconds: float) -> Iterator[tuple[str, bool]]:
    """Each line of a table, and whether the assignment is sound."""
    best = best_known(asked.instances)
    for name, instance in instances(asked):
        since = time.monotonic() if asked.wall else None
        one = instance()
        found = solve(one, seconds, asked.searches, asked.seed, since)
        yield row(one, found, best.get(name)), not found.broken


def main(arguments: list[str] | None = None) -> int:
    """Prints a table for each time; 1 if an assignment is unsound, 2 without instances."""
    asked = options(arguments)
    if not list(instances(asked)):
        print(f"NO INSTANCES in {asked.instances}: nothing was measured", file=sys.stderr)
        return 2
    sound = True
    try:
        for seconds in asked.seconds:
            clock = "" if asked.wall else " of processor time"
            print(f"{seconds:g} s{clock}, {asked.searches} searches, seed {asked.seed}")
            costs = f"{'start':>16} {'found':>16} {'best known':>16} {'lower bound':>16}"
            print(f"{'':<14} {costs} {'gap':>12} {'M moves':>9}")
            for line, right in rows(asked, seconds):
                print(line, flush=True)
                sound &= right
    except HomenodeError as fault:
        print(fault, file=sys.stderr)
        return 2
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
