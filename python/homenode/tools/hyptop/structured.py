"""hyptop's formats for programs: json, json-seq, jsonl, pairs, csv.

As in the tool every field is told, whichever are chosen for the eye, in the unit it is printed in;
what is not known is left out (csv: empty). Where the tool says when and on which host it ran, the
run and its simulated time stand.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from homenode.tools.hyptop.columns import SYSTEM, Column
from homenode.tools.hyptop.systems import System
from homenode.tools.hyptop.units import NOTHING, QUOTED

FORMATS = ("json", "json-seq", "jsonl", "pairs", "csv")
_SEPARATOR = "\x1e"


@dataclass(frozen=True)
class Iteration:
    """One look at the systems."""

    number: int
    time: str
    """Simulated time since the start."""
    types: dict[str, int]
    systems: Sequence[System]


def render(
    form: str, meta: dict[str, object], looks: Sequence[Iteration], all_: list[Column]
) -> str:
    """The whole output."""
    told = [_iteration(look, all_) for look in looks]
    if form == "json":
        return json.dumps({"meta": meta, "hyptop": told}, indent=2, ensure_ascii=False) + "\n"
    if form in ("json-seq", "jsonl"):
        mark = _SEPARATOR if form == "json-seq" else ""
        return "".join(
            f"{mark}{json.dumps(one, ensure_ascii=False)}\n" for one in ({"meta": meta}, *told)
        )
    if form == "pairs":
        return "\n".join([*_pairs("meta", meta), *_listed("hyptop", told, "iteration")]) + "\n"
    return "\n".join(_csv(meta, looks, all_)) + "\n"


def _iteration(look: Iteration, all_: list[Column]) -> dict[str, object]:
    return {
        "iteration": look.number,
        "time": look.time,
        "cpu_types": look.types,
        "systems": [{SYSTEM.head: one.name, **_values(one, all_)} for one in look.systems],
        "summary": _values(_summary(look, all_), all_),
    }


def _summary(look: Iteration, all_: list[Column]) -> System:
    return System("", {c.letter: c.last([s.values[c.letter] for s in look.systems]) for c in all_})


def _values(system: System, all_: list[Column]) -> dict[str, object]:
    found: dict[str, object] = {}
    for column in all_:
        text = column.text(system.values[column.letter])
        if text != NOTHING:
            found[column.head] = text if column.unit in QUOTED else json.loads(text)
    return found


def _pairs(prefix: str, value: Mapping[str, object]) -> Iterator[str]:
    for name, inner in value.items():
        key = f"{prefix}.{name}"
        if isinstance(inner, dict):
            yield from _pairs(key, inner)
        elif isinstance(inner, list):
            yield from _listed(key, inner, "entry")
        else:
            yield f"{key}={json.dumps(inner, ensure_ascii=False)}"


def _listed(key: str, values: Sequence[Mapping[str, object]], each: str) -> Iterator[str]:
    for place, one in enumerate(values):
        yield from _pairs(f"{key}[{place}].{each}", one)


def _csv(meta: dict[str, object], looks: Sequence[Iteration], all_: list[Column]) -> Iterator[str]:
    """A line a system, and one with the summary, whose system is empty."""
    heads = [f"meta.{name}" for name in meta]
    heads += ["iteration", "time", SYSTEM.head, *(column.head for column in all_)]
    yield _quoted(heads)
    for look in looks:
        for one in (*look.systems, _summary(look, all_)):
            cells = [column.text(one.values[column.letter]) for column in all_]
            known = ["" if cell == NOTHING else cell for cell in cells]
            yield _quoted([*meta.values(), look.number, look.time, one.name, *known])


def _quoted(cells: Sequence[object]) -> str:
    return ",".join('"' + str(cell).replace('"', '""') + '"' for cell in cells)
