"""A kept run: what was simulated, the metrics, the interval tables. The same object in a notebook
and on the command line.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

from homenode.errors import DamagedRunError, NotFoundError, listed, nearest
from homenode.model.estimate import Estimate, Told, estimate, mean_of
from homenode.model.spec import PartitionSpec, spec_at
from homenode.simulate.answers import RunFiles, Steadiness
from homenode.simulate.kept.books import CAUSES, Breakdown
from homenode.simulate.kept.damage import (
    check_tables,
    check_whole,
    earlier_version,
    read_files,
    refuse_earlier,
)
from homenode.simulate.kept.fabric import Traffic, traffic
from homenode.simulate.kept.finding import LATEST, find, original, run_folders
from homenode.simulate.kept.guests import names_of, tables_beside
from homenode.simulate.kept.metrics import METRICS
from homenode.simulate.kept.named import RunMetrics
from homenode.simulate.kept.reading import reading, scan_table
from homenode.simulate.kept.sharing import busy_threads
from homenode.simulate.kept.store import GUEST_TABLES, INTERVAL_TABLES, table_path
from homenode.simulate.kept.summarize import replication_totals
from homenode.simulate.kept.threads import charged_pct
from homenode.simulate.kept.totals import Totals
from homenode.simulate.kept.vocabulary import NODE
from homenode.simulate.kept.work import work_done

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
_CHIEF = ("physc", "entc_pct", "far_share", "etr_per_s", "response_ms_mean", "response_ms_p95")
"""Metrics that tell most of a run."""
_THREAD_METRIC = re.compile(r"(cpu|proc|cpu_rank)(\d+)_pct")


class KeptRun:
    """A run folder that was found complete. `homenode.simulate.run.Run` can explain it too."""

    def __init__(self, path: Path, files: RunFiles) -> None:
        self.path = path
        self._seen_whole: set[str] = set()
        self.spec = files["spec.json"]
        self.raw = files["replications.json"]
        self.summary = files["summary.json"]
        self.provenance = files["provenance.json"]
        self.details = files["details.json"]
        """Of each partition, what its own tools print but no simulation needs."""
        self.machine_facts = files["machine.json"]
        """Of the machine, what reports say but no simulation needs."""

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

    @property
    def id(self) -> str:
        """Name of the run and of its folder."""
        return str(self.summary["run"])

    @property
    def name(self) -> str:
        """Name of the scenario."""
        return str(self.spec["name"])

    @property
    def seed(self) -> int:
        """Seed of all random streams."""
        return int(self.spec["seed"])

    @property
    def point(self) -> dict[str, object]:
        """Values of the axes by path, if it was made as a point of a sweep; else empty."""
        return dict(self.provenance.get("point", {}))

    @property
    def replications(self) -> int:
        """How many replications were kept."""
        return len(self.raw)

    @functools.cached_property
    def partitions(self) -> list[str]:
        """Names of the partitions, in order of their index."""
        return [str(partition["name"]) for partition in self.spec["partitions"]]

    @property
    def node_name(self) -> str:
        """What the machine's users call a node."""
        return str(self.machine_facts.get("node_name", NODE))

    def reach(self, partition: str | int) -> list[int]:
        """The nodes on which a partition, by name or index, can have cores."""
        name = self.partitions[partition] if isinstance(partition, int) else partition
        nodes = self.machine_facts.get("reach", {})
        return nodes.get(name) or list(range(self.spec["machine"]["nodes"]))

    @property
    def memory_room(self) -> dict[int, int]:
        """Memory that partitions can have in each memory domain [bytes], where that is known."""
        room = self.machine_facts.get("room", {})
        return {int(domain): size for domain, size in room.items()}

    @property
    def workload_category(self) -> dict[str, str]:
        """Of each partition, how hard it uses the levels beyond its own caches: LOW, AVERAGE or
        HIGH; empty where the machine has no such rule.
        """
        return dict(self.summary.get("workload_category", {}))

    @functools.cached_property
    def metrics(self) -> RunMetrics:
        """Of each partition, every metric with its 95 % interval."""
        told = self.summary["partitions"]
        found = {partition: _estimates(metrics) for partition, metrics in told.items()}
        workloads = {
            partition: {load: _estimates(metrics) for load, metrics in loads.items()}
            for partition, loads in self.summary.get("workloads", {}).items()
        }
        return RunMetrics(self.id, found, workloads)

    @property
    def steady(self) -> dict[str, Steadiness]:
        """Of each partition, whether it was in a steady state and, if not, the reason."""
        return dict(self.summary["steady"])

    def unsteady_reason(self, partition: str) -> str | None:
        """Why there is no steady state; None if there is one."""
        reason = self.summary["steady"][self.partition(partition)]["reason"]
        return None if reason is None else str(reason)

    def partition(self, name: str | None) -> str:
        """The partition of that name; without a name, the only one there is."""
        if name is None:
            if len(self.partitions) == 1:
                return self.partitions[0]
            raise NotFoundError(
                f"run {self.id} has {len(self.partitions)} partitions; name one of "
                f"{listed(self.partitions)}"
            )
        if name not in self.summary["partitions"]:
            raise NotFoundError(
                f"run {self.id} has no partition {name}{nearest(name, self.partitions)}"
            )
        return name

    def partition_spec(self, name: str | None = None) -> PartitionSpec:
        """A partition's part of the frozen scenario, as it is at the end of the run."""
        return spec_at(self.spec)["partitions"][self.partitions.index(self.partition(name))]

    def metric(self, partition: str | None, name: str) -> Estimate:
        """One metric; beside those of `metrics` also `cpuN_pct`, `procN_pct`, `cpu_rankN_pct` (see
        `values`).
        """
        partition = self.partition(partition)
        if name in METRICS:
            return self.metrics[partition][name]
        return estimate(self.values(partition, name))

    def values(self, partition: str | None, name: str) -> list[float]:
        """A metric in each replication that has it.

        `cpuN_pct` is the share of a core that logical CPU N was charged, `procN_pct` that of
        virtual processor N, and `cpu_rankN_pct` that of the N-th busiest logical CPU (1 = busiest).
        """
        partition = self.partition(partition)
        index = self.partitions.index(partition)
        if name in METRICS:
            metric = METRICS[name]
            if metric.needs_steady and self.unsteady_reason(partition) is not None:
                return []
            totals = replication_totals(self.spec, self.raw, index, self.machine_facts)
            found = (metric.formula(one) for one in totals)
            return [value for value in found if value is not None]
        thread = _THREAD_METRIC.fullmatch(name)
        if thread is None:
            raise NotFoundError(f"there is no metric {name}{nearest(name, METRICS)}")
        duration_ns = int(self.spec["duration_ns"])
        charged = charged_pct(self.path, duration_ns, index, thread[1], int(thread[2]))
        if charged is None:
            raise NotFoundError(f"partition {partition} has no {thread[1]} {thread[2]}")
        return charged

    def breakdown(self, partition: str | None = None) -> Breakdown:
        """Where the partition's cores went."""
        partition = self.partition(partition)
        metrics, spec = self.metrics[partition], self.partition_spec(partition)
        cores = {cause.name: metrics[f"cores_{cause.name}"].mean or 0.0 for cause in CAUSES}
        machine = self.spec["machine"]
        totals = self.totals(partition)
        instructions = _working_instructions_per_s(totals)
        eicpi = spec["profile"]["eicpi"]
        if "beside" in spec:
            eicpi = mean_of([one.shape.core_cycles for one in totals]) * machine["core_rate"]
        return Breakdown(
            run=self.id,
            partition=partition,
            cores=cores,
            work=work_done(spec, instructions, metrics["etr_per_s"].mean),
            busy_threads=busy_threads(
                instructions,
                {**spec["profile"], "eicpi": eicpi},
                machine["clock_hz"] * machine["core_rate"],
                cores["useful"],
            ),
            reason=self.unsteady_reason(partition),
            cpi=metrics["cpi"].mean,
            core_cycles=math.fsum(one.core_cycles for one in totals) / len(totals),
            clock_hz=machine["clock_hz"],
        )

    def totals(self, partition: str | None = None) -> list[Totals]:
        """A partition's counters in each replication."""
        index = self.partitions.index(self.partition(partition))
        return replication_totals(self.spec, self.raw, index, self.machine_facts)

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

    def _repr_html_(self) -> str:
        """What a notebook shows: what it is and its chief figures."""
        return self.metrics.grid(_CHIEF, f"{self.id}: {self.replications} replications").html()


def _identity(path: Path) -> tuple[int, int] | None:
    """What tells a folder from another one of the same name; None if there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _estimates(metrics: Mapping[str, Told]) -> dict[str, Estimate]:
    return {name: Estimate(e["mean"], e["ci95"], e.get("reason")) for name, e in metrics.items()}


def _working_instructions_per_s(totals: Sequence[Totals]) -> float:
    """Instructions that do work, not those of loops that wait for a lock; mean."""
    rates = [(one["instructions"] - one["spin_instructions"]) / one.seconds for one in totals]
    return mean_of(rates)


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
