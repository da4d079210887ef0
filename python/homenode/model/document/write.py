"""Writing TOML: the standard library reads it only."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import TypeGuard

_BARE = re.compile(r"[A-Za-z0-9_-]+")
# Made once: `json.dumps` makes one for each text.
_QUOTED = json.JSONEncoder(ensure_ascii=False).encode


def to_toml(data: Mapping[str, object]) -> str:
    """A document as TOML text: top-level values, then a table a section; what lies deeper is
    written inline.
    """
    loose = {key: value for key, value in data.items() if not _is_section(value)}
    lines = [f"{_key(key)} = {toml_value(value)}" for key, value in loose.items()]
    for key, value in data.items():
        if _is_section(value):
            lines.extend(_section(key, value))
    return "\n".join(lines).lstrip("\n") + "\n"


def in_written_order(data: Mapping[str, object]) -> dict[str, object]:
    """A document's data as it would come back from its text (`to_toml`): what has no section of
    its own stands first.
    """
    loose = {key: value for key, value in data.items() if not _is_section(value)}
    return {**loose, **data}


def _is_section(
    value: object,
) -> TypeGuard[Mapping[str, object] | list[Mapping[str, object]]]:
    """Whether a top-level value gets a header of its own."""
    if isinstance(value, Mapping):
        return True
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(entry, Mapping) for entry in value)
    )


def _section(key: str, value: Mapping[str, object] | list[Mapping[str, object]]) -> Iterator[str]:
    tables = [value] if isinstance(value, Mapping) else value
    header = f"[{_key(key)}]" if isinstance(value, Mapping) else f"[[{_key(key)}]]"
    for table in tables:
        yield ""
        yield header
        for name, entry in table.items():
            yield f"{_key(name)} = {toml_value(entry)}"


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _text(key)


def _text(text: str) -> str:
    # JSON escapes all that TOML wants escaped except the delete character.
    return _QUOTED(text).replace("\x7f", "\\u007f")


def toml_value(value: object) -> str:
    """A value as it stands behind the sign of equality."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_key(key)} = {toml_value(entry)}" for key, entry in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(toml_value(entry) for entry in value)}]"
    if isinstance(value, (int, float)):
        return repr(value)
    return str(value)  # dates and times, which TOML writes as Python prints them
