"""`homenode top`: a frame as it goes on, on the screen of the terminal."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from homenode.cli import complete
from homenode.cli.output import OutOption, tell
from homenode.errors import InputError

if TYPE_CHECKING:
    from homenode.top.frames import Source

_DUMB = ("", "dumb", "unknown")
_RUN_FILE = "provenance.json"


def top(
    which: Annotated[
        list[str] | None,
        typer.Argument(
            help="A kept run; a scenario (FILE.toml), which is simulated; or recordings. The newest"
            " run if not given.",
            metavar="[RUN|SCENARIO|RECORDING...]",
            autocompletion=complete.runs,
        ),
    ] = None,
    replication: Annotated[
        int | None, typer.Option("--replication", help="Of a run: which.", metavar="N")
    ] = None,
    paused: Annotated[bool, typer.Option("--paused", help="Begin with the first frame.")] = False,
    out: OutOption = "runs",
) -> None:
    """Watch a run, a simulation or a recording.

    As nmon and topas show a system: partitions, virtual processors, nodes, dispatches. Of a kept
    run or a recording frames can be played, stepped through, gone back; a scenario is simulated and
    shown as it goes on, and kept when it is whole. h tells the keys.
    """
    words = which or ["latest"]
    _refuse_no_screen(words)
    if len(words) == 1 and Path(words[0]).suffix == ".toml":
        _live(Path(words[0]), out)
    elif len(words) == 1 and not _is_recording(Path(words[0])):
        from homenode.simulate.kept.kept_run import KeptRun
        from homenode.top.kept import KeptSource

        _show(KeptSource(KeptRun.load(words[0], out), replication), playing=not paused)
    else:
        from homenode.top.recorded import RecordedSource

        recorded = RecordedSource([Path(word) for word in words])
        _show(recorded, playing=not paused)
        for notice in recorded.notices:
            tell(str(notice))


def _is_recording(path: Path) -> bool:
    """Whether a word names something on the disk that is no kept run."""
    return path.exists() and not (path / _RUN_FILE).exists()


def _refuse_no_screen(words: list[str]) -> None:
    """Before anything is read: where nothing can be drawn, name what tells the same in words."""
    streams = sys.stdin, sys.stdout
    if all(stream is not None and stream.isatty() for stream in streams):
        kind = os.environ.get("TERM", "")
        if kind not in _DUMB:
            return
        problem = f"top draws on the screen of a terminal, which one with TERM={kind} cannot"
    else:
        problem = "top draws on the screen of a terminal, and this is none"
    named = "" if words == ["latest"] else f" {words[0]}"
    step = f"`homenode show{named} --over-time` tells in words what a run used in each interval"
    if Path(words[0]).suffix == ".toml":
        step = f"`homenode run{named}` and `homenode show --over-time` tell it in words"
    elif _is_recording(Path(words[0])):
        step = f"`homenode import --look{named}` tells in words what was recorded"
    raise InputError(problem, next_step=step)


def _live(scenario: Path, out: str) -> None:
    """Simulate and show; what is whole when the screen is left is kept."""
    from homenode.cli.scenarios import scenario_at
    from homenode.top.live import LiveSource, one_point

    source = LiveSource(one_point(scenario_at(scenario)), out)
    source.start()
    try:
        _show(source, playing=True, follows=True)
    finally:
        source.close()
        if source.error is not None:
            raise source.error
        kept = "stopped; nothing was whole, so nothing is kept"
        tell(kept if source.run is None else f"kept as {source.run.id}")


def _show(source: Source, *, playing: bool, follows: bool = False) -> None:
    """The screen, until somebody leaves it; a signal that asked for the end is handed on."""
    from homenode.top.clock import Clock
    from homenode.top.screen import TopApp

    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    handlers[signal.SIGINT] = signal.getsignal(signal.SIGINT)
    app = TopApp(source, Clock(playing=playing, follows=follows))
    app.run()
    for number, handler in handlers.items():
        signal.signal(number, handler)
    if app.ended_by is not None:
        signal.raise_signal(app.ended_by)
