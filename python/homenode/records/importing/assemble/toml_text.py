"""A machine description as TOML text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

_WIDE = 90


def machine_text(table: Mapping[str, Any], source: str) -> str:
    """The file: names and single figures first, then the tables, caches before what is beyond."""
    lines = [
        f"# Made by homenode import of {source}.",
        "# What is assumed has a range; correct it.",
    ]
    for key, value in table.items():
        if isinstance(value, str):
            lines.append(f"{key} = {_value(value)}")
    for key, value in table.items():
        if _is_figure(value):
            lines.extend(_figure(key, value))
    for key, value in table.items():
        if isinstance(value, list):
            for level in value:
                lines.extend(["", f"[[{key}]]", *_inside(level)])
        elif isinstance(value, dict) and not _is_figure(value):
            lines.extend(["", f"[{key}]", *_inside(value)])
    return "\n".join(lines) + "\n"


def _is_figure(value: Any) -> bool:
    return isinstance(value, dict) and "value" in value


def _inside(table: Mapping[str, Any]) -> Iterator[str]:
    for key, value in table.items():
        if _is_figure(value):
            yield from _figure(key, value)
        else:
            yield f"{key} = {_value(value)}"


def _figure(key: str, figure: Mapping[str, Any]) -> Iterator[str]:
    pairs = [f"{part} = {_value(value)}" for part, value in figure.items()]
    line = f"{key} = {{ {', '.join(pairs)} }}"
    if len(line) <= _WIDE:
        yield line
        return
    for pair in pairs:
        yield f"{key}.{pair}"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list):
        return "[" + ", ".join(_value(one) for one in value) + "]"
    return repr(value)
