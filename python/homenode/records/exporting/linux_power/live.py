"""A tree that goes on: the end of one kept interval after the other, at the speed of the clock on
the wall, so that a tool that sleeps between two looks sees what the run counted in between.

The tree changes at the ends of intervals only; a tool should look in the middle between them. Files
that tools open anew are replaced by renaming, so that none is ever seen half written. Files that
tools keep open are written over in place with as many bytes as before. The statistics of dispatches
start when a tool asks for them by writing to the file, as the kernel has it, and stop when it
writes a 0.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from homenode.records.exporting.linux_power import files
from homenode.records.exporting.linux_power.state import Partition, State

_LOOK_S = 0.05
"""How often the file that tools write to is looked at [s]."""
_OFF = b"off\n"


class LiveTree:
    """A tree at a place, which can be set to later states."""

    def __init__(self, root: Path, partition: Partition, first: State) -> None:
        self._root = root
        self._partition = partition
        self._state = first
        self._since: State | None = None
        """When somebody asked for statistics of dispatches."""
        self._seen = _OFF
        """What was in the file of statistics when it was last shown or heeded."""
        self._replace(files.STATISTICS, _OFF)

    def play(self, later: Iterable[State]) -> None:
        """Show each state when its time has come, counted from now for the first."""
        began = time.monotonic()
        first_ns = self._state.elapsed_ns
        for state in later:
            self._wait_until(began + (state.elapsed_ns - first_ns) / 1e9)
            self._show(state)

    def linger(self, seconds: float) -> None:
        """Leave the tree as it is for a while, heeding what tools write."""
        self._wait_until(time.monotonic() + seconds)

    def _wait_until(self, moment: float) -> None:
        while (left := moment - time.monotonic()) > 0:
            self._heed()
            time.sleep(min(left, _LOOK_S))

    def _show(self, state: State) -> None:
        self._state = state
        for name, content in files.held(self._partition, state).items():
            self._write_over(name, content)
        for name, content in files.moving(self._partition, state).items():
            self._replace(name, content)
        self._heed()
        self._show_statistics()

    def _heed(self) -> None:
        """Start or stop counting dispatches if a tool wrote to the file; one that has only emptied
        it so far is about to.
        """
        content = (self._root / files.STATISTICS).read_bytes()
        if content in (self._seen, b""):
            return
        self._seen = content
        stopped = content.strip() == b"0"
        if stopped:
            self._since = None
        elif self._since is None:
            self._since = self._state
        self._show_statistics()

    def _show_statistics(self) -> None:
        if self._since is None or self._since.dispersion is None:
            shown = _OFF
        else:
            state = replace(self._state, dispersion_before=self._since.dispersion)
            shown = files.statistics(self._partition, state)
        # What a tool has written since is heeded first; it would be lost with the file.
        if (self._root / files.STATISTICS).read_bytes() == self._seen:
            self._seen = shown
            self._replace(files.STATISTICS, shown)

    def _replace(self, name: str, content: bytes) -> None:
        place = self._root / name
        aside = place.with_name(f".{place.name}.new")
        aside.write_bytes(content)
        aside.replace(place)

    def _write_over(self, name: str, content: bytes) -> None:
        descriptor = os.open(self._root / name, os.O_WRONLY)
        try:
            os.pwrite(descriptor, content, 0)
        finally:
            os.close(descriptor)
