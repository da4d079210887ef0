"""Files that come with the package: one folder of `homenode/data` a kind."""

from __future__ import annotations

from pathlib import Path

_DATA = Path(__file__).resolve().parents[1] / "data"
_MAIN = {"studies": "study.toml"}
"""Kinds that have a folder a name, and the file in it that makes it one of them."""


def shipped_folder(kind: str) -> Path:
    """The folder that holds the files of a kind, such as `machines`."""
    return _DATA / kind


def shipped_names(kind: str) -> list[str]:
    """Names of the shipped files of a kind, in order."""
    if kind in _MAIN:
        return sorted(path.parent.name for path in shipped_folder(kind).glob(f"*/{_MAIN[kind]}"))
    return sorted(path.stem for path in shipped_folder(kind).glob("*.toml"))


def shipped_file(kind: str, name: str) -> Path:
    """The file; `name` is one of `shipped_names`."""
    folder = shipped_folder(kind)
    return folder / name / _MAIN[kind] if kind in _MAIN else folder / f"{name}.toml"


def shipped_text(kind: str, name: str) -> str:
    """What the file says; `name` is one of `shipped_names`."""
    return shipped_file(kind, name).read_text(encoding="utf-8")
