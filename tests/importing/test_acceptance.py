"""Real recordings from end to end: import, run, replay."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

Command = Callable[..., "subprocess.CompletedProcess[str]"]


def answer(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_recorded_partition_replays_as_it_was(
    shared_captures: Path, command: Command, tmp_path: Path
) -> None:
    """Every window within 2 %, and more virtual processors folded where more were."""
    recording = shared_captures / "nmon" / "aixlpar.nmon.gz"
    answer(command("import", recording, "-o", "aixlpar"))
    names = {entry.name for entry in (tmp_path / "aixlpar").iterdir()}
    assert names == {"scenario.toml", "demand.parquet"}
    answer(command("run", "aixlpar/scenario.toml", "--seed", "7"))
    told = json.loads(answer(command("replay", "--json")))
    windows = told["windows"]
    assert len(windows) == 187
    assert (windows[0]["recorded"], windows[-1]["recorded"]) == (1.257, 0.984)
    assert max(abs(row["deviation_pct"]) for row in windows) < 2.0
    (summary,) = told["partitions"]
    # The pager's threads unfold all wherever it was listed, and nothing does elsewhere: nearer in
    # the mean than without them (4.2), not in each window.
    assert summary["folded_rank"] > 0.4
    assert summary["folded_where_folded"] > summary["folded_where_none"] + 1.0
    figures = {(one["name"], one["since_start"]): one for one in summary["figures"]}
    # Switches of threads of their own will, which since the start were 76 % of all, and those of
    # logical processors: that day 1.33 times as many of the former as since the start.
    switches = figures["context_switches_per_s", False]
    assert switches["recorded"] == pytest.approx(1828.6, abs=0.1)
    # The pager's wake-ups come on top, and what its threads crowd out waits for its turn.
    assert switches["ratio"] == pytest.approx(0.80, abs=0.05)
    busier = switches["recorded"] / figures["context_switches_per_s", True]["recorded"]
    assert figures["vlcs_per_s", True]["ratio"] == pytest.approx(busier, rel=0.1)
    folded = figures["folded", False]
    assert (folded["recorded"], folded["simulated"]) == (
        pytest.approx(1.235, abs=0.01),
        pytest.approx(2.0, abs=0.3),
    )
    # Shares of first to fourth threads: .86/.09/.03/.02 recorded, 1/0/0/0 without the pager.
    threads = [figures[f"thread{place}_cores", False]["simulated"] for place in (1, 2, 3, 4)]
    assert threads[0] / sum(threads) == pytest.approx(0.86, abs=0.03)
    assert min(threads) > 0.02 * sum(threads)
    assert {"physc", "folded", "user_cores", "thread1_cores"} <= {name for name, _ in figures}


@pytest.mark.slow("a month of fifty machines; the recorded partition above takes the same way")
def test_fifty_virtual_machines_run(
    shared_captures: Path, command: Command, tmp_path: Path
) -> None:
    """A month of fifty virtual machines in windows of two days, so that a test does not take long:
    each within 2 % in all windows but few.
    """
    folder = shared_captures / "traces"
    options = ("--window", "172800 s", "--step", "5 s")
    answer(command("import", folder, "-o", "vms", *options))
    answer(command("run", "vms/scenario.toml"))
    told = json.loads(answer(command("replay", "--summary", "--json")))
    assert len(told["partitions"]) == 50
    windows = sum(one["windows"] for one in told["partitions"])
    beyond = sum(one["beyond"] for one in told["partitions"])
    assert windows > 500
    assert beyond < 0.05 * windows
