"""x86 servers as people say them: sockets, cores of each, threads."""

from __future__ import annotations

from pathlib import Path

import pytest

from homenode.errors import ScenarioError
from homenode.model.scenario import Scenario
from homenode.model.shipped import shipped_text
from homenode.simulate.scenario import Scenario as Runnable

PARTITION = """
[[partition]]
name = "vm"
kvm = {}
processors = { mode = "shared", virtual = 2 }
memory = "4 GiB"
workload = { kind = "transactions", rate = "10/s", profile = "oltp" }
"""
XEON, EPYC, POWER = "intel-xeon-6240-2s", "amd-epyc-7742-2s", "ibm-power-795"


def scenario(model: str, said: str) -> Scenario:
    return Scenario.from_toml(f'[machine]\nmodel = "{model}"\n{said}\n{PARTITION}', "f.toml")


@pytest.mark.parametrize(
    ("model", "said", "tree"),
    [
        (XEON, "", (1, 2, 18, 36)),
        (XEON, "active_cores = 32", (1, 2, 16, 32)),
        (XEON, "sockets = 2\ncores_per_socket = 16", (1, 2, 16, 32)),
        (XEON, "cores_per_socket = 16\nactive_cores = 32", (1, 2, 16, 32)),
        (XEON, "sockets = 1", (1, 2, 18, 18)),
        (XEON, "sockets = 1\nactive_cores = 5", (1, 2, 18, 5)),
        (XEON, "sockets = 1\ncores_per_socket = 5", (1, 2, 5, 5)),
        (XEON, "sockets = 2\nnps = 1", (1, 2, 18, 36)),
        (EPYC, "active_cores = 64", (2, 8, 4, 64)),
        (EPYC, "active_cores = 96", (2, 12, 4, 96)),
        (EPYC, "cores_per_socket = 16", (2, 4, 4, 32)),
        (EPYC, "sockets = 1", (2, 16, 4, 64)),
        (POWER, "active_cores = 33", (8, 4, 8, 33)),
    ],
)
def test_cores_are_spread_as_they_are_bought(
    model: str, said: str, tree: tuple[int, int, int, int]
) -> None:
    text = f'[machine]\nmodel = "{model}"\n{said}\n{PARTITION}'
    if model == POWER:
        text = text.replace("kvm = {}\n", 'guest = { os = "aix" }\n').replace(
            "virtual = 2", "virtual = 2, entitlement = 1.0"
        )
    found = Scenario.from_toml(text, "f.toml").machine
    counts = (found.nodes, found.chips_per_node, found.cores_per_chip, found.active_cores)
    assert counts == tree


def test_every_socket_has_its_part_of_the_active_cores() -> None:
    found = scenario(XEON, "active_cores = 32").machine
    assert [len(found.active_cores_of(chip)) for chip in range(2)] == [16, 16]


def test_threads_are_switched_off() -> None:
    spec = scenario(XEON, "threads = 1").spec()
    assert (
        spec["machine"]
        == scenario(XEON, "")
        .with_({"machine.hypervisor.smt": {"value": False, "why": "off"}})
        .spec()["machine"]
    )
    assert scenario(XEON, "threads = 2").spec()["machine"] == scenario(XEON, "").spec()["machine"]


@pytest.mark.parametrize(
    ("model", "said", "expected"),
    [
        (XEON, "active_cores = 33", "33 cores are not as many on each of 2 sockets"),
        (XEON, "sockets = 3", "it has 2 sockets"),
        (XEON, "cores_per_socket = 20", "a socket has 18 cores"),
        (EPYC, "cores_per_socket = 30", "a socket has 16 chips of 4 cores"),
        (XEON, "cores_per_socket = 16\nactive_cores = 36", "2 sockets of 16 cores make 32"),
        (XEON, "threads = 4", "a core of it has 2"),
        (EPYC, "nps = 3", "one memory domain, two or four"),
        (EPYC, "cores_per_socket = 24\nnps = 4", "a socket has 6 chips; write nps = 2"),
        (XEON, "nps = 2", "a socket is one chip with all of its memory"),
    ],
)
def test_what_does_not_fit_is_told_with_its_line(model: str, said: str, expected: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        scenario(model, said)
    line = 2 + len(said.splitlines())
    assert str(caught.value).startswith(f"f.toml:{line}:")
    assert expected in str(caught.value)


def test_other_machines_are_not_told_by_sockets() -> None:
    with pytest.raises(ScenarioError, match="only x86 servers are told by sockets"):
        scenario(POWER, "sockets = 2")


DIVIDED = "sockets = 2\ncores_per_socket = 16\nthreads = 2\nnps = {}"


def test_an_undivided_socket_is_what_it_was() -> None:
    assert scenario(EPYC, "nps = 1").spec()["machine"] == scenario(EPYC, "").spec()["machine"]


@pytest.mark.parametrize("parts", [2, 4])
def test_a_divided_socket_adds_up_to_the_whole_one(parts: int) -> None:
    whole = scenario(EPYC, DIVIDED.format(1)).spec()["machine"]
    spec = scenario(EPYC, DIVIDED.format(parts)).spec()["machine"]
    assert (spec["nodes"], spec["chips_per_node"]) == (2 * parts, 4 // parts)
    assert spec["memory_bytes_per_s"] * parts == pytest.approx(whole["memory_bytes_per_s"])
    assert spec["memory_load"]["channels"] * parts == whole["memory_load"]["channels"]
    rows = [spec["node_distance"][at :: 2 * parts] for at in range(2 * parts)]
    own, far = spec["memory_ns"]["local"], spec["memory_ns"]["far"]
    for node, row in enumerate(rows):
        ns = [own if to == node else far * factor for to, factor in enumerate(row)]
        socket = node // parts
        inside = ns[socket * parts :][:parts]
        outside = [one for to, one in enumerate(ns) if to // parts != socket]
        # Spread over all parts alike, a line is as far as in the undivided socket.
        assert sum(inside) / parts == pytest.approx(whole["memory_ns"]["local"], rel=1e-6)
        assert own < sorted(inside)[1] < min(outside) == whole["memory_ns"]["far"]


def test_memory_of_the_own_part_is_nearer_than_that_of_the_neighbour(tmp_path: Path) -> None:
    found = []
    for node in (0, 1, 4):
        text = f'[machine]\nmodel = "{EPYC}"\n{DIVIDED.format(4)}\n{PARTITION}home = "node0"\n'
        memory = f'memory = [{{ size = "4 GiB", on = "node{node}" }}]'
        text = text.replace('memory = "4 GiB"', memory).replace("virtual = 2", "virtual = 1")
        timing = '[run]\nwarmup = "100 ms"\nduration = "1 s"\nreplications = 1\n'
        work = text.replace("10/s", "400/s") + timing
        run = Runnable.from_toml(work, "f.toml").run(out=tmp_path)
        found.append(run.metric("vm", "memory_wait_ns").mean)
    assert found[0] < found[1] < found[2]


def test_a_machine_without_the_figure_says_which_it_needs(tmp_path: Path) -> None:
    text = shipped_text("machines", EPYC)
    own = "".join(line for line in text.splitlines(True) if not line.startswith("quarter."))
    (tmp_path / "own.toml").write_text(own, encoding="utf-8")
    said = '[machine]\nfile = "own.toml"\nnps = 4\n'
    with pytest.raises(ScenarioError, match=r"is known: memory\.quarter; write nps = 1, or in a"):
        Scenario.from_toml(said + PARTITION, "f.toml", tmp_path)
    given = 'memory.quarter = { value = "110 ns", why = "measured" }\n'
    found = Scenario.from_toml(said + given + PARTITION, "f.toml", tmp_path)
    assert found.spec()["machine"]["memory_ns"]["local"] == 110
