"""Answers that were given lately: layouts are opened, undone and tried again by many."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from homenode.serve import layouts
from homenode.serve.solving import Solving

_MOST_BYTES = 32 << 20


class Answered:
    """Layouts as JSON, those that were asked for last."""

    def __init__(self, solving: Solving) -> None:
        self._solving = solving
        self._held: OrderedDict[tuple[str, int, str], bytes] = OrderedDict()
        self._bytes = 0

    async def layout(self, visitor: str, path: str, edits: Mapping[str, Any]) -> bytes:
        """A visitor's latest layout. Edits count in their order, as they are made."""
        key = (path, Path(path).stat().st_mtime_ns, json.dumps(edits))
        if key in self._held:
            self._held.move_to_end(key)
            return self._held[key]
        found: bytes = await self._solving.latest(visitor, layouts.answer_text, path, edits)
        self._keep(key, found)
        return found

    def _keep(self, key: tuple[str, int, str], found: bytes) -> None:
        self._bytes += len(found) - len(self._held.pop(key, b""))
        self._held[key] = found
        while self._bytes > _MOST_BYTES:
            self._bytes -= len(self._held.popitem(last=False)[1])
