"""Files of z/VM's MONWRITE, built as its records are described."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

from homenode.records.importing.assemble import AssembleOptions, assemble
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


def user(name: str, address: int, time: int, charged: int, ran: int) -> bytes:
    fields = {
        "_20": name.ljust(8).encode("cp037"),
        "_28": struct.pack(">H", address),
        "_36": struct.pack(">QQ", charged, ran),
    }
    return record(4, 3, time, 508, **fields)


def partition(
    name: str,
    time: int,
    held: list[int],
    kinds: str = "IFL",
    weight: int = 100,
    pad: int = 1,
    told_of_one: bool = True,
) -> bytes:
    """With entries of 40 bytes whose times begin behind so many bytes of padding."""
    entries = b""
    for address, ticks in enumerate(held):
        kind = kinds.split()[address % len(kinds.split())].ljust(16).encode("cp037")
        entry = struct.pack(">HHB", address, weight, 0) + bytes(pad)
        entries += (entry + struct.pack(">QQ", ticks, ticks) + kind).ljust(40, b"\0")
    length = 40 if told_of_one else len(entries)
    fields = {
        "_20": name.ljust(8).encode("cp037"),
        "_28": bytes([7, 0, len(held), 0]),
        "_32": struct.pack(">HH", 64, length),
        "_64": entries,
    }
    return record(0, 16, time, 64 + len(entries), **fields)


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


def test_an_interval_of_which_a_processor_does_not_add_up_is_no_sample(tmp_path: Path) -> None:
    odd = (0.4, 0.1, 0.1)
    sets = [interval(number, [HALF, QUARTER]) for number in range(4)]
    # Of the second processor's third record, system time is lost: two intervals do not add up.
    sets[2][1] = processor(1, BEGIN + 2 * MINUTE, MINUTE // 2, 0, MINUTE // 2)
    facts = read(tmp_path, written(*sets))
    (series,) = facts.series
    assert series.table["cores"].to_list() == pytest.approx([0.75])
    assert str(series.table["time"][0]) == "2025-12-17 22:41:00"
    (notice,) = (one.text for one in facts.notices if "add up" in one.text)
    assert notice == "times of 2 processor records do not add up: 2 intervals left out"
    assert sum(took.dropped for took in facts.took) == 2
    beside = read(tmp_path, written(*(interval(number, [HALF, odd]) for number in range(3))))
    assert not beside.series
    assert "times of all processors add up" in why_left(beside)


def test_intervals_follow_each_other_whoever_lacks_a_record(tmp_path: Path) -> None:
    sets = [interval(number, [HALF, QUARTER]) for number in range(6)]
    del sets[2][1]
    facts = read(tmp_path, written(*sets))
    (series,) = facts.series
    # Without a record at minute 2 neither the interval before it nor the one behind is known.
    ends = [str(time)[11:16] for time in series.table["time"]]
    assert ends == ["22:41", "22:44", "22:45"]
    assert series.table["seconds"].to_list() == pytest.approx([60.0] * 3)
    assert series.table["cores"].to_list() == pytest.approx([0.75] * 3)
    assert any("lack a record: 2 intervals left out" in one.text for one in facts.notices)


def test_who_went_for_good_costs_one_interval(tmp_path: Path) -> None:
    sets = [interval(number, [HALF, QUARTER]) for number in range(3)]
    sets += [interval(number, [HALF]) for number in range(3, 6)]
    (series,) = read(tmp_path, written(*sets)).series
    assert series.table["cores"].to_list() == pytest.approx([0.75, 0.75, 0.5, 0.5])
    assert series.table["seconds"].to_list() == pytest.approx([60.0] * 4)


def test_records_of_one_interval_are_of_one_span(tmp_path: Path) -> None:
    sets = [interval(number, [HALF, QUARTER]) for number in range(4)]
    # The end of the second interval is lost, and in the third one a processor's record.
    merged = [*sets[1][:2], *sets[2][:1], *sets[2][2:]]
    facts = read(tmp_path, written(sets[0], merged, sets[3]))
    assert not facts.series
    assert "times of all processors add up" in why_left(facts)


def test_whose_times_stand_still_was_not_used(tmp_path: Path) -> None:
    parked = (0.0, 0.0, 0.0)
    sets = [interval(number, [HALF, parked]) for number in range(3)]
    (series,) = read(tmp_path, written(*sets)).series
    assert series.table["cores"].to_list() == pytest.approx([0.5, 0.5])
    alone = read(tmp_path, written(*(interval(number, [parked]) for number in range(3))))
    assert "times of all processors add up" in why_left(alone)


def test_system_time_may_count_down(tmp_path: Path) -> None:
    high, tenth = 0x7FFFFFFF << 32, MINUTE // 10

    def down(number: int, user: int) -> list[bytes]:
        now = BEGIN + number * MINUTE
        times = (user * tenth, high - number * tenth, 5 * number * tenth)
        return [processor(0, now, *times), record(1, 11, now)]

    facts = read(tmp_path, written(*(down(number, 4 * number) for number in range(3))))
    (series,) = facts.series
    assert series.table["cores"].to_list() == pytest.approx([0.5, 0.5])
    # User time goes back only where it began anew: that is no use.
    back = read(tmp_path, written(*(down(number, 12 - 4 * number) for number in range(3))))
    assert not back.series


def test_one_interval_tells_no_use(tmp_path: Path) -> None:
    assert "record two intervals" in why_left(read(tmp_path, written(interval(1, [HALF]))))


@pytest.mark.parametrize(
    ("minutes", "played", "told"),
    [
        (1, {}, '"20 s"  # 1 window of 1 min, played for 20 s'),
        (2, {}, '"40 s"  # 2 windows of 1 min, each played for 20 s'),
        (2, {"step_ns": 60 * 10**9}, '"2 min"  # 2 windows of 1 min'),
    ],
)
def test_a_window_is_as_long_as_the_interval_however_long_it_is_played(
    tmp_path: Path, minutes: int, played: dict[str, int], told: str
) -> None:
    sets = [interval(number, [HALF, QUARTER, IDLE]) for number in range(minutes + 1)]
    facts = read(tmp_path, written([configuration(BEGIN), *sets[0]], *sets[1:]))
    text = assemble(facts, AssembleOptions(**played)).text
    assert f"duration = {told}\n" in text


def with_beside(number: int, *beside: bytes) -> list[bytes]:
    """An interval with records beside those of the processors."""
    *processors, end = interval(number, [HALF, QUARTER, IDLE])
    return [*processors, *beside, end]


def machines(tmp_path: Path, *sets: list[bytes]) -> tuple[dict[str, tuple[float, int | None]], str]:
    """What each virtual machine used and its processors; and what is said of them."""
    facts = read(tmp_path, written([configuration(BEGIN), *sets[0]], *sets[1:]))
    (zvm,) = facts.partitions.values()
    found = {
        one.name.value: (one.cores.value, one.virtual.value if one.virtual else None)
        for one in zvm.machines
    }
    said = " ".join(one.text for one in facts.notices if "virtual machines" in one.text)
    return found, said


def charged(number: int, *shares: tuple[str, float]) -> list[bytes]:
    """Virtual processors after so many minutes of each of which they were charged a share."""
    now = BEGIN + number * MINUTE
    places: dict[str, int] = {}
    rows = []
    for name, share in shares:
        ticks = int(share * number * MINUTE)
        places[name] = places.get(name, -1) + 1
        rows.append(user(name, places[name], now, ticks, ticks * 9 // 10))
    return with_beside(number, *rows)


def test_virtual_machines_are_charged_what_processors_worked_for_users(tmp_path: Path) -> None:
    # The processors work .4 and .25 for users.
    shares = (("LINUX1", 0.3), ("LINUX1", 0.1), ("LINUX2", 0.25), ("OPERATOR", 0.0))
    found, said = machines(tmp_path, *(charged(number, *shares) for number in range(4)))
    assert found["LINUX1"] == (pytest.approx(0.4), 2)
    assert found["LINUX2"] == (pytest.approx(0.25), 1)
    assert found["OPERATOR"] == (0.0, 1)
    assert not said


def test_virtual_machines_whose_charges_do_not_add_up_are_left_out(tmp_path: Path) -> None:
    found, said = machines(tmp_path, *(charged(number, ("LINUX1", 0.4)) for number in range(4)))
    assert not found
    assert "were charged 72.00 s where z/VM's processors worked 117.00 s for users" in said


def test_who_logs_on_counts_from_zero_and_who_comes_back_too(tmp_path: Path) -> None:
    both = (("LINUX1", 0.4), ("LINUX2", 0.25))
    sets = [charged(number, *both) for number in range(5)]
    now = BEGIN + 4 * MINUTE
    # LINUX3 logged on within the last minute; LINUX2 was logged off and on again.
    sets[4][3:5] = [
        user("LINUX1", 0, now, int(0.4 * 4 * MINUTE), 0),
        user("LINUX2", 0, now, int(0.05 * MINUTE), 0),
        user("LINUX3", 0, now, int(0.2 * MINUTE), 0),
    ]
    found, said = machines(tmp_path, *sets)
    assert not said
    assert found["LINUX2"][0] == pytest.approx((3 * 0.25 + 0.05) / 4)
    assert found["LINUX3"][0] == pytest.approx(0.2 / 4)


def test_virtual_machines_make_a_scenario_of_zvm(tmp_path: Path) -> None:
    shares = (("LINUX1", 0.4), ("LINUX2", 0.25))
    sets = [charged(number, *shares) for number in range(4)]
    facts = read(tmp_path, written([configuration(BEGIN), *sets[0]], *sets[1:]))
    text = assemble(facts, AssembleOptions(machine="ibm-z13")).text
    assert 'name = "LINUX1"' in text
    assert 'kind = "cores", use = "0.4000"' in text
    assert 'guest = { os = "zvm" }' in text


def with_partitions(
    number: int, own: float, other: float, unit: int = 1, pad: int = 1, one: bool = True
) -> list[bytes]:
    now, gone = BEGIN + number * MINUTE, number * MINUTE // unit
    # z/VM's processors worked .5, .25 and 0.
    beside = [
        partition("ZVMPROD", now, [int(own * gone)] * 3, pad=pad, told_of_one=one),
        partition("ZOS1", now, [int(other * gone)] * 4, "CP", 250, pad=pad, told_of_one=one),
        partition("SPARE", now, []),
    ]
    machine = record(0, 15, now, 56, _26=struct.pack(">H", 12))
    return with_beside(number, machine, *beside)


@pytest.mark.parametrize("unit", [1, 4096])
@pytest.mark.parametrize("pad", [1, 3])
@pytest.mark.parametrize("one", [False, True])
def test_partitions_beside_it_whatever_the_padding_and_unit(
    tmp_path: Path, unit: int, pad: int, one: bool
) -> None:
    sets = [with_partitions(number, 0.25, 0.6, unit, pad, one) for number in range(4)]
    facts = read(tmp_path, written([configuration(BEGIN), *sets[0]], *sets[1:]))
    (system,) = facts.systems.values()
    assert system.cores is not None
    assert system.cores.value == 12
    assert {name for _, name in facts.partitions} == {"ZVMPROD", "ZOS1"}
    other = facts.partitions[system.key, "ZOS1"]
    told = (other.weight, other.virtual, other.core_type, other.number)
    assert [one and one.value for one in told] == [250, 4, "cp", 7]
    used = {one.partition: (one.quantity, one.table["cores"].to_list()) for one in facts.series}
    assert used["ZOS1"] == ("physc", pytest.approx([2.4] * 3))
    assert used["ZVMPROD"] == ("used", pytest.approx([0.75] * 3))


def test_partitions_that_zvm_does_not_bear_out_are_left_out(tmp_path: Path) -> None:
    sets = [with_partitions(number, 0.5, 0.6) for number in range(4)]
    facts = read(tmp_path, written([configuration(BEGIN), *sets[0]], *sets[1:]))
    assert {name for _, name in facts.partitions} == {"ZVMPROD"}
    assert any("records of partitions are left out" in one.text for one in facts.notices)
    # Dedicated ones have all of theirs, whatever z/VM does with them.
    whole = [with_partitions(number, 1.0, 0.6) for number in range(4)]
    facts = read(tmp_path, written([configuration(BEGIN), *whole[0]], *whole[1:]))
    assert {name for _, name in facts.partitions} == {"ZVMPROD", "ZOS1"}


def test_of_several_types_the_most_numerous_counts(tmp_path: Path) -> None:
    def mixed(number: int) -> list[bytes]:
        now, gone = BEGIN + number * MINUTE, number * MINUTE
        own = partition("ZVMPROD", now, [gone // 4] * 3)
        other = partition("ZOS1", now, [gone // 2] * 3, "CP ZIIP")
        return with_beside(number, own, other)

    sets = [mixed(number) for number in range(4)]
    facts = read(tmp_path, written([configuration(BEGIN), *sets[0]], *sets[1:]))
    used = {one.partition: one.table["cores"].to_list() for one in facts.series}
    assert used["ZOS1"] == pytest.approx([1.0] * 3)
    assert any("several types; ZIIP: left out" in one.text for one in facts.notices)


def test_recorded_partitions_beside_a_zvm_are_played_with_its_machines(tmp_path: Path) -> None:
    """The work of virtual machines is found before partitions beside them are played."""

    def both(number: int) -> list[bytes]:
        now, gone = BEGIN + number * MINUTE, number * MINUTE
        users = [user("LINUX1", 0, now, 2 * gone // 5, 0), user("LINUX2", 0, now, gone // 4, 0)]
        own = partition("ZVMPROD", now, [gone // 4] * 3)
        other = partition("ZOS1", now, [3 * gone // 5] * 4, "CP", 250)
        return with_beside(number, *users, own, other)

    sets = [both(number) for number in range(3)]
    facts = read(tmp_path, written([configuration(BEGIN), *sets[0]], *sets[1:]))
    made = assemble(facts, AssembleOptions(machine="ibm-z13"))
    assert 'kind = "cores", use = "0.4000"' in made.text
    assert "ZOS1: 2 windows off by 0." in made.text
