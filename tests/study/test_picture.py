"""`study --picture`: what cases did over time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from homenode.cli import call
from homenode.evidence.study import load_study, run_study
from homenode.report.over_time import moments, study_over_time

Capture = pytest.CaptureFixture[str]


def test_cores_and_switches_of_every_case_over_time(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "p795.json"
    arguments = ["--replications", "1", "--out", str(tmp_path), "--picture", str(file)]
    assert call(["study", "p795-lpar-affinity", *arguments]) == 0
    assert f"drew {file}" in capsys.readouterr().err
    drawn = json.loads(file.read_text())
    titles = [[panel["title"] for panel in row["hconcat"]] for row in drawn["vconcat"]]
    assert titles == [[name, name] for name in ("lpar1", "lpar2", "lpar3", "lpar4")]
    cores, switches = drawn["vconcat"][0]["hconcat"]
    assert (cores["mark"]["type"], switches["mark"]["type"]) == ("area", "line")
    # One scale for all of them, so that they can be compared.
    domains = {str(row["hconcat"][0]["encoding"]["y"]["scale"]) for row in drawn["vconcat"]}
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
    assert study_over_time(result).to_dict()["title"] == result.study.title


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--all", "-i", "a.svg"], "a picture is of one study that is compared: name one"),
        (["p795-lpar-affinity", "-i", "a.pdf"], "a picture ends in one of .svg, .png, .json"),
        (["z14-caf", "-i", "a.svg"], "z14-caf simulates nothing that goes on over time"),
    ],
)
def test_what_is_not_drawn(arguments: list[str], message: str, capsys: Capture) -> None:
    assert call(["study", *arguments]) == 2
    assert message in capsys.readouterr().err
