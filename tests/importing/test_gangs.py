"""Daemons of several threads, out of what their processes were recorded to use."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from facts_made import FILE, at, beside, one_lpar
from homenode.model.scenario import Scenario
from homenode.records.importing.assemble import AssembleOptions, assemble
from homenode.records.importing.facts import Facts, Gang, Told
from homenode.records.importing.front import read_paths
from homenode.simulate.runner import run_scenario

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

PLAIN = AssembleOptions(convert=False)
SAMPLE = Path(__file__).parents[2] / "crates" / "captures" / "tests" / "recordings" / "aix.nmon"
CORES = [1.0, 2.0, 3.0]
BUSY = {"user_cores": [0.5, 1.0, 1.5], "sys_cores": [0.3, 0.6, 0.9]}
WORK_OF_A_CORE = 1e9
"""What an import takes that asks nothing [instructions]."""


def recorded(used: list[float], threads: int = 51) -> Facts:
    """A partition of which a pager of so many threads used this of its busy time."""
    facts = one_lpar(CORES)
    facts.beside.append(beside("lpar", BUSY))
    table = beside("lpar", {"cores": used}).table  # type: ignore[dict-item]
    told = Told(threads, at(1962))
    facts.gangs.append(Gang("lpar", "0123", "j2pg", told, table, f"TOP of {FILE}"))
    return facts


def rates(demand: pl.DataFrame, series: str) -> list[float]:
    return demand.filter(pl.col("partition") == series)["instructions_per_s"].to_list()


def test_a_daemon_does_the_share_of_the_work_that_it_has_of_the_busy_time() -> None:
    found = assemble(recorded([0.0, 0.4, 1.2]), PLAIN)
    guest = found.scenario.spec()["partitions"][0]["guest"]
    (gang,) = guest["gangs"]  # type: ignore[typeddict-item]
    assert (gang["threads"], gang["every_ns"]) == (51, 1_000_000_000)
    shares = [0.0, 0.4 / 1.6, 1.2 / 2.4]
    wanted = [share * cores * WORK_OF_A_CORE for share, cores in zip(shares, CORES, strict=True)]
    assert gang["instructions_per_s"] == pytest.approx(wanted)
    assert f"# j2pg: 51 threads ({FILE}:1962)" in found.text
    assert "assumed" in found.text.partition("j2pg: 51")[2].partition("guest =")[0]


@pytest.mark.parametrize(
    ("used", "threads"), [([0.4, 0.4, 0.4], 1), ([0.005, 0.01, 0.01], 51), ([0.0, 0.0, 0.0], 51)]
)
def test_nothing_is_said_of_one_thread_nor_of_next_to_nothing(
    used: list[float], threads: int
) -> None:
    found = assemble(recorded(used, threads), PLAIN)
    assert "gangs" not in found.text


def test_without_kernel_and_user_time_no_share_can_be_told() -> None:
    facts = recorded([0.4, 0.4, 0.4])
    facts.beside.clear()
    assert "gangs" not in assemble(facts, PLAIN).text


def test_what_is_left_is_looked_for_by_playing_and_a_run_keeps_its_table(tmp_path: Path) -> None:
    found = assemble(recorded([0.1, 0.5, 0.6]))
    assert found.residuals["lpar"].mean_pct < 3.0
    run = run_scenario(found.scenario, out=tmp_path)
    used = run.metric("lpar", "physc").mean
    assert used == pytest.approx(sum(CORES) / len(CORES), rel=0.03)
    again = Scenario.load(run.path / "scenario.toml")
    assert again.spec()["partitions"] == found.scenario.spec()["partitions"]


def test_nmon_lists_threads_and_use_of_who_writes_files_out(tmp_path: Path) -> None:
    assert read_paths([SAMPLE]).gangs == []
    text = SAMPLE.read_text().replace("gil = TCP/IP", "j2pg").replace(",T0004,0.15", ",T0004,7.50")
    path = tmp_path / "pager.nmon"
    path.write_text(text)
    (gang,) = read_paths([path]).gangs
    assert (gang.name, gang.threads.value) == ("j2pg", 5)
    listed = text.splitlines()[gang.threads.where.line - 1]  # type: ignore[operator]
    assert ",j2pg," in listed
    used = gang.table["cores"].to_list()
    # Not listed in the first interval, and in each after that.
    assert used[:4] == pytest.approx([0.0, 0.0015, 0.0015, 0.075])
