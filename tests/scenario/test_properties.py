"""Whatever stands in a file: a scenario that the engine takes, or one message."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from homenode import HomenodeError, Scenario, _engine, load_scenario
from homenode.model.document import to_toml

QUICK = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
BASE = Path(__file__).with_name("base.toml").read_text(encoding="utf-8")
DATA = Scenario.from_toml(BASE).data
"""The base scenario as data."""

odd_texts = st.sampled_from(
    ["", "x", "-1 s", "0 s", "1e300 s", "5 GiB", "1 s", "never", "book1", "chip40", "oltp", "web"]
)
odd_values = st.one_of(
    odd_texts,
    st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
    st.integers(),
    st.floats(),
    st.booleans(),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.sampled_from(["mode", "kind", "size", "value"]), odd_texts, max_size=2),
)


def accepted_or_explained(make: Any) -> None:
    scenario = problem = None
    try:
        scenario = make()
    except HomenodeError as error:
        problem = error
    if scenario is not None:
        _engine.check(scenario.spec_json())
    else:
        assert problem is not None
        assert str(problem).strip()
        assert problem.exit_code == 2


@QUICK
@given(st.text())
def test_any_text(text: str) -> None:
    accepted_or_explained(lambda: Scenario.from_toml(text))


@QUICK
@given(st.binary())
def test_any_bytes(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "s.toml"
    path.write_bytes(raw)
    accepted_or_explained(lambda: load_scenario(path))


@QUICK
@given(st.integers(0, len(BASE)), st.integers(0, 40), st.text(max_size=5))
def test_the_base_with_a_piece_cut_out_and_another_put_in(at: int, cut: int, put: str) -> None:
    text = BASE[:at] + put + BASE[at + cut :]
    accepted_or_explained(lambda: Scenario.from_toml(text))


def places(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all values, tables and lists included."""
    below: list[tuple[Any, ...]] = []
    if isinstance(data, dict):
        below = [p for key, value in data.items() for p in places(value, (*path, key))]
    elif isinstance(data, list):
        below = [p for i, value in enumerate(data) for p in places(value, (*path, i))]
    return [path, *below] if path else below


def put(data: Any, path: tuple[Any, ...], value: Any) -> None:
    for part in path[:-1]:
        data = data[part]
    if isinstance(data, dict) and isinstance(path[-1], int):
        raise TypeError
    data[path[-1]] = value


@QUICK
@given(st.lists(st.tuples(st.sampled_from(places(DATA)), odd_values), min_size=1, max_size=3))
def test_the_base_with_odd_values(changes: list[tuple[tuple[Any, ...], Any]]) -> None:
    data = Scenario.from_toml(BASE).data
    for path, value in changes:
        try:
            put(data, path, value)
        except (KeyError, IndexError, TypeError):
            continue  # an earlier change has taken the place away
    accepted_or_explained(lambda: Scenario.from_toml(to_toml(data)))


@QUICK
@given(st.text(max_size=20), odd_values)
def test_any_change_by_path(path: str, value: Any) -> None:
    scenario = Scenario.from_toml(BASE)
    accepted_or_explained(lambda: scenario.with_({path: value}))


partition = st.fixed_dictionaries(
    {
        "processors": st.one_of(
            st.fixed_dictionaries(
                {
                    "mode": st.just("shared"),
                    "entitlement": st.integers(1, 400).map(lambda hundredths: hundredths / 100),
                    "virtual": st.integers(1, 40),
                    "capped": st.booleans(),
                    "weight": st.integers(0, 255),
                }
            ),
            st.fixed_dictionaries({"mode": st.just("dedicated"), "cores": st.integers(1, 9)}),
        ),
        "memory": st.sampled_from(["1 GiB", "64 GiB", "600 GiB"]),
        "smt": st.sampled_from([1, 2, 4, 8]),
        "workload": st.sampled_from(
            [
                {"kind": "idle"},
                {"kind": "loops", "count": 2, "profile": "compute"},
                {"kind": "users", "count": 9, "think": "1 s", "profile": "java"},
            ]
        ),
    },
    optional={
        "home": st.sampled_from(["node0", "node1.chip1", "chip3", ["node0", "node1"]]),
        "count": st.integers(1, 3),
    },
)


@QUICK
@given(st.sampled_from(["ibm-p5-570", "ibm-power-770", "ibm-power-e1080"]), st.data())
def test_random_layouts(model: str, data: st.DataObject) -> None:
    rows = data.draw(st.lists(partition, min_size=1, max_size=4))
    named = [{"name": f"p{index}x", **row} for index, row in enumerate(rows)]
    text = to_toml({"machine": {"model": model}, "partition": named})

    def make() -> Scenario:
        scenario = Scenario.from_toml(text)
        cores = [core for p in scenario.partitions for core in p.cores or ()]
        assert len(cores) == len(set(cores))
        assert all(core < scenario.machine.active_cores for core in cores)
        for placed in scenario.partitions:
            assert sum(part.bytes for part in placed.memory) == placed.memory_bytes
            assert placed.home
        assert Scenario.from_toml(scenario.to_toml()).spec() == scenario.spec()
        return scenario

    accepted_or_explained(make)


def test_the_same_text_gives_the_same_spec() -> None:
    lines = BASE.split("\n")
    random.Random(1).shuffle(lines)
    assert Scenario.from_toml(BASE).spec_json() == Scenario.from_toml(BASE).spec_json()
    accepted_or_explained(lambda: Scenario.from_toml("\n".join(lines)))
