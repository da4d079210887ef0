"""Sweeps: the same bytes by whomever, each point once, whatever dies on the way."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from homenode.errors import HomenodeError, ScenarioError, StoreError
from homenode.simulate.scenario import Scenario
from homenode.simulate.sweep import drive
from homenode.simulate.sweep.cluster import Cluster
from homenode.simulate.sweep.crew import Processes
from homenode.simulate.sweep.drive import InterruptedSweep, run_sweep
from homenode.simulate.sweep.order import AnyOrder, Batch, Order, Reply, order_of
from homenode.simulate.sweep.results import REPLICATIONS, RESULTS, SweepResults
from homenode.simulate.sweep.store import Store
from homenode.simulate.sweep.worker import PointsWorker, reply_to

from .conftest import written


def tables(done: SweepResults) -> tuple[bytes, bytes]:
    return done.results.read_bytes(), (done.folder / REPLICATIONS).read_bytes()


def test_one_process_and_many_write_the_same_bytes(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drive, "_WORTH_S", 0.0)  # processes for however little
    alone = run_sweep(small, jobs=1, out=tmp_path / "alone")
    many = run_sweep(small, jobs=3, out=tmp_path / "many")
    assert tables(alone) == tables(many)
    assert alone.id == many.id
    told = {key: value for key, value in alone.provenance.items() if key != "date"}
    assert told == {key: value for key, value in many.provenance.items() if key != "date"}
    assert sorted(one.name for one in alone.folder.iterdir()) == [
        "lock", "provenance.json", REPLICATIONS, RESULTS, "scenario.toml",
    ]  # fmt: skip


@pytest.mark.parametrize("replications", [1, 3])
def test_each_point_is_what_a_run_of_it_says(tmp_path: Path, replications: int) -> None:
    path = written(tmp_path, 6, "300 ms", replications)
    done = run_sweep(path, jobs=1, out=tmp_path / "sweeps")
    table = pl.read_parquet(done.results)
    points = done.read(["physc", "response_ms_mean", "response_ms_p95"])
    for row, point, scenario in zip(
        table.iter_rows(named=True), points, Scenario.load(path).expand(), strict=True
    ):
        run = scenario.run(out=tmp_path / "runs")
        assert (row["run"], point.run) == (run.id, run.id)
        for name, told in run.metrics["db"].items():
            assert (row[name], row[f"{name}_ci95"]) == (told.mean, told.ci95), name
        assert {axis: row[axis] for axis in scenario.point} == dict(scenario.point)
        for index, totals in enumerate(run.totals("db")):
            assert point.values["db", "physc"][index] == totals["busy_ns"] / 0.3e9


def test_what_is_there_is_not_done_again(small: Path, tmp_path: Path) -> None:
    done = run_sweep(small, jobs=1, out=tmp_path)
    began = done.results.stat().st_mtime_ns
    assert run_sweep(small, jobs=1, out=tmp_path).results.stat().st_mtime_ns == began
    other = run_sweep(small, jobs=1, seed=7, out=tmp_path)
    assert other.folder != done.folder


def test_a_sweep_goes_on_where_it_was_stopped(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = run_sweep(small, jobs=1, out=tmp_path / "whole")
    monkeypatch.setattr(drive, "_BATCH_S", 0.0)  # a point a batch
    worked: list[int] = []
    work = PointsWorker.work

    def stopping(self: PointsWorker, numbers: Batch, stop: Any) -> Any:
        if len(worked) == 5:
            raise KeyboardInterrupt
        worked.extend(numbers)
        return work(self, numbers, stop)

    monkeypatch.setattr(PointsWorker, "work", stopping)
    with pytest.raises(InterruptedSweep, match=r"5 of 12 points are kept .* goes on from there"):
        run_sweep(small, jobs=1, out=tmp_path / "cut")
    (folder,) = (tmp_path / "cut").iterdir()
    assert not SweepResults.is_complete(folder)
    with pytest.raises(StoreError, match="no complete sweep"):
        SweepResults.at(folder)
    worked.append(-1)  # not stopped a second time
    assert tables(run_sweep(small, jobs=1, out=tmp_path / "cut")) == tables(whole)
    assert sorted(set(worked) - {-1}) == list(range(12))
    assert len(worked) == 13


def driver(path: Path, out: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "homenode", "sweep", str(path), "-j", "2", "--out", str(out)]
    return subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )


def committed(out: Path) -> list[Path]:
    return sorted(out.glob("*/committed/*.gz"))


def wait_for(what: Any, seconds: float = 120.0) -> bool:
    until = time.monotonic() + seconds
    while not what():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def workers_of(pid: int) -> list[int]:
    """Children that work off batches."""
    found = []
    for one in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parent = int(one.read_text().rpartition(")")[2].split()[1])
            line = (one.parent / "cmdline").read_bytes()
            if parent == pid and b"import serve" in line:
                found.append(int(one.parent.name))
    return found


def test_a_killed_driver_loses_nothing_that_is_committed(long: Path, tmp_path: Path) -> None:
    out = tmp_path / "cut"
    process = driver(long, out)
    try:
        assert wait_for(lambda: len(committed(out)) >= 3 or process.poll() is not None)
        workers = workers_of(process.pid)
    finally:
        process.kill()
        process.wait()
    kept = {one: one.read_bytes() for one in committed(out)}
    assert kept
    assert not any(SweepResults.is_complete(one) for one in out.iterdir())
    # Nobody is left behind: a worker ends with its pipe.
    assert wait_for(lambda: not any(Path(f"/proc/{one}").exists() for one in workers))
    again = run_sweep(long, jobs=2, out=out)
    assert tables(again) == tables(run_sweep(long, jobs=2, out=tmp_path / "whole"))


def test_a_killed_worker_is_replaced(long: Path, tmp_path: Path) -> None:
    out = tmp_path / "cut"
    process = driver(long, out)
    try:
        assert wait_for(lambda: len(committed(out)) >= 2 or process.poll() is not None)
        for one in workers_of(process.pid)[:1]:
            os.kill(one, signal.SIGKILL)
        assert process.wait(300) == 0
    finally:
        process.kill()
        process.wait()
    (folder,) = out.iterdir()
    assert tables(SweepResults.at(folder)) == tables(run_sweep(long, jobs=2, out=tmp_path / "w"))


def test_a_script_that_is_no_program_may_call_it(small: Path, tmp_path: Path) -> None:
    """Nothing of it runs a second time."""
    script = tmp_path / "script.py"
    script.write_text(
        "import homenode\n"
        "from homenode.simulate.sweep import drive\n"
        "drive._WORTH_S = 0.0\n"
        f"done = homenode.run_sweep({str(small)!r}, jobs=2, out={str(tmp_path / 'out')!r})\n"
        "print(done.points)\n"
    )
    command = [sys.executable, str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "12\n", "")


def test_a_point_that_takes_workers_along_is_named(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drive, "crew_of", lambda order, *_: Deadly(order, 4))
    with pytest.raises(HomenodeError, match=r"3 workers died at point 4 \(rate = 101/s, virtual"):
        run_sweep(small, out=tmp_path / "out")
    assert len(committed(tmp_path / "out")) > 0


class Deadly:
    """A crew that loses every batch with one point in it."""

    size = 1

    def __init__(self, order: Any, point: int) -> None:
        self.worker, self.point = PointsWorker(order), point
        self.batch: Batch = ()

    def send(self, batch: Batch) -> None:
        self.batch = batch

    def replies(self) -> Any:
        import threading

        dies = self.point in self.batch
        yield self.batch, None if dies else reply_to(self.worker, self.batch, threading.Event())

    def stop(self) -> None: ...

    def close(self) -> None: ...


def test_a_second_result_must_be_the_same(small: Path, tmp_path: Path) -> None:
    import threading

    order = order_of(Scenario.load(small), None, None)
    first, second = PointsWorker(order).work([3, 4], threading.Event())
    with Store(tmp_path / "store", 12) as store:
        store.commit([first])
        store.commit([first, second])
        assert store.count == 2
        assert store.line(4) == second.line
        with pytest.raises(StoreError, match="two results of point 3 differ"):
            store.commit([replace(first, line=first.line.replace(b"3", b"5"))])
    with Store(tmp_path / "store", 12) as store:
        assert [number for number in range(12) if store.has(number)] == [3, 4]


def test_a_damaged_batch_is_done_anew_and_a_torn_one_is_swept(small: Path, tmp_path: Path) -> None:
    import threading

    order = order_of(Scenario.load(small), None, None)
    done = PointsWorker(order).work([0, 1], threading.Event())
    with Store(tmp_path / "store", 12) as store:
        store.commit(done[:1])
        store.commit(done[1:])
    folder = tmp_path / "store" / "committed"
    first, _ = sorted(folder.iterdir())
    first.write_bytes(first.read_bytes()[:40])
    (folder / "00000005.jsonl.gz.new").write_bytes(b"half")
    with Store(tmp_path / "store", 12) as store:
        assert [number for number in range(12) if store.has(number)] == [1]
    assert [one.name for one in folder.iterdir()] == ["00000001.jsonl.gz"]


def test_two_do_not_work_on_one_sweep(small: Path, tmp_path: Path) -> None:
    order = order_of(Scenario.load(small), None, None)
    with (
        Store(tmp_path / f"small-{order.id[:8]}", 12),
        pytest.raises(StoreError, match="worked on by another process"),
    ):
        run_sweep(small, out=tmp_path)


def of_another_engine(path: Path) -> Order:
    return replace(order_of(Scenario.load(path), None, None), build="another")


def reply_of_a_worker(order: AnyOrder, meanwhile: Callable[[], None] = lambda: None) -> Reply:
    """What a worker says to its first batch."""
    crew = Processes(order, 1)
    try:
        crew.send((0,))
        meanwhile()
        found: list[tuple[Batch, Reply | None]] = []
        while not found:
            found += crew.replies()
    finally:
        crew.close()
    ((_, reply),) = found
    assert reply is not None, "the worker was lost"
    return reply


def test_ctrl_c_is_left_to_the_driver_while_workers_start(
    small: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A terminal sends it to all of them."""

    def press() -> None:
        (worker,) = workers_of(os.getpid())
        for _ in range(10):
            os.kill(worker, signal.SIGINT)
            time.sleep(0.03)

    assert reply_of_a_worker(of_another_engine(small), press).error
    assert "Traceback" not in capfd.readouterr().err


def test_workers_of_another_engine_are_refused_by_name(small: Path) -> None:
    reply = reply_of_a_worker(of_another_engine(small))
    assert reply.done == ()
    assert reply.error.endswith("the sweep is of another")
    assert ", process " in reply.worker


def test_a_value_that_no_point_can_have_is_refused_before_anything_runs(tmp_path: Path) -> None:
    path = written(tmp_path, 3, "100 ms")
    path.write_text(path.read_text().replace("[2, 4, 8]", "[2, 4, 0]"))
    with pytest.raises(ScenarioError, match=r"virtual\" = 0"):
        run_sweep(path, out=tmp_path / "out")
    assert not list((tmp_path / "out").glob("*/committed/*"))


def test_points_that_cannot_be_are_told_and_the_others_kept(tmp_path: Path) -> None:
    """Each value may stand alone; two virtual processors are not entitled to three cores."""
    path = written(tmp_path, 3, "100 ms")
    for before, after in (
        ("[2, 4, 8]", "[4, 2]"),
        ("entitlement = 1.0", "entitlement = 0.4"),
        ('workload.rate" = ["100/s"]', 'processors.entitlement" = [0.4, 3.0]'),
    ):
        text = path.read_text()
        assert before in text
        path.write_text(text.replace(before, after))
    done = run_sweep(path, jobs=1, out=tmp_path / "out")
    assert list(done.refused) == [3]
    assert "it is entitled to 3" in done.refused[3]
    assert pl.read_parquet(done.results)["point"].to_list() == [0, 1, 2]


@pytest.mark.parametrize(
    ("on", "said"),
    [
        (
            "ray://127.0.0.1:9",
            "there is no cluster at ray://127.0.0.1:9: Connection refused: start one",
        ),
        ("ray://127.0.0.1:abc", "there is no cluster at ray://127.0.0.1:abc: Port could not"),
        ("slurm", "--on slurm: there is no such cluster: ray starts one here"),
    ],
)
def test_a_cluster_that_is_not_there_is_told(
    small: Path, tmp_path: Path, on: str, said: str
) -> None:
    if on != "slurm":
        pytest.importorskip("ray", reason="Ray is not installed: `make setup` brings it")
    with pytest.raises(HomenodeError, match=said):
        run_sweep(small, on=on, out=tmp_path / "out")
    assert not list((tmp_path / "out").iterdir()), "an empty folder was left"


@pytest.mark.parametrize("module", ["grpc._channel", "builtins"])
def test_what_is_raised_below_ray_is_told_as_a_cluster_that_is_gone(module: str) -> None:
    ray = pytest.importorskip("ray", reason="Ray is not installed: `make setup` brings it")
    crew = Cluster.__new__(Cluster)
    crew._ray, crew.name = ray, "2 workers of ray://there"
    fault = type("Fault", (Exception,), {"__module__": module})
    wanted = HomenodeError if module.startswith("grpc") else fault
    with pytest.raises(wanted) as caught, crew._reached():
        raise fault("NOT_FOUND")
    if wanted is HomenodeError:
        assert "the cluster is gone (it does not answer): what is committed stays" in str(
            caught.value
        )
