"""Records into cells, pairs and scaling sets."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made_records import noisy, record, result, runs

from homenode.hosts.errors import MeasureError
from homenode.hosts.record import CpuTime, RunRecord
from homenode.hosts.reduce import (
    Cell,
    Pair,
    cells_of,
    pair_of,
    scaling_sets,
    summarize,
    summary_json,
)
from homenode.report.hosts import sentences

pytestmark = pytest.mark.anywhere


def cell(records: list[RunRecord]) -> Cell:
    (found,) = cells_of(records)
    return found


def test_runs_of_one_kind_are_a_cell() -> None:
    records = [
        *runs([500.0, 510.0]),
        *runs([900.0], processors=4),
        *runs([505.0], system="new"),
        *runs([100.0], load=8.0),
    ]
    found = cells_of(records)
    assert [(c.key.system, c.key.processors, c.key.load, len(c.runs)) for c in found] == [
        ("old", 2, 1.0, 2),
        ("old", 4, 1.0, 1),
        ("new", 2, 1.0, 1),
        ("old", 2, 8.0, 1),
    ]


def test_rejected_runs_are_counted_and_never_used() -> None:
    bad = replace(record(score=9e9, work=9e9), rejected="foreign load 8 %", replicate=2)
    found = cell([*runs([500.0, 500.0]), bad])
    assert len(found.runs) == 2
    assert found.score.mean == pytest.approx(500.0)
    assert found.reasons == {"foreign load 8 %": 1}
    assert summarize(result([*runs([500.0]), bad])).rejections == {"foreign load 8 %": 1}


def test_runs_that_measure_different_things_are_refused() -> None:
    with pytest.raises(MeasureError, match="differ in their unit"):
        cells_of([record(), record(unit="MB/s")])


def test_a_run_that_warmed_up_throughout_is_named() -> None:
    rising = replace(record(), series=[float(i) for i in range(60)])
    steady = replace(record(), series=[100.0 + i % 2 for i in range(60)])
    assert cell([rising, steady]).unsettled == 1


def test_unknown_processor_time_gives_no_figure_of_it() -> None:
    found = cell([record(), replace(record(cpu=None), replicate=1)])
    assert found.busy is None
    row = found.as_json()
    assert row["itr_per_s"] is None
    assert row["cpu_per_unit_us"] is None
    assert row["etr_per_s"] == pytest.approx(500.0)


def test_itr_is_etr_by_busy_of_the_means_too() -> None:
    uneven = [
        run for i, busy in enumerate((0.2, 0.5, 0.9)) for run in runs([500.0 + 90 * i], busy=busy)
    ]
    uneven = [replace(run, replicate=i, order=i) for i, run in enumerate(uneven)]
    row = cell(uneven).as_json()
    assert row["busy_pct"] == pytest.approx(100 * (0.2 * 0.5 * 0.9) ** (1 / 3))
    assert row["itr_per_s"] == pytest.approx(row["etr_per_s"] / (row["busy_pct"] / 100), rel=1e-12)
    assert row["cpu_per_unit_us"] == pytest.approx(2e6 / row["itr_per_s"], rel=1e-12)


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"score": 1e308}, "score of 1e\\+308"),
        ({"score": 1e-320}, "score of"),
        ({"score": float("nan")}, "score of nan"),
        ({"processors": 0}, "processors of 0"),
        ({"seconds": 0.0}, "seconds of 0"),
        ({"series": [1.0, float("inf")]}, "series of inf"),
        ({"latency_ms": {"p99": float("nan")}}, "latency_ms.p99 of nan"),
        ({"cpu": CpuTime(total=-1.0)}, "cpu.total of -1"),
        ({"work": 10**400}, "work of 1000"),
    ],
)
def test_senseless_figures_are_refused_by_name(given: dict[str, object], word: str) -> None:
    with pytest.raises(MeasureError, match=word):
        cells_of([record(**given)])


def test_a_time_of_nothing_has_no_speed() -> None:
    first = [replace(run, better="lower", unit="s") for run in runs([1.0] * 4)]
    second = [replace(run, score=0.0, system="new") for run in first]
    with pytest.raises(MeasureError, match="has no speed"):
        pair(first, second)


def pair(
    first: list[RunRecord],
    second: list[RunRecord],
    *,
    paired: bool = False,
    floor: float | None = None,
) -> Pair:
    return pair_of(cell(first), cell(second), paired=paired, floor=floor)


def test_deviation_and_saving_of_a_saturated_pair() -> None:
    first = runs(noisy(1, 500, 0.01, 8))
    second = runs(noisy(2, 650, 0.01, 8), system="new")
    found = pair(first, second)
    assert found.deviation_pct == pytest.approx(30.0, abs=1.5)
    assert found.saving_pct == pytest.approx(100 * (1 - 1 / 1.3), abs=1.0)
    assert found.implied_use == pytest.approx(1.0)
    assert found.used == pytest.approx(1.0)
    assert found.matched
    assert not found.contradicts
    assert (found.verdict, found.saving_verdict) == ("better", "better")


def test_lower_is_better_turns_the_deviation() -> None:
    """A time of 4 s against 5 s is 25 % faster."""
    first = [
        replace(r, better="lower", unit="s", score=5.0 + 0.001 * r.order) for r in runs([200.0] * 6)
    ]
    second = [replace(r, score=r.score - 1.0, system="new") for r in first]
    found = pair(first, second)
    assert found.deviation_pct == pytest.approx(25.0, abs=0.1)
    assert found.verdict == "better"


def test_time_at_another_busy_is_not_compared() -> None:
    found = pair(runs([500.0] * 6, busy=0.5), runs([500.0, 501.0] * 3, busy=0.35, system="new"))
    assert not found.matched
    assert found.saving_pct == pytest.approx(30.0, abs=0.5)
    assert found.saving_verdict == "undecided"
    assert found.implied_use == pytest.approx(0.7, abs=0.01)


def test_a_score_that_is_not_the_rate_of_its_work_contradicts() -> None:
    first = runs(noisy(1, 500, 0.01, 6))
    second = [replace(r, score=2 * r.score, system="new") for r in runs(noisy(2, 500, 0.01, 6))]
    found = pair(first, second)
    assert found.contradicts
    assert found.implied_use == pytest.approx(2.0, abs=0.1)
    assert found.used == pytest.approx(1.0)


def test_few_runs_decide_nothing() -> None:
    found = pair(runs([500.0] * 3), runs([900.0] * 3, system="new"))
    assert found.verdict == "undecided"
    assert found.why == "4 runs a side at least"
    turned = pair(runs([500.0] * 5), runs([900.0] * 5, system="new"), paired=True)
    assert turned.why == "6 pairs at least"


def test_what_a_session_alone_changes_is_no_difference() -> None:
    first, second = runs(noisy(1, 500, 0.001, 8)), runs(noisy(2, 510, 0.001, 8), system="new")
    assert pair(first, second).verdict == "better"
    found = pair(first, second, floor=0.03)
    assert found.verdict == "undecided"
    assert found.why == "within the noise floor"
    assert found.floor == pytest.approx(0.03)


def test_a_run_without_its_partner_is_left_out_of_pairs() -> None:
    first = runs(noisy(1, 500, 0.01, 8))
    second = runs(noisy(2, 650, 0.01, 8), system="new")
    second[3] = replace(second[3], rejected="steal 4 %")
    found = pair(first, second, paired=True)
    assert found.speed.first_runs == found.speed.second_runs == 7
    assert found.dropped == 1
    assert 3 not in {run.replicate for run in found.first.runs}


def test_another_number_of_instructions_is_another_path() -> None:
    first = [replace(r, instructions=1e6 * r.work) for r in runs([500.0] * 4)]
    same = [replace(r, instructions=1.001e6 * r.work) for r in runs([500.0] * 4)]
    other = [replace(r, instructions=1.2e6 * r.work) for r in runs([500.0] * 4)]
    assert pair(first, same).same_path is True
    assert pair(first, other).same_path is False
    assert pair(first, runs([500.0] * 4)).same_path is None


def sized(rates: dict[int, float], *, busy: float = 1.0, **given: object) -> list[RunRecord]:
    return [
        run
        for n, rate in rates.items()
        for run in runs([rate, 1.001 * rate, 0.999 * rate], processors=n, busy=busy, **given)
    ]


def test_a_set_that_loses_three_quarters_of_a_step_bends() -> None:
    (found,) = scaling_sets(cells_of(sized({1: 100, 2: 200, 4: 380, 8: 500})))
    assert [s.itr_ratio.mean for s in found.sizes[1:]] == pytest.approx([2.0, 3.8, 5.0])
    assert found.empirical() == pytest.approx([1.0, 1.0, 0.95, 0.625])
    assert found.bend is not None
    assert found.bend.end.processors == 8
    assert found.usl is not None
    assert found.usl.saturated


def test_a_bend_that_chance_may_have_made_is_undecided() -> None:
    """Three quarters of a step lie in the interval of three runs that vary by 20 %."""
    wild = [run for n, x in {1: 100.0, 2: 165.0}.items() for run in spread_out(n, x)]
    (found,) = scaling_sets(cells_of(wild))
    assert found.bend is not None
    assert found.verdict == "undecided"
    (sure,) = scaling_sets(cells_of(sized({1: 100, 2: 165})))
    assert sure.verdict == "inflection"
    (good,) = scaling_sets(cells_of(sized({1: 100, 2: 190})))
    assert good.verdict == "gradual"


def spread_out(n: int, rate: float) -> list[RunRecord]:
    return runs([0.8 * rate, rate, 1.25 * rate], processors=n, busy=1.0)


def test_a_set_is_held_against_the_machine_where_that_is_known() -> None:
    """Half of linear is no bend where the machine offers no more."""
    records = sized({1: 100, 2: 160, 4: 260})
    (linear,) = scaling_sets(cells_of(records))
    (known,) = scaling_sets(cells_of(records), lambda n: n**0.7, "a curve")
    assert linear.bend is not None
    assert known.bend is None
    assert known.reference == "a curve"


def test_itr_tells_the_worth_of_processors_that_were_not_all_used() -> None:
    """Twice the processors, the same rate at half the busy: worth twice."""
    (found,) = scaling_sets(cells_of([*sized({2: 100}), *sized({4: 100}, busy=0.5)]))
    assert found.sizes[1].itr_ratio.mean == pytest.approx(2.0)
    assert found.unmatched


def test_one_processor_that_client_and_server_share_is_named() -> None:
    records = [
        replace(r, cpu=CpuTime(total=r.cpu.total, by_role={"server": 1.0, "client": 0.5}))
        for r in sized({1: 100, 2: 230})
    ]
    (found,) = scaling_sets(cells_of(records))
    assert found.starts_alone
    (alone,) = scaling_sets(cells_of(sized({1: 100, 2: 230})))
    assert not alone.starts_alone


def test_load_that_grows_with_the_processors_is_one_set() -> None:
    grown = [*sized({1: 100}, load=1.0), *sized({2: 190}, load=2.0)]
    assert len(scaling_sets(cells_of(grown))) == 1
    crossed = [*grown, *sized({1: 80}, load=2.0), *sized({2: 150}, load=1.0)]
    found = scaling_sets(cells_of(crossed))
    assert [(s.sizes[0].cell.key.load, len(s.sizes)) for s in found] == [(1.0, 2), (2.0, 2)]


def test_summary_as_json_is_plain() -> None:
    import json

    text = json.dumps(summary_json(result(sized({1: 100, 2: 190, 4: 350}))), allow_nan=False)
    assert json.loads(text)["scaling"][0]["sizes"][2]["itrr"] == pytest.approx(3.5)


def test_a_warm_up_that_moves_the_figure_is_told() -> None:
    """Ten of sixty seconds at half the rate: the mean is a twelfth lower than the rest."""
    slow_first = [50.0] * 10 + [100.0, 101.0] * 25
    steady = [100.0, 101.0] * 30
    made = [
        replace(run, series=series, case=case)
        for case, series in (("fio/cold", slow_first), ("fio/warm", steady))
        for run in runs([500.0, 505.0])
    ]
    cold, warm = cells_of(made)
    assert cold.warm_up_shift == pytest.approx(100.5 / (5525.0 / 60) - 1.0)
    assert warm.warm_up_shift == pytest.approx(0.0, abs=1e-9)
    (line,) = (one for one in sentences(result(made)) if "MSER-5" in one)
    assert "fio/cold (+9.1 %)" in line
    assert "fio/warm" not in line
    assert cells_of(runs([1.0]))[0].warm_up_shift is None
