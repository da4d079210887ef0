"""Kernels in processes of their own: the load generators, and the words for what is wrong."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import Any

import pytest
from waiting import LIMIT_S

from homenode import _engine


def kernel(*arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "homenode.hosts.kernels", *arguments],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return done


def found(name: str, *more: str, **parameters: object) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(kernel(name, json.dumps(parameters), *more).stdout)
    return told


def test_a_loop_does_its_turns_from_its_start_on() -> None:
    before = time.monotonic_ns()
    start = before + 700_000_000
    told = found("loop", start_ns=start, iterations=1_000_000)
    passed = time.monotonic_ns() - before
    assert told["iterations"] == 1_000_000
    assert told["start_ns"] >= start
    assert told["start_ns"] - start == told["start_late_ns"]
    assert told["end_ns"] > told["start_ns"]
    # One thread: no more than the time that its process lived; its own readings are in it too.
    assert 0 < told["cpu_ns"] <= passed
    assert {"nvcsw", "nivcsw", "run_delay_ns", "timeslices"} <= told.keys()


def test_a_loop_gives_way_only_when_made_to() -> None:
    told = found("loop", seconds=0.05)
    # Never by itself; a wait of the kernel's own for memory may come with reading the counters.
    assert told["nvcsw"] <= 2
    assert told["end_ns"] - told["start_ns"] >= 50_000_000


def test_bursts_are_followed_by_sleeps() -> None:
    told = found("onoff", seconds=0.5, iterations=100_000, sleep_ns=5_000_000)
    assert told["bursts"] == len(told["burst_ns"]) == len(told["wakeup_late_ns"])
    assert told["bursts"] >= 2
    assert (told["bursts"] - 1) * 5_000_000 <= told["end_ns"] - told["start_ns"]
    assert told["iterations"] == 100_000 * told["bursts"]
    # A process kept from its processor for a whole sleep finds it over and gives nothing up.
    assert told["nvcsw"] >= 0.8 * (told["bursts"] - 1)


def test_a_process_waits_for_its_start() -> None:
    start = time.monotonic_ns() + 600_000_000
    assert found("getpid", str(start), seconds=0.01)["start_ns"] >= start


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "give a kernel"),
        (("loop", "{}", "soon"), "give a kernel"),
        (("lop",), "there is no kernel lop"),
        (("loop", '{"turns": 5}'), "unknown field `turns`"),
        (("loop", "{"), "loop: "),
        (("getpid", '{"seconds": 1e9}'), "0.001 to 3600"),
    ],
)
def test_wrong_words_are_told(arguments: tuple[str, ...], words: str) -> None:
    done = kernel(*arguments, code=2)
    assert words in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_what_the_host_refuses_is_told() -> None:
    done = kernel("fork-exec", '{"seconds": 0.01, "program": "/no/such"}', code=1)
    assert "fork-exec: waiting for a child" in done.stderr


def test_all_kernels_are_named() -> None:
    assert {"getpid", "context", "memory", "chase", "loop", "loops", "onoff"} <= set(
        _engine.KERNELS
    )
