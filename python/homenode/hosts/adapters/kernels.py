"""Our own small loops: what the operating system's services and the memory cost.

In place of lmbench, whose terms and faults keep it from unattended use. An operation is timed in
batches of a few milliseconds, and the score is the middle batch's time: what it takes when nothing
disturbs it, warm-up included. They are no seconds of a run, and so no series of it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

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
    "partial-read-write": "read and written, a word of each line",
    "unrolled-copy": "copied word by word",
    "partial-copy": "copied, a word of each line",
}
_COPIES = ("copy", "unrolled-copy", "partial-copy")
_OFFSETS = tuple(range(0, 64, 8))
"""By how much a copy's target may be off the line that its source begins on [bytes]."""
_FILES = ("file", "mapping")
_WRITTEN_AT_ONCE = 1 << 20
_PIPE_ALONE = 0.1
"""Of the time asked for: the kernel `context` first measures the pipe without switches."""
_CHAINS = (1, 2, 4, 8, 12)
"""Numbers of chases at once that the kernel is compiled for."""


class Kernels:
    """System calls, signals, processes, context switches, mappings, bandwidth and latency of memory
    and of files that lie in it.
    """

    name = "kernels"
    title = "small loops of our own: system calls, processes, memory"
    stands_for = "lmbench: deviation per operation and per cache level"
    limit_s = 120.0

    def requires(self, case: Case) -> Requirements:
        """Nothing but this package, memory for the buffers, and room for a file on the disk."""
        size = int(case.parameters.get("bytes", 0))
        on_disk = case.parameters["kernel"] in _FILES
        memory = size * max(1, int(case.load))
        return Requirements(memory_bytes=memory, disk_bytes=size if on_disk else 0)

    def case(self, name: str, parameters: Parameters) -> Case:
        """`kernel`, the case's name if left out: a call; `context` with `load` processes; `memory`
        with `operation`, `bytes`, `pages`, `offset` (of a copy's target, off the line), `load`
        threads; `chase` with `bytes`, `pages`, `chains`, `load` threads; `file`, gone through again
        by `way` read or map, `opened` once or each time, `bytes`; `mapping` of `bytes`, a tenth of
        whose pages are written to.
        """
        given = Given(self.name, name, parameters)
        kinds = [*_CALLS, "context", "memory", "chase", *_FILES]
        kernel = given.choice("kernel", kinds, name if name in kinds else "")
        special = {"memory": _memory, "chase": _chase, "file": _file, "mapping": _mapping}
        if kernel in special:
            return special[kernel](name, given)
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
        """A file, where one is gone through or mapped: its bytes are there, none is a hole."""
        if case.parameters["kernel"] in _FILES:
            left = int(case.parameters["bytes"])
            with _path(bench).open("wb") as file:
                while left > 0:
                    left -= file.write(os.urandom(min(left, _WRITTEN_AT_ONCE)))

    def measure(self, case: Case, bench: Bench, *, seconds: float) -> Output:
        """The kernel for so many seconds."""
        words = _words(case, seconds)
        if case.parameters["kernel"] in _FILES:
            words["path"] = str(_path(bench))
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
        if kernel in ("memory", "file"):
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
    offset = given.count("offset", 0, least=0, most=_OFFSETS[-1])
    if offset not in (_OFFSETS if operation in _COPIES else (0,)):
        raise MeasureError(
            f"kernels/{name}: parameter 'offset' is {offset}",
            next_step=f"give one of {', '.join(map(str, _OFFSETS))}, and of a copy only",
        )
    threads = given.count("load", 1, least=1, most=4096)
    given.no_others()
    off = f", {offset} bytes off the line," if offset else ""
    return Case(
        name=name,
        title=f"{_size(size)} {_MOVES[operation]}{off} by {_threads(threads)}",
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


def _file(name: str, given: Given) -> Case:
    size = given.count("bytes", 128 << 20, least=1024, most=_MOST)
    way = given.choice("way", ("read", "map"), "read")
    opened = given.choice("opened", ("once", "each"), "once")
    given.no_others()
    by = "read" if way == "read" else "read in a mapping"
    often = ", opened and closed each time" if opened == "each" else ""
    return Case(
        name=name,
        title=f"{_size(size)} of a file in memory {by}{often}",
        metric="megabytes",
        unit="MB/s",
        better="higher",
        parameters=given.taken,
    )


def _mapping(name: str, given: Given) -> Case:
    size = given.count("bytes", 128 << 20, least=1024, most=_MOST)
    given.no_others()
    return Case(
        name=name,
        title=f"{_size(size)} of a file mapped, a tenth written to, unmapped",
        metric="operations",
        unit="ns",
        better="lower",
        parameters=given.taken,
    )


def _path(bench: Bench) -> Path:
    """The case's own file, kept between its repetitions."""
    return bench.data / "file"


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
    for key in ("ns_min", "pipe_ns", "resident_bytes", "huge_bytes", "descriptors", "pages"):
        if optional(found, key) is not None:
            details[key] = number("kernels", found, key)
    return details


def _size(size: int) -> str:
    """In KiB or MiB."""
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size / 1024:g} KiB"


def _threads(count: int) -> str:
    return "a thread" if count == 1 else f"{count} threads, each its own"
