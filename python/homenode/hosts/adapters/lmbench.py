"""lmbench, where it is installed: an optional plug-in, for results of changed versions of it may
not be published and Debian keeps it apart. Our own kernels stand in its place; nothing here asks
for it. Its figures go to the error stream, as "what: value unit" or as a table of sizes.
"""

from __future__ import annotations

import re

from homenode.hosts.adapter import Bench, Case, Need, Output, Parameters, Requirements
from homenode.hosts.adapters.given import Given
from homenode.hosts.adapters.reading import unreadable
from homenode.hosts.errors import MeasureError

_CALLS = ("null", "read", "write", "stat", "fstat", "open")
_TRANSFERS = ("rd", "wr", "rdwr", "cp", "frd", "fwr", "fcp", "bzero", "bcopy")
_SAME_SIZE = 0.2  # share by which a printed size may differ from that asked for
_CALL = re.compile(rb"^[A-Za-z/ ]+: +([0-9.]+) +microseconds", re.MULTILINE)
_PAIR = re.compile(rb"^([0-9.]+) +([0-9.]+)$", re.MULTILINE)


class Lmbench:
    """A system call, a transfer or a chase by lmbench's own programs."""

    name = "lmbench"
    title = "lmbench's system calls and memory (optional plug-in)"
    stands_for = "lmbench, per operation and buffer size"
    limit_s = 120.0

    def requires(self, case: Case) -> Requirements:
        """The program if it is there."""
        return Requirements(needs=(Need(_program(case.parameters), "lmbench", plug_in=True),))

    def case(self, name: str, parameters: Parameters) -> Case:
        """`test` call, transfer or chase; `call`, `transfer`: which; `size_kib` of the buffer."""
        given = Given(self.name, name, parameters)
        test = given.choice("test", ("call", "transfer", "chase"), "call")
        call = given.choice("call", _CALLS, "null")
        transfer = given.choice("transfer", _TRANSFERS, "rd")
        size = given.count("size_kib", 1024, least=1, most=1 << 22)
        given.no_others()
        if test == "call":
            return Case(name, f"the system call {call}", "calls", "us", "lower", given.taken)
        if test == "transfer":
            title = f"{transfer} of {size} KiB"
            return Case(name, title, "megabytes", "MB/s", "higher", given.taken)
        title = f"loads that depend on each other over {size} KiB"
        return Case(name, title, "loads", "ns", "lower", given.taken)

    def prepare(self, case: Case, bench: Bench) -> None:
        """Nothing."""

    def measure(self, case: Case, bench: Bench, *, seconds: float) -> Output:
        """One run of the program; how long it takes is lmbench's own affair."""
        del seconds
        given = case.parameters
        size_kib = int(given["size_kib"])
        words = {
            "call": [str(given["call"])],
            "transfer": [f"{size_kib}k", str(given["transfer"])],
            # lat_mem_rd takes whole MB and goes through all smaller sizes itself.
            "chase": [str(max(1, -(-size_kib // 1024))), "64"],
        }[str(given["test"])]
        argv = [bench.program(_program(given)), *words]
        done = bench.run(argv, limit_s=self.limit_s)
        output = self.parse(case, done.stdout + done.stderr)
        return Output(work=output.work, seconds=done.seconds, score=output.score)

    def parse(self, case: Case, text: bytes) -> Output:
        """The one figure asked for; of a chase the line of the size nearest to that asked for.

        lmbench does not tell how much it did: the work is one figure.
        """
        if case.parameters["test"] == "call":
            calls = [float(value) for value in _CALL.findall(text)]
            score = calls[0] if len(calls) == 1 else 0.0
        else:
            score = self._of_size(case, text)
        if score <= 0.0:
            raise unreadable(self.name, "the figure asked for is not in it", text)
        return Output(work=1.0, seconds=1.0, score=score)

    def _of_size(self, case: Case, text: bytes) -> float:
        """The value of the pair whose size is nearest; bw_mem's MB are of 10^6, lat_mem_rd's of
        2^20 bytes.
        """
        mib = int(case.parameters["size_kib"]) / 1024
        wanted = mib if case.parameters["test"] == "chase" else mib * 1.048576
        try:
            pairs = [(float(size), float(value)) for size, value in _PAIR.findall(text)]
        except ValueError as error:
            raise unreadable(self.name, "a figure is no number", text) from error
        near = [pair for pair in pairs if abs(pair[0] / wanted - 1.0) < _SAME_SIZE]
        if not near:
            return 0.0
        return min(near, key=lambda pair: abs(pair[0] - wanted))[1]

    def version(self, bench: Bench) -> str:
        """The package's, where there is one: the programs do not tell."""
        try:
            argv = ["dpkg-query", "-W", "-f", "lmbench ${Version}", "lmbench"]
            return bench.run(argv, limit_s=10.0).stdout.decode().strip()
        except MeasureError:
            return "lmbench"


def _program(given: Parameters) -> str:
    """Which of lmbench's programs a case runs."""
    return {"call": "lat_syscall", "transfer": "bw_mem", "chase": "lat_mem_rd"}[str(given["test"])]
