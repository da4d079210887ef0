"""The whole way with the compiled engine, in a process of its own, on a short scenario."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

SCENARIO = """\
name = "small"

[machine]
model = "ibm-p5-570"

[[partition]]
name = "web"
processors = { mode = "shared", entitlement = 1.0, virtual = 2, weight = 200 }
smt = 2
memory = "2 GiB"
guest = { level = "5.3" }
workload = { kind = "transactions", rate = "100/s", profile = "oltp" }

[[partition]]
name = "batch"
processors = { mode = "shared", entitlement = 0.5, virtual = 2 }
smt = 2
memory = "2 GiB"
guest = { level = "5.3" }
workload = { kind = "loops", count = 2, endless = true, profile = "oltp" }

[run]
warmup = "500 ms"
duration = "2 s"
replications = 2
"""

Homenode = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SCENARIO, encoding="utf-8")
    return path


def answer(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_run_explain_tools_and_sql(homenode: Homenode, command: Homenode, scenario: Path) -> None:
    """A process of its own for the first of each kind; the others would only start it again."""
    told = json.loads(answer(homenode("run", scenario, "--json")))
    web = told["partitions"]["web"]
    cores = sum(value["mean"] for name, value in web.items() if name.startswith("cores_"))
    assert cores == pytest.approx(web["physc"]["mean"])
    assert web["etr_per_s"]["mean"] == pytest.approx(100, rel=0.25)
    assert "web uses" in answer(homenode("explain", "small:web"))
    assert "batch" in answer(command("explain", "small:web", "small:batch"))
    assert answer(homenode("lparstat", "-p", "web", "1", "2")).count("\n") >= 5
    assert "System configuration" in answer(command("mpstat", "-p", "batch"))
    identity = answer(command("lparstat", "-p", "batch", "-i"))
    assert "2048 MB" in identity
    question = "SELECT count(*) AS n FROM partition_intervals"
    assert json.loads(answer(command("sql", question, "--json"))) == [{"n": 8}]


def test_the_causes_are_the_engines_books() -> None:
    from homenode import _engine
    from homenode.simulate.kept import CAUSES

    assert [cause.name for cause in CAUSES] == list(_engine.BOOKS)


def test_every_column_the_metrics_read_is_there() -> None:
    from homenode import _engine
    from homenode.simulate.kept import METRICS
    from homenode.simulate.kept.totals import Shape, Totals

    asked: set[str] = set()

    class Noted(dict[str, float]):
        def get(self, key: str, default: float | None = None) -> float:  # type: ignore[override]
            asked.add(key)
            return 1.0

    totals = Totals(Shape("p", 1.0, 1, 1, True), 1.0, Noted())
    for metric in METRICS.values():
        metric.formula(totals)
    assert asked <= set(_engine.PARTITION_COLUMNS)


def test_same_bytes_on_one_thread_and_two(
    homenode: Homenode, command: Homenode, scenario: Path, tmp_path: Path
) -> None:
    """And in a process of its own, which puts sets in another order, as in this one."""
    for jobs, call in (("1", homenode), ("2", command)):
        answer(call("run", scenario, "--jobs", jobs, "--out", f"runs{jobs}"))
    one, two = (
        {path.relative_to(root): path.read_bytes() for path in root.rglob("*") if path.is_file()}
        for root in (tmp_path / "runs1", tmp_path / "runs2")
    )
    assert one.keys() == two.keys()
    differing = [path.name for path in one if one[path] != two[path]]
    assert set(differing) <= {"provenance.json"}


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_an_interrupt_ends_it_soon_and_keeps_what_was_done(
    number: signal.Signals, code: int, scenario: Path, tmp_path: Path
) -> None:
    scenario.write_text(
        SCENARIO.replace("2 s", "2000 s").replace("500 ms", "0 s"), encoding="utf-8"
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "homenode", "run", str(scenario), "-n", "2"],
        cwd=tmp_path,
        env={**os.environ, "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob("runs/.tmp-*/run/intervals")) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert "Traceback" not in err
    assert err.startswith("homenode: interrupted: ")
    assert list((tmp_path / "runs").iterdir()) == []


def test_a_file_that_cannot_grow_is_one_message(scenario: Path, tmp_path: Path) -> None:
    """A limit on the size of files stands in for a full disk."""
    # Bytecode that is cut off by the limit would stay, for all programs that read it after this.
    limited = "import resource, sys; sys.dont_write_bytecode = True; "
    limited += "resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192)); "
    call = "from homenode.cli import main; main(sys.argv[1:])"
    done = subprocess.run(
        [sys.executable, "-c", limited + call, "run", str(scenario)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 2
    assert "cannot write results into runs: File too large; free some space" in done.stderr
    assert done.stderr.count("\n") == 1
    assert list((tmp_path / "runs").iterdir()) == []
