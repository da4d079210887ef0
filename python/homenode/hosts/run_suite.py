"""A measurement from its name to its file: what `homenode measure` and a notebook call."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from homenode.hosts.errors import MeasureError
from homenode.hosts.keeping import Keeper
from homenode.hosts.live import Host
from homenode.hosts.live.environment import capture
from homenode.hosts.peer.guests import Guest, GuestsSession, systems_of
from homenode.hosts.peer.paired import PairedSession
from homenode.hosts.peer.peer import Peer
from homenode.hosts.peer.transport import Way
from homenode.hosts.result import Result
from homenode.hosts.session import Options, Progress, Session, now, why, work_folder
from homenode.hosts.settings import System
from homenode.hosts.suite import Suite
from homenode.hosts.suite_file import load


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
    way: Way | None = None,
    guests: Sequence[Guest] = (),
) -> Kept:
    """Run a suite on this host and keep the result.

    With `way` to a peer its host is the one that is measured: servers run there, clients here.
    With `guests` each case runs on this host alone and in all of them at once, in turns.
    `out` is the result's file, `<suite>-<time>.json` in the current folder if not given; raw
    outputs lie in a folder beside it. Ctrl-C keeps what is finished: the result says so.
    From the first finished repetition on whatever goes wrong keeps what is finished too, with
    `trouble` saying what it was.
    Raises `MeasureError` when nothing could be measured; nothing is kept then but the raw outputs
    of what failed, in a folder that the message names (of an anonymous session not these).
    """

    def tell(doing: str, share: float, left: float | None) -> None:
        # A host that is never quiet is seen at once, and not when all is over.
        records = session.result.records if session is not None else []
        lost = sum(record.rejected is not None for record in records)
        note = f", {lost} of {len(records)} rejected so far" if lost else ""
        if progress is not None:
            progress(f"{doing}{note}", share, left)

    suite = load(suite) if isinstance(suite, str) else suite
    systems = systems_of(guests) if guests else systems
    options = options or Options()
    path = out or Path(f"{suite.name}-{datetime.now().astimezone():%Y%m%d-%H%M%S}.json")
    keeper = Keeper(path, anonymous=anonymous)
    session: Session | None = None
    trouble: str | None = None
    try:
        environment = capture(anonymous=anonymous)
        with (
            Host.open() as host,
            work_folder(None if way else options.folder) as work,
            _reached(way, anonymous=anonymous) as peer,
            _all_reached(guests, anonymous=anonymous) as peers,
        ):
            environment |= {"cgroups": _cgroups(host)}
            cpus = host.cpus if peer is None else peer.told.cpus
            sized, left = _sized(suite, systems, options, cpus)
            given = (sized, systems, left, keeper.raw, tell, keeper.so_far)
            if peers:
                session = GuestsSession(peers, *given)
            elif peer is None:
                session = Session(*given)
            else:
                session = PairedSession(peer, *given)
                host.gate.interrupts_are_ours = True
                _refuse_here(peer, options)
                environment = {**peer.told.environment, "client": environment}
            session.result.environment = environment
            session.run(host, work)
        _refuse_empty(session.result, keeper, anonymous=anonymous)
    except BaseException as error:
        if session is None or not session.result.records:
            keeper.drop()
            raise
        # Something went wrong beside the repetitions: these stay, and it is told.
        session.result.interrupted = True
        if not isinstance(error, KeyboardInterrupt):
            trouble = why(error)
    result = session.result
    result.settings["processors"] = list(options.processors)
    result.finished = result.finished or now()
    path, raw = keeper.finish(result)
    return Kept(result, path, raw, trouble, tuple(keeper.recovered))


@contextlib.contextmanager
def _reached(way: Way | None, *, anonymous: bool) -> Iterator[Peer | None]:
    """The peer, if there is one."""
    if way is None:
        yield None
        return
    with Peer(way, anonymous=anonymous) as peer:
        yield peer


@contextlib.contextmanager
def _all_reached(guests: Sequence[Guest], *, anonymous: bool) -> Iterator[dict[str, Peer]]:
    """The guests' agents, by name."""
    with contextlib.ExitStack() as open_:
        yield {
            guest.name: open_.enter_context(Peer(guest.way, anonymous=anonymous, serves=False))
            for guest in guests
        }


def _refuse_here(peer: Peer, options: Options) -> None:
    """Raise for a peer that is this machine, where the gate would take each side's work for that of
    others.
    """
    if peer.told.here and options.foreign_limit is not None:
        raise MeasureError(
            "the peer is this very machine: what its servers do would count as others' work",
            next_step="measure without --peer, or with --gate off",
        )


def _sized(
    suite: Suite, systems: Sequence[System], options: Options, cpus: Sequence[int]
) -> tuple[Suite, Options]:
    """The suite with loads that go by the processors filled in, and what is left of the options.

    Raises `MeasureError` for sides of several numbers of processors: what differs between them must
    not be the load.
    """
    if not suite.grows:
        return suite, options
    named = [system.setting.cpus for system in systems if system.setting.cpus is not None]
    there = {len(system.setting.cpus or cpus) for system in systems}
    if len(there) > 1:
        raise MeasureError(
            f"the sides have {' and '.join(map(str, sorted(there)))} processors, and a load goes "
            "by their number",
            next_step="write load in the suite, in place of load_per_processor",
        )
    if named and options.processors:
        raise MeasureError(
            "the sides name their processors, and --processors names others",
            next_step="leave one of them out",
        )
    counts = options.processors or (tuple(there) if named else ())
    return suite.sized(counts, min(there)), replace(options, processors=())


def _cgroups(host: Host) -> dict[str, object]:
    return {
        "kind": host.groups.kind,
        "can": sorted(host.groups.can),
        "why_not": host.groups.why_not,
        "exact_ends": host.ledger.exact,
    }


def _refuse_empty(result: Result, keeper: Keeper, *, anonymous: bool) -> None:
    """A result without any repetition is none; what the tools said is all there is to go by."""
    if result.records:
        return
    if result.interrupted:
        raise KeyboardInterrupt("interrupted before the first repetition was finished")
    first, others = result.failures[0], len(result.failures) - 1
    facts = [f"so did {others} more"] if others else []
    if not anonymous:
        facts.append(f"raw outputs in {_kept_apart(keeper)}")
    raise MeasureError(
        f"{first['case']} failed: {first['why']}",
        there="; ".join(facts),
        next_step="try a single case with --only" if others else "run its command by hand",
    )


def _kept_apart(keeper: Keeper) -> Path:
    """Where raw outputs go that belong to no result: never to those of another session."""
    place = keeper.path.with_name(f"{keeper.path.stem}-failed-{os.getpid()}.raw")
    number = 1
    while place.exists():
        number += 1
        place = place.with_name(f"{keeper.path.stem}-failed-{os.getpid()}-{number}.raw")
    return keeper.raw.staged.rename(place)
