"""A session on two hosts: servers on the peer, their clients here.

The peer is the host that is measured: processors, busy, switches and processor time of a record are
its servers'. What the clients took here stands beside it (`details.hosts`), as does what each whole
host did in the same time, and how well that time is known to be the same (`details.clock`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

from homenode.hosts.adapter import Output, Serves
from homenode.hosts.bench import Account, Place
from homenode.hosts.errors import MeasureError
from homenode.hosts.live.cgroups import Setting
from homenode.hosts.live.gate import Quiet
from homenode.hosts.live.hostwide import Counts, device_of
from homenode.hosts.live.packages import cache_of
from homenode.hosts.peer.bench import ClientBench
from homenode.hosts.peer.clock import Clocks
from homenode.hosts.peer.peer import Asked, Peer
from homenode.hosts.requirements import Refusal, refusals
from homenode.hosts.session import (
    PREPARE_LIMIT_S,
    Cell,
    Session,
    made_folder,
    refuse_absent,
    removed,
)
from homenode.hosts.settings import System
from homenode.hosts.suite import Row


@dataclass(frozen=True)
class PairedAccount(Account):
    """The servers' account, with how quiet it was on each host."""

    quiets: Mapping[str, Quiet]


class _Window:
    """The measured time of a repetition on both hosts."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self.clocks: Clocks | None = None

    def begin(self) -> None:
        self._before = self._peer.clock()
        self._from = self._peer.measuring()

    def end(self) -> None:
        self._to = self._peer.measured()
        self.clocks = Clocks(self._before, self._peer.clock())

    def told(self, ours: tuple[float, float]) -> dict[str, float]:
        """How the two windows lie to each other, and how surely."""
        if self.clocks is None:
            raise MeasureError("the adapter marked no measured time")
        clocks = self.clocks
        return {
            "offset_s": clocks.before.offset_s,
            "uncertainty_s": clocks.uncertainty_s,
            "drift_ppm": clocks.drift_ppm,
            "drift_uncertainty_ppm": clocks.drift_uncertainty_ppm,
            "server_begins_before_s": ours[0] - clocks.ours(self._from),
            "server_ends_after_s": clocks.ours(self._to) - ours[1],
        }


class PairedSession(Session):
    """Turns of cases whose servers run on a peer."""

    def __init__(self, peer: Peer, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self._peer = peer

    def _refusal(self, row: Row) -> Refusal | None:
        """Why a case cannot run on the two hosts."""
        if not isinstance(row.adapter, Serves):
            why = "its programs run on one host only"
            return Refusal(row.id, why, "measure it on each host without --peer")
        here = refusals(row, self._work, "client")
        if here is not None:
            return here
        there = self._peer.refusal(row)
        return there and replace(there, why=f"on the peer: {there.why}")

    def _describe(self, cells: Sequence[Cell]) -> None:
        """What differs from a session on one host: the peer's groups are those that count."""
        super()._describe(cells)
        told = self._peer.told
        can = told.environment.get("cgroups", {}).get("can", ())
        self.result.settings |= {
            "affinity": "cpuset" if "cpuset" in can else "affinity",
            "cgroups": told.environment.get("cgroups", {}).get("kind"),
            "hosts": 2,
        }

    def _check(self, system: System) -> None:
        """Raise for a setting that the peer cannot make: it is made for the servers."""
        if system.env:
            raise MeasureError(
                f"system {system.name} asks for variables: a peer sets none for its servers",
                next_step="leave env= out",
            )
        refuse_absent(system, self._peer.told.cpus)
        self._peer.check(system.setting)

    def _cpus(self, system: System) -> tuple[int, ...]:
        """Of the peer: it is its processors that a case is run with."""
        return system.setting.cpus or self._peer.told.cpus

    def _prepare(self, cell: Cell, system: System) -> None:
        """Once a case and number of processors: what its servers need, versions, a warm-up."""
        if system.name in cell.prepared:
            return
        row = cell.row
        name = f"prepare-{cell.id}-{self._count(cell, system)}-{system.name}"
        asked = Asked(row, cell.processors, system.setting, PREPARE_LIMIT_S)
        server = self._peer.prepare(asked)
        with self._client(row, name, PREPARE_LIMIT_S) as bench:
            client = row.serves.version_of("client", bench)
        both = server if server == client else f"{server} (server), {client} (client)"
        self.result.versions.setdefault(row.adapter.name, both)
        if row.warm_up:
            self._measured(cell, system, f"warm-up-{name}")
        cell.prepared.add(system.name)

    def _measured(self, cell: Cell, system: System, name: str) -> tuple[Output, Account, int]:
        """One repetition on both hosts."""
        row, limit_s = cell.row, self._limit_s(cell.row)
        asked = Asked(row, cell.processors, system.setting, limit_s)
        served, count = self._peer.begin(asked)
        window = _Window(self._peer)
        with self._client(row, name, limit_s, window) as bench:
            try:
                output = row.serves.ask(row.case, bench, served, seconds=self._seconds(row))
                account = self._account(bench.account(), bench, window, count)
            except BaseException:
                # What went wrong first is what is told.
                with suppress(MeasureError):
                    self._keep_outputs(name)
                raise
        self._keep_outputs(name)
        return output, account, count

    def _account(
        self, ours: Account, bench: ClientBench, window: _Window, count: int
    ) -> PairedAccount:
        """That of the servers, with both hosts' beside it."""
        there = self._peer.accounts()
        theirs = there.account
        quiets = {"server": theirs.quiet, "client": ours.quiet}
        worst = replace(
            theirs.quiet,
            foreign=max(quiet.foreign for quiet in quiets.values()),
            steal=max(quiet.steal for quiet in quiets.values()),
        )
        hosts = {
            "server": _host(theirs, there.counts, count),
            "client": _host(ours, bench.counts, len(bench.processors)),
        }
        told = {"hosts": hosts, "clock": window.told(bench.window)}
        fields = {name: getattr(theirs, name) for name in Account.__dataclass_fields__}
        fields |= {"quiet": worst, "details": {**theirs.details, **told}}
        return PairedAccount(**fields, quiets=quiets)

    def _why_not(self, account: Account, limit: float) -> str | None:
        """Why a repetition does not count: either host was not quiet."""
        if not isinstance(account, PairedAccount):
            return super()._why_not(account, limit)
        for side, quiet in account.quiets.items():
            reason = quiet.reason(limit, self.options.steal_limit)
            if reason is not None:
                return f"on the {side}'s host {reason}"
        return None

    def _wait_quiet(self, limit: float) -> None:
        """Wait for others on both hosts to end what they do, as long as there is patience."""
        super()._wait_quiet(limit)
        if self._patience_s <= 0:
            return
        began = time.monotonic()
        longest = min(self.options.wait_quiet_s, self._patience_s)
        if not self._peer.wait_quiet(longest, limit, self.options.steal_limit):
            self._patience_s -= time.monotonic() - began

    def _keep_outputs(self, name: str) -> None:
        """End the servers, and put what they printed beside our own raw outputs."""
        folder = self._raw.folder(f"{name.replace('/', '-')}-peer")
        for number, text in enumerate(self._peer.end().items()):
            file, printed = text
            plain = "".join(c if c.isalnum() or c in "-._" else "_" for c in file)[-100:]
            (folder / f"{number:02d}-{plain}").write_text(printed, "utf-8", "replace")

    @contextmanager
    def _client(
        self, row: Row, name: str, limit_s: float, window: _Window | None = None
    ) -> Iterator[ClientBench]:
        """A bench for the clients, which may use all processors here."""
        host = self._host
        plain = name.replace("/", "-")
        folder = made_folder(self._work / "runs" / plain)
        setting = Setting(cpus=host.cpus if "cpuset" in host.groups.can else None)
        bench = ClientBench(
            host=host,
            group=host.group(plain, setting),
            place=Place(folder, folder, cache_of(row.adapter.name), self._raw.folder(plain)),
            processors=host.cpus,
            deadline=time.monotonic() + limit_s,
            affinity=None if setting.cpus is not None else host.cpus,
            device=device_of(self._peer.told.clients),
        )
        if window is not None:
            bench.begin, bench.end = window.begin, window.end
        with removed(bench, folder):
            yield bench


def _host(account: Account, counts: Counts, processors: int) -> dict[str, object]:
    """What one host did in the measured time."""
    return {
        "processors": processors,
        "seconds": account.seconds,
        "cpu_s": account.cpu.total,
        "user_s": account.cpu.user,
        "system_s": account.cpu.system,
        "foreign": account.quiet.foreign,
        "steal": account.quiet.steal,
        **counts,
    }
