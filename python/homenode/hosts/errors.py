"""What may go wrong while measuring: always the user's or the host's, never a traceback."""

from __future__ import annotations

from homenode.errors import HomenodeError


class MeasureError(HomenodeError):
    """Something about a measurement cannot be done; says what, why and what to do next."""
