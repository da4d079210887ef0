"""Recordings of nmon and njmon: what is taken of them, damaged or not."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import polars as pl
import pytest

from homenode.records.importing.facts import Facts, PartitionFacts, SystemFacts
from homenode.records.importing.formats.njmon import NjmonFormat
from homenode.records.importing.formats.nmon import NmonFormat
from homenode.records.importing.front import read_paths
from homenode.records.importing.opening.bounds import Limits
from homenode.records.importing.opening.gather import Gathered
from homenode.records.importing.opening.sources import ListingError

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "crates" / "captures" / "tests" / "recordings"
RECORDED = ROOT.parent / "shared" / "captures" / "nmon"
PHYSC = [0.12, 0.15, 0.31, 0.62, 0.97, 0.55, 0.2, 0.1]


def read(path: Path) -> Facts:
    return read_paths([path])


def changed(tmp_path: Path, change: dict[str, str], name: str = "aix.nmon") -> Facts:
    text = (SAMPLES / name).read_text()
    for old, new in change.items():
        assert old in text
        text = text.replace(old, new)
    path = tmp_path / name
    path.write_text(text)
    return read(path)


def values(of: PartitionFacts | SystemFacts) -> dict[str, object]:
    told = {name: getattr(value, "value", None) for name, value in vars(of).items()}
    return {name: value for name, value in told.items() if value is not None}


def only(facts: Facts) -> PartitionFacts:
    (found,) = facts.partitions.values()
    return found


def notices(facts: Facts) -> list[str]:
    return [str(notice) for notice in facts.notices]


def test_a_shared_processor_partition_of_aix() -> None:
    facts = read(SAMPLES / "aix.nmon")
    assert values(only(facts)) == {
        "number": 4,
        "os": "aix",
        "mode": "shared",
        "capped": False,
        "entitlement": 0.5,
        "virtual": 2,
        "logical": 8,
        "smt": 4,
        "weight": 64,
        "pool": "0",
        "memory_bytes": 8 << 30,
    }
    assert only(facts).system == "10AB12C"
    assert values(facts.systems["10AB12C"]) == {
        "model": "8286-42A",
        "architecture": "power",
        "processor": "POWER8",
        "cores": 12,
        "installed_cores": 12,
        "pool_cores": 12,
        "hypervisor": "powervm",
    }
    memory = {node: told.value for node, told in only(facts).memory_by_node.items()}
    assert memory == {0: 7800 << 20, 1: 392 << 20}
    processors = {node: told.value for node, told in only(facts).processors_by_node.items()}
    assert processors == {0: 8, 1: 0}
    (took,) = facts.took
    assert (took.what, took.dropped) == ("8 samples of 60 s of partition web1", 0)
    assert notices(facts) == []


def test_lines_of_the_recorder_itself_tell_the_size(tmp_path: Path) -> None:
    lines = (SAMPLES / "aix.nmon").read_text().splitlines()
    path = tmp_path / "plain.nmon"
    path.write_text("".join(f"{line}\n" for line in lines if not line.startswith("BBBP,")))
    facts, all_told = read(path), read(SAMPLES / "aix.nmon")
    assert values(only(facts)) == values(only(all_told))
    system = values(facts.systems["10AB12C"])
    assert (system["cores"], system["pool_cores"]) == (12, 12)


def test_columns_of_aix_are_of_aix(tmp_path: Path) -> None:
    lines = (SAMPLES / "aix.nmon").read_text().splitlines()
    path = tmp_path / "tail.nmon"
    path.write_text("".join(f"{one}\n" for one in lines if not one.startswith(("AAA", "BBB"))))
    told = values(only(read(path)))
    assert (told["os"], told["smt"], told["entitlement"]) == ("aix", 4, 0.5)


def test_cores_and_their_states() -> None:
    (series,) = read(SAMPLES / "aix.nmon").series
    table = series.table
    assert (series.partition, series.system, series.quantity) == ("web1", "10AB12C", "physc")
    assert table["cores"].to_list() == PHYSC
    assert table["seconds"].to_list() == [60.0] * 8
    assert table["time"][0] == dt.datetime(2025, 3, 3, 9, 1)  # noqa: DTZ001
    states = table.select(pl.sum_horizontal("user", "sys", "wait", "idle")).to_series()
    assert states.to_list() == pytest.approx(PHYSC, abs=2e-4)
    assert table["folded"].to_list() == [1, 1, 1, 0, 0, 0, 1, 1]


def test_every_fact_has_its_line() -> None:
    facts = read(SAMPLES / "aix.nmon")
    lines = (SAMPLES / "aix.nmon").read_text().splitlines()
    entitlement, (series,) = only(facts).entitlement, facts.series
    assert entitlement is not None
    assert entitlement.where.line is not None
    assert "Entitled Capacity" in lines[entitlement.where.line - 1]
    rows = [lines[number - 1] for number in series.table["line"]]
    assert all(row.startswith("LPAR,T") for row in rows)


def test_linux_on_power_and_on_x86() -> None:
    power = read(SAMPLES / "linux-power.nmon")
    assert values(only(power)) | {"entitlement": 1.5, "virtual": 2, "smt": 8, "os": "linux"} == (
        values(only(power))
    )
    assert power.series[0].quantity == "physc"
    assert power.series[0].table["cores"].to_list() == pytest.approx([0.35, 0.45, 0.55, 0.65])
    x86 = read(SAMPLES / "linux-x86.nmon")
    host = values(x86.systems["kvm7"])
    assert (host["chips"], host["cores"], host["threads_per_core"]) == (1, 2, 2)
    assert host["clock_hz"] == 2.6e9
    (series,) = x86.series
    assert series.quantity == "used"
    # User% and Sys% of four logical processors.
    assert series.table["cores"][0] == pytest.approx((18.8 + 4.7) * 4 / 100, abs=0.005)


def test_cores_of_ones_own_count_what_is_busy(tmp_path: Path) -> None:
    text = (SAMPLES / "aix.nmon").read_text()
    lines = [
        line
        for line in text.splitlines()
        if not line.startswith(("LPAR,", "POOLS,", "BBBL,14", "BBBL,19"))
    ]
    path = tmp_path / "own.nmon"
    path.write_text("\n".join(lines).replace("Shared-SMT-4", "Dedicated-SMT-4") + "\n")
    facts = read(path)
    assert values(only(facts))["mode"] == "dedicated"
    (series,) = facts.series
    assert series.quantity == "used"
    # 13.2 % and 4.3 % of two cores.
    assert series.table["cores"][0] == pytest.approx((13.2 + 4.3) * 2 / 100, abs=1e-9)


def test_a_clock_that_goes_back_loses_no_sample(tmp_path: Path) -> None:
    facts = changed(tmp_path, {f"09:0{k}:00,": f"08:0{k}:00," for k in range(5, 9)})
    (series,) = facts.series
    assert series.table["cores"].to_list() == PHYSC
    assert series.table["seconds"].to_list() == [60.0] * 8
    assert series.table["time"].is_sorted()
    (told,) = notices(facts)
    assert "the clock goes back by 3600 s here" in told


def test_a_missing_stretch_is_no_long_sample(tmp_path: Path) -> None:
    facts = changed(tmp_path, {f"09:0{k}:00,": f"11:0{k}:00," for k in range(5, 9)})
    (series,) = facts.series
    assert series.table["seconds"].to_list() == [60.0] * 8
    assert series.table["time"][4] - series.table["time"][3] == dt.timedelta(seconds=7260)
    (told,) = notices(facts)
    assert "aix.nmon:" in told
    assert told.endswith("such a sample counts as one interval")


def test_a_cut_file_keeps_what_is_sound(tmp_path: Path) -> None:
    text = (SAMPLES / "aix.nmon").read_text()
    path = tmp_path / "cut.nmon"
    path.write_text(text[: text.index("LPAR,T0006") + 12])
    facts = read(path)
    assert facts.series[0].table["cores"].to_list() == PHYSC[:5]
    (took,) = facts.took
    assert took.dropped == 1
    assert any("cut off" in notice for notice in notices(facts))


def test_glued_recordings_are_two(tmp_path: Path) -> None:
    text = (SAMPLES / "aix.nmon").read_text()
    path = tmp_path / "two.nmon"
    path.write_text(text + text.replace("03-MAR-2025", "04-MAR-2025"))
    facts = read(path)
    assert [len(series.table) for series in facts.series] == [8, 8]
    assert len(facts.partitions) == 1
    days = [series.table["time"][0].day for series in facts.series]
    assert days == [3, 4]
    assert facts.took[0].what == "2 times 8 samples of 60 s of partition web1"


def test_a_sorted_file_says_the_same(tmp_path: Path) -> None:
    lines = sorted((SAMPLES / "aix.nmon").read_text().splitlines())
    path = tmp_path / "sorted.nmon"
    path.write_text("\n".join(lines) + "\n")
    facts = read(path)
    assert facts.series[0].table["cores"].to_list() == PHYSC
    assert values(only(facts)) == values(only(read(SAMPLES / "aix.nmon")))


def test_figures_that_contradict_each_other_are_told(tmp_path: Path) -> None:
    facts = changed(tmp_path, {"LPAR,T0005,0.970": "LPAR,T0005,0.870"})
    told = [notice for notice in notices(facts) if "identity" in notice]
    assert told
    assert all("1 of 8 snapshots" in notice for notice in told)


def test_an_entitlement_that_changes_is_told(tmp_path: Path) -> None:
    text = (SAMPLES / "aix.nmon").read_text()
    row = next(line for line in text.splitlines() if line.startswith("LPAR,T0008"))
    facts = changed(tmp_path, {row: row.replace(",0.50,", ",0.80,")})
    assert any("entitled changes from 0.5 to 0.8 here" in notice for notice in notices(facts))


def test_what_is_no_recording_is_left(tmp_path: Path) -> None:
    path = tmp_path / "x.nmon"
    path.write_text("AAA,progname,")
    facts = read(path)
    assert facts.took == []
    (left,) = facts.left
    assert "such as AAA,progname" in left.why


def test_njmon_says_the_same(tmp_path: Path) -> None:
    facts = read(SAMPLES / "aix.njmon.json")
    told, same = values(only(facts)), values(only(read(SAMPLES / "aix.nmon")))
    assert told == same
    (series,) = facts.series
    assert (series.partition, series.system, series.quantity) == ("web1", "10AB12C", "physc")
    assert series.table["cores"].to_list() == [0.12, 0.35, 0.61, 0.2]
    assert series.table["user"][1] == pytest.approx(0.55 * 0.35)
    assert series.table["seconds"].to_list() == [60.0] * 4
    (took,) = facts.took
    assert (took.format, took.what) == ("njmon", "4 samples of 60 s of partition web1")


def stamped(*stamps: tuple[str, str | None]) -> str:
    """njmon's samples at these times of the recorder and of UTC."""
    util = {"physical_consumed": 0.5, "physical_busy": 0.5}
    samples = [
        {
            "timestamp": {"datetime": here, **({"UTC": utc} if utc else {}), "snapshot_loop": 0},
            "config": {"partitionname": "web1"}, "cpu_util": util,
        }
        for here, utc in stamps
    ]  # fmt: skip
    return "\n".join(json.dumps(one) for one in samples)


@pytest.mark.parametrize(
    ("stamps", "ahead_s", "first"),
    [
        ([("T03:00:00", "T01:00:00"), ("T03:01:00", "T01:01:00")], 7200.0, "03:00:00"),
        ([("T02:59:30", "T00:59:30"), ("T02:00:30", "T01:00:30")], 0.0, "00:59:30"),
        ([("T03:00:00", "T01:00:00"), ("T03:01:00", None)], None, "03:00:00"),
        ([("T03:00:00", "T01:07:00"), ("T03:01:00", "T01:08:00")], None, "03:00:00"),
    ],
)
def test_njmon_tells_its_time_zone(
    tmp_path: Path, stamps: list[tuple[str, str | None]], ahead_s: float | None, first: str
) -> None:
    path = tmp_path / "web1.json"
    days = [(f"2026-10-25{here}", utc and f"2026-10-25{utc}") for here, utc in stamps]
    path.write_text(stamped(*days))
    (series,) = read(path).series
    assert series.ahead_s == ahead_s
    assert f"{series.table['time'][0]:%H:%M:%S}" == first
    assert (series.table["time"][1] - series.table["time"][0]).total_seconds() == 60


def tables(path: Path, folder: Path) -> dict[str, pl.DataFrame]:
    folder.mkdir()
    with Gathered(Limits()) as gathered:
        gathered.add_all([path])
        form = NjmonFormat() if path.suffix == ".json" else NmonFormat()
        files = form.write_tables(gathered.inputs[0], folder)
    assert sorted(folder.iterdir()) == files
    return {file.stem: pl.read_parquet(file) for file in files}


def test_all_sections_become_parquet(tmp_path: Path) -> None:
    found = tables(SAMPLES / "aix.nmon", tmp_path / "tables")
    assert {"LPAR", "CPU", "PCPU", "SCPU", "MEM", "NET", "TOP", "ZZZZ"} <= set(found)
    assert found["LPAR"]["PhysicalCPU"].to_list() == PHYSC
    assert found["LPAR"]["snapshot_time"][0] == dt.datetime(2025, 3, 3, 9, 1)  # noqa: DTZ001
    assert found["PCPU"].filter(pl.col("snapshot") == 1)["cpu"].to_list() == list(range(1, 9))
    assert found["TOP"]["Command"][0] == "java -cp a,b"
    njmon = tables(SAMPLES / "aix.njmon.json", tmp_path / "njmon")
    assert njmon["cpu_util"]["physical_consumed"].to_list() == [0.12, 0.35, 0.61, 0.2]
    assert njmon["network_interfaces"]["item"].unique().to_list() == ["en0"]
    assert njmon["network_interfaces-2"]["item"].unique().to_list() == ["lo0"]


def test_what_holds_no_row_becomes_no_table(tmp_path: Path) -> None:
    path = tmp_path / "x.nmon"
    path.write_text("AAA,progname,nmon\n")
    with pytest.raises(ListingError, match="hold no sample"):
        tables(path, tmp_path / "tables")


def test_the_recording_of_a_real_partition() -> None:
    path = RECORDED / "aixlpar.nmon.gz"
    if not path.exists():
        pytest.skip(f"real recordings are not shipped, {path} is not there")
    facts = read(path)
    (took,), (series,) = facts.took, facts.series
    assert (took.what, took.dropped) == ("187 samples of 300 s of partition aixlpar", 0)
    assert values(only(facts))["entitlement"] == 1.3
    assert len(series.table) == 187
    assert [notice for notice in notices(facts) if "identity" in notice] == []


def test_the_recording_of_a_real_host() -> None:
    path = RECORDED / "linux-x86.nmon.gz"
    if not path.exists():
        pytest.skip(f"real recordings are not shipped, {path} is not there")
    facts = read(path)
    assert facts.took[0].what == "47 samples of 30 s of partition linux"
    first, *others = facts.series[0].table["seconds"].to_list()
    assert first == 1.0
    assert {29.0, 30.0, 31.0} >= set(others)
