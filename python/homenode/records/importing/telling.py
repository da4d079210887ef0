"""What was taken and what was left of what was given, in words and as data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from homenode.errors import Where
from homenode.records.importing.facts import Facts
from homenode.records.importing.opening.sources import Notice

MOST_LEFT = 20
MOST_NOTICES = 40


def sentences(facts: Facts) -> Iterator[str]:
    """Lines for a person: first what was taken, then what was left, then what to know."""
    for took in facts.took:
        dropped = f"; {took.dropped} not sound, left out" if took.dropped else ""
        yield f"took: {took.file}: {took.format}: {took.what}{dropped}"
    for left in facts.left[:MOST_LEFT]:
        yield f"left: {Where(left.file, left.line)}: {left.why}"
    if len(facts.left) > MOST_LEFT:
        yield f"left: {len(facts.left) - MOST_LEFT} more files; --json names all of them"
    for notice in facts.notices[:MOST_NOTICES]:
        yield f"note: {notice}"
    if len(facts.notices) > MOST_NOTICES:
        yield f"note: {len(facts.notices) - MOST_NOTICES} more notes; --json has all of them"


def summary(facts: Facts) -> dict[str, Any]:
    """The same as data."""
    return {
        "took": [
            {"file": one.file, "format": one.format, "what": one.what, "dropped": one.dropped}
            for one in facts.took
        ],
        "left": [{"file": one.file, "line": one.line, "why": one.why} for one in facts.left],
        "notes": [note_data(notice) for notice in facts.notices],
    }


def note_data(notice: Notice) -> dict[str, Any]:
    """A notice as data."""
    where = notice.where
    file, line = (where.file, where.line) if where else (None, None)
    return {"file": file, "line": line, "text": notice.text}
