"""`run_scenario`: from a scenario to a kept run."""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import platform
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from homenode.errors import HomenodeError, listed
from homenode.model.spec import Spec
from homenode.simulate.answers import Answer, Columns, Origin, Provenance
from homenode.simulate.engine import Engine, build, load_engine, table_columns
from homenode.simulate.kept.guests import with_guests
from homenode.simulate.kept.store import (
    drafting,
    dump_json,
    fingerprints,
    publish,
    runs_folder,
    table_path,
)
from homenode.simulate.kept.summarize import summarize, with_gauges
from homenode.simulate.run import Run
from homenode.simulate.runner.interval_files import ReplicationWriter, merge_parts
from homenode.simulate.runner.job import FrozenScenario, Job, freeze, whole
from homenode.simulate.runner.simulate import ProgressFn, simulate_all
from homenode.version import program_version

SeenFn = Callable[[Spec, int, Columns], None]
"""Told the spec, the replication and, by table, the columns of the intervals that ended."""


class InterruptedRun(KeyboardInterrupt):
    """Ctrl-C during a run; `run` holds the replications that had finished, if any had."""

    def __init__(self, run: Run | None, finished: int, asked: int) -> None:
        self.run = run
        self.finished = finished
        self.asked = asked
        self.earlier: tuple[str, ...] = ()
        """Runs that were complete before, where this one was one of several."""
        super().__init__()

    def __str__(self) -> str:
        """What was kept."""
        kept = f"kept as {self.run.id}" if self.run is not None else "nothing to keep"
        text = f"interrupted: {self.finished} of {self.asked} replications had finished; {kept}"
        earlier = listed(dict.fromkeys(self.earlier))
        return f"{text}; complete before: {earlier}" if earlier else text


def run_scenario(
    scenario: FrozenScenario | str | Path,
    *,
    replications: int | None = None,
    seed: int | None = None,
    jobs: int | None = None,
    out: str | Path = "runs",
    progress: ProgressFn | None = None,
    stop: threading.Event | None = None,
    look: SeenFn | None = None,
) -> Run:
    """Simulate a scenario and keep the results in a folder of `out`.

    `replications` and `seed` replace the scenario's own; `jobs` is the number of threads (default:
    all cores); `look` sees the rows of what ended (`SeenFn`). The same scenario, seed and
    replications give the same run id and the same bytes, however many threads there are.
    """
    if jobs is not None and whole("jobs", jobs) < 1:
        raise HomenodeError(f"jobs = {jobs}: a run takes a thread at least")
    engine, root = load_engine(), runs_folder(out)
    job = freeze(scenario, replications, seed, program_version(), progress)
    asked = len(job.replications)
    ended: dict[int, Answer] = {}
    with _told(asked, ended), drafting(root) as folder:
        writer = partial(ReplicationWriter, folder, columns=table_columns(engine))
        seen = None if look is None else partial(look, job.spec)
        try:
            outcome = simulate_all(engine, job, writer, jobs, progress, stop, seen)
        except (engine.SpecError, engine.Runaway) as error:
            raise HomenodeError(refused(job, error, engine)) from error
        ended.update(outcome.summaries)
        if not ended:
            raise InterruptedRun(None, 0, asked)
        job = job.with_replications(outcome.summaries)
        with _deaf() if outcome.interrupted else contextlib.nullcontext():
            complete(folder, job, engine, outcome.summaries)
            publish(folder, root / job.id)
    run = Run.at(root / job.id)
    if outcome.interrupted:
        raise InterruptedRun(run, len(ended), asked)
    return run


def refused(job: Job, error: BaseException, engine: Engine) -> str:
    """What the engine says of a job that has no answer."""
    why = " has no steady state" if isinstance(error, engine.Runaway) else ""
    return f"scenario {job.name}{why}: {error}"


@contextlib.contextmanager
def _told(asked: int, ended: Mapping[int, Answer]) -> Iterator[None]:
    """Ctrl-C before the replications began, or while all were being kept, is told as later."""
    try:
        yield
    except InterruptedRun:
        raise
    except KeyboardInterrupt:
        raise InterruptedRun(None, len(ended), asked) from None


@contextlib.contextmanager
def _deaf() -> Iterator[None]:
    """Another Ctrl-C, or request to end, is not heard while what had finished is being kept."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, signal.SIG_IGN) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:  # as one that Python knows nothing of
                signal.signal(number, handler)


def complete(folder: Path, job: Job, engine: Engine, summaries: Mapping[int, Answer]) -> None:
    """Complete a staged folder, in which the tables of each replication lie; the provenance is
    written last.
    """
    for table, columns in table_columns(engine).items():
        merge_parts(folder, table_path(folder, table), table, job.replications, columns)
    (folder / "scenario.toml").write_text(job.text, encoding="utf-8")
    for path, content in job.files.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_bytes(content)
    (folder / "details.json").write_text(dump_json(job.details), encoding="utf-8")
    (folder / "machine.json").write_text(dump_json(job.machine), encoding="utf-8")
    (folder / "spec.json").write_text(job.spec_text, encoding="utf-8")
    raw = with_gauges([summaries[index] for index in job.replications], folder)
    raw = with_guests(raw, folder, job.spec)
    (folder / "replications.json").write_text(dump_json(raw), encoding="utf-8")
    summary = summarize(job.id, job.spec, raw, folder, job.machine)
    (folder / "summary.json").write_text(dump_json(summary), encoding="utf-8")
    provenance: Provenance = {**_provenance(job, engine), "files": fingerprints(folder)}
    (folder / "provenance.json").write_text(dump_json(provenance), encoding="utf-8")


def _provenance(job: Job, engine: Engine) -> Origin:
    """Where the numbers come from; the only file of a run that differs when it is repeated."""
    found: Origin = {
        "run": job.id,
        "scenario": job.spec["name"],
        "seed": job.spec["seed"],
        "replications": list(job.replications),
        "version": job.version,
        "engine_version": engine.ENGINE_VERSION,
        "build": build(),
        "commit": _commit(),
        "machine": {
            "system": platform.system(),
            "architecture": platform.machine(),
            "cores": os.cpu_count(),
            "python": platform.python_version(),
        },
        "date": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
    }
    if job.point:
        found["point"] = job.point
    if job.changes:
        found["changes"] = job.changes
    return found


def _commit() -> str | None:
    """Commit of the repository the package is run from, if it is run from one that tracks it."""
    if not _git("ls-files", Path(__file__).name):
        return None
    return _git("rev-parse", "HEAD")


def _git(*arguments: str) -> str | None:
    here = Path(__file__).resolve().parent
    try:
        answer = subprocess.run(
            ["git", "-C", str(here), *arguments],
            capture_output=True,
            text=True,
            timeout=5,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip() or None if answer.returncode == 0 else None
