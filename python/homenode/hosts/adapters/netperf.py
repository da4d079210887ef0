"""netperf, where it is installed: an optional plug-in, for its licence forbids commercial use and
Debian keeps it apart. Nothing here asks for it.

The reader follows netperf's manual (omni output, `-k`: one KEYWORD=VALUE a line).
"""

from __future__ import annotations

import re

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
)
from homenode.hosts.adapters.given import Given
from homenode.hosts.adapters.reading import number, optional, positive, unreadable

_LINE = re.compile(rb"^([A-Z0-9_]+)=(.*)$", re.MULTILINE)
_KEYS = (
    "THROUGHPUT",
    "THROUGHPUT_UNITS",
    "ELAPSED_TIME",
    "MEAN_LATENCY",
    "P50_LATENCY",
    "P90_LATENCY",
    "P99_LATENCY",
    "LOCAL_CPU_UTIL",
    "LOCAL_SD",
)
_MEGABITS = 8.0


class Netperf(Serves):
    """Streams or requests over one connection."""

    name = "netperf"
    title = "netperf (optional plug-in)"
    stands_for = "uperf over one connection"
    limit_s = 120.0

    def requires(self, case: Case) -> Requirements:
        """The program if it is there, in a network namespace of its own."""
        client = Need("netperf", "netperf", plug_in=True, side="client")
        server = Need("netserver", "netperf", plug_in=True, side="server")
        return Requirements(needs=(client, server), network_namespace=True)

    def case(self, name: str, parameters: Parameters) -> Case:
        """`test` request or stream; `request`, `response` (bytes) for requests."""
        given = Given(self.name, name, parameters)
        test = given.choice("test", ("request", "stream"), "request")
        request = given.count("request", 1, least=1, most=1 << 24)
        response = given.count("response", 1, least=1, most=1 << 24)
        given.no_others()
        if test == "stream":
            return Case(name, "one stream", "megabytes", "MB/s", "higher", given.taken, 1.0)
        title = f"{request} bytes asked, {response} answered, 1 connection"
        kind = ("transactions", "transactions/s")
        return Case(name, title, *kind, "higher", given.taken, 1.0)

    def prepare(self, case: Case, bench: Bench) -> None:
        """Nothing."""

    def serve(self, case: Case, bench: Bench, at: At) -> Served:
        """A fresh server."""
        port = bench.free_port()
        server = bench.start(["netserver", "-4", "-D", "-L", at.address, "-p", str(port)])
        bench.wait_for_port(port, limit_s=10.0, of=server)
        return Served(at.address, (port,))

    def ask(self, case: Case, bench: Bench, served: Served, *, seconds: float) -> Output:
        """One client."""
        given = case.parameters
        test = "TCP_RR" if given["test"] == "request" else "TCP_STREAM"
        where = ["-H", served.address, "-p", str(served.ports[0])]
        argv = ["netperf", "-4", *where, "-c", "-t", test]
        argv += ["-l", str(max(1, round(seconds))), "--", "-k", ",".join(_KEYS)]
        if test == "TCP_RR":
            argv += ["-r", f"{given['request']},{given['response']}"]
        bench.measuring()
        done = bench.run(argv, limit_s=seconds + 30.0)
        bench.measured()
        return self.parse(case, done.stdout)

    def parse(self, case: Case, text: bytes) -> Output:
        """KEYWORD=VALUE lines; a stream's throughput is in 10^6 bits a second."""
        told = {key.decode(): _value(value) for key, value in _LINE.findall(text)}
        stream = case.parameters["test"] == "stream"
        wanted = "10^6bits/s" if stream else "Trans/s"
        if told.get("THROUGHPUT_UNITS") != wanted:
            raise unreadable(self.name, f"its throughput is not in {wanted}", text)
        seconds = positive(self.name, told, "ELAPSED_TIME")
        score = positive(self.name, told, "THROUGHPUT") / (_MEGABITS if stream else 1.0)
        details = {key: optional(told, key) for key in ("LOCAL_CPU_UTIL", "LOCAL_SD")}
        return Output(
            work=score * seconds,
            seconds=seconds,
            score=score,
            latency_ms={} if stream else _latency(told),
            details={key: value for key, value in details.items() if value is not None},
        )

    def version(self, bench: Bench) -> str:
        """Such as `Netperf version 2.7.0`."""
        return self.version_of("client", bench)

    def version_of(self, side: Side, bench: Bench) -> str:
        """Both programs tell that of their package."""
        program = "netperf" if side == "client" else "netserver"
        return bench.run([program, "-V"], limit_s=10.0).stdout.decode().strip()


def _value(text: bytes) -> float | str:
    """A number where it is one."""
    try:
        return float(text)
    except ValueError:
        return text.decode("utf-8", "replace").strip()


def _latency(told: dict[str, float | str]) -> dict[str, float]:
    """Latencies by name [ms]; netperf tells them in microseconds."""
    names = {"mean": "MEAN_LATENCY", "p50": "P50_LATENCY", "p99": "P99_LATENCY"}
    return {name: number("netperf", told, key) / 1e3 for name, key in names.items()}
