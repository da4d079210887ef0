"""Transactions of a wholesaler in memory, a thread a warehouse, under JMH.

A fresh virtual machine a repetition; its warm-up, in which the compiler works, is not counted. The
collector and the heap's size are fixed, for by itself the machine chooses them by the number of
processors, and a scaling set would compare different programs.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
import time
from importlib.resources import files
from pathlib import Path

from homenode.hosts.adapter import Bench, Case, Need, Output, Parameters, Requirements, Started
from homenode.hosts.adapters.given import Given
from homenode.hosts.adapters.jmh import archives
from homenode.hosts.adapters.reading import number, positive, quoted, unreadable
from homenode.hosts.errors import MeasureError

_MIB = 1 << 20
_ITERATIONS = 4
_LOOK_EVERY_S = 0.02
_BEGUN = b"\nIteration   1:"
_START_S = 60.0


class Jmh:
    """Warehouses."""

    name = "jmh"
    title = "a wholesaler's transactions in Java, a thread a warehouse"
    stands_for = "the Java benchmark with 1 to 32 warehouses: relative throughput"
    limit_s = 300.0

    def requires(self, case: Case) -> Requirements:
        """A Java compiler, JMH from Maven's archive, memory for the heap."""
        jmh = Need("jmh-core", "org.openjdk.jmh:jmh-core", source="maven", version=archives.VERSION)
        return Requirements(
            needs=(Need("javac", "default-jdk-headless"), jmh),
            memory_bytes=(int(case.parameters["heap_mib"]) + 256) * _MIB,
        )

    def case(self, name: str, parameters: Parameters) -> Case:
        """`load` warehouses, `heap_mib`, `warm_up_s` seconds before the measured ones."""
        given = Given(self.name, name, parameters)
        warehouses = given.count("load", 2, least=1, most=1024)
        given.count("heap_mib", 512, least=64, most=1 << 20)
        given.amount("warm_up_s", 3.0, least=1.0, most=600.0)
        given.no_others()
        return Case(
            name=name,
            title=f"Java: {warehouses} warehouse{'s' * (warehouses > 1)}, a thread each",
            metric="transactions",
            unit="1/s",
            better="higher",
            parameters=given.taken,
            load=float(warehouses),
        )

    def fetched(self, cache: Path) -> bool:
        """Whether JMH lies in the cache, whole."""
        return archives.fetched(cache)

    def fetch(self, cache: Path) -> None:
        """Bring JMH, checked against pinned sums."""
        archives.fetch(cache)

    def prepare(self, case: Case, bench: Bench) -> None:
        """Compile the class, once for this text of it, this JMH and this compiler."""
        if not archives.fetched(bench.cache):
            raise MeasureError(
                f"JMH {archives.VERSION} is not in {bench.cache}",
                next_step="homenode measure tools --install",
            )
        classes = self._classes(bench)
        if classes.is_dir():
            return
        path = ":".join(map(str, archives.paths(bench.cache)))
        words = ["javac", "-nowarn", "-cp", path, "-processorpath", path]
        with tempfile.TemporaryDirectory(prefix=".compile-", dir=bench.cache) as folder:
            source, made = Path(folder, "Warehouses.java"), Path(folder, "classes")
            source.write_bytes(_source())
            made.mkdir()
            bench.run([*words, "-d", str(made), str(source)], limit_s=120.0)
            try:
                made.rename(classes)
            except OSError:
                if not classes.is_dir():  # else another session was quicker
                    raise

    def measure(self, case: Case, bench: Bench, *, seconds: float) -> Output:
        """A fresh virtual machine: warm-up, then iterations of so many seconds in all."""
        report = bench.folder / "report.json"
        warm_up = float(case.parameters["warm_up_s"])
        client = bench.start(self._argv(case, bench, seconds, report), role="client")
        _wait_for_iterations(client, warm_up + _START_S)
        bench.measuring()
        finished = client.wait(limit_s=seconds + _START_S)
        bench.measured()
        try:
            text = report.read_bytes()
        except OSError as error:
            raise MeasureError("JMH wrote no report", there=quoted(finished.stdout)) from error
        return self.parse(case, text)

    def _argv(self, case: Case, bench: Bench, seconds: float, report: Path) -> list[str]:
        given = case.parameters
        path = ":".join(map(str, [self._classes(bench), *archives.paths(bench.cache)]))
        heap = f"-Xms{given['heap_mib']}m -Xmx{given['heap_mib']}m -XX:+UseParallelGC"
        iteration = max(1, round(seconds / _ITERATIONS * 1e3))
        warm_up = round(float(given["warm_up_s"]) / 2 * 1e3)
        counts = ["-f", "1", "-wi", "2", "-w", f"{warm_up}ms", "-i", str(_ITERATIONS)]
        shape = [*counts, "-r", f"{iteration}ms", "-t", str(int(case.load))]
        return [
            "java",
            # The parent only starts and reports.
            "-XX:+UseSerialGC",
            "-cp",
            path,
            "org.openjdk.jmh.Main",
            "Warehouses.transaction",
            *shape,
            "-jvmArgs",
            heap,
            "-foe",
            "true",
            "-rf",
            "json",
            "-rff",
            str(report),
        ]

    def _classes(self, bench: Bench) -> Path:
        """Named by what goes into them."""
        java = bench.program("javac")
        words = f"{archives.VERSION} {Path(java).resolve()}".encode()
        return bench.cache / f"classes-{hashlib.sha256(_source() + words).hexdigest()[:16]}"

    def parse(self, case: Case, text: bytes) -> Output:
        """JMH's JSON report of one benchmark."""
        try:
            rows = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise unreadable(self.name, f"its JSON is cut or damaged ({error})", text) from error
        if not isinstance(rows, list) or len(rows) != 1 or not isinstance(rows[0], dict):
            raise unreadable(self.name, "it is not of one benchmark", text)
        row = rows[0]
        if number(self.name, row, "threads") != case.load:
            raise unreadable(self.name, f"it did not run {case.load:g} threads", text)
        iterations = _iterations(row, text)
        score = positive(self.name, row, "primaryMetric", "score")
        seconds = _seconds(row, text) * len(iterations)
        keys = ("jdkVersion", "vmName", "vmVersion", "jmhVersion")
        return Output(
            work=score * seconds,
            seconds=seconds,
            score=score,
            series=iterations,
            details={key: row[key] for key in keys if isinstance(row.get(key), str)},
        )

    def version(self, bench: Bench) -> str:
        """JMH's, and Java's as it prints it."""
        said = bench.run(["java", "-version"], limit_s=20.0).stderr.decode("utf-8", "replace")
        return f"JMH {archives.VERSION}, {said.splitlines()[0] if said else 'unknown Java'}"


def _wait_for_iterations(client: Started, limit_s: float) -> None:
    """Until the warm-up is over; an end before is `wait`'s to tell."""
    until = time.monotonic() + limit_s
    while client.alive() and _BEGUN not in client.output():
        if time.monotonic() >= until:
            raise MeasureError(
                f"JMH did not begin to measure within {limit_s:g} s",
                there=quoted(client.output()),
                next_step="ask for fewer warehouses, or see what the host is busy with",
            )
        time.sleep(_LOOK_EVERY_S)


def _iterations(row: dict[str, object], text: bytes) -> list[float]:
    """Score of each iteration of the one virtual machine."""
    metric = row.get("primaryMetric")
    forks = metric.get("rawData") if isinstance(metric, dict) else None
    if not isinstance(metric, dict) or metric.get("scoreUnit") != "ops/s":
        raise unreadable("jmh", "it is not in operations per second", text)
    if not isinstance(forks, list) or len(forks) != 1 or not forks[0]:
        raise unreadable("jmh", "it is not of one virtual machine", text)
    return [positive("jmh", {"rawData": value}, "rawData") for value in forks[0]]


def _seconds(row: dict[str, object], text: bytes) -> float:
    """Length of an iteration: `500 ms` or `2 s`."""
    words = str(row.get("measurementTime")).split()
    scale = {"ms": 1e-3, "s": 1.0}.get(words[-1]) if len(words) == 2 else None
    if scale is None or not words[0].isdecimal() or int(words[0]) == 0:
        raise unreadable("jmh", "it tells no length of its iterations", text)
    return int(words[0]) * scale


def _source() -> bytes:
    """The benchmark's text, which comes with the package."""
    return (files("homenode.hosts.adapters.jmh") / "Warehouses.java").read_bytes()
