"""What is known of a layout as a whole: its spec, its metrics, whether it was steady. A kept run
has it from its folder, a layout that was solved from the solver.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence

from homenode.errors import NotFoundError, listed, nearest
from homenode.model.estimate import Estimate, Told, mean_of
from homenode.model.spec import PartitionSpec, spec_at
from homenode.simulate.answers import RunFiles, RunSummary, Steadiness
from homenode.simulate.kept.books import CAUSES, Breakdown
from homenode.simulate.kept.metrics import METRICS
from homenode.simulate.kept.named import RunMetrics
from homenode.simulate.kept.sharing import busy_threads
from homenode.simulate.kept.summarize import replication_totals, values_of
from homenode.simulate.kept.totals import Totals
from homenode.simulate.kept.vocabulary import NODE
from homenode.simulate.kept.work import work_done

CHIEF = ("physc", "entc_pct", "far_share", "etr_per_s", "response_ms_mean", "response_ms_p95")
"""Metrics that tell most of a run."""


class Figures:
    """Spec, metrics and totals of a layout by partition, however they were found."""

    def __init__(self, files: RunFiles) -> None:
        self.spec = files["spec.json"]
        self.raw = files["replications.json"]
        self._files = files
        self.provenance = files["provenance.json"]
        self.details = files["details.json"]
        """Of each partition, what its own tools print but no simulation needs."""
        self.machine_facts = files["machine.json"]
        """Of the machine, what reports say but no simulation needs."""

    @functools.cached_property
    def summary(self) -> RunSummary:
        """Every metric with its interval, as a run folder keeps it."""
        return self._files["summary.json"]

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
    def changes(self) -> dict[str, object]:
        """What was set otherwise than in the scenario that it was made of, by path; empty for one
        that was run as it was read.
        """
        return dict(self.provenance.get("changes", {}))

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

    @property
    def unanswered(self) -> dict[str, float]:
        """Of partitions where some users, pairs or warehouses had no answer, how many."""
        return dict(self.summary.get("unanswered", {}))

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

    @functools.cached_property
    def steady(self) -> dict[str, Steadiness]:
        """Of each partition, whether it was in a steady state and, if not, the reason."""
        return dict(self.summary["steady"])

    def unsteady_reason(self, partition: str) -> str | None:
        """Why there is no steady state; None if there is one."""
        reason = self.steady[self.partition(partition)]["reason"]
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
        if name not in self.partitions:
            raise NotFoundError(
                f"run {self.id} has no partition {name}{nearest(name, self.partitions)}"
            )
        return name

    def partition_spec(self, name: str | None = None) -> PartitionSpec:
        """A partition's part of the frozen scenario, as it is at the end of the run."""
        return spec_at(self.spec)["partitions"][self.partitions.index(self.partition(name))]

    def metric(self, partition: str | None, name: str) -> Estimate:
        """One metric of a partition, of the only one if none is named."""
        return self.metrics[self.partition(partition)][name]

    def means(self, partition: str, names: Sequence[str]) -> list[float | None]:
        """Several metrics of a partition, their means alone."""
        return [self.metric(partition, name).mean for name in names]

    def values(self, partition: str | None, name: str) -> list[float]:
        """A metric in each replication that has it."""
        partition = self.partition(partition)
        if name not in METRICS:
            raise NotFoundError(f"there is no metric {name}{nearest(name, METRICS)}")
        metric = METRICS[name]
        if metric.needs_steady and self.unsteady_reason(partition) is not None:
            return []
        return values_of(metric, self.totals(partition))

    def breakdown(self, partition: str | None = None) -> Breakdown:
        """Where the partition's cores went."""
        partition = self.partition(partition)
        spec = self.partition_spec(partition)

        def mean(name: str) -> float | None:
            return self.metric(partition, name).mean

        cores = {cause.name: mean(f"cores_{cause.name}") or 0.0 for cause in CAUSES}
        machine = self.spec["machine"]
        totals = self.totals(partition)
        instructions = _working_instructions_per_s(totals)
        cycles = mean_of([one.shape.core_cycles for one in totals])
        return Breakdown(
            run=self.id,
            partition=partition,
            cores=cores,
            work=work_done(spec, instructions, mean("etr_per_s")),
            busy_threads=busy_threads(instructions, cycles, machine["clock_hz"], cores["useful"]),
            reason=self.unsteady_reason(partition),
            cpi=mean("cpi"),
            core_cycles=math.fsum(one.core_cycles for one in totals) / len(totals),
            clock_hz=machine["clock_hz"],
        )

    def totals(self, partition: str | None = None) -> list[Totals]:
        """A partition's counters in each replication."""
        index = self.partitions.index(self.partition(partition))
        return replication_totals(self.spec, self.raw, index, self.machine_facts)

    def _repr_html_(self) -> str:
        """What a notebook shows: what it is and its chief figures."""
        return self.metrics.grid(CHIEF, f"{self.id}: {self.replications} replications").html()


def _working_instructions_per_s(totals: Sequence[Totals]) -> float:
    """Instructions that do work, not those of loops that wait for a lock; mean."""
    rates = [(one["instructions"] - one["spin_instructions"]) / one.seconds for one in totals]
    return mean_of(rates)


def _estimates(metrics: Mapping[str, Told]) -> dict[str, Estimate]:
    return {name: Estimate(e["mean"], e["ci95"], e.get("reason")) for name, e in metrics.items()}
