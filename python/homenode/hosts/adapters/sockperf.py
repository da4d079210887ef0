"""sockperf: requests and answers over TCP, a process a connection.

The server listens on two ports or more and looks at all its sockets (epoll): on a single port it
serves one connection only. Both ends of a `sockperf` exchange are of the same size, 14 bytes at
least (its header), so that a request of 200 bytes with an answer of 30,000 is not for it, nor are
tens of connections: it has no way to start that many processes at the same moment. How far apart
its clients ended is kept (`spread_s`); most of it is what each makes of its figures at the end.
"""

from __future__ import annotations

import re
import shlex
import time
from pathlib import Path

from homenode.hosts.adapter import (
    At,
    Bench,
    Case,
    Need,
    Output,
    Parameters,
    Requirements,
    Served,
    Serves,
    Side,
    Started,
)
from homenode.hosts.adapters.given import Given
from homenode.hosts.adapters.reading import quoted, rate, unreadable
from homenode.hosts.adapters.responses import told_by
from homenode.hosts.errors import MeasureError

_COLOUR = re.compile(rb"\x1b\[[0-9;]*m")
_SECONDS = re.compile(rb"\[Total Run\] RunTime=([0-9.]+) sec")
_COUNT = re.compile(rb"\[Total Run\] .* ReceivedMessages=([0-9]+)")
_MEAN = re.compile(rb"Summary: Round trip is ([0-9.]+) usec")
_PLACES = {
    "p50": re.compile(rb"percentile 50\.000 = +([0-9.]+)"),
    "p99": re.compile(rb"percentile 99\.000 = +([0-9.]+)"),
    "p99.9": re.compile(rb"percentile 99\.900 = +([0-9.]+)"),
    "max": re.compile(rb"<MAX> observation = +([0-9.]+)"),
}
_SPREAD = re.compile(rb"spread=([0-9.]+) s")
_PATIENCE_S = 30.0
_PAUSE_S = 0.005
_SET_UP_S = 0.5
_LOST = re.compile(rb"# dropped messages = ([0-9]+)")


class Sockperf(Serves):
    """Requests and answers, in place of uperf."""

    name = "sockperf"
    title = "requests and answers of one size over TCP"
    stands_for = "uperf, request and response of 1 byte (here 14) over 1 and 10 connections"
    limit_s = 120.0

    def requires(self, case: Case) -> Requirements:
        """The program, in a network namespace of its own."""
        return Requirements(needs=(Need("sockperf", "sockperf"),), network_namespace=True)

    def case(self, name: str, parameters: Parameters) -> Case:
        """`load` (connections), `size` (bytes, both ways), `server_threads`."""
        given = Given(self.name, name, parameters)
        connections = given.count("load", 1, least=1, most=16)
        size = given.count("size", 14, least=14, most=65_507)
        given.count("server_threads", 1, least=1, most=64)
        given.no_others()
        return Case(
            name=name,
            title=f"requests and answers of {size} bytes over {connections} connections",
            metric="transactions",
            unit="transactions/s",
            better="higher",
            parameters=given.taken,
            load=float(connections),
        )

    def prepare(self, case: Case, bench: Bench) -> None:
        """Nothing: exchanges need no data."""

    def serve(self, case: Case, bench: Bench, at: At) -> Served:
        """A server that listens on two ports, or one for each of its threads if that is more."""
        given = case.parameters
        ports = [bench.free_port() for _ in range(max(2, int(given["server_threads"])))]
        sockets = bench.folder / "sockets"
        sockets.write_text("".join(f"T:{at.address}:{port}\n" for port in ports))
        argv = ["sockperf", "server", "-f", str(sockets), "-F", "epoll"]
        if int(given["server_threads"]) > 1:
            argv += ["--threads-num", str(given["server_threads"])]
        server = bench.start(argv)
        for port in ports:
            bench.wait_for_port(port, limit_s=10.0, of=server)
        return Served(at.address, tuple(ports))

    def ask(self, case: Case, bench: Bench, served: Served, *, seconds: float) -> Output:
        """A client process for each connection; all at once."""
        given = case.parameters
        clients = int(given["load"])
        script = _together(bench.program("sockperf"), served, given, max(1, round(seconds)))
        shell = bench.start(["sh", "-c", script], role="client")
        _wait_for_sleep(bench.folder / "begun", shell)
        bench.measuring()
        marked = time.time()
        shell.wait(limit_s=seconds + 40.0)
        bench.measured()
        files = [bench.folder / f"answers-{i}" for i in range(clients)]
        return self.parse(case, _spread(files, marked, max(1, round(seconds))))

    def parse(self, case: Case, text: bytes) -> Output:
        """How far apart the clients were, and what they printed, one after the other."""
        plain = _COLOUR.sub(b"", text)
        clients = int(case.parameters["load"])
        spans = _figures(_SECONDS, plain, clients)
        counts = _figures(_COUNT, plain, clients)
        totals = list(zip(spans, counts, strict=True))
        means = _figures(_MEAN, plain, clients)
        if any(seconds <= 0.0 or count <= 0.0 for seconds, count in totals):
            raise MeasureError("sockperf did nothing: a client got no answer")
        lost = sum(_figures(_LOST, plain, clients))
        if lost:
            raise unreadable(self.name, f"{lost:.0f} messages were lost", text)
        spread = _figures(_SPREAD, plain, 1)[0]
        work = sum(count for _, count in totals)
        longest = max(seconds for seconds, _ in totals)
        rates = [rate(self.name, count, seconds) for seconds, count in totals]
        mean = sum(one * count for one, (_, count) in zip(means, totals, strict=True)) / work
        places = {name: max(_figures(p, plain, clients)) / 1e3 for name, p in _PLACES.items()}
        return Output(
            work=work,
            seconds=longest,
            score=rate(self.name, work, longest),
            latency_ms=told_by({"mean": mean / 1e3, **places}, min(count for _, count in totals)),
            details={"slowest_client_per_s": min(rates), "spread_s": spread},
        )

    def version(self, bench: Bench) -> str:
        """Such as `sockperf, version 3.7`."""
        told = bench.run(["sockperf", "--version"], limit_s=10.0)
        lines = (told.stdout + told.stderr).decode("utf-8", "replace").splitlines()
        return lines[0].strip() if lines else "unknown"

    def version_of(self, side: Side, bench: Bench) -> str:
        """One program on both sides."""
        return self.version(bench)


def _together(program: str, served: Served, given: Parameters, seconds: int) -> str:
    """A script that starts all clients as quickly as a shell can, and waits for them."""
    lines = []
    for i in range(int(given["load"])):
        port = served.ports[i % len(served.ports)]
        words = f"ping-pong --tcp -i {shlex.quote(served.address)} -p {port} --full-rtt"
        words += f" -t {seconds} -m {given['size']}"
        lines.append(f"{shlex.quote(program)} {words} > answers-{i} &")
    return "\n".join([*lines, ": > begun", "wait"])


def _wait_for_sleep(begun: Path, shell: Started) -> None:
    """Wait until all clients are set up. Each then sleeps two seconds before its first message:
    the accounts are begun in that time.
    """
    until = time.monotonic() + _PATIENCE_S
    while not begun.exists():
        if not shell.alive() or time.monotonic() > until:
            raise MeasureError("sockperf's clients did not start", there=quoted(shell.output()))
        time.sleep(_PAUSE_S)
    time.sleep(_SET_UP_S)


def _spread(files: list[Path], marked: float, seconds: int) -> bytes:
    """What the clients printed, and how far apart they ran: each writes when it ends, and all run
    equally long.

    Raises `MeasureError` if one began before the accounts did.
    """
    ends = [file.stat().st_mtime for file in files]
    if min(ends) - seconds < marked:
        raise MeasureError(
            "sockperf's clients did not start together: the first ran before the last was there",
            next_step="ask for fewer connections, or let the host come to rest",
        )
    printed = b"".join(file.read_bytes() for file in files)
    return b"spread=%.3f s\n" % (max(ends) - min(ends)) + printed


def _figures(pattern: re.Pattern[bytes], text: bytes, wanted: int) -> list[float]:
    """A figure of every client."""
    try:
        found = [float(value) for value in pattern.findall(text)]
    except ValueError:  # such as 12.34.56
        found = []
    if len(found) != wanted:
        name = pattern.pattern.decode().replace("\\", "").split(" (")[0]
        raise unreadable("sockperf", f"{name!r} is there {len(found)} times, not {wanted}", text)
    return found
