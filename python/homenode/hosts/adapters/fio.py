"""fio: direct, asynchronous, random reads and writes of a file, with processor time per megabyte.

The file is written out in full before, so that no read meets an extent that was never written
(the file system would answer it without the disk). Work is counted in megabytes of 10^6 bytes.
"""

from __future__ import annotations

from homenode.hosts.adapter import Bench, Case, Need, Output, Parameters, Requirements
from homenode.hosts.adapters.given import Given
from homenode.hosts.adapters.reading import json_object, number, positive, rate, unreadable
from homenode.hosts.adapters.responses import PERCENTILES, told_by
from homenode.hosts.errors import MeasureError

MIB = 1 << 20
_FILE = "blocks"


class Fio:
    """Random input and output past the page cache."""

    name = "fio"
    title = "direct asynchronous random input and output"
    stands_for = "fio with 1 to 64 jobs: MB/s and processor time per MB"
    limit_s = 300.0

    def requires(self, case: Case) -> Requirements:
        """The program, and room for the file."""
        return Requirements(
            needs=(Need("fio", "fio"),), disk_bytes=int(case.parameters["size_mib"]) * MIB
        )

    def case(self, name: str, parameters: Parameters) -> Case:
        """`mode` randread, randwrite or randrw; `block_kib`, `depth` (in flight a job), `load`
        (jobs), `size_mib` (of the one file that all jobs share), `direct`.
        """
        given = Given(self.name, name, parameters)
        mode = given.choice("mode", ("randread", "randwrite", "randrw"), "randread")
        block = given.count("block_kib", 8, least=1, most=4096)
        depth = given.count("depth", 8, least=1, most=1024)
        jobs = given.count("load", 1, least=1, most=256)
        given.count("size_mib", 256, least=16, most=1 << 20)
        direct = given.flag("direct", default=True)
        given.no_others()
        words = {"randread": "reads", "randwrite": "writes", "randrw": "reads and writes"}[mode]
        past = "past the page cache" if direct else "through the page cache"
        return Case(
            name=name,
            title=f"random {words} of {block} KiB, {past}, {depth} in flight in each of {jobs}",
            metric="megabytes",
            unit="MB/s",
            better="higher",
            parameters=given.taken,
            load=float(jobs),
        )

    def prepare(self, case: Case, bench: Bench) -> None:
        """Write the file out in full."""
        argv = [
            "fio",
            "--name=fill",
            f"--filename={bench.data / _FILE}",
            f"--size={case.parameters['size_mib']}M",
            "--rw=write",
            "--bs=1M",
            "--refill_buffers",
            "--end_fsync=1",
            "--output-format=json",
        ]
        bench.run(argv, limit_s=self.limit_s)

    def measure(self, case: Case, bench: Bench, *, seconds: float) -> Output:
        """Jobs for so many seconds over the file that `prepare` wrote."""
        argv = self._argv(case, str(bench.data / _FILE), seconds)
        bench.measuring()
        done = bench.run(argv, limit_s=seconds + 60.0, good=(0, 1))
        bench.measured()
        if done.code != 0 and b"{" not in done.stdout:
            raise unreadable(self.name, _why_not(done.stderr), done.stderr)
        return self.parse(case, done.stdout)

    def _argv(self, case: Case, file: str, seconds: float) -> list[str]:
        """The command of one repetition."""
        given = case.parameters
        return [
            "fio",
            "--name=measured",
            f"--filename={file}",
            f"--size={given['size_mib']}M",
            f"--rw={given['mode']}",
            f"--bs={given['block_kib']}k",
            f"--direct={int(bool(given['direct']))}",
            "--ioengine=libaio",
            f"--iodepth={given['depth']}",
            f"--numjobs={given['load']}",
            f"--runtime={seconds:g}s",
            "--time_based",
            "--norandommap",
            "--group_reporting",
            "--output-format=json+",
        ]

    def parse(self, case: Case, text: bytes) -> Output:
        """One group of jobs, as `json+`."""
        jobs = json_object(self.name, text).get("jobs")
        if not isinstance(jobs, list) or len(jobs) != 1:
            raise unreadable(self.name, "it reports not one group of jobs", text)
        job = jobs[0]
        error = number(self.name, job, "error")
        if error:
            raise unreadable(self.name, f"its jobs failed with error {error:g}", text)
        sides = [side for side in ("read", "write") if number(self.name, job, side, "total_ios")]
        if not sides:
            raise MeasureError("fio did nothing: it counts no reads and no writes")
        seconds = max(positive(self.name, job, side, "runtime") for side in sides) / 1e3
        work = sum(positive(self.name, job, side, "io_bytes") for side in sides) / 1e6
        return Output(
            work=work,
            seconds=seconds,
            score=rate(self.name, work, seconds),
            latency_ms=_latency(job, sides),
            details=_details(job, sides, seconds),
        )

    def version(self, bench: Bench) -> str:
        """Such as `fio-3.33`."""
        return bench.run(["fio", "--version"], limit_s=10.0).stdout.decode().strip()


def _latency(job: object, sides: list[str]) -> dict[str, float]:
    """Completion latency [ms]; of a mix the worse side, for percentiles of two sides do not add."""
    found = {
        "mean": max(number("fio", job, side, "clat_ns", "mean") for side in sides) / 1e6,
        "max": max(number("fio", job, side, "clat_ns", "max") for side in sides) / 1e6,
    }
    for name, pct in PERCENTILES.items():
        key = f"{pct:.6f}"
        values = [number("fio", job, side, "clat_ns", "percentile", key) for side in sides]
        found[name] = max(values) / 1e6
    return told_by(found, min(number("fio", job, side, "total_ios") for side in sides))


def _details(job: object, sides: list[str], seconds: float) -> dict[str, object]:
    """Operations per second, and what fio itself says of processor time and switches."""
    operations = sum(number("fio", job, side, "total_ios") for side in sides)
    return {
        "iops": operations / seconds,
        "usr_cpu_pct": number("fio", job, "usr_cpu"),
        "sys_cpu_pct": number("fio", job, "sys_cpu"),
        "ctx": number("fio", job, "ctx"),
    }


def _why_not(stderr: bytes) -> str:
    """What fio's refusal most likely means."""
    if b"Invalid argument" in stderr and b"direct" in stderr.lower():
        return "the file system takes no direct input and output; set direct = false"
    return "it failed"
