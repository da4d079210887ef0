"""What each partition used: what is given twice counts once, two tales of one time are refused."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import numpy as np
import pytest

from facts_made import BEGIN, machines, one_lpar, series
from homenode.errors import InputError, NotFoundError
from homenode.planner.consolidation.demand import Demand, demands
from homenode.records.importing.facts import Facts, Series
from homenode.records.importing.opening.sources import ListingError, Notice


def told(*several: Series) -> list[Demand]:
    facts = Facts()
    facts.series += several
    return demands(facts, {}, [])


def in_file(file: str, cores: list[float], **more: object) -> Series:
    one = series("a", cores, **more)  # type: ignore[arg-type]
    return Series(one.partition, one.system, one.quantity, one.table, file)


def used(one: Demand) -> float:
    """Core seconds."""
    return float((one.cores * (one.ends - one.starts)).sum())


def test_a_recording_given_twice_counts_once() -> None:
    cores = [0.5, 1.0, 2.0, 0.25]
    (once,) = told(in_file("a", cores))
    (twice,) = told(in_file("a", cores), in_file("b", cores), in_file("c", cores))
    assert twice.cores.tolist() == once.cores.tolist() == cores
    assert twice.starts.tolist() == once.starts.tolist()
    assert twice.files == ("a",)


def test_recordings_that_follow_each_other_are_one_whatever_their_order() -> None:
    later = BEGIN + dt.timedelta(seconds=900)
    parts = [in_file("a", [1.0, 2.0, 3.0]), in_file("b", [4.0, 5.0], begin=later)]
    for order in (parts, parts[::-1]):
        (one,) = told(*order)
        assert one.cores.tolist() == [1, 2, 3, 4, 5]
        assert (np.diff(one.starts) == 300).all()
        assert sorted(one.files) == ["a", "b"]


def test_two_that_differ_at_one_time_are_refused_by_their_names() -> None:
    with pytest.raises(ListingError) as caught:
        told(in_file("one.nmon", [1.0, 2.0, 3.0]), in_file("two.nmon", [1.0, 2.5, 3.0]))
    message = str(caught.value)
    assert "one.nmon and two.nmon tell of the same time" in message
    assert "from 2016-02-10 17:28:10 on" in message
    assert "2.000 and 2.500 cores" in message
    assert "give one of them" in message


def test_samples_of_other_lengths_of_one_time_are_refused() -> None:
    with pytest.raises(ListingError, match="same time"):
        told(in_file("a", [0.0] * 11 + [1.0]), in_file("b", [1.0], seconds=3600.0))


def test_one_file_that_tells_two_tales_is_named_once() -> None:
    with pytest.raises(ListingError, match="a tells of the same time"):
        told(in_file("a", [1.0, 2.0]), in_file("a", [1.0, 2.5]))


@pytest.mark.parametrize("drift", [-2.0, -1.0, 0.5, 100.0])
def test_clocks_that_drift_touch_and_nothing_is_told_twice(drift: float) -> None:
    later = BEGIN + dt.timedelta(seconds=900 + drift)
    (one,) = told(in_file("a", [1.0, 2.0, 3.0]), in_file("b", [4.0, 5.0], begin=later))
    assert one.cores.tolist() == [1, 2, 3, 4, 5]
    assert (one.ends > one.starts).all()
    assert (one.starts[1:] >= one.ends[:-1]).all()
    assert used(one) == pytest.approx(300 * 15 + 4 * min(0.0, drift))


def test_names_on_two_servers_get_their_servers() -> None:
    facts = Facts()
    facts.series += [series("a", [1.0], system="S1"), series("a", [2.0], system="S2")]
    facts.series += [series("b", [3.0], system="S2")]
    found = demands(facts, {}, [])
    assert [(one.name, one.cores.tolist()) for one in found] == [
        ("a-S1", [1.0]),
        ("a-S2", [2.0]),
        ("b", [3.0]),
    ]
    assert {one.partition.system for one in found if one.is_meant_by("a-*")} == {"S1", "S2"}


def test_what_is_no_use_is_left_out() -> None:
    cores = [None, float("nan"), -1.0, float("inf"), 1e9, 1.5]
    (one,) = told(series("a", cores))
    assert one.cores.tolist() == [1.5]
    with pytest.raises(ListingError, match="nmon, lparstat or sar"):
        told(series("a", [None, -1.0]))
    with pytest.raises(ListingError):
        demands(Facts(), {}, [])


def test_zones_move_what_they_mean() -> None:
    facts = machines(1, 2)
    plain = {one.name: one for one in demands(facts, {}, [])}
    zones = {"vm0": "America/New_York", "vm1": "UTC"}
    moved = {one.name: one for one in demands(facts, zones, [], "Europe/Rome")}
    assert (moved["vm0"].ends - plain["vm0"].ends == 5 * 3600).all()
    assert (moved["vm1"].ends == plain["vm1"].ends).all()
    for zones, kind, text in (
        ({"vm0": "America/New_York"}, ListingError, "time zone of vm1, that of vm0 is known"),
        ({"vm9": "UTC"}, NotFoundError, "no partition or file is vm9"),
        ({"vm0": "Mars/Olympus"}, InputError, "no time zone Mars/Olympus"),
        ({"vm0": "../UTC"}, InputError, "no time zone"),
    ):
        with pytest.raises(kind, match=text):
            demands(facts, zones, [])


def test_zones_that_recordings_tell_are_used_and_not_mixed_with_unknown_ones() -> None:
    facts = machines(1, 2)
    plain = {one.name: one for one in demands(facts, {}, [])}
    first, second = facts.series
    facts.series[:] = [replace(first, ahead_s=7200.0), replace(second, ahead_s=0.0)]
    notices: list[Notice] = []
    told = {one.name: one for one in demands(facts, {}, notices)}
    assert (plain["vm0"].ends - told["vm0"].ends == 7200).all()
    assert (plain["vm1"].ends == told["vm1"].ends).all()
    assert not notices
    again = {one.name: one for one in demands(facts, {"vm0": "Asia/Tokyo"}, notices)}
    assert (again["vm0"].ends == told["vm0"].ends).all()
    assert "vm0: its recordings tell their time zone" in notices[0].text
    facts.series[1] = second
    with pytest.raises(
        ListingError, match="nothing tells the time zone of vm1, that of vm0 is known"
    ) as it:
        demands(facts, {}, [])
    assert "--zone 'vm1=" in str(it.value)
    moved = {one.name: one for one in demands(facts, {"vm1": "UTC"}, [])}
    assert (moved["vm1"].ends == plain["vm1"].ends).all()


def test_hours_are_not_told_in_a_zone_where_that_of_the_recordings_is_unknown() -> None:
    facts = machines(1, 2)
    with pytest.raises(ListingError, match="time zone that vm0, vm1 were recorded in") as it:
        demands(facts, {}, [], "Europe/Rome")
    assert "--zone '*=Europe/Rome' if they were recorded there" in str(it.value)


def test_recordings_of_one_partition_with_a_zone_and_without_are_refused() -> None:
    later = BEGIN + dt.timedelta(seconds=900)
    zoned = replace(in_file("a", [1.0, 2.0]), ahead_s=0.0)
    with pytest.raises(ListingError, match="a: b tells no time zone, a does"):
        told(zoned, in_file("b", [4.0, 5.0], begin=later))


def test_what_the_server_tells_goes_with_it() -> None:
    (one,) = demands(one_lpar([1.0, 2.0]), {}, [])
    assert one.memory_bytes == 8 << 30
    assert one.sample_s == 300
    assert one.called == ("lpar", "0123", "8205-E6C", "POWER7")
    assert all(one.is_meant_by(word) for word in ("lpar", "lp*", "0123", "POWER7", "*.nmon"))
    assert not one.is_meant_by("POWER")
