"""nmon: the figures of lparstat, the identities of nmon's columns, and pyNmonAnalyzer as reader."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from homenode import HomenodeError, Run, tools
from homenode.records import exporting
from homenode.records.exporting import ExportError, ExportOptions

SECOND = 1_000_000_000
HALF = {1: 0.05, 2: 0.005, 3: 0.0005}
"""Half a unit of the last printed digit, by digits; a little more for binary fractions."""
SLACK = 1e-9

Rows = dict[str, list[list[str]]]


def sections(path: Path) -> Rows:
    """Rows by section, without the snapshot's number; the heading first."""
    found: Rows = defaultdict(list)
    for line in path.read_text().splitlines():
        name, *rest = line.split(",")
        if not name.startswith(("AAA", "BBB")):
            found[name].append(rest)
    return found


def figures(rows: Rows, name: str) -> list[dict[str, float]]:
    """Rows of a section by heading."""
    heading, *snapshots = rows[name]
    names = [word.strip() for word in heading[1:]]
    return [
        {key: float(value) for key, value in zip(names, row[1:], strict=True) if value}
        for row in snapshots
    ]


def table(path: Path) -> list[list[str]]:
    with path.open(newline="") as file:
        return list(csv.reader(file))


@pytest.fixture(scope="module")
def folder(kept: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("nmon") / "files"
    exporting.export(kept, "nmon", target)
    return target


def test_one_file_a_partition(folder: Path, kept: Run) -> None:
    assert sorted(p.name for p in folder.iterdir()) == sorted(f"{n}.nmon" for n in kept.partitions)


def test_physical_cores_are_those_of_lparstat(folder: Path, kept: Run) -> None:
    view = tools.KeptRunView.of(kept)
    for name in ("shop", "night"):
        shown = tools.rows("lparstat", view, ["-p", name, "1", "4"])
        rows = figures(sections(folder / f"{name}.nmon"), "LPAR")
        totals = figures(sections(folder / f"{name}.nmon"), "CPU_ALL")
        assert len(rows) == len(shown) == 4
        for row, total, told in zip(rows, totals, shown, strict=True):
            assert row["PhysicalCPU"] == pytest.approx(told["physc"], abs=HALF[3] + SLACK)
            assert total["User%"] == pytest.approx(told["%user"], abs=HALF[1] + SLACK)
            assert total["Sys%"] == pytest.approx(told["%sys"], abs=HALF[1] + SLACK)
            assert total["Idle%"] == pytest.approx(told["%idle"], abs=HALF[1] + SLACK)


@pytest.mark.parametrize("name", ["shop", "night"])
def test_the_columns_fit_each_other(name: str, folder: Path) -> None:
    rows = sections(folder / f"{name}.nmon")
    pools = figures(rows, "POOLS")
    cores = figures(rows, "PCPU_ALL")
    for number, lpar in enumerate(figures(rows, "LPAR")):
        physc, ent, vps = lpar["PhysicalCPU"], lpar["entitled"], lpar["virtualCPUs"]
        whole = max(physc, ent)
        by_state = [lpar[f"EC_{state}%"] for state in ("User", "Sys", "Wait", "Idle")]
        on_vps = [lpar[f"VP_{state}%"] for state in ("User", "Sys", "Wait", "Idle")]
        # Half a thousandth of a core, and half a hundredth of a percent in each summand.
        slack = 4 * HALF[2] + 100 * HALF[3] / min(ent, vps) + SLACK
        assert sum(by_state) == pytest.approx(100 * physc / whole, abs=slack)
        assert sum(on_vps) == pytest.approx(100 * physc / vps, abs=slack)
        for state, digits in (("User", 2), ("Sys", 2), ("Wait", 1), ("Idle", 2)):
            share = 100 * cores[number][state] / whole
            assert lpar[f"EC_{state}%"] == pytest.approx(
                share, abs=100 * (HALF[digits] + HALF[3]) / whole + HALF[2] + SLACK
            )
        all_cpus = pools[number]["shcpus_in_sys"]
        for used, size in (("usedPoolCPU%", lpar["poolCPUs"]), ("usedAllCPU%", all_cpus)):
            off = 100 * HALF[3] / size + HALF[2] + SLACK
            assert lpar[used] == pytest.approx(100 * physc / size, abs=off)
        single = [
            figures(rows, f"PCPU{n + 1:02d}")[number] for n in range(int(lpar["logicalCPUs"]))
        ]
        added = sum(sum(one.values()) for one in single)
        assert added == pytest.approx(physc, abs=4 * len(single) * HALF[2] + HALF[3])


def test_folded_processors_are_those_not_in_use(folder: Path, kept: Run) -> None:
    import polars as pl

    unfolded = (
        kept.intervals("partition")
        .filter((pl.col("replication") == 0) & (pl.col("partition") == "shop"))
        .sort("time_ns")["vps_unfolded"]
        .to_list()[1::2]
    )
    folded = [row["Folded"] for row in figures(sections(folder / "shop.nmon"), "LPAR")]
    assert folded == [4 - vps for vps in unfolded]


def test_a_dedicated_partition_has_no_pool(folder: Path) -> None:
    rows = sections(folder / "database.nmon")
    assert "LPAR" not in rows
    assert "POOLS" not in rows
    assert len(rows["CPU_ALL"]) == 5
    assert len([name for name in rows if name.startswith("PCPU0")]) == 8


def test_linux_has_its_own_sections(folder: Path) -> None:
    text = (folder / "web.nmon").read_text()
    assert "AAA,OS,Linux" in text
    rows = sections(folder / "web.nmon")
    assert set(rows) == {*(f"CPU{n:03d}" for n in range(1, 9)), "CPU_ALL", "PROC", "LPAR", "ZZZZ"}
    for lpar, total in zip(figures(rows, "LPAR"), figures(rows, "CPU_ALL"), strict=True):
        assert lpar["partition_entitled_capacity"] == 1.0
        assert (lpar["partition_active_processors"], lpar["Logical CPU"]) == (2, 8)
        # A core that is used is used by at least one of its threads.
        assert 0 < lpar["PhysicalCPU"] <= (total["User%"] + total["Sys%"] + 0.1) * 8 / 100 + 0.05
    for row in figures(rows, "CPU_ALL"):
        assert sum(row[f"{s}%"] for s in ("User", "Sys", "Wait", "Idle")) == pytest.approx(
            100, abs=4 * HALF[1] + SLACK
        )


def test_linux_counts_switches_to_its_idle_task(folder: Path, kept: Run) -> None:
    """A turn of a thread and, where nothing else is there to run, the idle task after it."""
    names = ("context_switches", *(f"ticks_{one}" for one in ("user", "sys", "wait", "idle")))
    rows = kept.intervals().filter(replication=0, partition="web").sort("time_ns")
    second = ((pl.col("time_ns") - 1) // SECOND).alias("second")
    by_second = rows.group_by(second, maintain_order=True).agg(pl.col(*names).sum())
    told = [row["pswitch"] for row in figures(sections(folder / "web.nmon"), "PROC")]
    for printed, (_, switches, *ticks) in zip(told, by_second.iter_rows(), strict=True):
        busy = sum(ticks[:2]) / sum(ticks)
        assert 0 < busy < 1
        assert printed == pytest.approx(switches * (2 - busy), abs=0.05 + SLACK)


def test_dates_are_the_ends_of_the_samples(kept: Run, tmp_path: Path) -> None:
    options = ExportOptions(
        partition="shop",
        start=datetime(2026, 5, 31, 23, 59, 57, tzinfo=UTC),
        interval_ns=2 * SECOND,
    )
    (path,) = exporting.export(kept, "nmon", tmp_path / "x.nmon", options)
    text = path.read_text()
    assert "ZZZZ,T0001,23:59:59,31-MAY-2026\n" in text
    assert "ZZZZ,T0002,00:00:01,01-JUN-2026\n" in text
    assert "AAA,interval,2\n" in text
    assert "AAA,snapshots,2\n" in text


def test_commands_stand_in_it_as_the_tools_print_them(folder: Path, kept: Run) -> None:
    text = (folder / "shop.nmon").read_text()
    listing = re.findall(r'^BBBP,\d+,lparstat -i,"(.*)"$', text, re.MULTILINE)
    view = tools.KeptRunView.of(kept)
    assert "\n".join(listing) + "\n" == tools.render("lparstat", view, ["-p", "shop", "-i"])
    switches = re.findall(r'^BBBP,\d+,mpstat -d,"(.*)"$', text, re.MULTILINE)
    assert "\n".join(switches) + "\n" == tools.render("mpstat", view, ["-p", "shop", "-d"])


def test_less_than_a_second_is_refused(kept: Run, tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="whole seconds"):
        exporting.export(kept, "nmon", tmp_path / "x", ExportOptions(interval_ns=SECOND // 2))


def test_there_is_no_nmon_of_hp_ux(kept_hp: Run, tmp_path: Path) -> None:
    for form in ("nmon", "njmon"):
        with pytest.raises(HomenodeError, match=f"runs hpux, for which there is no {form}"):
            exporting.export(kept_hp, form, tmp_path / "x")
    assert not list(tmp_path.iterdir())


# The reader starts slowly: once for all files, each as on a command line of its own.
READ_ALL = """
import runpy, sys
for name in sys.argv[1:]:
    sys.argv = ["pyNmonAnalyzer", "-c", "-o", f"reports/{name}", "-i", f"files/{name}.nmon"]
    runpy.run_module("pynmonanalyzer.pyNmonAnalyzer", run_name="__main__")
"""
PARTITIONS = ("shop", "database", "night", "web")


@pytest.fixture(scope="module")
def reports(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What pyNmonAnalyzer makes of the file of each partition."""
    place = tmp_path_factory.mktemp("analysed")
    (place / "files").symlink_to(folder)
    (place / "reports").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", READ_ALL, *PARTITIONS],
        cwd=place,
        env={**os.environ, "MPLCONFIGDIR": str(place)},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert "WARNING" not in done.stderr
    return place / "reports"


@pytest.mark.parametrize("name", PARTITIONS)
def test_pynmonanalyzer_reads_it(name: str, folder: Path, reports: Path) -> None:
    ours = sections(folder / f"{name}.nmon")
    for section in ours.keys() - {"ZZZZ"}:
        theirs = table(reports / name / "csv" / f"{section}.csv")
        assert [word.strip() for word in theirs[0]] == [word.strip() for word in ours[section][0]]
        assert [row[1:] for row in theirs[1:]] == [row[1:] for row in ours[section][1:]]
    stamps = table(reports / name / "csv" / "CPU_ALL.csv")
    assert [row[0] for row in stamps[1:]] == [f"2000-01-01 00:00:0{n}" for n in range(1, 5)]
