"""A layout with its edits as the page shows it: the map, what may change, the steady state.

Pure functions of a file and edits, which worker processes call.
"""

from __future__ import annotations

import contextlib
import functools
import io
import json
import tomllib
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from homenode.errors import HomenodeError, InputError, listed
from homenode.model.scenario import Scenario
from homenode.model.scenario.file.guest import Zvm
from homenode.model.scenario.kept import named_files, stand_alone
from homenode.report.machine_map import map_of
from homenode.report.pictures import page_drawing, waterfalls
from homenode.serve.fields import fields, moves
from homenode.simulate.explain.explanation import Explanation, explain
from homenode.simulate.kept.books import CAUSES
from homenode.simulate.kept.figures import Figures
from homenode.simulate.kept.grid import Grid
from homenode.simulate.kept.kept_run import KeptRun
from homenode.simulate.kept.vocabulary import Vocabulary
from homenode.simulate.scenario import Scenario as Playable
from homenode.simulate.solved.figures import Solved
from homenode.simulate.solved.solve import solve_scenario

_HELD = 64
"""Files that stay parsed in a worker."""
_HELD_EDITED = 32
"""Changed ones that do."""
_SHOWN = {
    "cores": "physc", "response_ms": "response_ms_mean", "home_share": "home_share",
    "near_share": "near_share", "far_share": "far_share", "throughput": "etr_per_s",
}  # fmt: skip
"""What is told of a partition, and by which metric."""
_OF_CAUSES = tuple(f"cores_{cause.name}" for cause in CAUSES)
_CAUSES = 8
"""Rows of a difference that are told of a partition, the largest."""
_DRAWN = 2
"""Partitions whose difference is drawn, those that differ most."""
_LEAST = 0.005
"""Cores that print as more than zero."""
_NOT_PLAYED = (
    "The recorded windows have not been played yet: what they used became work by one factor, and "
    "figures are some per cent off what was recorded."
)
_POLICIES = {"phyp": "powervm"}
UNPLAYED = "unplayed"
"""File beside a layout of recordings whose windows have not been played."""
Edits = Mapping[str, Any]


@functools.lru_cache(maxsize=_HELD)
def _read(path: str, _stamp: int) -> Playable:
    scenario = Playable.load(path)
    return scenario.nth(0) if scenario.axes else scenario


def warm() -> None:
    """Nothing: who is called has read this module."""


def changed(path: str, edits: Edits) -> Playable:
    """The scenario of a file, of a sweep its first point, with values replaced by path."""
    confine(dict(edits))
    stamp = Path(path).stat().st_mtime_ns
    return _edited(path, stamp, json.dumps(edits)) if edits else _read(path, stamp)


@functools.lru_cache(maxsize=_HELD_EDITED)
def _edited(path: str, stamp: int, edits: str) -> Playable:
    # Who gets first figures here often asks for the whole layout next.
    return _read(path, stamp).with_values(json.loads(edits), "set on the page")


def confine(value: object) -> None:
    """Nothing that comes from a browser names a file elsewhere. Raises `InputError`."""
    if isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            confine(one)
    elif isinstance(value, str) and "/" in value:
        named = PurePosixPath(value)
        if named.is_absolute() or ".." in named.parts:
            raise InputError(
                f'"{value}" lies elsewhere',
                there="a layout that is brought names no files of the server",
                next_step="write the numbers into the scenario, or open it at the command line",
            )


def check(path: str) -> None:
    """A scenario that was brought. Raises `HomenodeError` for what is wrong with it."""
    with contextlib.suppress(ValueError, RecursionError):  # the reader says where
        confine(tomllib.loads(Path(path).read_text(encoding="utf-8")))
    Playable.load(path)


def answer(path: str, edits: Edits) -> dict[str, Any]:
    """All that the page shows of a layout."""
    scenario = changed(path, edits)
    written = scenario.data
    shown = {
        "name": scenario.name,
        "title": scenario.title or scenario.name,
        "question": _NOT_PLAYED if Path(path).with_name(UNPLAYED).is_file() else None,
        "platform": platform(scenario),
        "map": map_of(scenario),
        "fields": {one.name: fields(scenario, one, written) for one in scenario.partitions},
        "moves": {one.name: moves(scenario, one) for one in scenario.partitions},
        "solved": None,
        "unsolved": None,
    }
    try:
        found = solve_scenario(scenario, run="layout")
        shown["solved"], shown["unsolved"] = solved_data(found), _unsure(found)
    except HomenodeError as error:
        shown["unsolved"] = error.problem
    return shown


def answer_text(path: str, edits: Edits) -> bytes:
    """The same as JSON, as it is sent."""
    return json.dumps(answer(path, edits)).encode()


def platform(scenario: Scenario) -> str:
    """What divides the machine, in a word."""
    policy = scenario.machine.hypervisor.policy
    if any(isinstance(one.table.guest, Zvm) for one in scenario.partitions):
        return "zvm"
    return _POLICIES.get(policy, policy)


def solved_data(found: Figures) -> dict[str, Any]:
    """The figures of a steady state, or of a run."""
    partitions = {name: _figures(found, name) for name in found.partitions}
    words = Vocabulary.of_spec(found.spec["machine"], found.node_name)
    return {
        "cores": sum(one["cores"] for one in partitions.values()),
        "partitions": partitions,
        "causes": {name: _causes(found, name, words) for name in found.partitions},
    }


def _figures(found: Figures, name: str) -> dict[str, Any]:
    least = found.balances.get(name, (0.0,))[0] if isinstance(found, Solved) else 0.0
    told = dict(zip(_SHOWN, found.means(name, [*_SHOWN.values()]), strict=True))
    return {**told, "cores": told["cores"] or least}


def _unsure(found: Solved) -> str | None:
    """Who has two balances, of which the least is shown."""
    told = [
        f"{name} may use {low:.1f} or {high:.1f} cores"
        for name, (low, high) in found.balances.items()
    ]
    return f"{listed(told, 3)}: which comes about hangs on what was before" if told else None


def _causes(found: Figures, name: str, words: Vocabulary) -> list[dict[str, Any]]:
    """Where a partition's cores went, as `explain` tells it."""
    told = found.means(name, _OF_CAUSES)
    values = {cause.name: cores for cause, cores in zip(CAUSES, told, strict=True) if cores}
    labels = words.with_causes(values).labels
    return [
        {"cause": cause, "label": label, "cores": values[cause]}
        for cause, label in labels.items()
        if cause in values
    ]


def difference(left: tuple[str, Edits], right: tuple[str, Edits]) -> dict[str, Any]:
    """Two layouts held against each other, partition by partition, cause by cause."""
    named = zip((left, right), ("the left layout", "the right layout"), strict=True)
    return _apart([solve_scenario(changed(*one), run=name) for one, name in named], "")


def difference_of_runs(left: str, right: str) -> dict[str, Any]:
    """The same of two kept runs, by their scenarios' files: what was simulated, not a solution."""
    folders = [Path(one).parent for one in (left, right)]
    return _apart([KeptRun.load(one.name, one.parent) for one in folders], "Simulated: ")


def _apart(sides: Sequence[Figures], how: str) -> dict[str, Any]:
    both = [name for name in sides[1].partitions if name in sides[0].partitions]
    told = [explain(sides[1], name, sides[0], name) for name in both]  # type: ignore[arg-type]
    used = [solved_data(one) for one in sides]
    less = used[0]["cores"] - used[1]["cores"]
    word = "fewer" if less > 0 else "more"
    before, now = (f"{one['cores']:.2f}" for one in used)
    says = f"{how}{abs(less):.2f} cores {word}: {now} in place of {before}."
    told_apart = sorted(told, key=lambda one: -abs(_moved(one)))[:_DRAWN]
    return {
        "left": used[0],
        "right": used[1],
        "rows": [row for one in told for row in _rows(one)],
        "picture": page_drawing(waterfalls(told_apart)) if told_apart else "",
        "says": " ".join([says, *(one.paragraph for one in told_apart[:1] if _moved(one))]),
    }


def _moved(one: Explanation) -> float:
    return sum(row.difference or 0.0 for row in one.rows)


def _rows(one: Explanation) -> list[dict[str, Any]]:
    """The causes that differ most, in the order of the table."""
    large = sorted(one.rows, key=lambda row: -abs(row.difference or 0.0))[:_CAUSES]
    return [
        {
            "partition": one.breakdown.partition,
            "cause": row.cause,
            "label": row.label,
            "left": row.value - (row.difference or 0.0),
            "right": row.value,
            "difference": row.difference or 0.0,
        }
        for row in one.rows
        if row in large and abs(row.difference or 0.0) >= _LEAST
    ]


def changes_data(changes: Edits) -> Edits:
    """What was set otherwise, as the page writes edits; null for what is no single value."""
    single = (str, int, float)
    return {path: value if isinstance(value, single) else None for path, value in changes.items()}


def grid_data(grid: Grid) -> dict[str, Any]:
    """A table as the page takes it."""
    return {"title": grid.title, "heads": [*grid.heads], "rows": [[*row] for row in grid.rows]}


def file_of(path: str, edits: Edits) -> tuple[str, bytes]:
    """A layout's scenario as a file, and its name: with its comments where nothing was changed, and
    with the files that it names, if it names any, in an archive.
    """
    scenario = changed(path, edits)
    if not named_files(scenario):
        text = scenario.to_toml() if edits else scenario.text
        return f"{scenario.name}.toml", text.encode()
    text, files = stand_alone(scenario)
    told = {f"{scenario.name}.toml": text.encode(), **files}
    return f"{scenario.name}.zip", archive(scenario.name, told)


def archive(folder: str, files: Mapping[str, bytes]) -> bytes:
    """Files by name, in a folder of an archive; the same bytes at any hour."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as to:
        for name, content in files.items():
            to.writestr(zipfile.ZipInfo(f"{folder}/{name}"), content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()
