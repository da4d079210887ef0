"""Layouts of Linux and Xen hosts, solved: shares that are known exactly, and runs beside them."""

from __future__ import annotations

import importlib
import json
import random
from pathlib import Path

import pytest

from homenode import _engine
from homenode.errors import HomenodeError
from homenode.report.solved import solved_lines
from homenode.simulate.scenario import Scenario

HEAD = """
[machine]
model = "intel-xeon-6240-2s"
policy = "{policy}"
threads = {threads}

[run]
warmup = "500 ms"
duration = "2 s"
replications = 1
"""
GUEST = """
[[partition]]
name = "{name}"
processors = {{ mode = "shared", virtual = {virtual}{more} }}
memory = "4 GiB"
workload = {workload}
{kvm}
"""
LOOPS = '{{ kind = "loops", count = {}, endless = true, profile = "compute" }}'


def guest(
    name: str, workload: str, virtual: int = 36, more: str = "", *, policy: str = "linux"
) -> str:
    kvm = "kvm = {}" if policy == "linux" else ""
    return GUEST.format(name=name, virtual=virtual, more=more, workload=workload, kvm=kvm)


def layout(*guests: str, policy: str = "linux", threads: int = 1) -> Scenario:
    text = HEAD.format(policy=policy, threads=threads) + "".join(guests)
    return Scenario.from_toml(text, "host.toml")


def cores(scenario: Scenario) -> dict[str, float]:
    solved = scenario.solve()
    return {name: solved.metric(name, "physc").mean or 0.0 for name in solved.partitions}


@pytest.mark.parametrize("count", [1, 4, 18])
def test_pinned_vcpus_that_always_compute_use_a_processor_each(count: int) -> None:
    pins = ", ".join(f'"{cpu}"' for cpu in range(count))
    found = cores(layout(guest("a", LOOPS.format(count), count, f", pins = [{pins}]")))
    assert found["a"] == pytest.approx(count, rel=1e-3)


@pytest.mark.parametrize("policy", ["linux", "credit2"])
def test_equal_guests_share_a_full_host_equally(policy: str) -> None:
    guests = (guest(name, LOOPS.format(36), policy=policy) for name in "abc")
    found = cores(layout(*guests, policy=policy))
    assert list(found.values()) == pytest.approx([12.0, 12.0, 12.0], rel=1e-3)


@pytest.mark.parametrize("policy", ["linux", "credit2"])
def test_weights_decide_where_all_want_all(policy: str) -> None:
    weights = {"a": 100, "b": 200, "c": 400}
    guests = (
        guest(name, LOOPS.format(36), more=f", weight = {weight}", policy=policy)
        for name, weight in weights.items()
    )
    found = cores(layout(*guests, policy=policy))
    assert sum(found.values()) == pytest.approx(36.0, rel=1e-3)
    assert found["b"] == pytest.approx(2 * found["a"], rel=1e-2)
    assert found["c"] == pytest.approx(4 * found["a"], rel=1e-2)


def test_a_quota_binds_and_leaves_what_its_work_waits_unknown() -> None:
    limited = guest("a", LOOPS.format(8), 8, ', quota = "250 ms", period = "100 ms"')
    solved = layout(limited, guest("b", LOOPS.format(8), 8)).solve()
    assert solved.metric("a", "physc").mean == pytest.approx(2.5, rel=1e-2)
    assert solved.metric("b", "physc").mean == pytest.approx(8.0, rel=1e-3)
    assert solved.limited == ("a",)


SHORT = 'profile = {{ base = "{}", instructions = 1e5 }}'


def polling(work: str, more: str, *beside: str) -> tuple[float, float]:
    """Cores of a guest that polls, solved and simulated."""
    told = layout(guest("a", work, 4, more), *beside)
    answer = json.loads(_engine.simulate(json.dumps(told.spec()), 0, lambda _: True))
    simulated = answer["partitions"][0]["totals"]["busy_ns"] / 2e9
    return told.solve().metric("a", "physc").mean or 0.0, simulated


def test_polling_is_part_of_a_quota() -> None:
    """Without it the guest polls for a good part of the time."""
    comes = 'kind = "users", count = 2800, bursts = 20, wait = "5 ms", think = "200 ms"'
    work = f"{{ {comes}, {SHORT.format('java')} }}"
    free, _ = polling(work, "")
    solved, simulated = polling(work, ', quota = "240 ms", period = "100 ms"')
    assert free > 3.0
    assert solved == pytest.approx(2.4, rel=1e-2)
    assert simulated == pytest.approx(2.4, rel=1e-2)


def test_nobody_polls_on_processors_that_others_fill() -> None:
    """Four of 36, of which loops kept to the same ones leave nothing."""
    profile, kept = SHORT.format("oltp"), ', cpuset = "0-3"'
    work = f'{{ kind = "transactions", rate = "70/s", bursts = 100, wait = "1 ms", {profile} }}'
    alone, _ = polling(work, kept)
    solved, simulated = polling(work, kept, guest("b", LOOPS.format(8), 8, kept))
    assert solved == pytest.approx(simulated, rel=0.25)
    assert solved < 0.6 * alone


def test_a_guest_on_both_sockets_takes_no_side() -> None:
    """Two alike, on a socket each, and a third whose memory is on both by halves."""
    profile = 'profile = { base = "oltp", instructions = 4e6 }'
    work = f'{{ kind = "transactions", rate = "4000/s", {profile} }}'
    each = [guest(name, work, 24) for name in ("a", "b")]
    found = cores(layout(*each, guest("c", LOOPS.format(16), 16), threads=2))
    assert found["a"] == pytest.approx(found["b"], rel=0.02)


def test_a_set_of_processors_is_cut_with_that_of_the_group_above() -> None:
    """Of four that a tenant has, all that each of two groups may use, by weight."""
    groups = '[[cgroup]]\nname = "tenant"\ncpuset = "0-3"\n'
    wide = guest("a", LOOPS.format(4), 4, ', cgroup = "tenant", cpuset = "0-11", weight = 300')
    beside = guest("b", LOOPS.format(4), 4, ', cgroup = "tenant", weight = 100')
    found = cores(layout(groups + wide, beside))
    assert found == pytest.approx({"a": 3.0, "b": 1.0}, rel=1e-2)


def test_a_cap_of_xen_binds() -> None:
    limited = guest("a", LOOPS.format(8), 8, ", cap = 3.0", policy="credit2")
    assert cores(layout(limited, policy="credit2"))["a"] == pytest.approx(3.0, rel=1e-2)


@pytest.mark.parametrize(
    ("policy", "limit"),
    [("credit2", ", cap = {}"), ("linux", ', quota = "{}00 ms", period = "100 ms"')],
)
def test_whom_a_limit_stops_finds_its_caches_warm_and_no_more_on_its_cores(
    policy: str, limit: str
) -> None:
    """What an instruction takes of one alone that has a core for each virtual processor."""
    small = HEAD.format(policy=policy, threads=2).replace(
        "threads", "sockets = 1\ncores_per_socket = 4\nthreads"
    )
    users = '{ kind = "users", count = 40, think = "50 ms", profile = "oltp" }'
    for most in (1, 2):
        one = guest("a", users, 4, limit.format(most), policy=policy)
        text = json.dumps(Scenario.from_toml(small + one).spec())
        (solved,) = json.loads(_engine.solve(text))["partitions"]
        (simulated,) = json.loads(_engine.simulate(text, 0, lambda _: True))["partitions"]
        totals = simulated["totals"]
        each = totals["busy_ns"] / totals["instructions"]
        assert solved["cores"] == pytest.approx(most, rel=0.01)
        assert solved["cores"] / solved["instructions"] * 1e9 == pytest.approx(each, rel=0.03)


def test_a_small_run_queue_is_short_of_processors_while_a_large_one_is_not() -> None:
    """Four queues of 12, 6, 12 and 6 processors have 7 of 28 virtual processors each."""
    loops = '{ kind = "loops", count = 28, endless = true, profile = "compute" }'
    scenario = layout(guest("a", loops, 28, policy="credit2"), policy="credit2")
    assert cores(scenario)["a"] == pytest.approx(26.0, rel=1e-3)
    text = json.dumps(scenario.spec())
    (one,) = json.loads(_engine.simulate(text, 0, lambda _: True))["partitions"]
    assert one["totals"]["busy_ns"] / 2e9 == pytest.approx(26.0, rel=1e-2)


@pytest.mark.parametrize("policy", ["linux", "credit2"])
def test_who_shares_a_core_is_slower(policy: str) -> None:
    """Two on the threads of one core, and on two cores."""
    done = []
    for pins in ('"0", "1"', '"0", "2"'):
        pinned = guest("a", LOOPS.format(2), 2, f", pins = [{pins}]", policy=policy)
        (one,) = layout(pinned, policy=policy, threads=2).solve().answer["partitions"]
        assert one["cores"] == pytest.approx(2.0, rel=1e-3)
        done.append(one["instructions"])
    assert done[0] < 0.9 * done[1]


@pytest.mark.parametrize(
    ("policy", "threads", "workload"),
    [
        ("linux", 1, '{ kind = "transactions", rate = "900/s", bursts = 4, profile = "oltp" }'),
        ("linux", 2, '{ kind = "warehouses", count = 30, profile = "java" }'),
        ("credit2", 1, '{ kind = "transactions", rate = "900/s", profile = "specjbb" }'),
    ],
)
def test_a_host_with_room_is_as_simulated(policy: str, threads: int, workload: str) -> None:
    """For the same instructions: how many come is chance."""
    guests = (guest(name, workload, 30, policy=policy) for name in "ab"[: 3 - threads])
    scenario = layout(*guests, policy=policy, threads=threads)
    spec = json.loads(json.dumps(scenario.spec()))
    if policy == "linux":
        spec["machine"]["hypervisor"]["linux"]["numa_balancing"] = None
    text = json.dumps(spec)
    solved = json.loads(_engine.solve(text))["partitions"]
    simulated = json.loads(_engine.simulate(text, 0, lambda _: True))["partitions"]
    for one, by in zip(solved, simulated, strict=True):
        totals = by["totals"]
        each = totals["busy_ns"] / totals["instructions"]
        assert one["cores"] / one["instructions"] * 1e9 == pytest.approx(each, rel=0.03)


def test_it_is_said_where_a_run_counts_before_threads_are_at_their_memory(
    tmp_path: Path,
) -> None:
    """Some seconds later cores are nearer to what is solved."""
    rate = '{ kind = "transactions", rate = "250/s", profile = "oltp" }'
    text = HEAD.format(policy="linux", threads=2) + guest("one", rate, 8) + guest("two", rate, 8)
    early = Scenario.from_toml(text).with_({"run.warmup": "0 s", "run.duration": "1 s"})
    late = early.with_({"run.warmup": "8 s", "run.duration": "4 s"})
    said = [any("drawn" in line for line in solved_lines([one.solve()])) for one in (early, late)]
    assert said == [True, False]
    solved = sum(early.solve().means(name, ["physc"])[0] or 0.0 for name in ("one", "two"))
    cores = [
        sum(one.run(out=tmp_path).metrics[name]["physc"].mean or 0.0 for name in ("one", "two"))
        for one in (early, late)
    ]
    assert cores[0] > 1.1 * solved
    assert abs(cores[1] / solved - 1) < 0.6 * (cores[0] / solved - 1)


@pytest.mark.parametrize("policy", ["linux", "credit2"])
def test_pairs_that_wake_each_other_are_simulated_only(policy: str) -> None:
    """Processes of a host as well as threads of guests, whose messages wake who has halted."""
    pairs = '{ kind = "pairs", count = 2, exchanges = 3, profile = "oltp" }'
    one = guest("a", pairs, 4, policy=policy)
    said = r"partition a: pairs that wake each other across processors.*is simulated only"
    with pytest.raises(HomenodeError, match=said):
        layout(one, policy=policy).solve()
    if policy == "linux":
        processes = one.replace("kvm = {}", 'guest = { os = "linux", daemons = { rate = "0/s" } }')
        with pytest.raises(HomenodeError, match=said):
            layout(processes).solve()


def test_lines_of_a_ticket_lock_last_where_its_next_holder_is_off() -> None:
    """Of ten virtual processors on eight: a hundredth of each one's time is too much, a two
    thousandth is not, nor a tenth where each has a processor.
    """
    load = '{{ kind = "loops", count = 10, endless = true, profile = {{ {} }} }}'
    held = 'base = "database-mix", lock_kind = "ticket", lock_share = {}, instructions = 1e6'
    on = ", pins = [{}]".format(", ".join(['"0-7"'] * 10))
    with pytest.raises(HomenodeError, match=r"partition a: a lock that is spun for, often held"):
        layout(guest("a", load.format(held.format(0.01)), 10, on)).solve()
    rare = layout(guest("a", load.format(held.format(0.0005)), 10, on))
    assert cores(rare)["a"] == pytest.approx(8.0, rel=0.02)
    alone = layout(guest("a", load.format(held.format(0.1)), 10))
    assert cores(alone)["a"] == pytest.approx(10.0, rel=0.02)


SEVERAL = """[
    {{ name = "web", kind = "transactions", rate = "{rate}/s", profile = "oltp" }},
    {{ name = "batch", kind = "loops", count = 2, endless = true, profile = "compute" }},
]"""


def test_of_several_workloads_of_a_guest_each_has_its_figures() -> None:
    work = SEVERAL.format(rate=300).replace("\n", "")
    scenario = layout(guest("a", work, 8))
    solved = scenario.solve()
    (one,) = solved.answer["partitions"]
    web, batch = one["workloads"]
    assert web["throughput"] == pytest.approx(300.0, rel=1e-3)
    assert batch["cores"] == pytest.approx(2.0, rel=1e-2)
    assert one["cores"] == pytest.approx(web["cores"] + batch["cores"], rel=0.05)


def test_interrupts_and_io_threads_take_what_they_say() -> None:
    def at_one_clock(guest: str) -> Scenario:
        """Work in time is told at the clock of a busy machine, and takes less at a higher one."""
        clock = 'threads = 1\nclock = { value = "3.3 GHz", why = "turbo is off" }'
        head = HEAD.format(policy="linux", threads=1).replace("threads = 1", clock)
        return Scenario.from_toml(head + guest, "host.toml")

    work = '{ kind = "transactions", rate = "500/s", profile = "oltp" }'
    plain = at_one_clock(guest("a", work, 8)).solve()
    told = guest("a", work, 8).replace(
        "kvm = {}",
        'kvm = { io_threads = 1, io_answer = "50 us" }\ninterrupts = { rate = "20000/s" }',
    )
    solved = at_one_clock(told).solve()
    # An answer each of 50 us, and a switch; which the guest is not charged for.
    assert solved.metric("a.io", "physc").mean == pytest.approx(0.025, rel=0.05)
    assert solved.metric("a", "physc").mean == pytest.approx(
        plain.metric("a", "physc").mean, rel=0.03
    )
    before = plain.metric("a", "response_ms_mean").mean
    after = solved.metric("a", "response_ms_mean").mean
    assert before is not None
    assert after is not None
    assert 0.05 < after - before < 0.2


@pytest.mark.parametrize("policy", ["linux", "credit2"])
def test_several_workloads_that_ask_too_much_take_what_there_is(policy: str) -> None:
    work = SEVERAL.replace("loops", "transactions").replace("count = 2, endless = true", "{more}")
    work = work.format(rate=9_000, more='rate = "900/s"').replace("\n", "")
    solved = layout(guest("a", work, 1, policy=policy), policy=policy).solve()
    (one,) = solved.answer["partitions"]
    assert not one["steady"]
    assert 0.99 < one["cores"] <= 1.0 + 1e-6


def test_what_is_compared_of_one_without_a_steady_state_is_what_it_has(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How much came counts only where it is what decides."""
    monkeypatch.syspath_prepend(str(root / "benches" / "steady"))
    told = importlib.import_module("pairs").pair(("guests", 118, 0.2))
    found = {row.name: row for row in told.rows}
    assert not found["p4"].steady[0]
    assert found["p4"].instructions[0] != pytest.approx(found["p4"].instructions[1], rel=0.01)
    assert found["p4"].cores[0] == pytest.approx(found["p4"].processors, rel=1e-6)


def test_who_is_dealt_no_processor_of_a_full_host_is_solved_all_the_same(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One virtual processor that prefers what others have: no seat was left for it, and the solver
    ended in what is no number.
    """
    monkeypatch.syspath_prepend(str(root / "benches" / "steady"))
    told = importlib.import_module("pairs").pair(("soft", 110023, 0.1))
    assert all(row.cores[0] >= 0.0 for row in told.rows)
    assert {row.name: row for row in told.rows}["p1"].cores[0] <= 1.0


def test_random_scenarios_know_how_many_cores_a_machine_has(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fifth of the nearly full frames of PowerVM was refused: more cores were activated than are
    built in.
    """
    monkeypatch.syspath_prepend(str(root / "benches" / "steady"))
    machines = importlib.import_module("scenarios").POWER
    for model, (_, nodes, cores, threads) in machines.items():
        one = 'processors = { mode = "shared", entitlement = 1.0, virtual = 1 }\nmemory = "1 GiB"'
        text = f'[machine]\nmodel = "{model}"\n[[partition]]\nname = "a"\n{one}\n'
        spec = Scenario.from_toml(f'{text}workload = {{ kind = "idle" }}\n').spec()["machine"]
        assert (spec["nodes"], spec["threads_per_core"]) == (nodes, threads)
        assert spec["chips_per_node"] * spec["cores_per_chip"] == cores


def test_a_cpuset_of_one_leaves_the_siblings_of_others_busy() -> None:
    """Who may use both sockets and is on one is there for all of its time, whoever else is kept to
    the other: as many siblings are busy as without that.
    """

    def pace(more: str) -> float:
        comes = '{ kind = "transactions", rate = "100/s", bursts = 4, profile = "oltp" }'
        text = HEAD.format(policy="linux", threads=2)
        text += guest("a", LOOPS.format(24), 24) + guest("b", LOOPS.format(30), 30)
        text += guest("kept", comes, 4, more)
        spec = Scenario.from_toml(text).spec_json()
        one = json.loads(_engine.solve(spec))["partitions"][1]
        return float(one["instructions"] / one["cores"])

    assert pace(', cpuset = "0-35"') == pytest.approx(pace(""), rel=0.03)


CROWD = """
[machine]
model = "intel-xeon-6240-2s"
threads = 1

[run]
warmup = "1 s"
duration = "2 s"
replications = 1
"""


def two_with_a_lock(kvm: str, virtual: int) -> str:
    """Two of so many loops each on processors 0 to 7, with a queue lock that is held often."""
    one = """
[[partition]]
name = "{name}"
processors = {{ mode = "shared", virtual = {virtual}, cpuset = "0-7" }}
memory = "8 GiB"
{kvm}
[partition.workload]
kind = "loops"
count = {virtual}
endless = true
[partition.workload.profile]
base = "database-mix"
instructions = 1e6
lock_kind = "queue"
lock_share = "5 %"
why = "a lock that is taken often"
"""
    return CROWD + "".join(one.format(name=name, virtual=virtual, kvm=kvm) for name in "ab")


@pytest.mark.parametrize(
    "kvm", ["", "kvm = { lock_holder_preemption = false, paravirtual_locks = false }"]
)
def test_a_lock_whose_holder_keeps_its_processor_is_solved(kvm: str) -> None:
    """No process, and no guest of which that is told, loses it for others while it has a lock."""
    spec = Scenario.from_toml(two_with_a_lock(kvm, 12)).spec()
    for one in json.loads(_engine.solve(json.dumps(spec)))["partitions"]:
        assert one["steady"]
        assert one["cores"] == pytest.approx(4.0, abs=0.05)


def test_guests_of_linux_do_not_take_turns_as_a_whole() -> None:
    """Threads of both run at once, so who has the lock is kept from its processor at times."""
    spec = Scenario.from_toml(two_with_a_lock("kvm = { paravirtual_locks = false }", 8)).spec()
    with pytest.raises(_engine.SpecError, match="handed on in order"):
        _engine.solve(json.dumps(spec))


def test_two_that_become_idle_in_turn_do_not_take_the_same_task_for_ever(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A random host with cpusets whose run never got beyond an instant."""
    monkeypatch.syspath_prepend(str(root / "benches" / "steady"))
    pairs = importlib.import_module("pairs")
    data, shares = pairs.PLATFORMS["cpusets"](random.Random("cpusets 301017"))
    spec = pairs._scaled(data, shares)
    spec["warmup_ns"], spec["duration_ns"] = pairs.SECOND, 6 * pairs.SECOND
    pairs._settle(spec)
    spec["interval_ns"] = spec["duration_ns"] // 8
    simulated, _ = pairs._simulate(json.dumps(spec))
    assert len(simulated) == len(spec["partitions"])


def test_no_more_is_told_than_there_is_beside_daemons_and_long_bursts() -> None:
    """Waking a daemon takes a switch, however many caches a burst of the guest's work refills."""
    work = 'profile = { base = "oltp", instructions = 1e8 }'
    users = f'{{ kind = "users", count = 1, think = "200 ms", bursts = 4, wait = "5 ms", {work} }}'
    many = guest("many", LOOPS.format(16), 16)
    head = HEAD.format(policy="linux", threads="1\nactive_cores = 4")
    found = cores(Scenario.from_toml(head + many + guest("few", users, 2), "host.toml"))
    assert sum(found.values()) < 4.005
