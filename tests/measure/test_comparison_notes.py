"""What a comparison tells beside its figures: settings, sessions, versions, unlike work."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from made_records import noisy, record, result, runs

from homenode.hosts.comparison import compare, compare_settings, differences
from homenode.hosts.comparison.refuse import only_of
from homenode.hosts.errors import MeasureError
from homenode.hosts.result import Result
from homenode.report.hosts import comparison_sentences, comparison_tables
from homenode.report.hosts.results import sentences

pytestmark = pytest.mark.anywhere


def of(system: str, seed: int, middle: float = 500.0, **given: object) -> Result:
    """Six runs of one case with 1 % of noise."""
    return result(runs(noisy(seed, middle, 0.01, 6), system=system), **given)


def two_sides(words: dict[str, str], factor: float = 1.1) -> Result:
    """Eight pairs in turn of one case."""
    records = []
    for i in range(8):
        for position, side in enumerate("ab" if i % 2 == 0 else "ba"):
            rate = noisy(100 * i + position, 500.0, 0.002, 1)[0] * (factor if side == "b" else 1.0)
            (one,) = runs([rate], system=side)
            records.append(replace(one, replicate=i, order=2 * i + position))
    systems = {side: {"words": words[side]} if words[side] else {} for side in "ab"}
    return result(records, systems=systems)


def told(lines: list[str]) -> str:
    return "\n".join(lines)


def test_sides_are_named_by_what_was_set() -> None:
    found = compare_settings(two_sides({"a": "quota=1.0", "b": "quota=1.3"}))
    assert comparison_sentences(found)[0] == "a: quota=1.0; b: quota=1.3."
    assert comparison_tables(found)[0].title == "b (quota=1.3) against a (quota=1.0)"
    assert found.as_json()["sides"] == {"a": "quota=1.0", "b": "quota=1.3"}
    bare = compare_settings(two_sides({"a": "", "b": "weight=50"}))
    assert comparison_sentences(bare)[0] == "a: nothing set; b: weight=50."


def test_equal_sides_are_called_noise() -> None:
    for words in ("", "cpus=0"):
        found = compare_settings(two_sides({"a": words, "b": words}, 1.0))
        assert comparison_sentences(found)[0].startswith("Both sides were set alike")
    assert "b against a" in str(comparison_tables(found)[0].title)


def test_a_session_that_ended_early_is_told() -> None:
    found = compare(of("old", 1), of("new", 2, interrupted=True))
    assert "The session of new ended early" in told(comparison_sentences(found))
    both = two_sides({"a": "", "b": "cpus=0"})
    both.interrupted = True
    assert "The session ended early" in told(comparison_sentences(compare_settings(both)))
    assert "The session ended early" in told(sentences(of("old", 1, interrupted=True)))
    assert "ended early" not in told(sentences(of("old", 1)))


def test_repetitions_that_failed_are_told_with_their_side() -> None:
    failures = [
        {"case": "fio/read", "system": "a", "replicate": 9, "why": "fio ended with signal 9"}
    ] * 2
    found = compare(of("old", 1), of("new", 2, failures=failures))
    assert "fio/read failed on new 2 times: fio ended with signal 9" in found.notes
    both = two_sides({"a": "", "b": "cpus=0"})
    both.failures = failures
    assert compare_settings(both).notes == (
        "fio/read failed on a 2 times: fio ended with signal 9",
    )


def test_cases_of_one_side_say_why_the_other_lacks_them() -> None:
    more = [*runs([500.0] * 6), *runs([9.0] * 6, case="jmh/w"), *runs([9.0] * 6, case="fio/x")]
    left = [{"case": "jmh/w", "why": "javac is missing: apt-get install it"}]
    found = compare(result(more), of("new", 2, left_out=left))
    assert "jmh/w: only of old (new: javac is missing: apt-get install it)" in found.missing
    assert "fio/x: only of old" in found.missing


def test_a_case_that_failed_on_one_side_always_is_not_lost() -> None:
    both = two_sides({"a": "", "b": "cpus=0"})
    both.records += [replace(record(case="fio/write"), system="a", replicate=i) for i in range(6)]
    both.failures = [{"case": "fio/write", "system": "b", "replicate": 0, "why": "disk full"}]
    found = compare_settings(both)
    assert found.missing == ("fio/write: only of a (b: disk full)",)
    assert "disk full" in told(comparison_sentences(found))


def test_systems_of_one_name_go_by_their_files() -> None:
    first, second = of("host", 1), of("host", 2)
    assert (compare(first, second).first, compare(first, second).second) == (
        "host (first)",
        "host (second)",
    )
    first.path, second.path = Path("x/old.json"), Path("x/new.json")
    found = compare(first, second)
    assert (found.first, found.second) == ("old", "new")
    second.path = Path("y/old.json")
    assert compare(first, second).second == "host (second)"


def test_a_session_beside_itself_says_nothing() -> None:
    one = of("old", 1, started="2026-01-05T10:00:00+00:00")
    assert "hold the same session" in told(comparison_sentences(compare(one, one)))
    later = of("old", 1, started="2026-01-06T10:00:00+00:00")
    assert "hold the same session" not in told(comparison_sentences(compare(one, later)))


def test_products_that_differ_are_told() -> None:
    def made(system: str, digest: str) -> Result:
        details = {"product_sha256": digest}
        return result(runs(noisy(3, 500.0, 0.01, 6), system=system, details=details))

    assert "not the same" in told(comparison_sentences(compare(made("a", "1f"), made("b", "2e"))))
    alike = compare(made("a", "1f"), made("b", "1f"))
    assert alike.pairs[0].same_work is True
    assert "not the same" not in told(comparison_sentences(alike))
    assert compare(of("a", 1), of("b", 2)).pairs[0].same_work is None


def test_of_many_versions_only_those_that_differ_are_shown() -> None:
    first, second = (
        of("old", 1, versions={"fio": f"gcc 12, perl 5, xz {n}"}) for n in ("5.2", "5.4")
    )
    assert differences(first, second, ["fio/read"]) == ["version of fio: xz 5.2 and xz 5.4"]


def test_a_program_is_held_to_its_own_package_alone() -> None:
    def of_two(gcc: str) -> Result:
        records = [run for name in ("xz", "gcc") for run in runs([2.0] * 4, case=f"integer/{name}")]
        made = result(records, versions={"integer": f"gcc {gcc}, xz-utils 5.4"})
        for name in ("xz", "gcc"):
            made.cases[f"integer/{name}"]["parameters"] = {"program": name}
        return made

    first, second = of_two("4:12"), of_two("4:14")
    assert differences(first, second, ["integer/xz"]) == []
    told_of = ["version of integer: gcc 4:12 and gcc 4:14"]
    assert differences(first, second, ["integer/xz", "integer/gcc"]) == told_of
    found = compare(first, second, only=["integer/xz"])
    assert [pair.first.key.case for pair in found.pairs] == ["integer/xz"]


def test_a_gate_is_told_as_it_is_written() -> None:
    first, second = (of("old", 1, settings={"gate": {"foreign_limit": n}}) for n in (0.03, None))
    assert differences(first, second, ["fio/read"]) == ["setting gate: 3 % and off"]


def test_a_warm_up_is_part_of_the_yardstick() -> None:
    first, second = of("old", 1), of("new", 2)
    first.cases["fio/read"]["warm_up"] = False
    assert differences(first, second, ["fio/read"]) == []
    second.cases["fio/read"]["warm_up"] = True
    assert differences(first, second, ["fio/read"]) == ["fio/read warm_up: false and true"]


def test_loads_that_go_by_the_processors_compare_on_hosts_of_other_sizes() -> None:
    first, second = of("old", 1), of("new", 2)
    for one, load in ((first, 8), (second, 32)):
        one.cases["fio/read"] |= {
            "load": float(load),
            "load_per_processor": 4,
            "parameters": {"load": load, "block_kib": 8},
        }
    assert differences(first, second, ["fio/read"]) == []
    second.cases["fio/read"]["load_per_processor"] = 2
    assert differences(first, second, ["fio/read"]) == ["fio/read load_per_processor: 4 and 2"]


def test_what_differs_of_the_hosts_has_memory_and_kernel_parameters() -> None:
    def host(kib: int, parameters: list[str]) -> dict[str, object]:
        return {"memory": {"total_kib": kib}, "kernel": {"parameters": parameters}}

    first = of("old", 1, environment=host(16 << 20, ["mitigations=off"]))
    second = of("new", 2, environment=host(32 << 20, []))
    line = told(comparison_sentences(compare(first, second)))
    assert "memory: 16 and 32 GiB" in line
    assert 'kernel parameters: ["mitigations=off"] and []' in line
    near = of("new", 2, environment=host((16 << 20) + 900, ["mitigations=off"]))
    assert compare(first, near).hosts_differ == ()


def test_a_session_that_names_nothing_is_of_the_same_host() -> None:
    def kernel(release: str, *, anonymous: bool) -> dict[str, object]:
        return {"kernel": {"release": release}, "anonymous": anonymous}

    first = of("old", 1, environment=kernel("6.18.44-made-by-us", anonymous=False))
    again = of("old", 3, environment=kernel("6.18.44", anonymous=True))
    other = of("old", 3, environment=kernel("6.18.45", anonymous=True))
    assert compare(first, of("new", 2, environment={}), again=again).floors_from
    with pytest.raises(MeasureError, match=r"another host: kernel: 6\.18\.44 and 6\.18\.45"):
        compare(first, of("new", 2, environment={}), again=other)


def test_a_result_can_be_cut_to_some_cases() -> None:
    whole = result([*runs([500.0] * 4), *runs([9.0] * 4, case="jmh/w")])
    whole.failures = [{"case": "jmh/w", "system": "old", "replicate": 0, "why": "died"}]
    cut = only_of(whole, ["fio"])
    assert {run.case for run in cut.records} == {"fio/read"} == set(cut.cases)
    assert cut.failures == []
    assert only_of(whole, []) is whole
    with pytest.raises(MeasureError, match=r"no case fio/rad in this result; did you mean fio/"):
        only_of(whole, ["fio/rad"])
