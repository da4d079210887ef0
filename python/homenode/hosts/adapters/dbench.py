"""dbench and tbench: what a file server does for its clients, on a file system or over TCP.

Both play the same recording of a client's calls, as many times as fit. dbench does the calls on the
file system itself, tbench sends as many bytes over sockets instead. They look at their clients once
a second, and what they tell at the end is what they saw last, a second before: so they are asked
for a second more, and the accounts begin and end with what they print on the way.
"""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from homenode.hosts.adapter import Bench, Case, Need, Output, Parameters, Requirements, Started
from homenode.hosts.adapters.given import Given
from homenode.hosts.adapters.reading import unreadable
from homenode.hosts.errors import MeasureError

_CLIENT_BYTES = 32 << 20
"""Room that a client's files take, rounded up."""
_LOOK_EVERY_S = 0.01
_LATE_S = 60.0
_PORT = 7003
"""tbench's own, which its server cannot be told to change."""
_LAST = re.compile(
    rb"^Throughput ([\d.]+) MB/sec(?: \(sync[^)]*\))?\s+(\d+) clients\s+(\d+) procs"
    rb"\s+max_latency=([\d.]+) ms",
    re.MULTILINE,
)
_ROW = re.compile(rb"^ (\w+)\s+(\d+)\s+([\d.]+)\s+([\d.]+)\s*$", re.MULTILINE)
_SECOND = re.compile(rb"^\s+\d+\s+\d+\s+([\d.]+) MB/sec\s+execute", re.MULTILINE)
_LENGTH = re.compile(rb"^Running for (\d+) seconds", re.MULTILINE)
_SHARED = Path("/dev/shm")  # noqa: S108 - the shared memory file system is meant, not a name in it


class Dbench:
    """The file system's side."""

    name = "dbench"
    title = "a file server's calls on a file system"
    stands_for = "dbench 3 with 1 to 40 processes: MB/s"
    limit_s = 180.0
    _package = Need("dbench", "dbench")

    def requires(self, case: Case) -> Requirements:
        """The program, and room for each client's files."""
        room = _CLIENT_BYTES * int(case.load)
        on_disk = case.parameters["on"] == "disk"
        return Requirements(
            needs=(self._package,),
            disk_bytes=room if on_disk else 0,
            memory_bytes=0 if on_disk else room,
        )

    def case(self, name: str, parameters: Parameters) -> Case:
        """`load` clients; `on` disk (where the session's folder lies) or memory (no disk)."""
        given = Given(self.name, name, parameters)
        clients = given.count("load", 1, least=1, most=4096)
        on = given.choice("on", ("disk", "memory"), "disk")
        given.no_others()
        where = "the file system of the data" if on == "disk" else "files in memory"
        title = f"{_clients(clients)} of a file server, on {where}"
        return _case(name, title, given, clients)

    def prepare(self, case: Case, bench: Bench) -> None:
        """Nothing is needed: the recording comes with the program."""

    def measure(self, case: Case, bench: Bench, *, seconds: float) -> Output:
        """Clients for so many whole seconds, at least one, and one more."""
        if case.parameters["on"] == "disk":
            return self._on(bench.folder, case, bench, seconds)
        try:
            shared = tempfile.TemporaryDirectory(prefix="homenode-", dir=_SHARED)
        except OSError as error:
            raise MeasureError(
                f"no folder can be made in {_SHARED}: {error.strerror}",
                next_step='set the case\'s `on` to "disk"',
            ) from error
        with shared as folder:
            return self._on(Path(folder), case, bench, seconds)

    def _on(self, folder: Path, case: Case, bench: Bench, seconds: float) -> Output:
        length = 1 + max(1, round(seconds))
        argv = ["dbench", "-t", str(length), "-D", str(folder), str(int(case.load))]
        return self.parse(case, _followed(bench, argv, length))

    def parse(self, case: Case, text: bytes) -> Output:
        """Its text: a table of calls, and a last line with the throughput."""
        return _read(self.name, case, text)

    def version(self, bench: Bench) -> str:
        """Such as `dbench version 4.00`, from its help."""
        return _version(bench, self.name)


class Tbench:
    """The network's side: client and server on loopback."""

    name = "tbench"
    title = "a file server's traffic over TCP, without files"
    stands_for = "dbench 3's traffic without the file system"
    limit_s = 180.0

    def requires(self, case: Case) -> Requirements:
        """Its server listens on all addresses: only in a network of its own."""
        return Requirements(
            needs=(Need("tbench", "dbench"), Need("tbench_srv", "dbench")),
            network_namespace=True,
        )

    def case(self, name: str, parameters: Parameters) -> Case:
        """`load` clients, a connection each."""
        given = Given(self.name, name, parameters)
        clients = given.count("load", 1, least=1, most=4096)
        given.no_others()
        return _case(name, f"{_clients(clients)} of a file server over loopback", given, clients)

    def prepare(self, case: Case, bench: Bench) -> None:
        """Nothing is needed."""

    def measure(self, case: Case, bench: Bench, *, seconds: float) -> Output:
        """A fresh server, and clients for so many whole seconds, at least one, and one more."""
        length = 1 + max(1, round(seconds))
        server = bench.start(["tbench_srv"], role="server")
        bench.wait_for_port(_PORT, limit_s=10.0, of=server)
        argv = ["tbench", "-t", str(length), str(int(case.load)), "127.0.0.1"]
        return self.parse(case, _followed(bench, argv, length))

    def parse(self, case: Case, text: bytes) -> Output:
        """As dbench's."""
        return _read(self.name, case, text)

    def version(self, bench: Bench) -> str:
        """As dbench's, which it is a build of."""
        return _version(bench, self.name)


def _followed(bench: Bench, argv: Sequence[str], length: int) -> bytes:
    """What it prints; the accounts go from the release of its clients to the last look at them."""
    until = time.monotonic() + length + _LATE_S
    client = bench.start(argv, role="client")
    _wait_for(client, rb"releasing clients", until)
    bench.measuring()
    _wait_for(client, rb"execute\s+%d sec" % (length - 1), until)
    bench.measured()
    return client.wait(limit_s=max(0.0, until - time.monotonic())).stdout


def _wait_for(client: Started, words: bytes, until: float) -> None:
    """Until it has printed that; an end or a time gone by is `wait`'s to tell."""
    while client.alive() and time.monotonic() < until:
        if re.search(words, client.output()):
            return
        time.sleep(_LOOK_EVERY_S)


def _case(name: str, title: str, given: Given, clients: int) -> Case:
    return Case(
        name=name,
        title=title,
        metric="megabytes",
        unit="MB/s",
        better="higher",
        parameters=given.taken,
        load=float(clients),
    )


def _clients(count: int) -> str:
    return "a client" if count == 1 else f"{count} clients"


def _read(tool: str, case: Case, text: bytes) -> Output:
    """Throughput is bytes of reads and writes over the time since all clients were released, up to
    the last look at them.
    """
    last = _LAST.search(text)
    length = _LENGTH.search(text)
    if last is None or length is None:
        raise unreadable(tool, "it has no line `Throughput`", text)
    if int(last[2]) != int(case.load):
        raise unreadable(tool, f"it did not run {case.load:g} clients", text)
    score = float(last[1]) if last[1].count(b".") <= 1 else 0.0
    if score <= 0.0:
        raise MeasureError(f"{tool} did nothing: it tells a throughput of 0 MB/s")
    seconds = float(length[1]) - 1.0
    if seconds <= 0.0:
        raise MeasureError(f"{tool} ran for a second: it never looked at its clients")
    table = list(_ROW.finditer(text))
    counts = {row[1].decode(): int(row[2]) for row in table}
    if not counts:
        raise unreadable(tool, "it has no table of calls", text)
    return Output(
        work=score * seconds,
        seconds=seconds,
        score=score,
        latency_ms=_latency(table, last[4]),
        series=_by_second([float(found[1]) for found in _SECOND.finditer(text)]),
        details={"operations": sum(counts.values()), "counts": counts},
    )


def _latency(table: Sequence[re.Match[bytes]], longest: bytes) -> dict[str, float]:
    """Mean over all calls, by the table of them, and the longest [ms]; it tells no percentiles."""
    figures = [(int(row[2]), row[3]) for row in table]
    if any(words.count(b".") > 1 for words in (longest, *(mean for _, mean in figures))):
        return {}
    calls = sum(count for count, _ in figures)
    total = sum(count * float(mean) for count, mean in figures)
    mean = {"mean": total / calls} if calls else {}
    return {**mean, "max": float(longest)}


def _by_second(means: list[float]) -> list[float]:
    """It prints the mean since the start each second; what each second gave alone [MB/s]."""
    sums = [mean * (number + 1) for number, mean in enumerate(means)]
    return [now - before for before, now in zip([0.0, *sums], sums, strict=False)]


def _version(bench: Bench, program: str) -> str:
    done = bench.run([program, "--help"], limit_s=10.0, good=(0, 1))
    first = (done.stdout or done.stderr).splitlines()
    return first[0].decode("utf-8", "replace").partition(" - ")[0].strip() if first else "unknown"
