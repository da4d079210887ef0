"""Control groups, weights, quotas and pins of a Linux host, and Xen's domains, in a scenario."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from homenode.errors import MachineError, ScenarioError
from homenode.model import catalog
from homenode.model.catalog.hosts import OPTIONAL, Credit2Host, completed, defaults
from homenode.model.scenario import Scenario
from homenode.model.scenario.file.host import read_cpus, weight_of
from homenode.model.scenario.host.entitle import Threads, entitlements, fill
from homenode.model.scenario.host.groups import PlacedCgroup
from homenode.model.shipped import shipped_folder
from homenode.simulate.solved.solve import solve_scenario

BASE = Path(__file__).with_name("hosts.toml").read_text(encoding="utf-8")
XEN = {
    "machine.policy": "credit2",
    "cgroup": None,
    "partition.batch.processors": {"mode": "shared", "virtual": 2, "weight": 512, "cap": 0.5},
    "partition.vm.processors": {"mode": "shared", "virtual": 4},
    "partition.vm.kvm": None,
    "partition.rest.processors": {"mode": "shared", "virtual": 80},
}


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    """The file beside this one."""
    return Scenario.from_toml(BASE)


def part(scenario: Scenario, name: str) -> dict[str, Any]:
    """A partition of the engine's input."""
    found = next(one for one in scenario.spec()["partitions"] if one["name"] == name)
    assert isinstance(found, dict)
    return found


def test_groups_stand_outer_ones_first_a_partition_s_own_among_them(scenario: Scenario) -> None:
    """Threads that only name a group are in it; with a weight of their own they are in one more."""
    groups = scenario.spec()["cgroups"]
    told = [(one["name"], one["parent"], one["weight"], one["quota_ns"]) for one in groups]
    assert told == [
        ("tenants", None, 300, None),
        ("inner", 0, 200, 50_000_000),
        ("vm1.scope", 0, 200, None),
        ("vm2.scope", 0, 200, None),
        ("rest.scope", None, 100, 2_000_000_000),
    ]
    assert groups[0]["cpuset"] == list(range(8))
    assert groups[1]["burst_ns"] == 10_000_000
    members = {
        one["name"]: one["processors"]["host"]["cgroup"] for one in scenario.spec()["partitions"]
    }
    assert members == {"batch": 1, "vm1": 2, "vm2": 3, "rest": 4}


def test_threads_have_what_the_file_says(scenario: Scenario) -> None:
    """One pin list for all, numbers of KVM in place of the host's."""
    batch, guest = part(scenario, "batch"), part(scenario, "vm2")
    host = batch["processors"]["host"]
    assert (host["pins"], host["nice"], host["slice_ns"]) == ([[0], [1]], 5, 3_000_000)
    assert host["kvm"] is None
    assert guest["processors"]["host"]["pins"] == [[2, 3, 4, 5]] * 4
    kvm = guest["processors"]["host"]["kvm"]
    assert (kvm["halt_poll_ns"], kvm["pause_loop"]) == (0, None)
    assert (kvm["halt_poll_grow_start_ns"], kvm["directed_yield"]) == (10_000, True)
    assert batch["workload"]["think"] == "constant"
    assert (
        "think"
        not in part(scenario.with_({"partition.batch.workload.think_distribution": None}), "batch")[
            "workload"
        ]
    )
    assert {one["smt"] for one in scenario.spec()["partitions"]} == {1}
    assert scenario.spec()["machine"]["hypervisor"]["siblings"] == 2


def test_a_guest_that_polls_by_itself_is_not_polled_for() -> None:
    """Its own limit, and the kernel's growth, take the place of the host's; 0 is never."""
    own = {"partition.vm.kvm": {"guest_poll": "100 us", "halt_poll": "300 us"}}
    told = part(Scenario.from_toml(BASE).with_(own), "vm1")["processors"]["host"]["kvm"]
    assert (told["halt_poll_ns"], told["halt_poll_grow_start_ns"]) == (100_000, 50_000)
    assert told["polls_in_guest"] is True
    never = {"partition.vm.kvm": {"guest_poll": "0 us"}}
    told = part(Scenario.from_toml(BASE).with_(never), "vm1")["processors"]["host"]["kvm"]
    assert (told["halt_poll_ns"], "polls_in_guest" in told) == (200_000, False)


def test_virtual_machines_pay_for_walks_and_exits_and_processes_do_not() -> None:
    """A guest's own numbers stand before its host's; under Xen all domains have the host's."""
    changed = {
        "partition.vm.kvm": {"page": "1 GiB", "posted_interrupts": False},
        "machine.hypervisor.kvm.timer_exits": {"value": 3, "why": "a test"},
    }
    spec = Scenario.from_toml(BASE).with_(changed)
    guest = part(spec, "vm1")["processors"]["host"]["virtualized"]
    assert (guest["page_bytes"], guest["posted_interrupts"]) == (1 << 30, False)
    assert (guest["exit_ns"], guest["timer_exits"]) == (1_100, 3)
    assert "virtualized" not in part(spec, "batch")["processors"]["host"]
    assert spec.spec()["machine"]["walks"]["entries"] == 1536
    xen = Scenario.from_toml(BASE).with_(XEN)
    for name in ("batch", "vm1", "rest"):
        of_domain = part(xen, name)["processors"]["host"]["virtualized"]
        assert of_domain["page_bytes"] == 2 << 20


def test_waiters_for_a_lock_halt_in_domains_and_who_spins_gives_way() -> None:
    """Whoever halts under Xen sleeps at once; what Linux does is switched off for all domains."""
    lock = "machine.hypervisor.domain.paravirtual_locks"
    known = Scenario.from_toml(BASE).with_(XEN)
    told = part(known, "vm1")["processors"]["host"]["kvm"]
    assert (told["halt_poll_ns"], told["directed_yield"]) == (0, True)
    assert told["paravirtual_locks"]["kick_yields"] is False
    unaware = known.with_({lock: {"value": False, "why": "nopvspin"}})
    assert part(unaware, "vm1")["processors"]["host"]["kvm"]["paravirtual_locks"] is None


def test_processes_have_no_guest_of_their_own(scenario: Scenario) -> None:
    """Neither ticks nor daemons, unless someone writes them; a KVM guest has Linux's."""
    bare, guest = part(scenario, "batch")["guest"], part(scenario, "vm1")["guest"]
    assert (bare["os"], bare["tick_cost_ns"], bare["daemon_rate_per_s"]) == ("linux", 0, 0.0)
    assert (guest["tick_cost_ns"], guest["daemon_rate_per_s"]) == (5_000, 20.0)
    ticking = scenario.with_({"partition.batch.guest": {"os": "linux", "tick_cost": "2 us"}})
    assert part(ticking, "batch")["guest"]["tick_cost_ns"] == 2_000


def test_threads_are_at_home_where_they_may_run(scenario: Scenario) -> None:
    """On the second socket if their processors are there: 36 to 71."""
    assert part(scenario, "batch")["home"] == [0]
    moved = scenario.with_(
        {"partition.batch.processors.pins": [[40], [41]], "cgroup.tenants.cpuset": None}
    )
    assert part(moved, "batch")["home"] == [1]


def test_entitlements_follow_weights_quotas_and_limits(scenario: Scenario) -> None:
    """The inner group is held to half a processor, guests by their pins, the rest by its quota."""
    told = {one.name: one.entitlement for one in scenario.partitions}
    assert told["batch"] == pytest.approx(0.5)
    assert told["vm1"] == pytest.approx(3.75)
    assert told["vm2"] == pytest.approx(3.75)
    assert told["rest"] == pytest.approx(20.0)


def test_xen_has_weights_and_caps_on_one_level(scenario: Scenario) -> None:
    """256 where nothing is said."""
    xen = scenario.with_(XEN)
    assert "cgroups" not in xen.spec()
    told = {
        one["name"]: (one["processors"]["weight"], one["processors"]["host"]["cap"])
        for one in xen.spec()["partitions"]
    }
    assert told == {
        "batch": (512, 0.5),
        "vm1": (256, None),
        "vm2": (256, None),
        "rest": (256, None),
    }
    rules = xen.spec()["machine"]["hypervisor"]["credit2"]
    assert rules["rate_limit_ns"] == 1_000_000
    assert "outgoing_counts" not in rules
    since = {"machine.hypervisor": {"outgoing_counts": {"value": True, "why": "Xen 4.21"}}}
    assert xen.with_(since).spec()["machine"]["hypervisor"]["credit2"]["outgoing_counts"] is True
    assert isinstance(xen.machine.hypervisor, Credit2Host)
    assert part(xen, "rest")["guest"]["tick_cost_ns"] == 5_000


def test_a_domain_gets_more_with_more_virtual_processors(scenario: Scenario) -> None:
    """Under credit2 each has the domain's weight: 4 of 512 beside 4 and 4 and 80 of 256."""
    xen = scenario.with_({**XEN, "partition.batch.processors": {"mode": "shared", "virtual": 4}})
    xen = xen.with_({"partition.batch.processors.weight": 512})
    xen = xen.with_({"machine.active_cores": 9, "machine.sockets": 1})
    told = {one.name: one.entitlement for one in xen.partitions}
    each = 18 / (4 * 2 + 4 + 4 + 80)
    assert told == pytest.approx(
        {"batch": 8 * each, "vm1": 4 * each, "vm2": 4 * each, "rest": 80 * each}
    )


def test_a_domain_prefers_processors_and_has_its_memory_beside_them(scenario: Scenario) -> None:
    """Soft affinity: it may run elsewhere, and is entitled to what it was."""
    plain = scenario.with_(XEN)
    soft = plain.with_({"partition.vm.processors.soft_pins": ["36-71"]})
    told = part(soft, "vm1")
    assert told["processors"]["host"]["soft_pins"] == [list(range(36, 72))] * 4
    assert told["processors"]["host"]["pins"] == []
    assert told["memory"] == [{"domains": [1], "bytes": 8 << 30}]
    assert "soft_pins" not in part(plain, "vm1")["processors"]["host"]
    one, other = (part(each, "vm1")["processors"]["entitlement"] for each in (plain, soft))
    assert one == other
    solved = [solve_scenario(each).metric("vm1", "physc").mean for each in (plain, soft)]
    assert all(solved)


def test_an_idle_group_weighs_three_of_a_thousand() -> None:
    """3 beside a weight of 100, which is 1024."""
    plain = {"parent": None, "weight": 100, "quota_ns": None, "period_ns": 1, "burst_ns": 0}
    groups = [
        PlacedCgroup(name=name, cpuset=None, idle=name == "idle", **plain)
        for name in ("idle", "other")
    ]
    found = entitlements(groups, [Threads("a", 0, 1), Threads("b", 1, 1)], 1)
    assert found["a"] == pytest.approx(3 / 1027)


def test_numbers_of_the_host_can_be_replaced(scenario: Scenario) -> None:
    """Those that the kernel works out itself too; without smt a core is one processor."""
    changed = scenario.with_(
        {
            "machine.hypervisor.tick": "1 ms",
            "machine.hypervisor.base_slice": "3 ms",
            "machine.hypervisor.numa_balancing.enabled": False,
        }
    )
    linux = changed.spec()["machine"]["hypervisor"]["linux"]
    assert (linux["tick_ns"], linux["base_slice_ns"], linux["numa_balancing"]) == (
        1_000_000,
        3_000_000,
        None,
    )
    single = scenario.with_({"machine.hypervisor.smt": False})
    assert single.machine.host_cpus == 36
    assert single.spec()["machine"]["hypervisor"]["siblings"] == 1


@pytest.mark.parametrize("name", ["amd-epyc-7742-2s", "intel-xeon-6240-2s"])
def test_a_machine_takes_the_kernel_s_numbers(name: str) -> None:
    """All that its file does not give, with their sources."""
    machine = catalog.machine(name)
    figures = dict(machine.figures())
    assert figures["hypervisor.bandwidth_slice"].value == 5_000_000
    assert figures["hypervisor.kvm.halt_poll"].reason.startswith("LINUX-KVM")
    assert machine.hypervisor.policy == "linux"


@pytest.mark.parametrize("policy", ["linux", "credit2"])
def test_usual_numbers_name_sources_of_their_table(policy: str) -> None:
    """Or a range."""
    folder = shipped_folder("hypervisors")
    known = set(
        re.findall(r"^\| ([A-Z0-9-]+) \|", (folder / "README.md").read_text(), re.MULTILINE)
    )

    def check(table: dict[str, Any]) -> None:
        for value in table.values():
            if "value" not in value:
                check(value)
            elif "source" in value:
                assert value["source"].split(":")[0] in known
            else:
                assert value["range"]

    check(defaults(policy))
    assert completed({"policy": policy})["window"] == defaults(policy)["window"]
    assert not set(OPTIONAL) & set(defaults(policy))


REFUSED = [
    ({"cgroup.tenants.parent": "inner"}, 'cgroup tenants: parent = "inner": none is before it'),
    ({"cgroup.inner.name": "tenants"}, "an earlier group has it"),
    ({"cgroup.inner.weight": 100}, "it says both weight and shares"),
    ({"cgroup.inner.burst": "60 ms"}, "the kernel takes a burst up to the quota"),
    ({"cgroup.tenants.period": "50 ms"}, "without a quota there is no period"),
    ({"cgroup.tenants.cpuset": "0-72"}, "has the processors 0 to 71, 2 threads of a core after"),
    ({"cgroup.tenants.cpuset": "3-1"}, "processors are written like 0-3,8"),
    ({"partition.vm.processors.cgroup": "tenant"}, "did you mean tenants?"),
    ({"partition.vm.processors.weight": 0}, "1 to 10000 is possible"),
    ({"partition.vm.processors.capped": True}, "write quota, which says how much"),
    ({"partition.vm.processors.entitlement": 2.0}, "the weights of all give it; write weight"),
    ({"partition.vm.processors.cap": 2.0}, "only Xen knows it; write quota"),
    ({"partition.vm.processors.pool": "x"}, "Linux has no such pools; write cpuset"),
    ({"partition.vm.processors.pins": ["0", "1"]}, "2 entries for 4 virtual processors"),
    (
        {"partition.vm.processors.cpuset": "6", "partition.vm.processors.pins": "2"},
        "none of them is in its cpuset",
    ),
    ({"cgroup.inner.cpuset": "8-9"}, "group tenants leaves it none of them"),
    ({"partition.batch.processors.pins": ["0", "8"]}, "group inner leaves it none of them"),
    (
        {"partition.vm.processors.cpuset": "8", "partition.vm.processors.pins": None},
        "group tenants leaves it none of them",
    ),
    ({"cgroup.tenants.name": "vm1.scope"}, "groups are named that partitions have to themselves"),
    ({"partition.vm.processors": {"mode": "dedicated", "cores": 2}}, "a host gives no cores away"),
    ({"partition.vm.smt": 2}, "a virtual processor is one thread of the host"),
    ({"partition.vm.guest": {"os": "aix"}}, "runs Linux guests here, not aix"),
    ({**XEN, "partition.vm.kvm": {}}, "Xen is no KVM"),
    ({**XEN, "cgroup": [{"name": "a"}]}, "Xen has no control groups"),
    ({**XEN, "partition.vm.processors.quota": "1 ms"}, "only Linux knows it"),
    ({"partition.vm.processors.soft_pins": ["0"]}, "only Xen knows it; write pins"),
    ({**XEN, "partition.vm.processors.soft_pins": ["72"]}, "has the processors 0 to 71"),
    ({**XEN, "partition.vm.processors.soft_pins": ["0", "1"]}, "2 entries for 4 virtual"),
    ({**XEN, "partition.vm.processors.cap": 5.0}, "4 virtual processors can use no more"),
    ({**XEN, "partition.vm.processors.cap": 0.001}, "0.01 is the least"),
    ({"machine.hypervisor.tick": "20 ms"}, "at most 10 ms is possible"),
    ({"machine.hypervisor.kvm.exit": "2 ms"}, "at most 1 ms is possible"),
    ({**XEN, "machine.hypervisor.load_window": 40}, "at most 36 is possible"),
    ({**XEN, "partition.vm.processors.weight": 65_536}, "1 to 65535 is possible"),
    ({"machine.model": "ibm-power-795"}, "only a Linux host has it"),
    (
        {"machine.model": "ibm-power-795", "machine.policy": "credit2"},
        'machine.policy = "credit2": only a Linux host has it',
    ),
]


@pytest.mark.parametrize(("changes", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_what_cannot_be_is_told_where_it_stands(
    scenario: Scenario, changes: dict[str, Any], message: str
) -> None:
    """With what to write instead."""
    with pytest.raises(ScenarioError, match=re.escape(message)) as told:
        scenario.with_(changes)
    assert re.search(r":\d+:\d+: ", str(told.value))


def test_a_chip_has_no_more_processors_than_can_be_numbered(tmp_path: Path) -> None:
    """Unless its threads are off."""
    folder = shipped_folder("machines")
    text = (folder / "intel-xeon-6240-2s.toml").read_text()
    wide = text.replace("cores_per_chip = { value = 18", "cores_per_chip = { value = 40")
    (tmp_path / "wide.toml").write_text(
        wide.replace("active_cores = { value = 36", "active_cores = { value = 80")
    )
    base = BASE.replace('model = "intel-xeon-6240-2s"', 'file = "wide.toml"')
    with pytest.raises(ScenarioError, match="has 80 processors, 64 are possible"):
        Scenario.from_toml(base, folder=tmp_path)
    off = base.replace(
        "[[cgroup]]",
        '[machine.hypervisor]\nsmt = { value = false, why = "nosmt" }\n\n[[cgroup]]',
        1,
    )
    assert Scenario.from_toml(off, folder=tmp_path).machine.host_cpus == 80


def test_a_hypervisor_without_a_kind_is_refused(tmp_path: Path) -> None:
    """A number that it has not is too."""
    folder = shipped_folder("machines")
    path = tmp_path / "mine.toml"
    text = (folder / "intel-xeon-6240-2s.toml").read_text()
    path.write_text(text + 'tik = { value = "4 ms", source = "none at all" }\n')
    with pytest.raises(MachineError, match='unknown key "tik": did you mean tick'):
        catalog.machine(path)


@pytest.mark.parametrize(
    ("text", "cpus"),
    [("0", [0]), ("0-3,8", [0, 1, 2, 3, 8]), (" 2 , 1 ", [2, 1]), ("1,1", [1])],
)
def test_lists_are_the_kernel_s(text: str, cpus: list[int]) -> None:
    """As in /sys."""
    assert read_cpus(text) == cpus


@pytest.mark.parametrize(
    ("weight", "shares", "found"),
    [(None, None, 100), (7, None, 7), (None, 1024, 100), (None, 6, 1)],
)
def test_shares_of_the_first_version_are_weights(
    weight: int | None, shares: int | None, found: int
) -> None:
    """1024 are 100."""
    assert weight_of(weight, shares) == found


def test_what_one_cannot_use_goes_to_the_others() -> None:
    """By hand: of 4, one is limited to 1, the others have 3 by 2 to 1."""
    assert fill(4.0, [2.0, 2.0, 1.0], [1.0, 9.0, 9.0]) == pytest.approx([1.0, 2.0, 1.0])
    assert fill(9.0, [1.0, 1.0], [1.0, 2.0]) == pytest.approx([1.0, 2.0])


def test_nice_threads_weigh_less() -> None:
    """A quarter more for each step down: 1 to 1.25 in one group."""
    group = PlacedCgroup("g", None, 100, None, 100_000_000, 0, None, idle=False)
    told = entitlements([group], [Threads("a", 0, 1), Threads("b", 0, 1, nice=1)], 1)
    assert told["a"] / told["b"] == pytest.approx(1.25)
