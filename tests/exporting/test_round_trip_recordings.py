"""nmon and njmon read back by our own readers: the figures of the run to the printed digits."""

from __future__ import annotations

from pathlib import Path

import pytest
from read_back import Printed, check_given, check_series

from homenode import Run
from homenode.records import exporting
from homenode.records.exporting import ExportOptions
from homenode.records.importing.front import read_paths

PHYSC = {"nmon": Printed(0.0005), "njmon": Printed(0.0005)}
"""Half a unit of the last printed digit of the cores consumed."""


@pytest.mark.parametrize("form", ["nmon", "njmon"])
def test_shared_partitions_come_back(form: str, kept: Run, tmp_path: Path) -> None:
    files = exporting.export(kept, form, tmp_path / "files")
    facts = read_paths([tmp_path / "files"])
    assert [one.why for one in facts.left] == []
    assert len(facts.took) == len(files) == 4
    assert [one.dropped for one in facts.took] == [0] * 4
    for name in ("shop", "night", "web"):
        check_series(facts, kept, name, seconds=1, printed=PHYSC[form], quantity="physc")
        # What is online of the memory and threads of Linux stands elsewhere than in these files.
        check_given(facts, kept, name, untold=("smt", "memory_bytes") if name == "web" else ())
    assert {key for key, _ in facts.partitions} == {kept.id}


@pytest.mark.parametrize("form", ["nmon", "njmon"])
def test_busy_time_of_cores_of_ones_own_comes_back(form: str, kept: Run, tmp_path: Path) -> None:
    exporting.export(kept, form, tmp_path / "files")
    facts = read_paths([tmp_path / "files"])
    # Two percentages of two cores with one digit (nmon), or cores with three (njmon).
    printed = Printed(2 * 0.05 * 2 / 100 if form == "nmon" else 0.0005)
    check_series(facts, kept, "database", seconds=1, printed=printed, quantity="used")
    check_given(facts, kept, "database")


@pytest.mark.parametrize("form", ["nmon", "njmon"])
def test_busy_time_of_a_mainframe_comes_back(form: str, kept_z: Run, tmp_path: Path) -> None:
    """Linux there tells what its logical processors were busy, nothing of its share."""
    (file,) = exporting.export(kept_z, form, tmp_path / "x", ExportOptions(partition="shop"))
    digits = 0.05 if form == "nmon" else 0.0005
    facts = read_paths([file])
    printed = Printed(2 * digits * 24 / 100)
    check_series(facts, kept_z, "shop", seconds=1, printed=printed, quantity="used")


def test_our_nmon_fits_itself(kept: Run, tmp_path: Path) -> None:
    """The reader counts what does not fit the identities of nmon's columns."""
    exporting.export(kept, "nmon", tmp_path / "files")
    facts = read_paths([tmp_path / "files"])
    assert len(facts.took) == 4
    assert [str(notice) for notice in facts.notices if "identit" in str(notice)] == []
