"""How long a command takes to answer, against `python -c "import typer"`: processor time (user and
system) of the whole process, the least of some rounds.

Every round starts all commands one after the other. Once with Python's bytecode cache, in a folder
of its own, and once without it, as where PYTHONDONTWRITEBYTECODE is set. Aims are of the first.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROUNDS = 7
SCENARIO = """
[machine]
model = "ibm-power-795"

[[partition]]
name = "shop"
count = 2
processors = { mode = "shared", entitlement = 3.0, virtual = 30 }
smt = 2
memory = "40 GiB"
home = "book5"
workload = { kind = "transactions", rate = "500/s", profile = "oltp" }

[run]
warmup = "1 s"
duration = "4 s"
replications = 2
"""
BASE = "import typer"
COMMANDS: dict[str, float | None] = {
    "--version": 0.5,
    "--help": 2.0,
    "run --help": 2.0,
    "measure --help": 2.0,
    "lparstat --help": 2.0,
    "machines": 3.0,
    "profiles": 3.0,
    "study --list": 3.0,
    "measure list": 3.0,
    "measure adapters": 3.0,
    "runs": 4.0,
    "explain shop:shop1": 4.0,
    "lparstat -p shop1 1 3": 5.0,
    "mpstat -p shop1 1 2": 5.0,
    "machines ibm-power-795": None,
    "sql 'select 1'": None,
}
"""Commands with their aims, as ratios."""
CALL = "import sys; from homenode.cli import main; main()"


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory(prefix="homenode-start-") as name:
        folder = Path(name)
        (folder / "scenario.toml").write_text(f'name = "shop"\n{SCENARIO}')
        plain = {**os.environ, "COLUMNS": "100"}
        plain.pop("PYTHONDONTWRITEBYTECODE", None)
        cached = {**plain, "PYTHONPYCACHEPREFIX": str(folder / "cache")}
        _seconds(["-c", CALL, "run", "scenario.toml"], folder, cached)
        with_cache = _measured(folder, cached, rounds)
        nothing = {**plain, "PYTHONDONTWRITEBYTECODE": "1"}
        nothing["PYTHONPYCACHEPREFIX"] = str(_of_python_alone(folder))
        for line in _table(with_cache, _measured(folder, nothing, rounds)):
            print(line)


def _of_python_alone(folder: Path) -> Path:
    """The cache without what was installed: Python's own library comes with one."""
    installed = shutil.ignore_patterns("site-packages", "homenode")
    return Path(shutil.copytree(folder / "cache", folder / "alone", ignore=installed))


def _measured(folder: Path, surroundings: dict[str, str], rounds: int) -> dict[str, float]:
    """The least processor time of each command [s]; a first round fills the caches."""
    least: dict[str, float] = {}
    for number in range(rounds + 1):
        for command in (BASE, *COMMANDS):
            words = ["-c", BASE] if command == BASE else ["-c", CALL, *_words(command)]
            seconds = _seconds(words, folder, surroundings)
            if number:
                least[command] = min(least.get(command, seconds), seconds)
    return least


def _words(command: str) -> list[str]:
    head, _, quoted = command.partition(" '")
    return [*head.split(), *([quoted.rstrip("'")] if quoted else [])]


def _seconds(words: list[str], folder: Path, surroundings: dict[str, str]) -> float:
    """Processor time of Python with these words [s]."""
    with subprocess.Popen(
        [sys.executable, *words],
        cwd=folder,
        env=surroundings,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stderr is not None
        told = process.stderr.read().decode()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(words)} ended with {process.returncode}:\n{told}")
    return used.ru_utime + used.ru_stime


def _table(cached: dict[str, float], nothing: dict[str, float]) -> list[str]:
    """Ratios with and without the cache, and the aims."""
    unit, unit_of_none = cached[BASE], nothing[BASE]
    lines = [
        (
            f'start, as ratios of processor time to python -c "{BASE}" '
            f"({1e3 * unit:.0f} ms; without bytecode cache {1e3 * unit_of_none:.0f} ms)"
        ),
        f"  {'command':<24} {'cached':>7} {'aim':>5} {'without':>8}",
    ]
    for command, aim in COMMANDS.items():
        ratio, other = cached[command] / unit, nothing[command] / unit_of_none
        shown = "" if aim is None else f"{aim:.1f}"
        missed = "  missed" if aim is not None and ratio > aim else ""
        lines.append(f"  {command:<24} {ratio:7.2f} {shown:>5} {other:8.2f}{missed}")
    return lines


if __name__ == "__main__":
    main()
