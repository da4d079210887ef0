"""Guests and processes of x86 servers stand on a Linux or Xen host: weights, quotas, pins."""

from __future__ import annotations

from pathlib import Path

import pytest

from homenode import Run
from homenode.records import exporting
from homenode.records.importing.assemble import Assembled, AssembleOptions, assemble
from homenode.records.importing.front import read_paths
from homenode.simulate.scenario import Scenario

CAPABILITIES = """\
<capabilities><host><cpu><arch>x86_64</arch><model>Any</model></cpu>
<topology><cells num='1'><cell id='0'><memory unit='GiB'>64</memory><cpus num='8'>
{cpus}
</cpus></cell></cells></topology></host></capabilities>
"""
CPU = "<cpu id='{0}' socket_id='0' die_id='0' core_id='{1}' siblings='{1},{2}'/>"
"""Four cores of two threads, numbered as Linux does: 0 and 4 are of one core."""
HOST = CAPABILITIES.format(
    cpus="\n".join(CPU.format(number, number % 4, number % 4 + 4) for number in range(8))
)
DOMAIN = """\
<domain type='{kind}'>
  <name>{name}</name>
  <memory unit='GiB'>8</memory>
  <vcpu{cpuset}>{vcpus}</vcpu>
  <cputune>{tune}</cputune>
  <os><type arch='x86_64'>hvm</type></os>
</domain>
"""


def domain(name: str, tune: str = "", kind: str = "kvm", vcpus: int = 2, cpuset: str = "") -> str:
    """A domain's listing."""
    return DOMAIN.format(name=name, tune=tune, kind=kind, vcpus=vcpus, cpuset=cpuset)


def assembled(tmp_path: Path, **files: str) -> Assembled:
    """What is made of some files."""
    for name, text in files.items():
        (tmp_path / f"{name}.xml").write_text(text, encoding="utf-8")
    return assemble(read_paths([tmp_path]), AssembleOptions(convert=False))


def processors(found: Assembled) -> dict[str, dict[str, object]]:
    """As the scenario's file has them."""
    return {one["name"]: one["processors"] for one in found.scenario.data["partition"]}


def notices(found: Assembled) -> str:
    """All of them."""
    return " ".join(notice.text for notice in found.notices)


def test_weight_quota_and_pins_stand_as_libvirt_has_them(tmp_path: Path) -> None:
    """Pins by the numbers of the host's own listing: its 1 and 5 are a core's two threads."""
    tune = "<shares>300</shares><global_period>50000</global_period>"
    tune += "<global_quota>75000</global_quota>"
    tune += "<vcpupin vcpu='0' cpuset='1'/><vcpupin vcpu='1' cpuset='5'/>"
    found = assembled(tmp_path, host=HOST, a=domain("a", tune), b=domain("b"))
    assert found.scenario.machine.hypervisor.policy == "linux"
    assert found.scenario.machine.host_cpus == 8
    told = processors(found)
    assert told["a"] == {
        "mode": "shared",
        "virtual": 2,
        "weight": 300,
        "quota": "75 ms",
        "period": "50 ms",
        "pins": ["2", "3"],
    }
    assert told["b"] == {"mode": "shared", "virtual": 2}
    assert all(one.host is not None and one.host.kvm for one in found.scenario.partitions)


def test_shares_of_the_first_version_are_told_by_their_default(tmp_path: Path) -> None:
    """1024 beside 2048."""
    found = assembled(
        tmp_path,
        host=HOST,
        a=domain("a", "<shares>2048</shares>"),
        b=domain("b", "<shares>1024</shares>"),
    )
    assert {name: one.get("shares") for name, one in processors(found).items()} == {
        "a": 2048,
        "b": 1024,
    }
    assert "control groups of version 1" in notices(found)


def test_a_quota_of_each_processor_is_one_of_all(tmp_path: Path) -> None:
    """Two at a quarter are a half; a cpuset without pins stays one."""
    tune = "<period>100000</period><quota>25000</quota>"
    found = assembled(tmp_path, host=HOST, a=domain("a", tune, cpuset=" cpuset='0-1,4-5'"))
    assert processors(found)["a"] == {
        "mode": "shared",
        "virtual": 2,
        "quota": "50 ms",
        "cpuset": "0-3",
    }


def test_xen_s_domains_stand_on_credit2_where_the_server_says_so(tmp_path: Path) -> None:
    """With the cap in processors; without a topology on an assumed server."""
    tune = "<shares>512</shares><global_period>100000</global_period>"
    tune += "<global_quota>50000</global_quota>"
    found = assembled(tmp_path, a=domain("a", tune, "xen"))
    assert found.scenario.machine.name == "intel-xeon-6240-2s"
    assert "is assumed" in notices(found)


def test_more_guests_than_processors_are_no_matter(tmp_path: Path) -> None:
    """Overcommitted, as hosts are."""
    every = {f"g{number}": domain(f"g{number}", vcpus=8) for number in range(6)}
    found = assembled(tmp_path, host=HOST, **every)
    assert found.scenario.machine.host_cpus == 8
    entitled = [one.entitlement for one in found.scenario.partitions]
    assert sum(entitled) == pytest.approx(8)


def test_pins_beyond_the_machine_are_left_out(tmp_path: Path) -> None:
    """And said."""
    pin = "<vcpupin vcpu='0' cpuset='99'/>"
    found = assembled(tmp_path, host=HOST, a=domain("a", pin))
    assert "pins" not in processors(found)["a"]
    assert "that the machine here has not" in notices(found)


def test_a_server_without_a_hypervisor_runs_processes(tmp_path: Path) -> None:
    """Its topology alone."""
    found = assembled(tmp_path, host=HOST)
    (one,) = found.scenario.partitions
    assert one.virtual == 8
    assert one.host is not None
    assert one.host.kvm is None


def test_those_without_a_pin_may_use_the_cpuset(tmp_path: Path) -> None:
    """One that has a pin may not."""
    pin = "<vcpupin vcpu='0' cpuset='1'/>"
    found = assembled(tmp_path, host=HOST, a=domain("a", pin, cpuset=" cpuset='0-1,4-5'"))
    assert processors(found)["a"]["pins"] == ["2", "0-3"]


def test_a_group_of_several_is_no_guest_s_own(tmp_path: Path) -> None:
    """Its quota is that of all together and stays with it."""
    text = """
    [machine]
    model = "intel-xeon-6240-2s"
    [[cgroup]]
    name = "batch"
    weight = 700
    quota = "100 ms"
    [[partition]]
    name = "a"
    count = 2
    processors = { mode = "shared", virtual = 2, cgroup = "batch" }
    kvm = {}
    memory = "4 GiB"
    workload = { kind = "idle" }
    [run]
    warmup = "0 s"
    duration = "10 ms"
    replications = 1
    """
    run = Scenario.from_toml(text).run(out=tmp_path / "runs")
    folder = tmp_path / "domains"
    exporting.export(Run.load(run.path), "libvirt", folder)
    for name in ("a1", "a2"):
        listing = (folder / f"{name}.xml").read_text()
        assert "<partition>/batch</partition>" in listing
        assert "global_quota" not in listing
        assert "<shares>100</shares>" in listing


def test_there_and_back(tmp_path: Path) -> None:
    """A run exported to libvirt and imported again has the same processors."""
    text = """
    [machine]
    model = "intel-xeon-6240-2s"
    [[cgroup]]
    name = "tenants"
    [[partition]]
    name = "a"
    processors = { mode = "shared", virtual = 2, weight = 250, quota = "150 ms", pins = ["3", "5"] }
    kvm = {}
    memory = "4 GiB"
    workload = { kind = "idle" }
    [[partition]]
    name = "b"
    processors = { mode = "shared", virtual = 3, cgroup = "tenants", weight = 100, pins = "8-11" }
    kvm = {}
    memory = "4 GiB"
    workload = { kind = "idle" }
    [run]
    warmup = "0 s"
    duration = "10 ms"
    replications = 1
    """
    scenario = Scenario.from_toml(text)
    run = scenario.run(out=tmp_path / "runs")
    folder = tmp_path / "domains"
    exporting.export(Run.load(run.path), "libvirt", folder)
    assert "<partition>/tenants</partition>" in (folder / "b.xml").read_text()
    again = assemble(read_paths([folder]), AssembleOptions(convert=False)).scenario
    for name in ("a", "b"):
        there, back = scenario.partition(name), again.partition(name)
        assert there.host is not None
        assert back.host is not None
        assert back.host.pins == there.host.pins
        assert back.virtual == there.virtual
    told = {one["name"]: one for one in again.data["partition"]}
    assert told["a"]["processors"]["weight"] == 250
    assert told["a"]["processors"]["quota"] == "150 ms"
