"""Parameters of suites' rows: what is taken, and what is refused with a word about it."""

from __future__ import annotations

import pytest

from homenode.hosts.adapters.registry import ADAPTERS, adapter
from homenode.hosts.errors import MeasureError

pytestmark = pytest.mark.anywhere

MINE = (
    "apache",
    "duckdb",
    "fio",
    "iperf3",
    "lmbench",
    "netperf",
    "pgbench",
    "request",
    "sockperf",
    "sysbench",
)
Given = dict[str, str | int | float | bool]


@pytest.mark.parametrize("name", MINE)
def test_defaults_make_a_case_and_stand_in_it(name: str) -> None:
    one = adapter(name)
    assert one.name == name
    case = one.case("plain", {})
    assert case.name == "plain"
    assert case.better in {"higher", "lower"}
    again = one.case("plain", dict(case.parameters))
    assert again == case


@pytest.mark.parametrize("name", MINE)
def test_unknown_parameters_are_refused_with_the_nearest(name: str) -> None:
    one = adapter(name)
    known = min(one.case("x", {}).parameters)
    with pytest.raises(MeasureError) as caught:
        one.case("x", {f"{known}x": 1})
    assert f"{name}/x" in str(caught.value)
    assert known in str(caught.value)


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("fio", {"mode": "read"}, "randread, randwrite, randrw"),
        ("fio", {"depth": 0}, "from 1 to 1024"),
        ("fio", {"direct": 1}, "true or false"),
        ("iperf3", {"load": 2000}, "from 1 to 1024"),
        ("iperf3", {"load": True}, "whole number"),
        ("sockperf", {"size": 1}, "from 14 to"),
        ("sysbench", {"hits": "some"}, "high, low"),
        ("sysbench", {"rows": 1.5}, "whole number"),
        ("duckdb", {"scale": 0}, "from 0.01"),
        ("duckdb", {"scale": "big"}, "a number"),
        ("apache", {"tiles": 3, "load": 32}, "evenly"),
        ("apache", {"tiles": 8, "load": 4}, "from 8 to"),
        ("request", {"response": 1 << 30}, "from 1 to"),
        ("netperf", {"test": "udp"}, "request, stream"),
        ("lmbench", {"call": "fork"}, "null"),
    ],
)
def test_what_makes_no_sense_is_refused(name: str, given: Given, words: str) -> None:
    with pytest.raises(MeasureError) as caught:
        adapter(name).case("x", given)
    assert words in str(caught.value)


@pytest.mark.parametrize("name", MINE)
def test_needs_name_their_packages(name: str) -> None:
    one = adapter(name)
    wanted = one.requires(one.case("x", {}))
    assert not wanted.root
    for need in wanted.needs:
        assert need.package
        assert need.plug_in == (name in {"netperf", "lmbench"})
    # Servers that are not told where to listen, and whatever measures the network, are kept apart.
    assert wanted.network_namespace == (name in {"iperf3", "netperf", "request", "sockperf"})


def test_writing_and_larger_tables_take_more_room() -> None:
    one = adapter("sysbench")
    small = one.requires(one.case("x", {"rows": 10_000}))
    large = one.requires(one.case("x", {"rows": 1_000_000}))
    assert large.disk_bytes > small.disk_bytes
    assert large.memory_bytes > small.memory_bytes
    low = one.requires(one.case("x", {"rows": 1_000_000, "hits": "low"}))
    assert low.memory_bytes < large.memory_bytes


def test_all_are_registered() -> None:
    assert set(MINE) <= set(ADAPTERS)
