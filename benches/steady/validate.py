"""How far solved layouts are from simulated ones: random scenarios of each platform, both ways.

The same scenarios come each time; `--first` takes others. Deviations are those of partitions that
are steady in both, for the same work, and of all these of a frame together; `--worst` lists the
largest.
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
import statistics
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from pairs import GUESTS, Pair, Row, pair
from scenarios import PLATFORMS

from homenode.simulate.solved.sureness import KINDS
from homenode.simulate.solved.sureness import PLATFORMS as PLATFORM_NAMES

_LITTLE = 0.01
"""Cores below which a partition is not compared."""
_MOST_REFUSED = 3
_FEWEST = 40
"""Partitions of a kind from which on what 95 of 100 are within is told: two are beyond it then."""
_BESIDE = ("zvm", "tiles")
"""Scenarios of which only z/VM's own partitions tell how near z/VM is: the others are there so that
processors are shared.
"""
_LOADS = (0.0, 0.25, 0.5, 0.75, math.inf)
"""Shares of the machine's cores that are used, between which scenarios are told apart."""
_FAR = 0.15
"""Deviation from which on its cause is told."""


def told(values: Sequence[float]) -> str:
    """Median, 95th percentile and worst of their sizes, their mean with its sign, how many."""
    if not values:
        return "-"
    sizes = sorted(abs(value) for value in values)
    at = sizes[min(len(sizes) - 1, math.ceil(0.95 * len(sizes)) - 1)]
    return (
        f"{statistics.median(sizes):6.1%} {at:6.1%} {sizes[-1]:7.1%} "
        f"{statistics.fmean(values):+6.1%} {len(values):5d}"
    )


def figures(pairs: Sequence[Pair]) -> Iterator[tuple[str, list[float]]]:
    """What is compared, and its deviations."""
    frames = [(one.load, _of_all(one)) for one in pairs]
    all_told = [(load, off) for load, off in frames if off is not None]
    yield "cores, frame", [off for _, off in all_told]
    for least, most in itertools.pairwise(_LOADS):
        of = f"of {least:.0%} up" if most == _LOADS[-1] else f"of {least:.0%}-{most:.0%}"
        yield of, [off for load, off in all_told if least <= load < most]
    rows = [row for row in compared(pairs) if all(row.steady) and not row.unknown]
    yield "cores", [row.deviation for row in rows]
    yield "beyond chance", [row.beyond_chance for row in rows]
    yield "home has room", [row.deviation for row in rows if not row.crowded]
    yield "home is full", [row.deviation for row in rows if row.crowded]
    for kind in sorted({row.kind for row in rows}):
        yield kind, [row.deviation for row in rows if row.kind == kind]
    responses = [row.response_deviation for row in rows]
    yield "response", [one for one in responses if one is not None]
    late = [row.p95_deviation for row in rows]
    yield "response, 95th", [one for one in late if one is not None]


def _of_all(one: Pair) -> float | None:
    """The deviation of all partitions' cores together; none where next to nothing is used."""
    rows = [row for row in one.rows if all(row.steady) and not row.unknown and row.cores[1] > 0.0]
    used = math.fsum(row.cores[1] for row in rows)
    off = math.fsum(row.cores[1] * row.deviation for row in rows)
    return off / used if used > _LITTLE else None


def compared(pairs: Sequence[Pair]) -> list[Row]:
    """Partitions that use anything."""
    return [row for one in pairs for row in one.rows if row.cores[1] > _LITTLE]


def report(platform: str, pairs: Sequence[Pair], worst: int) -> None:
    """Prints what came of a platform's scenarios."""
    refused = [one for one in pairs if one.refused]
    print(f"{platform}: {len(pairs) - len(refused)} scenarios, {len(refused)} refused")
    for one in refused[:_MOST_REFUSED]:
        print("   refused:", one.number, one.refused)
    print(f"   {'':14s} median    95th   worst   mean    n")
    for name, deviations in figures(pairs):
        print(f"   {name:14s} {told(deviations)}")
    rows = compared(pairs)
    differ = sum(row.steady[0] != row.steady[1] for row in rows)
    print(f"   steady or not: {differ} of {len(rows)} differ")
    unknown = [row for row in rows if all(row.steady) and row.unknown]
    print(
        f"   two balances, left out: {len(unknown)}, of these beyond {_FAR:.0%} all the same:"
        f" {sum(abs(row.deviation) > _FAR for row in unknown)}"
    )
    steady = [row for row in rows if all(row.steady) and not row.unknown]
    far = [row for row in steady if abs(row.deviation) > _FAR]
    chance = sum(abs(row.beyond_chance) <= _FAR for row in far)
    print(f"   beyond {_FAR:.0%}: {len(far)} of {len(steady)}; {chance} of them may be chance")
    for cause, count in Counter(row.cause for row in far).most_common():
        print(f"      {cause}: {count}")
    for row in sorted(steady, key=lambda row: -abs(row.deviation))[:worst]:
        print(
            f"      {row.number:4d} {row.name} {row.kind:12s} vps {row.processors:3d} "
            f"{row.cores[0]:8.3f} {row.cores[1]:8.3f} {row.deviation:+6.1%}"
            f"{' home is full' if row.crowded else ''}"
        )


def sureness_table(rows: Sequence[Row]) -> str:
    """By platform and kind of partition, the deviation of cores that 95 of 100 are within."""
    lines = ["platform,kind,partitions,cores"]
    for platform in PLATFORM_NAMES:
        for kind in KINDS:
            sizes = sorted(
                abs(row.deviation)
                for row in rows
                if row.sort == (platform, kind) and all(row.steady) and not row.unknown
            )
            if len(sizes) >= _FEWEST:
                within = sizes[math.ceil(0.95 * len(sizes)) - 1]
                lines.append(f'"{platform}",{kind},{len(sizes)},{within:.3f}')
    return "\n".join([*lines, ""])


def _asked(word: str) -> tuple[str, int | None, int | None]:
    """A platform, how many scenarios of it, and the number of the first."""
    name, _, rest = word.partition(":")
    count, _, first = rest.partition(":")
    if name not in PLATFORMS:
        raise argparse.ArgumentTypeError(f"{name} is none of {', '.join(PLATFORMS)}")
    if not all(part == "" or part.isdecimal() for part in (count, first)) or count == "0":
        raise argparse.ArgumentTypeError(
            f"{word}: after a platform come how many scenarios, 1 at least, and the number of the "
            f"first, as in {name}:100:5000"
        )
    return name, int(count) if count else None, int(first) if first else None


def main() -> int:
    """Compare the platforms that are named, all if none is."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument(
        "platforms",
        nargs="*",
        type=_asked,
        metavar="PLATFORM[:COUNT[:FIRST]]",
        help=", ".join(PLATFORMS),
    )
    parser.add_argument("--count", type=int, default=500, help="scenarios of each")
    parser.add_argument("--first", type=int, default=0, help="number of the first")
    parser.add_argument("--seconds", type=float, default=4.0, help="simulated time of each")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument("--worst", type=int, default=0, help="partitions to list")
    parser.add_argument("--sureness", type=Path, help="table of what is near, for the package")
    asked = parser.parse_args()
    rows: list[Row] = []
    for platform, count, own in asked.platforms or [(name, None, None) for name in PLATFORMS]:
        first = asked.first if own is None else own
        numbers = range(first, first + (count or asked.count))
        with ProcessPoolExecutor(asked.jobs) as pool:
            jobs = [(platform, number, asked.seconds) for number in numbers]
            pairs = [one for one in pool.map(pair, jobs) if one]
        report(platform, pairs, asked.worst)
        rows += [row for row in compared(pairs) if platform not in _BESIDE or row.kind == GUESTS]
    if asked.sureness:
        asked.sureness.write_text(sureness_table(rows), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
