"""The commands: what they print and how they end when something is wrong."""

from __future__ import annotations

import errno
import itertools
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import standins
from homenode.cli import call, main

Capture = pytest.CaptureFixture[str]
Write = Callable[[str, str], Path]


@pytest.fixture(autouse=True)
def scenarios(fake: ModuleType, files: Write) -> ModuleType:
    files("apart.toml", standins.APART)
    files("together.toml", standins.TOGETHER)
    files("tipped.toml", standins.TIPPED)
    return fake


def answer(capsys: Capture, *arguments: str) -> str:
    """Stdout of a command that must succeed."""
    assert call(list(arguments)) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def refusal(capsys: Capture, *arguments: str, code: int = 2) -> str:
    """The message of a command that must fail: on stderr, no traceback, nothing on stdout."""
    assert call(list(arguments)) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("homenode: ")
    assert "Traceback" not in err
    return err


def test_run_prints_figures_and_keeps_the_run(capsys: Capture) -> None:
    out = answer(capsys, "run", "apart.toml")
    assert "9.01 ± " in out
    assert "900.0 ± 0.0" in out
    assert len(list(Path("runs").iterdir())) == 1


def test_run_json_has_the_agreed_form(capsys: Capture) -> None:
    told = json.loads(answer(capsys, "run", "apart.toml", "--json", "--replications", "3"))
    assert set(told) == {"run", "partitions", "machine", "steady", "frame"}
    physc = told["partitions"]["one"]["physc"]
    assert set(physc) == {"mean", "ci95"}
    assert told["machine"]["pools"]["DefaultPool"]["cores"] == 64
    assert told["frame"]["used"]["mean"] == pytest.approx(
        sum(one["physc"]["mean"] for one in told["partitions"].values())
    )


def test_no_steady_state_is_said_with_its_reason(capsys: Capture) -> None:
    out = answer(capsys, "run", "tipped.toml")
    assert "no steady state" in out
    assert "have no mean: two: all 5 virtual processors are always busy." in out
    assert "50.00" in out.splitlines()[-3]  # partition one still has its response
    told = json.loads(answer(capsys, "run", "tipped.toml", "--json"))
    assert told["partitions"]["two"]["etr_per_s"]["mean"] is None
    assert told["steady"]["two"]["is_steady"] is False


def test_explain_one_all_and_two(capsys: Capture) -> None:
    answer(capsys, "run", "apart.toml")
    answer(capsys, "run", "together.toml")
    assert "one uses 9.01 cores for 900" in answer(capsys, "explain", "apart:one")
    assert answer(capsys, "explain", "apart").count("Where the cores of") == 2
    out = answer(capsys, "explain", "apart:one", "together:three", "--picture", "w.svg")
    assert "+1.94" in out
    assert "Move one: four" in out.replace("\n", " ")
    assert Path("w.svg").read_text().startswith("<svg")
    told = json.loads(answer(capsys, "explain", "apart:one", "together:three", "--json"))
    assert told["total"]["difference"] == 1.94
    assert sum(row["difference"] for row in told["rows"]) == pytest.approx(1.94)


def test_explain_by_cycles(capsys: Capture) -> None:
    answer(capsys, "run", "apart.toml")
    answer(capsys, "run", "together.toml")
    out = answer(capsys, "explain", "apart:one", "--by", "cpi", "--picture", "c.svg")
    assert "one takes 2.000 cycles an instruction (0.500 ns at 4 GHz)" in out
    assert "cycles an instruction" in Path("c.svg").read_text()
    told = json.loads(
        answer(capsys, "explain", "apart:one", "together:three", "--by", "cpi", "--json")
    )
    assert (told["by"], told["total"]["cpi"], told["total"]["difference"]) == ("cpi", 2.0, 0.0)
    assert "'cores', 'cpi'" in refusal(capsys, "explain", "apart:one", "--by", "cip")


def test_runs_and_sql(capsys: Capture) -> None:
    assert answer(capsys, "runs") == ""
    answer(capsys, "run", "apart.toml")
    assert "apart-" in answer(capsys, "runs")
    assert json.loads(answer(capsys, "runs", "--json"))[0]["scenario"] == "apart"
    assert "changed" not in answer(capsys, "runs"), "it was run as it was read"
    question = "SELECT partition, mean FROM summary WHERE metric = 'far_share' ORDER BY 1"
    told = json.loads(answer(capsys, "sql", question, "--json"))
    assert told == [{"partition": "one", "mean": 0.0}, {"partition": "two", "mean": 0.0}]
    assert "partition" in answer(capsys, "sql", question, "-r", "apart")


def test_help_and_version_need_no_engine(capsys: Capture) -> None:
    for arguments in (["--help"], ["run", "--help"], ["study", "--help"]):
        assert "Usage: homenode" in answer(capsys, *arguments)
    assert answer(capsys, "--version").startswith("homenode ")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["explain", "latest"], "runs holds none; make one with `homenode run SCENARIO`"),
        (["study"], "name a study"),
        (["study", "nothing", "--all"], "name a study"),
        (["study", "no-such-study"], "there is no study no-such-study"),
        (["run"], "Missing argument"),
        (["run", "apart.toml", "--seed", "much"], "much"),
        (["run", "apart.toml", "--seed", "-1"], "seed -1 is out of range"),
        (["run", "apart.toml", "-n", "0"], "0"),
        (["rum"], "No such command 'rum'"),
        (["sql", "SELECT 1"], "holds no run"),
        (["machines", "ibm-power-975"], "did you mean"),
    ],
)
def test_wrong_input_is_one_message_and_code_2(
    arguments: list[str], told: str, capsys: Capture
) -> None:
    assert told in refusal(capsys, *arguments)


@pytest.mark.parametrize(
    "words",
    [
        ["measure", "{}"],
        ["measure", "ab", "{}"],
        ["calibrate", "{}", "--rate", "3/s"],
        ["calibrate", "apart.toml", "--rate", "{}"],
    ],
)
def test_words_too_long_for_a_file_are_no_fault_of_ours(capsys: Capture, words: list[str]) -> None:
    long = "x" * 300
    err = refusal(capsys, *(word.format(long) for word in words))
    assert "is too long for" in err or "is not a rate" in err


def test_a_run_that_is_not_there_names_the_nearest(capsys: Capture) -> None:
    answer(capsys, "run", "apart.toml")
    [run] = Path("runs").glob("apart-*")
    near = run.name.replace("apart", "apert")
    assert "did you mean apart-" in refusal(capsys, "explain", near)
    assert "no partition onne; did you mean one?" in refusal(capsys, "explain", "apart:onne")


def test_ctrl_c_shows_what_was_kept(
    scenarios: ModuleType, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    from homenode.simulate.runner import simulate

    scenarios.STANDS_IN = 1
    look_on = simulate._look_on

    def interrupted(*arguments: object) -> None:
        def progress(share: float, _left: float | None) -> None:
            if share > 0.25:
                raise KeyboardInterrupt

        look_on(arguments[0], arguments[1], progress)  # type: ignore[arg-type]

    monkeypatch.setattr(simulate, "_look_on", interrupted)
    assert call(["run", "apart.toml", "-n", "4", "-j", "1"]) == 130
    out, err = capsys.readouterr()
    assert "physc" in out
    assert "interrupted: 1 of 4 replications had finished; kept as apart-" in err


def test_our_own_errors_are_one_line_and_code_70(
    scenarios: ModuleType, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    class PanicError(BaseException):
        """As the engine's panics, no Exception."""

    def panic(*_: object) -> str:
        raise PanicError("a core's books do not add up\nseed 1")

    monkeypatch.setattr(scenarios, "simulate", panic)
    monkeypatch.delenv("HOMENODE_DEBUG", raising=False)
    err = refusal(capsys, "run", "apart.toml", code=70)
    assert "internal error: PanicError: a core's books do not add up seed 1; " in err
    assert "please report" in err
    assert err.count("\n") == 1
    assert list(Path("runs").iterdir()) == []
    monkeypatch.setenv("HOMENODE_DEBUG", "1")
    assert call(["run", "apart.toml"]) == 70
    assert "Traceback" in capsys.readouterr().err


def test_shipped_machines_are_listed_with_their_sources(capsys: Capture) -> None:
    assert "ibm-power-795" in answer(capsys, "machines")
    assert "source:" in answer(capsys, "machines", "ibm-power-795")
    figures = json.loads(answer(capsys, "machines", "ibm-power-795", "--json"))["figures"]
    assert figures["clock"]["value"] == "4.004 GHz"
    assert all(f["range"] for f in figures.values() if f["provenance"] == "assumed")
    assert isinstance(json.loads(answer(capsys, "profiles", "--json")), list)


def test_output_that_cannot_be_written_is_one_message(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer(capsys, "run", "apart.toml")

    def full(_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("homenode.cli.run.show_json", full)
    monkeypatch.setattr("homenode.cli._drop_output", lambda: None)
    told = refusal(capsys, "runs", "--json")
    assert "the output cannot be written: No space left on device; free some space" in told


def test_a_closed_stdout_is_no_error(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    answer(capsys, "run", "apart.toml")
    with monkeypatch.context() as until_here:  # or it would outlast the capturing
        until_here.setattr(sys, "stdout", None)
        assert call(["runs"]) == 0
        sys.stdout.close()


def test_ctrl_c_before_a_command_begins(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("homenode.cli.call", interrupted)
    with pytest.raises(SystemExit, match="130"):
        main(["runs"])
    assert capsys.readouterr().err == "homenode: interrupted\n"


def test_a_damaged_folder_is_told_beside_the_list(capsys: Capture) -> None:
    answer(capsys, "run", "apart.toml")
    (folder,) = Path("runs").iterdir()
    (folder / "spec.json").write_text("{")
    assert call(["runs"]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("left out: ")
    assert "spec.json is damaged" in err


def test_a_tool_without_its_partition_says_how_to_name_one(capsys: Capture) -> None:
    answer(capsys, "run", "apart.toml")
    assert "write -p one" in refusal(capsys, "lparstat")
    assert "name another run with -r" in refusal(capsys, "lparstat", "-p", "three")


def test_sql_answers_of_any_kind_are_json(capsys: Capture) -> None:
    answer(capsys, "run", "apart.toml")
    question = (
        "SELECT DATE '2026-01-02' AS day, 'nan'::DOUBLE AS none, [1, 2] AS list, "
        "1.5::DECIMAL(4, 2) AS d"
    )
    (row,) = json.loads(answer(capsys, "sql", question, "--json"))
    assert row == {"day": "2026-01-02", "none": None, "list": [1, 2], "d": "1.50"}
    assert "cast it" in refusal(capsys, "sql", "SELECT INTERVAL 1 DAY AS i")


def test_a_sweep_that_is_stopped_says_what_it_kept(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    from homenode.simulate import runner

    monkeypatch.setattr(standins.SmallScenario, "expand", lambda self: [self] * 3)
    points = itertools.count()
    run_scenario = runner.run_scenario

    def stopped_at_the_second(*given: Any, **options: Any) -> Any:
        if next(points):
            raise runner.InterruptedRun(None, 0, 2)
        return run_scenario(*given, **options)

    monkeypatch.setattr(runner, "run_scenario", stopped_at_the_second)
    assert call(["run", "apart.toml", "--json"]) == 130
    out, err = capsys.readouterr()
    (only,) = json.loads(out)["runs"]
    assert f"nothing to keep; complete before: {only['run']}" in err


def test_what_is_looked_for_has_no_table_of_points(capsys: Capture) -> None:
    told = refusal(capsys, "run", "apart.toml", "--find", "users", "--csv")
    assert "have no meaning for what is looked for" in told
