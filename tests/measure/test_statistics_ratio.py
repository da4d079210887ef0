"""Ratios of runs: intervals, ranks, the runs that a claim takes, the noise floor."""

from __future__ import annotations

import itertools
import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_records import noisy

from homenode.hosts.errors import MeasureError
from homenode.hosts.statistics import (
    ALPHA,
    detectable,
    fewest_runs,
    geometric_mean,
    holm,
    noise_floor,
    rank_p,
    ratio_of_pairs,
    ratio_of_samples,
    runs_needed,
    spread,
)

pytestmark = pytest.mark.anywhere

values = st.lists(st.floats(0.5, 2.0), min_size=4, max_size=8, unique=True)


def test_welch_by_hand() -> None:
    """Logarithms 0 1 2 and 3 5 7: means 1 and 5, squared error 1/3 + 4/3, 50/17 degrees."""
    first, second = ([math.exp(x) for x in logs] for logs in ((0, 1, 2), (3, 5, 7)))
    found = ratio_of_samples(first, second)
    from scipy import stats

    half = stats.t.ppf(0.975, 50 / 17) * math.sqrt(5 / 3)
    assert found.mean == pytest.approx(math.exp(4))
    assert found.low == pytest.approx(math.exp(4 - half))
    assert found.high == pytest.approx(math.exp(4 + half))
    # Differences of logarithms: 1 2 3, 3 4 5, 5 6 7; their median is 4.
    assert found.hodges_lehmann == pytest.approx(math.exp(4))
    assert found.p is None


@given(values, values)
def test_welch_agrees_with_scipy(first: list[float], second: list[float]) -> None:
    from scipy import stats

    theirs = stats.ttest_ind(
        [math.log(x) for x in second], [math.log(x) for x in first], equal_var=False
    ).confidence_interval(0.95)
    found = ratio_of_samples(first, second)
    assert found.low == pytest.approx(math.exp(theirs.low))
    assert found.high == pytest.approx(math.exp(theirs.high))


def test_pairs_see_through_a_drift_that_both_share() -> None:
    drift = [1.0, 1.1, 1.2, 1.3, 1.4, 1.5]
    wobble = [1.0, 1.001, 0.999, 1.002, 0.998, 1.0]
    second = [1.02 * d * w for d, w in zip(drift, wobble, strict=True)]
    paired, apart = ratio_of_pairs(drift, second), ratio_of_samples(drift, second)
    assert paired.decided
    assert not apart.decided
    assert paired.low is not None
    assert paired.low > 1.015
    assert paired.p == pytest.approx(2 / 2**6)


@given(values)
def test_inverse_is_the_other_way_round(first: list[float]) -> None:
    second = [1.1 * x * (1 + 0.01 * i) for i, x in enumerate(first)]
    there, back = ratio_of_pairs(first, second), ratio_of_pairs(second, first)
    for name in ("mean", "low", "high", "hodges_lehmann", "p"):
        assert getattr(there.inverse, name) == pytest.approx(getattr(back, name))


def test_ranks_need_four_runs_or_six_pairs() -> None:
    """2 / C(6, 3) is 10 %, 2 / C(8, 4) 2.9 %; 2 / 2^5 is 6.3 %, 2 / 2^6 3.1 %."""
    assert (fewest_runs(paired=False), fewest_runs(paired=True)) == (4, 6)
    assert rank_p([1, 2, 3], [4, 5, 6], paired=False) is None
    assert rank_p([1, 2, 3, 4], [5, 6, 7, 8], paired=False) == pytest.approx(2 / 70)
    assert rank_p([1.0] * 6, [1.0] * 6, paired=True) == 1.0


def test_one_far_outlier_moves_the_mean_but_not_the_ranks() -> None:
    first = [1.00, 1.01, 0.99, 1.005, 0.995, 1.002, 0.998, 1.003, 0.997, 1.001]
    second = [1.05 * x for x in first[:9]] + [0.4]
    found = ratio_of_samples(first, second)
    assert found.decided
    assert not found.agrees
    assert found.hodges_lehmann == pytest.approx(1.05, abs=0.005)
    assert found.mean < 1.0


@pytest.mark.parametrize(("count", "cv"), [(4, 0.03), (5, 0.08), (10, 0.03)])
def test_interval_holds_the_truth_and_equals_are_rarely_called(count: int, cv: float) -> None:
    """Of 400 sets of equal systems: the interval holds 1 in 92 to 98 of 100, ranks call fewer."""
    held = called = 0
    for trial in range(400):
        first = noisy(2 * trial, 1.0, cv, count)
        second = noisy(2 * trial + 1, 1.0, cv, count)
        found = ratio_of_samples(first, second)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 1.0 <= found.high
        called += found.decided
    assert 0.92 <= held / 400 <= 0.98
    assert called / 400 <= 0.075


def test_runs_needed_give_the_power_that_they_promise() -> None:
    """By the rank test itself, on noise of 5 % and a difference of 5 %."""
    runs = runs_needed(0.05, 0.05)
    seen = 0
    for trial in range(300):
        first = noisy(2 * trial, 1.0, 0.05, runs)
        second = noisy(2 * trial + 1, 1.05, 0.05, runs)
        seen += ratio_of_samples(first, second).decided
    assert 0.75 <= seen / 300 <= 0.87


@pytest.mark.parametrize("cv", [0.02, 0.05, 0.1])
@pytest.mark.parametrize("deviation", [0.01, 0.02, 0.05])
def test_runs_needed_follow_the_normal_law(cv: float, deviation: float) -> None:
    """`2 (1.960 + 0.842)^2 (s / d)^2 + 1.960^2 / 4` (Guenther 1981), by Pitman's efficiency."""
    spread_, distance = math.sqrt(math.log1p(cv**2)), math.log1p(deviation)
    normal = 2 * (1.959964 + 0.841621) ** 2 * (spread_ / distance) ** 2 + 1.959964**2 / 4
    expected = max(4, normal * math.pi / 3)
    assert runs_needed(cv, deviation) == pytest.approx(expected, abs=1.5, rel=0.002)


@pytest.mark.parametrize("paired", [True, False])
def test_runs_needed_and_detectable_are_inverse(*, paired: bool) -> None:
    for runs in (6, 9, 20, 57):
        least = detectable(0.04, runs, paired=paired)
        assert least is not None
        assert runs_needed(0.04, 1.0001 * least, paired=paired) <= runs
        assert runs_needed(0.04, 0.97 * least, paired=paired) >= runs
    assert detectable(0.04, 3, paired=paired) is None


@pytest.mark.parametrize(
    ("cv", "deviation", "word"),
    [(0.5, 0.001, "drowns"), (2.0, 0.1, "noise of 200 %"), (0.1, 0.0, "0 %"), (0.1, -1.0, "-100")],
)
def test_senseless_claims_are_refused(cv: float, deviation: float, word: str) -> None:
    with pytest.raises(MeasureError, match=word):
        runs_needed(cv, deviation)


def test_noise_floor_of_four_by_hand() -> None:
    """Logarithms 0 1 2 4: halves differ by 2.5, 1.5 and 0.5; the largest, by root 2,
    is widened by t of 3 degrees over 1.96.
    """
    found = noise_floor([math.exp(x) for x in (0, 1, 2, 4)])
    assert found == pytest.approx(math.expm1(2.5 / math.sqrt(2) * 3.182446 / 1.959964))
    # Neighbours differ by 1 and 2: means of 1.5 and 0.5; 2 degrees.
    turned = noise_floor([math.exp(x) for x in (0, 1, 2, 4)], paired=True)
    assert turned == pytest.approx(math.expm1(1.5 / math.sqrt(2) * 4.302653 / 1.959964))
    assert noise_floor([1.0, 1.1, 1.2]) is None


def test_noise_floor_shows_a_drift_that_pairs_do_not_have() -> None:
    drift = [1.0 + 0.01 * i for i in range(12)]
    apart, turned = noise_floor(drift), noise_floor(drift, paired=True)
    assert apart is not None
    assert turned is not None
    assert apart > 2.5 * turned


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("count", [4, 6, 10])
def test_noise_floor_is_what_equals_stay_below(*, paired: bool, count: int) -> None:
    below = 0
    for trial in range(200):
        first = noisy(3 * trial, 1.0, 0.03, count)
        second = noisy(3 * trial + 1, 1.0, 0.03, count)
        floor = noise_floor(first, paired=paired)
        assert floor is not None
        below += abs(ratio_of_samples(first, second).mean - 1.0) <= floor
    assert 0.85 <= below / 200 <= 0.99


def test_many_runs_have_a_floor_in_no_time() -> None:
    found = noise_floor(noisy(1, 1.0, 0.03, 400))
    assert found is not None
    # 1.96 x 3 % x sqrt(2 / 400).
    assert found == pytest.approx(0.0042, rel=0.35)


def test_tests_that_stand_together() -> None:
    """Holm's steps: 0.05 / 4, / 3, / 2, / 1; what comes after one that fails, fails too."""
    assert holm([0.012, 0.001, 0.9, 0.02]) == [True, True, False, True]
    assert holm([0.03, 0.001, 0.9, 0.03]) == [False, True, False, False]
    assert holm([]) == []


def test_runs_as_far_apart_as_numbers_go_are_refused() -> None:
    """1e-200 and 1e200: neither their mean's interval nor their spread is a number."""
    wild = [1e-200, 1e200]
    for figure in (spread, lambda found: ratio_of_samples(found, found)):
        with pytest.raises(MeasureError, match="so far apart"):
            figure(wild)
    with pytest.raises(MeasureError, match="so far apart"):
        noise_floor([1e-300, 1e-300, 1e300, 1e300])


def test_geometric_mean_over_cases() -> None:
    twice, half = ([1.0, 1.0], [2.0, 2.0]), ([1.0, 1.0], [0.5, 0.5])
    found = geometric_mean([twice, half])
    assert found.mean == pytest.approx(1.0)
    # Both cases drawn alike, one time in two, widened by the root of 2.
    assert found.low == pytest.approx(2 ** -math.sqrt(2))
    assert found.high == pytest.approx(2 ** math.sqrt(2))
    again = geometric_mean([twice, half])
    assert again == found


def test_geometric_mean_of_one_case_is_drawn_by_its_runs() -> None:
    first, second = noisy(1, 1.0, 0.02, 8), noisy(2, 1.3, 0.02, 8)
    found, sized = geometric_mean([(first, second)]), ratio_of_samples(first, second)
    assert found.mean == pytest.approx(sized.mean)
    assert found.low is not None
    assert sized.low is not None
    assert found.low == pytest.approx(sized.low, rel=0.01)
    assert geometric_mean([([1.0], [2.0])]).low is None
    with pytest.raises(MeasureError, match="no case"):
        geometric_mean([])


def test_spread_of_a_sample() -> None:
    found = spread([math.exp(x) for x in (-0.1, 0.0, 0.1)])
    assert found is not None
    assert found.mean == pytest.approx(1.0)
    assert found.cv == pytest.approx(math.sqrt(math.expm1(statistics.variance((-0.1, 0, 0.1)))))
    assert found.high == pytest.approx(math.exp(4.302653 * 0.1 / math.sqrt(3)), rel=1e-6)
    assert spread([]) is None
    alone = spread([3.0])
    assert alone is not None
    assert (alone.mean, alone.cv, alone.low) == (pytest.approx(3.0), None, None)


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_what_has_no_ratio_is_refused(bad: float) -> None:
    with pytest.raises(MeasureError, match="cannot be compared"):
        ratio_of_samples([1.0, bad], [1.0, 1.0])


def test_pairs_must_be_pairs() -> None:
    with pytest.raises(MeasureError, match="not pairs"):
        ratio_of_pairs([1.0, 2.0], [1.0])
    with pytest.raises(MeasureError, match="either system"):
        ratio_of_samples([], [1.0])


def test_exact_signed_ranks_by_counting() -> None:
    """Of all signs of six differences, those at least as far out as the one that was found."""
    differences = [0.01, 0.02, -0.03, 0.04, 0.05, 0.06]
    first = [1.0] * 6
    second = [math.exp(d) for d in differences]
    plus = [
        sum(r for r, s in enumerate(signs, 1) if s) for signs in itertools.product((0, 1), repeat=6)
    ]
    observed = 21 - 3
    expected = 2 * sum(one >= observed for one in plus) / len(plus)
    assert rank_p(first, second, paired=True) == pytest.approx(expected)
    assert expected > ALPHA


def test_ties_are_counted_not_approximated() -> None:
    """No tie may make a chance smaller than the least that so many runs allow."""
    assert rank_p([1, 1, 1, 1], [2, 2, 2, 2], paired=False) == pytest.approx(2 / 70)
    assert rank_p([1.0] * 6, [1.1] * 6, paired=True) == pytest.approx(2 / 64)
    # Ranks 1.5 1.5 3.5 3.5 5 6 7 8: a sum of 10 is as far out as 26, as are 2 x 1 of 70 ways.
    assert rank_p([1, 1, 2, 2], [3, 4, 5, 6], paired=False) == pytest.approx(2 / 70)


@given(values, values)
def test_ranks_without_ties_agree_with_scipy(first: list[float], second: list[float]) -> None:
    from scipy import stats

    if len({*first, *second}) < len(first) + len(second):
        return
    found = rank_p(first, second, paired=False)
    exact = stats.mannwhitneyu(first, second, method="exact").pvalue
    assert found == pytest.approx(exact)


def test_many_runs_are_ranked_by_the_normal_law() -> None:
    """Just above and below where all ways are counted; and against scipy's."""
    from scipy import stats

    for count in (38, 44):
        first, second = noisy(1, 1.0, 0.1, count), noisy(2, 1.04, 0.1, count)
        theirs = stats.mannwhitneyu(first, second, method="exact" if count == 38 else "asymptotic")
        assert rank_p(first, second, paired=False) == pytest.approx(theirs.pvalue, rel=1e-6)
    for count in (70, 90):
        first, second = noisy(3, 1.0, 0.1, count), noisy(4, 1.03, 0.1, count)
        differences = [math.log(b / a) for a, b in zip(first, second, strict=True)]
        exact = stats.wilcoxon(differences, method="exact").pvalue
        assert rank_p(first, second, paired=True) == pytest.approx(exact, rel=0.02)
