"""Parquet, CSV and workbook, read by DuckDB, pandas and openpyxl: the tools' own figures."""

from __future__ import annotations

import gc
import re
import sys
from datetime import datetime
from pathlib import Path

import duckdb
import pandas as pd
import pytest
from openpyxl import Workbook, load_workbook

from homenode import METRICS, Run, tools
from homenode.records import exporting
from homenode.records.exporting import ExportError, ExportOptions, figures, xlsx
from homenode.records.exporting.dispatches import DISTANCES, KINDS, REASONS

SECOND = 1_000_000_000
ROOT = Path(__file__).resolve().parents[2]
TABLES = {"run", "configuration", "summary", "partition", "cpu", "pool", "dispatches"}


FULL = Path("/dev/full")
"""A file that takes nothing."""


@pytest.fixture(scope="module")
def parquet(kept: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("tables") / "parquet"
    exporting.export(kept, "parquet", target)
    return target


@pytest.fixture(scope="module")
def csv(kept: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("tables") / "csv"
    exporting.export(kept, "csv", target)
    return target


def test_every_table_is_a_file(parquet: Path, csv: Path) -> None:
    assert {path.name for path in parquet.iterdir()} == {f"{name}.parquet" for name in TABLES}
    assert {path.name for path in csv.iterdir()} == {f"{name}.csv" for name in TABLES}


def test_duckdb_finds_the_figures_of_lparstat(parquet: Path, kept: Run) -> None:
    shown = tools.rows("lparstat", tools.KeptRunView.of(kept), ["-p", "shop", "0.5", "8"])
    rows = duckdb.sql(
        "SELECT physc, entc_pct, user_pct, sys_pct, wait_pct, idle_pct, lbusy_pct, time_s "
        f"FROM '{parquet}/partition.parquet' WHERE partition = 'shop' ORDER BY time"
    ).fetchall()
    names = ("physc", "%entc", "%user", "%sys", "%wait", "%idle", "lbusy", "time_s")
    assert len(rows) == len(shown) == 8
    for row, told in zip(rows, shown, strict=True):
        assert row == pytest.approx([told[name] for name in names], rel=1e-12)


def test_duckdb_finds_the_figures_of_mpstat(parquet: Path, kept: Run) -> None:
    shown = tools.rows("mpstat", tools.KeptRunView.of(kept), ["-p", "shop", "-a", "2", "2"])
    summed = duckdb.sql(
        f"SELECT cpu, sum(ilcs), sum(vlcs), sum(cs), avg(physc) FROM '{parquet}/cpu.parquet' "
        "WHERE partition = 'shop' AND time_s <= 2 GROUP BY cpu ORDER BY cpu"
    ).fetchall()
    told = [row for row in shown if row["time_s"] == 2 and row["cpu"].isdigit()]
    assert len(told) == len(summed) == 16
    for row, expected in zip(summed, told, strict=True):
        assert row[1:4] == (expected["ilcs"], expected["vlcs"], expected["cs"])
        assert row[4] == pytest.approx(expected["pc"], rel=1e-9)


def test_dispatches_add_up_to_the_cores_used(parquet: Path, kept: Run) -> None:
    used = duckdb.sql(
        f"SELECT partition, sum(end_ns - start_ns) / 4e9 FROM '{parquet}/dispatches.parquet' "
        "GROUP BY partition"
    ).fetchall()
    physc = dict(
        duckdb.sql(
            f"SELECT partition, avg(physc) FROM '{parquet}/partition.parquet' GROUP BY partition"
        ).fetchall()
    )
    for name, cores in used:
        if name != "database":  # of a core of one's own only the dispatches beyond it are written
            assert cores == pytest.approx(physc[name], rel=1e-6)
    assert {name for name, _ in used} <= set(kept.partitions)


def test_the_words_of_dispatches_are_those_of_the_engine() -> None:
    source = (ROOT / "crates/engine/src/sim/meters.rs").read_text(encoding="utf-8")
    body = source.split("pub enum Reason {", 1)[1].split("\n}", 1)[0]
    named = dict(re.findall(r"(\w+) = (\d+),", body))
    spaced = {re.sub(r"(?<=[a-z])(?=[A-Z])", " ", n).lower(): int(i) for n, i in named.items()}
    # Of what has not ended only those are told who look on while it runs: it is never recorded.
    assert spaced.pop("unended") == len(REASONS)
    assert spaced == {word: number for number, word in enumerate(REASONS)}
    assert (len(DISTANCES), len(KINDS)) == (3, 2)


def test_pandas_reads_both_alike(parquet: Path, csv: Path) -> None:
    for name in TABLES - {"configuration", "run", "summary"}:
        one = pd.read_parquet(parquet / f"{name}.parquet")
        other = pd.read_csv(csv / f"{name}.csv")
        if "time" in other:
            other["time"] = pd.to_datetime(other["time"])
            assert one["time"].iloc[-1] == other["time"].iloc[-1]
        both = (
            one.drop(columns="time", errors="ignore"),
            other.drop(columns="time", errors="ignore"),
        )
        pd.testing.assert_frame_equal(*both, check_dtype=False, check_exact=True)


def test_configuration_tells_what_each_partition_was_given(csv: Path) -> None:
    table = pd.read_csv(csv / "configuration.csv").set_index("partition")
    assert table.loc["shop", ["entitlement", "virtual", "smt", "weight"]].tolist() == [
        1.3,
        4,
        4,
        200,
    ]
    assert table.loc["shop", "mode"] == "shared"
    assert table.loc["shop", "host"] == "shop.example"
    assert table.loc["night", "pool"] == "development"
    assert [table.loc[name, "capped"] for name in ("shop", "night")] == [False, True]
    assert pd.isna(table.loc["database", "capped"])
    assert table["os"].to_dict()["web"] == "linux"


def test_the_summary_is_that_of_the_run(parquet: Path, kept: Run) -> None:
    rows = duckdb.sql(f"FROM '{parquet}/summary.parquet' WHERE partition = 'shop'").fetchall()
    assert {row[1]: row[3] for row in rows} == {
        name: value.mean for name, value in kept.metrics["shop"].items()
    }


def test_one_partition_one_replication_longer_samples(kept: Run, tmp_path: Path) -> None:
    options = ExportOptions(
        partition="shop",
        replication=1,
        interval_ns=2 * SECOND,
        start=datetime(2026, 3, 1, 12),  # noqa: DTZ001 - taken as UTC
    )
    exporting.export(kept, "parquet", tmp_path / "x", options)
    table = pd.read_parquet(tmp_path / "x" / "partition.parquet")
    view = tools.KeptRunView.of(kept, 1)
    shown = tools.rows("lparstat", view, ["-p", "shop", "2", "2"])
    assert table["physc"].tolist() == pytest.approx([row["physc"] for row in shown], rel=1e-12)
    assert table["time"].tolist() == [
        pd.Timestamp("2026-03-01 12:00:02"),
        pd.Timestamp("2026-03-01 12:00:04"),
    ]
    dispatches = pd.read_parquet(tmp_path / "x" / "dispatches.parquet")
    assert set(dispatches["replication"]) == {1}
    assert set(dispatches["partition"]) == {"shop"}


def test_other_systems_have_their_tables(kept_hp: Run, kept_z: Run, tmp_path: Path) -> None:
    exporting.export(kept_hp, "csv", tmp_path / "hp")
    assert pd.read_csv(tmp_path / "hp" / "partition.csv")["physc"].between(0, 4).all()
    exporting.export(kept_z, "parquet", tmp_path / "z")
    machines = pd.read_parquet(tmp_path / "z" / "virtual_machine.parquet")
    whole = kept_z.intervals("virtual_machine")
    assert machines["guest_ns"].sum() == whole["guest_ns"].sum()
    assert set(machines["virtual_machine"]) == set(whole["virtual_machine"])


def test_one_sample_of_the_whole_run_has_the_metrics_of_the_run(
    kept_hp: Run, kept_z: Run, tmp_path: Path
) -> None:
    """Of one replication; what is read at the end of a sample has no mean there."""
    for run in (kept_hp, kept_z):
        options = ExportOptions(interval_ns=3 * SECOND)
        exporting.export(run, "parquet", tmp_path / run.id, options)
        table = pd.read_parquet(tmp_path / run.id / "partition.parquet").set_index("partition")
        assert list(table.index) == run.partitions
        compared = 0
        for name in run.partitions:
            for metric in set(table.columns) & set(METRICS) - {"vps_unfolded"}:
                mean = run.metrics[name][metric].mean
                if mean is not None:
                    assert table.loc[name, metric] == pytest.approx(mean, rel=1e-9), metric
                    compared += 1
        assert compared > 40 * len(run.partitions)
    assert table.loc["zvm", "client_wait_us"] > 0


def test_openpyxl_reads_the_workbook(kept: Run, parquet: Path, tmp_path: Path) -> None:
    (path,) = exporting.export(kept, "xlsx", tmp_path / "run.xlsx")
    book = load_workbook(path, read_only=True)
    assert set(book.sheetnames) == TABLES - {"dispatches"}
    heading, *rows = book["partition"].iter_rows(values_only=True)
    expected = pd.read_parquet(parquet / "partition.parquet")
    assert list(heading) == list(expected.columns)
    assert len(rows) == len(expected)
    places = [heading.index(name) for name in ("partition", "physc", "idle_pct")]
    for row, told in zip(rows, expected.itertuples(), strict=True):
        partition, physc, idle = (row[place] for place in places)
        assert partition == told.partition
        assert (physc, idle) == pytest.approx((told.physc, told.idle_pct), rel=1e-15)
    assert rows[0][0] == datetime(2000, 1, 1, 0, 0, 0, 500_000)  # noqa: DTZ001
    book.close()


def test_a_sheet_that_would_be_too_long_is_refused(
    kept: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sheets before it are begun: half-written, they may complain when they are collected."""
    books: list[Workbook] = []
    abandon = xlsx._abandon
    monkeypatch.setattr(xlsx, "_abandon", lambda book: (books.append(book), abandon(book)))
    monkeypatch.setattr(xlsx, "MOST_ROWS", 100)
    with pytest.raises(
        ExportError, match=r"the table \w+ of run .* has \d+ rows: a sheet holds 100"
    ):
        exporting.export(kept, "xlsx", tmp_path / "run.xlsx")
    assert not list(tmp_path.iterdir())
    (book,) = books
    assert book.worksheets
    assert all(sheet.closed for sheet in book.worksheets)


def test_columns_of_a_sample_are_metrics() -> None:
    assert {column.name for column in figures.COLUMNS} <= set(METRICS)
    assert "physc" in figures.SAMPLED


@pytest.mark.skipif(not FULL.exists(), reason="SKIPPED: this system has no /dev/full")
def test_a_workbook_on_a_full_disk_is_one_error(
    kept: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And leaves no half-closed files behind, which complain when they are collected."""
    complaints: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", complaints.append)
    for name in ("run.xlsx", "run.xlsx.draft"):
        (tmp_path / name).symlink_to(FULL)
    with pytest.raises(OSError, match="No space left"):
        exporting.exporter("xlsx").write(kept, tmp_path / "run.xlsx", ExportOptions())
    gc.collect()
    assert not complaints
