"""Our reader of nmon and pyNmonAnalyzer's on the same file in the same run.

Rules: the same x86 file, from the disk cache; both end with all sections in memory, ours as tables
of numbers, theirs as lists of texts. Beside it what `homenode import` does: it takes three tables
and holds the rows of the others against their headings. Every round measures all, one after the
other; ratios are taken within a round. One thread each. Without a file, one of our own making is
read.
"""

from __future__ import annotations

import argparse
import logging
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from statistics import median

MEGABYTES = 24
CHUNK = 1 << 20


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="?", type=Path, help="a recording of an x86 host")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as folder:
        file = given.file or made(Path(folder) / "made.nmon")
        size = file.stat().st_size / 1e6
        rows = [
            (timed(everything, file), timed(imported, file), timed(theirs, file))
            for _ in range(given.rounds)
        ]
    python = sys.version.split()[0]
    print(f"{size:.1f} MB of x86 nmon, Python {python}, median of {given.rounds} rounds")
    peer = f"pyNmonAnalyzer {version('pyNmonAnalyzer')}"
    for place, name in enumerate(("homenode, all sections", "homenode import", peer)):
        seconds = median(row[place] for row in rows)
        ratios = sorted(row[2] / row[place] for row in rows)
        ratio = f"{median(ratios):6.1f} times [{ratios[0]:.1f} - {ratios[-1]:.1f}]"
        print(f"  {name:<24} {size / seconds:8.1f} MB/s {'' if name == peer else ratio}")


def timed(read: Callable[[Path], object], file: Path) -> float:
    """Seconds it takes."""
    begun = time.perf_counter()
    read(file)
    return time.perf_counter() - begun


def everything(file: Path) -> object:
    """All columns of all sections, as `homenode import --tables` gets them."""
    return read(file, None)


def imported(file: Path) -> object:
    """What `homenode import` takes of a recording."""
    return read(file, {"ZZZZ", "LPAR", "CPU_ALL"})


def read(file: Path, wanted: set[str] | None) -> object:
    """Our reader from the first byte to the last."""
    from homenode import _engine

    reader, batches = _engine.RecordingReader("nmon", wanted), []
    with file.open("rb") as source:
        while chunk := source.read(CHUNK):
            batches += reader.feed(chunk)
    last, _ = reader.finish()
    return batches + last


def theirs(file: Path) -> object:
    """As its command line reads it."""
    from pynmonanalyzer.pyNmonParser import pyNmonParser

    return pyNmonParser(fname=str(file)).parse()


def made(path: Path) -> Path:
    """A recording of four processors, disks, networks and processes."""
    disks = [f"sd{letter}" for letter in "abcdefghijklmn"]
    networks = [f"eth{number}-{way}-KB/s" for way in ("read", "write") for number in range(8)]
    heads = {f"CPU{cpu:03d}": ["User%", "Sys%", "Wait%", "Idle%", "Steal%"] for cpu in range(1, 5)}
    heads |= {f"DISK{kind}": disks for kind in ("BUSY", "READ", "WRITE", "XFER", "BSIZE")}
    heads |= {"NET": networks, "VM": [f"counter {number}" for number in range(37)]}
    lines = ["AAA,progname,nmon", "AAA,host,made", "AAA,interval,30"]
    lines += [f"{name},{name} made,{','.join(columns)}" for name, columns in heads.items()]
    lines += ["TOP,%CPU Utilisation", "TOP,+PID,Time,%CPU,%Usr,%Sys,Size,ResSet,Command"]
    begun, written, number = datetime(2025, 3, 1), 0, 0  # noqa: DTZ001 - as nmon has it
    with path.open("w") as file:
        while written < MEGABYTES * 1e6:
            number += 1
            moment = begun + timedelta(seconds=30 * number)
            lines.append(f"ZZZZ,T{number:04d},{moment:%H:%M:%S},{moment:%d-%b-%Y}".upper())
            for name, columns in heads.items():
                values = (
                    f"{(number * 7 + place * 13) % 1000 / 10:.1f}" for place in range(len(columns))
                )
                lines.append(f"{name},T{number:04d},{','.join(values)}")
            lines += [
                f"TOP,{pid:07d},T{number:04d},1.25,1.00,0.25,{pid * 4096},{pid * 512},worker"
                for pid in range(1000, 1020)
            ]
            written += file.write("\n".join(lines) + "\n")
            lines = []
    return path


if __name__ == "__main__":
    main()
