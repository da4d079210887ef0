"""Files that come with the package: one folder of `homenode/data` a kind."""

from __future__ import annotations

from pathlib import Path

_DATA = Path(__file__).resolve().parents[1] / "data"


def shipped_folder(kind: str) -> Path:
    """The folder that holds the files of a kind, such as `machines`."""
    return _DATA / kind


def shipped_names(kind: str) -> list[str]:
    """Names of the shipped files of a kind, in order."""
    return sorted(path.stem for path in shipped_folder(kind).glob("*.toml"))


def shipped_file(kind: str, name: str) -> Path:
    """The file; `name` is one of `shipped_names`."""
    return shipped_folder(kind) / f"{name}.toml"


def shipped_text(kind: str, name: str) -> str:
    """What the file says; `name` is one of `shipped_names`."""
    return shipped_file(kind, name).read_text(encoding="utf-8")
