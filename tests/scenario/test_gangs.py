"""Daemons that wake several threads at once, as a scenario says them."""

from __future__ import annotations

from pathlib import Path

import pytest

from homenode.errors import ScenarioError
from homenode.model.scenario import Scenario

TEXT = """
[machine]
model = "ibm-power-770"

[[partition]]
name = "db"
processors = { mode = "shared", entitlement = 1.0, virtual = 4 }
memory = "8 GiB"
workload = { kind = "idle" }

[partition.guest.daemons]
rate = "0/s"
gangs = [
  { name = "j2pg", threads = 51, work = "2 ms" },
  { name = "flush", threads = 4, every = "5 s", file = "steps.csv", step = "1 s" },
]

[run]
duration = "2 s"
"""
STEPS = "partition,seconds,instructions_per_s\nflush,300,1e9\nflush,300,2e9\n"


def load(tmp_path: Path, text: str = TEXT, steps: str = STEPS) -> Scenario:
    (tmp_path / "steps.csv").write_text(steps)
    file = tmp_path / "gangs.toml"
    file.write_text(text)
    return Scenario.load(file)


def test_they_reach_the_engine(tmp_path: Path) -> None:
    guest = load(tmp_path).spec()["partitions"][0]["guest"]
    assert guest["gangs"] == [  # type: ignore[typeddict-item]
        {"threads": 51, "every_ns": 60_000_000_000, "work_ns": 2_000_000},
        {
            "threads": 4,
            "every_ns": 5_000_000_000,
            "work_ns": 0,
            "lengths_ns": [1_000_000_000] * 2,
            "instructions_per_s": [1e9, 2e9],
        },
    ]


@pytest.mark.parametrize(
    ("old", "new", "line", "told"),
    [
        (', work = "2 ms"', "", 14, "it says nothing of its work"),
        ('work = "2 ms"', 'work = "2 ms", file = "steps.csv"', 14, "what a gang does twice"),
        ("threads = 51", "threads = 0", 14, "threads"),
        ('every = "5 s"', 'every = "5 us"', 15, "every"),
        ("steps.csv", "none.csv", 15, "there is no file"),
        ('file = "steps.csv"', 'file = "steps.csv", series = "x"', 15, 'no partition "x"'),
    ],
)
def test_a_mistake_is_told_at_its_line(
    tmp_path: Path, old: str, new: str, line: int, told: str
) -> None:
    assert old in TEXT
    with pytest.raises(ScenarioError) as caught:
        load(tmp_path, TEXT.replace(old, new))
    assert f":{line}:" in str(caught.value)
    assert told in str(caught.value)
