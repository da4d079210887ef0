"""Whether a virtual machine knows the host's nodes, and what comes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from homenode.simulate.explain.explanation import explain
from homenode.simulate.scenario import Scenario

HEAD = """
[machine]
model = "amd-epyc-7742-2s"
policy = "{policy}"

[run]
warmup = "100 ms"
duration = "300 ms"
replications = 1
"""
ONE = """
[[partition]]
name = "{name}"
{kvm}
processors = {{ mode = "shared", virtual = {virtual}{pins} }}
memory = [{{ size = "8 GiB", on = "socket0" }}, {{ size = "8 GiB", on = "socket1" }}]
guest = {{ os = "linux", memory_used = 0.25{guest} }}
workload = {{ kind = "loops", count = {count}, endless = true, profile = "stream" }}
"""
SOCKETS = ', pins = ["0-127", "0-127", "128-255", "128-255"]'


def layout(
    kvm: str = "kvm = {}",
    *,
    policy: str = "linux",
    virtual: int = 4,
    pins: str = "",
    guest: str = "",
    count: int = 1,
) -> Scenario:
    one = ONE.format(name="vm", kvm=kvm, virtual=virtual, pins=pins, guest=guest, count=count)
    return Scenario.from_toml(HEAD.format(policy=policy) + one)


def policy_of(scenario: Scenario) -> str:
    return scenario.spec()["partitions"][0]["memory_policy"]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ({}, "in-order"),
        ({"kvm": ""}, "local-first"),
        ({"kvm": "kvm = { numa = true }"}, "in-order"),
        ({"kvm": "kvm = { numa = true }", "pins": SOCKETS}, "local-first"),
        ({"kvm": "kvm = { numa = true }", "pins": ', pins = "0-127"'}, "local-first"),
        ({"kvm": "kvm = { numa = true }", "pins": ', pins = "64-191"'}, "in-order"),
        ({"pins": SOCKETS}, "in-order"),
        ({"guest": ', memory_policy = "interleaved"'}, "interleaved"),
        ({"kvm": "", "policy": "credit2"}, "in-order"),
        ({"kvm": "", "policy": "esxi"}, "local-first"),
    ],
)
def test_a_guest_places_data_by_nodes_if_it_knows_them(words: dict[str, str], found: str) -> None:
    assert policy_of(layout(**words)) == found


def test_a_pinned_virtual_processor_is_at_home_where_it_is_pinned() -> None:
    homes = layout(pins=SOCKETS).spec()["partitions"][0]["home"]
    assert [chip // 16 for chip in homes] == [0, 0, 1, 1]


def read(scenario: Scenario, out: Path, of: str = "memory_gb_per_s") -> float:
    return scenario.run(out=out).metric("vm", of).mean or 0.0


def test_who_knows_its_nodes_has_the_controllers_of_both(tmp_path: Path) -> None:
    """Data in one part are read through one socket's controllers: no more than half of what two
    carry, where that is what they wait for.
    """
    many = {"virtual": 64, "count": 64}
    pins = f", pins = {['0-127'] * 32 + ['128-255'] * 32}".replace("'", '"')
    shown = read(layout("kvm = { numa = true }", pins=pins, **many), tmp_path)
    alone = read(layout("kvm = {}", pins=pins, **many), tmp_path)
    assert 0.0 < alone < 0.52 * shown


def test_memory_of_reserved_pages_stays_where_it_is(tmp_path: Path) -> None:
    """The work reads from the first socket's memory and may only run on the second one."""
    slow = HEAD.replace("300 ms", "4 s")

    def remote(page: str) -> float:
        one = ONE.format(
            name="vm",
            kvm=f'kvm = {{ page = "{page}" }}',
            virtual=1,
            pins=', pins = "128-255"',
            guest="",
            count=1,
        )
        scenario = Scenario.from_toml(slow.format(policy="linux") + one)
        return read(scenario, tmp_path, "remote_gb_per_s") / read(scenario, tmp_path)

    assert remote("1 GiB") == pytest.approx(1.0, abs=1e-6)
    assert remote("2 MiB") < 0.95


def test_processes_that_do_nothing_cost_nobody_anything(tmp_path: Path) -> None:
    """NUMA balancing scans the memory of those that run."""
    slow = HEAD.replace("300 ms", "3 s").format(policy="linux")

    def reads(virtual: int) -> float:
        one = ONE.format(name="vm", kvm="", virtual=virtual, pins="", guest="", count=1)
        return read(Scenario.from_toml(slow + one), tmp_path)

    assert reads(128) == pytest.approx(reads(2), rel=0.01)


def test_who_hardly_runs_is_hardly_scanned(tmp_path: Path) -> None:
    """Its first scan comes by the clock and finds 256 MiB of 4 GiB; the next when it has run for a
    second, which one that works for a hundredth of its time has not in four.
    """

    def remote(work: str) -> float:
        one = ONE.format(
            name="vm", kvm="kvm = {}", virtual=1, pins=', pins = "128-255"', guest="", count=1
        )
        head = HEAD.format(policy="linux").replace("100 ms", "1.5 s").replace("300 ms", "2.5 s")
        scenario = Scenario.from_toml(head + one.replace("endless = true", work))
        return read(scenario, tmp_path, "remote_gb_per_s") / read(scenario, tmp_path)

    light = remote('endless = true, busy = "1 ms", rest = "99 ms"')
    assert light == pytest.approx(15 / 16, abs=1e-3)
    assert remote("endless = true") < light - 1 / 32  # One scan more, for half of the time.


def test_explain_says_that_a_guest_knows_no_nodes(tmp_path: Path) -> None:
    many = {"virtual": 64, "count": 64}
    pins = f", pins = {['0-127'] * 32 + ['128-255'] * 32}".replace("'", '"')
    told = [
        explain(layout(kvm, pins=pins, **many).run(out=tmp_path), "vm").paragraph
        for kvm in ("kvm = {}", "kvm = { numa = true }")
    ]
    assert ["show it the nodes and pin" in one for one in told] == [True, False]
