"""Response times of two systems, held against each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from made_records import noisy, result, runs

from homenode.hosts.comparison import compare
from homenode.hosts.reduce.response import Response
from homenode.hosts.result import Result
from homenode.report.hosts import comparison_tables

pytestmark = pytest.mark.anywhere


def at_a_rate(system: str, responses: Sequence[float], place: str = "p95") -> Result:
    """The same throughput, as asked for; what differs is how long each takes [ms]."""
    made = runs(noisy(7, 500.0, 0.001, len(responses)), system=system)
    latencies = ({"mean": one / 2, place: one} for one in responses)
    return result([replace(r, latency_ms=ms) for r, ms in zip(made, latencies, strict=True)])


def response(first: Result, second: Result) -> Response | None:
    (pair,) = compare(first, second).pairs
    return pair.response


def test_at_a_rate_the_response_tells_what_throughput_cannot() -> None:
    old, new = (
        at_a_rate(s, noisy(n, m, 0.02, 6)) for s, n, m in (("old", 1, 10.0), ("new", 2, 7.0))
    )
    found = compare(old, new)
    (pair,) = found.pairs
    assert pair.verdict == "undecided"
    assert pair.response is not None
    assert (pair.response.place, pair.response.verdict) == ("p95", "shorter")
    assert 0.66 < pair.response.ratio.mean < 0.74
    *_, table = comparison_tables(found)
    rows = list(zip(*(column.cells for column in table.columns), strict=True))
    # Both places are shown, and one of them is decided.
    assert [row[:2] for row in rows] == [("fio/read", "mean"), ("", "p95")]
    assert [str(row[-1]) for row in rows] == ["", "[green]shorter[/]"]
    assert rows[0][4] == rows[1][4]
    back = response(new, old)
    assert back is not None
    assert back.verdict == "longer"


def test_equal_responses_are_undecided() -> None:
    old, new = (at_a_rate(s, noisy(n, 10.0, 0.05, 6)) for s, n in (("old", 1), ("new", 2)))
    found = response(old, new)
    assert found is not None
    assert found.verdict == "undecided"


def test_only_a_place_that_all_runs_tell_is_compared() -> None:
    old, new = at_a_rate("old", [10.0] * 4, "p99"), at_a_rate("new", [9.0] * 4, "p95")
    found = response(old, new)
    assert found is not None
    assert found.place == "mean"
    assert response(result(runs([5.0] * 4)), result(runs([6.0] * 4, system="new"))) is None
    idle = at_a_rate("new", [0.0] * 4)
    assert response(at_a_rate("old", [1.0] * 4), idle) is None
