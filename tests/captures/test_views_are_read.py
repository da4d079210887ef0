"""What the tool views print is read by the capture parsers, and comes back as the same numbers."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

from counted import SECOND, cpu, dedicated, partition, sample, shared, view

from homenode.tools import SystemConfiguration, lparstat, mpstat

CONFIGURATIONS = {
    "5.3": shared(level="5.3"),
    "7.1": shared(level="7.1", pool_authority=True),
    "7.3": shared(level="7.3", ent=4.0),
    "donating": dedicated(mode="Donating"),
    "capped": dedicated(level="6.1"),
}


def parser(tool: str) -> Callable[[str], Any]:
    """The binding `parse_lparstat` or `parse_mpstat`: text to JSON."""
    engine = pytest.importorskip("homenode._engine", reason="the compiled engine is not installed")
    parse = getattr(importlib.import_module(engine.__name__), f"parse_{tool}", None)
    if parse is None:
        pytest.skip(f"the compiled engine has no parse_{tool}")
    return lambda text: json.loads(parse(text))


def run(configuration: SystemConfiguration) -> Any:
    counted = partition(
        busy_ns=1.5 * SECOND, user_ns=SECOND, sys_ns=0.25 * SECOND, idle_ns=0.25 * SECOND,
        ticks_user=2 * SECOND, ticks_idle=2 * SECOND, vcsw=1014627468, phint=3, cede_calls=9,
        cede_ns=90_000, cede_max_ns=20_000,
    )  # fmt: skip
    cpus = [
        cpu(number, number // configuration.smt, user_ns=0.3 * SECOND, ilcs=5, vlcs=7, s0rd=9,
            s3rd=1, s3hrd=3, s5hrd=1)
        for number in range(configuration.lcpu)
    ]  # fmt: skip
    return view(configuration, [sample(counted, cpus, idle_ns=SECOND)] * 2)


def tables(capture: Any) -> list[list[dict[str, Any]]]:
    return [
        [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
        for section in capture["sections"]
        for table in section["tables"]
    ]


@pytest.mark.parametrize("name", CONFIGURATIONS)
@pytest.mark.parametrize("mode", ["", "-h", "-d"])
def test_lparstat(name: str, mode: str) -> None:
    kept = run(CONFIGURATIONS[name])
    arguments = [*([mode] if mode else []), "1"]
    (read,) = tables(parser("lparstat")(lparstat.render(kept, arguments)))
    for ours, theirs in zip(lparstat.rows(kept, arguments), read, strict=True):
        assert list(theirs) == [column for column in ours if column != "time_s"]
        for column, value in theirs.items():
            assert value == pytest.approx(ours[column], abs=0.5001 if column == "%nsp" else 0.0501)


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_lparstat_listings_and_calls(name: str) -> None:
    kept, parse = run(CONFIGURATIONS[name]), parser("lparstat")
    (facts,) = tables(parse(lparstat.render(kept, ["-i"])))
    told = list(lparstat.rows(kept, ["-i"])[0])
    assert [fact["name"] for fact in facts] == told[: len(facts)]
    assert len(told) - len(facts) <= 2, "what the manual names and no level prints comes last"
    calls, again = tables(parse(lparstat.render(kept, ["-H", "1"])))
    assert calls == again
    assert {c["Hypervisor Call"]: c["Number of Calls"] for c in calls}["cede"] == 9
    (cores,) = tables(parse(lparstat.render(kept, ["-E", "1"])))
    assert [row["user"] for row in cores] == [1.0, 1.0]


@pytest.mark.parametrize("name", CONFIGURATIONS)
@pytest.mark.parametrize("mode", ["", "-d", "-a"])
def test_mpstat(name: str, mode: str) -> None:
    kept = run(CONFIGURATIONS[name])
    arguments = [*([mode] if mode else []), "1"]
    read = [
        row for table in tables(parser("mpstat")(mpstat.render(kept, arguments))) for row in table
    ]
    for ours, theirs in zip(mpstat.rows(kept, arguments), read, strict=True):
        assert str(theirs.pop("cpu")) == ours["cpu"]
        for column, value in theirs.items():
            expected = ours[column]
            assert (
                value is expected
                if expected is None
                else value == pytest.approx(expected, abs=0.5001)
            )


def test_mpstat_s() -> None:
    kept = run(CONFIGURATIONS["7.1"])
    first, second = tables(parser("mpstat")(mpstat.render(kept, ["-s", "1"])))
    assert first == second
    assert first[0] == {"Proc": "Proc0", "cpu": None, "%": {"value": 60.0, "unit": "%"}}
    assert [row["cpu"] for row in first] == [None, "cpu0", "cpu1", None, "cpu2", "cpu3"]
