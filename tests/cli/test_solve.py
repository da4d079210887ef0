"""`homenode solve` beside `homenode run`."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

SCENARIO = """\
name = "small"

[machine]
model = "ibm-p5-570"

[[partition]]
name = "web"
processors = { mode = "shared", entitlement = 1.0, virtual = 2 }
memory = "2 GiB"
guest = { level = "5.3" }
workload = { kind = "transactions", rate = "100/s", profile = "oltp" }

[run]
warmup = "100 ms"
duration = "1 s"
replications = 2
"""
MAINFRAME = (
    SCENARIO.replace("ibm-p5-570", "ibm-z14")
    .replace("entitlement = 1.0, virtual = 2", "virtual = 2, weight = 100")
    .replace('guest = { level = "5.3" }', 'guest = { os = "linux" }')
)
SWEEP = '\n[sweep]\n"partition.web.workload.rate" = ["50/s", "100/s"]\n'
Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SCENARIO, encoding="utf-8")
    return path


def told(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def shape(of: object) -> object:
    """Keys at all depths, without the reasons that only some metrics have."""
    if not isinstance(of, dict):
        return None
    return {key: shape(value) for key, value in of.items() if key != "reason"}


@pytest.mark.parametrize("text", [SCENARIO, MAINFRAME])
def test_json_has_the_shape_of_a_run(command: Command, scenario: Path, text: str) -> None:
    scenario.write_text(text, encoding="utf-8")
    solved = told(command("solve", scenario, "--json"))
    (within,) = solved.pop("within").values()
    assert 0.0 < within < 1.0
    assert solved.pop("beside_greedy") == {}
    assert (solved.pop("solved"), "dispatch_wait_us" in solved.pop("left_out")) == (True, True)
    assert shape(solved) == shape(told(command("run", scenario, "--json")))


def test_it_says_what_it_is_and_what_it_leaves_out(command: Command, scenario: Path) -> None:
    done = command("solve", scenario)
    lines = done.stdout.splitlines()
    assert lines[0] == "Processor"
    assert "Solved, not simulated: means of the steady state, without intervals." in lines
    assert "Of 100 partitions like these 95 use as many cores in a simulation within" in done.stdout
    assert "left out: user_pct, " in done.stdout
    assert "p95 ms" in done.stdout
    assert not (scenario.parent / "runs").exists()


BESIDE = """
[machine]
model = "{machine}"
active_cores = 4
{more}

[[partition]]
name = "web"
processors = {{ mode = "shared", virtual = 4{entitlement} }}
memory = "4 GiB"
guest = {{ os = "linux" }}
workload = {{ kind = "transactions", rate = "100/s", profile = "oltp" }}

[[partition]]
name = "batch"
processors = {{ mode = "shared", virtual = {virtual}{entitlement} }}
memory = "4 GiB"
guest = {{ os = "linux" }}
workload = {{ kind = "loops", count = {virtual}, endless = true, profile = "compute" }}

[run]
warmup = "1 s"
duration = "2 s"
replications = 1
"""
HOST = {"machine": "intel-xeon-6240-2s", "more": "sockets = 1\nthreads = 1", "entitlement": ""}
XEN = {**HOST, "more": 'sockets = 1\nthreads = 1\npolicy = "credit2"'}
PINNED = """
name = "pinned"

[machine]
model = "intel-xeon-6240-2s"
policy = "credit2"
active_cores = 4
sockets = 1
threads = 1
{rule}

[[partition]]
name = "pinned"
processors = {{ mode = "shared", virtual = 1{pins} }}
memory = "4 GiB"
workload = {{ kind = "loops", count = 1, endless = true, profile = "compute" }}

[[partition]]
name = "free"
processors = {{ mode = "shared", virtual = {others} }}
memory = "4 GiB"
workload = {{ kind = "loops", count = {others}, endless = true, profile = "compute" }}

[run]
warmup = "1 s"
duration = "2 s"
replications = 1
"""
OLD = 'hypervisor = { scheduler = { value = "cfs", why = "an old kernel" } }'
CFS = {**HOST, "more": f"sockets = 1\nthreads = 1\n{OLD}"}
FRAME = {"machine": "ibm-power-770", "more": "", "entitlement": ", entitlement = 1.0"}


@pytest.mark.parametrize("beside", [HOST, FRAME])
def test_work_waits_for_its_turn_behind_who_always_wants_more(
    command: Command, scenario: Path, beside: dict[str, str]
) -> None:
    def response() -> float:
        solved = told(command("solve", scenario, "--json"))
        assert solved["beside_greedy"] == {}
        return float(solved["partitions"]["web"]["response_ms_mean"]["mean"])

    scenario.write_text(BESIDE.format(**beside, virtual=2), encoding="utf-8")
    with_one_left = response()
    scenario.write_text(BESIDE.format(**beside, virtual=8), encoding="utf-8")
    assert response() > 1.05 * with_one_left
    assert "would take more processors" not in command("solve", scenario).stdout


@pytest.mark.parametrize("beside", [XEN, CFS])
def test_it_says_whose_work_waits_where_it_does_not_know_how_turns_come(
    command: Command, scenario: Path, beside: dict[str, str]
) -> None:
    scenario.write_text(BESIDE.format(**beside, virtual=8), encoding="utf-8")
    text = " ".join(command("solve", scenario).stdout.split())
    assert "batch would take more processors than there are: what the work of web waits" in text
    assert told(command("solve", scenario, "--json"))["beside_greedy"] == {"web": ["batch"]}
    # Beside two loops processors are left over.
    scenario.write_text(BESIDE.format(**beside, virtual=2), encoding="utf-8")
    assert "would take more processors" not in command("solve", scenario).stdout
    assert told(command("solve", scenario, "--json"))["beside_greedy"] == {}


def test_it_says_to_whom_loops_leave_fewer_processors_than_it_has_virtual_ones(
    command: Command, scenario: Path
) -> None:
    """Of four processors three loops leave one to the other's four."""

    def kept_from(loops: int, rate: int) -> Any:
        text = BESIDE.format(**HOST, virtual=loops)
        scenario.write_text(text.replace("100/s", f"{rate}/s"), encoding="utf-8")
        return told(command("solve", scenario, "--json")).get("kept_from")

    assert kept_from(3, 200) == {"web": ["batch"]}
    assert kept_from(3, 10) is None
    assert kept_from(4, 200) is None
    scenario.write_text(
        BESIDE.format(**HOST, virtual=3).replace("100/s", "200/s"), encoding="utf-8"
    )
    said = " ".join(command("solve", scenario).stdout.split())
    assert "batch always wants more and keeps its processors, which leaves fewer than web" in said


def test_what_work_waits_that_wants_nearly_all_that_loops_leave_is_not_told(
    command: Command, scenario: Path
) -> None:
    """Until then it waits the longer, the more comes. In runs it waits 2.7, 4.7 and 12 ms at 744,
    1041 and 1339 a second; as if it were slow all of the time it would wait 36 at 1339, and less
    the more comes.
    """
    one = "virtual = 4", "virtual = 1"
    small = '"oltp" }', '{ base = "oltp", instructions = 1e6 } }'
    before = 0.0
    for rate in (200, 500, 744, 1041, 1339, 1443):
        text = BESIDE.format(**HOST, virtual=4).replace("100/s", f"{rate}/s")
        scenario.write_text(text.replace(*one, 1).replace(*small, 1), encoding="utf-8")
        solved = told(command("solve", scenario, "--json"))
        response = solved["partitions"]["web"]["response_ms_mean"]["mean"]
        if rate > 1041:
            assert (response, solved["wanting_all"]) == (None, {"web": ["batch"]})
            assert "response_ms_mean" in solved["left_out"]
        else:
            assert (response > before, solved.get("wanting_all")) == (True, None)
            before = response
    said = " ".join(command("solve", scenario).stdout.split())
    assert "web wants nearly all that batch leaves it, which always wants more" in said


def test_it_says_which_pinned_domains_get_less_than_their_share(
    command: Command, scenario: Path
) -> None:
    """Of four processors; a fifth domain pinned to one of them, under the Xen of then and now."""

    def solved(*, pins: str = ', pins = "0"', others: int = 4, now: bool = False) -> str:
        since = "hypervisor = { outgoing_counts = { value = true, why = 'Xen 4.21' } }"
        rule = since if now else ""
        text = PINNED.format(rule=rule, pins=pins, others=others)
        scenario.write_text(text, encoding="utf-8")
        return command("solve", scenario).stdout

    said = "Pinned beside domains that are not, pinned may get"
    assert said in " ".join(solved().split())
    assert told(command("solve", scenario, "--json"))["looked_for_late"] == ["pinned"]
    for other in (solved(pins=""), solved(others=3), solved(now=True)):
        assert "Pinned beside" not in other


def test_check_runs_it_and_holds_one_against_the_other(command: Command, scenario: Path) -> None:
    answer = told(command("solve", scenario, "--check", "--json", "--show", "physc"))
    (row,) = answer["check"]["metrics"]
    run = told(command("run", scenario, "--json"))
    assert answer["check"]["run"] == run["run"]
    assert row["simulated"] == run["partitions"]["web"]["physc"]
    assert row["solved"] == answer["partitions"]["web"]["physc"]["mean"]
    assert row["deviation"] == pytest.approx(row["solved"] / row["simulated"]["mean"] - 1)
    assert "Solved beside run" in command("solve", scenario, "--check").stdout


def test_a_sweep_ends_with_a_table_of_all_points(command: Command, scenario: Path) -> None:
    scenario.write_text(SCENARIO + SWEEP, encoding="utf-8")
    answer = told(command("solve", scenario, "--json"))
    assert answer["solved"] is True
    assert [one["point"] for one in answer["runs"]] == [
        {"partition.web.workload.rate": rate} for rate in ("50/s", "100/s")
    ]
    cores = [row["metrics"]["physc"] for row in answer["table"]]
    assert cores[0]["mean"] < cores[1]["mean"]
    assert [one["ci95"] for one in cores] == [None, None]
    assert cores[1]["change"]["mean"] == pytest.approx(cores[1]["mean"] - cores[0]["mean"])
    done = command("solve", scenario)
    assert "All 2 points" in done.stdout
    assert "change: against the first\n" in done.stdout


def test_without_a_steady_state_it_says_what_keeps_it_from_more(
    command: Command, scenario: Path
) -> None:
    scenario.write_text(SCENARIO.replace("100/s", "90000/s"), encoding="utf-8")
    told = command("solve", scenario).stdout
    assert "No steady state, so throughput and response have no mean: web: more work comes" in told
    assert "than it can do, all 2 virtual processors in use." in told


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ('[find]\nof = "score"\n', "what a scenario looks for is simulated only"),
        ("", "paging of z/VM is simulated only; `homenode run` does it"),
    ],
)
def test_refusals_are_one_plain_message(
    more: str, what: str, command: Command, scenario: Path, root: Path
) -> None:
    closed = SCENARIO.replace('"transactions", rate = "100/s"', '"warehouses", count = 2')
    scenario.write_text(closed + more, encoding="utf-8")
    done = command("solve", scenario if more else root / "examples" / "zvm-paging.toml")
    assert (done.returncode, done.stdout) == (2, "")
    assert what in done.stderr
    assert "Traceback" not in done.stderr
