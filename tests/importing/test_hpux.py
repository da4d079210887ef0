"""sar of HP-UX: whose it is, how many processors, and the machine of cells it is set on."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("homenode._engine", reason="the compiled engine is not installed")

from homenode.errors import HomenodeError
from homenode.records.importing.assemble import assemble
from homenode.records.importing.assemble.assembled import Assembled
from homenode.records.importing.assemble.options import AssembleOptions
from homenode.records.importing.facts import Facts
from homenode.records.importing.front import read_paths

BY_PROCESSOR = """\

HP-UX oak B.11.31 U ia64    11/20/07

12:00:00     cpu    %usr    %sys    %wio   %idle
12:00:10       0      52       8       1      39
               1      32       8       1      59
          system      42       8       1      49
12:00:20       0      61       9       2      28
               1      41       9       2      48
          system      51       9       2      38

Average        0      56       8       1      35
Average        1      36       8       1      55
Average   system      46       8       1      45
"""
WHOLE = """\

HP-UX elm B.11.31 U ia64    11/20/07

12:00:00    %usr    %sys    %wio   %idle
12:00:10      52       8       1      39
12:00:20      61       9       2      28

Average       56       8       1      34
"""


def facts_of(folder: Path, **texts: str) -> Facts:
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    return read_paths([folder / f"{name}.txt" for name in texts])


def made(facts: Facts, **options: str) -> Assembled:
    return assemble(facts, AssembleOptions(convert=False, **options))  # type: ignore[arg-type]


def test_processors_are_counted_by_their_rows(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, oak=BY_PROCESSOR)
    assert [took.dropped for took in facts.took] == [0]
    assert not any("belongs to no report" in notice.text for notice in facts.notices)
    (series,) = facts.series
    assert series.partition == "oak"
    assert series.table["cores"].to_list() == pytest.approx([2 * 0.50, 2 * 0.60])
    assert series.table["seconds"].to_list() == [10.0, 10.0]
    partition = facts.partitions[None, "oak"]
    assert partition.os is not None
    assert partition.os.value == "hp-ux"
    assert partition.logical is not None
    assert partition.logical.value == 2


def test_it_is_set_on_a_server_of_cells(tmp_path: Path) -> None:
    scenario = made(facts_of(tmp_path, oak=BY_PROCESSOR)).scenario
    assert scenario.machine.name == "hp-rx7640"
    (oak,) = scenario.partitions
    assert oak.table.guest.os == "hp-ux"
    assert oak.virtual == 2
    assert oak.in_cells is not None
    assert oak.in_cells.npartition.vpars


def test_several_hosts_are_virtual_partitions_of_one_server(tmp_path: Path) -> None:
    wide = BY_PROCESSOR.replace(" oak ", " ash ")
    rows = wide.splitlines(keepends=True)
    for time, first in (("12:00:10", 4), ("12:00:20", 17)):
        assert rows[first].startswith(time)
        rows[first + 2 : first + 2] = [
            f"{number:16}      32       8       1      59\n" for number in range(2, 12)
        ]
    both = facts_of(tmp_path, oak=BY_PROCESSOR, ash="".join(rows))
    scenario = made(both).scenario
    assert {one.name: one.virtual for one in scenario.partitions} == {"oak": 2, "ash": 12}
    (npartition,) = scenario.resolved.npartitions
    assert npartition.indices == (0, 1)
    large = made(both, machine="hp-superdome-sx2000").scenario
    assert large.machine.name == "hp-superdome-sx2000"


def test_without_processors_there_are_no_cores_and_it_says_what_tells(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, elm=WHOLE)
    assert facts.series == []
    told = "sar does not say how many processors there are: no cores; sar -M of HP-UX tells"
    assert told in [notice.text for notice in facts.notices]
    scenario = made(facts).scenario
    assert scenario.machine.name == "hp-rx7640"
    assert scenario.partitions[0].table.workload.kind == "idle"


def test_other_systems_are_not_set_on_cells(tmp_path: Path) -> None:
    linux = (
        "Linux 5.4 (db2) \t11/10/20 \t_ppc64le_\t(4 CPU)\n\n"
        "12:00:00 AM     CPU     %user     %nice   %system   %iowait    %steal     %idle\n"
        "12:00:10 AM     all     10.00      0.00      5.00      0.00      0.00     85.00\n"
        "12:00:20 AM     all     10.00      0.00      5.00      0.00      0.00     85.00\n"
    )
    facts = facts_of(tmp_path, db2=linux)
    with pytest.raises(HomenodeError, match="unless all ran HP-UX"):
        made(facts, machine="hp-rx7640")
