"""`homenode show`: maps of systems as users have them, and what they must add up to."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from homenode.cli import call
from homenode.report.courses import bars
from homenode.report.machine_map import KEYS, key_of
from systems import FRAME, HOST, MAINFRAME

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

SYSTEMS = {"frame": FRAME, "host": HOST, "mainframe": MAINFRAME}
CELLS = Path(__file__).parents[2] / "examples" / "rx7640-two-vpars.toml"
Ask = Callable[..., str]


@pytest.fixture(scope="module", autouse=True)
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A folder with a run of each system."""
    folder = tmp_path_factory.mktemp("systems")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, text in SYSTEMS.items():
            (folder / f"{name}.toml").write_text(f'name = "{name}"\n{_unnamed(text)}')
            assert call(["run", f"{name}.toml"]) == 0
        yield


def _unnamed(text: str) -> str:
    return text.partition("\n")[2]


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Ask:
    """What a command prints."""

    def asked(*words: str) -> str:
        capsys.readouterr()
        assert call(list(words)) == 0, capsys.readouterr().err
        return capsys.readouterr().out

    return asked


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("which", [*SYSTEMS, "frame.toml", "host.toml", str(CELLS)])
def test_a_map_fits(which: str, columns: int, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    shown = ask("show", which)
    assert max(len(line) for line in shown.splitlines()) <= columns
    assert len(shown.splitlines()) < 60


@pytest.mark.parametrize("which", SYSTEMS)
def test_what_chips_used_is_what_partitions_used(which: str, ask: Ask) -> None:
    told = json.loads(ask("show", which, "--json"))
    parts = sum(one["used"] for one in told["partitions"])
    chips = sum(chip["used"] for node in told["nodes"] for chip in node["chips"])
    assert told["used"] == pytest.approx(chips) == pytest.approx(parts, rel=1e-6)
    assert 0 < told["used"] <= told["capacity"]


@pytest.mark.parametrize("which", [*(f"{name}.toml" for name in SYSTEMS), str(CELLS)])
def test_what_lies_somewhere_is_what_there_is(which: str, ask: Ask) -> None:
    told: dict[str, Any] = json.loads(ask("show", which, "--json"))
    marks = "".join(chip["cores"] for node in told["nodes"] for chip in node["chips"])
    assert len(marks) == told["built_in"]
    assert sum(mark in KEYS for mark in marks) == told["dedicated"]
    assert marks.count("-") == told["built_in"] - told["active"]
    homes = [one for node in told["nodes"] for chip in node["chips"] for one in chip["tenants"]]
    promised = told["dedicated"] + told["entitlement"]
    assert sum(one["entitlement"] for one in homes) == pytest.approx(promised)
    assert sum(node["memory_bytes"] for node in told["nodes"]) == pytest.approx(
        told["memory_bytes"], abs=100
    )
    assert told["free"] == pytest.approx(told["capacity"] - promised)


def test_guests_that_are_alike_share_a_row(ask: Ask) -> None:
    told = json.loads(ask("show", "mainframe.toml", "--json"))
    assert [len(one["names"]) for one in told["guests"]] == [4, 20, 6]
    assert "server1 to server20" in ask("show", "mainframe.toml")


def test_a_picture_shows_the_same(ask: Ask, tmp_path: Path) -> None:
    ask("show", "frame", "--picture", str(tmp_path / "map.json"))
    drawn = json.loads((tmp_path / "map.json").read_text())
    told = json.loads(ask("show", "frame", "--json"))
    rows = drawn["datasets"]["homes"]
    for one in told["partitions"]:
        own = [row for row in rows if row["partition"] == one["partition"]]
        assert sum(row["share of its home"] for row in own) == pytest.approx(1.0)
        assert sum(row["cores"] for row in own) == pytest.approx(one["used"])
        assert sum(row["memory [bytes]"] for row in own) == pytest.approx(
            one["memory_bytes"], abs=100
        )
    ask("show", "mainframe.toml", "--picture", str(tmp_path / "map.svg"))
    assert "IFL" in (tmp_path / "map.svg").read_text()


def test_what_is_not_there_is_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert call(["show", "frme"]) == 2
    assert "there is no run frme" in capsys.readouterr().err
    assert call(["show", "frame", "--picture", str(tmp_path / "map.gif")]) == 2
    assert ".svg, .png" in capsys.readouterr().err


def test_there_are_more_partitions_than_letters() -> None:
    assert [key_of(at) for at in (0, 25, 26, 61, 62)] == ["A", "Z", "a", "9", "#63"]


def test_a_run_over_time_adds_up_to_its_metrics(ask: Ask) -> None:
    told = json.loads(ask("show", "frame", "--over-time", "--replication", "1", "--json"))
    assert told["capacity"] == 120
    assert len(told["seconds"]) == 1
    values = json.loads(ask("sql", BUSY, "-r", "frame", "--json"))
    used = {one["partition"]: one["used"] for one in told["partitions"]}
    for row in values:
        assert sum(used[row["partition"]]) == pytest.approx(row["cores"])
    entitled = {one["partition"]: one["entitled"] for one in told["partitions"]}
    assert entitled["sapdb"] == [12.0]
    assert {pool["pool"]: pool["limited"] for pool in told["pools"]} == {
        "DefaultPool": False,
        "sap": True,
    }


BUSY = (
    "SELECT partition, sum(busy_ns) / 1e9 AS cores FROM partition_intervals WHERE replication = 1 "
    "GROUP BY partition"
)


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("which", SYSTEMS)
def test_a_run_over_time_fits(
    which: str, columns: int, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    shown = ask("show", which, "--over-time")
    assert max(len(line) for line in shown.splitlines()) <= columns
    assert "Response [ms]" in shown


def test_a_run_is_drawn_over_time(ask: Ask, tmp_path: Path) -> None:
    ask("run", "frame.toml", "--picture", str(tmp_path / "run.json"))
    ask("show", "frame", "--over-time", "--picture", str(tmp_path / "show.json"))
    drawn = json.loads((tmp_path / "run.json").read_text())
    assert drawn == json.loads((tmp_path / "show.json").read_text())
    panels = [panel["title"] for panel in drawn["vconcat"][1]["concat"]]
    assert panels == ["oracle1", "sapdb", "sapapp1", "sapapp2", "web", "batch", "test"]
    ask("show", "host", "--over-time", "--picture", str(tmp_path / "host.svg"))
    assert (tmp_path / "host.svg").read_text().startswith("<svg")


def test_a_sweep_is_drawn_a_panel_a_point(ask: Ask, tmp_path: Path) -> None:
    swept = _unnamed(FRAME) + '\n[sweep]\n"partition.web.processors.virtual" = [3, 4]\n'
    Path("swept.toml").write_text(f'name = "swept"\n{swept}', encoding="utf-8")
    kept = json.loads(ask("run", "swept.toml", "--json", "--picture", str(tmp_path / "s.json")))
    drawn = json.loads((tmp_path / "s.json").read_text())
    points, below = drawn["vconcat"]
    assert [panel["title"] for panel in points["concat"]] == ["virtual = 3", "virtual = 4"]
    assert points["resolve"]["scale"] == {"x": "shared", "y": "shared"}
    values = drawn["datasets"]
    for panel, run in zip(points["concat"], kept["runs"], strict=True):
        used = [one["value"] for one in values[panel["layer"][0]["data"]["name"]]]
        told = json.loads(ask("show", run["run"], "--over-time", "--json"))
        # An interval is drawn by its begin and its end; there is one.
        assert sum(used) / 2 == pytest.approx(sum(sum(one["used"]) for one in told["partitions"]))
    assert all(len(values[one["data"]["name"]]) == 2 for one in below["vconcat"])


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["show", "frame.toml", "--over-time"], "only a run goes on over time"),
        (["show", "frame", "--over-time", "--replication", "7"], "no replication 7: it kept 0, 1"),
        (["run", "frame.toml", "--picture", "x.gif"], ".svg, .png"),
        (
            ["run", "frame.toml", "--picture", f"{'x' * 300}.svg"],
            "too long: name another",
        ),
        (["run", "frame.toml", "--picture", "runs"], "runs is a folder: name a file in it"),
    ],
)
def test_what_cannot_be_drawn_is_told(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(words) == 2
    assert told in capsys.readouterr().err


def test_bars_stand_for_parts_of_the_time() -> None:
    assert bars([0.0, 1.0, 2.0, 4.0], 4.0, 10) == " ▂▄█"
    assert bars([2.0, 2.0, 4.0, 4.0], 8.0, 2) == "▂▄"
    assert bars([0.0], 0.0, 5) == " "
