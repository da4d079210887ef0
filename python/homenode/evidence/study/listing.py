"""Which studies there are, of each no more than its head and the number of its rows."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from homenode.errors import StudyError
from homenode.model.document import read_document
from homenode.model.index import indexed
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


def heads() -> list[Head]:
    """Every shipped study, in the order of the names."""
    rows = indexed("studies")
    if rows is not None:
        return [Head(**row) for row in rows]
    return [head(name) for name in list_studies()]


def head(name: str) -> Head:
    """What the files of a shipped study say of it."""
    path = studies_folder() / name / "study.toml"
    told = read_document(path, StudyError).data
    try:
        title, source, claim = (str(told[key]) for key in ("title", "source", "claim"))
        with path.with_name("published.csv").open(encoding="utf-8", newline="") as file:
            rows = sum(1 for _ in csv.DictReader(file))
    except (OSError, ValueError, KeyError, csv.Error) as error:
        raise StudyError(f"{path}: {error}", next_step="homenode study NAME says more") from error
    return Head(name, title, source, claim, rows)
