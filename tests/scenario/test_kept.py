"""A scenario in a run folder stands alone: its name, and the files it names."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest

from homenode.errors import DamagedRunError, ScenarioError
from homenode.model.scenario import Scenario
from homenode.model.scenario.kept import stand_alone
from homenode.simulate.kept.damage import refuse_earlier
from homenode.simulate.runner.details import partition_details

SHIPPED = resources.files("homenode") / "data"


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
        (kept / name).write_bytes(content)
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


def test_a_run_of_an_earlier_version_is_refused_with_what_to_do(base: str) -> None:
    spec = Scenario.from_toml(base).spec()
    refuse_earlier(Path("runs/old"), spec)
    del spec["machine"]["stores"]
    with pytest.raises(DamagedRunError) as caught:
        refuse_earlier(Path("runs/old"), spec)
    assert str(caught.value) == (
        "runs/old was kept by an earlier version of homenode, which told fewer causes apart:"
        " simulate it again: homenode run runs/old/scenario.toml"
    )


def test_a_machine_file_of_cells_is_kept_too(tmp_path: Path) -> None:
    cells = Path(__file__).with_name("cells.toml").read_text(encoding="utf-8")
    machine = (SHIPPED / "machines" / "hp-rx8640.toml").read_text(encoding="utf-8")
    (tmp_path / "lab.toml").write_text(machine, encoding="utf-8")
    text, files = stand_alone(
        Scenario.from_toml(
            cells.replace('model = "hp-rx8640"', 'file = "lab.toml"'), folder=tmp_path
        )
    )
    assert list(files) == ["files/lab.toml"]
    assert 'file = "files/lab.toml"' in text
