"""Suites: what is read, what is refused and how."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

from homenode.errors import HomenodeError, NotFoundError, SuiteError
from homenode.evidence.compare import compare_machines, list_suites, load_suite

SMALL = """\
name = "small"
title = "a suite for tests"

[run]
warmup = "10 ms"
duration = "100 ms"
replications = 2

[[class]]
name = "shop"
title = "the shop"
source = "made up"
cores = 2
memory = "4 GiB"
profile = "oltp"
workload = { kind = "warehouses" }
loads = { what = "clerks", values = [1, 4], each = 2 }
run = { duration = "50 ms" }

[[class.case]]
name = "shop-2"
title = "two processors"

[[class.case]]
name = "shop-4"
title = "four processors"
cores = 4
run = { warmup = "20 ms" }
"""


def suite_file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_shipped_suite_has_every_class_of_the_guide(root: Path) -> None:
    suite = load_suite("linux")
    page = (root / "docs" / "guides" / "compare-machines.md").read_text(encoding="utf-8")
    table = page.split("## The suite", 1)[1].split("\n\n", 3)[2]
    told = [w for row in table.splitlines()[2:] for w in row.split("|")[1].split("`")[1::2]]
    assert sorted(told) == sorted(suite.class_names)
    assert list_suites() == ["linux"]


def test_a_case_has_what_its_class_has_and_its_own(tmp_path: Path) -> None:
    suite = load_suite(suite_file(tmp_path, SMALL))
    [(group, [two, four])] = suite.chosen([])
    assert (two.cores or group.cores, four.cores or group.cores) == (2, 4)
    timing = suite.timing(group, four)
    assert (timing.warmup, timing.duration, timing.replications) == (20_000_000, 50_000_000, 2)
    loads = suite.loads(group, two)
    assert loads is not None
    assert (loads.values, loads.each) == ([1, 4], 2)


def test_only_names_classes_and_cases(tmp_path: Path) -> None:
    suite = load_suite(suite_file(tmp_path, SMALL))
    assert [[c.name for c in cases] for _, cases in suite.chosen(["shop-4"])] == [["shop-4"]]
    assert [len(cases) for _, cases in suite.chosen(["shop"])] == [2]
    with pytest.raises(NotFoundError, match='no class or case called "shap"; did you mean shop'):
        suite.chosen(["shap"])


def test_an_unknown_suite_names_the_nearest() -> None:
    with pytest.raises(NotFoundError, match="there is no suite linus; did you mean linux"):
        load_suite("linus")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('profile = "oltp"\n', "", "case shop-2 has no profile, and its class has none either"),
        ('name = "shop-4"', 'name = "shop-2"', "small.toml:1:1: two are called shop-2"),
        ("[1, 4]", "[]", "loads.values"),
        ('"warehouses"', '"transactions", rate = "9/s"', "kind transactions has no count to vary"),
        ('"50 ms"', '"50 parsecs"', "duration"),
        ("loads =", "load =", "did you mean loads"),
        ('source = "made up"', "", "source is missing"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(
    old: str, new: str, told: str, tmp_path: Path
) -> None:
    assert old in SMALL
    with pytest.raises(SuiteError) as error:
        load_suite(suite_file(tmp_path, SMALL.replace(old, new, 1)))
    assert told in str(error.value)
    assert "small.toml:" in str(error.value)


GUESTS = """
[[class.case]]
name = "shop-6"
title = "guests of z/VM"

[[class.case.partition]]
name = "till"
cores = 2
profile = { base = "oltp", instructions = 2e6, lock_share = "0 %", why = "a sale" }

[class.case.partition.virtual_machine]
count = 3
memory = "1 GiB"
workload = { kind = "transactions", rate = "200/s", answer = "1 KiB" }
"""


def test_guests_of_zvm_do_the_work_of_a_case(tmp_path: Path) -> None:
    text = SMALL.replace("[1, 4], each = 2", "[1], each = 2") + GUESTS
    suite = load_suite(suite_file(tmp_path, text))
    result = compare_machines("ibm-z196", "ibm-zec12", suite, only=["shop-6"])
    [pair] = result.cases[0].pairs
    assert pair.base.units_per_s == pytest.approx(600, rel=0.2)
    assert 10 < (pair.saving_pct.mean or 0) < 40
    elsewhere = compare_machines("ibm-z196", "ibm-power-795", suite, only=["shop-6"])
    why = "its guests are virtual machines of z/VM, which does not run on ibm-power-795"
    assert elsewhere.left_out == {"shop-6": why}
    both = text.replace(
        "cores = 2\nprofile = {", 'workload = { kind = "idle" }\ncores = 2\nprofile = {'
    )
    with pytest.raises(
        SuiteError, match="a guest has a workload or virtual machines, this one has both"
    ):
        load_suite(suite_file(tmp_path, both))


def test_a_wrong_walk_names_its_case(tmp_path: Path) -> None:
    walk = """\
name = "small"
title = "a walk"

[[class]]
name = "memory"
title = "memory"
source = "made up"
measure = "walk"

[[class.case]]
name = "there"
title = "there and back"
walk = { pattern = "reed", buffer = "64 KiB" }
"""
    with pytest.raises(HomenodeError, match=r"case there of suite small: .*did you mean read"):
        load_suite(suite_file(tmp_path, walk))
    missing = walk.replace("walk = {", "loads = {").replace('pattern = "reed"', 'what = "x"')
    with pytest.raises(SuiteError, match="case there has no walk"):
        load_suite(suite_file(tmp_path, missing.replace('buffer = "64 KiB"', "values = [1]")))
