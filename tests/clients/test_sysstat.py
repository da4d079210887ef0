"""What mpstat, vmstat, sar and pidstat of Linux show here has the headings of the real programs,
and the parsers of jc read the figures out of it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from programs import Program

from homenode import Run, load_scenario
from homenode.tools.choice import tool_of
from systems import BUSY_HOST

Client = Callable[[str], Program]

HOST = BUSY_HOST % ("host", 400, 3)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A host with a guest and a group of processes."""
    folder = tmp_path_factory.mktemp("host")
    (folder / "host.toml").write_text(HOST, encoding="utf-8")
    return load_scenario(folder / "host.toml").run(out=folder / "runs")


def shown(run: Run, tool: str, partition: str | None, *words: str, as_rows: bool = False) -> Any:
    module, system, named = tool_of(tool, run, 0, partition, lambda: str(partition))
    return (module.rows if as_rows else module.render)(system, [*named, *words])


def headings(text: str) -> list[str]:
    """Lines of headings, behind their times; whatever follows the last heading is of figures."""
    found = []
    for line in text.splitlines():
        behind = line[8:] if line[2:3] == ":" or line.startswith(("Average", "# Time")) else line
        if any(mark in line for mark in ("CPU  ", "PID", "runq-sz", "cswch/s", "procs", " swpd")):
            found.append(behind.rstrip())
    return list(dict.fromkeys(found))


@pytest.mark.parametrize(
    ("tool", "words"),
    [
        ("mpstat", ["1", "1"]),
        ("vmstat", ["1", "1"]),
        ("pidstat", ["-u", "1", "1"]),
        ("pidstat", ["-w", "1", "1"]),
        ("pidstat", ["-h", "-u", "-w", "1", "1"]),
    ],
)
def test_headings_are_those_of_the_real_program(
    tool: str, words: list[str], client: Client, host: Run
) -> None:
    real = client(tool).run(*words)
    assert headings(shown(host, tool, None, *words)) == headings(real)


@pytest.mark.parametrize("words", [["-u"], ["-u", "ALL"], ["-q"], ["-w"]])
def test_sar_has_the_headings_of_the_real_one(
    words: list[str], client: Client, host: Run, tmp_path: Path
) -> None:
    client("sadc").run("1", "2", tmp_path / "sa")
    real = client("sar.sysstat").run(*words, "-f", tmp_path / "sa")
    assert headings(shown(host, "sar", None, *words, "1", "2")) == headings(real)


def parsed(client: Client, parser: str, text: str) -> list[dict[str, Any]]:
    """What jc's parser of that name makes of a text."""
    library = client("jc").path.parents[1] / "lib" / "python3" / "dist-packages"
    program = (
        "import sys, json; sys.path.insert(0, sys.argv[1]); import jc; "
        "print(json.dumps(jc.parse(sys.argv[2], sys.stdin.read(), quiet=True)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(library), parser],
        input=text,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("partition", [None, "vm"])
def test_mpstat_is_read_by_others(partition: str | None, client: Client, host: Run) -> None:
    words = ["1", "3"] if partition is None else ["-P", "ALL", "1", "3"]
    found = parsed(client, "mpstat", shown(host, "mpstat", partition, *words))
    told = [row for row in found if not row.get("average")]
    rows = shown(host, "mpstat", partition, *words, as_rows=True)
    assert len(told) == len(rows)
    for one, row in zip(told, rows, strict=True):
        assert one["cpu"] == row["CPU"]
        for name in ("usr", "sys", "iowait", "steal", "guest", "idle"):
            assert one[f"percent_{name}"] == pytest.approx(row[f"%{name}"], abs=0.006)


def test_vmstat_is_read_by_others(client: Client, host: Run) -> None:
    found = parsed(client, "vmstat", shown(host, "vmstat", "vm", "1", "3"))
    rows = shown(host, "vmstat", "vm", "1", "3", as_rows=True)
    names = {"user_time": "us", "system_time": "sy", "idle_time": "id", "stolen_time": "st"}
    names |= {"context_switches": "cs", "interrupts": "in", "runnable_procs": "r"}
    for one, row in zip(found, rows, strict=True):
        assert {key: one[key] for key in names} == {
            key: round(row[name]) for key, name in names.items()
        }


def test_pidstat_is_read_by_others(client: Client, host: Run) -> None:
    found = parsed(client, "pidstat", shown(host, "pidstat", None, "-hH", "-u", "-w", "1", "3"))
    rows = shown(host, "pidstat", None, "1", "3", as_rows=True)
    for one, row in zip(found, rows, strict=True):
        assert (one["time"], one["command"]) == (round(row["time_s"]), row["Command"])
        assert one["percent_guest"] == pytest.approx(row["%guest"], abs=0.006)
        assert one["percent_cpu"] == pytest.approx(row["%CPU"], abs=0.006)
        assert one["nvcswch_s"] == pytest.approx(row["nvcswch/s"], abs=0.006)
