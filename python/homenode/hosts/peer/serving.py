"""The agent's side of one session: it answers requests, one at a time, until its client goes.

A request names a case of an adapter that serves; which programs that starts, and with which words,
the adapter decides, from parameters that it has checked. Should the client go, say nothing for too
long, or a repetition take longer than it may, everything that was started ends with the session.
"""

from __future__ import annotations

import dataclasses
import os
import shutil
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from homenode.errors import HomenodeError, Where
from homenode.hosts.adapter import At
from homenode.hosts.adapters.registry import adapter
from homenode.hosts.anonymous import Names
from homenode.hosts.bench import PORTS, Place
from homenode.hosts.errors import ConnectionLostError, MeasureError
from homenode.hosts.live import Host
from homenode.hosts.live.cgroups import Setting
from homenode.hosts.live.cpus import pick
from homenode.hosts.live.environment import capture
from homenode.hosts.live.guard_process import ENDING
from homenode.hosts.live.hostwide import device_of
from homenode.hosts.live.network import Loopback
from homenode.hosts.live.packages import cache_of
from homenode.hosts.peer.bench import CountedBench
from homenode.hosts.peer.messages import FORM, MOST_REQUEST, Channel, Message
from homenode.hosts.requirements import refusals
from homenode.hosts.session import made_folder, removed, work_folder
from homenode.hosts.suite import Row, case_of
from homenode.version import program_version

SILENCE_S = 180.0
"""How long a client may say nothing between two repetitions."""
_MOST_S = 24 * 3600.0
"""Of a session."""
_LONGEST_S = 2 * 3600.0
"""That a repetition, or making what it needs, may be asked to take."""
_ON = Where("the client's request")
_OUTPUT_BYTES = 64 << 10
_OUTPUTS_BYTES = 4 << 20
_REACH_S = 10.0
_LOOK_S = 0.2
BOOT = Path("/proc/sys/kernel/random/boot_id")


def serve_streams(folder: Path | None = None) -> None:
    """A session over this process's standard streams, as ssh and a listening agent give them."""
    reading, writing = os.dup(0), os.dup(1)
    # Nothing but messages may reach the client, whatever a library prints.
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    sys.stdout.flush()
    channel = Channel(reading, writing, most=MOST_REQUEST)
    with Host.open() as host, work_folder(folder) as work:
        channel.send({"homenode": FORM, "version": program_version()})
        # What comes in from the other host is work of this measurement.
        host.gate.interrupts_are_ours = True
        Serving(channel, host, work).run()


class Serving:
    """What one client has asked for."""

    def __init__(self, channel: Channel, host: Host, work: Path) -> None:
        self._channel, self._host, self._work = channel, host, work
        self._at = At()
        self._names = Names(())
        self._ports = PORTS
        self._device: str | None = None
        self._data: dict[str, Path] = {}
        self._count = 0
        self._silence_s = SILENCE_S
        self._namespace: Loopback | None = None
        self._running = ExitStack()
        self._bench: CountedBench | None = None
        self._probe: socket.socket | None = None

    def run(self) -> None:
        """Until the client has said goodbye, is gone, or for as long as a session may take."""
        until = time.monotonic() + _MOST_S
        try:
            while time.monotonic() < until:
                request = self._channel.receive(limit_s=self._silence_s)
                if request.get("ask") == "bye":
                    return
                self._channel.send(self._answer(request))
        except ConnectionLostError:
            return  # nobody is left to be told
        finally:
            # Asked to end while it tidies, it does that anyway, and leaves nothing behind.
            signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
            self._running.close()

    def _answer(self, request: Message) -> Message:
        """What was asked for, or why not."""
        known: Mapping[str, Callable[..., Message]] = {
            "hello": self._hello,
            "reach": self._reach,
            "reached": self._reached,
            "clock": self._clock,
            "quiet": self._quiet,
            "refusal": self._refusal,
            "check": self._check,
            "prepare": self._prepare,
            "begin": self._begin,
            "whole": self._whole,
            "measuring": self._measuring,
            "measured": self._measured,
            "account": self._account,
            "end": self._end,
        }
        name = str(request.pop("ask", ""))
        try:
            if name not in known:
                raise MeasureError(f"an agent is not asked for {name!r}")
            return {"answer": known[name](**request)}
        except ConnectionLostError:
            raise
        except HomenodeError as error:
            why = str(error)
        except (TypeError, ValueError, KeyError, OSError) as error:
            why = f"{name}: {type(error).__name__}: {error}"
        return {"refused": self._names.value(why)}

    # What may be asked

    def _hello(self, *, anonymous: bool, address: str | None, ports: list[int]) -> Message:
        """Who this is, and where its servers will listen."""
        address = address or _reached_by_ssh()
        _check_address(address)
        if anonymous:
            self._names = Names.here()
        self._at, self._ports = At(address, address), _checked_ports(ports)
        self._device = device_of(address)
        groups = self._host.groups
        cgroups = {
            "kind": groups.kind,
            "can": sorted(groups.can),
            "why_not": groups.why_not,
            "exact_ends": self._host.ledger.exact,
        }
        return {
            "address": address,
            "boot": BOOT.read_text().strip(),
            "cpus": self._host.cpus,
            "environment": capture(anonymous=anonymous) | {"cgroups": cgroups},
        }

    def _reach(self) -> Message:
        """Listen once where servers will, to find out whether the client gets through."""
        for port in self._ports:
            try:
                self._probe = socket.create_server((self._at.address, port), backlog=1)
            except OSError:
                continue
            return {"port": port}
        raise MeasureError(f"no TCP port from {_span(self._ports)} is free")

    def _reached(self) -> Message:
        """Where the client came from."""
        if self._probe is None:
            raise MeasureError("nothing was to be reached")
        with self._probe as probe:
            self._probe = None
            probe.settimeout(_REACH_S)
            connection, (clients, _) = probe.accept()
            connection.close()
        self._at = At(self._at.address, clients)
        return {"clients": clients}

    def _clock(self) -> Message:
        """What this host's clock shows."""
        received = time.monotonic()
        return {"received": received, "answered": time.monotonic()}

    def _quiet(self, *, limit_s: float, foreign_limit: float, steal_limit: float) -> Message:
        """Wait until others use little, and say whether they do."""
        quiet = self._host.gate.wait_quiet(
            min(limit_s, SILENCE_S), foreign_limit=foreign_limit, steal_limit=steal_limit
        )
        return {"quiet": quiet}

    def _refusal(self, *, whole: bool, **asked: Any) -> Message:
        """Why servers of a case, or a case as a whole, cannot run here; None if they can."""
        found = refusals(_row(**asked), self._work, None if whole else "server")
        return {"refusal": found and dataclasses.asdict(found)}

    def _check(self, *, setting: Mapping[str, Any]) -> Message:
        """Whether servers can be set so; what is wrong is refused."""
        self._host.groups.check(_setting(setting))
        return {}

    def _prepare(
        self, *, limit_s: float, processors: int | None, setting: Any, whole: bool, **asked: Any
    ) -> Message:
        """Make what all repetitions of a case need; the version of what runs here."""
        row = _row(**asked)
        with self._benched(row, _setting(setting), processors, limit_s, whole=whole) as bench:
            made = row.adapter
            version = made.version(bench) if whole else row.serves.version_of("server", bench)
            made.prepare(row.case, bench)
        return {"version": self._names.value(version)}

    def _whole(
        self,
        *,
        seconds: float,
        limit_s: float,
        processors: int | None,
        setting: Any,
        **asked: Any,
    ) -> Message:
        """One repetition of a case, its clients and its servers here."""
        self._end()
        row = _row(**asked)
        with self._benched(row, _setting(setting), processors, limit_s, whole=True) as bench:
            bench.window = (time.monotonic(), 0.0)
            try:
                with _ended_with(self._channel):
                    output = row.adapter.measure(row.case, bench, seconds=seconds)
                account = bench.account()
                if not bench.window[1]:  # the adapter marks no measured time: it is all of it
                    bench.window = (bench.window[0], time.monotonic())
            finally:
                outputs = _outputs(bench.place.raw)
                shutil.rmtree(bench.place.raw, ignore_errors=True)
            return {
                "output": dataclasses.asdict(output),
                "account": dataclasses.asdict(account),
                "counts": bench.counts,
                "window": bench.window,
                "processors": len(bench.processors),
                "outputs": self._names.value(outputs),
            }

    def _begin(
        self, *, limit_s: float, processors: int | None, setting: Any, **asked: Any
    ) -> Message:
        """Start the servers of a case; they serve until `end`."""
        self._end()
        row = _row(**asked)
        serves = row.serves
        with ExitStack() as until_it_serves:
            benched = self._benched(row, _setting(setting), processors, limit_s)
            bench = until_it_serves.enter_context(benched)
            served = serves.serve(row.case, bench, self._at)
            self._running, self._bench = until_it_serves.pop_all(), bench
        self._silence_s = _bounded(limit_s)
        return {"served": dataclasses.asdict(served), "processors": len(bench.processors)}

    def _measuring(self) -> Message:
        bench = self._current()
        bench.measuring()
        return {"at": bench.window[0]}

    def _measured(self) -> Message:
        bench = self._current()
        bench.measured()
        return {"at": bench.window[1]}

    def _account(self) -> Message:
        """What the servers used in the measured time, and the whole host."""
        bench = self._current()
        return {
            "account": dataclasses.asdict(bench.account()),
            "counts": bench.counts,
        }

    def _end(self) -> Message:
        """End the servers; what they printed."""
        raw = None if self._bench is None else self._bench.place.raw
        self._running.close()
        self._bench, self._silence_s = None, SILENCE_S
        outputs = {} if raw is None else _outputs(raw)
        if raw is not None:
            shutil.rmtree(raw, ignore_errors=True)
        return {"outputs": self._names.value(outputs)}

    # Inside

    def _current(self) -> CountedBench:
        if self._bench is None:
            raise MeasureError("nothing serves")
        return self._bench

    @contextmanager
    def _benched(
        self,
        row: Row,
        setting: Setting,
        processors: int | None,
        limit_s: float,
        *,
        whole: bool = False,
    ) -> Iterator[CountedBench]:
        """A bench for the servers of a case, or for all of it, torn down whatever happens."""
        host, self._count = self._host, self._count + 1
        refusal = refusals(row, self._work, None if whole else "server")
        if refusal is not None:
            raise MeasureError(refusal.why, next_step=refusal.next_step)
        there = setting.cpus or host.cpus
        cpus = pick(processors or len(there), there)
        setting = replace(setting, cpus=cpus if "cpuset" in host.groups.can else None)
        name = f"{self._count}-{row.adapter.name}"
        folder = made_folder(self._work / "runs" / name)
        raw = made_folder(self._work / "raw" / name)
        bench = CountedBench(
            host=host,
            group=host.group(name, setting),
            place=Place(folder, self._data_of(row), cache_of(row.adapter.name), raw),
            processors=cpus,
            deadline=time.monotonic() + _bounded(limit_s),
            affinity=None if setting.cpus is not None else cpus,
            ports=self._ports,
            device=self._device,
            namespace=self._net() if whole and _alone(row) else None,
        )
        with removed(bench, folder):
            yield bench

    def _net(self) -> Loopback:
        """A network of its own for what must not be reached from outside; one for all."""
        if self._namespace is None:
            self._namespace = self._host.namespace()
        return self._namespace

    def _data_of(self, row: Row) -> Path:
        """The folder of what a case keeps between its repetitions."""
        key = f"{row.id} {sorted(row.case.parameters.items())}"
        if key not in self._data:
            self._data[key] = made_folder(self._work / "data" / str(len(self._data)))
        return self._data[key]


@contextmanager
def _ended_with(channel: Channel) -> Iterator[None]:
    """While this process works without listening, it is asked to end as soon as its client goes."""
    over = threading.Event()

    def watch() -> None:
        while not over.is_set():
            if channel.gone(_LOOK_S) and not over.is_set():
                os.kill(os.getpid(), signal.SIGTERM)
                return

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    try:
        yield
    finally:
        over.set()
        watching.join()


def _alone(row: Row) -> bool:
    return row.adapter.requires(row.case).network_namespace


def _row(*, adapter_name: str, case: str, parameters: Mapping[str, Any]) -> Row:
    """The case that a client names, as its adapter understands it."""
    made = adapter(adapter_name)
    return Row(made, case_of(made, case, parameters, _ON), 1, 1.0, False, (), _ON)


def _setting(told: Mapping[str, Any]) -> Setting:
    """What the servers' group is allowed, as its client writes it."""
    try:
        setting = TypeAdapter(Setting).validate_python(told)
    except ValidationError as error:
        raise MeasureError(f"that is no setting: {error.errors()[0]['msg']}") from error
    setting.check()
    return setting


def _bounded(limit_s: float) -> float:
    if not 0.0 < limit_s <= _LONGEST_S:
        raise MeasureError(f"{limit_s} s are asked for; an agent allows up to {_LONGEST_S:g}")
    return limit_s


def _reached_by_ssh() -> str:
    """Our address as the client's ssh reached it (ssh(1), SSH_CONNECTION)."""
    words = os.environ.get("SSH_CONNECTION", "").split()
    if len(words) != 4:
        raise MeasureError(
            "the peer cannot tell at which of its addresses it was reached",
            next_step="name it with --peer-address",
        )
    return words[2]


def _check_address(address: str) -> None:
    """Whether servers can listen there: an address of IPv4, of this host."""
    try:
        socket.inet_pton(socket.AF_INET, address)
        with socket.create_server((address, 0)):
            pass
    except OSError as error:
        raise MeasureError(
            f"no server can listen at {address}: {error.strerror or 'that is none of IPv4'}",
            next_step="name one of the peer's own addresses of IPv4 with --peer-address",
        ) from error


def _checked_ports(ports: list[int]) -> range:
    first, last = ports
    if not 1024 <= first <= last < 1 << 16:
        raise MeasureError(f"ports {first} to {last} make no sense")
    return range(first, last + 1)


def _span(ports: range) -> str:
    return f"{ports.start} to {ports.stop - 1}"


def _outputs(raw: Path) -> dict[str, str]:
    """The ends of what programs printed, and their commands, by file."""
    found, left = {}, _OUTPUTS_BYTES
    for file in sorted(raw.iterdir()):
        with file.open("rb") as opened:
            opened.seek(max(0, file.stat().st_size - _OUTPUT_BYTES))
            text = opened.read(min(left, _OUTPUT_BYTES)).decode("utf-8", "replace")
        left -= len(text)
        found[file.name] = text
    return found
