"""libvirt's capabilities and domains, and /proc/sysinfo, as facts with their places."""

from __future__ import annotations

from pathlib import Path

import pytest

from homenode.records.importing.facts import Facts
from homenode.records.importing.front import read_paths

DOMAIN = """\
<domain type='kvm'>
  <name>db1</name>
  <memory unit='GiB'>16</memory>
  <currentMemory unit='GiB'>8</currentMemory>
  <vcpu cpuset='0-15'>8</vcpu>
  <cputune><shares>2048</shares><period>50000</period><quota>25000</quota></cputune>
  <numatune><memory mode='strict' nodeset='1'/></numatune>
  <cpu><topology sockets='1' dies='1' cores='2' threads='4'/>
    <numa><cell id='0' cpus='0-7' memory='16' unit='GiB'/></numa></cpu>
</domain>
"""
CAPABILITIES = """\
<capabilities><host><cpu><arch>x86_64</arch><model>Any</model></cpu>
<topology><cells num='1'><cell id='0'><memory unit='KiB'>4194304</memory><cpus num='2'>
<cpu id='0' socket_id='0' die_id='0' core_id='0' siblings='0'/>
<cpu id='1' socket_id='0' die_id='0' core_id='1' siblings='1'/>
</cpus></cell></cells></topology></host></capabilities>
"""
SYSINFO = """\
Manufacturer:         IBM
Type:                 2964
Model:                701              NE1
Sequence Code:        00000000000ABCDE
CPUs Total:           141
CPUs Configured:      20
Adjustment 02-way:    60000

LPAR Number:          7
LPAR Characteristics: Shared Limited
LPAR Name:            LP07
LPAR CPUs Configured: 4
LPAR CPUs Dedicated:  0
LPAR CPUs Shared:     4
"""
VIRTUAL = """
VM00 Name:            LINUX1
VM00 Control Program: z/VM    7.2.0
VM00 CPUs Configured: 2
"""


def facts_of(text: str, tmp_path: Path, name: str = "recorded.txt") -> Facts:
    """What a file says."""
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read_paths([path])


def test_a_domain_is_a_partition_with_threads_as_logical_processors(tmp_path: Path) -> None:
    """Half of eight threads' time, four to a core, is one core."""
    facts = facts_of(DOMAIN, tmp_path)
    partition = facts.partitions[None, "db1"]
    told = {
        "virtual": partition.virtual,
        "logical": partition.logical,
        "smt": partition.smt,
        "memory_bytes": partition.memory_bytes,
        "weight": partition.weight,
        "capped": partition.capped,
    }
    values = {key: None if one is None else one.value for key, one in told.items()}
    assert values == {
        "virtual": 2,
        "logical": 8,
        "smt": 4,
        "memory_bytes": 8 << 30,
        "weight": 2048,
        "capped": True,
    }
    assert partition.maximum["entitlement"].value == 1.0
    assert partition.maximum["virtual"].value == 2.0
    assert partition.memory_by_node[0].value == 16 << 30
    text = " ".join(notice.text for notice in facts.notices)
    assert "bound to node 1 (strict)" in text
    assert "runs on processors 0-15" in text


def test_pins_of_one_processor_each_are_cores_of_its_own(tmp_path: Path) -> None:
    """And pins that overlap are told in words."""
    pins = "".join(f"<vcpupin vcpu='{cpu}' cpuset='{cpu + 8}'/>" for cpu in range(8))
    own = facts_of(DOMAIN.replace("<shares>", f"{pins}<shares>"), tmp_path)
    mode = own.partitions[None, "db1"].mode
    assert mode is not None
    assert mode.value == "dedicated"
    shared = facts_of(
        DOMAIN.replace("<shares>", "<vcpupin vcpu='0' cpuset='1-2'/><shares>"), tmp_path
    )
    mode = shared.partitions[None, "db1"].mode
    assert mode is not None
    assert mode.value == "shared"
    assert any("pinned to 1-2" in notice.text for notice in shared.notices)


def test_a_cut_off_domain_says_what_it_holds(tmp_path: Path) -> None:
    """Name and memory are there, the rest is dropped and named."""
    facts = facts_of(DOMAIN[: DOMAIN.index("<cputune>")], tmp_path)
    assert facts.partitions[None, "db1"].weight is None
    assert facts.took[0].dropped == 1


def test_entities_are_not_expanded(tmp_path: Path) -> None:
    """Neither from the text nor from a file."""
    secret = tmp_path / "secret"
    secret.write_text("hidden")
    head = f'<!DOCTYPE domain [<!ENTITY n SYSTEM "file://{secret}">]>\n'
    facts = facts_of(head + DOMAIN.replace("db1", "&n;"), tmp_path)
    assert [name for _, name in facts.partitions] == ["&n;"]


def test_capabilities_are_a_topology(tmp_path: Path) -> None:
    """With the memory of its cell."""
    facts = facts_of(CAPABILITIES, tmp_path)
    (topology,) = facts.topologies
    assert facts.took[0].what == "1 Package, 2 Core, 2 PU, 1 NUMANode"
    memory = [one.attributes["memory"] for one in topology.root.walk() if one.kind == "NUMANode"]
    assert memory == [4 << 30]


def test_sysinfo_tells_machine_and_partition(tmp_path: Path) -> None:
    """Each with its line."""
    facts = facts_of(SYSINFO, tmp_path)
    system = facts.systems["00000000000ABCDE"]
    assert system.model is not None
    assert (system.model.value, system.model.where.line) == ("2964 NE1", 2)
    assert system.installed_cores is not None
    assert system.installed_cores.value == 141
    partition = facts.partitions["00000000000ABCDE", "LP07"]
    assert partition.mode is not None
    assert partition.capped is not None
    assert (partition.mode.value, partition.capped.value) == ("shared", True)
    assert partition.virtual is not None
    assert (partition.virtual.value, partition.virtual.where.line) == (4, 12)


def test_under_zvm_the_partition_is_the_server(tmp_path: Path) -> None:
    """And the virtual machine its partition."""
    facts = facts_of(SYSINFO + VIRTUAL, tmp_path)
    (key,) = facts.systems
    assert key == "00000000000ABCDE LP07"
    system = facts.systems[key]
    assert system.hypervisor is not None
    assert system.cores is not None
    assert (system.hypervisor.value, system.cores.value) == ("z/vm", 4)
    virtual = facts.partitions[key, "LINUX1"].virtual
    assert virtual is not None
    assert virtual.value == 2


@pytest.mark.parametrize(
    ("old", "new", "dropped"),
    [("141", "many", 1), ("Manufacturer:", "Manufacturer", 1), ("LPAR Name", "VM05 Name", 1)],
)
def test_damage_of_sysinfo_is_counted(tmp_path: Path, old: str, new: str, dropped: int) -> None:
    """And the rest is read."""
    facts = facts_of(SYSINFO.replace(old, new, 1), tmp_path)
    assert facts.took[0].dropped == dropped
    assert "00000000000ABCDE" in facts.systems
