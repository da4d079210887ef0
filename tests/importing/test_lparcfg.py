"""/proc/ppc64/lparcfg as facts, from a file and from the dump of a partition."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("homenode._engine", reason="the compiled engine is not installed")

from homenode.records.importing.front import read_paths

TEXT = """\
lparcfg 1.9
serial_number=IBM,0278A1B2C
system_type=IBM,9009-42A
partition_id=13
MinEntCap=10
partition_max_entitled_capacity=400
system_potential_processors=20
DesMem=8192
MaxMem=17179869184
partition_entitled_capacity=150
system_active_processors=16
pool=1
pool_capacity=800
capacity_weight=96
capped=0
physical_procs_allocated_to_virtualization=12
purr=1000
tbr=2000
partition_active_processors=3
shared_processor_mode=1
"""


def test_capacities_are_hundredths_of_a_core(tmp_path: Path) -> None:
    path = tmp_path / "lpar13.txt"
    path.write_text(TEXT)
    facts = read_paths([path])
    ((key, partition),) = facts.partitions.items()
    assert key == ("0278A1B2C", "lpar13")
    told = {
        name: getattr(partition, name).value
        for name in ("mode", "capped", "entitlement", "virtual", "weight", "pool", "pool_maximum",
                     "memory_bytes", "number", "os")
    }  # fmt: skip
    assert told == {
        "mode": "shared", "capped": False, "entitlement": 1.5, "virtual": 3, "weight": 96,
        "pool": "1", "pool_maximum": 8.0, "memory_bytes": 8192 << 20, "number": 13, "os": "linux",
    }  # fmt: skip
    assert partition.minimum["entitlement"].value == pytest.approx(0.1)
    assert partition.maximum["memory_bytes"].value == 16384 << 20
    assert partition.maximum["entitlement"].value == pytest.approx(4.0)
    system = facts.systems["0278A1B2C"]
    assert system.model is not None
    assert system.model.value == "9009-42A"
    assert system.cores is not None
    assert system.cores.value == 16
    assert system.pool_cores is not None
    assert system.pool_cores.value == 12
    assert system.model.where.line == 3


def test_copies_give_the_use_between_them(tmp_path: Path) -> None:
    path = tmp_path / "two.txt"
    later = TEXT.replace("purr=1000", "purr=768001000").replace("tbr=2000", "tbr=1024002000")
    path.write_text(TEXT + later)
    (series,) = read_paths([path]).series
    # 768e6 ticks of the time base of 512 MHz in two seconds.
    assert series.table["cores"].to_list() == [0.75]
    assert series.table["seconds"].to_list() == [2.0]


def test_in_a_dump_its_host_has_a_name(tmp_path: Path) -> None:
    root = tmp_path / "dump"
    for path, text in {
        "proc/ppc64/lparcfg": TEXT.replace("partition_id=13", "partition_id=13\nnonsense"),
        "proc/sys/kernel/hostname": "db2\n",
        "sys/devices/system/cpu/online": "0-23\n",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    facts = read_paths([root])
    assert ("0278A1B2C", "db2") in facts.partitions
    (took,) = [took for took in facts.took if took.format == "lparcfg"]
    assert took.dropped == 1
    assert any("nonsense" in notice.text for notice in facts.notices)


def test_a_dump_without_a_serial_number_is_known_by_its_host(tmp_path: Path) -> None:
    for path, text in {
        "proc/ppc64/lparcfg": TEXT.replace("serial_number=IBM,0278A1B2C\n", ""),
        "proc/device-tree/ibm,partition-name": "front\0",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    assert list(read_paths([tmp_path]).partitions) == [("front", "front")]
