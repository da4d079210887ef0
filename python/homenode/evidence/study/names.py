"""Names in study.toml: those that something else must know, and those that stand there once."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from homenode.errors import nearest
from homenode.model.catalog.names import is_path, machines
from homenode.model.document import Problems
from homenode.model.document.positions import Path


def check_known(
    problems: Problems, path: Path, name: str, there: Collection[str], what: str
) -> None:
    """A name of something of which `there` has all."""
    if name not in there:
        problems.add(path, there=f"there is no such {what}{nearest(name, there)}")


def check_machine(problems: Problems, path: Path, name: str) -> None:
    """A machine that comes with homenode, or the path of a file, which is read when it is used."""
    if not is_path(name):
        check_known(problems, path, name, machines(), "machine")


def check_once(problems: Problems, named: Iterable[tuple[Path, str]]) -> None:
    """Names, by the place of each, none of which stands there twice."""
    seen: set[str] = set()
    for path, name in named:
        if name in seen:
            problems.add(path, there=f"{name} stands there twice", next_step="name each once")
        seen.add(name)
