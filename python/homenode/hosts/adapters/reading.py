"""Reading what tools print: missing, cut or garbled output is an ordinary result, and is quoted."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

from homenode.hosts.errors import MeasureError

_BEYOND = 1e24  # nothing that a tool counts or times in any unit comes near
_QUOTED = 160  # characters of an output that a message repeats


def quoted(text: bytes) -> str:
    """The end of an output, fit for a message."""
    words = repr(text.decode("utf-8", "replace").strip())[1:-1]
    if not words:
        return "it printed nothing"
    return f"it ends with '{words[-_QUOTED:]}'" if len(words) > _QUOTED else f"it printed '{words}'"


def unreadable(tool: str, what: str, text: bytes) -> MeasureError:
    """The error for an output that does not say what it should."""
    return MeasureError(
        f"the output of {tool} cannot be used: {what}",
        there=quoted(text),
        next_step="run the tool by hand with the command kept beside the result",
    )


def json_object(tool: str, text: bytes) -> dict[str, object]:
    """The one JSON object that a tool printed, with or without lines before it.

    Raises `MeasureError` if there is none, or if it is cut.
    """
    start = text.find(b"{")
    if start < 0:
        raise unreadable(tool, "there is no JSON object in it", text)
    try:
        found = json.loads(text[start:])
    except (ValueError, RecursionError) as error:
        raise unreadable(tool, f"its JSON is cut or damaged ({error})", text) from error
    return found if isinstance(found, dict) else {}


def json_objects(tool: str, text: bytes, count: int) -> list[dict[str, object]]:
    """As many JSON objects as were printed one after the other, each over many lines.

    Raises `MeasureError` for fewer or more, or where one is cut.
    """
    words, decoder = text.decode("utf-8", "replace"), json.JSONDecoder()
    found: list[dict[str, object]] = []
    at = words.find("{")
    while at >= 0:
        try:
            one, end = decoder.raw_decode(words, at)
        except (ValueError, RecursionError) as error:
            raise unreadable(tool, f"its JSON is cut or damaged ({error})", text) from error
        found.append(one)
        at = words.find("{", end)
    if len(found) != count:
        raise unreadable(tool, f"{len(found)} of {count} reports are there", text)
    return found


def json_lines(tool: str, text: bytes) -> list[dict[str, object]]:
    """The JSON objects among the lines of an output; other lines are left aside.

    Raises `MeasureError` for a line that begins as an object and is none.
    """
    found = []
    for line in text.splitlines():
        if not line.startswith(b"{"):
            continue
        try:
            found.append(json.loads(line))
        except (ValueError, RecursionError) as error:
            raise unreadable(tool, f"a line of JSON is cut or damaged ({error})", line) from error
    return found


def optional(table: object, *keys: str) -> float | None:
    """The finite number at `keys`, one inside the other; None if there is none."""
    here: object = table
    for key in keys:
        if not isinstance(here, Mapping) or key not in here:
            return None
        here = here[key]
    if isinstance(here, bool) or not isinstance(here, int | float):
        return None
    try:
        found = float(here)
    except OverflowError:  # a whole number of hundreds of digits
        return None
    return found if abs(found) < _BEYOND else None


def number(tool: str, table: object, *keys: str, least: float = 0.0) -> float:
    """The number at `keys`, one inside the other.

    Raises `MeasureError` if it is missing, no finite number, or below `least`.
    """
    found = optional(table, *keys)
    path = ".".join(keys)
    if found is None:
        raise MeasureError(f"the output of {tool} cannot be used: it tells no number {path}")
    if found < least:
        raise MeasureError(
            f"the output of {tool} cannot be used: {path} is {found:g}, below {least:g}"
        )
    return found


def positive(tool: str, table: object, *keys: str) -> float:
    """As `number`, and not 0: nothing done, or no time passed, is no measurement."""
    found = number(tool, table, *keys)
    if found == 0.0:
        raise MeasureError(f"{tool} did nothing: {'.'.join(keys)} is 0")
    return found


def rate(tool: str, work: float, seconds: float) -> float:
    """Work a second.

    Raises `MeasureError` where that is no finite number: one of the two is garbled.
    """
    if seconds <= 0.0 or not 0.0 < work / seconds < math.inf:
        raise MeasureError(f"the output of {tool} cannot be used: {work:g} done in {seconds:g} s")
    return work / seconds
