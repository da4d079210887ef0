"""`homenode vparstatus`, `parstatus` and `import` as they are typed."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from cells import NO_MONITOR, TWO_CELLS
from homenode.cli import call
from homenode.model.catalog.names import machine_document
from homenode.model.scenario import Scenario
from homenode.tools import parstatus, vparstatus


@pytest.fixture(autouse=True)
def layout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with a scenario in it."""
    monkeypatch.chdir(tmp_path)
    Path("oak.toml").write_text(TWO_CELLS)


def homenode(capsys: pytest.CaptureFixture[str], line: str) -> tuple[int, str, str]:
    code = call(shlex.split(line))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_listings_of_a_scenario(capsys: pytest.CaptureFixture[str]) -> None:
    resolved = Scenario.load("oak.toml").resolved
    for line, shown in {
        "vparstatus oak.toml": vparstatus.render(resolved),
        "vparstatus oak.toml -v -p sap": vparstatus.render(resolved, "v", ["sap"]),
        "vparstatus oak.toml -M": vparstatus.render(resolved, "M"),
        "parstatus oak.toml": parstatus.render(resolved, parstatus.SECTIONS),
        "parstatus oak.toml -C": parstatus.render(resolved),
        "parstatus oak.toml -V -c 1": parstatus.render(resolved, (parstatus.DETAILS,), 1),
        "parstatus oak.toml -P": parstatus.render(resolved, (parstatus.PARTITIONS,)),
    }.items():
        assert homenode(capsys, line) == (0, shown, "")
    code, shown, _ = homenode(capsys, "vparstatus oak.toml -v --json")
    assert (code, json.loads(shown)) == (0, vparstatus.listing(resolved, "v"))
    code, shown, _ = homenode(capsys, "parstatus oak.toml -C --json")
    assert (code, json.loads(shown)) == (0, parstatus.listing(resolved))


def test_a_run_shows_the_layout_it_was_made_of(capsys: pytest.CaptureFixture[str]) -> None:
    text = Path("oak.toml").read_text()
    Path("oak.toml").write_text(
        f'{text}\n[run]\nwarmup = "0 s"\nduration = "100 ms"\nreplications = 1\n'
    )
    assert homenode(capsys, "run oak.toml")[0] == 0
    Path("oak.toml").unlink()
    resolved = Scenario.from_toml(text).resolved
    for line in ("vparstatus -M", "vparstatus oak -M"):
        assert homenode(capsys, line) == (0, vparstatus.render(resolved, "M"), "")


def test_what_cannot_be_shown(capsys: pytest.CaptureFixture[str]) -> None:
    Path("elm.toml").write_text(NO_MONITOR)
    for line, message in {
        "vparstatus oak.toml -v -M": "vparstatus: -v and -M exclude each other: leave one out",
        "vparstatus oak.toml -p jbc": (
            "vparstatus: there is no virtual partition jbc; did you mean jbb?"
        ),
        "vparstatus elm.toml": (
            "vparstatus: no monitor of virtual partitions runs (vpars = false): "
            "`homenode parstatus -C` shows the cells"
        ),
        "parstatus oak.toml -c 1": "parstatus: -c needs -V: write parstatus -V -c 1",
        "parstatus oak.toml -V -c 7": "parstatus: cell 7 is absent: there are 0, 1",
        "vparstatus ash": (
            "there is no run ash: runs holds none; make one with `homenode run SCENARIO`: "
            "a scenario file, whose name ends in .toml, can be shown without a run"
        ),
    }.items():
        assert homenode(capsys, line) == (2, "", f"homenode: {message}\n")


def test_import_writes_a_scenario(capsys: pytest.CaptureFixture[str]) -> None:
    Path("v.txt").write_text(homenode(capsys, "vparstatus oak.toml -v")[1])
    Path("c.txt").write_text(homenode(capsys, "parstatus oak.toml")[1])
    code, shown, said = homenode(capsys, "import v.txt c.txt -o new.toml")
    assert (code, shown) == (0, "")
    assert said.splitlines() == [
        "took: v.txt: vparstatus -v: 2 virtual partitions",
        "took: c.txt: parstatus: 2 cells",
        (
            "note: cell-local memory of oak is not told: what its virtual partitions have of it is "
            "assumed; parstatus -V -c CELL would tell"
        ),
        (
            "note: a listing says nothing of the work: every core runs an endless loop of the "
            "profile compute; write your own workloads"
        ),
        "new.toml: 2 partitions of HP Integrity rx7640",
    ]
    assert homenode(capsys, "vparstatus new.toml -v")[1] == Path("v.txt").read_text()
    code, shown, _ = homenode(capsys, "import v.txt c.txt")
    assert (code, shown) == (0, Path("new.toml").read_text())
    code, shown, said = homenode(capsys, "import v.txt c.txt -o new.toml")
    refused = "homenode: new.toml is there already: name another file with -o"
    assert (code, said.splitlines()[-1]) == (2, refused)
    code, shown, _ = homenode(capsys, "import v.txt c.txt --json -o other.toml")
    summary = json.loads(shown)
    assert (code, summary["scenario"], summary["machine"]) == (0, "other.toml", "hp-rx7640")
    assert summary["text"] == Path("other.toml").read_text()


def test_nothing_is_written_of_what_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    text = homenode(capsys, "vparstatus oak.toml -v")[1]
    Path("v.txt").write_text(text[: text.rindex("CLM (CellID")])
    code, shown, said = homenode(capsys, "import v.txt -o new.toml")
    assert (code, shown) == (2, "")
    assert said.splitlines()[-1] == (
        'homenode: v.txt:71: sap has no "CLM (CellID MB)"; copy all that the tool printed'
    )
    assert sorted(entry.name for entry in Path().iterdir()) == ["oak.toml", "v.txt"]


def test_a_machine_file_stands_beside_the_scenario_of_listings(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = machine_document("hp-rx7640").text
    Path("mine.toml").write_text(text.replace('"HP Integrity rx7640"', '"My own rx7640"'))
    Path("v.txt").write_text(homenode(capsys, "vparstatus oak.toml -v")[1])
    code, _, said = homenode(capsys, "import v.txt --machine mine.toml -o made")
    told = "made/scenario.toml: 2 partitions of My own rx7640"
    assert (code, said.splitlines()[-1]) == (0, told)
    assert Scenario.load("made/scenario.toml").machine.title == "My own rx7640"
