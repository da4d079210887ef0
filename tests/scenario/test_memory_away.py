"""What it costs a KVM guest that its balloon holds memory, or that its host has swapped it out."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

from homenode.errors import ScenarioError
from homenode.model.scenario import Scenario
from homenode.simulate.runner import run_scenario

HOST = """\
[machine]
model = "intel-xeon-6240-2s"
memory.maximum = { value = "32 GiB", why = "as installed" }

[[partition]]
name = "db"
processors = { mode = "shared", virtual = 4 }
memory = "16 GiB"
kvm = { %s }
guest = { os = "linux", memory_used = "75 %%" }
workload = { %s }

[run]
warmup = "1 s"
duration = "4 s"
replications = 1
"""
PROFILE = """profile = { base = "oltp", instructions = 5000000, eicpi = 1.0, \
working_set = "6 GiB", working_set_touches = 0.00001, why = "an index" }"""
WORK = f'kind = "users", count = 40, think = "100 ms", {PROFILE}'


def made(kvm: str, work: str = WORK) -> Scenario:
    return Scenario.from_toml(HOST % (kvm, work))


def pages(kvm: str, work: str = WORK) -> float:
    """For which a transaction waits."""
    (one,) = made(kvm, work).spec()["partitions"]
    bursts = one["workload"]["bursts"]
    assert isinstance(bursts, float)
    return bursts - 1.0


@pytest.mark.parametrize(
    ("kvm", "share"),
    [
        # 16 GiB, of which the work touches 12: what nobody touches is given first, and is free.
        ('balloon = "4 GiB"', 0.0),
        ('swapped = "4 GiB"', 0.0),
        ('balloon = "7 GiB"', 0.25),
        ('swapped = "7 GiB"', 0.25),
        # The guest has 9 GiB, all touched, of which the host has a third.
        ('balloon = "7 GiB", swapped = "3 GiB"', 0.25 + 0.75 / 3),
        ('balloon = "2 GiB", swapped = "5 GiB"', 0.25),
    ],
)
def test_of_so_many_touches_a_share_finds_its_page_away(kvm: str, share: float) -> None:
    # 5 million instructions touch the working set 50 times.
    assert pages(kvm) == pytest.approx(50.0 * share)


def test_pages_from_two_devices_take_their_mean_time() -> None:
    times = 'guest_page_in = "1 ms", host_page_in = "200 us"'
    (one,) = made(f'balloon = "7 GiB", swapped = "3 GiB", {times}').spec()["partitions"]
    assert one["workload"]["wait_ns"] == pytest.approx(600_000)


def test_waits_that_are_there_are_kept_in_the_sum() -> None:
    """Three waits of 2 ms for a disk, and 12.5 of 100 us for pages."""
    work = WORK.replace('think = "100 ms"', 'think = "100 ms", bursts = 4.0, wait = "2 ms"')
    (one,) = made('balloon = "7 GiB"', work).spec()["partitions"]
    told = one["workload"]
    assert told["bursts"] == pytest.approx(16.5)
    assert (told["bursts"] - 1.0) * told["wait_ns"] == pytest.approx(3 * 2e6 + 12.5 * 1e5, rel=1e-6)


@pytest.mark.parametrize(
    ("kvm", "kernel", "host"),
    [
        ('balloon = "7 GiB"', 12.5, 0.0),
        ('swapped = "7 GiB"', 0.0, 12.5),
        ('balloon = "7 GiB", swapped = "3 GiB"', 12.5, 12.5),
        ('balloon = "3 GiB"', 0.0, 0.0),
    ],
)
def test_a_page_costs_processor_time_of_who_brings_it_in(
    kvm: str, kernel: float, host: float
) -> None:
    (one,) = made(f'{kvm}, page_in_work = "8 us"').spec()["partitions"]
    profile = one["profile"]
    assert profile["instructions_per_unit"] == 5e6
    assert profile.get("kernel_ns", 0.0) == pytest.approx(8000 * kernel)
    assert profile.get("host_ns", 0.0) == pytest.approx(8000 * host)


def test_a_guest_takes_the_room_that_its_memory_takes() -> None:
    def taken(kvm: str, memory: str = '"16 GiB"') -> list[int]:
        text = HOST.replace('"16 GiB"', memory) % (kvm, WORK)
        (one,) = Scenario.from_toml(text).spec()["partitions"]
        return [part["bytes"] >> 20 for part in one["memory"]]

    assert sum(taken('balloon = "4 GiB", swapped = "2 GiB"')) == 10 << 10
    # Parts that are told where they lie have lost their share, in all as much.
    parts = '[{ size = "12 GiB", on = "chip0" }, { size = "4 GiB", on = "chip1" }]'
    assert taken('balloon = "4 GiB"', parts) == [9 << 10, 3 << 10]
    assert taken("", parts) == [12 << 10, 4 << 10]


def test_guests_that_are_smaller_by_their_balloons_lie_beside_their_processors() -> None:
    """Either node holds 16 GiB, and each of three guests wants 12, of which it has 8."""
    three = HOST.replace('name = "db"', 'name = "db"\ncount = 3').replace("16 GiB", "12 GiB")
    whole = three.replace('"32 GiB"', '"40 GiB"')

    def domains(text: str, kvm: str) -> list[int]:
        spec = Scenario.from_toml(text % (kvm, WORK)).spec()
        return [len(one["memory"]) for one in spec["partitions"]]

    assert sum(domains(three, 'balloon = "4 GiB"')) <= sum(domains(whole, ""))
    assert domains(three, 'balloon = "4 GiB"') == [1, 1, 1]
    assert max(domains(whole, "")) > 1


def test_an_idle_guest_lacks_nothing() -> None:
    (one,) = made('swapped = "12 GiB"', 'kind = "idle"').spec()["partitions"]
    assert one["workload"] == {"kind": "idle"}


def test_memory_that_is_all_there_changes_nothing() -> None:
    (given,), (whole,) = (made(kvm).spec()["partitions"] for kvm in ('balloon = "3 GiB"', ""))
    for key in ("workload", "profile", "data_bytes"):
        assert given[key] == whole[key]  # type: ignore[literal-required]


def test_the_more_is_away_and_the_slower_its_device_the_longer_it_takes() -> None:
    def response(kvm: str) -> float:
        found = run_scenario(made(kvm)).metrics["db"]["response_ms_mean"]
        return float(found.mean)

    told = [
        response(kvm)
        for kvm in (
            "",
            'balloon = "7 GiB"',
            'balloon = "10 GiB"',
            'balloon = "10 GiB", guest_page_in = "2 ms"',
        )
    ]
    assert told == sorted(told)
    # At least the pages' own time: 12.5 and 25 of 100 us, then 25 of 2 ms, which stand in no queue.
    assert told[1] - told[0] > 1.25 * 0.8
    assert told[3] - told[2] > 25 * 1.9 * 0.8


def test_a_host_holds_more_guests_than_memory_once_some_of_it_is_elsewhere() -> None:
    three = HOST.replace('name = "db"', 'name = "db"\ncount = 3')
    with pytest.raises(ScenarioError, match=re.escape("(kvm)")):
        Scenario.from_toml(three % ("", WORK))
    given = 'balloon = "3 GiB", swapped = "3 GiB"'
    assert len(Scenario.from_toml(three % (given, WORK)).partitions) == 3


@pytest.mark.parametrize(
    ("kvm", "work", "said"),
    [
        ('balloon = "16 GiB"', WORK, "db has 16 GiB"),
        ('balloon = "10 GiB", swapped = "6 GiB"', WORK, "db has 6 GiB"),
        (
            'balloon = "8 GiB"',
            'kind = "loops", count = 4, profile = "compute"',
            "waits for nothing",
        ),
        (
            'swapped = "8 GiB"',
            'kind = "users", count = 4, think = "1 s", profile = "oltp"',
            "does not say how often",
        ),
        (
            'balloon = "8 GiB"',
            WORK.replace("touches = 0.00001", "touches = 1.0"),
            "would wait for",
        ),
        ('guest_page_in = "2 s"', WORK, "1 s"),
    ],
)
def test_what_cannot_be_is_refused_with_the_next_step(kvm: str, work: str, said: str) -> None:
    with pytest.raises(ScenarioError, match=re.escape(said)) as refused:
        made(kvm, work)
    assert ":9:" in str(refused.value)
