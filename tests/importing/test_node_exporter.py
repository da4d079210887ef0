"""node_exporter's metrics of Linux hosts, as Prometheus answers with them and dumps them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

pytest.importorskip("homenode._engine", reason="the compiled engine is not installed")

from homenode.records.importing.assemble import AssembleOptions, assemble
from homenode.records.importing.facts import Facts
from homenode.records.importing.front import read_paths

SAMPLES = Path(__file__).resolve().parent / "samples" / "prometheus"
"""`tsdb.txt` is what `promtool tsdb dump` printed of a block of the samples in `range.json`."""
MATRIX = '{"status":"success","data":{"resultType":"matrix","result":[%s]}}'
IDLE = ("idle", "iowait", "steal")


def busy_of(instance: str) -> list[float]:
    """By `json` and arithmetic of this file's own: cores of each minute."""
    result = json.loads((SAMPLES / "range.json").read_text())["data"]["result"]
    used = [
        [float(value) for _, value in one["values"]]
        for one in result
        if one["metric"]["__name__"] == "node_cpu_seconds_total"
        and one["metric"]["instance"] == instance
        and one["metric"]["mode"] not in IDLE
    ]
    return [sum(one[k + 1] - one[k] for one in used) / 60 for k in range(2)]


@pytest.mark.parametrize("name", ["range.json", "tsdb.txt"])
def test_use_is_what_counters_grow_by(name: str) -> None:
    facts = read_paths([SAMPLES / name])
    first, second = facts.series
    assert [one.partition for one in facts.series] == ["kvm1.example.com", "kvm2.example.com"]
    assert first.table["cores"].to_list() == pytest.approx(busy_of("kvm1:9100"), abs=1e-9)
    assert second.table["cores"].to_list() == pytest.approx(busy_of("kvm2:9100"), abs=1e-9)
    assert first.table["seconds"].to_list() == [60.0, 60.0]
    host = facts.partitions[None, "kvm1.example.com"]
    assert host.logical is not None
    assert host.memory_bytes is not None
    assert (host.logical.value, host.memory_bytes.value) == (2, 32 << 30)
    assert {node: told.value for node, told in host.memory_by_node.items()} == {
        0: 16 << 30,
        1: 16 << 30,
    }
    (line,) = (SAMPLES / name).read_text().splitlines()[host.memory_bytes.where.line - 1 :][:1]
    assert "node_memory_MemTotal_bytes" in line
    assert facts.beside[0].table["context_switches_per_s"].to_list() == [1500.0, 1500.0]
    assert any("cpu_waiting 2 % of the time" in one.text for one in facts.notices)
    assert not [one.dropped for one in facts.took if one.dropped]
    made = assemble(facts, AssembleOptions(convert=False))
    assert "x86_64" in made.text or "xeon" in made.text or "epyc" in made.text


def answer(tmp_path: Path, text: str) -> Facts:
    (tmp_path / "a.json").write_text(text)
    return read_paths([tmp_path / "a.json"])


def test_a_start_of_the_host_and_a_missing_processor_cost_one_sample(tmp_path: Path) -> None:
    told = json.loads((SAMPLES / "range.json").read_text())
    result = told["data"]["result"]
    result[0]["values"][1][1], result[0]["values"][2][1] = "1.5", "31.5"
    facts = answer(tmp_path, json.dumps(told))
    assert [one.table.height for one in facts.series] == [1, 2]
    assert facts.took[0].dropped == 1
    del result[0]["values"][1]
    facts = answer(tmp_path, json.dumps(told))
    # What follows the gap is of another length than that of the other modes.
    assert [one.partition for one in facts.series] == ["kvm2.example.com"]


def test_rates_that_a_query_made_are_cores_by_mode(tmp_path: Path) -> None:
    rates = {"user": "1.5", "system": "0.25", "idle": "2.15", "iowait": "0.1"}
    series = [
        {"metric": {"instance": "a:9100", "mode": mode}, "values": [[0, rate], [60, rate]]}
        for mode, rate in rates.items()
    ]
    told = {"status": "success", "data": {"resultType": "matrix", "result": series}}
    facts = answer(tmp_path, json.dumps(told))
    assert facts.series[0].table["cores"].to_list() == [1.75, 1.75]
    logical = facts.partitions[None, "a"].logical
    assert logical is not None
    assert logical.value == 4
    assert any("taken as cores" in one.text for one in facts.notices)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            '{"status":"success","data":{"resultType":"vector","result":[]}}',
            "ask /api/v1/query_range with start, end and step",
        ),
        (
            MATRIX % '{"metric":{"__name__":"up"},"values":[[0,"1"]]}',
            "its 1 metrics are of no exporter that is known",
        ),
        (MATRIX % "", "no series"),
    ],
)
def test_other_answers_are_refused(tmp_path: Path, text: str, why: str) -> None:
    (left,) = answer(tmp_path, text).left
    assert why in left.why


def test_counters_of_one_moment_tell_no_use(tmp_path: Path) -> None:
    lines = (SAMPLES / "tsdb.txt").read_text().splitlines()
    once = [line for line in lines if re.search(r" 1780308000000$", line)]
    (tmp_path / "a.txt").write_text("\n".join(once) + "\n")
    facts = read_paths([tmp_path / "a.txt"])
    assert not facts.series
    assert any("give a range of time" in one.text for one in facts.notices)
