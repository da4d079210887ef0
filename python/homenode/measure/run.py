"""A measurement from its name to its file: what `homenode measure` and a notebook call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from homenode.measure.errors import MeasureError
from homenode.measure.host import Host
from homenode.measure.host.environment import capture
from homenode.measure.keeping import Keeper
from homenode.measure.result import Result
from homenode.measure.session import Options, Progress, Session, now, why, work_folder
from homenode.measure.settings import System
from homenode.measure.suite import Suite, load


@dataclass(frozen=True)
class Kept:
    """A session's result and where it lies."""

    result: Result
    path: Path
    raw: Path
    trouble: str | None = None
    """What ended the session early, such as a command of a side that failed."""
    recovered: tuple[Path, ...] = ()
    """Results of sessions that were killed, found beside this one."""


def run_suite(
    suite: str | Suite,
    systems: Sequence[System] = (System("host"),),
    options: Options | None = None,
    *,
    out: Path | None = None,
    anonymous: bool = False,
    progress: Progress | None = None,
) -> Kept:
    """Run a suite on this host and keep the result.

    `out` is the result's file, `<suite>-<time>.json` in the current folder if not given; raw
    outputs lie in a folder beside it. Ctrl-C keeps what is finished: the result says so.
    From the first finished repetition on whatever goes wrong keeps what is finished too, with
    `trouble` saying what it was.
    Raises `MeasureError` when nothing could be measured; nothing is kept then.
    """
    suite = load(suite) if isinstance(suite, str) else suite
    options = options or Options()
    path = out or Path(f"{suite.name}-{datetime.now().astimezone():%Y%m%d-%H%M%S}.json")
    keeper = Keeper(path, anonymous=anonymous)
    session: Session | None = None
    trouble: str | None = None
    try:
        environment = capture(anonymous=anonymous)
        with Host.open() as host, work_folder(options.folder) as work:
            session = Session(
                suite, systems, options, raw=keeper.raw, progress=progress, keep=keeper.so_far
            )
            session.result.environment = environment | {"cgroups": _cgroups(host)}
            session.run(host, work)
        _refuse_empty(session.result)
    except BaseException as error:
        if session is None or not session.result.records:
            keeper.drop()
            raise
        # Something went wrong beside the repetitions: these stay, and it is told.
        session.result.interrupted = True
        if not isinstance(error, KeyboardInterrupt):
            trouble = why(error)
    result = session.result
    result.finished = result.finished or now()
    path, raw = keeper.finish(result)
    return Kept(result, path, raw, trouble, tuple(keeper.recovered))


def _cgroups(host: Host) -> dict[str, object]:
    return {
        "kind": host.groups.kind,
        "can": sorted(host.groups.can),
        "why_not": host.groups.why_not,
        "exact_ends": host.ledger.exact,
    }


def _refuse_empty(result: Result) -> None:
    """A result without any repetition is none."""
    if result.records:
        return
    if result.interrupted:
        raise KeyboardInterrupt("interrupted before the first repetition was finished")
    first = result.failures[0]
    raise MeasureError(
        f"{first['case']} failed: {first['why']}",
        there=f"so did the other {len(result.failures) - 1} tries",
        next_step="try a single case with --only",
    )
