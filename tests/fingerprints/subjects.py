"""Everything that is fingerprinted, as subjects that can be picked one by one: each example, each
study, and commands that compute without a scenario.

Only what homenode offers at its root is used, and its command line: where its rooms lie may change
while no number does.
"""

from __future__ import annotations

import contextlib
import io
import json
import runpy
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from digests import Place, of_document, of_tables, of_values
from ledger import Print

import homenode

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
Prints = dict[str, Print]

WALKED = ("ibm-z10", "ibm-z13", "ibm-z14", "ibm-z15", "ibm-z196", "ibm-zec12")
"""Machines whose caches are described line by line, which a walk needs."""
COMMANDS: Mapping[str, tuple[str, ...]] = {
    "compare-machines": ("compare-machines", "ibm-z196", "ibm-zec12"),
    "partition-table-z14": ("partition-table", "z14"),
    "partition-table-z196": ("partition-table", "z196"),
    "predict-ibm-z14": ("partition-table", "ibm-z14", "--predict"),
    "predict-ibm-z196": ("partition-table", "ibm-z196", "--predict"),
    "scaling-guests": ("scaling", str(EXAMPLES / "zvm-monolith.toml"), "--processors", "19,38"),
    "scaling-tiles": ("scaling", str(EXAMPLES / "zvm-tiled.toml"), "--processors", "19,38"),
    **{f"walk-{machine}": ("walk", machine) for machine in WALKED},
}
"""Commands beside `run`, `study` and `explain` that compute, by the name of the subject."""
ONCE = ("zvm-paging",)
"""Examples that are run in a single replication too: in all of them it is no test of every day."""
_KEEPS_RUNS = ("scaling",)
_DEEPEST = 4


class SubjectError(Exception):
    """A subject that could not be run."""


@dataclass(frozen=True)
class Subject:
    """Something that is run as a whole; `make` runs it in a folder and takes the fingerprints."""

    name: str
    make: Callable[[Path], Prints]

    def picked(self, patterns: list[str]) -> bool:
        """Whether one of the patterns is its name, or the last part of it."""
        last = self.name.rpartition("/")[2]
        return not patterns or any(
            fnmatchcase(self.name, pattern) or fnmatchcase(last, pattern) for pattern in patterns
        )


def subjects() -> list[Subject]:
    """All of them, the quick ones first."""
    return [
        *(_command(name, words) for name, words in sorted(COMMANDS.items())),
        *(_example(EXAMPLES / f"{name}.toml", "once", "--replications", "1") for name in ONCE),
        *(_example(path, "examples") for path in sorted(EXAMPLES.glob("*.toml"))),
        *(_study(name) for name in homenode.list_studies()),
    ]


def _command(name: str, words: tuple[str, ...]) -> Subject:
    def make(folder: Path) -> Prints:
        out = ("--out", str(folder)) if words[0] in _KEEPS_RUNS else ()
        answer = answer_of(*words, *out)
        return {"json": Print(words[0], of_document(answer, cut=_short))}

    return Subject(f"commands/{name}", make)


def _example(path: Path, kind: str, *options: str) -> Subject:
    def make(folder: Path) -> Prints:
        answer = answer_of("run", str(path), *options, "--out", str(folder))
        found: Prints = {}
        for point, told in _points(answer):
            run = homenode.Run.load(told["run"], folder)
            explained = answer_of("explain", run.id, "--out", str(folder))
            kept = of_run(run)
            kept["json"] = Print("run", of_document(told, cut=_by_metric(run.partitions)))
            kept["explain"] = Print("explain", of_document(explained))
            found |= {f"{point}{item}": one for item, one in kept.items()}
        return found

    return Subject(f"{kind}/{path.stem}", make)


def _points(answer: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """What `run --json` tells, by the point of the sweep; of a single run by nothing."""
    if "runs" not in answer:
        yield "", dict(answer)
        return
    for told in answer["runs"]:
        point = ",".join(f"{axis}={value}" for axis, value in told["point"].items())
        yield f"{point}/", told


def _study(name: str) -> Subject:
    def make(folder: Path) -> Prints:
        result = homenode.run_study(name, out=folder)
        found = {"rows": Print(f"rows of {name}", _rows(result.as_json()["rows"]))}
        told: set[Path] = set()
        for case, run in result.runs.items():
            if run.path not in told:  # cases may share a run
                found |= {f"{case}/{item}": one for item, one in of_run(run).items()}
            told.add(run.path)
        return found

    return Subject(f"studies/{name}", make)


def _rows(rows: list[dict[str, Any]]) -> dict[str, bytes]:
    """A name a row: what was published, what is simulated and its interval. Not its role nor its
    tolerance, which are said about it.
    """
    values: dict[str, list[Any]] = {}
    for row in rows:
        key = f"{row['case']}:{row['metric']}"
        told = [row[part] for part in ("published", "simulated", "ci95")]
        values.setdefault(key, []).append(told)
    return of_values(values)


def of_run(run: homenode.Run) -> Prints:
    """Fingerprints of a kept run: what went into the engine, its counters, the metrics of each
    partition, what else the summary tells, the tables.
    """
    names = run.partitions
    inputs = {part: _json(run.path / f"{part}.json") for part in ("spec", "machine", "details")}
    summary = _json(run.path / "summary.json")
    metrics = summary.pop("partitions")
    counters = _json(run.path / "replications.json")
    tables = list(run.path.rglob("*.parquet"))
    found = {
        "inputs": Print("inputs", of_document(inputs, cut=_without(names))),
        "counters": Print("counters", of_document(counters)),
        "summary": Print("summary", of_document(summary, cut=_without(names))),
        "tables": Print("tables", of_tables(tables)),
    }
    for partition, told in metrics.items():
        found[f"summary/{partition}"] = Print("metrics", of_document(told, cut=_metric))
    return found


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _metric(place: Place) -> Place:
    """The metric, for its mean and its interval; what else is told of each goes under one name."""
    return ("each", *place[1:]) if place[1:] not in ((), ("mean",), ("ci95",)) else place[:1]


def _short(place: Place) -> Place:
    """What lies deeper has the name of what it lies in: lists of names stay short."""
    return place[:_DEEPEST]


def _without(names: list[str]) -> Callable[[Place], Place]:
    """Cuts out the names of partitions: the same key of all of them has one name."""
    return lambda place: _short(tuple(step for step in place if step not in names))


def _by_metric(names: list[str]) -> Callable[[Place], Place]:
    """The same for what `run --json` prints, where a metric is one name."""
    without = _without(names)

    def cut(place: Place) -> Place:
        if place[0] == "partitions":
            return ("partitions", *_metric(without(place)[1:]))
        return without(place)

    return cut


def answer_of(*words: str) -> Any:
    """What `homenode WORDS --json` prints, called in this process as `python -m homenode` is."""
    out, err = io.StringIO(), io.StringIO()
    before = sys.argv
    sys.argv = ["homenode", *words, "--json"]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            runpy.run_module("homenode", run_name="__main__")
    except SystemExit as leave:
        if leave.code == 130:
            raise KeyboardInterrupt from None
        if leave.code:
            asked = " ".join(("homenode", *words))
            raise SubjectError(
                f"`{asked}` ended with {leave.code}: {err.getvalue().strip()}"
            ) from None
    finally:
        sys.argv = before
    return json.loads(out.getvalue())
