"""z/VM and PR/SM with the compiled engine: laws that the published tables obey hold in a run, and
every report shows it.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from homenode.cli import call
from homenode.cli.output import show
from homenode.report.runs import run_tables
from homenode.simulate.run import Run
from homenode.simulate.runner import run_scenario

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

Show = Callable[..., str]
SCENARIO = """\
name = "tile"

[machine]
model = "ibm-z14"
characterized = { cp = 2, ifl = 12 }

[[partition]]
name = "ZVM1"
processors = { mode = "dedicated", cores = 6, type = "ifl" }
memory = "48 GiB"
guest = { os = "zvm", unparking = "small" }
workload = { kind = "web", profile = "web-paging", file = "1 MiB", files = 5000 }

[[partition.switch]]
name = "lan"
layer = 3

[[partition.virtual_machine]]
name = "CLIENT"
count = 2
cpus = 2
memory = "4 GiB"
role = "client"
switch = "lan"

[[partition.virtual_machine]]
name = "SERVER"
count = 10
memory = "5 GiB"
role = "server"
switch = "lan"

[partition.paging]
volumes = 16
control_units = 4
size = "1 TiB"

[[partition]]
name = "LINUX1"
processors = { mode = "shared", virtual = 4, weight = 300, polarization = "vertical" }
memory = "16 GiB"
guest = { os = "linux" }
workload = { kind = "loops", count = 6, endless = true, profile = "java" }

[[partition]]
name = "LINUX2"
processors = { mode = "shared", virtual = 6, weight = 100, polarization = "vertical" }
memory = "16 GiB"
guest = { os = "linux" }
workload = { kind = "loops", count = 6, endless = true, profile = "java" }

[run]
warmup = "4 s"
duration = "4 s"
interval = "1 s"
replications = 1
"""
CLOCK_MHZ = 5200


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("mainframe")
    path = folder / "tile.toml"
    path.write_text(SCENARIO)
    return run_scenario(path, out=folder / "runs")


@pytest.fixture
def shown(run: Run, capsys: pytest.CaptureFixture[str]) -> Show:
    """What a command prints of the run."""

    def show(*words: str) -> str:
        assert call([*words, "--out", str(run.path.parent)]) == 0, capsys.readouterr().err
        return capsys.readouterr().out

    return show


def mean(run: Run, partition: str, metric: str) -> float:
    value = run.metrics[partition][metric].mean
    assert value is not None, metric
    return value


def test_the_published_laws_hold(run: Run) -> None:
    zvm = {name: told.mean or 0.0 for name, told in run.metrics["ZVM1"].items()}
    parts = [zvm[f"{name}_busy_pct"] for name in ("guest", "chargeable", "system")]
    assert sum(parts) == pytest.approx(zvm["total_busy_pct"], rel=1e-9)
    assert zvm["total_busy_pct"] == pytest.approx(100 * zvm["physc"], rel=1e-6)
    assert zvm["tv_ratio"] == pytest.approx(sum(parts) / parts[0], rel=1e-9)
    assert zvm["eicpi"] + zvm["efcpi"] == pytest.approx(zvm["cpi"], rel=1e-9)
    cycles = zvm["cpi"] * zvm["instructions_per_tx"]
    assert cycles / zvm["cpu_per_tx_us"] == pytest.approx(CLOCK_MHZ, rel=1e-3)
    assert zvm["itr_per_s"] == pytest.approx(
        zvm["etr_per_s"] / (round(zvm["busy_pct"], 1) / 100), rel=1e-3
    )
    service = sum(zvm[f"volume_{name}_ms"] for name in ("pend", "disc", "conn"))
    rate = zvm["volume_io_per_s"]
    assert zvm["volume_serv_ms"] == pytest.approx(service, rel=1e-9)
    assert zvm["volume_busy_pct"] == pytest.approx(rate * service / 10, rel=0.01)
    queued = 1e3 * zvm["volume_qued"] / rate
    assert zvm["volume_resp_ms"] == pytest.approx(service + queued, rel=1e-9)
    assert zvm["freed_cores"] + zvm["unparked"] == pytest.approx(6)


def test_power_is_shared_by_weight(run: Run) -> None:
    """Both want more than there is: 300 to 100 of 6 cores, no more than the logical ones."""
    busy = {name: mean(run, name, "physc") for name in ("LINUX1", "LINUX2")}
    assert busy["LINUX1"] == pytest.approx(4.0, abs=0.1)
    assert busy["LINUX2"] == pytest.approx(2.0, abs=0.1)


def test_the_table_of_partitions_tells_how_cores_are_polarized(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """Entitled to 4 of 4 cores and to 1.5 of 6: four high ones; one high and a half medium one."""
    show(*run_tables(run))
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    told = {row[0]: row[5] for row in rows if len(row) > 8 and row[2:3] == ["IFL"]}
    assert told.pop("PHYSICAL") == "-"
    assert told == {"ZVM1": "6/0/0", "LINUX1": "4/0/0", "LINUX2": "1/1/4"}


def test_every_report_shows_it(run: Run, shown: Show) -> None:
    for report in json.loads(shown("fcx", run.id, "--json")):
        assert shown("fcx", run.id, report["report"]).startswith(report["report"])
    lines = shown("hyptop").splitlines()
    assert "IFL(12)  CP(2)" in lines[0]
    assert [line.split()[0] for line in lines[3:6]] == ["ZVM1", "LINUX1", "LINUX2"]
    row = dict(zip(lines[1].split(), lines[4].split(), strict=True))
    busy = mean(run, "LINUX1", "physc") * 100
    assert float(row["core"]) + float(row["mgm"]) == pytest.approx(busy, abs=0.02)
    guests = shown("hyptop", "-p", "ZVM1", "--format", "jsonl").splitlines()
    assert len(json.loads(guests[1])["systems"]) == 12
    assert "LPAR Name:            LINUX2" in shown("sysinfo", "-p", "LINUX2")
    assert "That is time, not cores" in " ".join(shown("explain", "latest:ZVM1").split())
