"""A point of a sweep is read by what its axes touch, and is what reading all of it makes."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

from homenode.errors import HomenodeError
from homenode.model.document import to_toml
from homenode.model.scenario import Scenario
from homenode.model.scenario.paths import spelt
from homenode.simulate.runner.job import canonical

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.toml"))
_LEAVES = 10
_SWEPT = ("partition", "pool", "npartition", "group", "cgroup", "run")


def leaves(data: object, path: str) -> Iterator[tuple[str, object]]:
    """Paths of plain values, with what stands there."""
    if isinstance(data, dict):
        for key, value in data.items():
            if key not in ("name", "count"):
                yield from leaves(value, f"{path}.{key}")
    elif isinstance(data, list) and all(isinstance(one, dict) for one in data):
        for at, one in enumerate(data):
            names = [table.get("name") for table in data]
            named = one.get("name") is not None and names.count(one["name"]) == 1
            yield from leaves(one, f"{path}.{spelt(one['name']) if named else at}")
    else:
        yield path, data


def others(value: object) -> list[object]:
    """Values to be put in place of one: such as may do, and such as cannot."""
    if isinstance(value, bool):
        return [value, not value, "yes"]
    if isinstance(value, (int, float)):
        return [value, value + 1, -value - 1, 0.5]
    if isinstance(value, str) and value[:1].isdigit():
        return [value, f"1{value}", "3 parsecs"]
    return [value, "elsewhere"]


def told(point: Scenario) -> tuple[object, ...]:
    """All that a scenario is."""
    resolved, origin = point.resolved, point.origin
    made = (point.text, point.source, point.folder, dict(point.point))
    return (*made, origin and origin.text, point.file, resolved, point.layout_json)


def outcome(base: Scenario, number: int, *, whole: bool) -> object:
    """A point, or what is said of it."""
    try:
        return told(read_whole(base, number) if whole else base.nth(number))
    except HomenodeError as error:
        return str(error), error.where


def read_whole(base: Scenario, number: int) -> Scenario:
    """A point whose text is written and read."""
    point = base.values_of(number)
    try:
        return base._changed({"sweep": None, **point}, "set by the sweep", point)
    except HomenodeError:
        return base.nth(number)  # tells the axis


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_a_point_is_read_as_its_whole_text_is(path: Path) -> None:
    stated = Scenario.load(path)
    data = {key: value for key, value in stated.data.items() if key != "sweep"}
    found = [one for top in _SWEPT for one in leaves(data.get(top, {}), top)]
    every = max(1, len(found) // _LEAVES)
    axes = {axis: others(value) for axis, value in found[::every]}
    good = 0
    for axis, values in axes.items():
        swept = {**data, "sweep": {axis: values}}
        base = Scenario.from_toml(to_toml(swept), path.name, path.parent)
        for number in range(base.points):
            one, other = (outcome(base, number, whole=whole) for whole in (False, True))
            assert one == other, (axis, values[number])
            good += len(one) > 2 if isinstance(one, tuple) else 0
    assert good >= len(axes)  # as it stands each can be


def test_points_of_two_axes_are_read_as_their_whole_text_is(tmp_path: Path) -> None:
    stated = Scenario.load(next(one for one in EXAMPLES if one.stem == "p795-shared-book"))
    axes = {
        "partition.lpar1.workload.rate": ["900/s", "1100/s"],
        "partition.lpar2.smt": [2, 4],
        "partition.lpar1.processors.virtual": [20, 30],
        "machine.active_cores": [200, 256],
        "run.duration": ["1 s", "10 s"],
    }
    base = stated.with_({"sweep": axes})
    for number in range(base.points):
        assert outcome(base, number, whole=False) == outcome(base, number, whole=True)


def test_the_canonical_spelling_is_that_of_json_by_lines() -> None:
    for path, seed in itertools.product(EXAMPLES, (None, 2**64 - 1)):
        scenario = Scenario.load(path)
        point = scenario.nth(0) if scenario.axes else scenario
        spec = {**point.layout_spec(), "seed": seed or 1}
        plain = json.dumps(spec, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
        assert canonical(spec) == plain  # type: ignore[arg-type]
