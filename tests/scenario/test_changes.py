"""Changing a scenario by paths, and sweeps over such paths."""

from __future__ import annotations

import pytest

from homenode import Scenario, ScenarioError

SWEEP = """
[sweep]
"partition.web.processors.virtual" = [4, 8]
"machine.memory.far" = ["200 ns", "270 ns", "320 ns"]
"""


def test_values_are_replaced_by_path(base: str) -> None:
    scenario = Scenario.from_toml(base)
    changed = scenario.with_({"partition.web.processors.virtual": 8, "partition.1.smt": 1})
    assert changed.partition("web").virtual == 8
    assert changed.partition("batch").smt == 1
    assert scenario.partition("web").virtual == 4
    assert scenario.with_(partition__web__processors__virtual=8) == scenario.with_(
        {"partition.web.processors.virtual": 8}
    )
    assert changed.name == scenario.name


def test_what_was_changed_is_told_whatever_way_it_came_about(base: str) -> None:
    scenario = Scenario.from_toml(base)
    assert scenario.changes == {}
    same = {"partition.web.processors.virtual": 4}
    for changed in (scenario.with_, lambda values: scenario.with_values(values, "a try")):
        told = changed({**same, "partition.batch.smt": 1})
        assert told.changes == {"partition.batch.smt": 1}, "what stays as it was is no change"
        back = told.with_({"partition.batch.smt": None, "partition.batch.memory": "20 GiB"})
        assert back.changes == {"partition.batch.memory": "20 GiB"}
    point = Scenario.from_toml(base + SWEEP).nth(1)
    assert point.changes == {}, "the values of axes are those of the point"
    assert point.with_({"partition.batch.smt": 1}).changes == {"partition.batch.smt": 1}
    axis = "partition.web.processors.virtual"
    assert point.with_({axis: 16}).changes == {axis: 16}, "it is another point then"


def test_what_was_not_there_can_be_added_and_what_was_removed(base: str) -> None:
    scenario = Scenario.from_toml(base)
    assert scenario.with_({"partition.web.home": None}).partition("web").home == (0,)
    assert scenario.with_({"run.replications": 2}).replications == 2
    only = scenario.with_({"partition.batch": None})
    assert [p.name for p in only.partitions] == ["web"]
    profiled = scenario.with_({"partition.web.workload.profile.overlap": 0.3})
    assert profiled.spec()["partitions"][0]["profile"]["overlap"] == 0.3
    assert profiled.spec()["partitions"][0]["profile"]["name"] == "oltp"


def test_a_machine_number_gets_its_reason(base: str) -> None:
    changed = Scenario.from_toml(base).with_({"machine.memory.far": "300 ns"}, why="a guess")
    assert changed.machine.memory.far.reason == "a guess"
    assert changed.with_({"machine.active_cores": 64}).machine.active_cores == 64
    cache = Scenario.from_toml(base).with_({'machine.cache."L3 chip".latency': "80 cycles"})
    assert cache.machine.cache[3].latency.value.amount == 80


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("partition.wep.smt", 1, "names no partition; did you mean web? there is web, batch"),
        ("partition..smt", 1, '"partition..smt" is no path'),
        ("run.duration.x", 1, "goes below a plain value"),
        ("run.duration.x.y", 1, "goes below run.duration, which is a plain value"),
        ("run.seed", object, "run.seed cannot be <class 'object'>: give a number"),
        ("run", {1: 2}, "run cannot be {1: 2}: give a number"),
        ("run.seeds", 1, 'run: unknown key "seeds": did you mean seed?'),
        ("machine.memory.farr", "1 ns", "the machine has no number farr: did you mean far?"),
        ("partition.web.smt", "x", 'partition web: smt = "x": a whole number is needed here'),
    ],
)
def test_wrong_changes_are_refused(base: str, path: str, value: object, message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_toml(base).with_({path: value})
    assert message in str(caught.value)


def test_a_sweep_is_the_product_of_its_axes(base: str) -> None:
    scenario = Scenario.from_toml(base + SWEEP)
    points = list(scenario.expand())
    assert len(points) == 6
    assert [tuple(point.point.values()) for point in points] == [
        (virtual, far) for virtual in (4, 8) for far in ("200 ns", "270 ns", "320 ns")
    ]
    last = points[-1]
    assert last.partition("web").virtual == 8
    assert last.machine.memory.far.value.amount == 320
    assert {point.name for point in points} == {"base"}
    assert last.axes == {}
    assert last.machine.memory.far.reason == "set by the sweep"


def test_without_a_sweep_a_scenario_is_its_only_point(base: str) -> None:
    scenario = Scenario.from_toml(base)
    assert list(scenario.expand()) == [scenario]


def test_wrong_axes_are_told_when_loading(base: str) -> None:
    with pytest.raises(ScenarioError, match='"sweeps" is no path into the scenario'):
        Scenario.from_toml(base + '[sweep]\n"sweeps" = [1]\n')
    many = ", ".join("1" for _ in range(400))
    axes = f'"partition.web.smt" = [{many}]\n"run.seed" = [{many}]\n'
    with pytest.raises(ScenarioError, match=r"the axes make 160,000 runs"):
        Scenario.from_toml(base + "[sweep]\n" + axes)
    wrong = Scenario.from_toml(base + '[sweep]\n"partition.web.smt" = [1, 9]\n')
    with pytest.raises(ScenarioError, match="smt = 9"):
        list(wrong.expand())
