"""Tables and metrics read back by our own readers: the figures of the run."""

from __future__ import annotations

from pathlib import Path

import pytest
from read_back import Printed, check_given, check_series

from homenode import Run
from homenode.records import exporting
from homenode.records.importing.front import read_paths

EXACT = Printed(1e-12)


@pytest.mark.parametrize("form", ["csv", "parquet", "xlsx", "openmetrics"])
def test_every_partition_comes_back(form: str, kept: Run, tmp_path: Path) -> None:
    suffix = exporting.exporter(form).suffix
    exporting.export(kept, form, tmp_path / f"tables{suffix}")
    facts = read_paths([tmp_path / f"tables{suffix}"])
    assert {one.partition for one in facts.series} == set(kept.partitions)
    for name in kept.partitions:
        check_series(facts, kept, name, seconds=0.5, printed=EXACT, quantity="physc")
        check_given(facts, kept, name)


@pytest.mark.parametrize("form", ["csv", "openmetrics"])
def test_other_systems_come_back(form: str, kept_hp: Run, kept_z: Run, tmp_path: Path) -> None:
    suffix = exporting.exporter(form).suffix
    for run in (kept_hp, kept_z):
        target = tmp_path / f"{run.id}{suffix}"
        exporting.export(run, form, target)
        facts = read_paths([target])
        for name in run.partitions:
            check_series(facts, run, name, seconds=1, printed=EXACT, quantity="physc")
