"""esxtop: what a host of ESXi did, and that its batch mode is read again."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from homenode.cli import call

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

from homenode.records.importing.front import read_paths

NAME = "esxi-ready-and-costop"
EXAMPLE = Path(__file__).parents[2] / "examples" / f"{NAME}.toml"
VIRTUAL = {"wide": 8, "reserved": 4, "limited": 4, "web": 4} | {f"small{n}": 2 for n in range(1, 6)}
Ask = Callable[..., str]


@pytest.fixture(scope="module", autouse=True)
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("esxtop"))
        assert call(["run", str(EXAMPLE), "-n", "1"]) == 0
        yield


def rows(ask: Ask, *words: str) -> dict[str, dict[str, Any]]:
    return {row["NAME"]: row for row in json.loads(ask("esxtop", *words, "--json"))}


def test_the_time_of_a_machine_adds_up(ask: Ask) -> None:
    found = rows(ask)
    assert {name: row["NWLD"] for name, row in found.items()} == VIRTUAL
    for row in found.values():
        parts = sum(row[name] for name in ("%RUN", "%RDY", "%CSTP", "%WAIT"))
        assert parts == pytest.approx(100 * row["NWLD"], rel=5e-3)  # a wait counts where it ends
        assert row["%USED"] <= row["%RUN"] + 1e-9
        assert row["%MLMTD"] <= row["%RDY"] + 1.0


def test_who_waits_who_leads_and_who_is_at_its_limit(ask: Ask) -> None:
    found = rows(ask)
    assert found["limited"]["%MLMTD"] == pytest.approx(300, abs=5)
    assert found["limited"]["%RUN"] == pytest.approx(100, abs=2)
    assert found["reserved"]["%RUN"] == pytest.approx(300, abs=5)
    assert all(row["%MLMTD"] == 0 for name, row in found.items() if name != "limited")
    # The wider, the more often some of its processors wait for others.
    share = {name: row["%CSTP"] / row["NWLD"] for name, row in found.items()}
    assert share["wide"] > share["small1"] > 0.0
    # One that mostly sleeps is served at once.
    assert found["web"]["%RDY"] + found["web"]["%CSTP"] < 4.0
    # All threads are busy, so each counts for 62.5 %.
    used, run = (sum(row[name] for row in found.values()) for name in ("%USED", "%RUN"))
    assert used / run == pytest.approx(0.625, abs=0.01)


def test_the_metrics_are_the_same_figures(ask: Ask) -> None:
    found = rows(ask)
    question = "SELECT partition, metric, mean FROM summary WHERE metric IN ('costop_pct', 'physc')"
    told = {
        (row["partition"], row["metric"]): row["mean"]
        for row in json.loads(ask("sql", question, "--json"))
    }
    assert told["wide", "costop_pct"] == pytest.approx(found["wide"]["%CSTP"] / 8)
    assert 100 * told["wide", "physc"] == pytest.approx(found["wide"]["%RUN"])


def test_the_screen_comes_once_an_interval(ask: Ask) -> None:
    text = ask("esxtop", "-d", "1", "-n", "2")
    assert text.count("%CSTP") == 2
    assert text.splitlines()[0].startswith("00:00:01, 30 worlds, 9 VMs, 30 vCPUs;")
    assert text.count("limited") == 2
    assert ask("esxtop", "-p", "web").count("\n") == 7


def test_the_memory_panel_tells_what_was_given_and_what_is_touched(ask: Ask) -> None:
    found = rows(ask, "-m")
    assert {name: row["NWLD"] for name, row in found.items()} == VIRTUAL
    spec = json.loads(next(Path("runs").glob("*/spec.json")).read_text())
    given = {one["name"]: one for one in spec["partitions"]}
    for name, row in found.items():
        size = sum(part["bytes"] for part in given[name]["memory"])
        assert row["MEMSZ"] == row["GRANT"] == size / 2**20 >= row["TCHD"] > 0
        assert row["TCHD"] == given[name]["data_bytes"] / 2**20
        assert row["MCTLSZ"] == row["SWCUR"] == 0
    heading, _, columns, *lines = ask("esxtop", "-m").splitlines()
    assert heading.endswith("30 worlds, 9 VMs, 30 vCPUs")
    assert columns.split() == ["GID", "NAME", "NWLD", *list(found["web"])[4:]]
    assert {len(line) for line in lines if line} == {len(columns)}


def test_batch_mode_is_read_again(ask: Ask, tmp_path: Path) -> None:
    found = rows(ask)
    (tmp_path / "batch.csv").write_text(ask("esxtop", "-b", "-d", "1"))
    facts = read_paths([tmp_path / "batch.csv"])
    assert {one.partition for one in facts.series} == set(VIRTUAL)
    for one in facts.series:
        cores = one.table["cores"].to_list()
        assert len(cores) == 4
        assert sum(cores) / 4 == pytest.approx(found[one.partition]["%RUN"] / 100, abs=1e-3)
    for (host, name), partition in facts.partitions.items():
        assert host == NAME
        assert partition.virtual is not None
        assert partition.virtual.value == VIRTUAL[name]
    told = facts.systems[NAME]
    assert told.cores is not None
    assert told.threads_per_core is not None
    assert (told.cores.value, told.threads_per_core.value) == (8, 2)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("esxtop -d 0", "not an interval in seconds"),
        ("esxtop -n x", "not a count of intervals"),
        ("esxtop -z", "illegal option"),
        ("esxtop -b -m", "-b has all panels"),
        ("esxtop -p nobody", "nobody"),
        ("mpstat", "see `homenode esxtop`"),
        ("virt-top", "ESXi dispatches the processors"),
        ("xentop", "ESXi"),
        ("numastat", "see `homenode esxtop`"),
        ("domstats", "see `homenode esxtop`"),
    ],
)
def test_what_cannot_be_shown_is_refused(
    words: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(words.split()) == 2
    assert told in capsys.readouterr().err


POOLED = """
[machine]
model = "intel-xeon-6240-2s"
policy = "esxi"
active_cores = 4
sockets = 1
threads = 1

[[resource_pool]]
name = "prod"

[[resource_pool]]
name = "web"
parent = "prod"

[[resource_pool]]
name = "empty"

[[partition]]
name = "front"
processors = { mode = "shared", virtual = 3, resource_pool = "web" }
memory = "4 GiB"
workload = { kind = "loops", count = 3, endless = true, profile = "compute" }

[[partition]]
name = "back"
processors = { mode = "shared", virtual = 2, resource_pool = "prod" }
memory = "8 GiB"
workload = { kind = "loops", count = 2, endless = true, profile = "compute" }

[[partition]]
name = "beside"
processors = { mode = "shared", virtual = 1 }
memory = "4 GiB"
workload = { kind = "loops", count = 1, endless = true, profile = "compute" }

[run]
duration = "2 s"
replications = 1
"""


def test_resource_pools_have_rows_that_are_sums_of_those_in_them(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pooled.toml").write_text(POOLED)
    assert call(["run", "pooled.toml"]) == 0
    found = rows(ask)
    assert list(found) == ["prod", "web", "empty", "front", "back", "beside"]
    assert len({row["GID"] for row in found.values()}) == len(found)
    for name in ("NWLD", "%USED", "%RUN", "%RDY", "%WAIT", "%CSTP"):
        front, back = found["front"][name], found["back"][name]
        assert found["prod"][name] == pytest.approx(front + back)
        assert found["web"][name] == pytest.approx(front)
        assert found["empty"][name] == 0
    assert found["prod"]["%RUN"] > 250
    memory = rows(ask, "-m")
    assert memory["prod"]["GRANT"] == memory["front"]["GRANT"] + memory["back"]["GRANT"]
    text = ask("esxtop")
    assert "6 worlds, 3 VMs, 6 vCPUs" in text
    assert "prod" in text
    assert "prod" not in ask("esxtop", "-p", "front")
    # Read again, pools are no machines.
    Path("batch.csv").write_text(ask("esxtop", "-b", "-d", "1"))
    facts = read_paths([Path("batch.csv")])
    assert {one.partition for one in facts.series} == {"front", "back", "beside"}


NODES = """
[machine]
model = "intel-xeon-6240-2s"
policy = "esxi"
threads = 1

[[resource_pool]]
name = "some"

[[partition]]
name = "goes"
home = "chip0"
processors = { mode = "shared", virtual = 6, resource_pool = "some" }
memory = "1 GiB"
workload = { kind = "loops", count = 6, endless = true, profile = "compute" }

[[partition]]
name = "stays"
home = "chip0"
processors = { mode = "shared", virtual = 18 }
memory = "2 GiB"
workload = { kind = "loops", count = 18, endless = true, profile = "compute" }

[run]
warmup = "0 s"
duration = "8 s"
replications = 1
"""


def test_home_nodes_stand_in_the_memory_panel_where_there_are_several(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "NHN" not in ask("esxtop", "-m") + ask("esxtop", "-b")  # One socket is used.
    monkeypatch.chdir(tmp_path)
    Path("nodes.toml").write_text(NODES)
    assert call(["run", "nodes.toml"]) == 0
    told = json.loads(ask("esxtop", "-m", "-d", "1", "--json"))
    before, after = ({row["NAME"]: row for row in part} for part in (told[:3], told[-3:]))
    # 24 for 18 cores: one goes after two seconds, and its memory after it.
    assert {name: before[name]["NHN"] for name in ("stays", "goes")} == {"stays": "0", "goes": "0"}
    assert (before["goes"]["NMIG"], before["goes"]["N%L"]) == (0, 100)
    assert (after["stays"]["NHN"], after["stays"]["NMIG"], after["stays"]["N%L"]) == ("0", 0, 100)
    assert (after["goes"]["NHN"], after["goes"]["NMIG"]) == ("1", 1)
    assert 50 < after["goes"]["N%L"] < 100
    for row in (before["stays"], before["goes"], after["stays"], after["goes"]):
        local = row[f"GST_ND{row['NHN']}"]
        assert row["NLMEM"] == local
        assert row["NLMEM"] + row["NRMEM"] == pytest.approx(row["MEMSZ"])
        assert row["N%L"] == pytest.approx(100 * local / row["MEMSZ"])
    assert "NHN" not in before["some"]
    changes = ask("sql", "SELECT sum(home_changes)::INT AS n FROM home_intervals", "--json")
    assert json.loads(changes) == [{"n": 1}]
    # A pool is at home nowhere; batch mode has the same figures, and is read again.
    columns, pool, *machines = ask("esxtop", "-m").splitlines()[2:5]
    assert pool.split()[3:][columns.split()[3:].index("NHN") :] == ["-"] * 7
    assert len(machines[0]) == len(columns)
    heads, *values = csv.reader(ask("esxtop", "-b", "-p", "goes").splitlines())
    batch = dict(zip(heads, values[-1], strict=True))
    group = rf"\\nodes\Group Memory({after['goes']['GID']}:goes)"
    assert (batch[rf"{group}\NHN"], batch[rf"{group}\NMIG"]) == ("1", "1")
    assert float(batch[rf"{group}\NLMEM MBytes"]) == pytest.approx(after["goes"]["NLMEM"], abs=0.01)
    Path("batch.csv").write_text(ask("esxtop", "-b"))
    assert {one.partition for one in read_paths([Path("batch.csv")]).series} == {"goes", "stays"}
