"""The tools that show a partition of AIX, by the name of the command."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from homenode.tools import lparstat, lssrad, mpstat, sar, vmstat
from homenode.tools.view import RunView

TOOLS: dict[str, ModuleType] = {
    "lparstat": lparstat,
    "mpstat": mpstat,
    "vmstat": vmstat,
    "sar": sar,
    "lssrad": lssrad,
}
"""Name of the command to its module."""


def render(tool: str, view: RunView, argv: Sequence[str]) -> str:
    """What the tool would print."""
    text: str = TOOLS[tool].render(view, argv)
    return text


def rows(tool: str, view: RunView, argv: Sequence[str]) -> list[dict[str, Any]]:
    """The same as unrounded numbers."""
    found: list[dict[str, Any]] = TOOLS[tool].rows(view, argv)
    return found
