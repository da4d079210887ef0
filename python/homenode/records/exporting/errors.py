"""What an export can refuse."""

from __future__ import annotations

from homenode.errors import HomenodeError


class ExportError(HomenodeError, ValueError):
    """A run cannot be written in that form, or not to that place."""
