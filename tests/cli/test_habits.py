"""What people expect of any command: -h, -, COLUMNS, completion, a look before a run."""

from __future__ import annotations

import io
import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer

from homenode.cli.app import Commands, app
from homenode.cli.lazy import Entry, Waiting
from homenode.cli.measure.app import Commands as Measuring
from homenode.cli.output import show
from homenode.model import catalog
from homenode.report.tables import plain_table

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

Command = Callable[..., "subprocess.CompletedProcess[str]"]

SHOP = """\
[machine]
model = "ibm-power-795"

[[partition]]
name = "shop"
count = 2
processors = { mode = "shared", entitlement = 3.0, virtual = 30 }
smt = 2
memory = "40 GiB"
home = "book5"
workload = { kind = "transactions", rate = "100/s", profile = "oltp" }

[[partition]]
name = "own"
processors = { mode = "dedicated", cores = 4 }
memory = "8 GiB"
home = "book0.chip0"
workload = { kind = "loops", count = 1, endless = true, profile = "oltp" }

[run]
warmup = "100 ms"
duration = "400 ms"
replications = 2
"""

ENTRIES = [*Commands.entries, *Measuring.entries]


def answer(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stderr
    return done.stdout


def itself(entry: Entry) -> Any:
    return Waiting(entry).itself


def options(entry: Entry) -> dict[str, str]:
    """Flag to parameter of a command."""
    return {flag: one.name for one in itself(entry).params for flag in (*one.opts,)}


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.place)
def test_a_line_of_the_list_begins_the_command_s_own_help(entry: Entry) -> None:
    told = itself(entry).help
    assert told.startswith(entry.line.removesuffix("."))
    assert len(entry.line) <= 56, "it fits beside the longest name in 80 columns"


def test_lists_of_commands_end_in_whole_words(command: Command, monkeypatch: Any) -> None:
    for words in (["-h"], ["measure", "-h"]):
        monkeypatch.setenv("COLUMNS", "80")
        listed = answer(command(*words)).partition("Commands:")[2]
        assert "..." not in listed.replace("a b b a ...", "")
        assert max(map(len, listed.splitlines())) <= 80


def test_h_is_help_everywhere_but_where_it_is_the_tool_s_own(command: Command) -> None:
    for entry in Commands.entries:
        words = [entry.name, "--help" if entry.own_h else "-h"]
        assert answer(command(*words)).startswith(f"Usage: homenode {entry.name}")
    assert [entry.name for entry in Commands.entries if entry.own_h] == ["lparstat", "pidstat"]
    assert "Usage: homenode measure list" in answer(command("measure", "list", "-h"))
    assert "Commands:" in answer(command("measure"))


def test_p_is_the_partition_and_picture_has_another_letter() -> None:
    for entry in ENTRIES:
        flags = options(entry)
        assert flags.get("-p", "partition") in ("partition", "names"), entry.name
        assert flags.get("--picture") == flags.get("-i")


def test_standard_input_is_a_scenario(
    command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f'name = "shop"\n{SHOP}'))
    told = json.loads(answer(command("run", "-", "--json")))
    (tmp_path / "shop.toml").write_text(SHOP, encoding="utf-8")
    assert json.loads(answer(command("run", "shop.toml", "--json"))) == told
    monkeypatch.setattr("sys.stdin", io.StringIO(SHOP.replace("smt = 2", "smt = 9")))
    wrong = command("check", "-")
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("homenode: stdin:8:7: partition shop")


def test_check_shows_the_layout_and_runs_nothing(command: Command, tmp_path: Path) -> None:
    (tmp_path / "shop.toml").write_text(SHOP, encoding="utf-8")
    out = answer(command("check", "shop.toml"))
    assert re.search(r"shop1 +shared +3\.00 +30 +2 +book5 +40 GiB book5", out)
    assert re.search(r"own +dedicated +4\.00 +4 +4 +book0\.chip0", out)
    assert re.search(r"book5 +32 +6\.00 +60\.0 +shop1, shop2", out)
    assert "2 replications of 400 ms after 100 ms, seed 1" in out
    told = json.loads(answer(command("check", "shop.toml", "--json")))
    assert told["places"] == [
        {"place": "book5", "cores": 32, "partitions": ["shop1", "shop2"], "virtual": 60.0,
         "entitlement": 6.0}
    ]  # fmt: skip
    assert [row["cores"] for row in told["partitions"]] == [None, None, [0, 1, 2, 3]]
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    "name",
    [
        "pools-and-dedicated",
        "prsm-three-partitions",
        "linux-groups",
        "esxi-ready-and-costop",
        "rx7640-two-vpars",
        "xen-credit2",
        "sweep-virtual-processors",
    ],
)
def test_check_knows_every_machine(name: str, command: Command, root: Path) -> None:
    told = json.loads(answer(command("check", root / "examples" / f"{name}.toml", "--json")))
    of_pools = sum(row["entitlement"] for row in told["pools"])
    shared = [row for row in told["partitions"] if row["pool"] is not None]
    assert of_pools == pytest.approx(sum(row["entitlement"] for row in shared))
    assert sum(row["virtual"] for row in told["places"]) == pytest.approx(
        sum(row["virtual"] for row in shared)
    )
    assert all(row["memory_bytes"] == sum(row["memory"].values()) for row in told["partitions"])
    assert told["points"] == (6 if "sweep" in name else 1)


def test_check_of_a_host_counts_processors_and_shows_run_queues(
    command: Command, tmp_path: Path, root: Path
) -> None:
    xen = (root / "examples" / "xen-credit2.toml").read_text(encoding="utf-8")
    large = xen.replace("intel-xeon-6240-2s", "amd-epyc-7742-2s").replace("sockets = 1\n", "")
    (tmp_path / "epyc.toml").write_text(large.replace("active_cores = 4", "active_cores = 64"))
    told = json.loads(answer(command("check", "epyc.toml", "--json")))
    assert told["pools"][0]["cores"] == told["threads"] * told["active_cores"] == 128
    assert {row["cores"] for row in told["places"]} == {64}
    # Of each socket 32 cores, in queues of at most sixteen threads.
    sizes = [row["last"] - row["first"] + 1 for row in told["queues"]]
    assert sum(sizes) == 128
    assert max(sizes) <= 16
    assert [row["first"] for row in told["queues"][1:]] == [
        row["last"] + 1 for row in told["queues"][:-1]
    ]
    assert "Run queues" in command("check", "epyc.toml").stdout
    linux = json.loads(answer(command("check", root / "examples" / "linux-groups.toml", "--json")))
    assert linux["queues"] == []


def test_check_tells_what_only_the_engine_knows(command: Command, tmp_path: Path) -> None:
    from homenode import _engine

    (tmp_path / "shop.toml").write_text(SHOP, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:

        def refuse(_: str) -> None:
            raise _engine.SpecError("too much of it")

        patch.setattr(_engine, "check", refuse)
        refused = command("check", "shop.toml")
    assert refused.returncode == 2
    assert "shop.toml:1:1: too much of it" in refused.stderr


def test_lists_fit_80_columns(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """`command` sets 160; a table is to fit whatever is said."""
    for words in (["machines"], ["profiles"], ["study", "--list"], ["measure", "list"], ["export"],
                  ["measure", "adapters"], ["machines", "ibm-z14"], ["control-program"],
                  ["partition-table", "z14"], ["measure", "list", "linux-quick"]):  # fmt: skip
        out = io.StringIO()
        monkeypatch.setenv("COLUMNS", "80")
        with monkeypatch.context() as here:
            here.setattr("sys.stdout", out)
            from homenode.cli import call

            assert call(words) == 0
        assert max(len(line.rstrip()) for line in out.getvalue().splitlines()) <= 80, words


def test_runs_are_listed_in_80_columns_and_nothing_is_left_out(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    from homenode.cli import call

    (tmp_path / "shop.toml").write_text(SHOP, encoding="utf-8")
    answer(command("run", "shop.toml"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS")
    assert call(["runs"]) == 0
    listed = capsys.readouterr().out
    assert max(map(len, listed.splitlines())) <= 80
    assert "2 x 0.4 s" in listed
    assert call(["run", "shop.toml"]) == 0
    out, err = capsys.readouterr()
    assert max(len(line.rstrip()) for line in out.splitlines()) <= 80
    assert "vlcs/s" in out
    assert "far" in out
    width = int(re.search(r"COLUMNS=(\d+) shows them whole", err)[1])  # type: ignore[index]
    monkeypatch.setenv("COLUMNS", str(width))
    assert call(["run", "shop.toml"]) == 0
    out, err = capsys.readouterr()
    assert "COLUMNS" not in err
    assert width - 2 <= max(len(line.rstrip()) for line in out.splitlines()) <= width


def test_parts_of_a_table_say_which_row_is_which(
    monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    title = "a title that is longer than the terminal is wide"
    table = plain_table("case", "metric", *("abc" * n for n in (2, 3, 4)), title=title)
    for metric in ("physc", "etr"):
        table.add_row("one", metric, "1", "2", "3")
    show(table)
    blocks = capsys.readouterr().out.split("\n\n")
    assert [re.findall(r"one +(\w+)", block) for block in blocks] == [["physc", "etr"]] * len(
        blocks
    )
    assert len(blocks) > 1


def test_names_of_rows_may_take_more_than_half_of_the_width(
    monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    table = plain_table("case", "metric", *("abcd" * n for n in (1, 2, 3)))
    for metric in ("physc", "etr"):
        table.add_row("small-to-large", f"{metric}_mean", "1", "2", "3")
    show(table)
    blocks = capsys.readouterr().out.split("\n\n")
    assert len(blocks) > 1
    assert all("physc_mean" in block and "etr_mean" in block for block in blocks)


def test_a_file_like_nothing_there_is_not_proposed(command: Command, tmp_path: Path) -> None:
    (tmp_path / "s1.toml").write_text(SHOP, encoding="utf-8")
    assert "did you mean" not in command("run", "frames.toml").stderr
    assert "its folder holds s1.toml" in command("run", "frames.toml").stderr
    assert "did you mean s1.toml?" in command("run", "s11.toml").stderr


def test_a_picture_shows_every_partition(command: Command, tmp_path: Path) -> None:
    (tmp_path / "shop.toml").write_text(SHOP, encoding="utf-8")
    answer(command("run", "shop.toml"))
    answer(command("explain", "shop", "--picture", "all.svg"))
    drawn = (tmp_path / "all.svg").read_text(encoding="utf-8")
    assert [f"Where the cores of {name} went" in drawn for name in ("shop1", "shop2", "own")] == (
        [True] * 3
    )
    answer(command("explain", "shop", "-p", "own", "-i", "one.svg"))
    drawn = (tmp_path / "one.svg").read_text(encoding="utf-8")
    assert "cores of own went" in drawn
    assert "cores of shop1 went" not in drawn
    assert "write --picture w.svg" in command("explain", "shop", "-p", "w.svg").stderr
    assert "name it once" in command("explain", "shop:shop1", "-p", "own").stderr


def completed(homenode: Command, line: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What bash would propose for the last word of a line."""
    words = line.split(" ")
    monkeypatch.setenv("_HOMENODE_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
    return answer(homenode()).split()


def test_the_shell_completes_commands_and_names(
    homenode: Command, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shop.toml").write_text(SHOP, encoding="utf-8")
    answer(command("run", "shop.toml"))
    (run,) = (folder.name for folder in (tmp_path / "runs").iterdir())
    for line, expected in {
        "homenode ru": ["run", "runs"],
        "homenode measure ad": ["adapters"],
        "homenode machines hp-s": [n for n in catalog.machines() if n.startswith("hp-s")],
        "homenode study zec": ["zec12-vs-z196"],
        "homenode explain sh": [run],
        "homenode lparstat -r shop -p sh": ["shop1", "shop2"],
        "homenode runs --js": ["--json"],
    }.items():
        assert completed(homenode, line, monkeypatch) == expected, line


def test_completion_is_installed_for_the_shell_at_hand(
    homenode: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert {"--install-completion", "--show-completion"} <= {
        flag for one in typer.main.get_command(app).params for flag in one.opts
    }
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert "complete -o default -F" in answer(homenode("--show-completion", "bash"))
    answer(homenode("--install-completion", "bash"))
    assert "_HOMENODE_COMPLETE" in (tmp_path / ".bash_completions/homenode.sh").read_text("utf-8")
    refused = homenode("--show-completion", "nosuch")
    assert refused.returncode == 2
