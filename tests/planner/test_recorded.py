"""Advice on work that is recorded: layouts and copies play the same."""

from __future__ import annotations

from pathlib import Path

import layouts
import pytest

from homenode import Scenario, load_scenario
from homenode.planner import advise
from homenode.planner.questions import more

ROWS = ["partition,seconds,instructions_per_s", *["db,1,3000000000"] * 5, *["web,1,1e9"] * 5]
WORK = 'workload = { kind = "trace", profile = "oltp", file = "demand.csv" }'
TWO = 'workload = [{ kind = "loops", count = 1, profile = "compute" }, ' + WORK[11:] + "]"


@pytest.fixture
def recorded(tmp_path: Path) -> Scenario:
    """Five seconds of two partitions; the second has another workload besides."""
    (tmp_path / "demand.csv").write_text("\n".join(ROWS) + "\n", encoding="utf-8")
    head = layouts.HEAD.format(name="recorded").replace("1 s", "4 s").replace("200 ms", "1 s")
    of = {"db": WORK, "web": TWO}
    parts = [layouts.partition(name).rsplit("workload", 1)[0] + work for name, work in of.items()]
    path = tmp_path / "recorded.toml"
    path.write_text(head + "\n".join(parts), encoding="utf-8")
    return load_scenario(path)


def test_layouts_are_looked_at_though_less_is_recorded_than_runs_take(recorded: Scenario) -> None:
    assert advise(recorded, free=["virtual"], confirm=False).solved > 10


@pytest.mark.parametrize("name", ["db", "web"])
def test_copies_play_what_the_original_does(recorded: Scenario, name: str) -> None:
    found = more(recorded, name)
    assert found.most > 0
    assert "demand.csv" not in found.limit
