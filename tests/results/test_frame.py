"""The frame in a line, and in one line why partitions have no steady state."""

from __future__ import annotations

from pathlib import Path

import pytest

from homenode import Run, Scenario
from homenode.report.runs import frame_line, unsteady_lines
from homenode.simulate.kept.frame import frame_of

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

OVERLOADED = """
name = "overloaded"

[machine]
model = "ibm-power-770"
active_cores = 16

[[pool]]
name = "small"
maximum = 1

[[partition]]
name = "own"
processors = { mode = "dedicated", cores = 2 }
memory = "4 GiB"
workload = { kind = "transactions", rate = "2000/s", profile = "oltp" }

[[partition]]
name = "capped"
processors = { mode = "shared", entitlement = 1.0, virtual = 4, capped = true }
memory = "4 GiB"
workload = { kind = "transactions", rate = "2000/s", profile = "oltp" }

[[partition]]
name = "narrow"
processors = { mode = "shared", entitlement = 0.5, virtual = 2 }
memory = "4 GiB"
workload = { kind = "transactions", rate = "2000/s", profile = "oltp" }

[[partition]]
name = "pooled"
processors = { mode = "shared", entitlement = 0.5, virtual = 4, pool = "small" }
memory = "4 GiB"
workload = { kind = "transactions", rate = "2000/s", profile = "oltp" }

[[partition]]
name = "well"
processors = { mode = "shared", entitlement = 1.0, virtual = 4 }
memory = "4 GiB"
workload = { kind = "transactions", rate = "100/s", profile = "oltp" }

[run]
warmup = "500 ms"
duration = "2 s"
replications = 2
"""
HOST = """
name = "full"

[machine]
model = "intel-xeon-6240-2s"
active_cores = 2

[[partition]]
name = "limited"
processors = { mode = "shared", virtual = 4, quota = "50 ms", period = "100 ms" }
memory = "4 GiB"
workload = { kind = "transactions", rate = "2000/s", profile = "oltp" }

[[partition]]
name = "wide"
processors = { mode = "shared", virtual = 8 }
memory = "4 GiB"
workload = { kind = "transactions", rate = "4000/s", profile = "oltp" }

[run]
warmup = "500 ms"
duration = "2 s"
replications = 1
"""


def run_of(text: str, folder: Path) -> Run:
    return Scenario.from_toml(text).run(out=folder)


def test_one_line_says_what_keeps_each_from_doing_more(tmp_path: Path) -> None:
    run = run_of(OVERLOADED, tmp_path)
    (line,) = unsteady_lines(run)
    assert line.startswith("No steady state, so throughput and response have no mean: own: backlog")
    reasons = dict(part.strip().split(": ", 1) for part in line.partition("mean: ")[2].split(";"))
    assert list(reasons) == ["own", "capped", "narrow", "pooled"]
    assert reasons["own"].endswith("transactions, all 2 cores in use")
    assert reasons["capped"].endswith("at its cap of 1.00 cores")
    assert reasons["narrow"].endswith("all 2 virtual processors in use")
    assert reasons["pooled"].endswith("its pool small of 1 cores is full.")


def test_a_full_host_and_a_quota_are_told(tmp_path: Path) -> None:
    run = run_of(HOST, tmp_path)
    (line,) = unsteady_lines(run)
    assert "limited: backlog" in line
    assert "throttled by its quota in every period; wide: backlog" in line
    assert line.endswith("the host is full.")
    assert frame_line(frame_of(run)).startswith("host: 4.00 of 4 processors used, 0.00 free; ")


def test_the_frame_is_the_sum_of_its_partitions(tmp_path: Path) -> None:
    run = run_of(OVERLOADED, tmp_path)
    frame = frame_of(run)
    used = sum(run.metrics[name]["physc"].mean or 0.0 for name in run.partitions)
    assert frame.used.mean == pytest.approx(used)
    assert frame.used.ci95 is not None
    assert (frame.kind, frame.capacity, frame.dedicated) == ("frame", 16.0, 2)
    assert frame.entitlement == pytest.approx(3.0)
    assert frame.free.mean == pytest.approx(16 - used)
    assert frame_line(frame).endswith("free; 2 dedicated, 3.00 entitled")
