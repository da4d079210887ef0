"""Tables of samples: plain, Bitbrains, PlanetLab, Parquet."""

from __future__ import annotations

import gzip
from datetime import datetime
from pathlib import Path

import polars as pl
import pytest

from homenode.records.importing.facts import Facts, Series
from homenode.records.importing.front import read_paths

BITBRAINS = (
    "Timestamp [ms];\tCPU cores;\tCPU capacity provisioned [MHZ];\tCPU usage [MHZ];\t"
    "CPU usage [%];\tMemory capacity provisioned [KB];\tMemory usage [KB];\tDisk read\n"
    "1376314800;\t4;\t8000.0;\t3000.0;\t37.5;\t1048576.0;\t524288.0;\t0.1\n"
    "1376315100;\t4;\t8000.0;\t1000.0;\t12.5;\t1048576.0;\t524288.0;\t0.1\n"
    "1376315400;\t4;\t8000.0;\t10\n"
    "1376315700;\t0;\t0.0;\t0.0;\t0.0;\t0.0;\t0.0;\t0.1\n"
)


moment = datetime.fromisoformat


def read(tmp_path: Path, files: dict[str, bytes | str]) -> Facts:
    folder = tmp_path / "given"
    folder.mkdir()
    for name, data in files.items():
        (folder / name).write_bytes(data.encode() if isinstance(data, str) else data)
    return read_paths([folder])


def of(facts: Facts, name: str) -> Series:
    (found,) = [one for one in facts.series if one.partition == name]
    return found


def test_a_plain_table(tmp_path: Path) -> None:
    text = (
        "# made by hand\nTimestamp,Name,cpu\n"
        "2024-01-01 00:00:00,db,1.5\n2024-01-01 00:00:00,web,0.5\n"
        "2024-01-01 00:05:00,db,1.25\nwhat,is\n2024-01-01 00:20:00,db,2\n"
        "2024-01-01 00:05:00,web,0.25\n2024-01-01 00:10:00,db,3\n2024-01-01 00:10:00,db,9\n"
    )
    facts = read(tmp_path, {"a.csv": text})
    db = of(facts, "db")
    assert (db.quantity, db.system) == ("used", None)
    assert db.table["cores"].to_list() == [1.5, 1.25, 3.0, 2.0]
    assert db.table["line"].to_list() == [3, 5, 9, 7]
    # The last stands behind a gap: its length is that of the others.
    assert db.table["seconds"].to_list() == [300.0] * 4
    assert of(facts, "web").table["time"].to_list()[1] == moment("2024-01-01 00:05")
    (took,) = facts.took
    assert (took.what, took.dropped) == ("6 samples of 2 partitions", 2)
    told = [f"{one.where.line if one.where else None}: {one.text}" for one in facts.notices]
    assert told == [
        "6: 2 values under 3 headings",
        "2: column cpu, taken as cores",
        "None: the clock goes back in the samples of 1 names; they are put in order",
        "None: 1 samples have the moment of another; the first counts",
    ]


@pytest.mark.parametrize(
    ("heading", "row", "cores", "quantity"),
    [
        ("time;partition;physc", "1700000000;p;1,5", 1.5, "physc"),
        ("ts,vm,cores", "1700000000000,p,1.5", 1.5, "used"),
        ("datetime\tvm\tcpu_pct", "2023-11-14T22:13:20Z\tp\t50", 0.5, "used"),
        ("time,vm,CPU %,vCPUs", "1700000000,p,50,4", 2.0, "used"),
    ],
)
def test_headings_and_units(
    heading: str, row: str, cores: float, quantity: str, tmp_path: Path
) -> None:
    facts = read(tmp_path, {"a.csv": f"{heading}\n{row}\n"})
    one = of(facts, "p")
    assert one.table["cores"].to_list() == [cores]
    assert one.quantity == quantity
    assert one.table["time"].to_list() == [moment("2023-11-14 22:13:20")]
    known = facts.partition(None, "p").virtual
    assert (known.value if known else None) == (4 if "vCPUs" in heading else None)


def test_a_table_without_names_is_of_the_file(tmp_path: Path) -> None:
    text = gzip.compress(b"time,cores,seconds\n60,1,60\n120,2,60\n")
    facts = read(tmp_path, {"db7.csv.gz": text})
    assert of(facts, "db7").table["cores"].to_list() == [1.0, 2.0]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
def test_a_table_in_any_encoding(encoding: str, tmp_path: Path) -> None:
    text = "time\tname\tcores\n60\ta\t1\n120\ta\t2\n"
    facts = read(tmp_path, {"a.txt": text.encode(encoding)})
    assert of(facts, "a").table["cores"].to_list() == [1.0, 2.0]
    numbers = "\n".join(["50"] * 12) + "\n"
    (tmp_path / "host").write_bytes(numbers.encode(encoding))
    assert len(of(read_paths([tmp_path / "host"]), "host").table) == 12


def test_a_table_of_nothing_is_left(tmp_path: Path) -> None:
    facts = read(tmp_path, {"a.csv": "timestamp,name,cpu\nx,y,z\n"})
    (left,) = facts.left
    assert left.why == 'it holds no sound sample; line 2: "x" is no moment'
    assert facts.series == []


def test_bitbrains(tmp_path: Path) -> None:
    facts = read(tmp_path, {"17.csv": BITBRAINS})
    one = of(facts, "17")
    assert one.table["cores"].to_list() == [1.5, 0.5, 0.0]
    assert one.table["memory"].to_list()[0] == 524288 * 1024
    partition = facts.partition(None, "17")
    assert partition.virtual is not None
    assert (partition.virtual.value, partition.virtual.where.line) == (4, 3)
    assert partition.memory_bytes is not None
    assert partition.memory_bytes.value == 1 << 30
    assert facts.took[0].dropped == 1


def test_planetlab(tmp_path: Path) -> None:
    text = "\n".join(str(number) for number in range(0, 60, 5))
    facts = read(tmp_path, {"146-179_example_host": text})
    one = of(facts, "146-179_example_host")
    assert one.table["cores"].to_list() == [number / 100 for number in range(0, 60, 5)]
    assert set(one.table["seconds"]) == {300.0}
    assert any("tells no time" in notice.text for notice in facts.notices)
    assert any("may be cut off" in notice.text for notice in facts.notices)


META = pl.DataFrame(
    {
        "id": ["a", "b", "none"],
        "cpu_count": [2, 1, 0],
        "cpu_capacity": [4000.0, 2500.0, 0.0],
        "mem_capacity": [1 << 20, 1 << 21, 0],
    }
)
TRACE = pl.DataFrame(
    {
        "id": ["a", "a", "b", "c"],
        "timestamp": [moment(f"2013-08-12 13:{minute}") for minute in ("05", "10", "05", "05")],
        "duration": [300_000, 300_000, 300_000, 300_000],
        "cpu_count": [2, 2, 1, 1],
        "cpu_usage": [3000.0, 1000.0, 250.0, 1.0],
    }
)


def test_the_two_files_of_opendc_in_any_order(tmp_path: Path) -> None:
    META.write_parquet(tmp_path / "z.parquet")
    TRACE.write_parquet(tmp_path / "a.parquet")
    facts = read_paths([tmp_path])
    assert of(facts, "a").table["cores"].to_list() == [1.5, 0.5]
    assert of(facts, "b").table["cores"].to_list() == [0.1]
    assert of(facts, "b").table["seconds"].to_list() == [300.0]
    virtual = facts.partition(None, "a").virtual
    assert virtual is not None
    assert virtual.value == 2
    assert [(one.what, one.dropped) for one in facts.took] == [
        ("2 virtual machines: processors, memory (taken as KiB), clock", 1),
        ("3 samples of 2 partitions", 1),
    ]
    assert any("no meta file tells of c" in notice.text for notice in facts.notices)


def test_a_trace_without_its_meta_file_is_left(tmp_path: Path) -> None:
    TRACE.write_parquet(tmp_path / "a.parquet")
    facts = read_paths([tmp_path])
    assert facts.series == []
    assert "no meta file tells how fast" in facts.left[0].why


def test_parquet_of_other_columns(tmp_path: Path) -> None:
    table = TRACE.select(pl.col("timestamp"), pl.col("id").alias("vm"), pl.lit(0.5).alias("cores"))
    table.write_parquet(tmp_path / "plain.parquet")
    assert len(read_paths([tmp_path / "plain.parquet"]).series) == 3
    TRACE.select("id").write_parquet(tmp_path / "other.parquet")
    assert "its columns are no samples" in read_paths([tmp_path / "other.parquet"]).left[0].why
    whole = (tmp_path / "plain.parquet").read_bytes()
    (tmp_path / "cut.parquet").write_bytes(whole[:-20])
    assert "no sound Parquet file" in read_paths([tmp_path / "cut.parquet"]).left[0].why
    (tmp_path / "packed.parquet.gz").write_bytes(gzip.compress(whole))
    assert len(read_paths([tmp_path / "packed.parquet.gz"]).series) == 3


def test_a_recorded_trace_of_fifty_machines(shared_captures: Path) -> None:
    facts = read_paths([shared_captures / "traces"])
    assert [one.what.split(":")[0] for one in facts.took] == [
        "50 virtual machines",
        "276979 samples of 50 partitions",
    ]
    assert (len(facts.series), facts.left) == (50, [])
    for one in facts.series:
        known = facts.partition(None, one.partition).virtual
        assert known is not None
        # Turbo makes a processor faster than its nominal clock, by less than half.
        assert 0 <= one.table["cores"].max() <= 1.5 * known.value  # type: ignore[operator]


def opendc(folder: Path) -> None:
    """Two tasks and their fragments, of which the second file holds a stranger's too."""
    begin = datetime(2026, 6, 1, 10)  # noqa: DTZ001
    pl.DataFrame(
        {
            "id": [7, 8],
            "submission_time": [begin, begin],
            "duration": [900_000, 300_000],
            "cpu_count": [4, 2],
            "cpu_capacity": [10_000.0, 5_000.0],
            "mem_capacity": [8_000, 4_000],
        }
    ).write_parquet(folder / "tasks.parquet")
    pl.DataFrame(
        {
            "id": [7, 7, 8, 7, 9],
            "duration": [300_000, 600_000, 300_000, 0, 300_000],
            "cpu_usage": [5_000.0, 250.0, 2_500.0, 1.0, 1.0],
        }
    ).write_parquet(folder / "fragments.parquet")


def test_workloads_of_opendc_are_tasks_with_fragments(tmp_path: Path) -> None:
    opendc(tmp_path)
    facts = read_paths([tmp_path])
    first, second = facts.series
    # 5,000 MHz of processors of 2,500 MHz each.
    assert first.table["cores"].to_list() == [2.0, 0.1]
    assert first.table["seconds"].to_list() == [300.0, 600.0]
    assert [str(time)[11:] for time in first.table["time"]] == ["10:05:00", "10:15:00"]
    assert second.table["cores"].to_list() == [1.0]
    task = facts.partitions[None, "7"]
    assert task.virtual is not None
    assert task.memory_bytes is not None
    assert (task.virtual.value, task.memory_bytes.value) == (4, 8_000_000_000)
    # A fragment without a length, and one of a task that nothing tells of.
    assert [one.dropped for one in facts.took] == [0, 2]
    alone = read_paths([tmp_path / "fragments.parquet"])
    assert "give the file of tasks too" in alone.left[0].why
