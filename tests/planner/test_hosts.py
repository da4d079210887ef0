"""What a host's partitions are told: lines of the tool that runs them, there and back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from homenode.errors import HomenodeError
from homenode.planner import Change, advise
from homenode.planner.commands import commands
from homenode.planner.cost import Solved
from homenode.planner.problem import problem_of
from homenode.simulate.scenario import Scenario

HOST = """\
name = "host"

[machine]
model = "intel-xeon-6240-2s"
{policy}

[run]
warmup = "20 ms"
duration = "50 ms"
replications = 1

[[partition]]
name = "one"
processors = {{ mode = "shared", virtual = 4{more} }}
memory = "16 GiB"
{kvm}
workload = {{ kind = "transactions", rate = "50/s", profile = "oltp" }}
"""
KVM, XEN, PROCESSES = ("", "kvm = {}"), ('policy = "credit2"', ""), ("", "")
ESXI = ('policy = "esxi"', "")


def told(kind: tuple[str, str], key: str, before: object, after: object, folder: Path) -> list[str]:
    """The lines from one value of a key to another one, and back."""
    policy, kvm = kind
    first = Scenario.from_toml(HOST.format(policy=policy, kvm=kvm, more=""))
    path = f"partition.one.processors.{key}"
    one, other = (first.with_({path: value}).run(out=folder) for value in (before, after))
    there = commands(one, other, [Change("one", key, path, before, after, "")])
    change = Change("one", key, path, after, before, "")
    return [*there, "", *commands(other, one, [change], back=True)]


@pytest.mark.parametrize(
    ("kind", "line", "memory", "free"),
    [
        (
            KVM,
            'for vcpu in $(seq 0 3); do virsh vcpupin one "$vcpu" {} --live --config; done',
            [
                "virsh numatune one --nodeset {nodes} --config",
                "# (from its next start on: until then its memory is where it was)",
            ],
            [
                "# In `virsh edit one`, no <numatune>, for its next start: a policy over all",
                "# nodes, as virsh numatune makes it, is another one. Until then its memory is",
                "# where it was.",
            ],
        ),
        (
            XEN,
            "xl vcpu-pin one all {}",
            [
                '# Memory goes with cpus = "{cpus}" in its configuration, when it is created anew;',
                "# until then it is where it was.",
            ],
            None,
        ),
        (
            PROCESSES,
            "systemctl set-property one.scope AllowedCPUs={}",
            ["systemctl set-property one.scope AllowedMemoryNodes={nodes}"],
            None,
        ),
    ],
)
def test_pins_there_and_back(
    kind: tuple[str, str], line: str, memory: list[str], free: list[str] | None, tmp_path: Path
) -> None:
    """Processors alone would leave the memory behind, on which the advice counts; a guest of
    libvirt that nothing kept is free of a policy again, not under one over all nodes.
    """
    found = told(kind, "pins", None, ("36-71",), tmp_path)
    there, back = found[: found.index("")], found[found.index("") + 1 :]
    assert (there[0], back[0]) == (line.format("36-71"), line.format("0-71"))
    assert [one.format(cpus="36-71", nodes="1") for one in memory] == there[1:]
    assert [one.format(cpus="0-71", nodes="0-1") for one in free or memory] == back[1:]


def test_each_virtual_processor_at_its_place(tmp_path: Path) -> None:
    pins = ["0", "1,3", "2", "4-5"]
    lines = told(KVM, "pins", pins, ("0-3",), tmp_path)
    assert [line.split()[3:5] for line in lines[2:]] == [
        [str(at), cpus] for at, cpus in enumerate(pins)
    ]
    lines = told(PROCESSES, "pins", pins, ("0-3",), tmp_path)
    assert lines[-1] == 'taskset --cpu-list --pid 4-5 "$TID3"'
    lines = told(XEN, "pins", pins, ("36-39",), tmp_path)
    (memory,) = [line for line in lines[lines.index("") :] if "Memory goes with" in line]
    assert 'cpus = ["0", "1,3", "2", "4-5"] in its configuration' in memory
    assert "xl vcpu-pin one 3 4-5" in lines


@pytest.mark.parametrize(
    ("kind", "new"),
    [
        (KVM, 'for vcpu in $(seq 4 5); do virsh vcpupin one "$vcpu" 0-17 --live --config; done'),
        (XEN, "xl vcpu-pin one all 0-17"),
        (PROCESSES, None),
    ],
)
def test_new_virtual_processors_are_kept_where_the_others_are(
    kind: tuple[str, str], new: str | None, tmp_path: Path
) -> None:
    """A pin of each virtual processor is none of one that comes later, on the way back either; the
    group of a process has all of its threads.
    """
    policy, kvm = kind
    key = "pins" if kind is XEN else "cpuset"
    value = '["0-17"]' if kind is XEN else '"0-17"'
    text = HOST.format(policy=policy, kvm=kvm, more=f", {key} = {value}")
    path = "partition.one.processors.virtual"
    few, more = (Scenario.from_toml(text).with_({path: n}).run(out=tmp_path) for n in (4, 6))
    grows, shrinks = (Change("one", "virtual", path, *pair, "") for pair in ((4, 6), (6, 4)))
    for back in (False, True):
        lines = commands(few, more, [grows], back=back)
        assert lines[-1] == new if new else not any("AllowedCPUs" in line for line in lines)
        assert not any("0-17" in line for line in commands(more, few, [shrinks], back=back))


def test_virtual_processors_are_there_before_they_are_pinned(tmp_path: Path) -> None:
    policy, kvm = KVM
    text = HOST.format(policy=policy, kvm=kvm, more=', cpuset = "0-17"')
    first = Scenario.from_toml(text)
    paths = [f"partition.one.processors.{key}" for key in ("cpuset", "virtual")]
    values = {paths[0]: "18-35", paths[1]: 6}
    few, more = (one.run(out=tmp_path) for one in (first, first.with_(values)))
    changes = [
        Change("one", "cpuset", paths[0], "0-17", "18-35", ""),
        Change("one", "virtual", paths[1], 4, 6, ""),
    ]
    lines = [line for line in commands(few, more, changes) if not line.startswith("#")]
    assert [line.split()[:2] for line in lines] == [["virsh", "setvcpus"], ["for", "vcpu"]]
    assert "$(seq 0 5)" in lines[1]


def test_cpusets_weights_and_counts(tmp_path: Path) -> None:
    assert "36-71" in told(KVM, "cpuset", "0-35", "36-71", tmp_path)[0]
    assert told(KVM, "virtual", 4, 8, tmp_path)[0] == "virsh setvcpus one 8 --live --config"
    more = ["virsh setvcpus one 8 --maximum --config", "maxvcpus", "8 threads"]
    for kind, word in zip((KVM, XEN, PROCESSES), more, strict=True):
        lines = told(kind, "virtual", 4, 8, tmp_path)
        assert word in " ".join(lines[: lines.index("")])
        assert word not in " ".join(lines[lines.index("") :])
    assert told(XEN, "virtual", 4, 8, tmp_path)[0] == "xl vcpu-set one 8"
    for kind in (KVM, XEN):  # it had as many before
        lines = told(kind, "virtual", 8, 4, tmp_path)
        assert lines[-1].endswith(" 8 --live --config" if kind is KVM else " 8")
    assert told(PROCESSES, "virtual", 1, 2, tmp_path)[-1].startswith("# one: 1 thread,")
    assert (
        told(XEN, "weight", 256, 512, tmp_path)[0] == "xl sched-credit2 --domain=one --weight=512"
    )
    lines = told(PROCESSES, "weight", 100, 300, tmp_path)
    assert lines[0] == "systemctl set-property one.scope CPUWeight=300"
    assert lines[-1].endswith("CPUWeight=100")


def test_pages_are_those_of_a_definition(tmp_path: Path) -> None:
    """Of 16 GiB, whose pages of 1 GiB are set aside before."""
    policy, kvm = KVM
    first = Scenario.from_toml(HOST.format(policy=policy, kvm=kvm, more=""))
    path, values = "partition.one.kvm.page", ("4 KiB", "1 GiB")
    one, other = (first.with_({path: value}).run(out=tmp_path) for value in values)
    there = commands(one, other, [Change("one", "pages", path, *values, "")])
    assert '<hugepages><page size="1048576" unit="KiB"/></hugepages>' in there[1]
    assert there[2].startswith("# 16 of them")
    back = commands(other, one, [Change("one", "pages", path, *reversed(values), "")])
    assert [line.strip("# ") for line in back[1:]] == ["no <hugepages>"]


def test_esxi_is_told_in_comments_alone(tmp_path: Path) -> None:
    assert told(ESXI, "virtual", 4, 8, tmp_path) == [
        "# partition.one.processors.virtual: 4 -> 8",
        "",
        "# partition.one.processors.virtual: 8 -> 4",
    ]


def test_under_esxi_weight_means_shares() -> None:
    scenario = Scenario.from_toml(HOST.format(policy=ESXI[0], kvm="", more=""))
    (one,) = problem_of(scenario, {"free": ["weight"]}).space.variables
    assert (one.path, one.now) == ("partition.one.processors.shares", 4000)
    assert 8000 in one.values


def test_room_on_a_host_is_told_in_its_processors() -> None:
    """A server with 36 cores of two threads each."""
    scenario = Scenario.from_toml(HOST.format(policy="", kvm="kvm = {}", more=""))
    half = problem_of(scenario, {"free": ["virtual"], "headroom": 0.5})
    now = half.solved_now
    assert now.headroom[0] == pytest.approx(72 - now.cores[0])
    (rule,) = [one for one in half.rules if one.name == "headroom of 50 %"]
    assert rule.excess(now)[0] == pytest.approx(now.figures.cores[0].sum() / 36 - 1)
    assert rule.excess(_with_cores(now, 36 * 1.1))[0] == pytest.approx(0.1)


def _with_cores(told: Solved, cores: float) -> Solved:
    figures = replace(told.figures, cores=np.full_like(told.figures.cores, cores))
    return replace(told, figures=figures)


def test_a_host_maps_with_larger_pages_what_walks_of_tables_cost_more_than_they_must() -> None:
    small = Scenario.from_toml(HOST.format(policy="", kvm='kvm = { page = "4 KiB" }', more=""))
    (best, *_) = advise(small, free=["pages"], confirm=False, worth=0.0001).best
    (change,) = best.changes
    assert (change.path, change.before) == ("partition.one.kvm.page", "4 KiB")
    assert change.after in ("2 MiB", "1 GiB")
    asked = Scenario.from_toml(HOST.format(policy='policy = "credit2"', kvm="", more=""))
    with pytest.raises(HomenodeError, match="pages") as caught:
        advise(asked, free=["pages"], confirm=False)
    assert "whose tables are walked" in str(caught.value)


def test_guests_of_a_server_are_kept_apart_by_socket() -> None:
    """Two that share the first of two sockets, which are one node."""
    one = HOST.format(policy="", kvm="kvm = {}", more=', cpuset = "0-35"')
    other = one[one.index("[[partition]]") :].replace('"one"', '"two"')
    told = Scenario.from_toml(f'{one}\n{other}\n[advise]\napart = [["one", "two"]]\n')
    found = advise(told, free=["cpuset"], confirm=False)
    assert [str(change.after) for change in found.best[0].changes] == ["36-71"]
