"""`homenode import` as it is typed: what it says of what it was given."""

from __future__ import annotations

import gzip
import json
import shlex
from pathlib import Path

import polars as pl
import pytest

from cells import TWO_CELLS
from homenode.cli import call
from homenode.model.scenario import Scenario

TEXT = "timestamp,name,cores\n0,a,1\nwhat\n300,a,0.5\n600,a,0.25\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with a recording in it."""
    monkeypatch.chdir(tmp_path)
    Path("site").mkdir()
    Path("site/lab.csv.gz").write_bytes(gzip.compress(TEXT.encode()))
    Path("site/readme").write_text("nothing to see\n")


def homenode(capsys: pytest.CaptureFixture[str], line: str) -> tuple[int, str, list[str]]:
    code = call(shlex.split(line))
    captured = capsys.readouterr()
    return code, captured.out, captured.err.splitlines()


TOLD = [
    "took: site/lab.csv.gz: CSV of samples: 3 samples of 1 partition; 1 not sound, left out",
    'left: site/readme:1: it is of no format that is known; it begins "nothing to see"',
    "note: site/lab.csv.gz:3: 1 values under 3 headings",
]


def test_looking_makes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert homenode(capsys, "import site --look") == (0, "", TOLD)
    code, shown, said = homenode(capsys, "import site --look --json")
    answer = json.loads(shown)
    assert (code, said) == (0, [])
    assert answer["took"][0]["dropped"] == 1
    assert answer["left"][0] == {
        "file": "site/readme",
        "line": 1,
        "why": 'it is of no format that is known; it begins "nothing to see"',
    }
    assert answer["notes"][0]["line"] == 3
    assert [entry.name for entry in Path().iterdir()] == ["site"]


def test_of_many_files_the_first_are_told_and_how_many_there_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for number in range(11):
        Path(f"site/lab{number:02}.csv").write_text(TEXT.replace(",a,", f",a{number},"))
        Path(f"site/other{number:02}").write_text("nothing to see\n")
    _, _, said = homenode(capsys, "import site --look")
    taken = [line for line in said if line.startswith("took: ")]
    left = [line for line in said if line.startswith("left: ")]
    assert len(taken) == len(left) == 11
    assert taken[-1] == "took: 2 more files; --json has all of them"
    assert left[-1] == "left: 2 more files; --json has all of them"
    answer = json.loads(homenode(capsys, "import site --look --json")[1])
    assert (len(answer["took"]), len(answer["left"])) == (12, 12)


def test_an_empty_word_is_no_folder(capsys: pytest.CaptureFixture[str]) -> None:
    code, shown, said = homenode(capsys, "import ''")
    assert (code, shown) == (2, "")
    assert said == ["homenode: word 2 is empty; is a variable of the shell not set?"]


def test_a_scenario_is_made_in_a_folder(capsys: pytest.CaptureFixture[str]) -> None:
    code, shown, said = homenode(capsys, "import site --no-convert")
    assert (code, shown, said[:3]) == (0, "", TOLD)
    assert said[-1].startswith("site-imported/scenario.toml: 1 partition of ")
    made = Scenario.load("site-imported/scenario.toml")
    assert [one.name for one in made.partitions] == ["a"]
    code, _, said = homenode(capsys, "import site --no-convert")
    assert code == 2
    assert said[-1].startswith("homenode: site-imported is there already")
    code, shown, said = homenode(capsys, "import site/lab.csv.gz --no-convert --json")
    answer = json.loads(shown)
    assert (code, said, answer["scenario"]) == (0, [], "lab/scenario.toml")
    assert answer["took"][0]["file"] == "site/lab.csv.gz"


def test_what_cannot_be_made(capsys: pytest.CaptureFixture[str]) -> None:
    Path("oak.toml").write_text(TWO_CELLS)
    Path("v.txt").write_text(homenode(capsys, "vparstatus oak.toml -v")[1])
    for line, message in {
        "import site/readme": 'site/readme:1: it is of no format that is known; it begins "nothing',
        "import site/raedme": "there is no file or folder site/raedme; did you mean readme?",
        "import v.txt site": (
            "v.txt lists virtual partitions of cells, site/lab.csv.gz does not: "
            "give them apart: they make separate scenarios"
        ),
        "import site --step soon": '--step: "soon" is not a time',
        "import site --step '0 s'": "--step: 0 s is no time above 0: write it like '10 ms'",
        "import site --unpacked 3": '--unpacked: "3" has no unit',
    }.items():
        code, shown, said = homenode(capsys, line)
        assert (code, shown) == (2, ""), line
        refused = next(line for line in said if line.startswith("homenode: "))
        assert refused.startswith(f"homenode: {message}"), said


def test_a_folder_of_nothing_names_what_is_read(capsys: pytest.CaptureFixture[str]) -> None:
    Path("none").mkdir()
    code, _, said = homenode(capsys, "import none")
    assert code == 2
    assert said[0].startswith("homenode: there is no file in what was given: what is read is ")
    assert "vparstatus -v or -M" in said[0]
    assert "CSV of samples" in said[0]


def test_listings_in_an_archive_are_read_too(capsys: pytest.CaptureFixture[str]) -> None:
    Path("oak.toml").write_text(TWO_CELLS)
    text = homenode(capsys, "vparstatus oak.toml -v")[1]
    Path("v.txt.gz").write_bytes(gzip.compress(text.encode()))
    code, shown, _ = homenode(capsys, "import v.txt.gz")
    assert code == 0
    assert Scenario.from_toml(shown).partitions[0].name


def test_sections_of_recordings_are_kept_as_tables(capsys: pytest.CaptureFixture[str]) -> None:
    rows = (
        "AAA,progname,nmon",
        "AAA,host,lab",
        "AAA,interval,10",
        "CPU_ALL,CPU Total lab,User%,Sys%,Wait%,Idle%,Busy,CPUs",
        "ZZZZ,T0001,10:00:00,01-MAR-2024",
        "CPU_ALL,T0001,40.0,10.0,0.0,50.0,,4",
        "ZZZZ,T0002,10:00:10,01-MAR-2024",
        "CPU_ALL,T0002,20.0,10.0,0.0,70.0,,4",
    )
    Path("lab.nmon").write_text("\n".join(rows) + "\n")
    code, _, said = homenode(capsys, "import lab.nmon site --tables kept")
    assert (code, len(said)) == (0, 1)
    table = pl.read_parquet("kept/lab.nmon/CPU_ALL.parquet")
    assert table["User%"].to_list() == [40.0, 20.0]
    code, _, said = homenode(capsys, "import site --tables other")
    assert (code, len(said)) == (2, 1)
    assert said[0].endswith(
        "that can be kept as tables: those of Performance Toolkit, njmon, nmon have"
    )
    assert not Path("other").exists()


@pytest.mark.parametrize("count", ["0", "65537", "-2"])
def test_processors_that_no_host_has(capsys: pytest.CaptureFixture[str], count: str) -> None:
    code, _, said = homenode(capsys, f"import recording.nmon --cpus {count}")
    assert code == 2
    assert f"--cpus: {count} is no number of processors" in " ".join(said)
