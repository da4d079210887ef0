"""Requests and answers of any two sizes over TCP, by our own two kernels.

sockperf answers with as many bytes as it is asked with; the published profiles ask with 200 bytes
and answer with 1,000 or 30,000. Server and clients have a thread a connection each.
"""

from __future__ import annotations

from homenode.hosts.adapter import (
    At,
    Bench,
    Case,
    Output,
    Parameters,
    Requirements,
    Served,
    Serves,
    Side,
)
from homenode.hosts.adapters.gate import Gate, let_go
from homenode.hosts.adapters.given import Given
from homenode.hosts.adapters.kernel_process import engine_version, kernel_command
from homenode.hosts.adapters.reading import json_object, number, positive, rate
from homenode.hosts.adapters.responses import PERCENTILES, told_by

_MOST_BYTES = 16 << 20


class Request(Serves):
    """Request and response, in place of uperf."""

    name = "request"
    title = "requests and answers of two sizes over TCP"
    stands_for = "uperf, request and response of 1x1, 200x1000 and 200x30k bytes"
    limit_s = 120.0

    def requires(self, case: Case) -> Requirements:
        """A network namespace of its own; the kernels belong to homenode."""
        return Requirements(network_namespace=True)

    def case(self, name: str, parameters: Parameters) -> Case:
        """`load` (connections), `request` and `response` (bytes)."""
        given = Given(self.name, name, parameters)
        connections = given.count("load", 1, least=1, most=1000)
        request = given.count("request", 1, least=1, most=_MOST_BYTES)
        response = given.count("response", 1, least=1, most=_MOST_BYTES)
        given.no_others()
        return Case(
            name=name,
            title=f"{request} bytes asked, {response} answered, {connections} connections",
            metric="transactions",
            unit="transactions/s",
            better="higher",
            parameters=given.taken,
            load=float(connections),
        )

    def prepare(self, case: Case, bench: Bench) -> None:
        """Nothing: exchanges need no data."""

    def serve(self, case: Case, bench: Bench, at: At) -> Served:
        """A server."""
        port = bench.free_port()
        order = {"address": at.address, "port": port, **_sizes(case)}
        server = bench.start(kernel_command("answer", order), role="server")
        bench.wait_for_port(port, limit_s=15.0, of=server)
        return Served(at.address, (port,))

    def ask(self, case: Case, bench: Bench, served: Served, *, seconds: float) -> Output:
        """A process of clients."""
        gate = Gate.made(bench.folder / "gate")
        order = {"address": served.address, "port": served.ports[0], **_sizes(case)}
        order |= {"connections": case.parameters["load"], "seconds": seconds}
        clients = bench.start(
            kernel_command("ask", {**order, "gate": str(gate.path)}), role="client"
        )
        held = gate.reached(clients)
        bench.measuring()
        let_go([held])
        done = clients.wait(limit_s=seconds + 60.0)
        bench.measured()
        return self.parse(case, done.stdout)

    def parse(self, case: Case, text: bytes) -> Output:
        """The clients' line."""
        told = json_object(self.name, text)
        work = positive(self.name, told, "transactions")
        seconds = positive(self.name, told, "seconds")
        names = ("mean", *PERCENTILES, "max")
        latencies = {name: number(self.name, told, "latency_us", name) / 1e3 for name in names}
        return Output(
            work=work,
            seconds=seconds,
            score=rate(self.name, work, seconds),
            latency_ms=told_by(latencies, work),
        )

    def version(self, bench: Bench) -> str:
        """The engine's, which the kernels are part of."""
        return engine_version()

    def version_of(self, side: Side, bench: Bench) -> str:
        """One program on both sides."""
        return self.version(bench)


def _sizes(case: Case) -> dict[str, object]:
    return {name: case.parameters[name] for name in ("request", "response")}
