"""What a command loads before it answers: of the large libraries only those that it uses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

LARGE = (
    "altair", "duckdb", "numpy", "openpyxl", "ortools", "pandas", "perfetto", "polars", "pyarrow",
    "pydantic", "rich", "scipy", "typer", "vl_convert",
)  # fmt: skip

SCENARIO = """\
name = "small"

[machine]
model = "ibm-p5-570"

[[partition]]
name = "web"
processors = { mode = "shared", entitlement = 1.0, virtual = 2 }
memory = "2 GiB"
guest = { level = "5.3" }
workload = { kind = "transactions", rate = "100/s", profile = "oltp" }

[run]
warmup = "100 ms"
duration = "2 s"
"""
EACH = """\
import json, sys
from homenode.cli import call
for words in json.loads(sys.argv[1]):
    code = call(words)
    there = sorted(set(json.loads(sys.argv[2])) & {name.partition(".")[0] for name in sys.modules})
    print(json.dumps([words, code, there]), file=sys.stderr)
"""


def loaded(folder: Path, *commands: list[str]) -> list[tuple[list[str], list[str]]]:
    """The large libraries that are there after each of the commands, in one new process."""
    done = subprocess.run(
        [sys.executable, "-c", EACH, json.dumps(commands), json.dumps(LARGE)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    told = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("[[")]
    assert [code for _, code, _ in told] == [0] * len(commands), done.stderr
    return [(words, there) for words, _, there in told]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run, and what a run itself loads."""
    folder = tmp_path_factory.mktemp("start")
    (folder / "small.toml").write_text(SCENARIO, encoding="utf-8")
    ((_, there),) = loaded(folder, ["run", "small.toml"])
    assert there == ["numpy", "pyarrow", "pydantic", "rich", "typer"]
    return folder


def test_the_version_needs_no_library(tmp_path: Path) -> None:
    assert loaded(tmp_path, ["--version"]) == [(["--version"], [])]


def test_help_needs_no_library_but_its_own(tmp_path: Path) -> None:
    from homenode.cli.app import Commands
    from homenode.cli.measure.app import Commands as Measuring

    commands = [[], *([entry.name] for entry in Commands.entries)]
    commands += [["measure", entry.name] for entry in Measuring.entries]
    for words, there in loaded(tmp_path, *([*words, "--help"] for words in commands)):
        assert there == ["typer"], words


@pytest.mark.parametrize(
    ("command", "libraries"),
    [
        ("machines", "rich typer"),
        ("machines --json", "typer"),
        ("profiles", "rich typer"),
        ("study --list", "rich typer"),
        ("measure list", "rich typer"),
        ("measure adapters", "rich typer"),
        ("runs", "rich typer"),
        ("runs --json", "typer"),
        ("compare latest latest", "rich typer"),
        ("compare latest --json", "typer"),
        ("show", "numpy pyarrow pydantic rich typer"),
        ("show --json", "numpy pyarrow pydantic rich typer"),
        ("explain", "rich typer"),
        ("explain --json", "typer"),
        ("explain small:web --by cpi", "rich typer"),
        ("lparstat", "duckdb typer"),
        ("lparstat -i", "typer"),
        ("lparstat 1 2 --json", "duckdb typer"),
        ("mpstat -a 1", "duckdb typer"),
        ("vmstat", "duckdb typer"),
        ("sar -P ALL 1 1", "duckdb typer"),
        ("lssrad -av", "typer"),
        ("lssrad --frame", "typer"),
        ("solve small.toml", "numpy pyarrow pydantic rich typer"),
        ("solve small.toml --json", "numpy pyarrow pydantic typer"),
        ("affinity", "numpy pyarrow pydantic rich typer"),
        ("lsmemopt", "numpy pyarrow pydantic typer"),
        ("machines ibm-power-795", "pydantic rich typer"),
        ("profiles oltp --json", "pydantic rich typer"),
    ],
)
def test_a_command_loads_what_it_uses(command: str, libraries: str, kept: Path) -> None:
    ((_, there),) = loaded(kept, command.split())
    assert there == libraries.split()
