"""Whole runs by a sweep's workers: those of `run_scenario`, each replication committed once."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

from homenode.errors import HomenodeError
from homenode.model.scenario import Scenario
from homenode.simulate.run import Run
from homenode.simulate.runner import run_scenario
from homenode.simulate.sweep import drive, whole, worker
from homenode.simulate.sweep.whole import InterruptedRuns, keep_runs

from .test_sweep import reply_of_a_worker, wait_for, workers_of


def layouts(path: Path) -> list[Scenario]:
    base = Scenario.load(path)
    return [base.nth(0), base.nth(2)]


def content(run: Run) -> dict[str, bytes]:
    files = {one.relative_to(run.path): one for one in run.path.rglob("*") if one.is_file()}
    return {str(name): one.read_bytes() for name, one in files.items()
            if name.name != "provenance.json"}  # fmt: skip


@pytest.mark.parametrize("jobs", [1, 2])
def test_they_are_those_of_run_scenario(
    small: Path, tmp_path: Path, jobs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drive, "_WORTH_S", 0.0)  # processes for however little
    runs = keep_runs(layouts(small), replications=3, jobs=jobs, out=tmp_path / "runs")
    for run, layout in zip(runs, layouts(small), strict=True):
        alone = run_scenario(layout, replications=3, out=tmp_path / "alone")
        assert run.id == alone.id
        assert content(run) == content(alone)
        told = [{**one.provenance, "date": "", "files": ""} for one in (run, alone)]
        assert told[0] == told[1]
    # Nothing is left of what was on the way.
    assert sorted(one.name for one in (tmp_path / "runs").iterdir()) == sorted(
        run.id for run in runs
    )


def test_what_is_kept_is_read_unless_it_is_of_another_engine_or_damaged(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worked: list[int] = []
    work = worker.RunsWorker.work

    def counting(self: worker.RunsWorker, numbers: Any, stop: Any) -> Any:
        worked.extend(numbers)
        return work(self, numbers, stop)

    monkeypatch.setattr(worker.RunsWorker, "work", counting)
    one, other = layouts(small)
    first, second = keep_runs([one, one], replications=2, jobs=1, out=tmp_path)
    assert first.id == second.id
    assert worked == [0, 1]
    keep_runs([one, other], replications=2, jobs=1, out=tmp_path)
    assert len(worked) == 4
    (first.path / "summary.json").write_text("{")
    keep_runs([one, other], replications=2, jobs=1, out=tmp_path)
    assert len(worked) == 6
    monkeypatch.setattr(whole, "build", lambda: "another")
    with pytest.raises(HomenodeError, match="has another engine"):
        keep_runs([one], replications=2, jobs=1, out=tmp_path)


def test_they_go_on_where_they_were_stopped(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worked: list[int] = []
    work, stop = worker.RunsWorker.work, threading.Event()

    def stopping(self: worker.RunsWorker, numbers: Any, stopped: Any) -> Any:
        worked.extend(numbers)
        if len(worked) == 3:
            stop.set()
        return work(self, numbers[:1], stopped)

    monkeypatch.setattr(worker.RunsWorker, "work", stopping)
    monkeypatch.setattr(drive, "_BATCH_S", 0.0)  # a replication a batch
    with pytest.raises(InterruptedRuns, match="2 of 4 replications are kept") as cut:
        keep_runs(layouts(small), replications=2, jobs=1, out=tmp_path, stop=stop)
    first, second = cut.value.runs
    assert first is not None
    assert second is None
    stop.clear()
    runs = keep_runs(layouts(small), replications=2, jobs=1, out=tmp_path)
    assert worked == [0, 1, 2, 0, 1]
    assert runs[0].id == first.id
    assert not [one for one in tmp_path.iterdir() if one.name.startswith(".")]


def test_killed_advice_goes_on_and_says_the_same(tmp_path: Path) -> None:
    example = Path(__file__).parents[2] / "examples" / "p795-shared-book.toml"
    text = example.read_text(encoding="utf-8").replace('duration = "10 s"', 'duration = "1 s"')
    (tmp_path / "book.toml").write_text(text, encoding="utf-8")

    def command(out: str) -> list[str]:
        words = ["advise", "book.toml", "--free", "home", "-j", "2", "--out", out, "--json"]
        return [sys.executable, "-m", "homenode", *words]

    process = subprocess.Popen(
        command("cut"), cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    unfinished = ".unfinished-*/committed/*.gz"
    try:
        assert wait_for(lambda: any((tmp_path / "cut").glob(unfinished)) or process.poll())
        workers = workers_of(process.pid)
    finally:
        process.kill()
        process.wait()
    assert list((tmp_path / "cut").glob(unfinished))
    assert wait_for(lambda: not any(Path(f"/proc/{one}").exists() for one in workers))

    def told(out: str) -> str:
        done = subprocess.run(
            command(out), cwd=tmp_path, capture_output=True, text=True, check=True
        )
        return done.stdout

    assert told("cut") == told("whole")
    assert not list((tmp_path / "cut").glob(".unfinished-*"))


def test_a_layout_without_an_answer_leaves_nothing(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = {"refused": "scenario small has no steady state: so", "summary": {}, "tables": {}}
    monkeypatch.setattr(worker, "replicated", lambda *_: said)
    with pytest.raises(HomenodeError, match="scenario small has no steady state: so"):
        keep_runs(layouts(small)[:1], replications=1, jobs=1, out=tmp_path / "runs")
    assert not list((tmp_path / "runs").iterdir())


def test_a_worker_of_another_engine_is_refused(small: Path) -> None:
    from homenode.simulate.sweep.order import RunsOrder

    spec = layouts(small)[0].spec_json()
    reply = reply_of_a_worker(RunsOrder((spec,), (1,), "another"))
    assert reply.error.endswith("the sweep is of another")
