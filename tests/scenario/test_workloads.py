"""Threads that wait for each other, and loops that rest, as a scenario says them."""

from __future__ import annotations

from pathlib import Path

import pytest

from homenode.errors import HomenodeError, ScenarioError
from homenode.model.scenario import Scenario
from homenode.simulate.runner import run_scenario
from homenode.simulate.solved.solve import solve_scenario

TEXT = """
[machine]
model = "ibm-power-770"

[[partition]]
name = "db"
processors = { mode = "dedicated", cores = 4 }
memory = "8 GiB"
guest = { os = "linux", tick_cost = "0 us", daemons = { rate = "0/s" } }
workload = WORKLOAD

[run]
warmup = "1 s"
duration = "4 s"
replications = 1
"""
BARRIERS = '{ kind = "barriers", threads = 4, burst_work = "constant", profile = "compute" }'
PAIRS = '{ kind = "pairs", count = 2, exchanges = 4, profile = "oltp" }'
RESTING = '{ kind = "loops", count = 4, endless = true, busy = "1 s", rest = "1 s", profile = P }'
SHORT = '{ base = "compute", why = "short", instructions = 1e6 }'


def load(workload: str) -> Scenario:
    return Scenario.from_toml(TEXT.replace("WORKLOAD", workload), "mine.toml")


def workload_of(text: str) -> object:
    return load(text).spec()["partitions"][0]["workload"]


def test_they_reach_the_engine() -> None:
    assert workload_of(BARRIERS) == {
        "kind": "barriers",
        "count": 1,
        "threads": 4,
        "burst_work": "constant",
    }
    assert workload_of(RESTING.replace("P }", f"{SHORT} }}")) == {
        "kind": "loops",
        "count": 4,
        "endless": True,
        "busy_ns": 1_000_000_000,
        "rest_ns": 1_000_000_000,
    }
    plain = '{ kind = "loops", count = 1, endless = true, profile = "compute" }'
    assert workload_of(plain) == {"kind": "loops", "count": 1, "endless": True}


@pytest.mark.parametrize("keys", ['busy = "5 s"', 'rest = "5 s"', 'busy = "5 s", rest = "5 s"'])
def test_phases_are_whole_and_of_loops_that_go_on(keys: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        load(f'{{ kind = "loops", count = 1, {keys}, profile = "compute" }}')
    assert "mine.toml:10:" in str(caught.value)
    assert "phases need both busy and rest" in str(caught.value)


def test_what_they_do_is_told(tmp_path: Path) -> None:
    """Pairs keep a core each busy, loops half of the time all; a program's steps are counted."""
    pairs = run_scenario(load(PAIRS), out=tmp_path)
    assert pairs.metric("db", "physc").mean == pytest.approx(2.0, rel=0.02)
    resting = run_scenario(load(RESTING.replace("P }", f"{SHORT} }}")), out=tmp_path)
    assert resting.metric("db", "physc").mean == pytest.approx(2.0, rel=0.02)
    short = BARRIERS.replace('"compute"', SHORT)
    together = run_scenario(load(short), out=tmp_path)
    apart = '{ kind = "warehouses", count = 4, profile = P }'.replace("P }", f"{SHORT} }}")
    alone = run_scenario(load(apart), out=tmp_path)
    rate = together.metric("db", "etr_per_s").mean / alone.metric("db", "etr_per_s").mean
    # Equal parts on cores of their own: nobody waits long, but each comes back to its caches.
    assert 0.8 < rate < 1.0


AT_A_RATE = PAIRS.replace("count = 2", 'count = 2, rate = "300/s"')


def test_pairs_at_a_rate_do_what_comes(tmp_path: Path) -> None:
    """In a guest: a thread of their own makes their transactions, whose turns cost something."""
    assert (
        workload_of(AT_A_RATE).items()
        >= {
            "generator": {"rate_per_s": 300.0, "instructions": 5_000.0},
            "think_ns": 0,
        }.items()
    )
    few = run_scenario(load(AT_A_RATE), out=tmp_path)
    assert few.metric("db", "etr_per_s").mean == pytest.approx(300.0, rel=0.1)

    dear = AT_A_RATE.replace("rate =", "generator_instructions = 5e6, rate =")
    more = run_scenario(load(dear), out=tmp_path)
    # Five million instructions more for each, of which the rest of a transaction has 22.
    rise = (
        more.metric("db", "instructions_per_tx").mean - few.metric("db", "instructions_per_tx").mean
    )
    assert rise == pytest.approx(5e6 - 5e3, rel=0.05)


def test_pairs_are_asked_one_way() -> None:
    with pytest.raises(
        ScenarioError, match=r"mine.toml:10.*clients think, or a rate says"
    ) as caught:
        load(AT_A_RATE.replace("rate =", 'think = "1 ms", rate ='))
    assert "leave out think or rate" in str(caught.value)
    with pytest.raises(ScenarioError, match="what makes transactions does so at a rate"):
        load(PAIRS.replace("exchanges", "generator_instructions = 500, exchanges"))


def test_pairs_at_a_rate_start_again_with_their_partition(tmp_path: Path) -> None:
    stopped = (
        TEXT.replace("WORKLOAD", AT_A_RATE)
        + """
[[change]]
at = "1 s"
partition = "db"
running = false

[[change]]
at = "2 s"
partition = "db"
running = true
"""
    )
    run = run_scenario(Scenario.from_toml(stopped, "mine.toml"), out=tmp_path)
    assert run.metric("db", "etr_per_s").mean == pytest.approx(225.0, rel=0.1)


HOST = """
[machine]
model = "intel-xeon-6240-2s"

[[partition]]
name = "near"
processors = { mode = "shared", virtual = 2, pins = ["2", "4"] }
memory = "8 GiB"
workload = { kind = "pairs", count = 1, exchanges = 10, message = "SIZE", profile = "oltp" }

[[partition]]
name = "far"
processors = { mode = "shared", virtual = 2, pins = ["6", "40"] }
memory = "8 GiB"
workload = { kind = "pairs", count = 1, exchanges = 10, message = "SIZE", profile = "oltp" }

[run]
warmup = "100 ms"
duration = "1 s"
replications = 1
"""


def carrying(size: str) -> Scenario:
    return Scenario.from_toml(HOST.replace("SIZE", size), "mine.toml")


def test_messages_bring_something_and_its_lines_are_fetched(tmp_path: Path) -> None:
    spec = carrying("64 KiB").spec()
    assert spec["partitions"][0]["workload"].get("message_bytes") == 64 << 10
    assert "streams" in spec["machine"]
    empty = carrying("0 B").spec()
    assert "message_bytes" not in empty["partitions"][0]["workload"]
    assert "streams" not in empty["machine"]
    plain = run_scenario(carrying("0 B"), out=tmp_path)
    large = run_scenario(carrying("1 MiB"), out=tmp_path)

    def longer(name: str) -> float:
        before, after = (run.metric(name, "response_ms_mean").mean for run in (plain, large))
        return after / before

    # 20 messages of 1 MiB are 40 copies of 65,536 instructions, on 10 million of the work itself.
    assert 1.25 < longer("near") < longer("far")


def test_a_message_has_a_size() -> None:
    with pytest.raises(ScenarioError, match=r"at most 1 GiB"):
        carrying("2 GiB")


def test_pairs_of_a_guest_that_bring_something_are_simulated_only() -> None:
    work = 'kind = "pairs", count = 1, exchanges = 2, message = "4 KiB", profile = "oltp"'
    told = Scenario.from_toml(
        '[machine]\nmodel = "ibm-power-770"\n[[partition]]\nname = "a"\nmemory = "4 GiB"\n'
        'processors = { mode = "shared", entitlement = 1, virtual = 2 }\n'
        f"workload = {{ {work} }}\n[run]\n"
    )
    with pytest.raises(HomenodeError, match="pairs whose messages bring something"):
        solve_scenario(told)
