"""What surrounds the engine in `homenode run`: processor time of the engine and of the rest, what
intervals of 1 ms cost, whether memory and the run's folder grow with the simulated time, and what
a point of a sweep costs.

Each case is a process of its own, the least of some rounds one after the other, with Python's
bytecode cache. The engine's time is that of its calls less that of the observer; it includes
reading the counters.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROUNDS = 3
SCENARIO = Path(__file__).parents[1] / "examples" / "p795-shared-book.toml"
CALL = """\
import json, resource, sys, time
from homenode import _engine
from homenode.cli import main
spent = []
simulate = _engine.simulate
def timed(spec, replication, observe, latest):
    observed = 0.0
    def look(batch):
        nonlocal observed
        start = time.thread_time()
        try:
            return observe(batch)
        finally:
            observed += time.thread_time() - start
    start = time.thread_time()
    try:
        return simulate(spec, replication, look, latest)
    finally:
        spent.append(time.thread_time() - start - observed)
_engine.simulate = timed
try:
    main()
finally:
    used = resource.getrusage(resource.RUSAGE_SELF)
    total, rss = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
    print(json.dumps({"engine": sum(spent), "total": total, "rss_mib": rss}), file=sys.stderr)
"""


@dataclass(frozen=True)
class Case:
    """A length of the recorded time and of an interval."""

    name: str
    duration: str
    interval: str


CASES = (
    Case("10 s", "10 s", "1 s"),
    Case("10 s, intervals of 1 ms", "10 s", "1 ms"),
    Case("100 s, as many intervals", "100 s", "10 s"),
)
SWEEP = """\
warmup = "{warmup}"
duration = "{duration}"
replications = 1
[sweep]
"partition.lpar1.{axis}" = [{first}]
"partition.lpar2.{axis}" = [{second}]
"""


@dataclass(frozen=True)
class Axes:
    """What both axes of a sweep change."""

    name: str
    axis: str
    value: str
    """Its text, with the number in it."""
    least: float
    span: float

    def values(self, count: int) -> str:
        """So many, as TOML writes them in a list."""
        of = (self.least + self.span * at / count for at in range(count))
        return ", ".join(self.value.format(one) for one in of)


AXES = (
    Axes("two rates", "workload.rate", '"{:.4f}/s"', 1000, 400),
    Axes("two entitlements", "processors.entitlement", "{:.2f}", 4, 20),
)
LENGTHS = (("20 ms", "100 ms"), ("100 ms", "1 s"))
"""Warm-up and duration of a point."""
COLUMNS = 10
POINTS = 300
ENGINE_AIM = 0.5
"""Share of the engine in the processor time of the first case."""
WRITING_AIM = 0.5
"""What 1 ms adds outside the engine, as a share of the engine's time then."""
GROWTH_AIM = 1.1
"""Of memory and folder for ten times the simulated time."""
SWEEP_AIM = 0.2
"""All but the engine, as a share of the engine's time, by a point of a sweep."""


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--points", type=int, default=POINTS, help="of the sweep")
    options = parser.parse_args()
    rounds = options.rounds
    with tempfile.TemporaryDirectory(prefix="homenode-front-") as name:
        folder = Path(name)
        told = [_measured(case, folder) for _ in range(rounds + 1) for case in CASES]
        by_case = [told[len(CASES) :][at :: len(CASES)] for at in range(len(CASES))]
        least = [{key: min(one[key] for one in of) for key in of[0]} for of in by_case]
        swept = [_point(of, length, options.points, folder) for of in AXES for length in LENGTHS]
    print("\n".join([*_table(least), *swept]))


def _measured(case: Case, folder: Path) -> dict[str, float]:
    """Seconds, memory [MiB] and the size of the folder [KiB] of a run."""
    run = f'warmup = "2 s"\nduration = "{case.duration}"\ninterval = "{case.interval}"\n'
    return _called(["run", "-n", "1"], run, folder, folder / case.name.replace(" ", "-"))


def _swept(points: int, of: Axes, length: tuple[str, str], folder: Path) -> dict[str, float]:
    """The same of a sweep of so many points, in one process."""
    first, second = of.values(points // COLUMNS), of.values(min(COLUMNS, points))
    warmup, duration = length
    text = SWEEP.format(warmup=warmup, duration=duration, axis=of.axis, first=first, second=second)
    out = folder / f"sweep-{points}-{duration}-{of.name}".replace(" ", "-")
    return _called(["sweep", "-j", "1"], text, folder, out)


def _called(words: list[str], run: str, folder: Path, out: Path) -> dict[str, float]:
    """What a command on the scenario takes; `run` is its table of that name."""
    head, _, _ = SCENARIO.read_text(encoding="utf-8").partition("[run]")
    (folder / "book.toml").write_text(f"{head}[run]\n{run}", encoding="utf-8")
    plain = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder / "cache")}
    plain.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        [sys.executable, "-c", CALL, words[0], "book.toml", *words[1:], "--out", str(out)],
        cwd=folder,
        env=plain,
        capture_output=True,
        text=True,
        check=True,
    )
    told: dict[str, float] = json.loads(done.stderr.splitlines()[-1])
    kept = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    return {**told, "rest": told["total"] - told["engine"], "kept_kib": kept / 1024}


def _table(least: list[Mapping[str, float]]) -> list[str]:
    lines = [
        "the front's part of `homenode run` of p795-shared-book.toml, one replication",
        f"  {'case':<26} {'engine s':>9} {'rest s':>7} {'MiB':>6} {'kept KiB':>9}",
    ]
    for case, one in zip(CASES, least, strict=True):
        figures = f"{one['engine']:9.2f} {one['rest']:7.2f} {one['rss_mib']:6.0f}"
        lines.append(f"  {case.name:<26} {figures} {one['kept_kib']:9.0f}")
    plain, short, long = least
    growth = max(long[key] / plain[key] for key in ("rss_mib", "kept_kib"))
    writing = (short["rest"] - plain["rest"]) / short["engine"]
    share = plain["engine"] / (plain["engine"] + plain["rest"])
    missed = "  missed"
    lines += [
        f"  the engine's share of 10 s: {share:.2f} (aim {ENGINE_AIM})"
        + (missed if share < ENGINE_AIM else ""),
        f"  writing at 1 ms, of the engine's time: {writing:.2f} (aim {WRITING_AIM})"
        + (missed if writing > WRITING_AIM else ""),
        f"  memory or folder, ten times as long: {growth:.2f} times (aim {GROWTH_AIM})"
        + (missed if growth > GROWTH_AIM else ""),
    ]
    return lines


def _point(of: Axes, length: tuple[str, str], points: int, folder: Path) -> str:
    """What a point of a sweep takes beyond what the command does."""
    counts = (2 * COLUMNS, COLUMNS, COLUMNS + points)
    _, few, many = (_swept(count, of, length, folder) for count in counts)
    engine, rest = (1000 * (many[key] - few[key]) / points for key in ("engine", "rest"))
    late = "  missed" if rest > SWEEP_AIM * engine else ""
    share = f"{rest / engine:.2f} of it (aim {SWEEP_AIM}, kept from {rest / SWEEP_AIM:.1f} ms on)"
    return (
        f"  a point of a sweep of {of.name}, {length[1]}: engine {engine:.1f} ms, "
        f"rest {rest:.2f} ms, {share}{late}"
    )


if __name__ == "__main__":
    main()
