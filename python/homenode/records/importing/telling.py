"""What was taken and what was left of what was given, in words and as data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypedDict

from homenode.errors import Where
from homenode.records.importing.facts import Facts
from homenode.records.importing.opening.sources import Notice

MOST_FILES = 10
"""That are told one by one of those taken, and of those left."""
MOST_NOTICES = 40


def sentences(facts: Facts) -> Iterator[str]:
    """Lines for a person: first what was taken, then what was left, then what to know."""
    for took in facts.took[:MOST_FILES]:
        dropped = f"; {took.dropped} not sound, left out" if took.dropped else ""
        yield f"took: {took.file}: {took.format}: {took.what}{dropped}"
    yield from _more(len(facts.took) - MOST_FILES, "took", "file")
    for left in facts.left[:MOST_FILES]:
        yield f"left: {Where(left.file, left.line)}: {left.why}"
    yield from _more(len(facts.left) - MOST_FILES, "left", "file")
    yield from noted(facts.notices)


def noted(notices: Sequence[Notice]) -> Iterator[str]:
    """What to know, a line each, as far as someone would read on; what is to be said of several
    lines of a file is said of the first, with how many there are.
    """
    same: dict[tuple[str | None, str], list[Notice]] = {}
    for notice in notices:
        file = notice.where.file if notice.where else None
        same.setdefault((file, notice.text), []).append(notice)
    for first, *others in list(same.values())[:MOST_NOTICES]:
        again = f" (and {len(others)} more of this kind)" if others else ""
        yield f"note: {first}{again}"
    yield from _more(len(same) - MOST_NOTICES, "note", "note")


def _more(count: int, what: str, of: str) -> Iterator[str]:
    if count > 0:
        yield f"{what}: {count} more {of}{'s' if count > 1 else ''}; --json has all of them"


class Note(TypedDict):
    """A notice as data; file and line where it is about one."""

    file: str | None
    line: int | None
    text: str


class Reading(TypedDict):
    """What was taken, what was left, what to know."""

    took: list[dict[str, object]]
    left: list[dict[str, object]]
    notes: list[Note]


def summary(facts: Facts) -> Reading:
    """The same as data."""
    return {
        "took": [
            {"file": one.file, "format": one.format, "what": one.what, "dropped": one.dropped}
            for one in facts.took
        ],
        "left": [{"file": one.file, "line": one.line, "why": one.why} for one in facts.left],
        "notes": [note_data(notice) for notice in facts.notices],
    }


def note_data(notice: Notice) -> Note:
    """A notice as data."""
    where = notice.where
    file, line = (where.file, where.line) if where else (None, None)
    return {"file": file, "line": line, "text": notice.text}
