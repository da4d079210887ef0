"""What a wake-up on another processor costs, from what pairs of processes did: made-up records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

from homenode.hosts.errors import MeasureError
from homenode.judge.wakeups import Exchanged, WakeUp, between, exchanged, measure

pytestmark = pytest.mark.anywhere

US = 1e-6


def told(**values: object) -> bytes:
    return json.dumps({"transactions": 20_000, "seconds": 1.0, **values}).encode()


def test_a_request_costs_its_part_of_the_time_of_both() -> None:
    # 20 000 requests in a second, which used 1.1 seconds of two processors.
    found = exchanged(told(), 1.1)
    assert found.cpu_s == pytest.approx(55 * US)
    assert found.lasts_s == pytest.approx(50 * US)


def test_two_messages_of_each_request_wake_the_other_processor() -> None:
    # On two processors 60 us more of their time and 80 us more in all.
    near = [Exchanged(20 * US, 21 * US)]
    far = [Exchanged(80 * US, 101 * US)]
    found = between(near, far)
    assert found.interrupt_s == pytest.approx(30 * US)
    assert found.idle_s == pytest.approx(40 * US)


def test_a_turn_that_was_disturbed_does_not_count() -> None:
    near = [Exchanged(t * US, t * US) for t in (20, 20, 500)]
    far = [Exchanged(t * US, t * US) for t in (3, 60, 62)]
    assert between(near, far).interrupt_s == pytest.approx(20 * US)


def test_what_is_shorter_on_two_processors_costs_nothing() -> None:
    # Processors that poll while they idle: the exchange is shorter there, and no time is gained.
    found = between([Exchanged(20 * US, 21 * US)], [Exchanged(19 * US, 15 * US)])
    assert found == WakeUp(interrupt_s=0.0, idle_s=0.0)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b'{"transactions": 20000, "sec',
        b"connection refused",
        b"[20000, 1.0]",
        b"20000",
        b'{"seconds": 1.0}',
        told(transactions=None),
        told(seconds="a while"),
        b"\xff\xfe",
    ],
)
def test_a_client_that_tells_something_else_is_refused(text: bytes) -> None:
    with pytest.raises(MeasureError, match="did not tell what it did"):
        exchanged(text, 1.0)


@pytest.mark.parametrize("nothing", [{"transactions": 0}, {"seconds": 0.0}])
def test_a_client_that_got_no_answer_is_refused(nothing: dict[str, float]) -> None:
    with pytest.raises(MeasureError, match="exchanged nothing"):
        exchanged(told(**nothing), 1.0)


def test_one_processor_has_no_other(tmp_path: Path) -> None:
    with pytest.raises(MeasureError, match="needs two"):
        measure(cast(Any, None), [3], tmp_path)
    assert [*tmp_path.iterdir()] == []
