"""Result files: whole or not at all, and refused when damaged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from homenode.hosts.errors import MeasureError
from homenode.hosts.record import CpuTime, RunRecord, Switches
from homenode.hosts.result import RawOutputs, Result, load, raw_folder, save

pytestmark = pytest.mark.anywhere


def made() -> Result:
    record = RunRecord(
        system="host",
        case="fake/one",
        metric="things",
        better="higher",
        processors=2,
        load=1.0,
        replicate=0,
        order=0,
        work=10.0,
        seconds=2.0,
        score=5.0,
        unit="things/s",
        cpu=CpuTime(total=1.0, user=0.75, system=0.25, by_role={"server": 0.5}),
        switches=Switches(3, 4),
        series=[4.0, 6.0],
        details={"deep": {"er": [1, None]}},
    )
    return Result(
        suite={"name": "s", "title": "t", "sha256": "0"},
        settings={"seed": 1},
        systems={"host": {}},
        cases={"fake/one": {"unit": "things/s"}},
        records=[record],
        started="2026-01-01T00:00:00+00:00",
    )


def test_a_result_comes_back_as_it_was(tmp_path: Path) -> None:
    path = save(made(), tmp_path / "r.json")
    again = load(path)
    assert again.records == made().records
    assert again.as_json() == made().as_json()
    assert again.path == path
    assert [file.name for file in tmp_path.iterdir()] == ["r.json"]


def test_rejected_records_are_kept_and_not_used() -> None:
    result = made()
    result.records.append(RunRecord(**{**vars(result.records[0]), "rejected": "noise"}))
    assert len(result.used()) == 1


def test_nothing_half_written_is_left(tmp_path: Path) -> None:
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "folder.json" / "x").touch()
    with pytest.raises(MeasureError, match="cannot be written"):
        save(made(), tmp_path / "folder.json")
    assert [file.name for file in tmp_path.iterdir()] == ["folder.json"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(schema=2), "has form 2"),
        (lambda d: d.update(kind="other"), "holds no measurement"),
        (lambda d: d["records"][0].update(seconds="two"), r"damaged: records\.0\.seconds"),
        (lambda d: d["records"][0].pop("work"), r"damaged: records\.0\.work"),
        (lambda d: d.pop("cases"), "damaged: cases"),
        (lambda d: d["records"][0].update(processors=0), r"records\.0\.processors makes no"),
        (lambda d: d["records"][0].update(processors=10**400), "damaged"),
        (lambda d: d["records"][0].update(seconds=0), r"records\.0\.seconds makes no"),
        (lambda d: d["records"][0].update(score=float("nan")), r"records\.0\.score makes no"),
        (lambda d: d["records"][0].update(better="bigger"), r"damaged: records\.0\.better"),
    ],
)
def test_damage_is_told(tmp_path: Path, change: object, message: str) -> None:
    data = made().as_json()
    change(data)  # type: ignore[operator]
    path = tmp_path / "r.json"
    path.write_text(json.dumps(data))
    with pytest.raises(MeasureError, match=message):
        load(path)


def test_files_that_are_none(tmp_path: Path) -> None:
    save(made(), tmp_path / "monday.json")
    with pytest.raises(MeasureError, match=r"did you mean monday\.json"):
        load(tmp_path / "monda.json")
    (tmp_path / "cut.json").write_text('{"schema": 1, "ki')
    with pytest.raises(MeasureError, match="is not JSON"):
        load(tmp_path / "cut.json")
    (tmp_path / "list.json").write_text("[1]")
    with pytest.raises(MeasureError, match="holds no measurement"):
        load(tmp_path / "list.json")


def test_raw_outputs_appear_at_once(tmp_path: Path) -> None:
    place = raw_folder(tmp_path / "r.json")
    older = RawOutputs(place)
    (older.folder("zero") / "out").write_text("old")
    older.keep()
    raw = RawOutputs(place)
    (raw.folder("one") / "out").write_text("new")
    assert (place / "zero").exists()
    assert raw.keep() == place
    assert {file.name for file in place.iterdir()} == {"one", ".homenode-raw"}
    dropped = RawOutputs(tmp_path / "other.raw")
    dropped.folder("x")
    dropped.drop()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["r.raw"]


def test_deep_nesting_is_told(tmp_path: Path) -> None:
    (tmp_path / "deep.json").write_text("[" * 200_000)
    with pytest.raises(MeasureError, match="is not JSON"):
        load(tmp_path / "deep.json")


def test_a_folder_of_others_is_never_replaced(tmp_path: Path) -> None:
    place = raw_folder(tmp_path / "r.json")
    place.mkdir()
    (place / "thesis").write_text("years")
    with pytest.raises(MeasureError, match="not made by homenode"):
        RawOutputs(place).keep()
    assert (place / "thesis").read_text() == "years"


def test_half_a_character_pair_is_kept(tmp_path: Path) -> None:
    result = made()
    result.failures.append({"case": "x", "why": "said \udc80"})
    save(result, tmp_path / "r.json")
    assert load(tmp_path / "r.json").failures[-1]["why"] == "said \udc80"
