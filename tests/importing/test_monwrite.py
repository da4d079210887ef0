"""Files of z/VM's MONWRITE, built as its records are described."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

from homenode.records.importing.facts import Facts
from homenode.records.importing.front import read_paths

MINUTE = 60 * 1_000_000 << 12
"""A minute in the units of the machine's clock."""
BEGIN = 3_975_000_000 * 1_000_000 << 12
FRAME = 4096


def record(domain: int, number: int, time: int, length: int = 20, **fields: bytes) -> bytes:
    head = struct.pack(">HHBBHQI", length, 0, domain, 0, number, time, 0)
    body = bytearray(head.ljust(length, b"\0"))
    for place, data in fields.items():
        at = int(place[1:])
        body[at : at + len(data)] = data
    return bytes(body)


def configuration(time: int) -> bytes:
    fields = {
        "_108": "2964".encode("cp037"),
        "_112": "N96".ljust(16).encode("cp037"),
        "_128": "02D1A7".ljust(16).encode("cp037"),
        "_154": struct.pack(">H", 3),
        "_160": "ZVMPROD".ljust(8).encode("cp037"),
        "_174": struct.pack(">H", 3),
    }
    return record(1, 4, time, 184, **fields)


def processor(address: int, time: int, user: int, system: int, wait: int) -> bytes:
    fields = {
        "_20": struct.pack(">H", address),
        "_32": struct.pack(">QQ", user, system),
        "_68": struct.pack(">Q", wait),
    }
    return record(0, 2, time, 104, **fields)


def written(*sets: list[bytes]) -> bytes:
    """Each set of records behind a control frame of its own; at last one that tells of none."""
    file = b""
    for records in sets:
        data = b"".join(records)
        ends = struct.pack(">III", 0x80000000, 0x9000000, 0x9000000 + len(data) - 1)
        file += (bytes(40) + ends).ljust(FRAME, b"\0") + data.ljust(FRAME, b"\xff")
    return file + bytes(FRAME)


def interval(number: int, shares: list[tuple[float, float, float]]) -> list[bytes]:
    """Each processor after so many minutes in which it worked and waited at these shares."""
    now, gone = BEGIN + number * MINUTE, number * MINUTE
    rows = [
        processor(address, now, *(int(share * gone) for share in each))
        for address, each in enumerate(shares)
    ]
    return [*rows, record(1, 11, now)]


HALF, QUARTER, IDLE = (0.4, 0.1, 0.5), (0.25, 0.0, 0.75), (0.0, 0.0, 1.0)


def read(tmp_path: Path, data: bytes) -> Facts:
    file = tmp_path / "D112826.DAT"
    file.write_bytes(data)
    return read_paths([file])


def why_left(facts: Facts) -> str:
    """Why the only file was left out."""
    (left,) = facts.left
    return f"{left}"


def test_a_partition_and_what_its_processors_used(tmp_path: Path) -> None:
    sets = [interval(number, [HALF, QUARTER, IDLE]) for number in range(4)]
    facts = read(tmp_path, written([configuration(BEGIN), *sets[0]], *sets[1:]))
    (system,) = facts.systems.values()
    assert system.model is not None
    assert (system.key, system.model.value) == ("02D1A7", "2964 N96")
    (partition,) = facts.partitions.values()
    assert partition.os is not None
    assert partition.virtual is not None
    assert partition.mode is not None
    told = (partition.name, partition.os.value, partition.virtual.value, partition.mode.value)
    assert told == ("ZVMPROD", "z/vm", 3, "shared")
    (series,) = facts.series
    assert series.table["cores"].to_list() == pytest.approx([0.75] * 3)
    assert series.table["seconds"].to_list() == pytest.approx([60.0] * 3)
    assert str(series.table["time"][0]) == "2025-12-17 22:41:00"


def test_times_that_do_not_add_up_are_not_taken(tmp_path: Path) -> None:
    odd = (0.4, 0.1, 0.1)
    sets = [interval(number, [HALF, odd]) for number in range(3)]
    facts = read(tmp_path, written(*sets))
    (series,) = facts.series
    assert series.table["cores"].to_list() == pytest.approx([0.5, 0.5])
    assert any("2 processor records do not add up" in notice.text for notice in facts.notices)
    alone = read(tmp_path, written(*(interval(number, [odd]) for number in range(3))))
    assert "no processor's times add up" in why_left(alone)


def test_one_interval_tells_no_use(tmp_path: Path) -> None:
    assert "record two intervals" in why_left(read(tmp_path, written(interval(1, [HALF]))))
