"""A partition whose profile allows performance information collection sees what is left of the
pool; another does not.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from homenode import Run, load_scenario, tools
from homenode.errors import ScenarioError
from homenode.records import exporting

POWER = """
[machine]
model = "ibm-power-770"
active_cores = 16

[[partition]]
name = "sees"
processors = { mode = "shared", entitlement = 1.0, virtual = 2, \
allow_performance_collection = true }
smt = 4
memory = "4 GiB"
workload = { kind = "loops", count = 2, endless = true, profile = "compute" }

[[partition]]
name = "blind"
processors = { mode = "shared", entitlement = 1.0, virtual = 2 }
smt = 4
memory = "4 GiB"
workload = { kind = "loops", count = 2, endless = true, profile = "compute" }

[run]
warmup = "1 s"
duration = "2 s"
replications = 1
"""


@pytest.fixture(scope="module")
def run(simulated: Callable[[str], Run]) -> Run:
    return simulated(POWER)


def test_app_is_what_the_pool_has_left(run: Run) -> None:
    view = tools.KeptRunView.of(run)
    (row,) = tools.rows("lparstat", view, ["-p", "sees", "2", "1"])
    assert row["app"] == pytest.approx(16 - 4, abs=0.05), "two loops each on a core of its own"
    assert "lbusy   app  vcsw" in tools.render("lparstat", view, ["-p", "sees", "2", "1"])


def test_without_the_authority_there_is_no_app(run: Run) -> None:
    view = tools.KeptRunView.of(run)
    (row,) = tools.rows("lparstat", view, ["-p", "blind", "2", "1"])
    assert "app" not in row
    assert " app " not in tools.render("lparstat", view, ["-p", "blind", "2", "1"])


def test_recordings_carry_it(run: Run, tmp_path: Path) -> None:
    exporting.export(run, "nmon", tmp_path / "nmon")
    exporting.export(run, "njmon", tmp_path / "njmon")
    for name, seen in (("sees", 12.0), ("blind", 0.0)):
        text = (tmp_path / "nmon" / f"{name}.nmon").read_text(encoding="utf-8")
        idle = [line.split(",")[8] for line in text.splitlines() if line.startswith("LPAR,T")]
        assert [float(one) for one in idle] == pytest.approx([seen] * len(idle), abs=0.05)
        line = (tmp_path / "njmon" / f"{name}.njmon.json").read_text("utf-8").splitlines()[0]
        assert json.loads(line)["partition_type"]["pool_util_authority"] == int(seen > 0)


@pytest.mark.parametrize(
    ("model", "words", "guest"),
    [
        ("ibm-z14", "weight = 500", "linux"),
        ("amd-epyc-7742-2s", "weight = 100", "linux"),
    ],
)
def test_only_powervm_asks(tmp_path: Path, model: str, words: str, guest: str) -> None:
    file = tmp_path / "other.toml"
    file.write_text(
        f'[machine]\nmodel = "{model}"\n\n[[partition]]\nname = "one"\nprocessors = '
        f'{{ mode = "shared", virtual = 2, {words}, allow_performance_collection = true }}\n'
        f'memory = "4 GiB"\nguest = {{ os = "{guest}" }}\n'
        'workload = { kind = "loops", count = 1, endless = true, profile = "compute" }\n',
        encoding="utf-8",
    )
    with pytest.raises(ScenarioError, match="allow_performance_collection"):
        load_scenario(file)
