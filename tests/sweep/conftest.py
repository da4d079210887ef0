"""A small sweep, and one that takes long enough for someone to die on the way."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

SMALL = """\
[machine]
model = "ibm-power-770"

[[partition]]
name = "db"
processors = {{ mode = "shared", entitlement = 1.0, virtual = 4 }}
memory = "16 GiB"
workload = {{ kind = "transactions", rate = "200/s", bursts = 4, wait = "2 ms", profile = "oltp" }}

[run]
warmup = "100 ms"
duration = "{duration}"
replications = {replications}

[sweep]
"partition.db.workload.rate" = [{rates}]
"partition.db.processors.virtual" = [2, 4, 8]
"""


def written(folder: Path, points: int, duration: str, replications: int = 2) -> Path:
    """A sweep of three times so many points."""
    rates = ", ".join(f'"{100 + at}/s"' for at in range(points // 3))
    path = folder / "small.toml"
    text = SMALL.format(rates=rates, duration=duration, replications=replications)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Twelve points of a moment each."""
    return written(tmp_path, 12, "400 ms")


@pytest.fixture
def long(tmp_path: Path) -> Path:
    """Points enough for several batches of each worker."""
    return written(tmp_path, 90, "20 s")
