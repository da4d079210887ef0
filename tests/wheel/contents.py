"""What must be in a wheel and in a source archive, and what of it is not.

The list is git's: every file of the package that is, or is about to be, part of the project. Where
there is no git, an unpacked source archive, it is what lies there less what a build makes.
"""

from __future__ import annotations

import os
import subprocess
import tarfile
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "python/homenode"
ENGINE = "homenode/_engine.abi3.so"
"""The only file of a wheel that is made and not copied."""

_SOURCES = (
    PACKAGE,
    "crates/*/Cargo.toml",
    "crates/*/src",
    "examples",
    "tests/wheel/train.py",
    *("Cargo.lock", "Cargo.toml", "pyproject.toml"),
    *("LICENSE-APACHE", "LICENSE-MIT", "README.md"),
)


@dataclass(frozen=True)
class Contents:
    """An archive held against the project; paths are those in the archive."""

    archive: Path
    files: int
    lacking: list[str]
    foreign: list[str]

    def faults(self) -> list[str]:
        """A sentence for each file that is not as it should be."""
        return [
            *(f"{self.archive.name} lacks {name}" for name in self.lacking),
            *(
                f"{self.archive.name} has {name}, which the project has not"
                for name in self.foreign
            ),
        ]


def of_wheel(wheel: Path, root: Path = ROOT) -> Contents:
    """The wheel's package, file by file, besides the licences that its metadata carries."""
    names = zipfile.ZipFile(wheel).namelist()
    held = {name for name in names if name.startswith("homenode/")}
    wanted = {name.removeprefix("python/") for name in tracked(root, PACKAGE)} | {ENGINE}
    licences = {name for name in names if "/licenses/" in name}
    lacking = [one for one in _licences() if not any(name.endswith(one) for name in licences)]
    return Contents(wheel, len(held), sorted(wanted - held) + lacking, sorted(held - wanted))


def of_source(archive: Path, root: Path = ROOT) -> Contents:
    """The source archive: all of the package, of the crates, and what builds and trains them."""
    with tarfile.open(archive) as tar:
        held = {one.name.partition("/")[2] for one in tar.getmembers() if one.isfile()}
    wanted = set(tracked(root, *_SOURCES))
    foreign = {name for name in held if name.startswith(f"{PACKAGE}/")} - wanted
    return Contents(archive, len(held), sorted(wanted - held), sorted(foreign))


def tracked(root: Path, *places: str) -> list[str]:
    """Files of the project at these places, from its root."""
    asked = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *places]
    own = {**os.environ, "GIT_CEILING_DIRECTORIES": str(root.parent)}  # no checkout around it
    listed = subprocess.run(asked, cwd=root, env=own, capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        return [name for name in listed.stdout.split("\0") if name and (root / name).exists()]
    found = (one for place in places for one in root.glob(place))
    return [str(one.relative_to(root)) for one in _below(found)]


def _below(places: Iterable[Path]) -> Iterable[Path]:
    for place in places:
        for one in place.rglob("*") if place.is_dir() else [place]:
            made = "__pycache__" in one.parts or one.suffix in {".so", ".pyc"}
            if one.is_file() and not made:
                yield one


def _licences() -> list[str]:
    return [name for name in _SOURCES if name.startswith("LICENSE-")]
