"""A session on this host and in its virtual machines: in turns each case runs on the host alone,
and in all guests at once. Each guest runs an agent, and makes its repetitions by itself.

A guest's record has what the guest says: work, response times, processor time by its own account.
Beside it (`details.guest`) stands what it cost here in the same time: the processor time of the
machine's process, and of that what its virtual processors ran the guest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from homenode.hosts.bench import Account
from homenode.hosts.errors import MeasureError
from homenode.hosts.live.machines import Watched, process_of
from homenode.hosts.order import Turn
from homenode.hosts.peer.clock import Clocks
from homenode.hosts.peer.peer import Asked, Peer, Whole
from homenode.hosts.peer.transport import Way
from homenode.hosts.record import RunRecord
from homenode.hosts.requirements import Refusal
from homenode.hosts.session import PREPARE_LIMIT_S, Cell, Session, make_record
from homenode.hosts.settings import System, named
from homenode.hosts.suite import Row

HOST = "host"
"""The system that is this host alone."""
GUESTS = "guests"
"""The turn of all guests; its records are each guest's own."""

Done = TypeVar("Done")


@dataclass(frozen=True)
class Guest:
    """A virtual machine of this host."""

    name: str
    """As its hypervisor names it, so that its process is found."""
    way: Way
    """To the agent in it."""


@dataclass(frozen=True)
class _Made:
    """A guest's repetition, with its measured time by our clock."""

    whole: Whole
    start: float
    end: float


def systems_of(guests: Sequence[Guest]) -> tuple[System, System]:
    """The two that take turns.

    Raises `MeasureError` for names that cannot be told apart, or that no table could show.
    """
    names = [named(guest.name).name for guest in guests]
    for name in names:
        if name in (HOST, GUESTS) or names.count(name) > 1:
            raise MeasureError(
                f"a guest cannot be named {name!r}: "
                + ("so is the host" if name in (HOST, GUESTS) else "so is another"),
                next_step="give each guest the name that its hypervisor knows it by",
            )
    return named(HOST), named(GUESTS)


class GuestsSession(Session):
    """Turns of the host alone and of all guests at once."""

    def __init__(self, peers: Mapping[str, Peer], *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self._peers = dict(peers)
        found = {name: process_of(name) for name in peers}
        self._machines = {name: one for name, one in found.items() if one is not None}

    def _refusal(self, row: Row) -> Refusal | None:
        """Why a case cannot run here or in a guest."""
        here = super()._refusal(row)
        if here is not None:
            return here
        for name, peer in self._peers.items():
            there = peer.refusal(row, whole=True)
            if there is not None:
                return replace(there, why=f"in guest {name}: {there.why}")
        return None

    def _describe(self, cells: Sequence[Cell]) -> None:
        """The systems are the host and each guest."""
        super()._describe(cells)
        self.result.systems = {HOST: self._systems[HOST].as_json()}
        for name, peer in self._peers.items():
            told = peer.told
            self.result.systems[name] = {
                "guest_of": HOST,
                "processors": len(told.cpus),
                "environment": dict(told.environment),
                "process_found": name in self._machines,
            }
        self.result.settings["guests"] = list(self._peers)

    def _prepare(self, cell: Cell, system: System) -> None:
        """Once a case and system: what it needs, on the host or in each guest. On the host first,
        whoever has the first turn: versions are the same in each order.
        """
        super()._prepare(cell, self._systems[HOST])
        if system.name in cell.prepared:
            return
        asked, row = self._asked(cell, system, PREPARE_LIMIT_S), cell.row
        versions = self._at_once(lambda peer: peer.prepare(asked, whole=True))
        for name, version in versions.items():
            known = self.result.versions[row.adapter.name]
            # What differs between two systems that are compared is told beside the version.
            if version not in known:
                self.result.versions[row.adapter.name] = f"{known}; {version} ({name})"
        if row.warm_up:
            limit = self._asked(cell, system, self._limit_s(row))
            self._at_once(lambda peer: peer.whole(limit, self._seconds(row)))
        cell.prepared.add(system.name)

    def _repetition(self, cell: Cell, system: System, turn: Turn, attempt: int) -> RunRecord:
        """One on the host, or one in each guest; of these all but the last are kept here."""
        if system.name == HOST:
            return super()._repetition(cell, system, turn, attempt)
        made, watched = self._together(cell, system)
        limit, records, reasons = self.options.foreign_limit, [], []
        for name, one in made.items():
            told = one.whole
            self._keep_printed(cell, f"{name}-{turn.replicate}-{attempt}", told.outputs)
            guest = self._told(name, one, made, watched)
            account = replace(told.account, details={**told.account.details, "guest": guest})
            record = make_record(
                cell,
                named(name),
                turn,
                told.output,
                account,
                order=self._order,
                processors=told.processors,
            )
            records.append(record)
            reason = None if limit is None else self._why_not(account, limit)
            reasons += [] if reason is None else [f"in guest {name} {reason}"]
        self._order += 1
        # They ran at once: what disturbed one of them disturbed all.
        rejected = reasons[0] if reasons else None
        *others, last = [replace(record, rejected=rejected) for record in records]
        self.result.records += others
        return last

    def _why_not(self, account: Account, limit: float) -> str | None:
        """In a guest stolen time is what is measured, and no reason against it."""
        if "guest" in account.details:
            return account.quiet.reason(limit, math.inf)
        return super()._why_not(account, limit)

    def _together(self, cell: Cell, system: System) -> tuple[dict[str, _Made], Watched]:
        """The case in all guests at once, watched from here."""
        row = cell.row
        asked = self._asked(cell, system, self._limit_s(row))

        def one(peer: Peer) -> _Made:
            before = peer.clock()
            whole = peer.whole(asked, self._seconds(row))
            clocks = Clocks(before, peer.clock())
            return _Made(whole, *(clocks.ours(moment) for moment in whole.window))

        with Watched(self._machines) as watched:
            return self._at_once(one), watched

    def _told(
        self, name: str, one: _Made, all_of_them: Mapping[str, _Made], watched: Watched
    ) -> dict[str, object]:
        """What a guest cost here, what it believes, and how long the others ran beside it."""
        start = max(other.start for other in all_of_them.values())
        end = min(other.end for other in all_of_them.values())
        length = one.end - one.start
        cost = watched.between(name, one.start, one.end)
        real, in_guest = (None, None) if cost is None else cost
        return {
            "real_s": real,
            "in_guest_s": in_guest or None,
            "virtual_s": one.whole.counts.get("busy_s"),
            "beside_share": max(0.0, end - start) / length if length > 0.0 else None,
        }

    def _asked(self, cell: Cell, system: System, limit_s: float) -> Asked:
        return Asked(cell.row, cell.processors, system.setting, limit_s)

    def _at_once(self, do: Callable[[Peer], Done]) -> dict[str, Done]:
        """The same of all guests; the first that fails is told when all have come back. Who is
        asked to end does not wait for them: they end with their connections.
        """
        with ThreadPoolExecutor(len(self._peers)) as pool:
            asked = {name: pool.submit(do, peer) for name, peer in self._peers.items()}
            try:
                wait(asked.values())
            except KeyboardInterrupt:
                for peer in self._peers.values():
                    peer.close()
                raise
        return {name: one.result() for name, one in asked.items()}

    def _keep_printed(self, cell: Cell, name: str, outputs: Mapping[str, str]) -> None:
        """What a guest's programs printed, beside our own raw outputs."""
        folder = self._raw.folder(f"{cell.id}-{name}".replace("/", "-"))
        for number, (file, printed) in enumerate(outputs.items()):
            plain = "".join(c if c.isalnum() or c in "-._" else "_" for c in file)[-100:]
            (folder / f"{number:02d}-{plain}").write_text(printed, "utf-8", "replace")
