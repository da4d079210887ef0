"""A kernel of our own on the bench, in a fresh process that is loaded before the accounts begin."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping

from homenode import _engine
from homenode.hosts.adapter import Bench
from homenode.hosts.adapters.reading import optional
from homenode.hosts.errors import MeasureError

_NS = 1e9
_LOADED_WITHIN_S = 0.4
"""An interpreter and the compiled engine load in a tenth of it on a host at rest."""
_MADE_A_SECOND = 300e6
"""Bytes of a buffer that are mapped and linked at random in a second: some 200 ns a line."""
_BEFORE_S = 0.02
"""The accounts begin that much before the kernel; reading them takes some of it [s]."""
_MORE = 4.0
_ENOUGH = 2.0
"""The next try gives reading them four times as long, or twice what it took if that is more: on a
host with many processes, or one where this process waits for its turn, it takes a second.
"""
_AFTER_S = 60.0
_LATE_S = 0.1
_PATIENCE = (1.0, 4.0, 16.0)
"""Times that long is given to get ready, one try after the other: a group under a small quota takes
as many times as long.
"""


def kernel_command(name: str, parameters: Mapping[str, object]) -> list[str]:
    """The words that run a kernel in a process of its own."""
    return [sys.executable, "-m", "homenode.hosts.kernels", name, json.dumps(parameters)]


def run_kernel(
    bench: Bench,
    name: str,
    parameters: Mapping[str, object],
    *,
    seconds: float,
    buffers: int = 0,
    before_s: float = 0.0,
    late_s: float = _LATE_S,
) -> bytes:
    """What a kernel prints that takes about so many seconds. Loading it, making its buffers of so
    many bytes, and what it does for `before_s` before it waits for its start is not counted, and
    all else is: one that began more than `late_s` after it should have, or before the accounts did,
    is run again with more time to get ready.

    Raises `MeasureError` if it fails, quoting what it said, or if the accounts were late each time.
    """
    ready_s = _LOADED_WITHIN_S + buffers / _MADE_A_SECOND
    waits_itself = buffers > 0 or before_s > 0.0
    lead_s = _BEFORE_S
    for patience in _PATIENCE:
        counts_from = bench.clock.now_s() + before_s + patience * ready_s
        start = counts_from + lead_s
        given = (name, parameters, seconds)
        text, counted_from = _once(bench, *given, start, counts_from, in_kernel=waits_itself)
        if counted_from <= start and _began_s(text) <= start + late_s:
            return text
        lead_s = max(_MORE * lead_s, _ENOUGH * (counted_from - counts_from))
    if counted_from <= start:
        # Late even so, it was ready and waited for a processor: nothing of its loading is counted.
        return text
    raise MeasureError(
        f"the accounts of {name} began {counted_from - start:.3g} s after it",
        next_step="let the host come to rest: this process did not get a processor in time",
    )


def _once(
    bench: Bench,
    name: str,
    parameters: Mapping[str, object],
    seconds: float,
    start: float,
    counts_from: float,
    *,
    in_kernel: bool,
) -> tuple[bytes, float]:
    """One run that begins at `start`, told to the kernel itself or to the process that loads it;
    what it prints, and when its accounts began, by the bench's clock [s].
    """
    start_ns = int(start * _NS)
    given = {**parameters, "start_ns": start_ns} if in_kernel else parameters
    words = kernel_command(name, given)
    client = bench.start([*words, *([] if in_kernel else [str(start_ns)])], role="client")
    bench.clock.wait_until(counts_from)
    bench.measuring()
    counted_from = bench.clock.now_s()
    finished = client.wait(limit_s=seconds + _AFTER_S)
    bench.measured()
    return finished.stdout, counted_from


def _began_s(text: bytes) -> float:
    """When it began, by the bench's clock; 0 where it does not tell, which its reader minds."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return 0.0
    return (optional(found, "start_ns") or 0.0) / _NS


def engine_version() -> str:
    """Version of the engine, which the kernels are part of."""
    return f"homenode {_engine.ENGINE_VERSION}"
