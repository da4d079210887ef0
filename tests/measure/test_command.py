"""`homenode measure` as a person types it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import fake_adapter
import pytest
from fake_adapter import SPIN, row, write_suite

from homenode.cli import call
from homenode.hosts.live import packages

Answer = tuple[int, str, str]
Type = Callable[..., Answer]


@pytest.fixture
def homenode_here(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Type:
    """Call the command line in this process, which knows the fake adapter."""
    fake_adapter.register(monkeypatch)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)

    def typed(*words: str | Path) -> Answer:
        code = call([str(word) for word in words])
        said = capsys.readouterr()
        return code, said.out, said.err

    return typed


def test_a_suite_prints_its_table_and_keeps_its_file(homenode_here: Type, tmp_path: Path) -> None:
    suite = write_suite(tmp_path, row("one", "print(10)"), row("two", "print(20)"))
    code, out, err = homenode_here("measure", suite, "--gate", "off", "-o", "r.json")
    assert (code, err.count("kept in r.json")) == (0, 1)
    assert "fake/one" in out
    assert "things/s" in out
    again = homenode_here("measure", "show", "r.json")
    assert again[1] == out
    data = json.loads((tmp_path / "r.json").read_text())
    assert data["suite"]["name"] == "fakes"
    assert len(data["records"]) == 4


def test_options_take_the_place_of_the_suites(homenode_here: Type, tmp_path: Path) -> None:
    suite = write_suite(tmp_path, row("one", "print(10)"), row("two", "print(20)"))
    words = ("--only", "fake/two", "--repeats", "1", "--seconds", "0.2", "--processors", "1")
    code, _, _ = homenode_here("measure", *words, "--gate", "off", suite, "-o", "r.json")
    assert code == 0
    data = json.loads((tmp_path / "r.json").read_text())
    (record,) = data["records"]
    assert (record["case"], record["processors"]) == ("fake/two", 1)
    assert data["cases"]["fake/two"]["seconds"] == 0.2


def test_json_is_nothing_but_json(homenode_here: Type, tmp_path: Path) -> None:
    suite = write_suite(tmp_path, row("one", "print(10)"))
    words = ("--gate", "off", "--json", "--anonymous", "-o", "r.json")
    code, out, _ = homenode_here("measure", suite, *words)
    assert code == 0
    assert json.loads(out)
    data = json.loads((tmp_path / "r.json").read_text())
    assert "host" not in data["environment"]


def test_two_settings_are_compared(homenode_here: Type, tmp_path: Path) -> None:
    code = "import os; print(os.environ['N'])"
    suite = write_suite(tmp_path, row("one", code), defaults="repeats = 6\nseconds = 0.1")
    sides = ("--a", "env=N=100", "--b", "env=N=900", "--gate", "off", "-o", "ab.json")
    exit_code, out, err = homenode_here("measure", "ab", suite, *sides)
    assert exit_code == 0, err
    assert "fake/one" in out
    assert homenode_here("measure", "show", "ab.json")[1] == out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("linux-quik",), "did you mean linux-quick?"),
        (("fakes.toml", "--only", "fake/thre"), "no fake/thre"),
        (("fakes.toml", "--gate", "loud"), "--gate loud"),
        (("fakes.toml", "--gate", "0"), "--gate 0 makes no sense"),
        (("fakes.toml", "--gate", "3%,stolen=5%"), "--gate 3%,stolen=5% makes no sense"),
        (("fakes.toml", "--processors", "1,x"), "x is not a plain whole number"),
        (("fakes.toml", "-o", "r.csv"), "ends in .json"),
        (("fakes.toml", "--repeats", "0"), "--repeats"),
        (("ab", "fakes.toml", "--a", "wait=1"), "known are cpus, weight"),
        (("fakes.toml", "--seconds", "inf"), "--seconds inf makes no sense"),
        (("fakes.toml", "-o", "/proc/x.json"), "nothing can be written to /proc"),
        (("validate", "-o", "/proc/no/x.json"), "nothing can be written"),
        (("show", "none.json"), "cannot be read"),
        (("comapre", "a.json", "b.json"), "did you mean compare?"),
        (("adapters", "fakee"), "did you mean fake?"),
        (("fakes.tml",), "did you mean fakes.toml?"),
        (("fakes.toml", "--only", ","), "names nothing"),
        (("fakes.toml", "--system", " "), "is no name for a host"),
        (("show", "fakes.toml"), "is not JSON"),
        (("list", "nothing"), "there is no suite nothing"),
        (("fakes.toml", "--folder", "/proc/none"), "no folder can be made"),
    ],
)
def test_wrong_words_get_one_message(
    homenode_here: Type, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    write_suite(tmp_path, row("one", "print(1)"))
    code, out, err = homenode_here("measure", *words)
    assert (code, out) == (2, "")
    assert message in err
    assert err.startswith("homenode: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    assert {file.name for file in tmp_path.iterdir()} <= {"fakes.toml", "cache"}


def test_suites_and_their_cases_are_listed(homenode_here: Type, tmp_path: Path) -> None:
    code, out, _ = homenode_here("measure", "list", "--json")
    assert code == 0
    assert {"linux-quick", "linux-full"} <= {suite["suite"] for suite in json.loads(out)}
    suite = write_suite(tmp_path, row("one", "print(1)", load=3))
    code, out, _ = homenode_here("measure", "list", suite, "--json")
    (case,) = json.loads(out)["cases"]
    assert (case["case"], case["load"], case["unit"]) == ("fake/one", 3.0, "things/s")
    assert "fake/one" in homenode_here("measure", "list", suite)[1]


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (["repeats = 3\nseconds = 5"], "1 case, 3 repetitions: 15 s are asked for"),
        (
            ["repeats = 3\nseconds = 50", "repeats = 1\nseconds = 7\nprocessors = [1, 2]"],
            "2 cases, 5 repetitions: 2 min 44 s are asked for",
        ),
        (["repeats = 100\nseconds = 50"], "1 case, 100 repetitions: 1 h 23 min are asked for"),
    ],
)
def test_a_list_says_how_long_the_suite_takes_at_least(
    homenode_here: Type, tmp_path: Path, rows: list[str], told: str
) -> None:
    bodies = (row(f"c{number}", "print(1)", extra) for number, extra in enumerate(rows))
    suite = write_suite(tmp_path, *bodies)
    assert told in homenode_here("measure", "list", suite)[1]


def test_missing_tools_are_told_with_the_line_that_brings_them(
    homenode_here: Type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = write_suite(
        tmp_path,
        row("one", "print(1)", needs="no-such-tool"),
        row("two", "print(1)", needs="no-such-plug", plug_in=True),
    )
    code, out, _ = homenode_here("measure", "tools", suite)
    assert code == 0
    line = "To have all: apt-get install --no-install-recommends no-such-tool-package"
    assert line in out
    assert "no-such-plug-package" not in out.split("To have all")[1]
    asked: list[str] = []

    def install(wanted: list[tuple[object, object]]) -> list[str]:
        asked.extend(need.package for _, need in wanted)  # type: ignore[attr-defined]
        return ["done"]

    monkeypatch.setattr(packages, "install", install)
    code, out, err = homenode_here("measure", "tools", suite, "--install", "--json")
    assert (code, err) == (0, "done\n")
    assert asked == ["no-such-tool-package"]
    there = {tool["program"]: tool["there"] for tool in json.loads(out)}
    assert there == {"python3": True, "no-such-tool": False, "no-such-plug": False}


def test_settings_are_repeated_until_ranks_can_decide(homenode_here: Type, tmp_path: Path) -> None:
    """The suite asks for 2, of which nothing could ever be decided."""
    suite = write_suite(tmp_path, row("one", "print(1)"), defaults="repeats = 2\nseconds = 0.01")
    words = ("ab", suite, "--gate", "off", "-o", "ab.json")
    code, out, err = homenode_here("measure", *words)
    assert code == 0, err
    assert "8 pairs of each case: 6 are the fewest that can decide" in err
    assert "Both sides were set alike" in out
    assert len(json.loads((tmp_path / "ab.json").read_text())["records"]) == 16
    code, _, err = homenode_here("measure", *words, "--repeats", "1")
    assert (code, "it takes 6 pairs at least" in err) == (0, True)


def test_a_load_by_the_processors_is_measured_so(homenode_here: Type, tmp_path: Path) -> None:
    suite = write_suite(tmp_path, row("one", "print(10)", "load_per_processor = 3"))
    words = ("--processors", "1", "--gate", "off", "-o", "r.json")
    assert homenode_here("measure", suite, *words)[0] == 0
    data = json.loads((tmp_path / "r.json").read_text())
    assert {(r["processors"], r["load"]) for r in data["records"]} == {(1, 3.0)}
    assert data["settings"]["processors"] == [1]
    assert data["cases"]["fake/one"]["load_per_processor"] == 3
    code, _, err = homenode_here("measure", "ab", suite, "--a", "cpus=0", "--b", "cpus=0", *words)
    assert (code, "leave one of them out" in err) == (2, True)


def test_every_repetition_and_the_parts_of_its_time_can_be_shown(
    homenode_here: Type, tmp_path: Path
) -> None:
    suite = write_suite(tmp_path, row("one", SPIN.format(0.05)), row("two", "print(20)"))
    assert homenode_here("measure", suite, "--gate", "off", "-o", "r.json")[0] == 0
    code, out, _ = homenode_here("measure", "show", "r.json", "--runs", "--only", "fake/two")
    assert code == 0
    assert out.count("fake/two") == 2
    assert "fake/one" not in out
    code, out, _ = homenode_here("measure", "show", "r.json", "--parts")
    assert code == 0
    assert "Where the processor time went" in out
    code, out, _ = homenode_here("measure", "show", "r.json", "--runs", "--json")
    assert [run["order"] for run in json.loads(out)] == [0, 1, 2, 3]
    code, _, err = homenode_here("measure", "show", "r.json", "--claim", "5")
    assert (code, "a claim is about two" in err) == (2, True)


def test_what_fails_is_told_beside_the_table(homenode_here: Type, tmp_path: Path) -> None:
    suite = write_suite(
        tmp_path, row("bad", "import sys; sys.exit('out of luck')"), row("good", "print(1)")
    )
    code, out, err = homenode_here("measure", suite, "--gate", "off", "-o", "r.json")
    assert code == 0
    assert "fake/good" in out
    assert "out of luck" in out + err
    assert "2 repetitions, kept in r.json" in err


def test_what_cannot_be_compared_is_kept_and_told(homenode_here: Type, tmp_path: Path) -> None:
    """One side fails always."""
    code = "import os; print(os.environ['N'])"
    suite = write_suite(tmp_path, row("one", code), defaults="repeats = 2\nseconds = 0.1")
    sides = ("--a", "env=N=100", "--b", "env=N=none", "--gate", "off", "-o", "ab.json")
    exit_code, _, err = homenode_here("measure", "ab", suite, *sides)
    assert exit_code == 2
    assert "2 repetitions, kept in ab.json" in err
    code, out, err = homenode_here("measure", "show", "ab.json")
    assert code == 0
    assert "fake/one" in out
    assert "not compared" in err


def test_a_session_that_ends_early_says_so(homenode_here: Type, tmp_path: Path) -> None:
    suite = write_suite(tmp_path, row("one", "print(1)"))
    sides = ("--a", "back=false", "--b", "back=false", "--gate", "off", "-o", "ab.json")
    code, _, err = homenode_here("measure", "ab", suite, *sides)
    assert code == 2
    assert "ended early: the switch `false` failed with code 1" in err
    assert "1 repetition, kept in ab.json" in err
