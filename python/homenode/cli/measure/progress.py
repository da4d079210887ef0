"""How far a measurement is: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

from homenode.cli.progress import progress_bar
from homenode.hosts.progress import to_stderr

Tell = Callable[[str, float, float | None], None]


@contextlib.contextmanager
def session_progress(title: str) -> Iterator[Tell]:
    """Something for a session to report to."""
    if not sys.stderr.isatty():
        yield to_stderr()
        return
    with progress_bar(title) as update:

        def tell(doing: str, share: float, left: float | None) -> None:
            if update is not None:
                update(share, left, f"{title}: {doing}")

        yield tell
