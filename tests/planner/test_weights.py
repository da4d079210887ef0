"""Weights that divide a machine: what one partition is entitled to hangs on all of them."""

from __future__ import annotations

import layouts
import pytest

from homenode.planner import advise
from homenode.planner.search import changed
from homenode.simulate.scenario import Scenario
from homenode.simulate.solved.solve import solve_scenario

HEAD = """\
name = "{name}"

[machine]
model = "ibm-z14"
active_cores = 12

[run]
warmup = "200 ms"
duration = "1 s"
replications = 2
"""
PARTITION = """
[[partition]]
name = "{name}"
processors = {{ mode = "shared", weight = {weight}, virtual = {virtual} }}
guest = {{ os = "linux" }}
memory = "16 GiB"
workload = {work}
"""
COMES = '{ kind = "transactions", rate = "800/s", bursts = 10, wait = "5 ms", profile = "oltp" }'
STAYS = '{ kind = "loops", count = 12, endless = true, profile = "compute" }'
PINNED = """
[[partition]]
name = "guest"
processors = { mode = "shared", virtual = 2, pins = ["16", "17"] }
memory = "8 GiB"
workload = { kind = "transactions", rate = "50/s", bursts = 4, profile = "oltp" }
"""


def three() -> Scenario:
    """Two that come and go beside one that fills the machine."""
    each = [("prod", 600, 8, COMES), ("test", 100, 6, COMES), ("dev", 300, 12, STAYS)]
    parts = (
        PARTITION.format(name=name, weight=weight, virtual=virtual, work=work)
        for name, weight, virtual, work in each
    )
    return layouts.scenario(*parts, head=HEAD)


def test_each_other_weight_is_a_layout_and_solved_as_one() -> None:
    """No partition has its share by itself, so that a form of it must not be refused alone."""
    problem = layouts.problem(three(), free=["weight"])
    space, now = problem.space, problem.space.now()[0]
    for at, variable in enumerate(space.variables):
        rows = changed(now, at, variable.first_numbers())
        _, sound = space.options(rows)
        weights = [space.changes(row)[variable.path] for row in rows]
        assert [bool(one) for one in sound] == [weight <= 999 for weight in weights]
    at, row = 0, now.copy()
    row[at] = 1 + space.variables[at].values.index(150)
    before = space.solver.solve(space.options(now[None, :])[0])
    after = space.solver.solve(space.options(row[None, :])[0])
    alone = solve_scenario(space.applied(row))
    told = [alone.metrics[name]["physc"].mean for name in ("prod", "test", "dev")]
    assert list(after.cores[0]) == pytest.approx(told, rel=5e-3)
    assert after.response_ns[0, 0] > 1.1 * before.response_ns[0, 0]


def test_more_weight_for_who_waits_makes_responses_shorter() -> None:
    told = advise(three(), free=["weight"], goal="response", confirm=False)
    assert told.solved > 20
    then, now = (one.response_ms.mean for one in (told.best[0], told.do_nothing))
    assert then is not None
    assert now is not None
    assert then < 0.95 * now


def test_that_nothing_else_can_be_is_told_with_its_reason() -> None:
    head = '\n[machine]\nmodel = "intel-xeon-6240-2s"\n' + HEAD[HEAD.index("[run]") :]
    told = advise(layouts.scenario(PINNED, head=head), free=["virtual"], confirm=False)
    assert told.solved == 1
    assert "No other layout was found that can be" in told.told
    assert "2 entries for 1 virtual processors" in told.told
