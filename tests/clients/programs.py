"""How the fetched programs are run: those of this system with their own libraries, those of Power
emulated, with an exported tree as their root folder.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".tools" / "clients"
_HOST = FOLDER / "host"
_POWER = FOLDER / "ppc64el"
_EMULATOR = "qemu-ppc64le-static"
_TIMEOUT_S = 120
_ROOTED = (("unshare", "--user", "--map-root-user", "chroot"), ("chroot",))
"""Ways to give a program another root folder: in a user namespace, which needs no rights, and
outright, which needs them.
"""


class CannotRunError(Exception):
    """A program is not there or cannot be run here; the text says why."""


@dataclass(frozen=True)
class Program:
    """A program of this system."""

    path: Path

    def run(self, *arguments: str | Path, check: bool = True, given: str | None = None) -> str:
        """What it prints; fails if it ends with an error and `check` is set."""
        done = subprocess.run(
            [self.path, *arguments],
            env=_environment(),
            capture_output=True,
            text=True,
            input=given,
            timeout=_TIMEOUT_S,
            check=False,
        )
        if check:
            assert done.returncode == 0, f"{self.path.name}: {done.stderr}{done.stdout}"
        return done.stdout if check else done.stdout + done.stderr


@dataclass(frozen=True)
class PowerProgram:
    """A program of Linux on Power, which reads files by absolute path."""

    name: str

    def run(self, tree: Path, *arguments: str, check: bool = True) -> str:
        """What it prints with the tree as its root folder, errors among it."""
        _furnish(tree)
        done = subprocess.run(
            [*_way_in(), tree, f"/usr/bin/{_EMULATOR}", f"/usr/sbin/{self.name}", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
        assert not check or done.returncode == 0, f"{self.name}: {done.stdout}"
        return done.stdout


def _environment() -> dict[str, str]:
    """The unpacked libraries and programs before those of the system."""
    libraries = sorted({str(path.parent) for path in _HOST.glob("**/lib/*/*.so.*")})
    words = {"LC_ALL": "C", "HWLOC_HIDE_ERRORS": "2"}
    if libraries:
        words["LD_LIBRARY_PATH"] = ":".join(libraries)
    return {**os.environ, **words, "PATH": f"{_HOST / 'usr' / 'bin'}:{os.environ['PATH']}"}


def _furnish(tree: Path) -> None:
    """Put the programs of Power, their libraries and the emulator into a tree."""
    for source in (*_POWER.rglob("*"), _HOST / "usr" / "bin" / _EMULATOR):
        base = _POWER if source.is_relative_to(_POWER) else _HOST
        place = tree / source.relative_to(base)
        if source.is_dir() or place.is_symlink() or place.exists():
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        if source.is_symlink():
            place.symlink_to(source.readlink())
        else:
            _same_file(source, place)


def _same_file(source: Path, place: Path) -> None:
    """The same file under another name; a copy where the disk is another."""
    try:
        place.hardlink_to(source)
    except OSError:
        shutil.copy2(source, place)


@cache
def _way_in() -> tuple[str, ...]:
    """A way to give a program another root folder that works here."""
    for way in _ROOTED:
        try:
            done = subprocess.run(
                [*way, "/", "true"], capture_output=True, timeout=_TIMEOUT_S, check=False
            )
        except FileNotFoundError:
            continue
        if done.returncode == 0:
            return way
    raise CannotRunError("neither user namespaces nor rights for chroot are to be had here")


def program(name: str) -> Program:
    """A program of this system: the fetched one, else the one on the path."""
    places = [_HOST / "usr" / folder / name for folder in ("bin", "lib/sysstat")]
    fetched = next((place for place in places if place.is_file()), None)
    found = shutil.which(name) if fetched is None else str(fetched)
    if found is None:
        raise CannotRunError(_reason(name))
    return Program(Path(found))


def power_program(name: str) -> PowerProgram:
    """A program of Linux on Power, with what it needs to run here."""
    for file in (_POWER / "usr" / "sbin" / name, _HOST / "usr" / "bin" / _EMULATOR):
        if not file.is_file():
            raise CannotRunError(_reason(file.name))
    _way_in()
    return PowerProgram(name)


def _reason(name: str) -> str:
    """Why a program is not there, as the set-up wrote it down."""
    told = FOLDER / "missing.txt"
    lines = told.read_text(encoding="utf-8").splitlines() if told.is_file() else []
    for line in lines:
        if line.startswith(f"{name}: "):
            return f"the real {line}"
    return f"the real {name} is not here; `make clients` fetches it"
