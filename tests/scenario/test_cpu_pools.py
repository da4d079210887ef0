"""CPU pools of z/VM in a scenario: what the engine gets of them, what is refused and how, what a
run uses, what licences count.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from homenode import Scenario
from homenode.model.spec import zvm_of
from homenode.records.exporting import text as exported
from homenode.report.mainframe import mainframe_tables
from refusals import Row, cases, check_refusal

FILE = Path(__file__).with_name("pools.toml")
MIXED = 'processors = { mode = "dedicated", types = { cp = 2, ifl = 6 } }'
DEDICATED = 'processors = { mode = "dedicated", cores = 8, type = "ifl" }'


@pytest.fixture
def text() -> str:
    return FILE.read_text(encoding="utf-8")


def guest(told: str) -> Any:
    return zvm_of(Scenario.from_toml(told).spec()["partitions"][0])


def test_a_limit_is_a_part_of_the_cores_of_its_type(text: str) -> None:
    found = guest(text)
    assert [(one["name"], one["cores"]) for one in found["cpu_pools"]] == [
        ("database", 2.5),
        ("tests", pytest.approx(0.8)),
    ]
    assert [one.get("cpu_pool") for one in found["machines"]] == [0, 0, 1, None]
    mixed = text.replace(DEDICATED, MIXED).replace("2.5", '2.5\ntype = "ifl"')
    mixed = mixed.replace(
        'model = "ibm-z14"', 'model = "ibm-z14"\ncharacterized = { cp = 2, ifl = 6 }'
    )
    assert guest(mixed)["cpu_pools"][1]["cores"] == pytest.approx(0.6)


def test_without_pools_the_engine_is_told_of_none(text: str) -> None:
    bare = re.sub(r"\[\[partition.cpu_pool\]\]\n(?:\S.*\n)+", "", text)
    bare = re.sub(r"cpu_pool = .*\n", "", bare)
    found = guest(bare)
    assert "cpu_pools" not in found
    assert all("cpu_pool" not in one for one in found["machines"])


WRONG: list[Row] = [
    Row(
        "pools",
        "a pool that is not there",
        [('cpu_pool = "database"', 'cpu_pool = "databse"')],
        's.toml:28:12: partition zvm: virtual_machine db.cpu_pool = "databse": the CPU pools are'
        " database, tests; did you mean database?",
    ),
    Row(
        "pools",
        "more than the cores",
        [("capacity = 2.5", "capacity = 9")],
        "s.toml:15:12: partition zvm: cpu_pool database.capacity = 9: the partition has 8 IFLs;"
        " such a pool limits nothing; write at most 8, or leave the pool out",
    ),
    Row(
        "pools",
        "a type that the partition has not",
        [('limit = "10 %"\ntype = "ifl"', 'limit = "10 %"\ntype = "cp"')],
        's.toml:20:8: partition zvm: cpu_pool tests.type = "cp": the partition has no CPs, its'
        ' cores are 8 IFLs; write type = "ifl", or leave type out',
    ),
    Row(
        "pools",
        "no members",
        [('cpu_pool = "tests"\n', "")],
        "s.toml:17:3: partition zvm: cpu_pool tests: it has no members: no virtual machine is in"
        ' it; write cpu_pool = "tests" at those that are, or leave the pool out',
    ),
    Row(
        "pools",
        "two limits",
        [("capacity = 2.5", 'capacity = 2.5\nlimit = "10 %"')],
        "s.toml:13:3: partition zvm: cpu_pool database: a CPU pool has a capacity in cores or a"
        ' limit, this one has both; write capacity = 2.5, or limit = "20 %"',
    ),
    Row(
        "pools",
        "no limit",
        [("capacity = 2.5\n", "")],
        "s.toml:13:3: partition zvm: cpu_pool database: a CPU pool has a capacity in cores or a"
        ' limit, this one has neither; write capacity = 2.5, or limit = "20 %"',
    ),
    Row(
        "pools",
        "the same name twice",
        [('name = "tests"', 'name = "database"')],
        's.toml:18:8: partition zvm: cpu_pool database.name = "database": another CPU pool has it;'
        " give each CPU pool a name of its own\n"
        's.toml:35:12: partition zvm: virtual_machine try.cpu_pool = "tests": the CPU pools are'
        " database; add [[partition.cpu_pool]] with that name",
    ),
    Row(
        "pools",
        "pools without z/VM",
        [('guest = { os = "zvm" }', 'guest = { os = "linux" }')],
        "s.toml:13:3: partition zvm: cpu_pool: no such thing here: only z/VM has it, the guest is"
        ' linux; leave it out, or write guest = { os = "zvm" }\n'
        "s.toml:22:3: partition zvm: virtual_machine: no such thing here: only z/VM has it, the"
        ' guest is linux; leave it out, or write guest = { os = "zvm" }',
    ),
]


@pytest.mark.parametrize("row", cases(WRONG))
def test_each_mistake_has_its_message(row: Row) -> None:
    check_refusal(row)


def test_members_use_what_the_pool_has(text: str, tmp_path: Path) -> None:
    """Told in a table and in CP commands; the solver says the same, within 2 %."""
    scenario = Scenario.from_toml(text)
    run = scenario.run(out=tmp_path)
    tables = {str(one.title): one for one in mainframe_tables(run)}
    columns = [list(column.cells) for column in tables["CPU pools"].columns]
    assert columns[:5] == [
        ["database", "tests"], ["zvm", "zvm"], ["IFL", "IFL"], ["2.50", "0.80"], ["2", "1"],
    ]  # fmt: skip
    used = [float(str(cell)) for cell in columns[5]]
    assert used == pytest.approx([2.5, 0.8], rel=0.02)
    lines = exported(run, "zvm").splitlines()
    assert "DEFINE CPUPOOL DATABASE CAPACITY 2.50 TYPE IFL" in lines
    assert "DEFINE CPUPOOL TESTS LIMITHARD 10.00% TYPE IFL" in lines
    assert [line for line in lines if line.startswith("SCHEDULE")] == [
        "SCHEDULE DB1 DATABASE",
        "SCHEDULE DB2 DATABASE",
        "SCHEDULE TRY TESTS",
    ]
    run.details["zvm"].pop("cpu_pools")  # As of runs that were kept before they were told.
    earlier = exported(run, "zvm").splitlines()
    assert "DEFINE CPUPOOL DATABASE CAPACITY 2.50" in earlier
    assert "DEFINE CPUPOOL TESTS CAPACITY 0.80" in earlier
    physc = run.metrics["zvm"]["physc"].mean
    assert scenario.solve().metrics["zvm"]["physc"].mean == pytest.approx(physc, rel=0.02)
