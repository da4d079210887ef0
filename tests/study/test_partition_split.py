"""What a split gains follows from where its parts lie: a change of the layout goes the way that its
mechanism says.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import pytest

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

from homenode import Scenario
from homenode.evidence.study import load_study
from homenode.evidence.study.definition import Ratio

SCATTERED = ("block0", "block1", "block2")


def capacity(parts: Sequence[int], folder: Path, home: Sequence[str] = ()) -> float:
    """Transactions of all partitions of a p5 570 that share its processors, each entitled to some;
    their jobs never wait.
    """
    text = '[machine]\nmodel = "ibm-p5-570"\n'
    for index, cores in enumerate(parts):
        text += f'[[partition]]\nname = "p{index}"\nsmt = 1\nmemory = "{8 * cores} GiB"\n'
        shared = f'mode = "shared", entitlement = {cores}.0, virtual = {cores}'
        text += f"processors = {{ {shared} }}\n"
        jobs = f'kind = "warehouses", count = {4 * cores}, profile = "oltp"'
        text += f"workload = {{ {jobs} }}\n" + (f"home = {list(home)}\n" if home else "")
    text += '[run]\nwarmup = "500 ms"\nduration = "1 s"\nreplications = 1\n'
    run = Scenario.from_toml(text).run(out=folder)
    return math.fsum(run.metrics[name]["etr_per_s"].mean or 0.0 for name in run.partitions)


def test_parts_in_blocks_of_their_own_do_more_than_the_whole(tmp_path: Path) -> None:
    whole = capacity([12], tmp_path)
    gains = [capacity(parts, tmp_path) / whole for parts in ([8, 4], [6, 6], [4, 4, 4])]
    assert 1.03 < gains[0] < gains[2]
    assert 1.0 < gains[1] < gains[0], "six cores are a block and a half"


def test_scattered_over_all_blocks_a_split_gains_nothing(tmp_path: Path) -> None:
    """So the pool's partitions of eight and four were placed once: more processors away from their
    memory, and each other's lines in the way.
    """
    whole = capacity([12], tmp_path)
    for parts in ([8, 4], [4, 4, 4]):
        assert capacity(parts, tmp_path, SCATTERED) < whole
        assert capacity(parts, tmp_path) > whole


def test_a_ratio_of_totals_divides_sums() -> None:
    parts = Ratio("split", ("eight", "four"), ("whole",), totals=True)
    assert parts.value({"eight": 8.0, "four": 5.0, "whole": 10.0}) == pytest.approx(1.3)
    means = Ratio("mean", ("eight", "four"), ("whole",))
    assert means.value({"eight": 8.0, "four": 5.0, "whole": 10.0}) == pytest.approx(0.65)
    study = load_study("partition-split")
    assert [one.name for one in study.ratios.values() if one.totals] == [
        "8+4", "2x6", "3x4", "3x4-high", "2x2",
    ]  # fmt: skip
