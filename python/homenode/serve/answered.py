"""Answers that were given lately: layouts are opened, undone and tried again by many."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from homenode.serve.figures import figures_text
from homenode.serve.layouts import answer_text
from homenode.serve.solving import Solving

_MOST_BYTES = 32 << 20
_AT_ONCE_S = 0.15
"""What takes no longer is taken to come at once, by people: there is no need for first figures."""
_SOON_S = 0.3
"""The same where others come before: who gets both has others wait for longer yet."""
Call = Callable[[str, Mapping[str, Any]], bytes]


class Answered:
    """Layouts as JSON, those that were asked for last."""

    def __init__(self, solving: Solving) -> None:
        self._solving = solving
        self._held: OrderedDict[tuple[Call, str, int, str], bytes] = OrderedDict()
        self._bytes = 0

    async def layout(self, visitor: str, path: str, edits: Mapping[str, Any]) -> bytes:
        """A visitor's latest layout. Edits count in their order, as they are made."""
        return self._known(answer_text, path, edits) or await self._asked(
            answer_text, visitor, path, edits, rests=bool(edits)
        )

    async def figures(self, visitor: str, path: str, edits: Mapping[str, Any]) -> bytes:
        """The first figures of a visitor's latest layout; all of it where that is known, or there
        as soon: who gets both has the layout worked out twice.
        """
        for call in (answer_text, figures_text):
            if known := self._known(call, path, edits):
                return known
        desk = self._solving
        soon = desk.there_in(answer_text, path) <= _SOON_S
        if soon and desk.took(answer_text, path) <= _AT_ONCE_S:
            return await self._asked(answer_text, visitor, path, edits, urgent=True)
        return await self._asked(figures_text, visitor, path, edits, urgent=True)

    def _known(self, call: Call, path: str, edits: Mapping[str, Any]) -> bytes | None:
        key = _key(call, path, edits)
        if key in self._held:
            self._held.move_to_end(key)
        return self._held.get(key)

    async def _asked(
        self,
        call: Call,
        visitor: str,
        path: str,
        edits: Mapping[str, Any],
        *,
        urgent: bool = False,
        rests: bool = False,
    ) -> bytes:
        key = _key(call, path, edits)
        found: bytes = await self._solving.latest(
            visitor, call, path, edits, urgent=urgent, rests=rests
        )
        self._bytes += len(found) - len(self._held.pop(key, b""))
        self._held[key] = found
        while self._bytes > _MOST_BYTES:
            self._bytes -= len(self._held.popitem(last=False)[1])
        return found


def _key(call: Call, path: str, edits: Mapping[str, Any]) -> tuple[Call, str, int, str]:
    return call, path, Path(path).stat().st_mtime_ns, json.dumps(edits)
