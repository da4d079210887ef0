"""The quick way to a layout, against the reading of its whole text: the same input of the engine,
byte for byte, of every kind of change on every platform, and nothing taken that is refused.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from homenode.errors import ScenarioError
from homenode.planner.problem import Problem, problem_of
from homenode.planner.search import changed
from homenode.planner.space import Rows
from homenode.planner.variables import _INSIDE as INSIDE
from homenode.planner.variables import _WORDS as WORDS
from homenode.planner.variables import is_known
from homenode.simulate.scenario import Scenario

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ROWS = 12
"""Layouts of each scenario with several changes each."""
VALUES = 4
"""Of each variable so many are looked at by themselves."""

POWER = """\
name = "power"

[machine]
model = "ibm-power-795"

[[pool]]
name = "small"
maximum = 8

[[partition]]
name = "web"
count = 3
processors = { mode = "shared", entitlement = 1.0, virtual = 4 }
memory = "8 GiB"
home = "book1"
workload = { kind = "transactions", rate = "100/s", bursts = 4, profile = "oltp" }

[[partition]]
name = "db"
processors = { mode = "shared", entitlement = 2.0, virtual = 6, weight = 200 }
memory = [{ size = "8 GiB", on = "book0" }, { size = "8 GiB" }]
minimum = { virtual = 2, entitlement = 0.5 }
maximum = { virtual = 12, entitlement = 4.0 }
guest = { os = "aix", throughput_mode = 2 }
workload = { kind = "users", count = 400, think = "1 s", profile = "java" }

[[partition]]
name = "own"
processors = { mode = "dedicated", cores = 4, donating = true }
memory = "16 GiB"
workload = { kind = "transactions", rate = "200/s", bursts = 4, profile = "oltp" }

[run]
warmup = "100 ms"
duration = "400 ms"
"""
CORES = """\
name = "cores"

[machine]
model = "ibm-power-770"
active_cores = 48

[[partition]]
name = "told"
processors = { mode = "shared", entitlement = 2.0, virtual = 6 }
memory = "8 GiB"
home = "drawer0"
workload = { kind = "cores", use = "1.5", profile = "oltp" }

[[partition]]
name = "loops"
processors = { mode = "dedicated", cores = 4 }
memory = "8 GiB"
workload = { kind = "loops", count = 4, endless = true, profile = "compute" }

[run]
warmup = "100 ms"
duration = "400 ms"
"""
KVM = """\
name = "kvm"

[machine]
model = "intel-xeon-6240-2s"
{policy}

[[partition]]
name = "vm"
count = 3
processors = {{ mode = "shared", virtual = 4{more} }}
memory = "16 GiB"
{kvm}
workload = {{ kind = "transactions", rate = "100/s", bursts = 2, profile = "oltp" }}

[[partition]]
name = "other"
processors = {{ mode = "shared", virtual = 6 }}
memory = "16 GiB"
{kvm}
workload = {{ kind = "loops", count = 4, endless = true, profile = "compute" }}

[run]
warmup = "100 ms"
duration = "400 ms"

[advise.values]
{values}
"""
QUOTA = '"partition.vm2.processors.quota" = ["200 ms", "400 ms"]'
IO = "kvm = { io_threads = 1 }"
TEXTS = {
    "power": POWER,
    "cores": CORES,
    "kvm": KVM.format(policy="", more=', cpuset = "0-35"', kvm="kvm = {}", values=QUOTA),
    "pins": KVM.format(policy="", more=', pins = ["0-3"]', kvm=IO, values=""),
    "processes": KVM.format(policy="", more="", kvm="", values=QUOTA),
    "xen": KVM.format(policy='policy = "credit2"', more=", weight = 300", kvm="", values=""),
    "esxi": KVM.format(policy='policy = "esxi"', more="", kvm="", values=""),
    "alike": KVM.format(policy='policy = "round_robin"', more="", kvm="", values=""),
}


def scenarios() -> Iterator[tuple[str, Scenario]]:
    for path in sorted(EXAMPLES.glob("*.toml")):
        told = Scenario.load(path)
        if not told.axes and not told.file.change:
            yield path.stem, told
    for name, text in TEXTS.items():
        yield name, Scenario.from_toml(text)


def asked(told: Scenario) -> Problem:
    """With everything free that may change."""
    return problem_of(told, {"free": [one for one in (*WORDS, *INSIDE) if is_known(one, told)]})


def rows_of(problem: Problem) -> list[Rows]:
    """Each variable by itself at some of its values, then several at once."""
    space, dice = problem.space, random.Random(7)
    singles: list[Rows] = []
    for at, one in enumerate(space.variables):
        numbers = [*one.first_numbers()[1:], *one.near(0)]
        some = dice.sample(numbers, min(VALUES, len(numbers)))
        singles += [*changed(space.now()[0], at, some)]
    several = []
    for _ in range(ROWS):
        row = space.now()[0]
        for at in dice.sample(range(len(row)), min(len(row), dice.choice((2, 3, 5)))):
            row[at] = dice.choice(space.variables[at].first_numbers())
        several.append(row)
    return [*singles, *several]


@pytest.mark.parametrize(("name", "told"), [pytest.param(*one, id=one[0]) for one in scenarios()])
def test_layouts_are_those_of_their_text(name: str, told: Scenario) -> None:
    space = asked(told).space
    quick = 0
    for row in rows_of(asked(told)):
        if not row.any():
            continue
        near = space._near(row)
        changes = space.changes(row)
        try:
            text = space.applied(row).layout_json
        except ScenarioError:
            assert near is None, changes
            continue
        assert near is not None, changes
        assert near[1] == text, changes
        assert near[1] == json.dumps(near[0]), changes
        quick += 1
    assert quick


@pytest.mark.parametrize("name", ["power", "cores"])
def test_a_partition_alone_is_that_of_its_text(name: str) -> None:
    problem = asked(Scenario.from_toml(TEXTS[name]))
    space = problem.space
    for row in rows_of(problem):
        for index in {space.variables[at].partition for at in np.flatnonzero(row)}:
            numbers = [
                n if space.variables[at].partition == index else 0 for at, n in enumerate(row)
            ]
            changes = space.changes(np.array(numbers))
            near = space._near_alone(index)
            assert near is not None
            quick = near.layout(changes, "advised")
            try:
                told: Any = space._read_alone(index, changes).layout_spec()
            except ScenarioError:
                assert quick is None, changes
                continue
            assert quick is not None, changes
            assert json.dumps(quick[0]["partitions"]) == json.dumps(told["partitions"]), changes
