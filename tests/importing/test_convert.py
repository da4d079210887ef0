"""From recorded cores to work, with machines whose answer is known."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import pytest

from homenode.records.importing.assemble.convert import by_factor, convert, shown
from homenode.records.importing.assemble.passes import Target, deviation
from homenode.simulate.settle.probe import Probe, Used

STEP = 20_000_000_000
Answer = Callable[[Mapping[str, float]], Mapping[str, float]]


def machine(answer: Answer, calls: list[int] | None = None) -> Probe:
    """A stand-in that answers each step by a formula."""

    def probe(
        rates: Mapping[str, Sequence[float]], step_ns: int, replication: int, _done: Any = None
    ) -> dict[str, Used]:
        if calls is not None:
            calls.append(replication)
        names = list(rates)
        steps = [
            answer(dict(zip(names, step, strict=True)))
            for step in zip(*rates.values(), strict=True)
        ]
        return {
            name: Used(tuple(step[name] for step in steps), (0.0,) * len(steps)) for name in names
        }

    return cast(Probe, probe)


def alone(cores: Sequence[float | None], limit: float = 8.0) -> list[Target]:
    return [Target("a", tuple(cores), 1e9, limit)]


def test_a_straight_line_is_found_at_once() -> None:
    calls: list[int] = []
    probe = machine(lambda work: {"a": 0.01 + work["a"] / 2.5e9}, calls)
    done = convert(alone([0.01, 0.51, 2.01]), probe, STEP)
    assert done.rates["a"] == pytest.approx((0.0, 1.25e9, 5e9), rel=1e-6, abs=1.0)
    assert done.residuals["a"].beyond == 0
    assert len(calls) == 3
    assert min(calls) >= 1_000_000


def test_a_curve_is_followed() -> None:
    """Work of which ever less is needed for a further core."""
    probe = machine(lambda work: {"a": 0.02 + (work["a"] / 1e9) ** 0.8})
    wanted = (0.05, 0.5, 1.0, 3.0)
    done = convert(alone(wanted), probe, STEP)
    used = [0.02 + (work / 1e9) ** 0.8 for work in done.rates["a"]]
    assert used == pytest.approx(wanted, rel=0.01)


def test_neighbours_that_slow_each_other_are_converted_together() -> None:
    def answer(work: Mapping[str, float]) -> Mapping[str, float]:
        both = sum(work.values())
        return {name: own / 1e9 * (1 + both / 2e10) for name, own in work.items()}

    targets = [Target("a", (1.0, 2.0, 0.5), 1e9, 8.0), Target("b", (0.5, 3.0, 4.0), 1e9, 8.0)]
    done = convert(targets, machine(answer), STEP)
    assert all(one.most_pct < 2.0 for one in done.residuals.values())


def test_no_more_than_all_processors_is_asked_for() -> None:
    probe = machine(lambda work: {"a": min(2.0, work["a"] / 1e9)})
    done = convert(alone([2.0, 2.4], limit=2.0), probe, STEP)
    assert done.rates["a"] == pytest.approx((1.99e9, 1.99e9), rel=1e-3)
    assert done.residuals["a"].short == 1
    assert done.residuals["a"].beyond == 1


def test_what_was_not_recorded_is_idle_and_not_counted() -> None:
    done = convert(alone([None, 1.0]), machine(lambda work: {"a": work["a"] / 1e9}), STEP)
    assert done.rates["a"][0] == 0.0
    assert done.residuals["a"].windows == 1


def test_less_than_an_idle_guest_takes_is_no_work() -> None:
    probe = machine(lambda work: {"a": 0.1 + work["a"] / 1e9})
    done = convert(alone([0.05, 1.0]), probe, STEP)
    assert done.rates["a"][0] == 0.0
    assert done.residuals["a"].beyond == 1


def noisy(passes: list[tuple[int, Sequence[float]]], chance: float) -> Probe:
    """A curve, seen through chance that is less the longer a step is played."""
    drawn = random.Random(1)

    def probe(
        rates: Mapping[str, Sequence[float]], step_ns: int, _replication: int, *_more: Any
    ) -> dict[str, Used]:
        passes.append((step_ns, rates["a"]))
        spread = chance * (STEP / step_ns) ** 0.5
        used = [curve(work) * drawn.gauss(1.0, spread) for work in rates["a"]]
        return {"a": Used(tuple(used), (0.0,) * len(used))}

    return cast(Probe, probe)


def curve(work: float) -> float:
    return (work / 1e9) ** 0.8


def test_what_takes_its_time_is_played_briefly_first() -> None:
    """Passes that are over sooner; what they say is put together."""
    passes: list[tuple[int, Sequence[float]]] = []
    wanted = [4.0 + (at % 40) / 20 for at in range(400)]
    done = convert(alone(wanted), noisy(passes, 0.004), STEP)
    lengths = [length for length, _ in passes[2:]]
    assert lengths[:2] == [STEP // 4] * 2
    assert set(lengths[2:]) == {STEP}
    # Chance is twice that of a pass of four times the length; two that count alike have less.
    played = next(rates for length, rates in passes[2:] if length == STEP)
    assert _spread(played, wanted) < 2 * 0.004 / 2**0.5
    assert _spread(done.rates["a"], wanted) <= _spread(played, wanted)
    quick: list[tuple[int, Sequence[float]]] = []
    convert(alone(wanted[:40]), noisy(quick, 0.004), STEP)
    assert {length for length, _ in quick[2:]} == {STEP}


class Long:
    """A curve seen without chance, by passes that are put down; of windows that are played in full
    some may take more.
    """

    def __init__(self, late: Callable[[int], float] = lambda _window: 1.0) -> None:
        self.late = late
        self.passes: list[tuple[int, Sequence[int] | None]] = []
        self.rates: Sequence[float] = ()
        """Of the last pass over all windows."""

    def __call__(
        self,
        rates: Mapping[str, Sequence[float]],
        step_ns: int,
        _replication: int,
        _done: Any = None,
        windows: Sequence[int] | None = None,
    ) -> dict[str, Used]:
        self.passes.append((step_ns, windows))
        work = rates["a"]
        self.rates = work if windows is None else self.rates
        there = range(len(work)) if windows is None else windows
        more = [self.late(at) if step_ns == STEP else 1.0 for at in there]
        used = [factor * curve(one) for factor, one in zip(more, work, strict=True)]
        return {"a": Used(tuple(used), (0.0,) * len(used))}


WANTED = [4.0 + (at % 40) / 20 for at in range(400)]


def test_what_came_out_right_is_played_in_full_in_part() -> None:
    probe = Long()
    done = convert(alone(WANTED), cast(Probe, probe), STEP)
    (_, all_of_them), (_, briefly), (length, windows) = probe.passes[2:]
    assert (all_of_them, briefly, length) == (None, None, STEP)
    assert windows is not None
    # Each of them is played behind the one before it.
    picked = [at for at in windows if at // 8 % 8 == 0]
    assert set(windows) == {*picked, *(at - 1 for at in picked if at)}
    assert done.residuals["a"].in_full == len(picked) == 56
    assert "400 windows (56 played in full) off by 0." in shown(done.residuals)[0]
    assert _spread(done.rates["a"], WANTED) < 0.001


def test_windows_that_were_off_are_played_in_full_too() -> None:
    hard = {90, 300}

    class Hard(Long):
        def __call__(self, *words: Any, **named: Any) -> dict[str, Used]:
            used = super().__call__(*words, **named)["a"]
            if len(self.passes) != 4:  # the stairs are two passes, and the first one corrects
                return {"a": used}
            cores = (1.03 * one if at in hard else one for at, one in enumerate(used.cores))
            return {"a": Used(tuple(cores), used.waiting)}

    probe = Hard()
    done = convert(alone(WANTED), cast(Probe, probe), STEP)
    _, windows = probe.passes[-1]
    assert windows is not None
    assert {89, 90, 299, 300} <= set(windows)
    assert done.residuals["a"].in_full == 58


def test_what_shows_in_full_only_is_corrected_everywhere() -> None:
    """Where the windows that seemed right are off, all are played as they will be."""
    probe = Long(lambda _window: 1.05)
    done = convert(alone(WANTED), cast(Probe, probe), STEP)
    in_part = [windows for _, windows in probe.passes if windows is not None]
    assert len(in_part) == 1
    assert probe.passes[-1] == (STEP, None)
    assert done.residuals["a"].in_full == len(WANTED)
    used = [1.05 * curve(work) for work in done.rates["a"]]
    assert used == pytest.approx(WANTED, rel=0.025)  # each pass counts by its length


def test_a_window_that_leaves_work_over_is_played_with_the_next_one() -> None:
    class Late(Long):
        def __call__(self, *words: Any, **named: Any) -> dict[str, Used]:
            used = super().__call__(*words, **named)["a"]
            waiting = [100.0 * (at == 200) for at in range(len(used.cores))]
            return {"a": Used(used.cores, tuple(waiting))}

    probe = Late()
    convert(alone(WANTED), cast(Probe, probe), STEP)
    _, windows = probe.passes[-1]
    assert windows is not None
    assert {199, 200, 201} <= set(windows)


def _spread(rates: Sequence[float], wanted: Sequence[float]) -> float:
    """How far what work takes is from what is wanted, as a share."""
    off = [curve(work) / cores - 1 for work, cores in zip(rates, wanted, strict=True)]
    return float((sum(one * one for one in off) / len(off)) ** 0.5)


def test_one_factor_without_asking() -> None:
    assert by_factor(alone([0.5, None])) == {"a": (5e8, 0.0)}


def test_deviations_of_very_little_are_told_of_a_hundredth_of_a_core() -> None:
    assert deviation(1.0, 1.03) == pytest.approx(0.03)
    assert deviation(0.001, 0.002) == pytest.approx(0.1)


def test_residuals_are_told() -> None:
    done = convert(alone([0.05, 1.0]), machine(lambda work: {"a": 0.1 + work["a"] / 1e9}), STEP)
    assert shown(done.residuals) == [
        "a: 2 windows off by 50.00 % in the mean, 100.00 % at most, 1 beyond 2 %"
    ]
