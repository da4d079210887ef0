"""What the solver does not know: simulations tell, and the search goes on from what they say."""

from __future__ import annotations

import math
from pathlib import Path

import layouts
import numpy as np
import pytest

from homenode.planner import advise
from homenode.planner.advice import Advice
from homenode.planner.guesses import Guess
from homenode.planner.rules import Simulated
from homenode.simulate.run import Run
from homenode.simulate.scenario import Scenario

IN_CORES = """\
name = "cores"

[machine]
model = "ibm-power-770"
active_cores = 16

[[partition]]
name = "db"
processors = {{ mode = "shared", entitlement = 2.0, virtual = 6 }}
memory = "16 GiB"

[partition.workload]
kind = "cores"
profile = "oltp"
{work}

[run]
warmup = "500 ms"
duration = "{seconds} s"
replications = 3

[advise]
free = ["virtual"]
{more}
"""


BY_DAY = """\
schedule = [
  { from = "22:00", use = "1.0" },
  { from = "06:00", use = "3.0" },
  { from = "18:00", use = "4.0" },
]
"""


def in_cores(more: str = "", work: str = 'use = "2.5"', seconds: int = 4) -> Scenario:
    """One partition whose work is told in cores: how long that takes is not solved."""
    return Scenario.from_toml(IN_CORES.format(work=work, more=more, seconds=seconds))


def responses(found: Advice, folder: Path) -> list[float]:
    """Of the layout as it is, and of the best other one [ms]."""
    runs = [Run.load(str(one.run), folder) for one in (found.do_nothing, found.best[0])]
    return [run.metrics["db"]["response_ms_mean"].mean or 0.0 for run in runs]


@pytest.mark.parametrize("best", [1, 3])
def test_work_that_is_not_solved_is_no_slower_than_allowed(best: int, tmp_path: Path) -> None:
    found = advise(in_cores(), out=tmp_path, best=best)
    before, after = responses(found, tmp_path)
    assert before < after < 1.1 * before
    (refused,) = [one for one in found.refused if one.shown is not None]
    assert refused.rule.rule == "response of db at most 10 % longer"
    assert refused.shown is not None
    assert refused.shown.endswith("% longer")
    assert [change.after for change in found.best[0].changes] == [4]


def test_where_a_limit_is_refused_the_search_goes_on(tmp_path: Path) -> None:
    limit = '[[advise.limit]]\npartition = "db"\nresponse = "8 ms"'
    found = advise(in_cores(limit), out=tmp_path)
    assert responses(found, tmp_path)[1] <= 8
    (refused,) = [one for one in found.refused if one.shown is not None]
    assert refused.rule.rule == "response of db under 8 ms"


def test_who_may_be_slower_is_asked_no_response(tmp_path: Path) -> None:
    found = advise(in_cores('gives_way = ["db"]'), out=tmp_path)
    before, after = responses(found, tmp_path)
    assert after > 1.5 * before


@pytest.mark.parametrize("best", [1, 3])
def test_a_demand_that_only_solving_meets_ends_no_search(best: int, tmp_path: Path) -> None:
    """Two virtual processors get all of it done in the mean, and not by day."""
    told = in_cores(work=BY_DAY, seconds=24)
    free = ["entitlement", "virtual"]
    found = advise(told, out=tmp_path, best=best, slower=100.0, free=free)
    assert [change.after for change in found.best[0].changes] == [3]


def test_what_is_tried_next_lies_between_what_held_and_what_was_refused() -> None:
    guess = Guess(-0.6)
    options = np.array([0, 2, 3])
    assert guess.limit() >= 0
    guess.hear(-0.1, math.inf, options)
    assert guess.limit() == pytest.approx(-0.35)
    guess.hear(-0.3, 0.9, options)
    assert guess.limit() == pytest.approx(-0.2)
    guess.hear(-0.2, 1.25, options)
    assert guess.limit() == pytest.approx(-0.3 + 0.1 / 1.25)
    guess.hear(-0.2, None, options)
    assert guess.limit() == pytest.approx(-0.22)
    assert guess.forbidden(1) == set()


def test_what_is_refused_though_less_full_is_not_tried_again() -> None:
    guess = Guess(-0.6)
    guess.hear(-0.7, 1.1, np.array([0, 2, 3]))
    assert guess.limit() >= 0
    assert guess.forbidden(1) == {(1, 2)}
    assert guess.forbidden(0) == {(1, 2), (2, 3)}


def test_how_far_a_layout_lacks_headroom_is_learnt_of_simulations() -> None:
    problem = layouts.problem(layouts.crowded(), free=["home"], headroom=0.1)
    (rule,) = [one for one in problem.rules if one.name.startswith("headroom")]
    assert rule.excess(problem.solved_now)[0] < 0
    assert rule.ratio(Simulated(lambda _, __: None, 1.2 * 43.2, {})) == pytest.approx(1.2)
