"""How long threads ran at a time, from recorded switches."""

from __future__ import annotations

import pytest

from facts_made import beside, one_lpar, since_start
from homenode.records.importing.assemble import Assembled, AssembleOptions, assemble
from homenode.records.importing.assemble.beside import Told
from homenode.records.importing.assemble.bursts import Guest, switched
from homenode.records.importing.facts import Facts
from homenode.simulate.runner import run_scenario

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

PLAIN = AssembleOptions(convert=False)
AIX = Guest("aix", 28, has_daemons=False)
CORES = (0.5, 1.5)
SECONDS = (300.0, 100.0)
MEAN = (0.5 * 300 + 1.5 * 100) / 400
SWITCHES = (800.0, 1600.0)
PER_S = (800.0 * 300 + 1600.0 * 100) / 400
COUNTS = {"cs": 4000.0, "ics": 1000.0, "ilcs": 300.0, "vlcs": 2900.0}


def told(since: dict[str, float] | None = None, **windows: tuple[float | None, ...]) -> Told:
    return Told(windows, dict.fromkeys(windows, "PROC of x.nmon"), since or {})


def of(facts: Facts) -> Assembled:
    return assemble(facts, PLAIN)


def test_a_voluntary_switch_ends_a_burst() -> None:
    """All of them, where nothing tells which are against the thread's will."""
    found = switched(told(context_switches_per_s=SWITCHES), CORES, SECONDS, AIX)
    assert found is not None
    assert found.per_s == pytest.approx(PER_S)
    assert found.core_us == pytest.approx(1e6 * MEAN / PER_S)
    assert (found.least_per_s, found.most_per_s) == pytest.approx((PER_S / 2, PER_S))
    assert found.windows_us == pytest.approx((1e6 * 0.5 / 800, 1e6 * 1.5 / 1600))


def test_switches_against_the_will_of_the_thread_end_none() -> None:
    both = told(context_switches_per_s=SWITCHES, involuntary_switches_per_s=(80.0, 160.0))
    found = switched(both, CORES, SECONDS, AIX)
    assert found is not None
    assert found.per_s == pytest.approx(0.9 * PER_S)
    assert (found.least_per_s, found.most_per_s) == pytest.approx((0.45 * PER_S, PER_S))
    since = {"context_switches_per_s": 400.0, "involuntary_switches_per_s": 100.0}
    found = switched(told(since, context_switches_per_s=SWITCHES), CORES, SECONDS, AIX)
    assert found is not None
    assert found.per_s == pytest.approx(0.75 * PER_S)
    assert "75 % of them voluntary since the start of the system" in found.told_by


def test_linux_counts_the_idle_task_too() -> None:
    linux = Guest("linux", 4, has_daemons=False)
    found = switched(told(context_switches_per_s=SWITCHES), CORES, SECONDS, linux)
    assert found is not None
    assert found.per_s == pytest.approx(PER_S / (2 - MEAN / 4))
    assert (found.least_per_s, found.most_per_s) == pytest.approx((PER_S / 2, PER_S))


def test_switches_of_virtual_processors_are_the_least() -> None:
    found = switched(told(vcsw_per_s=SWITCHES), CORES, SECONDS, AIX)
    assert found is not None
    assert (found.per_s, found.most_per_s) == (pytest.approx(PER_S), None)
    assert "to more" in found.sentence
    threads = told(vcsw_per_s=SWITCHES, context_switches_per_s=(100.0, 100.0))
    found = switched(threads, CORES, SECONDS, AIX)
    assert found is not None
    assert found.per_s == 100.0


def test_daemons_of_the_guest_are_not_counted_twice() -> None:
    busy = Guest("aix", 28, has_daemons=True)
    found = switched(told(context_switches_per_s=SWITCHES), CORES, SECONDS, busy)
    assert found is not None
    assert found.per_s == pytest.approx(PER_S - 20)
    found = switched(told(context_switches_per_s=(24.0, 24.0)), CORES, SECONDS, busy)
    assert found is not None
    assert found.per_s == 12.0


def test_only_windows_that_tell_both_count() -> None:
    found = switched(told(context_switches_per_s=(None, 1600.0)), CORES, SECONDS, AIX)
    assert found is not None
    assert (found.per_s, found.cores) == (1600.0, 1.5)
    assert switched(told(context_switches_per_s=(0.0, 0.0)), CORES, SECONDS, AIX) is None
    assert switched(told(context_switches_per_s=SWITCHES), (0.0, 0.0), SECONDS, AIX) is None
    assert switched(told(), CORES, SECONDS, AIX) is None


def recorded(cores: list[float], switches: list[float | None]) -> Facts:
    facts = one_lpar(cores)
    facts.beside.append(beside("lpar", {"context_switches_per_s": switches}))
    return facts


def test_the_scenario_has_recorded_bursts_and_says_so() -> None:
    facts = recorded([0.5, 1.5], [1020.0, 1020.0])
    found = of(facts)
    profile = found.scenario.spec()["partitions"][0]["profile"]
    # A thousandth of a second of a core, at the 1e9 instructions/s of an import that asks nothing.
    assert profile["instructions_per_unit"] == 1_000_000
    assert "# recorded cores as work; the profile is assumed, but for its bursts:" in found.text
    assert "1,020 switches of threads/s (PROC of lpar.nmon)" in found.text
    (one,) = found.summary()["partitions"]  # type: ignore[misc]
    bursts = one["bursts"]
    assert (bursts["per_s"], bursts["core_us"]) == pytest.approx((1000.0, 1000.0))
    assert (bursts["per_s_least"], bursts["per_s_most"]) == pytest.approx((490.0, 1000.0))


def test_without_switches_bursts_are_the_profiles_and_said_to_be_assumed() -> None:
    found = of(one_lpar([0.5, 1.5]))
    assert found.scenario.spec()["partitions"][0]["profile"]["instructions_per_unit"] == 1e7
    assert "# recorded cores as work; the profile and its bursts are assumed" in found.text
    (one,) = found.summary()["partitions"]  # type: ignore[misc]
    assert one["bursts"] is None


def test_what_is_since_the_start_tells_the_voluntary_share() -> None:
    facts = recorded([0.5, 0.5], [1000.0, 1000.0])
    facts.affinity.append(since_start("lpar", COUNTS, 100.0))
    found = of(facts)
    assert found.bursts["lpar"].switched.per_s == pytest.approx(750 - 20)


def test_long_bursts_are_cut_so_that_a_window_has_many() -> None:
    found = of(recorded([2.0, 2.0], [0.5, 0.5]))
    assert found.bursts["lpar"].instructions == pytest.approx(0.1 * 1e9)


def test_what_is_played_switches_as_often_as_was_recorded(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Voluntary switches of the run are those recorded, with the cores that were recorded."""
    facts = recorded([0.3, 0.6, 1.2, 0.9], [900.0, 1800.0, 3600.0, 2700.0])
    facts.affinity.append(since_start("lpar", COUNTS, 100.0))
    found = assemble(facts)
    run = run_scenario(found.scenario, out=tmp_path_factory.mktemp("runs"))
    # 3 000 switches a second of a core, of which a quarter is against the thread's will.
    assert run.metric("lpar", "context_switches_per_s").mean == pytest.approx(0.75 * 2250, rel=0.03)
    assert run.metric("lpar", "vlcs_per_s").mean == pytest.approx(0.75 * 2250, rel=0.12)
    assert found.residuals["lpar"].beyond == 0


def test_many_switches_make_fewer_windows() -> None:
    """What a run costs is what happens in it."""
    cores, often = [1.0] * 600, [40_000.0] * 600
    assert of(recorded(cores, [100.0] * 600)).windows == 600
    assert of(recorded(cores, often)).windows < 150
