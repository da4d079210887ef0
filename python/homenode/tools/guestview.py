"""What the tools of z/VM and PR/SM take of a run: one replication's counters with the frozen
scenario, and the questions they ask of them.

Every figure is a pure function of counters; the tests make such a view by hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from homenode.model.spec import PartitionSpec, Spec, ZvmSpec, processors_of, zvm_of
from homenode.simulate.answers import PartitionDetails
from homenode.simulate.kept.guests import guest_tables
from homenode.simulate.kept.store import INTERVAL_TABLES
from homenode.simulate.kept.totals import NS_PER_S
from homenode.tools.errors import ToolError

if TYPE_CHECKING:
    import polars as pl

    from homenode.simulate.run import Run

DEFAULT_TYPE = "IFL"
"""Core type of a partition of which none is told."""


@dataclass(frozen=True)
class GuestView:
    """What one replication of a kept run counted, for reports on z/VM and PR/SM."""

    name: str
    """Of the run."""
    scenario: str
    spec: Spec
    frames: Mapping[str, pl.DataFrame]
    """Interval tables by name; partitions, machines and switches by index."""
    details: Mapping[str, PartitionDetails] = field(default_factory=dict)
    """By partition, what the engine need not know."""
    model: str = ""
    """Machine type and model, such as 3906-M05; empty where they are not known."""
    characterized: Mapping[str, int] = field(default_factory=dict)
    """Cores by type, where the scenario says how many there are of which."""
    node_name: str = ""
    """What the machine's users call a node, such as drawer; empty where it is not known."""

    @property
    def seconds(self) -> float:
        """Simulated time that was recorded."""
        return float(self.spec["duration_ns"]) / NS_PER_S

    @property
    def interval_ns(self) -> int:
        """Length of a kept interval [ns]."""
        return int(self.spec["interval_ns"])

    @property
    def partitions(self) -> list[PartitionSpec]:
        """Of the frozen scenario."""
        return list(self.spec["partitions"])

    @property
    def cores_by_type(self) -> dict[str, int]:
        """Active cores by type, as the scenario tells them; all of the one type that is used where
        it does not.
        """
        if self.characterized:
            return {kind.upper(): count for kind, count in self.characterized.items()}
        found: dict[str, int] = {}
        shared: list[str] = []
        for one in self.partitions:
            types = self.core_types(str(one["name"]))
            if one["processors"]["mode"] == "shared":
                shared += types
                continue
            for kind in types:
                found[kind] = found.get(kind, 0) + 1
        rest = int(self.spec["machine"]["active_cores"]) - sum(found.values())
        kind = next(iter([*shared, *found]), DEFAULT_TYPE)
        return {**found, kind: found.get(kind, 0) + rest}

    def zvm(self, partition: str) -> ZvmSpec:
        """z/VM in a partition; raises `ToolError` where another system runs."""
        found = zvm_of(self.partitions[self.index(partition)])
        if found is None:
            raise ToolError(f"partition {partition} of run {self.name} does not run z/VM")
        return found

    def index(self, name: str) -> int:
        """Place of a partition."""
        return [one["name"] for one in self.partitions].index(name)

    def rows(self, table: str, partition: str | None = None) -> pl.DataFrame:
        """A table, or the rows of a partition in it; no rows where nothing was counted."""
        import polars as pl

        frame = self.frames.get(table)
        if frame is None:
            return pl.DataFrame()
        if partition is None:
            return frame
        return frame.filter(pl.col("partition") == self.index(partition))

    def total(self, table: str, partition: str | None = None, **only: int) -> dict[str, int]:
        """Each counter added up over rows; `only` picks them by a column's value."""
        import polars as pl

        rows = self.rows(table, partition)
        for column, value in only.items():
            rows = rows.filter(pl.col(column) == value) if rows.height else rows
        found = rows.sum().to_dicts()
        return {name: int(value or 0) for name, value in found[0].items()} if found else {}

    def core_type(self, partition: str) -> str:
        """Type of the cores a partition has, such as IFL."""
        return str(self.details.get(partition, {}).get("core_type", DEFAULT_TYPE)).upper()

    def core_types(self, partition: str) -> list[str]:
        """Type of each of its logical cores."""
        types = self.details.get(partition, {}).get("core_types")
        if not types:
            return [self.core_type(partition)] * self.processors(partition)
        return [str(kind).upper() for kind in types]

    def processor_numbers(self, partition: str) -> list[int]:
        """Number under which each of its logical processors is known."""
        numbers = self.details.get(partition, {}).get("numbers")
        count = self.processors(partition) * self.smt(partition)
        return list(numbers) if numbers and len(numbers) == count else list(range(count))

    def processors(self, partition: str) -> int:
        """Its logical cores."""
        return int(processors_of(self.partitions[self.index(partition)]))

    def smt(self, partition: str) -> int:
        """Hardware threads used of each."""
        return int(self.partitions[self.index(partition)]["smt"])


def view_of(run: Run, replication: int = 0) -> GuestView:
    """One replication of a kept run; raises `ToolError` where it kept no such one."""
    import polars as pl

    if not 0 <= replication < run.replications:
        raise ToolError(
            f"run {run.id} has no replication {replication}",
            there=f"it kept {run.replications}, counted from 0",
        )
    frames = {
        table: _by_index(run.intervals(table).filter(pl.col("replication") == replication))
        for table in (*INTERVAL_TABLES, *guest_tables(run.spec))
    }
    facts = run.machine_facts
    return GuestView(
        name=run.id,
        scenario=run.name,
        spec=run.spec,
        frames=frames,
        details=run.details,
        model=str(facts.get("model", "")),
        characterized=facts.get("characterized", {}),
        node_name=str(facts.get("node_name", "")),
    )


def _by_index(rows: pl.DataFrame) -> pl.DataFrame:
    """Indices under their own name again."""
    indexed = [name for name in rows.columns if name.endswith("_index")]
    names = {name: name.removesuffix("_index") for name in indexed}
    return rows.drop(*names.values()).rename(names)


def refuse_other_machines(view: GuestView, tool: str) -> None:
    """Raise `ToolError` for a machine that is not divided by PR/SM."""
    machine = view.spec["machine"]
    if machine["hypervisor"]["policy"] != "prsm":
        raise ToolError(
            f"{tool}: run {view.name} is of {machine['name']}",
            there=f"{tool} runs on IBM Z",
            next_step="`homenode --help` lists the tools of other machines",
        )


def zvm_partition(view: GuestView, name: str | None) -> str:
    """The partition of that name, or the only one with z/VM; raises `ToolError`."""
    there = [str(one["name"]) for one in view.partitions if one["guest"]["os"] == "zvm"]
    if name is None and len(there) == 1:
        return there[0]
    if not there:
        raise ToolError(
            f"run {view.name} has no partition with z/VM",
            next_step='give one guest = { os = "zvm" }',
        )
    if name is None:
        raise ToolError(
            f"run {view.name} has {len(there)} partitions with z/VM",
            next_step=f"choose one: -p {there[0]}",
        )
    if name not in there:
        known = [str(one["name"]) for one in view.partitions]
        runs = f"partition {name} of run {view.name} runs no z/VM"
        raise ToolError(
            runs if name in known else f"run {view.name} has no partition {name}",
            next_step=f"choose one with z/VM: -p {there[0]}",
        )
    return name


def clock(ns: float) -> str:
    """Time since the start as HH:MM:SS, with tenths or more digits where they are not 0."""
    seconds, rest = divmod(int(ns), NS_PER_S)
    fraction = f"{rest:09}".rstrip("0")
    whole = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{whole}.{fraction}" if fraction else whole
