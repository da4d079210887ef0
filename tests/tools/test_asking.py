"""Arguments, intervals and configurations: what is asked of a run and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import polars as pl
import pytest
from counted import SECOND, FrameView, cpu, partition, sample, shared, view

from homenode.errors import NotFoundError
from homenode.tools import (
    TOOLS,
    KeptRunView,
    ToolError,
    UsageError,
    from_spec,
    lparstat,
    mpstat,
    render,
    rows,
    samples,
)
from homenode.tools.summing import summed
from homenode.tools.usage import Request, parse


def six_seconds() -> FrameView:
    kept = [
        sample(
            partition(
                busy_ns=(second + 1) * SECOND / 10, vcsw=second + 1, cede_max_ns=10 * second,
                vps_unfolded=second,
            ),
            [cpu(0, ilcs=second), cpu(1, ilcs=1)],
            idle_ns=second,
        )
        for second in range(6)
    ]  # fmt: skip
    return view(shared(), kept)


def test_kept_intervals_add_up_to_the_asked_one() -> None:
    first, second = samples(six_seconds(), "testpar", 3 * SECOND, 2, ("partition", "cpu", "pool"))
    assert (first.end_ns, second.end_ns, first.elapsed_ns) == (3 * SECOND, 6 * SECOND, 3 * SECOND)
    assert (first.partition["vcsw"], second.partition["vcsw"]) == (6, 15)
    assert (first.partition["cede_max_ns"], second.partition["vps_unfolded"]) == (20, 5)
    assert [(c["cpu"], c["ilcs"]) for c in second.cpus] == [(0, 12), (1, 3)]
    assert second.pool["idle_ns"] == 12


def test_no_interval_is_all_that_was_kept() -> None:
    (total,) = samples(six_seconds(), "testpar", None, None)
    assert (total.elapsed_ns, total.partition["vcsw"]) == (6 * SECOND, 21)


def test_an_interval_without_a_count_shows_all_full_ones() -> None:
    assert len(samples(six_seconds(), "testpar", 4 * SECOND, None)) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["1.5"], "an interval of 1.5 s cannot be shown: the run kept one row every 1 s"),
        (["0.5"], "ask for a multiple of 1 s"),
        (["2", "4"], "4 intervals of 2 s were asked for: the run kept 6 s, which holds 3"),
        (["7"], "1 intervals of 7 s were asked for"),
    ],
)
def test_an_interval_that_was_not_kept_is_refused(arguments: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        lparstat.render(six_seconds(), arguments)
    assert isinstance(caught.value, ToolError)
    assert caught.value.exit_code == 2


def test_a_run_without_rows_is_refused() -> None:
    empty = six_seconds().frames["partition", "testpar"].clear()
    run = FrameView(SECOND, {"testpar": shared()}, {("partition", "testpar"): empty})
    with pytest.raises(ToolError, match="kept no interval"):
        lparstat.render(run, [])


def test_arguments_are_read_as_the_tool_reads_them() -> None:
    assert parse(mpstat.GRAMMAR, ["-d", "-p", "lpar3", "2", "5"]) == Request(
        "lpar3", {"d": ""}, 2 * SECOND, 5
    )
    assert parse(TOOLS["sar"].GRAMMAR, ["-uP", "ALL", "-plpar3"]) == Request(
        "lpar3", {"u": "", "P": "ALL"}, None, None
    )
    assert parse(lparstat.GRAMMAR, ["0.25"]).interval_ns == SECOND // 4


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("lparstat", ["-z"], "lparstat: illegal option -- z\nUsage: lparstat "),
        ("lparstat", ["--help"], "illegal option -- -"),
        ("lparstat", ["-h", "-H"], "-h and -H exclude each other"),
        ("lparstat", ["0"], "not an interval in seconds: 0"),
        ("lparstat", ["1", "0"], "not a count of intervals: 0"),
        ("lparstat", ["1", "x"], "not a count of intervals: x"),
        ("lparstat", ["nan"], "not an interval in seconds: nan"),
        ("lparstat", ["1", "2", "3"], "too many operands: 1 2 3"),
        ("lparstat", ["-m"], "-m is not shown by homenode: active memory sharing"),
        ("mpstat", ["-w"], "-w is not shown by homenode: its wide layout"),
        ("mpstat", ["-p"], "option requires an argument -- p"),
        ("vmstat", ["-v"], "-v is not shown by homenode: memory"),
        ("sar", ["-q", "1"], "-q is not shown by homenode: only the processor report"),
        ("lssrad", ["-a"], "both -a and -v are needed"),
        ("lssrad", ["-s", "0"], "-s is not shown by homenode: single domains"),
    ],
)
def test_other_arguments_are_refused(tool: str, arguments: list[str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        render(tool, six_seconds(), arguments)
    assert message in str(caught.value)


def test_an_unknown_partition_names_what_there_is() -> None:
    with pytest.raises(NotFoundError, match="no partition lpar9; there is testpar"):
        rows("vmstat", six_seconds(), ["-p", "lpar9"])


def spec() -> dict[str, Any]:
    pair = {"mode": "shared", "entitlement": 3.0, "virtual": 4, "capped": False, "weight": 64}
    owned = {"mode": "dedicated", "cores": [60, 61], "donating": True}
    memory = [{"domains": [5], "bytes": 3 << 30}, {"domains": [12], "bytes": 1 << 30}]
    return {
        "interval_ns": SECOND,
        "machine": {
            "nodes": 2, "chips_per_node": 4, "cores_per_chip": 8, "active_cores": 62,
            "hypervisor": {"window_ns": 10_000_000, "min_entitlement_per_vp": 0.05},
            "clock_hz": 4.0e9, "memory_beside": "chip",
        },
        "pools": [
            {"name": "DefaultPool", "maximum": None, "reserved": 0.0},
            {"name": "small", "maximum": 6.5, "reserved": 0.5},
        ],
        "partitions": [
            {"name": "one", "smt": 2, "processors": {**pair, "pool": 0}, "home": [5, 6],
             "memory": memory, "guest": {"os": "aix"}},
            {"name": "two", "smt": 4, "processors": {**pair, "pool": 1, "capped": True},
             "home": [0], "memory": memory},
            {"name": "own", "smt": 2, "processors": owned, "home": [7], "memory": memory},
        ],
    }  # fmt: skip


def test_the_frozen_scenario_gives_the_configuration() -> None:
    one = from_spec(spec(), "one", {"mem_mb": 4096, "level": "6.1"})
    assert (one.kind, one.mode, one.lcpu, one.ent, one.weight) == ("Shared", "Uncapped", 8, 3.0, 64)
    assert (one.system_cores, one.active_cores, one.shared_cores, one.psize) == (64, 62, 60, 60)
    assert (one.pool_maximum, one.pool_entitled, one.number) == (60.0, 3.0, 1)
    # 3.0 cores on 4 virtual processors: 7.5 ms of each 10 ms.
    assert (one.dispatch_latency_ns, one.vp_minimum) == (5_000_000, 0.05)
    two = from_spec(spec(), "two")
    assert (two.mode, two.pool, two.psize, two.pool_maximum) == ("Capped", 1, 7, 6.5)
    assert two.pool_entitled == 3.5
    own = from_spec(spec(), "own")
    assert (own.kind, own.mode, own.ent, own.lcpu) == ("Dedicated", "Donating", 2.0, 4)


def test_affinity_domains_are_renumbered_homes_and_memories() -> None:
    srads = from_spec(spec(), "one", {"mem_mb": 4096}).srads
    assert [(s.ref1, s.srad, s.mem_mb, s.cpus) for s in srads] == [
        (0, 0, 3072.0, (0, 1, 4, 5)),
        (0, 1, 0.0, (2, 3, 6, 7)),
        (1, 2, 1024.0, ()),
    ]


def test_memory_beside_a_node_and_interleaved_memory_count_for_their_places() -> None:
    whole = spec()
    whole["machine"]["memory_beside"] = "node"
    whole["partitions"][0]["memory"] = [
        {"domains": [0], "bytes": 2 << 30},
        {"domains": [0, 1], "bytes": 2 << 30},
    ]
    srads = from_spec(whole, "one", {"mem_mb": 4096}).srads
    assert {s.ref1: s.mem_mb for s in srads if s.mem_mb} == {0: 3072.0, 1: 1024.0}


class Kept:
    """What a kept run offers."""

    id = "p795-00000000"
    replications = 2
    partitions = ("one", "two", "own")
    details: ClassVar[dict[str, Any]] = {}

    def __init__(self, folder: Path) -> None:
        self.spec = spec()
        self.folder = folder

    def partition(self, name: str | None) -> str:
        return name or "one"

    def table_file(self, table: str) -> Path:
        key: Any = (table, "" if table == "pool" else "testpar")
        frame = six_seconds().frames[key]
        file = self.folder / f"{table}.parquet"
        pl.concat(
            [
                frame.with_columns(replication=pl.lit(replication), partition=pl.lit(index))
                for replication in range(2)
                for index in range(1 if table == "pool" else 2)
            ]
        ).write_parquet(file)
        return file


def test_window_by_window_the_file_says_what_polars_says(tmp_path: Path) -> None:
    (tmp_path / "a[1]*?").mkdir()
    kept = Kept(tmp_path / "a[1]*?")
    rows = KeptRunView(kept, 1).rows("cpu", "one")
    frame = six_seconds().frames["cpu", "testpar"]
    expected = (
        frame.with_columns(window=(pl.col("time_ns") - 1) // (2 * SECOND))
        .group_by("window", "cpu", maintain_order=True)
        .agg(pl.exclude("time_ns", "partition", "vp").sum(), pl.col("vp").last())
        .sort("window", "cpu")
    )
    told = summed(rows, ("cpu",), 2 * SECOND, 3)
    assert [{"window": w, **row} for w, found in told.items() for row in found] == [
        {name: row[name] for name in ("window", *told[0][0])}
        for row in expected.iter_rows(named=True)
    ]


def test_a_kept_run_is_read_one_replication_at_a_time(tmp_path: Path) -> None:
    run = KeptRunView(Kept(tmp_path), details={"one": {"mem_mb": 4096, "pool_authority": True}})
    (row,) = lparstat.rows(run, [])
    assert (row["vcsw"], row["physc"]) == (21, pytest.approx(0.35))
    assert "mem=4096MB" in lparstat.render(run, ["-p", "one"])
    assert len(mpstat.rows(run, ["1"])) == 6 * 4
    with pytest.raises(NotFoundError, match="no replication 2"):
        KeptRunView(Kept(tmp_path), replication=2)
