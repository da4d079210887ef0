"""Kernels and tools once, as short as they go, where they are installed: that our commands still
are some, and that what is printed today is read. What a loaded host gives is not looked at.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from live import measured

ROWS = [
    ("kernels", "context", "load = 2"),
    ("kernels", "fork-exec", ""),
    ("kernels", "memory", 'operation = "zero", bytes = 65536, load = 2'),
    ("kernels", "chase", 'bytes = 65536, pages = "huge", chains = 2'),
    ("kernels", "memory", 'operation = "unrolled-copy", bytes = 65536, offset = 8'),
    ("kernels", "file", 'bytes = 65536, way = "map", opened = "each"'),
    ("kernels", "file", "bytes = 65536"),
    ("kernels", "mapping", "bytes = 65536"),
    ("loops", "three", "load = 3, turns = 5000000"),
    ("dbench", "memory", 'on = "memory", load = 2'),
    ("tbench", "loopback", "load = 2"),
    ("stressng", "compute", "load = 1"),
    ("hackbench", "pipes", 'over = "pipes", load = 1, loops = 50'),
    *(("integer", name, "") for name in ("gcc", "gnugo", "hmmsearch", "stockfish", "x264")),
    *(("floating", name, "") for name in ("povray", "lame", "clp", "nec2c", "calculix")),
    ("jmh", "warehouses", "load = 1, warm_up_s = 1.0, heap_mib = 128"),
]


@pytest.mark.parametrize(("tool", "name", "parameters"), ROWS)
def test_live(
    tool: str,
    name: str,
    parameters: str,
    command: Callable[..., subprocess.CompletedProcess[str]],
    tmp_path: Path,
) -> None:
    (record,) = measured(command, tmp_path, tool, name, parameters, seconds=0.2).records
    assert record.rejected is None, record.rejected
    assert min(record.work, record.seconds, record.score) > 0.0
    if record.cpu is None:  # the runner was starved: it says so in place of a wrong figure
        assert record.details["cpu_unknown"]
    else:
        assert record.cpu.total > 0.0
