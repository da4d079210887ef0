"""A machine description as TOML text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeGuard

from homenode.model.document.write import toml_value

_WIDE = 90


def machine_text(table: Mapping[str, object], source: str) -> str:
    """The file: names and single figures first, then the tables, caches before what is beyond."""
    lines = [
        f"# Made by homenode import of {source}.",
        "# What is assumed has a range; correct it.",
    ]
    for key, value in table.items():
        if isinstance(value, str):
            lines.append(f"{key} = {toml_value(value)}")
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


def _is_figure(value: object) -> TypeGuard[Mapping[str, object]]:
    return isinstance(value, dict) and "value" in value


def _inside(table: Mapping[str, object]) -> Iterator[str]:
    for key, value in table.items():
        if _is_figure(value):
            yield from _figure(key, value)
        else:
            yield f"{key} = {toml_value(value)}"


def _figure(key: str, figure: Mapping[str, object]) -> Iterator[str]:
    pairs = [f"{part} = {toml_value(value)}" for part, value in figure.items()]
    line = f"{key} = {{ {', '.join(pairs)} }}"
    if len(line) <= _WIDE:
        yield line
        return
    for pair in pairs:
        yield f"{key}.{pair}"
