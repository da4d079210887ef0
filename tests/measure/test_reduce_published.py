"""The identities of the published studies, recomputed from their printed tables."""

from __future__ import annotations

import csv
import itertools
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest
from made_records import record

from homenode.evidence.capability import capability_of
from homenode.hosts.record import CpuTime, RunRecord
from homenode.hosts.reduce import cells_of, scaling_sets
from homenode.hosts.reduce.identities import (
    busy,
    cpu_per_unit,
    etr,
    implied_busy_ratio,
    itr,
)
from homenode.model import catalog

pytestmark = pytest.mark.anywhere

STUDIES = Path(__file__).resolve().parents[2] / "python" / "homenode" / "data" / "studies"
SETS = ("zvm-80-memory-rich", "zvm-80-paging")


@cache
def published(study: str) -> dict[str, dict[str, str]]:
    """What is printed, by case and metric."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    with (STUDIES / study / "published.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found[row["case"]][row["metric"]] = row["value"]
    return dict(found)


def rows(*metrics: str) -> list[dict[str, float]]:
    """Of both scaling studies, cases that print all of these, with their processors."""
    return [
        {"n": int(case.rpartition("-")[2]), **{name: float(about[name]) for name in metrics}}
        for study in SETS
        for case, about in published(study).items()
        if set(metrics) <= set(about)
    ]


def record_of(row: dict[str, float], case: str = "web") -> RunRecord:
    """A printed row as a run of one second."""
    n = int(row["n"])
    return record(
        case=case,
        processors=n,
        work=row["etr_per_s"],
        score=row["etr_per_s"],
        seconds=1.0,
        cpu=CpuTime(total=row["busy_pct"] / 100.0 * n),
    )


def ends(text: str) -> tuple[float, float]:
    """A printed number or range."""
    low, _, high = text.partition("..")
    return float(low), float(high or low)


def test_every_printed_itr_is_etr_by_busy() -> None:
    found = rows("etr_per_s", "busy_pct", "itr_per_s")
    assert len(found) == 28
    for row in found:
        assert itr(record_of(row)) == pytest.approx(row["itr_per_s"], rel=1e-5)


def test_every_printed_itr_ratio_is_that_of_the_smallest() -> None:
    """And the verdict on each set is its authors': one bends, from 57 to 76 processors."""
    bends = {}
    curve = capability_of("ibm-z14")
    found: dict[str, list[RunRecord]] = defaultdict(list)
    printed: dict[str, list[float]] = defaultdict(list)
    for study in SETS:
        for case, about in published(study).items():
            if {"etr_per_s", "busy_pct", "itrr"} <= set(about):
                name, _, n = case.rpartition("-")
                row = {key: float(about[key]) for key in ("etr_per_s", "busy_pct")} | {"n": int(n)}
                found[name].append(record_of(row, name))
                printed[name].append(float(about["itrr"]))
    for name, records in found.items():
        (one,) = scaling_sets(cells_of(records), curve.capability, curve.source)
        ratios = [1.0 if s.itr_ratio is None else s.itr_ratio.mean for s in one.sizes]
        assert ratios == pytest.approx(printed[name], abs=0.0051), name
        bends[name] = (
            None if one.bend is None else (one.bend.start.processors, one.bend.end.processors)
        )
    assert sum(len(records) for records in found.values()) == 28
    assert bends.pop("l3-monolith") == (57, 76)
    assert set(bends.values()) == {None}


def test_capability_ratios_are_those_printed() -> None:
    curve = capability_of("ibm-z14")
    for study in SETS:
        sets = itertools.groupby(published(study).items(), lambda one: one[0].rpartition("-")[0])
        for _, cases in sets:
            printed = [
                (int(case.rpartition("-")[2]), float(about["capability_ratio"]))
                for case, about in cases
                if "capability_ratio" in about
            ]
            for n, ratio in printed:
                ours = curve.capability(n) / curve.capability(printed[0][0])
                assert ours == pytest.approx(ratio, abs=0.021)


def test_total_over_virtual_time() -> None:
    found = rows("guest_busy_pct", "chargeable_busy_pct", "system_busy_pct", "tv_ratio")
    assert len(found) == 10
    for row in found:
        parts = (row["guest_busy_pct"], row["chargeable_busy_pct"], row["system_busy_pct"])
        assert sum(parts) / parts[0] == pytest.approx(row["tv_ratio"], abs=0.0051)


def test_processor_time_of_a_transaction_is_busy_by_rate() -> None:
    """Printed in per cent of a processor by transactions a second: 0.1999 are 1.999 ms."""
    found = rows("etr_per_s", "total_busy_pct", "guest_busy_pct", "guest_busy_per_tx", "busy_pct")
    assert len(found) == 10
    for row in found:
        share = row["guest_busy_pct"] / row["etr_per_s"]
        assert share == pytest.approx(row["guest_busy_per_tx"], abs=5.1e-5)
        assert row["total_busy_pct"] / row["n"] == pytest.approx(row["busy_pct"], abs=0.051)
        run = record_of(row | {"busy_pct": row["total_busy_pct"] / row["n"]})
        assert cpu_per_unit(run) == pytest.approx(row["total_busy_pct"] / 100 / row["etr_per_s"])


def test_instructions_cycles_and_time_agree_on_the_clock() -> None:
    found = rows("instructions_per_tx", "cpi", "eicpi", "efcpi", "total_busy_pct", "etr_per_s")
    assert len(found) == 10
    clock = catalog.machine("ibm-z14").clock.value
    for row in found:
        assert row["eicpi"] + row["efcpi"] == pytest.approx(row["cpi"], abs=0.0011)
        seconds = row["total_busy_pct"] / 100.0 / row["etr_per_s"]
        implied = row["instructions_per_tx"] * row["cpi"] / seconds
        assert implied == pytest.approx(clock, rel=0.005)


@pytest.mark.parametrize("case", ["new-db-4", "compute-4"])
def test_saving_at_saturation_is_what_was_printed(case: str) -> None:
    """Both generations were fully busy on as many processors: the gain tells the saving, to half a
    point of the printed range's ends.
    """
    about = published("zec12-vs-z196")[case]
    gains, printed = ends(about["throughput_gain_pct"]), ends(about["saving_pct"])
    for gain in gains:
        saving = 100.0 * (1.0 - 1.0 / (1.0 + gain / 100.0))
        assert printed[0] - 0.5 <= saving <= printed[1] + 0.5


def test_pairs_that_cannot_have_been_equally_busy() -> None:
    """35 % more and 35 % saved leave 0.88 of the processors in use; a flat rate less still."""
    about = published("zec12-vs-z196")
    oltp = [float(about["oltp"][name]) / 100 for name in ("throughput_gain_pct", "saving_pct")]
    assert implied_busy_ratio(*oltp) == pytest.approx(0.8775)
    assert oltp[1] - (1.0 - 1.0 / (1.0 + oltp[0])) == pytest.approx(0.0907, abs=1e-4)
    flat = float(about["summary-disk"]["throughput_gain_pct"]) / 100
    for saving in ends(about["summary-disk"]["saving_pct"]):
        assert implied_busy_ratio(flat, saving / 100) == pytest.approx(1 - saving / 100)


def test_identities_of_a_run() -> None:
    """1,000 units in 2 s with 3.8 of 4 processor seconds."""
    run = record()
    assert etr(run) == 500.0
    assert busy(run) == pytest.approx(0.95)
    assert itr(run) == pytest.approx(500 / 0.95)
    assert cpu_per_unit(run) == pytest.approx(0.0038)
    assert itr(record(cpu=None)) is None
    assert busy(record(cpu=None)) is None
