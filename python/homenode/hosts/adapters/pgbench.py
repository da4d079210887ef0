"""pgbench: the transactions of PostgreSQL's own benchmark, against a server started for the run.

Its simple transaction reads one account (`select-only`); the whole one updates an account, a teller
and a branch and writes a line of history (`tpcb-like`). Each branch is a row that the updates wait
for: with fewer branches than clients the wait is part of what is measured. A repetition works on a
copy of the loaded cluster, so that none meets what another left behind.
"""

from __future__ import annotations

import re
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
)
from homenode.hosts.adapters.gate import Gate, let_go
from homenode.hosts.adapters.given import Given
from homenode.hosts.adapters.postgres import CLIENT, NEED, Cluster
from homenode.hosts.adapters.reading import rate, unreadable
from homenode.hosts.adapters.responses import places

_BRANCH_BYTES = 16 << 20  # 100,000 accounts with their index, as pgbench loads them
_MIB = 1 << 20
_WARM_UP_S = 1
_LOG = "log"
_COUNT = re.compile(rb"^number of transactions actually processed: ([0-9]+)", re.MULTILINE)
_FAILED = re.compile(rb"^number of failed transactions: ([0-9]+)", re.MULTILINE)
_RATE = re.compile(rb"^tps = (\d+(?:\.\d+)?) \(without initial connection time\)", re.MULTILINE)
_MODES = ("select-only", "simple-update", "tpcb-like")


class Pgbench(Serves):
    """PostgreSQL's own benchmark."""

    name = "pgbench"
    title = "PostgreSQL's own transactions"
    stands_for = "pgbench, select-only and TPC-B-like, by clients and scale"
    limit_s = 300.0

    def requires(self, case: Case) -> Requirements:
        """The server, its client, and room for the tables, their log and a copy."""
        tables = int(case.parameters["scale"]) * _BRANCH_BYTES
        return Requirements(
            needs=(Need("pgbench", "postgresql"), NEED, CLIENT),
            disk_bytes=3 * tables + 512 * _MIB,
            memory_bytes=_buffers_mib(case.parameters) * _MIB + 256 * _MIB,
        )

    def case(self, name: str, parameters: Parameters) -> Case:
        """`mode` select-only, simple-update or tpcb-like; `load` (clients, a connection each);
        `threads` (of the client program); `scale` (branches, 100,000 accounts each).
        """
        given = Given(self.name, name, parameters)
        mode = given.choice("mode", _MODES, "select-only")
        clients = given.count("load", 4, least=1, most=512)
        given.count("threads", min(clients, 4), least=1, most=clients)
        scale = given.count("scale", 4, least=1, most=10_000)
        given.no_others()
        return Case(
            name=name,
            title=f"{mode} transactions on {scale} branches, {clients} clients",
            metric="transactions",
            unit="transactions/s",
            better="higher",
            parameters=given.taken,
            load=float(clients),
        )

    def prepare(self, case: Case, bench: Bench) -> None:
        """A cluster with the tables, vacuumed, written out and stopped."""
        cluster = Cluster.made(bench, bench.data / "postgres")
        scale = str(case.parameters["scale"])
        cluster.load(["pgbench", "-i", "-q", "-s", scale, *cluster.login()])

    def serve(self, case: Case, bench: Bench, at: At) -> Served:
        """A fresh server on a copy, buffers filled."""
        loaded = Cluster.there(bench, bench.data / "postgres", at)
        cluster = loaded.copied(bench.folder / "postgres")
        cluster.work(int(case.parameters["load"]), _buffers_mib(case.parameters))
        cluster.ask("select sum(pg_prewarm(oid)) from pg_class where relname ~ '^pgbench_'")
        return cluster.served()

    def ask(self, case: Case, bench: Bench, served: Served, *, seconds: float) -> Output:
        """A second of warm-up, then all clients, each transaction's time logged."""
        cluster = Cluster.reached(bench, served)
        words = self._words(case, cluster)
        env = cluster.environment()
        bench.run([*words, "-T", str(_WARM_UP_S)], limit_s=_WARM_UP_S + 60.0, env=env)
        gate = Gate.made(bench.folder / "gate")
        logged = ["-l", f"--log-prefix={bench.folder / _LOG}", "-T", str(max(1, round(seconds)))]
        client = bench.start(gate.before([*words, *logged]), role="client", env=env)
        held = gate.reached(client)
        bench.measuring()
        let_go([held])
        done = client.wait(limit_s=seconds + 60.0)
        bench.measured()
        output = self.parse(case, done.stdout)
        return Output(
            work=output.work,
            seconds=output.seconds,
            score=output.score,
            latency_ms=latencies_ms(sorted(bench.folder.glob(f"{_LOG}.*"))),
            details={"shared_buffers_mib": _buffers_mib(case.parameters)},
        )

    def parse(self, case: Case, text: bytes) -> Output:
        """Its report."""
        found = [pattern.findall(text) for pattern in (_COUNT, _FAILED, _RATE)]
        if any(len(one) != 1 for one in found):
            raise unreadable(self.name, "its report is not whole", text)
        count, failed, score = (float(one[0]) for one in found)
        if failed:
            raise unreadable(self.name, f"{failed:.0f} transactions failed", text)
        if count <= 0 or score <= 0:
            raise unreadable(self.name, "no transaction was done", text)
        return Output(work=count, seconds=rate(self.name, count, score), score=score)

    def version(self, bench: Bench) -> str:
        """Such as `pgbench (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)`."""
        return self.version_of("client", bench)

    def version_of(self, side: Side, bench: Bench) -> str:
        """That of the client or of the database."""
        program = "pgbench" if side == "client" else bench.program("postgres")
        return bench.run([program, "--version"], limit_s=10.0).stdout.decode().strip()

    def _words(self, case: Case, cluster: Cluster) -> list[str]:
        """Vacuuming beforehand (`-n` leaves it out) was done when the tables were loaded."""
        given = case.parameters
        clients = ["-c", str(given["load"]), "-j", str(given["threads"])]
        how = ["-n", "-M", "prepared", "-b", str(given["mode"])]
        return ["pgbench", *how, *clients, *cluster.login()]


def latencies_ms(logs: list[Path]) -> dict[str, float]:
    """Of all transactions, from pgbench's logs: `client number microseconds ...` a line [ms]."""
    times: list[float] = []
    for log in logs:
        for line in log.read_bytes().splitlines():
            fields = line.split()
            if len(fields) < 3 or not fields[2].isdigit():
                raise unreadable("pgbench", "a line of its log has no time", line)
            times.append(int(fields[2]) / 1e3)
    return places(times)


def _buffers_mib(given: Parameters) -> int:
    """Twice the tables [MiB]."""
    return max(16, 2 * int(given["scale"]) * _BRANCH_BYTES // _MIB)
