"""What the system's own tools would print of a run: lparstat, mpstat, vmstat, sar, lssrad.

Entry points: `render` and `rows` for those five; `vparstatus`, `parstatus`, `hyptop`, `fcx` and
`sysinfo` are modules of their own. Each tool is a module with `render(view, argv)` for the text and
`rows(view, argv)` for the same as numbers; both take the tool's own flags. What they show is a pure
function of counters (`Sample`) and of what the partition knows of itself (`SystemConfiguration`);
numbers are exact until the last step puts them into columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from homenode.tools import lparstat, lssrad, mpstat, sar, vmstat
from homenode.tools.configuration import Limits, Srad, SystemConfiguration, from_spec
from homenode.tools.errors import ToolError, UsageError
from homenode.tools.intervals import Sample, samples
from homenode.tools.view import FrameView, KeptRunView, RunView

__all__ = [
    "TOOLS",
    "FrameView",
    "KeptRunView",
    "Limits",
    "RunView",
    "Sample",
    "Srad",
    "SystemConfiguration",
    "ToolError",
    "UsageError",
    "from_spec",
    "render",
    "rows",
    "samples",
]

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
