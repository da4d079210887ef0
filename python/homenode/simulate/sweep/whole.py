"""`keep_runs`: whole runs of a few layouts by the path of a sweep's points. Their replications go
to the same crews, each is committed once, and what is all there becomes a kept run.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import shutil
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from homenode.errors import HomenodeError, StoreError
from homenode.model.scenario import Scenario
from homenode.simulate.engine import build, load_engine
from homenode.simulate.kept.store import drafting, dump_json, publish, runs_folder
from homenode.simulate.run import Run
from homenode.simulate.runner.job import Job, freeze, whole
from homenode.simulate.runner.running import complete
from homenode.simulate.sweep.drive import Drive, InterruptedSweep, ProgressFn
from homenode.simulate.sweep.order import Done, RunsOrder, record_in
from homenode.simulate.sweep.replicated import put_in_place
from homenode.simulate.sweep.store import Store
from homenode.version import program_version

_DIGITS = 8
Layout = tuple[Job, Store]


class InterruptedRuns(InterruptedSweep):
    """Ctrl-C, or a request to end: `runs` holds what was complete, None for what was not."""

    runs: Sequence[Run | None] = ()


@dataclass
class _Stores:
    """The stores of several layouts as one: numbers of one follow those of the one before."""

    stores: Sequence[Store]
    folder: Path
    what: str = "replications"

    @property
    def count(self) -> int:
        return sum(one.count for one in self.stores)

    def __len__(self) -> int:
        return sum(map(len, self.stores))

    def missing(self) -> Iterator[int]:
        for first, one in zip(self._firsts(), self.stores, strict=True):
            yield from (first + number for number in one.missing())

    def commit(self, results: Sequence[Done]) -> None:
        for first, one in zip(self._firsts(), self.stores, strict=True):
            places = range(first, first + len(one))
            mine = [replace(r, number=r.number - first) for r in results if r.number in places]
            one.commit(mine)

    def _firsts(self) -> list[int]:
        return list(itertools.accumulate(map(len, self.stores[:-1]), initial=0))


def keep_runs(
    scenarios: Sequence[Scenario],
    *,
    replications: int | None = None,
    on: str | None = None,
    jobs: int | None = None,
    out: str | Path = "runs",
    progress: ProgressFn | None = None,
    stop: threading.Event | None = None,
) -> list[Run]:
    """Simulate layouts and keep a run of each, as `run_scenario` does; who works is that of
    `run_sweep`. A run that is there, of the same layout and engine, is read; what was begun and not
    ended goes on where it was.

    Raises `HomenodeError` as both do, and `InterruptedRuns` at Ctrl-C or once `stop` is set.
    """
    if jobs is not None and whole("jobs", jobs) < 1:
        raise HomenodeError(f"jobs = {jobs}: a run takes a thread at least")
    root = runs_folder(out)
    asked = [freeze(one, replications, None, program_version()) for one in scenarios]
    found = {job.id: run for job in asked if (run := _kept(root, job)) is not None}
    # The same layout may be asked for twice.
    missing = {job.id: job for job in asked if job.id not in found}
    if missing:
        with contextlib.ExitStack() as stack:
            layouts = [(job, stack.enter_context(_store(root, job))) for job in missing.values()]
            try:
                _work_off(layouts, root, on, jobs, progress, stop)
            except InterruptedSweep as cut:
                ended = InterruptedRuns(cut.folder, cut.committed, cut.points, cut.what)
                found |= _published(layouts, root)
                ended.runs = [found.get(job.id) for job in asked]
                raise ended from cut
            found |= _published(layouts, root)
    return [found[job.id] for job in asked]


def _work_off(
    layouts: Sequence[Layout],
    root: Path,
    on: str | None,
    jobs: int | None,
    progress: ProgressFn | None,
    stop: threading.Event | None,
) -> None:
    specs = tuple(job.spec_text for job, _ in layouts)
    order = RunsOrder(specs, tuple(len(job.replications) for job, _ in layouts), build())

    def words(number: int) -> str:
        at, index = order.replication(number)
        return f"replication {index} of {layouts[at][0].id}"

    stores = _Stores([store for _, store in layouts], root)
    Drive(order, stores, progress, words, stop).work_off(on, jobs)


def _kept(root: Path, job: Job) -> Run | None:
    """The run of a job that is kept already, by the same engine; None if there is none, or if
    anything is wrong with it.
    """
    folder = root / job.id
    texts = {"spec.json": job.spec_text, "scenario.toml": job.text}
    texts["details.json"] = dump_json(job.details)
    try:
        run = Run.at(folder)
        same = all((folder / name).read_text("utf-8") == text for name, text in texts.items())
    except (HomenodeError, OSError, ValueError):
        return None
    told: Mapping[str, object] = run.provenance
    every = told.get("replications") == list(job.replications)
    return run if same and every and told.get("build") == build() else None


@contextlib.contextmanager
def _store(root: Path, job: Job) -> Iterator[Store]:
    """Where replications of a job are committed until all are there."""
    key = hashlib.sha256(json.dumps([job.spec_text, build()]).encode()).hexdigest()[:_DIGITS]
    folder, count = root / f".unfinished-{job.id}-{key}", len(job.replications)
    with contextlib.ExitStack() as stack:
        try:
            store = stack.enter_context(Store(folder, count))
        except StoreError:
            if not folder.is_dir():
                raise
            # Another process is at the same layout. It need not be waited for.
            aside = stack.enter_context(
                tempfile.TemporaryDirectory(prefix=".unfinished-", dir=root)
            )
            store = stack.enter_context(Store(Path(aside), count))
        yield store


def _published(layouts: Sequence[Layout], root: Path) -> dict[str, Run]:
    """The runs of layouts of which all replications are committed."""
    engine, found = load_engine(), {}
    for job, store in layouts:
        if store.count < len(store):
            continue
        with drafting(root) as folder:
            summaries = {}
            for index in job.replications:
                record = record_in(store.line(index))
                if record["refused"]:
                    shutil.rmtree(store.folder, ignore_errors=True)
                    raise HomenodeError(record["refused"])
                put_in_place(record, folder, index)
                summaries[index] = record["summary"]
            complete(folder, job, engine, summaries)
            publish(folder, root / job.id)
        shutil.rmtree(store.folder, ignore_errors=True)
        found[job.id] = Run.at(root / job.id)
    return found
