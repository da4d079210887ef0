"""A policy of one's own: the page that says how, done as a newcomer would, and what it claims."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

from homenode import run_scenario
from homenode.errors import MachineError, ScenarioError
from homenode.model import catalog
from homenode.model.catalog.hosts import completed, defaults
from homenode.model.catalog.listed import ListedHost
from homenode.model.catalog.policies import HOST_POLICIES, HOSTS, LISTED, WITH_A_FILE
from homenode.model.scenario import Scenario
from homenode.model.scenario.file.machine import MachineChoice
from homenode.model.shipped import shipped_folder
from homenode.simulate.kept.metrics import METRICS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/background/write-a-policy.md").read_text(encoding="utf-8")
ENGINE = ROOT / "crates/engine/src"
FOLDER = ENGINE / "hypervisor/policies/round_robin"
SECONDS = 6.0
QUANTUM = 0.010 / SECONDS
"""A turn, as a share of the page's run."""


def under_title(title: str) -> str:
    """What the page has under a file's name."""
    found = re.search(rf'^```\w+ title="{title}"\n(.*?)^```$', PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


@pytest.fixture(scope="module")
def turns() -> Scenario:
    """The page's scenario."""
    return Scenario.from_toml(under_title("turns.toml"))


def figures(scenario: Scenario, folder: Path) -> dict[str, dict[str, float]]:
    """Some metrics of its partitions, from a run."""
    run = run_scenario(scenario, out=folder)
    names = ("physc", "nivcsw_per_s", "migrations_per_s", "run_delay_ms", "run_delay_ms_p99")
    parts = run.metrics.items()
    return {part: {name: of[name].mean or 0.0 for name in names} for part, of in parts}


def test_the_example_does_what_the_page_says(turns: Scenario, tmp_path: Path) -> None:
    """Two thirds each, a wait of a turn for every second switch, each of them a move."""
    found = figures(turns, tmp_path)
    for part, threads in (("one", 1), ("two", 2)):
        got = found[part]
        assert got["physc"] == pytest.approx(2 / 3 * threads, abs=threads * QUANTUM)
        assert got["nivcsw_per_s"] == pytest.approx(66.7 * threads, rel=0.01)
        assert got["migrations_per_s"] == pytest.approx(got["nivcsw_per_s"], rel=0.01)
        assert got["run_delay_ms"] == pytest.approx(5.0, rel=0.02)
        assert got["run_delay_ms_p99"] == pytest.approx(10.0, rel=0.02)


def test_a_shorter_turn_makes_more_switches(turns: Scenario, tmp_path: Path) -> None:
    short = turns.with_({"machine.hypervisor.quantum": "2 ms"})
    assert short.spec()["machine"]["hypervisor"]["settings"] == {"quantum_ns": 2_000_000}
    assert figures(short, tmp_path)["one"]["nivcsw_per_s"] == pytest.approx(333, rel=0.01)


def test_who_is_alone_is_never_switched(turns: Scenario, tmp_path: Path) -> None:
    alone = turns.with_({"machine.active_cores": 3})
    found = figures(alone, tmp_path)
    assert {one["nivcsw_per_s"] for one in found.values()} == {0.0}
    assert found["two"]["physc"] == pytest.approx(2.0)


def test_guests_and_pins_work_as_on_any_host(turns: Scenario, tmp_path: Path) -> None:
    """A guest polls before it halts; pinned threads share what they are pinned to."""
    users = {
        "kind": "transactions",
        "rate": "300/s",
        "profile": {"base": "oltp", "instructions": 1e6},
    }
    scenario = turns.with_(
        {
            "partition.one.kvm": {},
            "partition.one.workload": users,
            "partition.one.processors": {"mode": "shared", "virtual": 2, "pins": "1"},
            "partition.two.processors.pins": "0",
        }
    )
    spec = scenario.spec()["partitions"]
    assert spec[0]["processors"]["host"]["kvm"]["halt_poll_ns"] == 200_000
    assert spec[1]["processors"]["host"]["pins"] == [[0], [0]]
    metrics = run_scenario(scenario, out=tmp_path).metrics
    assert metrics["two"]["physc"].mean == pytest.approx(1.0, abs=QUANTUM)
    assert (metrics["one"]["halt_poll_pct"].mean or 0.0) > 0.0
    assert metrics["two"]["migrations_per_s"].mean == 0.0
    assert "halt_poll_pct" in METRICS


def test_all_threads_have_the_same_due(turns: Scenario) -> None:
    """One of three, two of three; pins bound it."""
    told = {one.name: one.entitlement for one in turns.partitions}
    assert told == pytest.approx({"one": 2 / 3, "two": 4 / 3})
    pinned = turns.with_({"partition.two.processors.pins": "0"})
    told = {one.name: one.entitlement for one in pinned.partitions}
    assert told == pytest.approx({"one": 1.0, "two": 1.0})


REFUSED: list[tuple[dict[str, Any], str]] = [
    (
        {"partition.one.processors.weight": 200},
        (
            "weight = 200: under round_robin all threads count alike; leave weight out, or choose"
            ' policy = "linux" or "credit2"'
        ),
    ),
    ({"partition.one.processors.quota": "5 ms"}, "leave quota out, or choose"),
    ({"partition.one.processors.cap": 0.5}, "leave cap out, or choose"),
    ({"partition.one.processors.nice": 5}, "leave nice out, or choose"),
    ({"partition.one.processors.slice": "3 ms"}, "leave slice out, or choose"),
    ({"partition.one.processors.cpuset": "0"}, "all threads count alike; write pins"),
    ({"partition.one.processors.entitlement": 0.5}, "all threads count alike; leave entitlement"),
    ({"partition.one.processors.pins": "7"}, "has the processors 0 to 1"),
    ({"cgroup": [{"name": "g"}]}, "leave [[cgroup]] out, or choose"),
    ({"partition.one.processors": {"mode": "dedicated", "cores": 1}}, "gives no cores away"),
    ({"partition.one.guest": {"os": "aix"}}, "runs Linux guests here, not aix"),
    ({"machine.hypervisor.quantum": "1 s"}, "at most 100 ms is possible"),
    ({"machine.hypervisor.quantum": "10 us"}, "at least 1 ms is possible"),
    ({"machine.hypervisor.tick": "4 ms"}, "the machine has no number tick: there is window"),
    ({"machine.hypervisor.numa_balancing.enabled": False}, "has no number numa_balancing"),
    ({"machine.policy": "round-robin"}, "did you mean round_robin?"),
]


@pytest.mark.parametrize(("changes", "message"), REFUSED, ids=[words for _, words in REFUSED])
def test_what_it_does_not_know_is_refused_where_it_stands(
    turns: Scenario, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ScenarioError, match=re.escape(message)) as told:
        turns.with_(changes)
    assert re.search(r":\d+:\d+: ", str(told.value))


def test_the_engine_has_the_list() -> None:
    """What may be written follows from it, and each has a table with a figure for each setting."""
    assert HOST_POLICIES[:2] == ("linux", "credit2")
    choices = MachineChoice.model_json_schema()["properties"]["policy"]["anyOf"][0]["enum"]
    assert choices == list(HOSTS)
    for policy in LISTED:
        assert set(defaults(policy.name)) >= {one.key for one in policy.settings}
        of_linux = completed({"policy": policy.name})["kvm"] == defaults("linux")["kvm"]
        assert of_linux is (policy.name not in WITH_A_FILE)


def test_a_machine_file_may_name_it(tmp_path: Path) -> None:
    text = (shipped_folder("machines") / "intel-xeon-6240-2s.toml").read_text(encoding="utf-8")
    path = tmp_path / "mine.toml"
    path.write_text(text.replace('policy = "linux"', 'policy = "round_robin"'), encoding="utf-8")
    machine = catalog.machine(path)
    assert isinstance(machine.hypervisor, ListedHost)
    quantum = dict(machine.figures())["hypervisor.quantum"]
    assert (quantum.value, quantum.provenance, quantum.range) == (
        10_000_000,
        "assumed",
        [1_000_000, 100_000_000],
    )
    path.write_text(text.replace('policy = "linux"', 'policy = "round_robins"'), encoding="utf-8")
    with pytest.raises(MachineError, match="did you mean round_robin"):
        catalog.machine(path)


def test_nothing_but_its_folder_and_the_list_names_it() -> None:
    """A folder, a line in the list, and Rust's `mod` line: no other source knows the example."""
    sources = [*(ROOT / "crates").glob("*/src/**/*.rs"), *(ROOT / "python/homenode").rglob("*.py")]
    naming = {
        (str(path.relative_to(ROOT)), line.strip())
        for path in sources
        if not path.is_relative_to(FOLDER)
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r"round_?robin\b", line, re.IGNORECASE)
    }
    policies, spec = (
        "crates/engine/src/hypervisor/policies/mod.rs",
        "crates/engine/src/spec/policy.rs",
    )
    assert naming == {
        (policies, "mod round_robin;"),
        (spec, 'RoundRobin, round_robin, "turns of one length, first come first served";'),
    }


@pytest.mark.parametrize(
    ("file", "trait"),
    [("hypervisor/host.rs", "HostScheduler"), ("hypervisor/policy.rs", "Policy")],
)
def test_the_page_tells_all_that_a_policy_is_told_and_asked(file: str, trait: str) -> None:
    text = (ENGINE / file).read_text(encoding="utf-8")
    body = re.search(rf"^pub trait {trait} \{{\n(.*?)^\}}$", text, re.MULTILINE | re.DOTALL)
    assert body is not None
    verbs = set(re.findall(r"^    fn (\w+)", body[1], re.MULTILINE))
    assert verbs <= set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE))


def newcomer(copy: Path) -> None:
    """The sources with a folder and a line more: the page's scheduler, twice as long a turn."""
    ignored = shutil.ignore_patterns("*.so", "__pycache__")
    for name in ("crates", "benches", "python"):
        shutil.copytree(ROOT / name, copy / name, ignore=ignored)
    for name in ("Cargo.toml", "Cargo.lock"):
        shutil.copy(ROOT / name, copy / name)
    policies = copy / "crates/engine/src/hypervisor/policies"
    scheduler = under_title("crates/engine/src/hypervisor/policies/round_robin/mod.rs")
    scheduler = scheduler.replace("RoundRobin", "MyTurns").replace("usual: 10_", "usual: 20_")
    (policies / "my_turns").mkdir()
    (policies / "my_turns/mod.rs").write_text(scheduler.partition("\n#[cfg(test)]")[0], "utf-8")
    for path, line, added in (
        (policies / "mod.rs", "mod linux;\n", "mod my_turns;\n"),
        (
            copy / "crates/engine/src/spec/policy.rs",
            'RoundRobin, round_robin, "turns of one length, first come first served";\n',
            'MyTurns, my_turns, "turns of mine";\n',
        ),
    ):
        text = path.read_text(encoding="utf-8")
        assert text.count(line) == 1
        path.write_text(text.replace(line, line + added), encoding="utf-8")


@pytest.mark.slow("compiles the engine")
def test_a_folder_and_a_line_are_all_it_takes(tmp_path: Path) -> None:
    """What the page says, from the copied sources to the figures of a run."""
    newcomer(tmp_path)
    target = ROOT / "target/newcomer"
    # What is optimised takes minutes to compile, and a run of a second needs none of it.
    surroundings = dict(
        os.environ,
        PYO3_PYTHON=sys.executable,
        CARGO_TARGET_DIR=str(target),
        CARGO_PROFILE_DEV_OPT_LEVEL="0",
        CARGO_PROFILE_DEV_DEBUG="none",
    )
    command = ["cargo", "build", "--quiet", "--locked", "-p", "homenode-python"]
    subprocess.run(command, cwd=tmp_path, env=surroundings, timeout=1500, check=True)
    package = tmp_path / "python/homenode"
    shutil.copy(target / "debug/lib_engine.so", package / "_engine.abi3.so")
    scenario = under_title("turns.toml").replace("round_robin", "my_turns")
    (tmp_path / "turns.toml").write_text(scenario, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "homenode", "run", "turns.toml", "--json"],
        cwd=tmp_path,
        env=dict(os.environ, PYTHONPATH=str(package.parent)),
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    one = json.loads(done.stdout)["partitions"]["one"]
    assert one["nivcsw_per_s"]["mean"] == pytest.approx(33.3, rel=0.01)
