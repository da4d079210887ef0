"""iperf3: streams over TCP.

A pair of server and client takes 128 streams at most, with one thread each (iperf3 before 3.16)
whatever their number; more streams are shared out among as many pairs as that takes. Up to 128
streams and beyond are therefore not the same load for the processors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
from homenode.hosts.adapters.gate import Gate, let_go
from homenode.hosts.adapters.given import Given
from homenode.hosts.adapters.reading import json_objects, optional, positive, rate, unreadable

_STREAMS_A_PAIR = 128  # iperf3's own limit (MAX_STREAMS)


class Iperf3(Serves):
    """Streaming over connections, in place of uperf's stream profiles."""

    name = "iperf3"
    title = "streams over TCP"
    stands_for = "uperf, streaming reads and writes of 30 KB over 1, 10, 50, 250 connections"
    limit_s = 120.0

    def requires(self, case: Case) -> Requirements:
        """The program, in a network namespace of its own."""
        return Requirements(needs=(Need("iperf3", "iperf3"),), network_namespace=True)

    def case(self, name: str, parameters: Parameters) -> Case:
        """`direction` write (client sends) or read; `load` (streams), `block` (bytes a write)."""
        given = Given(self.name, name, parameters)
        direction = given.choice("direction", ("write", "read"), "write")
        streams = given.count("load", 1, least=1, most=8 * _STREAMS_A_PAIR)
        block = given.count("block", 30_000, least=1, most=1 << 20)
        given.no_others()
        return Case(
            name=name,
            title=f"streaming {direction}s of {block} bytes over {streams} connections",
            metric="megabytes",
            unit="MB/s",
            better="higher",
            parameters=given.taken,
            load=float(streams),
        )

    def prepare(self, case: Case, bench: Bench) -> None:
        """Nothing: streams need no data."""

    def serve(self, case: Case, bench: Bench, at: At) -> Served:
        """Servers that serve one client each and end."""
        ports = []
        for _ in _shares(case):
            ports.append(port := bench.free_port())
            server = bench.start(["iperf3", "-s", "-1", "-B", at.address, "-p", str(port)])
            bench.wait_for_port(port, limit_s=10.0, of=server)
        return Served(at.address, tuple(ports))

    def ask(self, case: Case, bench: Bench, served: Served, *, seconds: float) -> Output:
        """A client for each server; all at once."""
        clients, held = [], []
        pairs = zip(_shares(case), served.ports, strict=True)
        for pair, (streams, port) in enumerate(pairs):
            argv = ["iperf3", "-c", served.address, "-p", str(port), "-J"]
            argv += ["-t", f"{max(1, round(seconds))}", "-P", str(streams)]
            argv += ["-l", str(case.parameters["block"])]
            if case.parameters["direction"] == "read":
                argv.append("-R")
            gate = Gate.made(bench.folder / f"gate-{pair}")
            clients.append(bench.start(gate.before(argv), role="client"))
            held.append(gate.reached(clients[-1]))
        bench.measuring()
        let_go(held)
        done = [client.wait(limit_s=seconds + 30.0, good=(0, 1)) for client in clients]
        bench.measured()
        return self.parse(case, b"".join(finished.stdout for finished in done))

    def parse(self, case: Case, text: bytes) -> Output:
        """The `--json` of all clients, one after the other; what was received is the work."""
        told = json_objects(self.name, text, len(_shares(case)))
        for one in told:
            if "error" in one:
                raise unreadable(self.name, f"it says: {one['error']}", text)
        received = ("end", "sum_received")
        work = [positive(self.name, one, *received, "bytes") / 1e6 for one in told]
        seconds = [positive(self.name, one, *received, "seconds") for one in told]
        return Output(
            work=sum(work),
            seconds=max(seconds),
            score=rate(self.name, sum(work), max(seconds)),
            series=_series(told),
            details=_details(told),
        )

    def version(self, bench: Bench) -> str:
        """Such as `iperf 3.12 (cJSON 1.7.15)`."""
        told = bench.run(["iperf3", "--version"], limit_s=10.0).stdout.decode()
        return told.splitlines()[0].strip() if told else "unknown"

    def version_of(self, side: Side, bench: Bench) -> str:
        """One program on both sides."""
        return self.version(bench)


def _shares(case: Case) -> list[int]:
    """Streams of each pair of server and client."""
    streams = int(case.parameters["load"])
    pairs = -(-streams // _STREAMS_A_PAIR)
    return [streams // pairs + (pair < streams % pairs) for pair in range(pairs)]


def _details(told: Sequence[object]) -> dict[str, object]:
    """Processor use of both ends as iperf3 sees it, and what had to be sent again."""
    told_of = {
        "client_cpu_pct": ("end", "cpu_utilization_percent", "host_total"),
        "server_cpu_pct": ("end", "cpu_utilization_percent", "remote_total"),
        "retransmits": ("end", "sum_sent", "retransmits"),
    }
    found = {name: [optional(one, *keys) for one in told] for name, keys in told_of.items()}
    known = {name: [v for v in values if v is not None] for name, values in found.items()}
    return {name: sum(values) for name, values in known.items() if values}


def _series(told: Sequence[Mapping[str, object]]) -> list[float]:
    """Megabytes a second, one figure an interval of a second; empty if the pairs differ in it."""
    rates: list[list[float]] = []
    for one in told:
        intervals = one.get("intervals")
        each = [optional(i, "sum", "bits_per_second") for i in _listed(intervals)]
        rates.append([rate / 8e6 for rate in each if rate is not None])
    if len({len(pair) for pair in rates}) != 1:
        return []
    return [sum(pair) for pair in zip(*rates, strict=True)]


def _listed(found: object) -> list[object]:
    """What is there, if it is a list."""
    return found if isinstance(found, list) else []
