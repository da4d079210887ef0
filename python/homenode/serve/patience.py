"""How long a client may take to say what he asks: who never ends it goes, and holds nothing."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

HEAD_S = 30.0
"""From when a connection is made, or its last answer went out, until a request has begun."""
BODY_S = 30.0
"""Until all of what is asked has come; files have a time of their own."""


class Patience(H11Protocol):
    """A connection that is closed if no request begins in time; uvicorn waits for one as long as it
    comes in pieces.
    """

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Waits for the first request."""
        super().connection_made(transport)
        self._wait()

    def on_response_complete(self) -> None:
        """Waits for the next one."""
        super().on_response_complete()
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Waits no more."""
        self._calm()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._calm()
        self._timer = self.loop.call_later(HEAD_S, self.leave)

    def _calm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def leave(self) -> None:
        """Closes, unless an answer is on its way."""
        at_work: RequestResponseCycle | None = self.cycle
        if at_work is None or at_work.response_complete:
            self.transport.close()
