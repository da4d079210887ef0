"""Virtual partitions on cells: which cells their cores are of, how their memory lies."""

from __future__ import annotations

from pathlib import Path

import pytest

from homenode.errors import HomenodeError, ScenarioError
from homenode.planner import advise
from homenode.planner.advice import Change
from homenode.planner.problem import problem_of
from homenode.planner.questions import more
from homenode.planner.reasons import told_change
from homenode.planner.variants import Varying
from homenode.report.advice import most_line
from homenode.simulate.scenario import Scenario

CELLS = """\
name = "cells"

[machine]
model = "hp-rx7640"

[[npartition]]
name = "npar0"
cells = ["cell0", "cell1"]
memory = "64 GiB"
clm = "48 GiB"

[[partition]]
name = "one"
processors = {{ mode = "dedicated", cores = 4, cells = {{ cell1 = 4 }}, boot = "1.10" }}
memory = [{{ size = "8 GiB", on = "{one}" }}]
guest = {{ os = "hp-ux" }}
workload = {{ kind = "warehouses", count = 4, profile = "java" }}

[[partition]]
name = "two"
processors = {{ mode = "dedicated", cores = 4, cells = {{ cell0 = 4 }} }}
memory = [{{ size = "8 GiB", on = "{two}" }}]
guest = {{ os = "hp-ux" }}
workload = {{ kind = "warehouses", count = 4, profile = "java" }}

[run]
warmup = "200 ms"
duration = "500 ms"
replications = 3
"""


def cells(one: str, two: str) -> Scenario:
    """Two partitions, with their memory there."""
    return Scenario.from_toml(CELLS.format(one=one, two=two))


def test_cores_go_to_the_cell_of_their_memory(tmp_path: Path) -> None:
    """Each has the cell of the other's memory, so both move; the core that one booted on is of the
    cell that it leaves.
    """
    found = advise(cells("cell0", "cell1"), free=["home"], out=tmp_path).best[0]
    assert {one.path: one.after for one in found.changes} == {
        "partition.one.processors.cells": {"cell0": 4},
        "partition.two.processors.cells": {"cell1": 4},
    }
    boots = {"partition.one.processors.boot": None}
    assert [one.also for one in found.changes] == [boots, {}]
    assert told_change(found.changes[0]) == "cores of one: 4 of cell0 (4 of cell1)"
    there = "vparmodify -p one -a cell:0:cpu::4"
    assert there in found.commands
    assert there.replace("-a", "-d") in found.back
    assert found.back[0] == found.commands[0], "nothing is told a second time as a comment"
    stay = advise(cells("cell1", "cell0"), free=["home"], out=tmp_path)
    assert not stay.best


def test_memory_may_be_of_another_kind() -> None:
    found = advise(cells("cell1", "interleaved"), free=["memory"], confirm=False).best[0]
    (change,) = found.changes
    assert (change.path, change.before, change.after) == (
        "partition.two.memory.0.on", "interleaved", "cell0",
    )  # fmt: skip


def test_a_copy_boots_on_a_core_of_its_own() -> None:
    """Each cell has eight cores, four of which are left on the one that copies ask for."""
    assert more(cells("cell1", "cell0"), "one").most == 1


def test_none_may_fit() -> None:
    """Both have what is local to cell 0: nothing is left there for a third."""
    full = cells("cell0", "cell0").with_(
        {"partition.two.memory": [{"size": "36 GiB", "on": "cell0"}]}
    )
    found = more(full, "two")
    assert found.most == 0
    assert found.limit == "cell0 has 48 GiB of cell-local memory, 4 GiB of it are left for two-more"
    assert most_line(found) == f"0 more of two. Beyond: {found.limit}."


def test_larger_pages_are_advised_where_their_tables_are_walked() -> None:
    told = cells("cell1", "cell0").with_({"partition.one.guest.page": "4 KiB"})
    (best, *_) = advise(told, free=["pages"], confirm=False, worth=0.0001).best
    (change,) = best.changes
    assert (change.path, change.before) == ("partition.one.guest.page", "4 KiB")
    assert best.saving.mean is not None
    assert best.saving.mean > 0


def test_a_partition_of_cells_is_divided_with_its_cores_of_each() -> None:
    users = {"kind": "users", "count": 400, "think": "1 s", "profile": "oltp"}
    told = cells("cell1", "cell0").with_({"partition.one.workload": users})
    found = advise(told, free=["split"], confirm=False, pinned=["two"])
    assert not [line for line in found.unfit if "one as 2" in line]
    assert found.solved > 1


@pytest.mark.parametrize(
    "where",
    [
        {"cells": {"cell0": 1, "cell1": 3}},
        {"cells": {"cell1": 2}, "paths": ["0.10", "1.12"]},
        {"cells": None, "paths": ["1.10", "1.11", "1.12", "1.13"]},
    ],
)
def test_cores_that_parts_cannot_share_are_chosen_anew(where: dict[str, object]) -> None:
    users = {"kind": "users", "count": 400, "think": "1 s", "profile": "oltp"}
    named = {f"partition.one.processors.{key}": value for key, value in where.items()}
    told = cells("cell1", "cell0").with_({"partition.one.workload": users, **named})
    unfit: list[str] = []
    found = [*Varying(problem_of(told, {"free": ["split"], "pinned": ["two"]}), unfit).all()]
    assert [one.after for one in found] == [2, 4]
    assert unfit == []
    for one in found:
        parts = [part for part in one.problem.scenario.partitions if part.name != "two"]
        assert [part.table.processors.cores for part in parts] == [4 // len(parts)] * len(parts)


def granules(size: str, memory: str = "24 GiB", more: str = "") -> Scenario:
    """One partition that touches nearly all of its memory, in granules of this size."""
    text = CELLS[: CELLS.index('\n[[partition]]\nname = "two"')] + CELLS[CELLS.index("\n[run]") :]
    text = text.format(one="cell1").replace('size = "8 GiB"', f'size = "{memory}"')
    text = text.replace('os = "hp-ux"', 'os = "hp-ux", memory_used = "90 %"')
    text = text.replace('"48 GiB"', f'"48 GiB"\nilm_granule = "{size}"\nclm_granule = "{size}"')
    text = text.replace("count = 4, profile", "count = 8, profile").replace('"java"', '"specjbb"')
    return Scenario.from_toml(text + more)


def test_larger_granules_save_walks_for_pages(tmp_path: Path) -> None:
    (best, *_) = advise(granules("128 MiB"), free=["granules"], out=tmp_path).best
    (change,) = best.changes
    assert told_change(change).startswith("memory of npar0 in granules of ")
    assert change.path == "npartition.npar0.ilm_granule"
    assert set(change.also.values()) == {change.after}
    assert "address translation -" in change.why
    assert (best.saving_cores.mean or 0) > (best.saving_cores.ci95 or 0)
    assert any("vparcreate" in line for line in best.commands)
    assert any("homenode export" in line for line in best.back)


@pytest.mark.parametrize(("size", "memory"), [("1 GiB", "24 GiB"), ("128 MiB", "4 GiB")])
def test_granules_that_hold_the_pages_stay(size: str, memory: str, tmp_path: Path) -> None:
    """Neither are larger ones of use beyond all that a translation buffer reaches anyway."""
    assert not advise(granules(size, memory), free=["granules"], out=tmp_path).best


def test_the_granules_that_differ_are_named() -> None:
    told = granules("1 GiB").with_({"npartition.npar0.clm_granule": "128 MiB"})
    found = {one.after: one for one in Varying(problem_of(told, {"free": ["granules"]}), []).all()}
    one, other = found["1 GiB"], found["256 MiB"]
    assert (one.path, one.before) == ("npartition.npar0.clm_granule", "128 MiB")
    assert one.problem.scenario.data["npartition"][0]["clm_granule"] == "1 GiB"
    change = Change(one.name, one.word, one.path, one.before, one.after, "", one.also)
    assert told_change(change) == "cell-local memory of npar0 in granules of 1 GiB (128 MiB)"
    assert (other.path, other.before) == ("npartition.npar0.ilm_granule", "1 GiB")


def test_of_two_npartitions_the_larger_granules_are_searched() -> None:
    """Of fourteen variants twelve are: the least sizes, which bring the least, are left out."""
    told = CELLS.format(one="cell1", two="cell0")
    first = told.replace('cells = ["cell0", "cell1"]', 'cells = ["cell0"]')
    first = first.replace('"64 GiB"', '"32 GiB"').replace('"48 GiB"', '"24 GiB"')
    first = first.replace('"24 GiB"', '"24 GiB"\nilm_granule = "64 MiB"\nclm_granule = "128 MiB"')
    table = first[first.index("[[npartition]]") : first.index("[[partition]]")]
    second = table.replace("npar0", "npar1").replace("cell0", "cell1")
    two = first.replace(table, table + second)
    for name, there in (("one", "npar1"), ("two", "npar0")):
        two = two.replace(f'name = "{name}"', f'name = "{name}"\nnpartition = "{there}"')
    unfit: list[str] = []
    problem = problem_of(Scenario.from_toml(two), {"free": ["granules"]})
    found = [(one.name, one.after) for one in Varying(problem, unfit).all()]
    assert found[:2] == [("npar1", "4 GiB"), ("npar0", "4 GiB")]
    assert unfit == ["granules: only 12 of 14 were looked at"]


def test_granules_of_what_is_pinned_or_has_none_are_no_question() -> None:
    with pytest.raises(HomenodeError, match="no virtual partitions that may change"):
        advise(granules("128 MiB"), free=["granules"], pinned=["one"], confirm=False)
    power = Scenario.from_toml(
        '[machine]\nmodel = "ibm-power-770"\n[[partition]]\nname = "a"\nmemory = "8 GiB"\n'
        'processors = { mode = "shared", entitlement = 1.0, virtual = 2 }\n'
        'workload = { kind = "transactions", rate = "10/s", profile = "oltp" }\n'
        '[run]\nduration = "1 s"\n[advise]\nfree = ["granules"]\n'
    )
    with pytest.raises(ScenarioError, match="no virtual partitions that may change") as told:
        advise(power, confirm=False)
    assert told.value.where is not None
