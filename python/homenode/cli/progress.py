"""A progress bar with the time left: on a terminal only, and only for what takes more than a
second.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

from homenode.model.numbers import duration

if TYPE_CHECKING:
    from rich.progress import Progress

SHOW_AFTER_S = 1.0


class Update(Protocol):
    """Takes the share that is done, the seconds left, and what is being done."""

    def __call__(
        self, share: float, seconds_left: float | None, doing: str | None = None, /
    ) -> None:
        """Show it."""


@contextlib.contextmanager
def progress_bar(title: str) -> Iterator[Update | None]:
    """Something to report progress to; None where nobody would see it."""
    if not sys.stderr.isatty():
        yield None
        return
    bar = _Bar(title)
    try:
        yield bar.update
    finally:
        bar.close()


class _Bar:
    """A bar that appears after a while and leaves no trace."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._started = time.monotonic()
        self._progress: Progress | None = None

    def update(self, share: float, seconds_left: float | None, doing: str | None = None, /) -> None:
        """Show how much is done and how long it will take."""
        self._title = doing or self._title
        if self._progress is None:
            if time.monotonic() - self._started < SHOW_AFTER_S:
                return
            self._open()
        if self._progress is not None:
            left = "" if seconds_left is None else f"{duration(seconds_left)} left"
            self._progress.update(self._task, completed=share, left=left, description=self._title)

    def close(self) -> None:
        """Remove the bar."""
        if self._progress is not None:
            self._progress.stop()

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[left]}"),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._progress.add_task(self._title, total=1.0, left="")
        self._progress.start()
