"""What visitors bring: bounded, theirs alone, never a path of the server."""

from __future__ import annotations

import asyncio
import io
import json
import shutil
import tempfile
import zipfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from homenode.model.scenario import Scenario
from homenode.records.importing import import_paths
from homenode.serve import child, layouts, workspace
from homenode.serve.errors import RefusedError
from homenode.staging import PREFIX

TOML = {"content_type": "application/toml"}
NMON = Path(__file__).resolve().parents[2] / "fuzz" / "seeds" / "nmon" / "aix-shared.nmon"


def held(visitor: Any) -> list[Path]:
    """Everything that lies at the server of this visitor."""
    name = visitor.headers["cookie"].partition("=")[2]
    homes = Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{name}")
    return [path for home in homes for path in home.rglob("*") if path.is_file()]


def test_two_visitors_do_not_see_what_the_other_brought(
    visitor: Any, another: Callable[[], Any], small: bytes
) -> None:
    name = visitor.send("/api/upload", small, **TOML).json()["scenario"]
    base = {"base": f"scenario:{name}", "edits": {}}
    stranger = another()
    assert visitor.ask("/api/layout", base).json()["solved"]
    assert stranger.ask("/api/layout", base).status_code == 404
    assert stranger.ask("/api/download", {**base, "what": "scenario"}).status_code == 404
    assert [one["id"] for one in visitor.get("/api/start").json()["scenarios"]] == [name]
    assert stranger.get("/api/start").json()["scenarios"] == []
    batch = visitor.send("/api/recordings", b"x", x_name="a").json()["batch"]
    assert stranger.ask("/api/import", {"batch": batch}).status_code == 404
    assert stranger.send(f"/api/recordings?batch={batch}", b"x", x_name="a").status_code == 404


@pytest.mark.parametrize(
    "content", [b"name = 3\n[[partition", b"\xff\x00", b"", b"name = 'x'", 4000 * b"a = ["]
)
def test_a_damaged_scenario_is_refused_and_goes(visitor: Any, content: bytes) -> None:
    told = visitor.send("/api/upload", content, **TOML)
    assert told.status_code == 400
    assert told.json()["error"]["message"]
    assert tempfile.gettempdir() not in told.text
    assert held(visitor) == []


def test_a_file_is_called_as_its_owner_calls_it(visitor: Any) -> None:
    told = visitor.send("/api/upload", b"[machine", **TOML, x_name="my%20%C3%A4/frame%201.toml")
    assert told.json()["error"]["where"].startswith("frame 1.toml:1")


def test_a_recording_that_is_none_is_told_with_what_is_read(visitor: Any) -> None:
    batch = visitor.send("/api/recordings", b"\0\1" * 99, x_name="noise%20.bin").json()["batch"]
    event, told = visitor.ended("/api/import", {"batch": batch})
    assert (event, told["error"]["where"]) == ("failed", "noise_.bin")
    assert "what is read is" in told["error"]["next_step"]


def test_gaps_of_recordings_are_told_with_their_times(visitor: Any) -> None:
    lines = NMON.read_text().splitlines(keepends=True)
    late = next(at for at, line in enumerate(lines) if line.startswith("ZZZZ,T0002"))
    begin = NMON.read_text().partition("ZZZZ,T0002,")[2][:8]
    moved = f"{int(begin[:2]) + 1:02}{begin[2:]}"
    lines[late] = lines[late].replace(begin, moved)
    content = "".join(lines).encode()
    batch = visitor.send("/api/recordings", content, x_name="a.nmon").json()["batch"]
    event, told = visitor.ended("/api/import", {"batch": batch})
    assert event == "done"
    (gap,) = told["result"]["gaps"]
    assert gap["from"] < gap["to"]


def test_a_layout_is_whole_before_its_windows_are_played_and_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "batch").mkdir()
    shutil.copy(NMON, tmp_path / "batch")
    monkeypatch.chdir(tmp_path / "batch")
    path = tmp_path / "made" / "scenario.toml"
    told: list[tuple[dict[str, Any], dict[str, Any]]] = []
    shown = lambda: layouts.answer(str(path), {})  # noqa: E731 - asked twice, at two times
    monkeypatch.setattr(child, "_tell", lambda line: told.append((line["early"], shown())))
    asked = {"folder": str(tmp_path / "batch"), "target": str(path.parent), "unpacked": 1 << 30}
    result = child._import(asked, lambda *_: None)
    ((early, before),) = told
    after = shown()
    assert "not been played" in before["question"]
    assert after["question"] is None
    assert (before["fields"], before["moves"]) == (after["fields"], after["moves"])
    assert early["gaps"] == result["gaps"]
    assert early["tables"] == result["tables"]
    assert early["tables"][0]["rows"][0][3] > 1  # samples
    assert path.read_text() == import_paths([Path()]).text


def test_what_is_read_is_told_before_the_end(visitor: Any) -> None:
    batch = visitor.send("/api/recordings", NMON.read_bytes(), x_name="a.nmon").json()["batch"]
    job = visitor.ask("/api/import", {"batch": batch}).json()["job"]
    visitor.ended_of(job)
    late = visitor.get(f"/api/jobs/{job}/events").text
    kinds = [line for line in late.splitlines() if line.startswith("event:")]
    assert kinds == ["event: early", "event: done"]
    data = [json.loads(line[6:]) for line in late.splitlines() if line.startswith("data: ")]
    scenario = data[0]["scenario"]
    assert scenario == data[1]["result"]["scenario"]
    shown = visitor.ask("/api/layout", {"base": f"scenario:{scenario}", "edits": {}}).json()
    assert shown["question"] is None
    assert [one["id"] for one in visitor.get("/api/start").json()["scenarios"]] == [scenario]


def test_a_scenario_that_names_a_file_of_the_server_is_refused(visitor: Any, small: bytes) -> None:
    for name in ("/etc/passwd", "../../../etc/passwd", "../scenario.toml"):
        told = visitor.send("/api/upload", small.replace(b"oltp", name.encode()), **TOML)
        assert told.status_code == 400
        assert "lies elsewhere" in told.json()["error"]["message"]
    assert held(visitor) == []


@pytest.mark.parametrize("name", ["../../x", "/etc/passwd", "..", ".", "", 300 * "a", "\xe4 b"])
def test_a_recording_lies_under_a_name_of_the_server(visitor: Any, name: str) -> None:
    told = visitor.client.post(
        "/api/recordings",
        content=b"zzz",
        headers={
            **visitor.headers,
            "content-type": "application/octet-stream",
            "x-name": name.encode("latin-1"),
        },
    )
    assert told.status_code == 200
    (path,) = held(visitor)
    assert path.parent.name == told.json()["batch"]
    assert path.read_bytes() == b"zzz"


def test_two_recordings_of_one_name_both_stay(visitor: Any) -> None:
    batch = visitor.send("/api/recordings", b"1", x_name="a").json()["batch"]
    visitor.send(f"/api/recordings?batch={batch}", b"2", x_name="a")
    assert {path.read_bytes() for path in held(visitor)} == {b"1", b"2"}


def test_what_is_no_recording_is_said(visitor: Any) -> None:
    batch = visitor.send("/api/recordings", b"zzz", x_name="a.nmon").json()
    event, told = visitor.ended("/api/import", batch)
    assert event == "failed"
    assert "zzz" in told["error"]["message"]
    assert tempfile.gettempdir() not in str(told)


def test_a_recording_is_told_of_by_its_own_name(visitor: Any, tmp_path: Path) -> None:
    """In the page and in the layout that is handed out, which stands alone with its file."""
    batch = visitor.send("/api/recordings", NMON.read_bytes(), x_name=NMON.name).json()
    event, told = visitor.ended("/api/import", batch)
    assert event == "done"
    taken = {one["title"]: one for one in told["result"]["tables"]}["What was taken"]
    assert taken["rows"][0][0] == NMON.name
    asked = {"base": f"scenario:{told['result']['scenario']}", "what": "scenario"}
    archive = zipfile.ZipFile(io.BytesIO(visitor.ask("/api/download", asked).content))
    assert archive.testzip() is None
    archive.extractall(tmp_path)
    (path,) = tmp_path.glob("*/*.toml")
    text = path.read_text()
    assert f"# {NMON.name}:" in text
    assert tempfile.gettempdir() not in text + str(told)
    assert [one["name"] for one in Scenario.load(path).spec()["partitions"]] == ["oak1"]


BOUNDS = {
    "a recording": ("MOST_BYTES", 1000),
    "of a visitor": ("MOST_OF_VISITOR", 1000),
    "of all": ("MOST_OF_ALL", 1000),
    "files": ("MOST_COUNT", 0),
}


@pytest.mark.parametrize("what", BOUNDS)
def test_what_is_too_much_is_refused_and_goes(
    visitor: Any, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    with monkeypatch.context() as bounds:
        bounds.setattr(workspace, *BOUNDS[what])
        told = visitor.send("/api/recordings", 2000 * b"x", x_name="a")
    assert told.status_code == 413
    assert held(visitor) == []
    assert visitor.send("/api/recordings", 2000 * b"x", x_name="a").status_code == 200


def test_a_scenario_is_bounded_more_narrowly(visitor: Any) -> None:
    content = b"#" * (workspace.MOST_OF_SCENARIO + 1)
    assert visitor.send("/api/upload", content, **TOML).status_code == 413
    assert held(visitor) == []


def test_more_files_than_a_batch_holds_are_refused(
    visitor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workspace, "MOST_FILES", 1)
    batch = visitor.send("/api/recordings", b"1", x_name="a").json()["batch"]
    told = visitor.send(f"/api/recordings?batch={batch}", b"2", x_name="b")
    assert told.status_code == 413
    assert "archive" in told.json()["error"]["next_step"]


def test_what_takes_too_long_to_come_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workspace, "MOST_S", 0.01)

    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b"x"
            await asyncio.sleep(0.001)

    place = workspace.Workspace(tmp_path)
    with pytest.raises(RefusedError) as told:
        asyncio.run(place.recording("visitor", None, "a", endless()))
    place.close()
    assert told.value.status == 408


def test_all_that_was_brought_goes_with_the_server(tmp_path: Path) -> None:
    place = workspace.Workspace(tmp_path)
    folder = place.new_folder("visitor")
    folder.mkdir()
    place.close()
    assert not folder.parent.exists()
