"""Looks at a tree that goes on, by a tool that sleeps between them.

The tree changes once a second and the tool reads many files at a look, so a look has to lie in the
middle between two changes. On a machine with other work neither the tool nor the export need wake
up in time: whether they did is told by clocks, not by what the tool printed, and a look that was
late is taken again.
"""

from __future__ import annotations

import contextlib
import itertools
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from homenode import Run

_SECONDS = 6
"""How long the tree would go on [s]; it is ended as soon as the tool has ended."""
_TRIES = 6
_AFTER_A_STEP_S = 0.35
LATEST_S = 0.45
"""What a tool may take besides its sleeping: with the above it ends before the next change."""
_PUNCTUAL_S = 0.1


@dataclass
class Steps:
    """When a file of the tree was written, as the file system says [s]."""

    place: Path
    seen: list[float] = field(default_factory=list)

    def watch(self, ended: threading.Event) -> None:
        while not ended.wait(0.01):
            with contextlib.suppress(FileNotFoundError):
                moment = self.place.stat().st_mtime
                if not self.seen or moment > self.seen[-1]:
                    self.seen.append(moment)

    @property
    def punctual(self) -> bool:
        """Whether each change came a second after the one before it. How long after the tree was
        written its clock began, nobody is told.
        """
        changes = self.seen[1:]
        gaps = [after - before for before, after in itertools.pairwise(changes)]
        return bool(gaps) and all(abs(gap - 1) < _PUNCTUAL_S for gap in gaps)

    def wait(self, count: int, running: subprocess.Popen[bytes]) -> None:
        """Until the file was written so often."""
        while len(self.seen) < count:
            assert running.poll() is None, "the export ended too soon"
            time.sleep(0.01)


@contextlib.contextmanager
def _going_on(run: Run, partition: str, tree: Path) -> Iterator[Steps]:
    """A tree of a partition that goes on while the block runs; it has changed once."""
    command = ["export", run.id, "--as", "linux-power", "-p", partition, "--live", str(_SECONDS)]
    steps, ended = Steps(tree / "proc" / "uptime"), threading.Event()
    watching = threading.Thread(target=steps.watch, args=(ended,))
    with subprocess.Popen(
        [sys.executable, "-m", "homenode", *command, "-o", tree, "--out", run.path.parent],
        stdout=subprocess.DEVNULL,
    ) as running:
        watching.start()
        try:
            steps.wait(2, running)
            yield steps
        finally:
            ended.set()
            watching.join()
            running.send_signal(signal.SIGINT)
            running.wait(timeout=60)


def undisturbed(
    run: Run,
    partition: str,
    folder: Path,
    look: Callable[[Path], str],
    sleeping_s: float,
    afterwards: Callable[[Path], None] = lambda _: None,
) -> str:
    """What a tool that sleeps for so long in all [s] printed, every look of it between two changes;
    skips the test if this machine is too busy for one such look. `afterwards` is called while the
    tree still goes on, after a look that counts.
    """
    for attempt in range(_TRIES):
        tree = folder / f"live{attempt}"
        with _going_on(run, partition, tree) as steps:
            left = steps.seen[1] + _AFTER_A_STEP_S - time.time()
            time.sleep(max(left, 0.0))
            began = time.monotonic()
            text = look(tree)
            late = time.monotonic() - began - sleeping_s
            if left > 0 and late < LATEST_S and steps.punctual:
                afterwards(tree)
                return text
    pytest.skip(f"this machine is too busy: {_TRIES} looks at a live tree were late")
