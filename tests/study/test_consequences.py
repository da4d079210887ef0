"""What nobody published but must follow from the mechanisms, on the scenarios of the p795 study."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

from homenode.evidence.study.definition import load_study
from homenode.model.scenario import Scenario
from homenode.simulate.run import Run
from homenode.simulate.runner import run_scenario

SHORT = {"run.warmup": "2 s", "run.duration": "8 s"}


@pytest.fixture(scope="module")
def simulate(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Run a frame of the study with some values replaced; each variant once."""
    out = tmp_path_factory.mktemp("runs")
    study = load_study("p795-lpar-affinity")

    @cache
    def run(frame: str, changes: tuple[tuple[str, Any], ...] = ()) -> Run:
        scenario = Scenario.load(study.scenario_path(frame))
        return run_scenario(scenario.with_({**SHORT, **dict(changes)}), replications=1, out=out)

    return run


def both(key: str, value: Any, names: tuple[str, str] = ("lpar1", "lpar2")) -> Any:
    """The same change to both partitions of a frame."""
    return tuple((f"partition.{name}.{key}", value) for name in names)


def mean(run: Run, partition: str, metric: str) -> float:
    value = run.metric(partition, metric).mean
    assert value is not None, f"{partition} has no {metric}"
    return value


def test_moved_to_another_book_the_loss_vanishes(simulate: Any) -> None:
    together = simulate("frame2.toml")
    apart = simulate("frame2.toml", (("partition.lpar4.home", "book6"),))
    alone = simulate("frame1.toml")
    for name, twin in (("lpar3", "lpar1"), ("lpar4", "lpar2")):
        assert mean(apart, name, "far_share") == 0.0
        assert mean(apart, name, "physc") < 0.88 * mean(together, name, "physc")
        per_tx = mean(apart, name, "cpu_per_tx_us")
        assert per_tx == pytest.approx(mean(alone, twin, "cpu_per_tx_us"), rel=0.03)


def test_the_loss_is_remote_memory_caches_and_reload(simulate: Any) -> None:
    together = simulate("frame2.toml")
    alone = simulate("frame1.toml")
    remote = ("cores_memory_far", "cores_cache_far", "cores_reload")
    assert all(mean(alone, "lpar1", book) < 0.01 for book in remote)
    assert all(mean(together, "lpar3", book) > 0.1 for book in remote)
    lost = mean(together, "lpar3", "physc") - mean(alone, "lpar1", "physc")
    assert sum(mean(together, "lpar3", book) for book in remote) > lost


def test_more_entitlement_for_each_virtual_processor_lowers_involuntary_switches(
    simulate: Any,
) -> None:
    found = [
        mean(
            simulate("frame1.toml", both("processors.entitlement", entitlement)),
            "lpar1",
            "ilcs_per_s",
        )
        for entitlement in (3.0, 9.0, 15.0)
    ]
    assert found == sorted(found, reverse=True)
    assert found[2] < 0.7 * found[0]


def test_spread_threads_cost_less_on_fewer_virtual_processors(simulate: Any) -> None:
    spread = both("guest.throughput_mode", 0)
    many = simulate("frame1.toml", spread)
    few = simulate("frame1.toml", (*spread, *both("processors.virtual", 22)))
    assert mean(few, "lpar1", "physc") < 0.9 * mean(many, "lpar1", "physc")
    same = mean(many, "lpar1", "etr_per_s")
    assert mean(few, "lpar1", "etr_per_s") == pytest.approx(same, rel=0.01)


def test_packing_lowers_the_cores_at_equal_work(simulate: Any) -> None:
    packed = simulate("frame1.toml")
    spread = simulate("frame1.toml", both("guest.throughput_mode", 0))
    assert mean(packed, "lpar1", "physc") < 0.8 * mean(spread, "lpar1", "physc")
    same = mean(spread, "lpar1", "etr_per_s")
    assert mean(packed, "lpar1", "etr_per_s") == pytest.approx(same, rel=0.01)


def test_a_layout_that_tips_over_has_no_steady_state(simulate: Any) -> None:
    """18 virtual processors do a little more work on a book of one's own, not on a shared one."""
    names = ("lpar3", "lpar4")
    changes = both("processors.virtual", 18, names) + both("workload.rate", "1480/s", names)
    apart = (*changes, ("partition.lpar4.home", "book6"))
    tipped = simulate("frame2.toml", changes)
    assert simulate("frame2.toml", apart).metric("lpar3", "response_ms_mean").mean is not None
    for name in ("lpar3", "lpar4"):
        for metric in ("etr_per_s", "response_ms_mean"):
            estimate = tipped.metric(name, metric)
            assert estimate.mean is None
            assert "backlog grew" in (estimate.reason or "")


def test_a_single_run_is_the_same_byte_for_byte(simulate: Any, tmp_path: Path) -> None:
    first = simulate("frame2.toml")
    study = load_study("p795-lpar-affinity")
    scenario = Scenario.load(study.scenario_path("frame2.toml")).with_(SHORT)
    again = run_scenario(scenario, replications=1, out=tmp_path)
    for path in ("summary.json", "spec.json", "intervals/partition.parquet"):
        assert (first.path / path).read_bytes() == (again.path / path).read_bytes(), path
