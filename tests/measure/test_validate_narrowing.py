"""Which experiment is run once more."""

from __future__ import annotations

import pytest

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

from homenode.judge.kinds import Experiment, Group, Judged
from homenode.judge.loads import Spin
from homenode.judge.narrowing import further, needed_trials
from homenode.judge.trial import Trial

pytestmark = pytest.mark.anywhere

SHARE = Judged("a", "share_pct", 1.0, "points")


def made(name: str, *judged: Judged) -> Experiment:
    return Experiment(name, "", (Group("a", Spin()),), judged or (SHARE,))


def trials(name: str, *values: float, rejected: str | None = None) -> list[Trial]:
    return [
        Trial(name, {"a": {"share_pct": value}}, 0.0, 0.0, rejected=rejected) for value in values
    ]


def test_the_trials_needed_are_those_of_student_s_interval() -> None:
    # s = 1. t(0.975, n - 1) / sqrt(n): 1.0461 of 6, 0.9248 of 7; 4 trials: 1.5912; 3: 2.4842.
    values = [49.0, 50.0, 51.0]
    assert needed_trials(SHARE, values, 1.0, 12) == 7
    assert needed_trials(Judged("a", "", 1.6, "points"), values, 1.0, 12) == 4
    assert needed_trials(Judged("a", "", 3.2, "points"), values, 0.5, 12) == 4
    # In per cent of the mean: 5 % are 2.5.
    assert needed_trials(Judged("a", "", 5.0, "percent"), values, 1.0, 12) == 3
    assert needed_trials(SHARE, values, 1.0, 6) is None


def test_a_single_value_tells_nothing() -> None:
    assert needed_trials(SHARE, [50.0], 1.0, 12) is None
    assert needed_trials(Judged("a", "", 1.0, "percent"), [-1.0, 1.0], 1.0, 12) is None


def test_what_is_known_soonest_comes_first_and_the_hopeless_never() -> None:
    wide, hopeless, known = made("wide"), made("hopeless"), made("known")
    near = made("near")
    done = [
        *trials("wide", 49.2, 50.0, 50.8),
        *trials("near", 49.5, 50.0, 50.5),
        *trials("hopeless", 30.0, 50.0, 70.0),
        *trials("known", 50.0, 50.01, 50.02),
    ]
    found = further([wide, hopeless, known, near], done, 12)
    assert [one.name for one in found] == ["near", "wide"]


def test_then_all_are_narrowed_further() -> None:
    one = made("one")
    # s = 0.3: half a width of 0.745, 0.477 of four.
    done = trials("one", 49.7, 50.0, 50.3)
    assert further([one], done, 12) == [one]
    assert further([one], done, 3) == []


def test_trials_that_do_not_count_are_not_counted() -> None:
    one = made("one")
    done = [*trials("one", 50.0, 50.01, 50.02), *trials("one", 10.0, rejected="others")]
    assert further([one], done, 12) == []


@pytest.mark.parametrize("values", [(), (50.0,)])
def test_too_few_to_tell_are_left(values: tuple[float, ...]) -> None:
    assert further([made("one")], trials("one", *values), 12) == []
