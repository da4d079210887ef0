"""A scenario in a run folder stands alone: its name, and the files it names."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest

from homenode.errors import ScenarioError
from homenode.runner.details import partition_details
from homenode.scenario import Scenario
from homenode.scenario.kept import stand_alone

SHIPPED = resources.files("homenode")


@pytest.fixture
def named(tmp_path: Path, base: str) -> Path:
    """A scenario whose machine and profile are files of one name in two folders."""
    (tmp_path / "own").mkdir()
    (tmp_path / "lab").mkdir()
    machine = (SHIPPED / "machines" / "ibm-power-795.toml").read_text(encoding="utf-8")
    profile = (SHIPPED / "profiles" / "oltp.toml").read_text(encoding="utf-8")
    (tmp_path / "own.toml").write_text(machine, encoding="utf-8")
    (tmp_path / "own" / "own.toml").write_text(profile, encoding="utf-8")
    text = base.replace('model = "ibm-power-795"', 'file = "../own.toml" # ours')
    text = text.replace('profile = "oltp"', 'profile = "../own/own.toml"')
    assert text.count("own.toml") >= 2
    path = tmp_path / "lab" / "shop.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_it_reloads_to_the_same_input(named: Path, tmp_path: Path) -> None:
    scenario = Scenario.load(named)
    text, files = stand_alone(scenario)
    kept = tmp_path / "kept"
    (kept / "files").mkdir(parents=True)
    (kept / "scenario.toml").write_text(text, encoding="utf-8")
    for name, content in files.items():
        (kept / name).write_text(content, encoding="utf-8")
    assert "# ours" in text
    assert ".." not in text
    assert Scenario.load(kept / "scenario.toml").spec() == scenario.spec()


def test_the_name_stays_when_the_file_is_called_otherwise(base: str) -> None:
    nameless = base.replace('name = "base"\n', "", 1)
    scenario = Scenario.from_toml(nameless, "my shop.toml")
    text, files = stand_alone(scenario)
    assert text == f'name = "my-shop"\n{nameless}'
    assert files == {}
    assert Scenario.from_toml(text, "scenario.toml").spec_json() == scenario.spec_json()


def test_the_host_name_is_what_the_tools_print(base: str) -> None:
    scenario = Scenario.from_toml(base)
    name = scenario.partitions[0].table.name
    changed = scenario.with_({f"partition.{name}.guest.hostname": "web-1"})
    assert partition_details(changed)[name]["node_name"] == "web-1"
    assert "node_name" not in partition_details(scenario)[name]
    with pytest.raises(ScenarioError, match="a host name has letters, digits"):
        scenario.with_({f"partition.{name}.guest.hostname": "web 1"})
