"""Scenarios of consolidated machines: each loads, and no machine is promised twice."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from uses_made import day_and_night, four, nmon

from homenode.errors import HomenodeError, StoreError
from homenode.model.catalog import machine
from homenode.planner.consolidation.asked import Asked
from homenode.planner.consolidation.front import Consolidating
from homenode.planner.consolidation.layouts import layouts, save
from homenode.simulate.scenario import Scenario


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return four(tmp_path_factory.mktemp("made") / "recordings")


def work(recordings: Path, *onto: str, **asked: object) -> Consolidating:
    return Consolidating([recordings], onto, Asked(**asked))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "target", ["ibm-power-e1080", "ibm-power-770", "ibm-z14", "intel-xeon-6140-2s"]
)
def test_each_layout_loads_and_has_all_partitions(
    recordings: Path, tmp_path: Path, target: str
) -> None:
    of = work(recordings, f"{target}x2")
    files = save(of, tmp_path / "out")
    names = []
    for file in files:
        Scenario.load(file)
        told = tomllib.loads(file.read_text())
        assert told["machine"]["model"] == target
        names += [one["name"] for one in told["partition"]]
        entitled = sum(one["processors"].get("entitlement", 0) for one in told["partition"])
        assert entitled <= machine(target).cores
        for one in told["partition"]:
            if one["workload"]["kind"] == "cores":
                assert float(one["workload"]["use"]) <= one["processors"]["virtual"]
    assert sorted(names) == ["a", "b", "c", "d"]
    assert {file.stem for file in files} <= {f"{target}-1", f"{target}-2"}


def test_uses_are_those_of_the_fullest_moment(recordings: Path) -> None:
    of = work(recordings, "ibm-power-e1080")
    (text,) = layouts(of).values()
    uses = [float(one["workload"]["use"]) for one in tomllib.loads(text)["partition"]]
    assert sum(uses) == pytest.approx(of.answer().machines[0].peak, abs=0.005)


def test_entitlements_are_no_more_than_the_machine_has(tmp_path: Path) -> None:
    """Partitions that use all of it: rounding up to hundredths would promise too much."""
    folder = tmp_path / "full"
    folder.mkdir()
    for number in range(7):
        text = nmon(f"p{number}", [2.2871 + 0.01 * number] * 96, virtual=4)
        (folder / f"p{number}.nmon").write_text(text)
    for cores in (16, 17):
        of = work(folder, "ibm-power-770", cores=cores)
        (text,) = layouts(of).values()
        every = [one["processors"] for one in tomllib.loads(text)["partition"]]
        assert sum(one["entitlement"] for one in every) <= cores
        assert all(one["entitlement"] >= 0.1 * one["virtual"] for one in every)


def test_the_same_recordings_make_the_same_bytes(recordings: Path) -> None:
    onto = ("ibm-power-770", "ibm-z14")
    assert layouts(work(recordings, *onto)) == layouts(work(recordings, *onto))


def test_names_that_scenarios_do_not_take_are_rewritten_and_stay_apart(tmp_path: Path) -> None:
    folder = tmp_path / "named"
    folder.mkdir()
    for number, name in enumerate(("größe", "gräße", "gr--e-2", "[red]db[/red]", "_x")):
        (folder / f"{number}.nmon").write_text(nmon(name, day_and_night(number, days=1)))
    (text,) = layouts(work(folder, "ibm-power-e1080")).values()
    names = [one["name"] for one in tomllib.loads(text)["partition"]]
    assert len(set(names)) == 5
    assert {"gr--e", "gr--e-2", "gr--e-3", "p-red-db--red-"} < set(names)


def test_nothing_is_replaced_unasked_and_nothing_of_others_ever(
    recordings: Path, tmp_path: Path
) -> None:
    of, folder = work(recordings, "ibm-power-e1080"), tmp_path / "out"
    (file,) = save(of, folder)
    first = file.read_text()
    with pytest.raises(StoreError, match="--force"):
        save(of, folder)
    (folder / "ibm-z14-1.toml").write_text("old")
    save(of, folder, force=True)
    assert [one.name for one in folder.iterdir()] == ["ibm-power-e1080.toml"]
    assert file.read_text() == first
    (folder / "diary.txt").write_text("mine")
    with pytest.raises(StoreError, match="another folder"):
        save(of, folder, force=True)
    assert (folder / "diary.txt").read_text() == "mine"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["out"]


def test_where_nothing_can_be_written_it_is_said(recordings: Path, tmp_path: Path) -> None:
    of = work(recordings, "ibm-power-e1080")
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file" / "out", tmp_path / "file"):
        with pytest.raises(StoreError):
            save(of, place)
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


def test_cells_are_refused_in_words_and_nothing_is_half_written(
    recordings: Path, tmp_path: Path
) -> None:
    of = work(recordings, "ibm-power-e1080", "hp-rx8640", apart=(("a", "b"),))
    with pytest.raises(HomenodeError, match="made of cells") as caught:
        save(of, tmp_path / "out")
    assert "leave -o out" in str(caught.value)
    assert list(tmp_path.iterdir()) == []
