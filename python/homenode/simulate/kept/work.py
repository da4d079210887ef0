"""What a partition got done, in units that two runs can be compared in."""

from __future__ import annotations

from homenode.model.spec import PartitionSpec, WorkloadSpec
from homenode.simulate.kept.books import Work

_CLOSED = ("users", "loops", "warehouses", "pairs", "barriers", "web")
"""Workloads that ask for more only when something is done."""


def kinds_of(partition: PartitionSpec) -> set[str]:
    """Which kinds of work it does; pairs that are asked at a rate do `transactions`."""
    beside = partition.get("beside", ())
    return {_kind(partition["workload"]), *(_kind(one["workload"]) for one in beside)}


def _kind(workload: WorkloadSpec) -> str:
    asked = workload["kind"] == "pairs" and "generator" in workload
    return "transactions" if asked else workload["kind"]


def work_done(
    partition: PartitionSpec, instructions_per_s: float, transactions_per_s: float | None
) -> Work | None:
    """Of a partition of a frozen scenario; None if it did nothing.

    Transactions are counted. Loops run long and rarely end within a run, and where there is no
    steady state there is no rate of transactions: both follow from the instructions done.
    """
    kinds = kinds_of(partition)
    kind = next(iter(kinds)) if len(kinds) == 1 else "several"
    if kind == "idle":
        # Virtual machines of z/VM may have transactions of their own.
        return Work("transaction", transactions_per_s, True, False) if transactions_per_s else None
    unit, closed = "loop" if kind == "loops" else "transaction", kinds <= set(_CLOSED)
    if transactions_per_s:
        return Work(unit, transactions_per_s, True, closed)
    rate = instructions_per_s / partition["profile"]["instructions_per_unit"]
    return Work(unit, rate, False, closed) if rate > 0 else None
