"""How much faster one homenode-bench is than another: OLD and NEW run each case in turn, round
after round, each time for a short while in a process of its own, so that what else the machine does
hits both. Above 1 the new one is faster.

Models are compared by wall time for a simulated second, not by events: a program that needs fewer
events for the same answer is not slower for that. Where it does, the last column says so.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
from dataclasses import dataclass
from pathlib import Path

GROWTH = "growth, "
"""How the names of the cases begin that take longest; they run only where they are asked for."""
SAME = 0.01
"""Difference of the numbers of events that is chance: the runs are other replications."""


@dataclass(frozen=True)
class Run:
    """What one profile saw."""

    events: float
    wall_s: float
    simulated_s: float

    def cost(self) -> float:
        """Wall time of a simulated second, of an event where no time is simulated."""
        return self.wall_s / (self.simulated_s or self.events)

    def density(self) -> float:
        """Events of a simulated second."""
        return self.events / self.simulated_s if self.simulated_s else 1.0


def main() -> None:
    """Measures and prints."""
    options = _options()
    cases = _cases(options.old, options.new, options.only)
    print(f"{'NEW in proportion to OLD':<56}{'times as fast':>26}  events")
    for case in cases:
        pairs = [_pair(options, case, turn) for turn in range(options.rounds)]
        print(f"  {case:<54}{_row(pairs)}".rstrip(), flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="How much faster NEW is than OLD, by case.")
    parser.add_argument("old", type=Path, metavar="OLD", help="a homenode-bench")
    parser.add_argument("new", type=Path, metavar="NEW", help="another one")
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="WORD",
        help="only cases with this word in their name; may be given several times",
    )
    parser.add_argument("--rounds", type=_count, default=7, help="runs of each (7)")
    parser.add_argument("--seconds", type=float, default=0.3, help="length of a run (0.3)")
    return parser.parse_args()


def _count(text: str) -> int:
    count = int(text)
    if count < 1:
        raise ValueError(text)
    return count


def _cases(old: Path, new: Path, words: list[str]) -> list[str]:
    """Names that both have and that are meant, in the new one's order."""
    there = set(_output(old, "--list").splitlines())
    both = [name for name in _output(new, "--list").splitlines() if name in there]
    if not words:
        return [name for name in both if not name.startswith(GROWTH)]
    return [name for name in both if any(word in name for word in words)]


def _pair(options: argparse.Namespace, case: str, turn: int) -> tuple[Run, Run]:
    """Old and new; who comes first alternates, as the first may find the machine cooler."""
    programs = [options.old, options.new]
    order = programs if turn % 2 == 0 else programs[::-1]
    runs = [_run(program, case, options.seconds) for program in order]
    old, new = runs if turn % 2 == 0 else runs[::-1]
    return old, new


def _run(program: Path, case: str, seconds: float) -> Run:
    line = _output(program, "--profile", case, "--seconds", str(seconds), "--json")
    seen = json.loads(line)
    return Run(seen["events"], seen["wall_s"], seen["simulated_s"])


def _output(program: Path, *words: str) -> str:
    command = [str(program.resolve()), *words]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def _row(pairs: list[tuple[Run, Run]]) -> str:
    ratios = [old.cost() / new.cost() for old, new in pairs]
    median = statistics.median(ratios)
    text = f"{median:.2f} [{min(ratios):.2f}-{max(ratios):.2f}]"
    events = statistics.median(new.density() / old.density() for old, new in pairs)
    return f"{text:>26}" + (f"{events:8.2f}" if abs(events - 1.0) > SAME else "")


if __name__ == "__main__":
    main()
