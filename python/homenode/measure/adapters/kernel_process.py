"""A kernel of our own on the bench, in a fresh process that is loaded before the accounts begin."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping

from homenode.measure.adapter import Bench

_LOADED_WITHIN_S = 0.4
"""An interpreter and the compiled engine load in a tenth of it on a host at rest."""
_MADE_A_SECOND = 300e6
"""Bytes of a buffer that are mapped and linked at random in a second: some 200 ns a line."""
_BEFORE_S = 0.02
"""The accounts begin that much before the kernel; reading them takes some of it."""
_AFTER_S = 60.0


def run_kernel(
    bench: Bench,
    name: str,
    parameters: Mapping[str, object],
    *,
    seconds: float,
    buffers: int = 0,
) -> bytes:
    """What a kernel prints that takes about so many seconds; loading it, and making its buffers of
    so many bytes, is not counted.

    Raises `MeasureError` if it fails, quoting what it said.
    """
    start = time.monotonic() + _LOADED_WITHIN_S + buffers / _MADE_A_SECOND
    start_ns = int(start * 1e9)
    given = {**parameters, "start_ns": start_ns} if buffers else parameters
    words = [sys.executable, "-m", "homenode.measure.kernels", name, json.dumps(given)]
    client = bench.start([*words, *([] if buffers else [str(start_ns)])], role="client")
    time.sleep(max(0.0, start - _BEFORE_S - time.monotonic()))
    bench.measuring()
    finished = client.wait(limit_s=seconds + _AFTER_S)
    bench.measured()
    return finished.stdout


def engine_version() -> str:
    """Version of the engine, which the kernels are part of."""
    from homenode import _engine

    return f"homenode {_engine.ENGINE_VERSION}"
