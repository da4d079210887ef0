"""A measurement from its name to its file: what `homenode measure` and a notebook call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from homenode.measure.errors import MeasureError
from homenode.measure.host import Host
from homenode.measure.host.environment import capture
from homenode.measure.result import RawOutputs, Result, raw_folder, save
from homenode.measure.session import Options, Progress, Session, work_folder
from homenode.measure.settings import System
from homenode.measure.suite import Suite, load


@dataclass(frozen=True)
class Kept:
    """A session's result and where it lies."""

    result: Result
    path: Path
    raw: Path


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
    Raises `MeasureError` when nothing could be measured; nothing is kept then.
    """
    suite = load(suite) if isinstance(suite, str) else suite
    options = options or Options()
    path = out or Path(f"{suite.name}-{datetime.now().astimezone():%Y%m%d-%H%M%S}.json")
    _writable(path)
    unfinished = path.with_name(f".{path.stem}.unfinished.json")
    raw = RawOutputs(raw_folder(path))
    try:
        environment = capture(anonymous=anonymous)
        with Host.open() as host, work_folder(options.folder) as work:

            def keep(result: Result) -> None:
                save(result, unfinished)

            session = Session(suite, systems, options, raw=raw, progress=progress, keep=keep)
            session.result.environment = environment | {"cgroups": _cgroups(host)}
            result = session.run(host, work)
        _refuse_empty(result)
        place = raw.keep()
        return Kept(result, save(result, path), place)
    except BaseException:
        raw.drop()
        raise
    finally:
        unfinished.unlink(missing_ok=True)


def _cgroups(host: Host) -> dict[str, object]:
    return {
        "kind": host.groups.kind,
        "can": sorted(host.groups.can),
        "why_not": host.groups.why_not,
        "exact_ends": host.ledger.exact,
    }


def _writable(path: Path) -> None:
    """Before the long part: whether the result can be kept."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MeasureError(
            f"{path.parent} cannot be made: {error.strerror}",
            next_step="give another place with -o",
        ) from error
    if path.is_dir() or path.suffix != ".json":
        raise MeasureError(
            f"{path} is no name for a result", next_step="give a file that ends in .json"
        )


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
