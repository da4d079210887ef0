"""The mainframe examples run, and what comes out adds up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from homenode import Scenario, _engine
from homenode.tools import fcx
from homenode.tools.guestview import view_of

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SECOND = 10**9


LOOPS = """
[machine]
model = "ibm-z14"
active_cores = 20

[[partition]]
name = "zvm"
mode = "linux-only"
processors = { mode = "dedicated", cores = 2, type = "ifl" }
memory = "64 GiB"
guest = { os = "zvm", polarization = "vertical", smt = "smt-2", unparking = "large" }
workload = { kind = "idle", profile = "compute" }

[[partition.virtual_machine]]
name = "a"
count = 2
cpus = 2
memory = "1 GiB"
role = "loop"

[run]
warmup = "1 s"
duration = "2 s"
interval = "1 s"
replications = 1
"""


def simulate(scenario: Scenario) -> dict[str, dict[str, Any]]:
    """Totals of the recorded time of one replication, by partition."""
    result = json.loads(_engine.simulate(scenario.spec_json(), 0, lambda _: True))
    return {partition["name"]: partition["totals"] for partition in result["partitions"]}


def shortened(name: str, warmup: str = "200 ms", duration: str = "1 s") -> Scenario:
    return Scenario.load(EXAMPLES / f"{name}.toml").with_(
        {"run.warmup": warmup, "run.duration": duration}
    )


@pytest.mark.parametrize("name", ["zvm-tiled", "zvm-monolith", "zvm-paging"])
def test_time_of_zvm_is_guest_chargeable_and_system(name: str) -> None:
    totals = simulate(shortened(name))["zvm"]
    assert totals["tx_done"] > 0
    parts = totals["guest_ns"] + totals["chargeable_ns"] + totals["system_ns"]
    assert parts == totals["busy_ns"]
    assert min(totals["guest_ns"], totals["chargeable_ns"]) > totals["system_ns"] > 0


def test_a_layer_3_switch_costs_more_than_layer_2_tiles() -> None:
    tiled, monolith = (simulate(shortened(name))["zvm"] for name in ("zvm-tiled", "zvm-monolith"))
    assert tiled["book_list"] == 0
    assert monolith["book_list"] > 0
    cost = [t["busy_ns"] / t["tx_done"] for t in (tiled, monolith)]
    assert cost[0] < cost[1]


def test_what_does_not_fit_central_memory_is_paged() -> None:
    totals = simulate(shortened("zvm-paging"))["zvm"]
    assert totals["pages_in"] > 0
    assert totals["page_reads"] > 0
    rich = shortened("zvm-paging").with_({"partition.zvm.memory": "512 GiB"})
    assert simulate(rich)["zvm"]["pages_in"] == 0


def test_caps_hold_and_weights_give() -> None:
    scenario = shortened("prsm-three-partitions", "500 ms", "2 s")
    totals = simulate(scenario)
    cores = {name: t["busy_ns"] / (2 * SECOND) for name, t in totals.items()}
    entitled = {partition.name: partition.entitlement for partition in scenario.partitions}
    assert entitled == pytest.approx({"shop": 8.0, "zvm": 4.8, "trial": 3.2, "own": 4.0})
    assert cores["trial"] <= 4.0 + 0.01
    assert cores["trial"] >= entitled["trial"]  # it could use more, so it has its share at least
    assert cores["zvm"] + cores["trial"] <= 8.0 + 0.01
    assert cores["own"] <= 4.0


def test_more_weight_is_more_of_the_shared_cores() -> None:
    text = (Path(__file__).with_name("prsm.toml")).read_text(encoding="utf-8")
    start = text.index('[[partition]]\nname = "shop"')
    end = text.index('[[partition]]\nname = "own"')
    rows = [
        f'[[partition]]\nname = "p{weight}"\nmemory = "16 GiB"\nsmt = 1\n'
        'guest = { os = "linux" }\n'
        f'processors = {{ mode = "shared", virtual = 16, weight = {weight} }}\n'
        'workload = { kind = "loops", count = 16, endless = true, profile = "compute" }\n\n'
        for weight in (100, 300)
    ]
    text = text[:start] + "".join(rows) + text[end:]
    scenario = Scenario.from_toml(text).with_({"run.warmup": "1 s", "run.duration": "4 s"})
    totals = simulate(scenario)
    cores = {name: t["busy_ns"] / (4 * SECOND) for name, t in totals.items()}
    assert cores["p100"] == pytest.approx(4.0, rel=0.05)
    assert cores["p300"] == pytest.approx(12.0, rel=0.05)


def test_who_never_waits_runs_all_the_time_whoever_shares_its_core(tmp_path: Path) -> None:
    file = tmp_path / "loops.toml"
    file.write_text(LOOPS)
    run = Scenario.load(file).run(out=tmp_path / "runs")
    told = {row["Userid"]: row for row in fcx.report("USTAT").rows(view_of(run), "zvm", False)}
    assert {name: row["%RUN"] for name, row in told.items()} == {"a1": 100.0, "a2": 100.0}
    # Their cores are two, which four processors share.
    rows = run.intervals("virtual_machine")
    span = 2 * 2 * SECOND
    assert rows["guest_ns"].sum() == pytest.approx(span, rel=1e-3)
    assert rows["thread_ns"].sum() == pytest.approx(2 * span, rel=1e-3)
