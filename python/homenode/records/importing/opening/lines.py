"""Lines of a scenario file, each with a comment that says where its value comes from."""

from __future__ import annotations

import json
from collections.abc import Mapping

_WIDTH = 100


def line(key: str, value: object, origin: str) -> str:
    """A key with its value; where it comes from stands above it if the line would be long."""
    text, comment = f"{key} = {value_text(value)}", f"# {plain(origin)}"
    whole = f"{text}  {comment}"
    return whole if len(whole) <= _WIDTH else f"{comment}\n{text}"


def plain(text: str) -> str:
    """A text that fits a comment."""
    return "".join(c if c.isprintable() else "?" for c in text)


def value_text(value: object) -> str:
    """A value as TOML has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{key} = {value_text(entry)}' for key, entry in value.items())} }}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(value_text(entry) for entry in value)}]"
    return json.dumps(value)
