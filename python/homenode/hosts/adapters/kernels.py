"""Our own small loops: what the operating system's services and the memory cost.

In place of lmbench, whose terms and faults keep it from unattended use. An operation is timed in
batches of a few milliseconds, and the score is the middle batch's time: what it takes when nothing
disturbs it, warm-up included. They are no seconds of a run, and so no series of it.
"""

from __future__ import annotations

from collections.abc import Mapping

from homenode.hosts.adapter import Bench, Case, Output, Parameters, Requirements
from homenode.hosts.adapters.given import Given
from homenode.hosts.adapters.kernel_process import engine_version, run_kernel
from homenode.hosts.adapters.reading import json_object, number, optional, positive, unreadable
from homenode.hosts.errors import MeasureError

_MOST = 16 << 30
"""Largest buffer: beyond every cache, and made within a minute [bytes]."""
_CALLS = {
    "getpid": "the emptiest system call",
    "read": "a byte read from /dev/zero",
    "write": "a byte written to /dev/null",
    "stat": "a file found by its path",
    "open-close": "a file opened and closed",
    "select": "100 descriptors asked, none ready",
    "signal-install": "a signal handler installed",
    "signal-catch": "a signal sent to oneself and handled",
    "fork-exit": "a process made and ended",
    "fork-exec": "a process made, become another program, and ended",
    "pipe": "a byte to another process and back through pipes",
    "unix": "a byte to another process and back through local sockets",
}
_MOVES = {
    "read": "read",
    "write": "written",
    "copy": "copied",
    "zero": "set to 0",
    "partial-read": "read, a word of each line",
    "partial-write": "written, a word of each line",
}
_PIPE_ALONE = 0.1
"""Of the time asked for: the kernel `context` first measures the pipe without switches."""
_CHAINS = (1, 2, 4, 8, 12)
"""Numbers of chases at once that the kernel is compiled for."""


class Kernels:
    """System calls, signals, processes, context switches, memory bandwidth and latency."""

    name = "kernels"
    title = "small loops of our own: system calls, processes, memory"
    stands_for = "lmbench: deviation per operation and per cache level"
    limit_s = 120.0

    def requires(self, case: Case) -> Requirements:
        """Nothing but this package, and memory for the buffers."""
        size = case.parameters.get("bytes", 0)
        return Requirements(memory_bytes=int(size) * max(1, int(case.load)))

    def case(self, name: str, parameters: Parameters) -> Case:
        """`kernel`, the case's name if left out: a call; `context` with `load` processes; `memory`
        with `operation`, `bytes`, `pages`, `load` threads; `chase` with `bytes`, `pages`,
        `chains`, `load` threads.
        """
        given = Given(self.name, name, parameters)
        kinds = [*_CALLS, "context", "memory", "chase"]
        kernel = given.choice("kernel", kinds, name if name in kinds else "")
        if kernel == "memory":
            return _memory(name, given)
        if kernel == "chase":
            return _chase(name, given)
        load = given.count("load", 2, least=2, most=256) if kernel == "context" else 0
        given.no_others()
        hop = f"a byte passed on in a ring of {load} processes"
        return Case(
            name=name,
            title=hop if load else _CALLS[kernel],
            metric="operations",
            unit="ns",
            better="lower",
            parameters=given.taken,
            load=float(load),
        )

    def prepare(self, case: Case, bench: Bench) -> None:
        """Nothing is needed."""

    def measure(self, case: Case, bench: Bench, *, seconds: float) -> Output:
        """The kernel for so many seconds."""
        words = _words(case, seconds)
        kernel = str(case.parameters["kernel"])
        buffers = int(case.parameters.get("bytes", 0))
        before_s = _PIPE_ALONE * seconds if kernel == "context" else 0.0
        told = run_kernel(bench, kernel, words, seconds=seconds, buffers=buffers, before_s=before_s)
        return self.parse(case, told)

    def parse(self, case: Case, text: bytes) -> Output:
        """One JSON object."""
        found = json_object(self.name, text)
        kernel = case.parameters["kernel"]
        if found.get("kernel") != kernel:
            raise unreadable(self.name, f"it is not of the kernel {kernel}", text)
        if kernel == "memory":
            return _bandwidth(found)
        return Output(
            work=positive(self.name, found, "operations"),
            seconds=positive(self.name, found, "seconds"),
            score=positive(self.name, found, "ns"),
            details=_details(found),
        )

    def version(self, bench: Bench) -> str:
        """The engine's, whose part the kernels are."""
        return engine_version()


def _memory(name: str, given: Given) -> Case:
    operation = given.choice("operation", tuple(_MOVES), "read")
    size = given.count("bytes", 128 << 20, least=1024, most=_MOST)
    given.choice("pages", ("small", "huge"), "small")
    threads = given.count("load", 1, least=1, most=4096)
    given.no_others()
    return Case(
        name=name,
        title=f"{_size(size)} {_MOVES[operation]} by {_threads(threads)}",
        metric="megabytes",
        unit="MB/s",
        better="higher",
        parameters=given.taken,
        load=float(threads),
    )


def _chase(name: str, given: Given) -> Case:
    size = given.count("bytes", 128 << 20, least=1024, most=_MOST)
    pages = given.choice("pages", ("small", "huge"), "small")
    chains = given.count("chains", 1, least=1, most=12)
    if chains not in _CHAINS:
        raise MeasureError(
            f"kernels/{name}: parameter 'chains' is {chains}",
            next_step=f"give one of {', '.join(map(str, _CHAINS))}",
        )
    threads = given.count("load", 1, least=1, most=4096)
    given.no_others()
    at_once = "" if chains == 1 else f", {chains} at once"
    by = "" if threads == 1 else f", by {_threads(threads)}"
    return Case(
        name=name,
        title=f"dependent loads at random in {_size(size)}, {pages} pages{at_once}{by}",
        metric="loads",
        unit="ns",
        better="lower",
        parameters=given.taken,
        load=float(threads),
    )


def _words(case: Case, seconds: float) -> dict[str, object]:
    """The kernel's parameters."""
    words: dict[str, object] = {"seconds": seconds}
    for key, value in case.parameters.items():
        if key == "load":
            words["processes" if case.parameters["kernel"] == "context" else "threads"] = value
        elif key != "kernel":
            words[key] = value
    return words


def _bandwidth(found: Mapping[str, object]) -> Output:
    return Output(
        work=positive("kernels", found, "moved_bytes") / 1e6,
        seconds=positive("kernels", found, "seconds"),
        score=positive("kernels", found, "mb_per_s"),
        details=_details(found),
    )


def _details(found: Mapping[str, object]) -> dict[str, object]:
    """The best batch, what the pipe alone costs, the process's size, what pages there were."""
    details: dict[str, object] = {}
    for key in ("ns_min", "pipe_ns", "resident_bytes", "huge_bytes", "descriptors"):
        if optional(found, key) is not None:
            details[key] = number("kernels", found, key)
    return details


def _size(size: int) -> str:
    """In KiB or MiB."""
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size / 1024:g} KiB"


def _threads(count: int) -> str:
    return "a thread" if count == 1 else f"{count} threads, each its own"
