"""What `homenode lparstat` and its sisters print is imported as the figures it was made of."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))
pytest.importorskip("homenode._engine", reason="the compiled engine is not installed")

from counted import SECOND, cpu, partition, sample, shared, view

from homenode.records.importing.front import read_paths
from homenode.tools import SystemConfiguration, lparstat, mpstat, sar, vmstat

LEVELS = ("5.3", "6.1", "7.1", "7.3")


def printed(tool: ModuleType, configuration: SystemConfiguration, arguments: list[str]) -> str:
    counted = partition(
        busy_ns=1.5 * SECOND, user_ns=SECOND, sys_ns=0.25 * SECOND, idle_ns=0.25 * SECOND,
        ticks_user=2 * SECOND, ticks_idle=2 * SECOND, vcsw=1014627468, phint=3,
    )  # fmt: skip
    cpus = [
        cpu(number, number // configuration.smt, user_ns=0.25 * SECOND, sys_ns=0.0625 * SECOND,
            idle_ns=0.0625 * SECOND, ilcs=5, vlcs=7)
        for number in range(configuration.lcpu)
    ]  # fmt: skip
    kept = view(configuration, [sample(counted, cpus, idle_ns=SECOND)] * 3)
    text: str = tool.render(kept, arguments)
    return text


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (lparstat, ["1"]),
        (lparstat, ["-h", "1"]),
        (lparstat, ["-d", "1"]),
        (mpstat, ["1"]),
        (mpstat, ["-a", "1"]),
        (mpstat, ["-s", "1"]),
        (sar, ["-P", "ALL", "1"]),
        (sar, ["-u", "1"]),
        (vmstat, ["1"]),
    ],
    ids=lambda given: given if isinstance(given, str) else None,
)
def test_cores_come_back(
    tool: ModuleType, arguments: list[str], level: str, tmp_path: Path
) -> None:
    path = tmp_path / "report.txt"
    path.write_text(printed(tool, shared(level=level), arguments))
    facts = read_paths([path])
    assert [took.dropped for took in facts.took] == [0], facts.notices
    (series,) = facts.series
    assert series.quantity == "physc"
    # Four logical processors with 0.375 cores each.
    assert series.table["cores"].to_list() == pytest.approx([1.5] * 3, abs=0.011)
    (told,) = facts.partitions.values()
    assert told.entitlement is not None
    assert told.entitlement.value == 1.0


@pytest.mark.parametrize("level", LEVELS)
def test_the_listing_comes_back(level: str, tmp_path: Path) -> None:
    path = tmp_path / "listing.txt"
    configuration = shared(level=level, ent=1.3, weight=64, mem_mb=43008)
    path.write_text(lparstat.render(view(configuration, [sample()]), ["-i"]))
    (told,) = read_paths([path]).partitions.values()
    assert told.name == "testpar"
    assert told.entitlement is not None
    assert told.entitlement.value == 1.3
    assert told.weight is not None
    assert told.weight.value == 64
    assert told.memory_bytes is not None
    assert told.memory_bytes.value == 43008 << 20
    assert told.smt is not None
    assert told.smt.value == 2
