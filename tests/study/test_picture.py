"""`study --picture`: as the source of each draws it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from homenode.cli import call
from homenode.evidence.study import load_study, recorded_outcome, run_study
from homenode.report.charts import NULL, WITHIN
from homenode.report.study_pictures import moments, over_sizes, placed, study_picture

BASES = ("jbb-1a", "jbb-1b", "jbb-2b", "sap-1a", "sap-1b", "sap-2b")
Capture = pytest.CaptureFixture[str]


def test_cores_and_switches_of_every_case_over_time(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "p795.json"
    arguments = ["--replications", "1", "--out", str(tmp_path), "--picture", str(file)]
    assert call(["study", "p795-lpar-affinity", *arguments]) == 0
    assert f"drew {file}" in capsys.readouterr().err
    drawn, bands = json.loads(file.read_text())["vconcat"]
    assert "layer" in bands
    titles = [[panel["title"] for panel in row["hconcat"]] for row in drawn["vconcat"]]
    assert titles == [[name, name] for name in ("lpar1", "lpar2", "lpar3", "lpar4")]
    cores, switches = drawn["vconcat"][0]["hconcat"]
    kinds = [panel["layer"][0]["mark"]["type"] for panel in (cores, switches)]
    assert kinds == ["area", "line"]
    # One scale for all of them, so that they can be compared.
    first = [row["hconcat"][0]["layer"][0] for row in drawn["vconcat"]]
    domains = {str(one["encoding"]["y"]["scale"]) for one in first}
    assert len(domains) == 1


def test_means_over_time_are_the_run_s_metrics(tmp_path: Path) -> None:
    result = run_study(load_study("p795-lpar-affinity"), replications=1, out=tmp_path)
    run = result.runs["lpar1"]
    points = moments(run, "lpar1")

    def mean(kind: str) -> float:
        values = [point["value"] for point in points if point["kind"] == kind]
        assert len(values) == 30
        return sum(values) / len(values)

    # Here the waiting of threads is none, and idle threads beside busy ones hold the rest.
    physc, idle = run.metric("lpar1", "physc").mean, run.metric("lpar1", "idle_pct").mean
    assert 0 < mean("user") + mean("system") <= physc
    assert idle >= 0
    assert mean("ilcs") == pytest.approx(run.metric("lpar1", "ilcs_per_s").mean)
    assert mean("vlcs") == pytest.approx(run.metric("lpar1", "vlcs_per_s").mean)
    assert study_picture(result).to_dict()["vconcat"][0]["title"]


def test_sets_in_several_sizes_are_lines_beside_each_other() -> None:
    result = recorded_outcome(load_study("zvm-80-paging"))
    lines = over_sizes(result)
    assert list(lines)[:3] == ["itrr", "itr_per_s", "etr_per_s"]
    rows = {(one.published.case, one.published.metric): one for one in result.comparisons}
    for point in lines["guest_busy_per_tx"]:
        row = rows[f"{point['name']}-{point['size']}", "guest_busy_per_tx"]
        told = {"published": row.published.value, "simulated": row.simulated.mean}
        assert point["value"] == told[point["kind"]]
    # Only the throughput of the smallest size's is held against the machine's capability.
    having = {
        name for name, all_of in lines.items() for one in all_of if one["kind"] == "capability"
    }
    assert having == {"itrr"}
    drawn = study_picture(result).to_dict()["vconcat"][0]["vconcat"]
    titles = [[panel["title"] for panel in row["hconcat"]] for row in drawn]
    assert titles[0] == ["large", "small"]
    # Volumes are published of one set.
    assert titles[-1] == ["large"]


def test_ratios_stand_beside_those_that_were_published(tmp_path: Path) -> None:
    result = run_study(load_study("hp-vpars"), replications=1, out=tmp_path)
    whole = study_picture(result).to_dict()
    drawn, data = whole["vconcat"][0], whole["datasets"]
    panels = {panel["title"]: data[panel["data"]["name"]] for panel in drawn["vconcat"]}
    assert set(panels) == {f"etr_per_s, {to} = 1" for to in BASES}
    shown = {(bar["label"], bar["kind"]): bar for bar in panels["etr_per_s, jbb-1a = 1"]}
    # As the source's chart has it: the partition without vPars first, at 1.
    assert next(iter(shown)) == ("jbb-1a", "published")
    published = {
        one.published.case.removesuffix("-to-1a"): one
        for one in result.comparisons
        if one.published.case.startswith("jbb") and one.published.case.endswith("-to-1a")
    }
    assert len(shown) == 2 * (1 + len(published))
    for case, one in published.items():
        assert shown[case, "published"]["value"] == one.published.value
        assert shown[case, "simulated"]["value"] == one.simulated.mean
    domains = [panel["layer"][0]["encoding"]["y"]["scale"]["domain"] for panel in drawn["vconcat"]]
    assert all(one == domains[0] and one[0] == 0.0 for one in domains)


def test_every_row_lies_in_its_tolerance_or_not(tmp_path: Path) -> None:
    result = run_study(load_study("z14-caf"), out=tmp_path)
    points = placed(result)
    told = {one.published.case + " " + one.published.metric: one for one in result.comparisons}
    for point in points:
        if point["kind"] == NULL:
            continue
        one = told[point["label"]]
        assert (point["kind"] == WITHIN) is one.within is (abs(point["at"]) <= 1.0)
    assert len([point for point in points if point["kind"] != NULL]) == len(told)
    # Nothing goes on over time in it, and still it has a picture.
    assert len(study_picture(result).to_dict()["vconcat"]) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--all", "-i", "a.svg"], "a picture is of one study that is compared: name one"),
        (["p795-lpar-affinity", "-i", "a.pdf"], "a picture ends in one of .svg, .png, .json"),
    ],
)
def test_what_is_not_drawn(arguments: list[str], message: str, capsys: Capture) -> None:
    assert call(["study", *arguments]) == 2
    assert message in capsys.readouterr().err
