"""Thirty partitions of one frame, each recorded by nmon in a file of its own: one scenario, with
what every partition used.
"""

from __future__ import annotations

import math
from pathlib import Path

import polars as pl
import pytest

pytest.importorskip("homenode._engine", reason="the compiled engine is not installed")

from homenode.records.importing.assemble import AssembleOptions, assemble
from homenode.records.importing.front import read_paths

PARTITIONS = 30
SNAPSHOTS = 48
SIZES = ((0.5, 2), (1.0, 4), (2.0, 8))
"""Entitlement and virtual processors, in turn."""
HEAD = """\
AAA,progname,topas_nmon
AAA,host,lpar{number:02}
AAA,AIX,7.2.5.0
AAA,interval,300
AAA,snapshots,{snapshots}
AAA,hardware,Architecture PowerPC Implementation POWER10 64 bit
AAA,cpus,{logical},{logical}
AAA,SerialNumber,78A1B2C
AAA,LPARNumberName,{number},lpar{number:02}
AAA,MachineType,IBM,9080-HEX
LPAR,Logical Partition lpar{number:02},PhysicalCPU,virtualCPUs,logicalCPUs,poolCPUs,entitled,\
weight,PoolIdle,usedAllCPU%,usedPoolCPU%,SharedCPU,Capped,EC_User%,EC_Sys%,EC_Wait%,EC_Idle%,\
VP_User%,VP_Sys%,VP_Wait%,VP_Idle%,Folded,Pool_id
"""


def size(number: int) -> tuple[float, int]:
    return SIZES[number % len(SIZES)]


def uses(number: int) -> list[float]:
    """Cores of each sample: a day of its own for every partition, as nmon prints them."""
    entitled, virtual = size(number)
    turn = [2 * math.pi * (at + 3 * number) / SNAPSHOTS for at in range(SNAPSHOTS)]
    return [round(min(entitled * (0.7 + 0.5 * math.sin(one)), 0.9 * virtual), 3) for one in turn]


def recording(number: int) -> str:
    """A partition's file; percentages are those of its use."""
    entitled, virtual = size(number)
    head = {"number": number, "snapshots": SNAPSHOTS, "logical": 8 * virtual}
    lines = [HEAD.format(**head).rstrip()]
    for at, cores in enumerate(uses(number), 1):
        parts = [cores * part for part in (0.6, 0.2, 0, 0.2)]
        shares = [100 * part / of for of in (entitled, virtual) for part in parts]
        clock = f"{at * 5 // 60:02}:{at * 5 % 60:02}:00"
        begin = [cores, virtual, 8 * virtual, 40, f"{entitled:.2f}", 128, 0]
        of_pool = [100 * cores / 40] * 2
        rest = [1, 0, *(f"{share:.2f}" for share in shares), 0, 0]
        cells = [*begin, *(f"{share:.2f}" for share in of_pool), *rest]
        lines.append(f"ZZZZ,T{at:04},{clock},02-MAR-2026")
        lines.append(",".join([f"LPAR,T{at:04}", *map(str, cells)]))
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("frame")
    for number in range(1, PARTITIONS + 1):
        (place / f"lpar{number:02}.nmon").write_text(recording(number))
    return place


def test_thirty_recordings_are_one_frame(folder: Path) -> None:
    facts = read_paths([folder])
    assert [one.dropped for one in facts.took] == [0] * PARTITIONS
    (system,) = {of.system for of in facts.partitions.values()}
    assert system == "78A1B2C"
    made = assemble(facts, AssembleOptions(convert=False))
    assert made.scenario.machine.name == "ibm-power-e1080"
    assert len(made.scenario.partitions) == PARTITIONS
    demand = pl.read_parquet(made.files["demand.parquet"])
    means = dict(demand.group_by("partition").agg(pl.col("cores").mean()).iter_rows())
    for number in range(1, PARTITIONS + 1):
        written = uses(number)
        # As awk -F, '/^LPAR,T/ { sum += $3; n++ } END { print sum / n }' has them of the file.
        assert abs(means[f"lpar{number:02}"] - sum(written) / len(written)) < 0.001
        entitled, virtual = size(number)
        partition = facts.partitions["78A1B2C", f"lpar{number:02}"]
        assert partition.entitlement is not None
        assert partition.virtual is not None
        assert (partition.entitlement.value, partition.virtual.value) == (entitled, virtual)
