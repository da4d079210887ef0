"""L1MP to MEMP, the relative nest intensity and the workload category, by hand."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

import pytest

import frames
from homenode.cli import call
from homenode.model.catalog import machine
from homenode.report.runs import run_tables
from homenode.simulate.kept import METRICS
from homenode.simulate.kept.nest_metrics import categories, category
from homenode.simulate.kept.totals import Shape, Totals
from homenode.simulate.runner import run_scenario

pytestmark = pytest.mark.usefixtures("fake", "here")

Z13 = {"scale": 2.6, "l3": 0.4, "l4_local": 1.6, "l4_remote": 3.5, "memory": 7.5}
LINES = {
    "l2": 600,
    "l3": 180,
    "cache_chip": 20,
    "l4": 60,
    "cache_near": 40,
    "cache_far": 10,
    "memory_local": 50,
    "memory_near": 20,
    "memory_far": 20,
}


def totals(rni: dict[str, float] | None = Z13, **counters: float) -> Totals:
    lines = {f"lines_{name}": count for name, count in LINES.items()}
    shape = Shape("p", 1.0, 1, 1, True)
    return Totals(shape, 1.0, {"instructions": 20_000, **lines, **counters}, rni=rni)


def test_shares_of_lines_by_hand() -> None:
    """1,000 lines in 20,000 instructions."""
    found = {name: METRICS[name].formula(totals()) for name in ("l1mp", "l2p", "l3p", "l4lp")}
    assert found == {"l1mp": 5.0, "l2p": 60.0, "l3p": 20.0, "l4lp": 10.0}
    assert METRICS["l4rp"].formula(totals()) == 1.0
    assert METRICS["memp"].formula(totals()) == 9.0


def test_rni_by_hand() -> None:
    """2.6 (0.4 x 20 + 1.6 x 10 + 3.5 x 1 + 7.5 x 9) / 100 = 2.6 x 95 / 100."""
    assert METRICS["rni"].formula(totals()) == pytest.approx(2.47)


def test_without_an_l3_the_nodes_cache_hands_over_lines_of_the_chip() -> None:
    """820 lines, 20 of them from another core of the chip: 60 + 20 + 40 from the book's cache."""
    z10 = {"scale": 1.0, "l4_local": 1.0, "l4_remote": 2.4, "memory": 7.5}
    counted = totals(z10, lines_l3=0)
    assert METRICS["l3p"].formula(counted) == 0.0
    assert METRICS["l4lp"].formula(counted) == pytest.approx(100 * 120 / 820)
    weighed = 1.0 * 120 + 2.4 * 10 + 7.5 * 90
    assert METRICS["rni"].formula(counted) == pytest.approx(weighed / 820)


def test_only_the_z10_has_no_weight_for_an_l3() -> None:
    for name in ("ibm-z10", "ibm-z196", "ibm-zec12", "ibm-z13", "ibm-z14", "ibm-z15"):
        described = machine(name)
        assert described.rni is not None
        assert (described.rni.l3 is None) == (name == "ibm-z10")


@pytest.mark.parametrize("name", ["l1mp", "l2p", "l3p", "l4lp", "l4rp", "memp", "rni"])
def test_machines_without_weights_have_no_such_figure(name: str) -> None:
    assert METRICS[name].formula(totals(None)) is None


def test_no_lines_no_shares() -> None:
    none = dict.fromkeys((f"lines_{name}" for name in LINES), 0)
    assert METRICS["l1mp"].formula(totals(**none)) == 0.0
    assert METRICS["rni"].formula(totals(**none)) is None


@pytest.mark.parametrize(
    ("l1mp", "rni", "told"),
    [
        (2.9, 0.74, "LOW"),
        (2.9, 0.75, "AVERAGE"),
        (3.0, 0.59, "LOW"),
        (3.0, 0.6, "AVERAGE"),
        (6.0, 1.0, "AVERAGE"),
        (6.0, 1.01, "HIGH"),
        (6.1, 0.74, "AVERAGE"),
        (6.1, 0.75, "HIGH"),
    ],
)
def test_the_published_rule(l1mp: float, rni: float, told: str) -> None:
    assert category(l1mp, rni) == told


def test_a_partition_that_did_nothing_has_no_category() -> None:
    idle = {"l1mp": {"mean": None}, "rni": {"mean": None}}
    busy = {"l1mp": {"mean": 7.0}, "rni": {"mean": 2.0}}
    assert categories({"idle": idle, "busy": busy}) == {"busy": "HIGH"}


def test_summary_tables_and_json(
    fake: ModuleType,
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    plain = run_scenario(frames.near_and_far(1)[0])
    assert plain.workload_category == {}
    assert [table.title for table in run_tables(plain)] == ["Processor", "Work"]
    facts = {"node_name": "book", "rni": Z13}
    monkeypatch.setattr("homenode.simulate.runner.job.machine_facts", lambda _: facts)
    run = run_scenario(frames.near_and_far(1)[0])
    assert run.id != plain.id  # the weights decide a figure
    # The stand-in writes 1/50 + 1/100 + ... = 511/256/50 lines an instruction into L1.
    assert run.metrics["one"]["l1mp"].mean == pytest.approx(100 * 511 / 256 / 50, rel=1e-6)
    assert run.workload_category == {"one": "HIGH", "two": "HIGH"}
    table = run_tables(run)[-1]
    assert table.title == "Nest"
    assert list(table.columns[-1].cells) == ["HIGH", "HIGH"]
    assert run.node_name == "book"
    assert run.metric("one", "rni").mean == run.values("one", "rni")[0]
    assert (
        call(["sql", "SELECT mean FROM summary WHERE metric = 'rni'", "-r", run.id, "--json"]) == 0
    )
    assert len(json.loads(capsys.readouterr().out)) == 2
