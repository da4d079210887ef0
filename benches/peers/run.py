"""Other event kernels on W1 and W2, as ratios to the bare loop on this machine in this run.

Rules: the same work, counted the same way; the clock runs around the event loop, after compiling;
one thread; written by us, each in the form that its own documentation shows, the faster one where
it shows two. Every round measures every program once, one after the other; ratios are taken within
a round. What comes out must be right, or the program fails.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

from load import Answer, Counts, answers

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
MANIFEST = HERE / "rust" / "Cargo.toml"
WORKS = ("w1", "w2")
BARE = "bare loop"


@dataclass
class Program:
    """One competitor: how it is called, and how many events it gets to be measured on."""

    name: str
    form: str
    version: str
    command: list[str]
    events: int
    samples: dict[str, list[Counts]] = field(default_factory=dict)

    def measure(self, work: str, seed: int) -> None:
        """Runs it once."""
        command = [*self.command, work, str(self.events), str(seed)]
        line = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        self.samples.setdefault(work, []).append(json.loads(line))

    def rates(self, work: str) -> list[float]:
        """Events a second, by round."""
        return [sample["events"] / sample["wall_s"] for sample in self.samples[work]]

    def answers(self, work: str) -> list[Answer]:
        """Figures of all its runs together, against what they must be."""
        total: Counts = {}
        for sample in self.samples[work]:
            for name, count in sample.items():
                total[name] = total.get(name, 0) + count
        return answers(work, total)


def programs() -> list[Program]:
    """All competitors; each gets about half a second of work."""
    locked = _locked()
    rust = ["cargo", "run", "--release", "--locked", "--quiet", "--manifest-path", str(MANIFEST)]
    python = [sys.executable]
    return [
        Program("Numba loop", "own heap", version("numba"), [*python, _path("numba")], 5_000_000),
        Program("simcore", "call-backs", locked["simcore"], [*rust, "--", "simcore"], 4_000_000),
        Program("cimba", "events", version("cimba"), [*python, _path("cimba")], 2_000_000),
        Program("NeXosim", "events", locked["nexosim"], [*rust, "--", "nexosim"], 1_500_000),
        Program("SimPy", "processes", version("simpy"), [*python, _path("simpy")], 100_000),
    ]


def _path(tool: str) -> str:
    return str(HERE / f"on_{tool}.py")


def _locked() -> dict[str, str]:
    lock = tomllib.loads((HERE / "rust" / "Cargo.lock").read_text())
    return {package["name"]: package["version"] for package in lock["package"]}


class Ours:
    """The bare loop and our kernel, measured by our own bench, one round at a time."""

    def __init__(self) -> None:
        self.rates: dict[tuple[str, str], list[float]] = {}
        self.machine = ""

    def measure(self) -> None:
        """Runs W1 and W2 once on both."""
        words = ["-p", "homenode-benches", "--", "--json", "--rounds", "1", "--only", "kernel, W"]
        command = ["cargo", "run", "--release", "--locked", "--quiet", *words]
        line = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout
        report = json.loads(line)
        self.machine = f"{report['processor']}; commit {report['commit']}"
        for case in report["results"]["cases"]:
            name, work = case["name"].split(", ")
            rate = case["events_per_s"]["median"]
            self.rates.setdefault((name, work.lower()), []).append(rate)


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    work: str
    name: str
    form: str
    version: str
    events_per_s: float
    ratio: float
    ratio_min: float
    ratio_max: float


def rows(ours: Ours, others: Iterable[Program]) -> Iterator[Row]:
    """The fastest first within a piece of work."""
    for work in WORKS:
        bare = ours.rates[BARE, work]
        found = [
            _row(work, (name, "", ""), rates, bare)
            for (name, its_work), rates in ours.rates.items()
            if its_work == work
        ]
        for program in others:
            about = (program.name, program.form, program.version)
            found.append(_row(work, about, program.rates(work), bare))
        yield from sorted(found, key=lambda row: -row.ratio)


def _row(work: str, about: tuple[str, str, str], rates: list[float], bare: list[float]) -> Row:
    ratios = [own / other for own, other in zip(rates, bare, strict=True)]
    return Row(work, *about, median(rates), median(ratios), min(ratios), max(ratios))


def show(machine: str, rounds: int, table: Iterable[Row]) -> None:
    """Prints the table for people."""
    print(f"{machine}; median of {rounds} rounds [least - greatest]")
    work = ""
    for row in table:
        if row.work != work:
            work = row.work
            print(f"\n{work.upper():<34}{'M events/s':>12}{'of the bare loop':>26}")
        name = " ".join(filter(None, (row.name, row.version, row.form and f"({row.form})")))
        spread = f"{row.ratio:.3f} [{row.ratio_min:.3f} - {row.ratio_max:.3f}]"
        print(f"  {name:<32}{row.events_per_s / 1e6:>12.2f}{spread:>26}")


def wrong(others: Iterable[Program]) -> list[str]:
    """What did not come out."""
    return [
        f"{program.name}, {work}: {answer.name} is {answer.value:.6g}, "
        f"it must be {answer.expected} +- {answer.tolerance:.2g}"
        for program in others
        for work in WORKS
        for answer in program.answers(work)
        if not answer.is_right
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=5, help="measure everything so often (5)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    ours, others = Ours(), programs()
    # The first call of a program may compile it.
    subprocess.run(
        ["cargo", "build", "--release", "--locked", "--quiet", "--manifest-path", str(MANIFEST)],
        check=True,
    )
    for seed in range(1, options.rounds + 1):
        print(f"round {seed} of {options.rounds}", file=sys.stderr)
        ours.measure()
        for program in others:
            for work in WORKS:
                program.measure(work, seed)
    report(options.json, options.rounds, ours, others)
    faults = wrong(others)
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


def report(as_json: bool, rounds: int, ours: Ours, others: list[Program]) -> None:
    """Prints the results for people or for programs."""
    table = list(rows(ours, others))
    if as_json:
        result: dict[str, Any] = {
            "machine": ours.machine,
            "rounds": rounds,
            "rows": [vars(row) for row in table],
        }
        print(json.dumps(result))
    else:
        show(ours.machine, rounds, table)


if __name__ == "__main__":
    sys.exit(main())
