"""Which format a file is: every format is asked, and takes it only if it is the only one.

A format is a module of `homenode.records.importing.formats` with `FORMATS`, `TREE_FORMATS` or both.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from homenode.records.importing import formats
from homenode.records.importing.opening.contents import Input
from homenode.records.importing.opening.sources import ListingError, head_text
from homenode.records.importing.opening.trees import Tree
from homenode.records.importing.shared.forms import FileFormat, TreeFormat

_QUOTE = 60
_SYSSTAT = b"\x96\xd5"
"""With which every binary recording of sysstat begins, on hosts with the least byte first."""


@cache
def file_formats() -> tuple[FileFormat, ...]:
    """All formats of single files, by module."""
    return tuple(one for module in _modules() for one in getattr(module, "FORMATS", ()))


@cache
def tree_formats() -> tuple[TreeFormat, ...]:
    """All formats of dumps, by module."""
    return tuple(one for module in _modules() for one in getattr(module, "TREE_FORMATS", ()))


def recognise(source: Input) -> FileFormat:
    """The format of a file; `ListingError` if it is none, or could be two."""
    found = [one for one in file_formats() if one.recognises(source.head, source.name)]
    if len(found) == 1:
        return found[0]
    if found:
        raise ListingError(
            f"it could be {' or '.join(one.name for one in found)}",
            where=source.at(),
            next_step="give a longer piece of it, heading and all",
        )
    if source.head.startswith(_SYSSTAT):
        raise ListingError(
            "it is a binary recording of sysstat, which only its own sadf reads",
            where=source.at(),
            next_step="on a host with that sysstat: sadf -d FILE -- -u -w -P ALL > FILE.csv",
        )
    line, text = _first_line(source.head)
    asked = f'it begins "{text}"' if text else "it holds no text"
    raise ListingError(
        "it is of no format that is known",
        asked=asked,
        where=source.at(line),
    )


def knows(source: Input) -> bool:
    """Whether some format claims a file."""
    return any(one.recognises(source.head, source.name) for one in file_formats())


def recognise_tree(tree: Tree) -> list[TreeFormat]:
    """All formats that can say something of a dump."""
    return [one for one in tree_formats() if one.recognises(tree)]


def _modules() -> list[object]:
    names = sorted(module.name for module in pkgutil.iter_modules(formats.__path__))
    return [importlib.import_module(f"{formats.__name__}.{name}") for name in names]


def _first_line(head: bytes) -> tuple[int | None, str]:
    text = head_text(head)
    if "\0" in text:
        return None, ""
    lines = ((number, line.strip()) for number, line in enumerate(text.splitlines(), 1))
    return next(((number, line[:_QUOTE]) for number, line in lines if line), (None, ""))
