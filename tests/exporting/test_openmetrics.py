"""OpenMetrics text, read by the parser of prometheus_client."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from homenode import Run, tools
from homenode.records import exporting
from homenode.records.exporting import ExportOptions

BEGINS = 946_684_800
"""2000-01-01 in seconds of Unix."""


@pytest.fixture(scope="module")
def families(kept: Run, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Metric]:
    (path,) = exporting.export(kept, "openmetrics", tmp_path_factory.mktemp("om") / "run.txt")
    text = path.read_text(encoding="utf-8")
    return {family.name: family for family in text_string_to_metric_families(text)}


def test_samples_are_those_of_lparstat(families: dict[str, Metric], kept: Run) -> None:
    shown = tools.rows("lparstat", tools.KeptRunView.of(kept), ["-p", "shop", "0.5", "8"])
    for family, column in (("physc", "physc"), ("user_pct", "%user"), ("idle_pct", "%idle")):
        points = [
            sample
            for sample in families[f"homenode_partition_{family}"].samples
            if sample.labels == {"partition": "shop"}
        ]
        assert [point.value for point in points] == pytest.approx([r[column] for r in shown])
        assert [float(point.timestamp) - BEGINS for point in points] == [r["time_s"] for r in shown]


def test_what_a_partition_was_given_stands_beside(families: dict[str, Metric]) -> None:
    info = {s.labels["partition"]: s.labels for s in families["homenode_partition"].samples}
    assert info["shop"]["os"] == "aix"
    assert info["shop"]["capped"] == "false"
    assert info["shop"]["host"] == "shop.example"
    given = families["homenode_partition_entitlement"].samples
    assert {s.labels["partition"]: s.value for s in given} == {
        "database": 2.0, "shop": 1.3, "night": 0.5, "web": 1.0,
    }  # fmt: skip
    memory = families["homenode_partition_memory_bytes"].samples
    assert {s.labels["partition"]: s.value for s in memory}["shop"] == 16 * 2**30
    assert {s.value for s in families["homenode_sample_seconds"].samples} == {0.5}


def test_every_point_has_a_time_and_all_families_the_same(families: dict[str, Metric]) -> None:
    # Prometheus makes no blocks of a file in which one point has none.
    times = [BEGINS + 0.5 * (1 + number) for number in range(8)]
    for family in families.values():
        assert sorted({float(s.timestamp) for s in family.samples}) == times, family.name


def test_processors_and_pools_have_families(families: dict[str, Metric], kept: Run) -> None:
    shop = [s for s in families["homenode_cpu_physc"].samples if s.labels["partition"] == "shop"]
    assert len(shop) == 16 * 8
    total = sum(sample.value for sample in shop) / 8
    physc = families["homenode_partition_physc"].samples
    mean = sum(s.value for s in physc if s.labels["partition"] == "shop") / 8
    assert total == pytest.approx(mean, abs=1e-6)
    pools = {s.labels["pool"] for s in families["homenode_pool_busy_cores"].samples}
    assert pools == {pool["name"] for pool in kept.spec["pools"]}


def test_a_beginning_between_seconds_is_kept(kept: Run, tmp_path: Path) -> None:
    options = ExportOptions(start=datetime(2026, 6, 1, microsecond=250_000, tzinfo=UTC))
    (path,) = exporting.export(kept, "openmetrics", tmp_path / "x", options)
    found = text_string_to_metric_families(path.read_text(encoding="utf-8"))
    physc = next(f for f in found if f.name == "homenode_partition_physc")
    first = float(physc.samples[0].timestamp)
    assert first == options.begins.timestamp() + 0.5


def test_every_family_is_explained(families: dict[str, Metric]) -> None:
    assert all(family.documentation for family in families.values())
    assert {family.type for family in families.values()} == {"gauge", "info"}


def test_other_systems_parse_as_well(kept_hp: Run, kept_z: Run, tmp_path: Path) -> None:
    for run in (kept_hp, kept_z):
        (path,) = exporting.export(run, "openmetrics", tmp_path / run.id)
        found = list(text_string_to_metric_families(path.read_text(encoding="utf-8")))
        physc = next(f for f in found if f.name == "homenode_partition_physc")
        assert {s.labels["partition"] for s in physc.samples} == set(run.partitions)
