"""`make test-wheel`: a wheel installed where nothing else is, and used as anybody would.

In an empty folder, with an environment that has the wheel and what its metadata asks for, and with
no other program on the PATH: no cargo, no compiler, no checkout. Of the checkout come the archives,
the pinned versions, the tutorial's notebook and what runs it, and mypy. Exit code 1 tells the step
that failed and what it printed. At last a browser, where one can be had, opens the page that the
installed program serves.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import contents

ROOT = contents.ROOT

PROGRAM = """\
import homenode

run = homenode.load_scenario("imported/scenario.toml").run()
for partition, metrics in run.metrics.items():
    print(f"{partition}: {metrics['physc'].mean:.2f} cores")
print(homenode.explain(run, run.partitions[0]).paragraph)
"""
"""A user's program: it has types, and it runs."""

WRONG = PROGRAM.replace(".mean", ".average")
"""One that a type checker finds out, unless all that it sees is Any."""

NOTEBOOK = """\
import sys
from pathlib import Path
import notebook
written = Path("notebook.ipynb")
shown = notebook.run(written, Path.cwd())
plain = notebook.without_pictures
sys.exit(0 if plain(shown) == plain(written.read_text()) else "the notebook shows something else")
"""

COMMANDS = (
    "homenode demo",
    "homenode machines",
    "homenode profiles",
    "homenode control-program",
    "homenode measure list",
    "homenode study --list",
    "homenode study z14-caf",
    "homenode export frame1 --as nmon --output recorded",
    "homenode import recorded --output imported",
    "python program.py",
    "python show.py",
)
"""In this order: what one leaves is what a later one takes."""


class FailedError(Exception):
    """A step did not do what it should."""


@dataclass(frozen=True)
class House:
    """An environment with the wheel, and an empty folder to work in."""

    env: Path
    folder: Path

    def variables(self) -> dict[str, str]:
        """All that a program is told of the world around it."""
        home = {"HOME": str(self.folder), "LANG": "C.UTF-8"}
        return {"PATH": str(self.env / "bin"), **home}

    def call(self, *words: str) -> str:
        """What a program of the environment printed."""
        program = self.env / "bin" / words[0]
        return told([str(program), *words[1:]], self.folder, self.variables())


def main() -> int:
    """All steps; 0 if each did what it should."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dist", type=Path, help="folder with the wheel and the source archive")
    parser.add_argument("--uv", type=Path, required=True, help="uv, which makes the environment")
    given = parser.parse_args()
    try:
        wheel = check_archives(given.dist.resolve())
        with tempfile.TemporaryDirectory(prefix="homenode-wheel-") as made:
            house = installed(wheel, given.uv.resolve(), Path(made))
            check_use(house, version=wheel.name.split("-")[1])
            check_types(house)
            check_page(house)
    except FailedError as fault:
        print(f"test-wheel: {fault}", file=sys.stderr)
        return 1
    return 0


def check_archives(dist: Path) -> Path:
    """Both archives hold what they should; the wheel's path."""
    wheel, source = only(dist, "*-abi3-*.whl"), only(dist, "*.tar.gz")
    for found in (contents.of_wheel(wheel), contents.of_source(source)):
        if found.faults():
            raise FailedError("\n".join(found.faults()))
        tell(f"{found.archive.name}: {found.files} files, all that the project has", 0.0)
    return wheel


def only(folder: Path, pattern: str) -> Path:
    """The one file of this name."""
    found = list(folder.glob(pattern))
    if len(found) != 1:
        raise FailedError(f"{folder} has {len(found)} files {pattern}, not one; run `make wheel`")
    return found[0]


def installed(wheel: Path, uv: Path, made: Path) -> House:
    """The wheel with what its metadata asks for, in the versions that the project pins."""
    house = House(made / "env", made / "empty")
    house.folder.mkdir()
    begun = time.monotonic()
    python = ["--python", str(house.env / "bin" / "python")]
    pins = ["--constraint", str(ROOT / "requirements" / "run.txt")]
    told([str(uv), "venv", "--quiet", "--python", sys.executable, str(house.env)], made)
    told([str(uv), "pip", "install", "--quiet", *python, *pins, str(wheel)], made)
    tell(f"uv pip install {wheel.name}", time.monotonic() - begun)
    return house


def check_use(house: House, version: str) -> None:
    """Commands, a program and the notebook, one after the other."""
    said = house.call("homenode", "--version").strip()
    if said != f"homenode {version}":
        raise FailedError(f"`homenode --version` says {said!r}, the wheel is of {version}")
    (house.folder / "program.py").write_text(PROGRAM)
    (house.folder / "show.py").write_text(NOTEBOOK)
    for name in ("docs/tools/notebook.py", "docs/notebook.ipynb"):
        source = ROOT / name
        (house.folder / source.name).write_bytes(source.read_bytes())
    for command in COMMANDS:
        begun = time.monotonic()
        house.call(*command.split())
        tell(command, time.monotonic() - begun)


def check_types(house: House) -> None:
    """A user's type checker sees types: it passes the program, and finds out the wrong one."""
    wrong = house.folder / "wrong.py"
    wrong.write_text(WRONG)
    begun = time.monotonic()
    python = ["--python-executable", str(house.env / "bin" / "python")]
    own = ["--config-file=", f"--cache-dir={house.folder / 'mypy'}"]
    mypy = [sys.executable, "-m", "mypy", "--strict", "--disallow-any-expr", *own, *python]
    told([*mypy, "program.py"], house.folder, house.variables())
    tell("mypy --strict program.py", time.monotonic() - begun)
    try:
        told([*mypy, wrong.name], house.folder, house.variables())
    except FailedError as fault:
        if 'has no attribute "average"' in str(fault):
            return
        raise
    raise FailedError("mypy passed a program that asks for what there is not: it saw no types")


def check_page(house: House) -> None:
    """The browser's tests against the installed program; it says so if no browser can be had."""
    begun = time.monotonic()
    tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", ""]
    program = {"HOMENODE_PROGRAM": str(house.env / "bin" / "homenode")}
    said = told([*tests, str(ROOT / "tests" / "serve" / "browser")], ROOT, os.environ | program)
    if skipped := [line for line in said.splitlines() if line.startswith("SKIPPED")]:
        print("\n".join(skipped), file=sys.stderr)
    tell(f"the page in a browser: {said.splitlines()[-1]}", time.monotonic() - begun)


def told(words: Iterable[str], folder: Path, variables: Mapping[str, str] | None = None) -> str:
    """What a program printed; raises with all of it if it failed."""
    words = list(words)
    environment = dict(os.environ if variables is None else variables)
    done = subprocess.run(
        words,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        command = " ".join(words)
        raise FailedError(f"exit code {done.returncode} of {command}\n{done.stdout}{done.stderr}")
    return done.stdout


def tell(what: str, seconds: float) -> None:
    """A line of what was done, and how long it took."""
    print(f"{seconds:6.1f} s  {what}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
