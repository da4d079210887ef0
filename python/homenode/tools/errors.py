"""What a view of a tool can refuse: flags, intervals, configurations it cannot show."""

from __future__ import annotations

from homenode.errors import HomenodeError


class ToolError(HomenodeError, ValueError):
    """The tool cannot show what was asked of this run."""


class UsageError(ToolError):
    """The tool was called with something that is none of its flags or operands."""
