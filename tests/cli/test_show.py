"""`homenode show`: maps of systems as users have them, and what they must add up to."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from homenode.cli import call
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
    spec = json.loads((tmp_path / "map.json").read_text())
    titles = [panel["layer"][0]["encoding"]["x"]["title"] for panel in spec["concat"]]
    assert titles == ["cores", "entitled at home", "memory [GiB]", "cores used"]
    ask("show", "mainframe.toml", "--picture", str(tmp_path / "map.svg"))
    assert "IFL" in (tmp_path / "map.svg").read_text()


def test_what_is_not_there_is_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert call(["show", "frme"]) == 2
    assert "there is no run frme" in capsys.readouterr().err
    assert call(["show", "frame", "--picture", str(tmp_path / "map.gif")]) == 2
    assert ".svg, .png" in capsys.readouterr().err


def test_there_are_more_partitions_than_letters() -> None:
    assert [key_of(at) for at in (0, 25, 26, 61, 62)] == ["A", "Z", "a", "9", "#63"]
