"""sysbench's OLTP transactions against a PostgreSQL started for the run, over TCP.

Whether reads hit PostgreSQL's buffers is set by their size against the tables': twice their size
(high) or an eighth (low). A miss then goes to the kernel's page cache, seldom to the disk, since
PostgreSQL reads through it. The hit ratio that came of it is counted and kept. Reads are uniform
over the rows and the same in every repetition (fixed seed).

A repetition that writes works on a copy of the loaded cluster, so that none meets what another
left behind; automatic vacuum and timed checkpoints are off, for they would fall into some
repetitions and not into others.
"""

from __future__ import annotations

from collections.abc import Sequence
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
from homenode.hosts.adapters.gate import Gate, let_go
from homenode.hosts.adapters.given import Given
from homenode.hosts.adapters.postgres import CLIENT, NEED, Cluster
from homenode.hosts.adapters.reading import (
    json_lines,
    number,
    optional,
    positive,
    rate,
    unreadable,
)
from homenode.hosts.adapters.responses import PERCENTILES, told_by
from homenode.hosts.errors import MeasureError

_SCRIPT = Path(__file__).with_name("oltp.lua")
_ROW_BYTES = 260  # a row of sysbench's table with its two index entries, as loaded
_MIB = 1 << 20
_WARM_UP_S = 1
_HITS = "select blks_hit, blks_read from pg_stat_database where datname = current_database()"


class Sysbench(Serves):
    """Transactions on a real database."""

    name = "sysbench"
    title = "OLTP transactions on PostgreSQL"
    stands_for = "sysbench on PostgreSQL, read-only and read-write, high and low hit ratio"
    limit_s = 300.0

    def requires(self, case: Case) -> Requirements:
        """Client and server, and room for the tables, their log and a copy."""
        tables = _tables_bytes(case.parameters)
        return Requirements(
            needs=(Need("sysbench", "sysbench"), NEED, CLIENT),
            disk_bytes=4 * tables + 512 * _MIB,
            memory_bytes=_buffers_mib(case.parameters) * _MIB + 256 * _MIB,
        )

    def case(self, name: str, parameters: Parameters) -> Case:
        """`mode` read-only or read-write; `hits` high or low; `load` (threads); `tables`,
        `rows` (a table); `rate` (transactions asked for in a second, 0: as many as the threads can;
        what a thread cannot take at once waits, and that is part of its response).
        """
        given = Given(self.name, name, parameters)
        mode = given.choice("mode", ("read-only", "read-write"), "read-only")
        hits = given.choice("hits", ("high", "low"), "high")
        threads = given.count("load", 4, least=1, most=512)
        given.count("tables", 4, least=1, most=64)
        given.count("rows", 100_000, least=1000, most=100_000_000)
        rate = given.count("rate", 0, least=0, most=1_000_000)
        given.no_others()
        words = "twice" if hits == "high" else "an eighth of"
        asked = f", {rate} asked for in a second" if rate else ""
        return Case(
            name=name,
            title=f"{mode} transactions, buffers {words} the tables, {threads} threads{asked}",
            metric="transactions",
            unit="transactions/s",
            better="higher",
            parameters=given.taken,
            load=float(threads),
        )

    def prepare(self, case: Case, bench: Bench) -> None:
        """A cluster with the tables, vacuumed, written out and stopped."""
        cluster = Cluster.made(bench, bench.data / "postgres")
        tables = case.parameters["tables"]
        argv = ["sysbench", "oltp_read_only", *cluster.address(), *_sizes(case.parameters)]
        cluster.load([*argv, f"--threads={tables}", "prepare"])

    def measure(self, case: Case, bench: Bench, *, seconds: float) -> Output:
        """Both sides on one host."""
        cluster = self._serve(case, bench, At())
        output = self.ask(case, bench, cluster.served(), seconds=seconds)
        cluster.stop()
        return output

    def serve(self, case: Case, bench: Bench, at: At) -> Served:
        """A fresh server, buffers filled."""
        return self._serve(case, bench, at).served()

    def _serve(self, case: Case, bench: Bench, at: At) -> Cluster:
        cluster = Cluster.there(bench, bench.data / "postgres", at)
        if case.parameters["mode"] == "read-write":
            cluster = cluster.copied(bench.folder / "postgres")
        cluster.work(int(case.parameters["load"]), _buffers_mib(case.parameters))
        if case.parameters["hits"] == "high":
            cluster.ask(
                "select sum(pg_prewarm(oid)) from pg_class"
                " where relkind in ('r', 'i') and relname ~ '^(sbtest|k_)'"
            )
        return cluster

    def ask(self, case: Case, bench: Bench, served: Served, *, seconds: float) -> Output:
        """A second of warm-up, then the threads."""
        cluster = Cluster.reached(bench, served)
        self._started(case, bench, cluster, _WARM_UP_S).wait(limit_s=_WARM_UP_S + 60.0)
        before = _counts(cluster)
        gate = Gate.made(bench.folder / "gate")
        client = self._started(case, bench, cluster, max(1, round(seconds)), gate)
        held = gate.reached(client)
        bench.measuring()
        let_go([held])
        told = client.wait(limit_s=seconds + 60.0).stdout
        bench.measured()
        after = _counts(cluster)
        output = self.parse(case, told)
        hit, read = (b - a for a, b in zip(before, after, strict=True))
        share = {"buffer_hit_share": hit / (hit + read)} if hit + read > 0 else {}
        return Output(
            work=output.work,
            seconds=output.seconds,
            score=output.score,
            latency_ms=output.latency_ms,
            series=output.series,
            details={
                **output.details,
                **share,
                "shared_buffers_mib": _buffers_mib(case.parameters),
            },
        )

    def _started(
        self, case: Case, bench: Bench, cluster: Cluster, seconds: int, gate: Gate | None = None
    ) -> Started:
        """The client: connected, then working for so many seconds once the gate is open."""
        mode = str(case.parameters["mode"]).replace("-", "_")
        argv = ["sysbench", str(_SCRIPT), *cluster.address(), *_sizes(case.parameters)]
        argv += [f"--threads={case.parameters['load']}", f"--time={seconds}", "--events=0"]
        argv += ["--report-interval=1", "--percentile=95", "--rand-type=uniform", "--rand-seed=1"]
        if case.parameters.get("rate"):
            argv.append(f"--rate={case.parameters['rate']}")
        environment = {**cluster.environment(), "HOMENODE_OLTP": f"oltp_{mode}"}
        if gate is not None:
            environment["HOMENODE_GATE"] = str(gate.path)
        return bench.start([*argv, "run"], role="client", env=environment)

    def parse(self, case: Case, text: bytes) -> Output:
        """The lines of our report: one a second, and the total."""
        told = json_lines(self.name, text)
        totals = [line for line in told if line.get("report") == "total"]
        if len(totals) != 1:
            raise unreadable(self.name, f"{len(totals)} totals are there, not one", text)
        total = totals[0]
        work = positive(self.name, total, "transactions")
        seconds = positive(self.name, total, "seconds")
        latencies = {
            "mean": number(self.name, total, "latency_avg_s") * 1e3,
            "p95": number(self.name, total, "latency_pct_s") * 1e3,
            **self._places(told),
            "max": number(self.name, total, "latency_max_s") * 1e3,
        }
        return Output(
            work=work,
            seconds=seconds,
            score=rate(self.name, work, seconds),
            latency_ms=told_by(latencies, work),
            series=_series(told),
            details={key: number(self.name, total, key) for key in ("errors", "reconnects")},
        )

    def _places(self, told: Sequence[dict[str, object]]) -> dict[str, float]:
        """What the last thread told when it ended; nothing where sysbench does not let us see."""
        lines = [line for line in told if line.get("report") == "responses"]
        names = [name for name in PERCENTILES if name != "p95"] if lines else []
        return {name: number(self.name, lines[-1], "places_ms", name) for name in names}

    def version(self, bench: Bench) -> str:
        """Such as `sysbench 1.0.20, postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)`."""
        return f"{self.version_of('client', bench)}, {self.version_of('server', bench)}"

    def version_of(self, side: Side, bench: Bench) -> str:
        """That of the client or of the database."""
        program = "sysbench" if side == "client" else bench.program("postgres")
        return bench.run([program, "--version"], limit_s=10.0).stdout.decode().strip()


def _sizes(given: Parameters) -> list[str]:
    """The tables, in the words of sysbench."""
    return [f"--tables={given['tables']}", f"--table-size={given['rows']}"]


def _tables_bytes(given: Parameters) -> int:
    """Tables with their indices."""
    return int(given["tables"]) * int(given["rows"]) * _ROW_BYTES


def _buffers_mib(given: Parameters) -> int:
    """PostgreSQL's buffers [MiB]: twice the tables, or an eighth of them, 1 MiB at least."""
    tables = _tables_bytes(given)
    return max(1, (2 * tables if given["hits"] == "high" else tables // 8) // _MIB)


def _counts(cluster: Cluster) -> tuple[float, float]:
    """Blocks found in the buffers and blocks read into them, since the cluster was made."""
    told = cluster.ask(_HITS).split("|")
    try:
        hit, read = (float(word) for word in told)
    except ValueError as error:
        raise MeasureError(f"PostgreSQL counts no buffer hits: {told}") from error
    return hit, read


def _series(told: list[dict[str, object]]) -> list[float]:
    """Transactions a second, one figure a second."""
    found = []
    for line in told:
        done, seconds = optional(line, "transactions"), optional(line, "seconds")
        if line.get("report") == "second" and done is not None and seconds:
            found.append(done / seconds)
    return found
