"""Which studies there are, of each no more than its head and the number of its rows."""

from __future__ import annotations

import csv
import tomllib
from dataclasses import dataclass
from pathlib import Path

from homenode.errors import StudyError
from homenode.model.shipped import shipped_folder


@dataclass(frozen=True)
class Head:
    """What a list says of a study."""

    name: str
    title: str
    source: str
    claim: str
    rows: int
    """Published figures."""


def studies_folder() -> Path:
    """Where the shipped studies lie."""
    return shipped_folder("studies")


def list_studies(root: Path | None = None) -> list[str]:
    """Names of all studies."""
    root = root or studies_folder()
    return sorted(path.parent.name for path in root.glob("*/study.toml"))


def heads(root: Path | None = None) -> list[Head]:
    """Every study, in the order of the names."""
    root = root or studies_folder()
    return [_head(root / name) for name in list_studies(root)]


def _head(folder: Path) -> Head:
    path = folder / "study.toml"
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
        title, source, claim = (str(told[key]) for key in ("title", "source", "claim"))
        with (folder / "published.csv").open(encoding="utf-8", newline="") as file:
            rows = sum(1 for _ in csv.DictReader(file))
    except (OSError, ValueError, KeyError, csv.Error) as error:
        raise StudyError(f"{path}: {error}", next_step="homenode study NAME says more") from error
    return Head(folder.name, title, source, claim, rows)
