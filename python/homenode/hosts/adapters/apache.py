"""Apache under wrk: one server for all connections (a monolith), or several beside each other
(tiles), each with its own share of connections and clients and its own account.

Both shapes have the same number of connections and of client threads in all, so that only the
division differs. Every connection asks for the next page when it has the last (no think time).
With several `files` each request is for one of them, drawn evenly, the same draws in each
repetition; servers read them through the page cache, which holds them where memory is enough.
Each of a server's processes has threads for twice the connections: once all are busy, and the
kernel deals connections out unevenly, Apache closes those that wait for their next request.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from homenode.hosts.adapter import (
    At,
    Bench,
    Case,
    Finished,
    Need,
    Output,
    Parameters,
    Requirements,
    Served,
    Serves,
    Side,
    Started,
)
from homenode.hosts.adapters.gate import Gate, let_go
from homenode.hosts.adapters.given import Given
from homenode.hosts.adapters.reading import json_lines, number, positive, rate, unreadable
from homenode.hosts.adapters.responses import PERCENTILES, told_by
from homenode.hosts.errors import MeasureError

_MODULES = Path("/usr/lib/apache2/modules")
_REPORT = Path(__file__).with_name("wrk.lua")
_USER = "www-data"
_A_FOLDER = 1000
"""Files in each folder; a reader of paths is wrk.lua."""
_BLOCK_BYTES = 4096
_PROCESSES = 2
_SPARE_THREADS = 8
_WARM_UP_S = 1

_CONFIGURATION = """\
ServerRoot "{folder}"
ServerName {address}
Listen {address}:{port}
PidFile pid
ErrorLog errors
LogLevel warn
LoadModule mpm_event_module {modules}/mod_mpm_event.so
LoadModule authz_core_module {modules}/mod_authz_core.so
DocumentRoot "{pages}"
KeepAlive On
KeepAliveTimeout 60
MaxKeepAliveRequests 0
ThreadLimit {threads}
ServerLimit {processes}
StartServers {processes}
ThreadsPerChild {threads}
MaxRequestWorkers {workers}
MinSpareThreads 1
MaxSpareThreads {workers}
<Directory "/">
  AllowOverride None
  Require all denied
</Directory>
<Directory "{pages}">
  Require all granted
</Directory>
"""


@dataclass(frozen=True)
class _Tile:
    """One server, or its clients."""

    case: Case
    index: int
    folder: Path
    address: str
    port: int

    @property
    def prefix(self) -> str:
        """Of its roles: empty for the monolith, whose roles are plain `server` and `client`."""
        return "" if self.case.parameters["tiles"] == 1 else f"tile-{self.index + 1}-"

    @property
    def connections(self) -> int:
        """Its share of all."""
        return int(self.case.parameters["load"]) // int(self.case.parameters["tiles"])

    def wrk(self, seconds: int) -> list[str]:
        """The command of its clients; whatever follows `--` is for our script."""
        given = self.case.parameters
        files = given["files"]
        return [
            "wrk",
            f"-t{int(given['client_threads']) // int(given['tiles'])}",
            f"-c{self.connections}",
            f"-d{seconds}s",
            "-s",
            str(_REPORT),
            f"http://{self.address}:{self.port}/page",
            *([] if files == 1 else ["--", str(files), str(self.index)]),
        ]


class Apache(Serves):
    """A web server and its clients."""

    name = "apache"
    title = "web pages, one server or tiles"
    stands_for = "Apache with a web load, as one server or as tiles of servers"
    limit_s = 120.0

    def requires(self, case: Case) -> Requirements:
        """Server and client, and room for the files."""
        server = Need("apache2", "apache2-bin", side="server")
        given = case.parameters
        blocks = int(given["page"]) // _BLOCK_BYTES + 2
        return Requirements(
            needs=(server, Need("wrk", "wrk", side="client")),
            disk_bytes=int(given["files"]) * blocks * _BLOCK_BYTES,
        )

    def case(self, name: str, parameters: Parameters) -> Case:
        """`tiles` (1: the monolith), `load` (connections in all), `client_threads` (in all),
        `page` (bytes), `files` (so many of them, one drawn for each request).
        """
        given = Given(self.name, name, parameters)
        tiles = given.count("tiles", 1, least=1, most=64)
        connections = given.count("load", 32, least=tiles, most=2000)
        threads = given.count("client_threads", tiles, least=tiles, most=connections)
        page = given.count("page", 1000, least=1, most=1 << 26)
        files = given.count("files", 1, least=1, most=1_000_000)
        given.no_others()
        if connections % tiles or threads % tiles:
            raise MeasureError(
                f"apache/{name}: {tiles} tiles cannot share {connections} connections"
                f" and {threads} client threads evenly",
                next_step="give multiples of the number of tiles",
            )
        pages = "pages" if files == 1 else f"{files} pages"
        shape = "one server" if tiles == 1 else f"{tiles} servers beside each other"
        return Case(
            name=name,
            title=f"{pages} of {page} bytes from {shape}, {connections} connections",
            metric="requests",
            unit="requests/s",
            better="higher",
            parameters=given.taken,
            load=float(connections),
        )

    def prepare(self, case: Case, bench: Bench) -> None:
        """The pages; all servers have the same."""
        given, pages = case.parameters, bench.data / "pages"
        page = (b"0123456789abcdef" * (int(given["page"]) // 16 + 1))[: int(given["page"])]
        for index in range(int(given["files"])):
            path = pages / _name(index, int(given["files"]))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(page)
        bench.give(pages, _USER)

    def serve(self, case: Case, bench: Bench, at: At) -> Served:
        """Fresh servers."""
        ports = []
        for index in range(int(case.parameters["tiles"])):
            ports.append(bench.free_port())
            tile = _Tile(case, index, bench.folder / f"tile-{index + 1}", at.address, ports[-1])
            _furnish(tile, bench.data / "pages")
            _start(tile, bench)
        return Served(at.address, tuple(ports))

    def ask(self, case: Case, bench: Bench, served: Served, *, seconds: float) -> Output:
        """A second of warm-up, then all clients at once."""
        tiles = [
            _Tile(case, index, bench.folder, served.address, port)
            for index, port in enumerate(served.ports)
        ]
        _clients(tiles, bench, _WARM_UP_S, counted=False)
        done = _clients(tiles, bench, max(1, round(seconds)), counted=True)
        return self.parse(case, b"".join(finished.stdout for finished in done))

    def parse(self, case: Case, text: bytes) -> Output:
        """The lines of our report for wrk, one a tile."""
        told = json_lines("wrk", text)
        tiles = int(case.parameters["tiles"])
        if len(told) != tiles:
            raise unreadable("wrk", f"{len(told)} of {tiles} reports are there", text)
        for report in told:
            _refuse_errors(report, text)
        requests = [positive("wrk", report, "requests") for report in told]
        spans = [positive("wrk", report, "duration_us") / 1e6 for report in told]
        rates = [rate("wrk", asked, span) for asked, span in zip(requests, spans, strict=True)]
        return Output(
            work=sum(requests),
            # wrk overruns by up to 0.1 s, each tile otherwise: the tiles' mean, by their rates.
            seconds=sum(requests) / sum(rates),
            score=sum(rates),
            latency_ms=_latency(told, requests),
            details={
                "requests_per_s_by_tile": rates,
                "megabytes": sum(number("wrk", report, "bytes") for report in told) / 1e6,
            },
        )

    def version(self, bench: Bench) -> str:
        """Such as `Apache/2.4.57 (Debian), wrk debian/4.1.0-3`."""
        return f"{self.version_of('server', bench)}, {self.version_of('client', bench)}"

    def version_of(self, side: Side, bench: Bench) -> str:
        """That of one of the two programs."""
        if side == "server":
            told = bench.run([bench.program("apache2"), "-v"], limit_s=10.0).stdout.decode()
            return told.splitlines()[0].removeprefix("Server version: ")
        client = bench.run(["wrk", "-v"], limit_s=10.0, good=(0, 1))
        return (client.stdout + client.stderr).decode().splitlines()[0].split(" [")[0]


def _name(number: int, files: int) -> str:
    """Of a page, as wrk.lua asks for it."""
    return "page" if files == 1 else f"{number // _A_FOLDER}/{number % _A_FOLDER}"


def _furnish(tile: _Tile, pages: Path) -> None:
    """The folder of a server with its configuration."""
    folder, threads = tile.folder, 2 * tile.connections + _SPARE_THREADS
    folder.mkdir(parents=True)
    (folder / "configuration").write_text(
        _CONFIGURATION.format(
            folder=folder,
            pages=pages,
            address=tile.address,
            port=tile.port,
            modules=_MODULES,
            processes=_PROCESSES,
            threads=threads,
            workers=_PROCESSES * threads,
        )
    )


def _start(tile: _Tile, bench: Bench) -> Started:
    """The server, in the foreground and never as root."""
    bench.give(tile.folder, _USER)
    argv = [bench.program("apache2"), "-f", str(tile.folder / "configuration"), "-DFOREGROUND"]
    server = bench.start(argv, role=f"{tile.prefix}server", folder=tile.folder, user=_USER)
    bench.wait_for_port(tile.port, limit_s=15.0, of=server)
    return server


def _clients(tiles: list[_Tile], bench: Bench, seconds: int, *, counted: bool) -> list[Finished]:
    """All tiles' clients at the same moment, to their end."""
    started, held = [], []
    for tile in tiles:
        name = "counted" if counted else "warm-up"
        gate = Gate.made(tile.folder / f"gate-{name}-{tile.index + 1}")
        client = bench.start(gate.before(tile.wrk(seconds)), role=f"{tile.prefix}client")
        started.append(client)
        held.append(gate.reached(client))
    if counted:
        bench.measuring()
    let_go(held)
    done = [client.wait(limit_s=seconds + 20.0) for client in started]
    if counted:
        bench.measured()
    return done


def _refuse_errors(report: dict[str, object], text: bytes) -> None:
    """A page that was not served is no work done."""
    kinds = ("connect", "read", "write", "status", "timeout")
    counts = {kind: number("wrk", report, "errors", kind) for kind in kinds}
    if any(counts.values()):
        words = ", ".join(f"{count:.0f} {kind}" for kind, count in counts.items() if count)
        raise unreadable("wrk", f"requests failed: {words}", text)


def _latency(told: list[dict[str, object]], requests: list[float]) -> dict[str, float]:
    """Mean over all requests; percentiles of the worst tile, for percentiles do not add [ms]."""
    means = [number("wrk", report, "latency_us", "mean") for report in told]
    found = {"mean": sum(m * n for m, n in zip(means, requests, strict=True)) / sum(requests) / 1e3}
    for name in (*PERCENTILES, "max"):
        found[name] = max(number("wrk", report, "latency_us", name) for report in told) / 1e3
    return told_by(found, min(requests))
