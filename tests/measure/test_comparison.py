"""Two result files, two settings of one host, measured beside simulated."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
from made_records import noisy, record, result, runs
from rich.table import Table

from homenode.hosts.comparison import beside, compare, compare_settings
from homenode.hosts.comparison.claim import claim_of
from homenode.hosts.errors import MeasureError
from homenode.hosts.record import RunRecord
from homenode.hosts.result import Result
from homenode.report.hosts import (
    beside_sentences,
    beside_table,
    comparison_sentences,
    comparison_tables,
)
from homenode.report.hosts.results import sentences, tables

pytestmark = pytest.mark.anywhere

CASES = ("fio/read", "fio/write", "kernels/getpid")


def host(system: str, seed: int, factor: float, *, count: int = 8, **given: object) -> Result:
    """Three cases, 2 % of noise, of a host so many times the other."""
    records: list[RunRecord] = []
    for i, case in enumerate(CASES):
        rates = noisy(10 * seed + i, 500.0 * factor, 0.02, count)
        records += runs(rates, system=system, case=case)
    return result([replace(r, order=i) for i, r in enumerate(records)], **given)


def told(lines: list[str], word: str) -> str:
    """The only sentence with that word."""
    (line,) = (one for one in lines if word in one)
    return line


def cells(table: Table) -> list[list[str]]:
    """Text of a table, row by row."""
    return [
        [str(cell) for cell in row] for row in zip(*(c.cells for c in table.columns), strict=True)
    ]


def test_a_third_more_is_seen_and_sized() -> None:
    found = compare(host("old", 1, 1.0), host("new", 2, 1.3), claim_pct=25)
    assert found.speed.mean == pytest.approx(1.3, rel=0.015)
    assert [pair.verdict for pair in found.pairs] == ["better"] * 3
    assert found.saving is not None
    assert found.saving.mean == pytest.approx(1 / 1.3, rel=0.015)
    assert found.claim is not None
    assert found.claim.verdict == "holds"
    assert [area.name for area in found.areas] == ["fio", "kernels"]
    json.dumps(found.as_json(), allow_nan=False)


def test_equals_are_undecided_and_the_claim_fails() -> None:
    found = compare(host("old", 3, 1.0), host("new", 4, 1.0), claim_pct=30)
    assert [pair.verdict for pair in found.pairs] == ["undecided"] * 3
    assert found.claim is not None
    assert found.claim.verdict == "does not hold"
    lines = comparison_sentences(found)
    assert "no, the whole interval lies below" in told(lines, "At least 30 %")
    assert "fio/read, fio/write, kernels/getpid" in told(lines, "Undecided, faster or slower")


def test_versions_that_differ_are_refused_by_name() -> None:
    other = host("new", 2, 1.3, versions={"fio": "3.36", "kernels": "1"})
    with pytest.raises(MeasureError, match=r"version of fio: 3\.33 and 3\.36.*--only"):
        compare(host("old", 1, 1.0), other)
    found = compare(host("old", 1, 1.0), other, only=["kernels"])
    assert [pair.first.key.case for pair in found.pairs] == ["kernels/getpid"]


@pytest.mark.parametrize(
    ("given", "phrase"),
    [
        ({"suite": {"name": "other"}}, "suite name: made and other"),
        ({"settings": {"gate": {"foreign": 0.5}}}, "setting gate"),
        ({"versions": {}}, "version of fio: 3.33 and not told"),
    ],
)
def test_settings_that_differ_are_refused_by_name(given: dict[str, object], phrase: str) -> None:
    with pytest.raises(MeasureError, match="not measured alike") as raised:
        compare(host("old", 1, 1.0), host("new", 2, 1.3, **given))
    assert phrase in str(raised.value)


def test_a_case_with_other_parameters_is_refused() -> None:
    other = host("new", 2, 1.3)
    other.cases["fio/read"]["parameters"] = {"block": "4k"}
    with pytest.raises(MeasureError, match="fio/read parameters: not told and "):
        compare(host("old", 1, 1.0), other)


def test_how_often_it_was_repeated_does_not_matter() -> None:
    found = compare(host("old", 1, 1.0, count=6), host("new", 2, 1.3, settings={
        "gate": {"foreign": 0.03}, "repeats": 9}))  # fmt: skip
    assert found.pairs[0].speed.first_runs == 6
    assert found.pairs[0].speed.second_runs == 8


def test_what_of_the_hosts_differs_is_told() -> None:
    environments = [
        {
            "kernel": {"release": release},
            "processors": {"model": "made", "online": list(range(count))},
            "mitigations": {"meltdown": "Not affected", "spectre_v2": state},
        }
        for release, count, state in (("6.18", 2, "Vulnerable"), ("6.12", 4, "Not affected"))
    ]
    first, second = (
        host(n, 1, 1.0, environment=e) for n, e in zip("ab", environments, strict=True)
    )
    line = told(comparison_sentences(compare(first, second)), "hosts differ")
    assert "kernel: 6.18 and 6.12" in line
    assert "processors online: 2 and 4" in line
    assert "mitigations of spectre_v2" in line
    assert "processor:" not in line
    alike = compare(first, host("b", 2, 1.0, environment=environments[0]))
    assert alike.hosts_differ == ()


def test_unknown_cases_suggest_the_nearest() -> None:
    with pytest.raises(MeasureError, match="did you mean kernels"):
        compare(host("old", 1, 1.0), host("new", 2, 1.3), only=["kernel"])


def test_nothing_in_common_is_refused() -> None:
    with pytest.raises(MeasureError, match="no case in common"):
        compare(result(runs([500.0])), result(runs([500.0], case="tbench/1")))


def test_all_rejected_is_refused_and_one_case_is_named() -> None:
    bad = [replace(r, rejected="foreign load 9 %") for r in runs([500.0] * 4, system="new")]
    with pytest.raises(MeasureError, match="nothing can be compared"):
        compare(result(runs([500.0] * 4)), result(bad))
    good = runs(noisy(1, 600, 0.01, 4), system="new", case="fio/write")
    first = result([*runs([500.0] * 4), *runs([500.0, 501, 502, 503], case="fio/write")])
    found = compare(first, result([*bad, *good]))
    lines = comparison_sentences(found)
    assert "fio/read: no run of both systems counts" in told(lines, "Not compared:")
    assert "4 (foreign load 9 %)" in told(lines, "Rejected of new")


def test_another_session_of_the_first_host_is_a_floor() -> None:
    """What 8 % between two sessions of one host hides: 4 % between two hosts."""
    first, second = host("old", 1, 1.0), host("new", 2, 1.06)
    assert {pair.verdict for pair in compare(first, second).pairs} == {"better"}
    found = compare(first, second, again=host("old", 3, 1.08))
    assert {pair.why for pair in found.pairs} == {"within the noise floor"}
    assert found.floor == pytest.approx(0.08, abs=0.012)
    assert "two sessions" in found.floors_from


def test_another_session_must_be_of_the_same_host() -> None:
    first, second = host("old", 1, 1.0), host("new", 2, 1.06)
    other = host("old", 3, 1.0, environment={"kernel": {"release": "5.10"}})
    with pytest.raises(MeasureError, match=r"another host: kernel: 6\.18 and 5\.10"):
        compare(first, second, again=other)
    part = host("old", 3, 1.08)
    part.records = [r for r in part.records if r.case == "fio/read"]
    found = compare(first, second, again=part)
    assert [pair.why for pair in found.pairs] == ["within the noise floor", None, None]


def test_hosts_with_other_numbers_of_processors_are_compared_as_hosts() -> None:
    large = result(runs(noisy(2, 1000, 0.01, 6), system="new", processors=4))
    found = compare(result(runs(noisy(1, 500, 0.01, 6))), large)
    assert found.pairs[0].used == pytest.approx(2.0)
    assert "hosts are compared, not processors" in told(comparison_sentences(found), "2 and 4")


def test_a_result_of_two_systems_is_no_side_of_a_comparison() -> None:
    both = result([*runs([500.0]), *runs([500.0], system="new")])
    with pytest.raises(MeasureError, match="one system"):
        compare(both, result(runs([500.0])))
    with pytest.raises(MeasureError, match="takes two systems"):
        compare_settings(result(runs([500.0])))
    failure = {"case": "fio/read", "system": "b", "replicate": 0, "why": "fio died"}
    with pytest.raises(MeasureError, match="fio/read failed on b: fio died"):
        compare_settings(result(runs([500.0]), failures=[failure]))


def in_turn(factor: float, count: int = 8) -> Result:
    """ABBA turns of two settings under a drift of 10 % that both share."""
    records = []
    for i in range(count):
        for position, side in enumerate("ab" if i % 2 == 0 else "ba"):
            order = 2 * i + position
            rate = 500 * (1 + 0.1 * order / (2 * count)) * (factor if side == "b" else 1.0)
            rate *= noisy(order, 1.0, 0.003, 1)[0]
            (one,) = runs([rate], system=side)
            records.append(replace(one, replicate=i, order=order))
    return result(records)


def test_settings_in_turn_are_pairs() -> None:
    found = compare_settings(in_turn(1.03))
    assert found.paired
    assert found.pairs[0].verdict == "better"
    assert found.pairs[0].deviation_pct == pytest.approx(3.0, abs=0.5)
    assert compare_settings(in_turn(1.0)).pairs[0].verdict == "undecided"


def test_an_open_claim_says_how_many_runs_would_close_it() -> None:
    found = compare(host("old", 1, 1.0, count=5), host("new", 2, 1.29, count=5), claim_pct=30)
    assert found.claim is not None
    assert found.claim.verdict == "undecided"
    lines = comparison_sentences(found)
    assert any("would decide it" in line for line in lines)


@pytest.mark.parametrize(
    ("low", "high", "floor", "verdict"),
    [
        (1.31, 1.35, None, "holds"),
        (1.20, 1.29, None, "does not hold"),
        (1.28, 1.32, None, "undecided"),
        (None, None, None, "undecided"),
        (1.31, 1.35, 0.04, "undecided"),
        (1.31, 1.35, 0.01, "holds"),
    ],
)
def test_claims(low: float | None, high: float | None, floor: float | None, verdict: str) -> None:
    assert claim_of(30.0, 1.33, low, high, floor).verdict == verdict


def test_tables_have_the_form_of_the_source() -> None:
    found = compare(host("old", 1, 1.0), host("new", 2, 1.3), claim_pct=25)
    summary, throughput, time = comparison_tables(found)
    assert [c.header for c in summary.columns][:3] == ["area", "cases", "throughput %"]
    assert [row[0] for row in cells(summary)] == ["fio", "kernels", "all"]
    row = cells(throughput)[0]
    assert row[0] == "fio/read"
    assert "faster" in row[7]
    assert row[8] == "holds"
    assert cells(time)[0][7:] == ["1.00", "1.00"]


def test_time_at_other_busy_stands_in_brackets() -> None:
    second = result(runs(noisy(2, 500, 0.01, 6), busy=0.6, system="new"))
    found = compare(result(runs(noisy(1, 500, 0.01, 6))), second)
    *_, time = comparison_tables(found)
    assert cells(time)[0][3].startswith("(")
    assert "busy differs" in told(comparison_sentences(found), "Not compared by processor time")


def test_cases_that_disagree_make_the_mean_worthless() -> None:
    first, second = host("old", 1, 1.0), host("new", 2, 1.0)
    second.records = [
        replace(r, score=2 * r.score, work=2 * r.work) if r.case == "fio/read" else r
        for r in second.records
    ]
    line = told(comparison_sentences(compare(first, second)), "differ by more than chance")
    assert "(fio/read)" in line


def test_a_result_alone() -> None:
    one = host("old", 1, 1.0)
    one.left_out = [{"case": "jmh/warehouse", "why": "java is missing: apt-get install x"}]
    one.records[0] = replace(one.records[0], rejected="steal 3 %")
    (table,) = tables(one)
    assert cells(table)[0][-1] == "7 of 8"
    lines = sentences(one)
    assert "1 run was rejected: 1 (steal 3 %)" in told(lines, "rejected")
    assert "java is missing" in told(lines, "left out: jmh/warehouse")
    assert "would show a difference from" in told(lines, "Against another host")
    assert "no difference" in told(sentences(host("old", 1, 1.0, count=3)), "With 3 runs")


def test_a_case_without_a_run_that_counts_stands_in_brackets() -> None:
    shares = (4.2, 31.0, 8.5)
    bad = [
        replace(r, rejected=f"others used {share} % of the host (limit 3 %)")
        for r, share in zip(runs([500.0, 510.0, 505.0]), shares, strict=True)
    ]
    stolen = replace(record(case="fio/write"), rejected="the host swapped 3 pages")
    made = result([*bad, stolen, *runs([500.0], case="fio/both")])
    (table,) = tables(made)
    assert [row[1] for row in cells(table)] == ["(505.0)", "(500.0)", "500.0"]
    assert [row[-1] for row in cells(table)] == ["0 of 3", "0 of 1", "1"]
    lines = sentences(made)
    assert "fio/read, fio/write: no run counts" in told(lines, "In brackets")
    assert (
        "4 runs were rejected: 3 (others used 4.2 to 31.0 % of the host (limit 3 %)), "
        "1 (the host swapped 3 pages)." in lines
    )


def test_scaling_sets_have_a_table_and_a_verdict() -> None:
    records = [
        run
        for n, rate in {1: 100.0, 2: 198.0, 4: 380.0, 6: 540.0, 8: 705.0, 12: 730.0}.items()
        for run in runs([rate, 1.002 * rate, 0.998 * rate], processors=n)
    ]
    made = result(records)
    _, table = tables(made)
    assert [c.header for c in table.columns] == ["processors", "1", "2", "4", "6", "8", "12"]
    lines = sentences(made)
    assert "inflection from 8 to 12 processors" in told(lines, "against linear scaling")
    assert "universal scalability law" in told(lines, "contention")


def test_measured_beside_simulated() -> None:
    measured = runs([500.0, 510.0, 505.0, 495.0], latency_ms={"p95": 4.0})
    simulated = [
        replace(r, system="model", case="db", latency_ms={"p95": 4.4}) for r in runs([502.0, 502.5])
    ]
    found = beside(measured, simulated)
    by_name = {row.name: row for row in found.rows}
    assert by_name["ETR"].inside is True
    assert by_name["response p95"].deviation_pct == pytest.approx(10.0)
    assert by_name["response p95"].inside is False
    assert cells(beside_table(found))[0][:2] == ["ETR", "502.5"]
    assert "of 5 figures" in beside_sentences(found)[0]
    with pytest.raises(MeasureError, match="did you mean fio/read"):
        beside(measured, simulated, case="fio/rad")
    with pytest.raises(MeasureError, match="several cases"):
        beside([*measured, *runs([1.0], case="fio/write")], simulated)
    json.dumps(found.as_json(), allow_nan=False)


def test_a_mean_of_equal_ratios_is_that_ratio() -> None:
    found = compare(result(runs([500.0] * 4)), result(runs([650.0] * 4, system="new")))
    assert found.speed.mean == pytest.approx(1.3)
    assert found.pairs[0].noise == 0.0
    assert math.isclose(found.pairs[0].speed.low or 0.0, 1.3)
    assert record().case == found.pairs[0].first.key.case


def test_what_only_stands_alone_among_many_is_marked() -> None:
    """Four runs reach 2 of 70 at best: enough for one case, not for two together."""
    first = [*runs(noisy(1, 500, 0.001, 4)), *runs(noisy(2, 700, 0.001, 4), case="fio/write")]
    second = [replace(run, system="new", score=1.3 * run.score) for run in first]
    found = compare(result(first), result(second))
    assert found.lone == (True, True)
    assert [case["may_be_chance"] for case in found.as_json()["cases"]] == [True, True]
    assert found.as_json()["false_calls_expected"] == pytest.approx(0.1)
    assert told(comparison_sentences(found), "Holm").startswith("* 2 cases of 2 are decided alone")
    rows = cells(comparison_tables(found)[1])
    assert [any("faster[/] *" in text for text in row) for row in rows] == [True, True]
    one = compare(result(first), result(second), only=["fio/read"])
    assert one.lone == (False,)


def test_false_calls_to_expect_are_told_from_one_upward() -> None:
    """A risk of 5 % each: 1 of 20 cases, none worth a sentence of 19."""
    for count, sentences_told in ((19, 0), (20, 1)):
        names = [f"fio/{i}" for i in range(count)]
        first = [run for name in names for run in runs([500.0, 501.0] * 2, case=name)]
        second = [replace(run, system="new") for run in first]
        lines = comparison_sentences(compare(result(first), result(second)))
        assert sum("up to 1 would be called" in line for line in lines) == sentences_told
