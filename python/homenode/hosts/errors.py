"""What may go wrong while measuring: always the user's or the host's, never a traceback."""

from __future__ import annotations

from homenode.errors import HomenodeError, InputError


class MeasureError(HomenodeError):
    """Something about a measurement cannot be done; says what, why and what to do next."""


class ConnectionLostError(MeasureError):
    """The other of two hosts is gone, silent, or says what cannot be; nothing more can be asked of
    it.
    """


class MeasureFileError(InputError, MeasureError):
    """A suite's file is wrong; says at which line and column."""
