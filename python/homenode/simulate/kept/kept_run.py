"""A kept run: what was simulated, the metrics, the interval tables. The same object in a notebook
and on the command line.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Self

from homenode.errors import DamagedRunError, NotFoundError, nearest
from homenode.model.estimate import Estimate, estimate
from homenode.simulate.answers import RunFiles
from homenode.simulate.kept.books import CAUSES
from homenode.simulate.kept.damage import (
    check_tables,
    check_whole,
    earlier_version,
    read_files,
    refuse_earlier,
)
from homenode.simulate.kept.fabric import Traffic, traffic
from homenode.simulate.kept.figures import Figures
from homenode.simulate.kept.finding import LATEST, find, original, run_folders
from homenode.simulate.kept.guests import names_of, tables_beside
from homenode.simulate.kept.metrics import METRICS
from homenode.simulate.kept.reading import reading, scan_table
from homenode.simulate.kept.store import GUEST_TABLES, INTERVAL_TABLES, table_path
from homenode.simulate.kept.threads import charged_pct

if TYPE_CHECKING:
    import polars as pl

_TRIES = 5
_JSON_FILES = (
    "spec.json",
    "machine.json",
    "details.json",
    "replications.json",
    "summary.json",
    "provenance.json",
)
_THREAD_METRIC = re.compile(r"(cpu|proc|cpu_rank)(\d+)_pct")


class KeptRun(Figures):
    """A run folder that was found complete. `homenode.simulate.run.Run` can explain it too."""

    def __init__(self, path: Path, files: RunFiles) -> None:
        super().__init__(files)
        self.path = path
        self._seen_whole: set[str] = set()

    @classmethod
    def load(cls, which: str | Path = LATEST, root: str | Path = "runs") -> Self:
        """Open a run by folder, id, unique beginning of an id, scenario name (its newest run) or
        `latest`.
        """
        for _ in range(_TRIES):
            path = find(which, root)
            found = _identity(path)
            try:
                return cls.at(path)
            except DamagedRunError as error:
                # Deleted, or kept anew, while it was read: that is another folder.
                if _identity(path) == found:
                    raise
                gone = error
        raise gone

    @classmethod
    def at(cls, path: Path) -> Self:
        """Open the run that a folder holds."""
        files = read_files(
            path, _JSON_FILES, [table_path(path, table) for table in INTERVAL_TABLES]
        )
        refuse_earlier(path, files["spec.json"])
        run = cls(path, files)
        _check_fit(run)
        return run

    @classmethod
    def all(
        cls, root: str | Path = "runs", damaged: list[DamagedRunError] | None = None
    ) -> list[Self]:
        """All kept runs that can be read, newest first, each once; what is wrong with others goes
        to `damaged`, and of what they are copies.
        """
        found: dict[str, Self] = {}
        left_out = [] if damaged is None else damaged
        for path in run_folders(root):
            copied = original(path)
            try:
                run = cls.load(path, root)
            except NotFoundError:  # deleted since
                continue
            except DamagedRunError as error:
                left_out.append(error)
                continue
            copied = copied or (found[run.id].path if run.id in found else None)
            if copied is None:
                found[run.id] = run
            else:
                left_out.append(DamagedRunError(f"{path} is a copy of {copied}"))
        return list(found.values())

    def metric(self, partition: str | None, name: str) -> Estimate:
        """One metric; beside those of `metrics` also `cpuN_pct`, `procN_pct`, `cpu_rankN_pct` (see
        `values`).
        """
        return (
            super().metric(partition, name)
            if name in METRICS
            else estimate(self.values(partition, name))
        )

    def values(self, partition: str | None, name: str) -> list[float]:
        """A metric in each replication that has it.

        `cpuN_pct` is the share of a core that logical CPU N was charged, `procN_pct` that of
        virtual processor N, and `cpu_rankN_pct` that of the N-th busiest logical CPU (1 = busiest).
        """
        thread = _THREAD_METRIC.fullmatch(name)
        if thread is None:
            return super().values(partition, name)
        partition = self.partition(partition)
        index, duration_ns = self.partitions.index(partition), int(self.spec["duration_ns"])
        charged = charged_pct(self.path, duration_ns, index, thread[1], int(thread[2]))
        if charged is None:
            raise NotFoundError(f"partition {partition} has no {thread[1]} {thread[2]}")
        return charged

    def intervals(self, table: str = "partition") -> pl.DataFrame:
        """A result table (`partition`, `cpu`, `pool`; where partitions have several workloads
        `workload`; where z/VM runs also `virtual_machine`, `switch`, `volume`), a row per interval;
        names beside indices.
        """
        return self._named(self.table_file(table), table)

    def table_file(self, table: str) -> Path:
        """The file of such a table, found to be as it was written."""
        tables = (*INTERVAL_TABLES, *tables_beside(self.spec))
        if table == "workload" and table not in tables:
            raise NotFoundError(
                f"run {self.id} has no table of workloads",
                next_step="only partitions with several of them have one",
            )
        if table in GUEST_TABLES and table not in tables:
            raise NotFoundError(
                f"run {self.id} has no {table.replace('_', ' ')}",
                next_step="only a partition with z/VM has some; its scenario names them",
            )
        if table not in tables:
            raise NotFoundError(f"there is no interval table {table}{nearest(table, tables)}")
        return self._whole(table)

    def traffic(self) -> list[Traffic]:
        """What each memory controller, link and cache with a bandwidth carried, the most used
        first.
        """
        return traffic(self.path, self.spec, self.replications)

    def dispatches(self) -> pl.DataFrame:
        """Every dispatch: when, who, where, how far from home, why it ended."""
        if not table_path(self.path, "dispatches").exists():
            raise NotFoundError(
                f"run {self.id} did not record dispatches; ask for them in the [run] section of "
                "the scenario"
            )
        return self._named(self._whole("dispatches"), "dispatches")

    def _whole(self, table: str) -> Path:
        path = table_path(self.path, table)
        if table not in self._seen_whole:
            check_whole(self.path, path, self.provenance)
            self._seen_whole.add(table)
        return path

    def _named(self, path: Path, table: str) -> pl.DataFrame:
        import polars as pl

        path = table_path(self.path, table)
        check_whole(self.path, path, self.provenance)
        with reading(self.path):
            rows = scan_table(self.path, table).collect()
        kinds = ["pool"] if table == "pool" else ["partition"]
        if table in ("virtual_machine", "switch", "workload"):
            kinds.append(table)
        named = rows.rename({kind: f"{kind}_index" for kind in kinds})
        for kind in kinds:
            labels = pl.DataFrame(names_of(self.spec, kind), infer_schema_length=None)
            keys = [name for name in labels.columns if name.endswith("_index")]
            named = named.join(labels, on=keys, how="left", maintain_order="left")
        return named.select(*rows.columns, *(f"{kind}_index" for kind in kinds))

    def __repr__(self) -> str:
        names = ", ".join(self.partitions)
        return f"Run({self.id!r}, {self.replications} replications, partitions {names})"


def _identity(path: Path) -> tuple[int, int] | None:
    """What tells a folder from another one of the same name; None if there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _check_fit(run: KeptRun) -> None:
    """Refuse a run whose files do not belong together, or that was kept by an earlier version."""
    try:
        _ = run.metrics, run.partitions, run.id, run.seed, run.steady
        totals = [part["totals"] for summary in run.raw for part in summary["partitions"]]
        guest_paths = [table_path(run.path, table) for table in tables_beside(run.spec)]
        earlier = any(f"book_{CAUSES[-1].name}" in t and "book_list" not in t for t in totals)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise DamagedRunError(
            f"{run.path}: the files do not fit together ({error!r} in summary.json or spec.json); "
            "run the scenario again, or delete the folder"
        ) from error
    if earlier:
        raise earlier_version(run.path)
    check_tables(run.path, guest_paths, run.provenance)
