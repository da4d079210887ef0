"""The quick part of `make fingerprints`, every day: each platform once, and what only computes."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

from arithmetic import platform_facts, same_arithmetic, spelled
from check import NEXT, table
from ledger import Ledger
from subjects import Subject, subjects

QUICK = (
    "commands/partition-table-z14",
    "commands/predict-ibm-z14",
    "commands/walk-ibm-z196",
    "examples/esxi-ready-and-costop",
    "examples/linux-groups",
    "examples/pools-and-dedicated",
    "examples/prsm-three-partitions",
    "examples/rx7640-two-vpars",
    "examples/xen-credit2",
    "once/zvm-paging",
    "studies/z14-caf",
)
RECORDED = Ledger.read()
ALL = {one.name: one for one in subjects()}


@pytest.mark.parametrize("subject", [ALL[name] for name in QUICK], ids=QUICK)
def test_nothing_simulated_has_moved(subject: Subject, tmp_path: Path) -> None:
    if not same_arithmetic(RECORDED.platform):
        pytest.skip(
            "exp or pow have other last digits here, so simulated numbers may: recorded on "
            f"{spelled(RECORDED.platform)}; here is {spelled(platform_facts())}"
        )
    prints = {f"{subject.name}/{item}": one for item, one in subject.make(tmp_path).items()}
    moved = RECORDED.compare(subject.name, prints)
    assert not moved, f"\n{table(moved)}\n`make fingerprints` compares all. {NEXT}"


def test_every_example_and_study_is_recorded() -> None:
    missing = [name for name in ALL if not RECORDED.of(name)]
    assert not missing, f"record them: make fingerprints RECORD=1 ONLY='{' '.join(missing)}'"


def test_nothing_is_recorded_that_is_there_no_longer() -> None:
    known = tuple(f"{name}/" for name in ALL)
    gone = [item for item in RECORDED.lines if not item.startswith(known)]
    assert not gone, "record all anew: make fingerprints RECORD=1"
