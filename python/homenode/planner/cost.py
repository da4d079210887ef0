"""What rows cost: cores for the same work, money for licences, response, cores left over."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from homenode.model.scenario.file.advise import Licence
from homenode.model.spec import PartitionSpec, zvm_of
from homenode.planner.solver import Figures, Floats, Solver

_NS_PER_MS = 1e6
_EQUAL = 0.005
"""Difference of two throughputs that counts as none."""


@dataclass(frozen=True)
class Solved:
    """Rows with their figures and what they cost."""

    rows: NDArray[np.int64]
    options: NDArray[np.int64]
    sound: NDArray[np.bool_]
    figures: Figures
    cores: Floats
    """Cores that the work of now would take [cores]."""
    money: Floats
    used_money: Floats
    """Money if parts of a licence were paid for: it falls where whole ones do not yet."""
    response: Floats
    """Mean response over all transactions [ms]; 0 where there are none."""
    headroom: Floats
    """Cores left over on the fullest node; on a host its processors."""

    def goal(self, name: str) -> Floats:
        """What is to be least."""
        return -self.headroom if name == "headroom" else np.asarray(getattr(self, name))

    def towards(self, name: str) -> Floats:
        """What leads to less of the goal where that itself does not tell two rows apart."""
        return self.used_money if name == "money" else self.goal(name)


@dataclass(frozen=True)
class Now:
    """What the layout as it is does, which others are priced and held against."""

    work: Floats
    """Transactions of each partition [1/s]."""
    response_ns: Floats


class Cost:
    """Prices rows against the layout as it is."""

    def __init__(
        self,
        solver: Solver,
        licences: Sequence[Licence],
        most_memory: float,
        held: Collection[str] = (),
        now: Now | None = None,
    ) -> None:
        self.solver = solver
        self.held = held
        """Partitions whose responses do not count: their backlog grows."""
        self.most_memory = most_memory
        """Bytes that the machine holds."""
        self.licences = licences
        self.names = [str(one["name"]) for one in solver.spec["partitions"]]
        self.holds_now = now is None
        """Whether its first layout is the one as it is."""
        self.now = _now(solver) if now is None else now
        self.work = self.now.work
        self.node_cores = cores_of_nodes(solver.spec["machine"])

    def of(
        self,
        rows: NDArray[np.int64],
        options: NDArray[np.int64],
        sound: NDArray[np.bool_],
        *,
        exactly: bool = False,
    ) -> Solved:
        """What they cost, each solved by itself if `exactly`; of unsound rows nothing counts."""
        figures = self.solver.exactly(options) if exactly else self.solver.solve(options)
        return self.priced(rows, options, sound, figures)

    def priced(
        self,
        rows: NDArray[np.int64],
        options: NDArray[np.int64],
        sound: NDArray[np.bool_],
        figures: Figures,
    ) -> Solved:
        """What rows with these figures cost."""
        whole, parts = np.zeros((2, len(rows)))
        for one in self.licences:
            whole += self.licensed(one, options) * one.cost
            parts += self._in_use(one, options) * one.factor * one.cost
        return Solved(
            rows,
            options,
            sound,
            figures,
            self._equal(figures).sum(axis=1),
            whole,
            parts,
            self._response(figures),
            self._left(figures, options),
        )

    def _equal(self, figures: Figures) -> Floats:
        """Cores at the throughput of now: a closed load that gets more done would need less."""
        done = figures.throughput
        ratio = np.divide(
            self.work, done, out=np.ones_like(done), where=(done > 0) & (self.work > 0)
        )
        ratio = np.where(np.abs(ratio - 1) < _EQUAL, 1.0, ratio)
        return figures.cores * ratio

    def _response(self, figures: Figures) -> Floats:
        # What is not solved of a layout counts as it is now: it is neither better nor worse.
        known = np.isfinite(figures.response_ns)
        response = np.where(known, figures.response_ns, self.now.response_ns)
        told = np.isfinite(response) & (figures.throughput > 0)
        told &= ~np.isin(self.names, [*self.held])
        weight = np.where(told, figures.throughput, 0.0)
        total = (weight * np.where(told, response, 0.0)).sum(axis=1)
        sums = weight.sum(axis=1)
        mean = np.divide(total, sums, out=np.zeros_like(total), where=sums > 0)
        return np.asarray(mean / _NS_PER_MS)

    def _left(self, figures: Figures, options: NDArray[np.int64]) -> Floats:
        """Cores left over on the fullest of the nodes that have any."""
        left = self.node_cores - self._by_node(figures, options)
        return np.asarray(left[:, self.node_cores > 0].min(axis=1))

    def _by_node(self, figures: Figures, options: NDArray[np.int64]) -> Floats:
        load = np.zeros((len(options), len(self.node_cores)))
        for index in range(len(self.names)):
            nodes = self.solver.features.column(index, "nodes", options)
            load += figures.cores[:, [index]] * nodes
        return load

    def licensed(self, licence: Licence, options: NDArray[np.int64]) -> Floats:
        """Licences that a product needs.

        Sub-capacity counts the cores that its partitions can use at most: a capped one its
        entitlement, any other its virtual processors, machines of a CPU pool of z/VM those of the
        pool; those of a pool of partitions together no more than the pool's maximum and its cores,
        on a mainframe those of its type; all together no more than the active cores. Whole cores
        are paid for.
        """
        return np.ceil(self._in_use(licence, options) - 1e-9) * licence.factor

    def _in_use(self, licence: Licence, options: NDArray[np.int64]) -> Floats:
        """Cores on which it can run at most."""
        active = float(self.solver.spec["machine"]["active_cores"])
        if licence.count == "full":
            return np.full(len(options), active)
        return np.minimum(self._by_pool(licence, options), active)

    def _by_pool(self, licence: Licence, options: NDArray[np.int64]) -> Floats:
        active = float(self.solver.spec["machine"]["active_cores"])
        limits = self.solver.most_of_pools(options)
        held = np.zeros((len(options), limits.shape[1] + 1))
        dedicated = np.zeros(len(options))
        tell = self.solver.features.column
        for index, name in enumerate(self.names):
            pool, virtual = (tell(index, word, options) for word in ("pool", "virtual"))
            dedicated += np.where(pool < 0, virtual, 0.0)
            if name in licence.partitions:
                capped = tell(index, "capped", options)
                most = np.where(capped, tell(index, "entitlement", options), virtual)
                most = np.minimum(most, _cpu_pool(licence, self.solver.spec["partitions"][index]))
                held[np.arange(len(options)), pool] += most  # -1, of the dedicated, is the last
        room = np.minimum(limits, (active - dedicated)[:, None])
        return np.asarray(np.minimum(held[:, :-1], room).sum(axis=1) + held[:, -1])


def _cpu_pool(licence: Licence, partition: PartitionSpec) -> float:
    """The most cores that the machines of a product's CPU pool can use under z/VM."""
    guest = zvm_of(partition)
    pools = [] if guest is None else guest.get("cpu_pools", [])
    told = (pool["cores"] for pool in pools if pool["name"] == licence.cpu_pool)
    return next(told, float("inf"))


def _now(solver: Solver) -> Now:
    rows = np.zeros((1, len(solver.spec["partitions"])), dtype=np.int64)
    told = solver.exactly(rows)
    return Now(told.throughput[0], told.response_ns[0])


def cores_of_nodes(machine: Any) -> Floats:
    """Active cores of each node, on a host their hardware threads, which is what its partitions
    use; cores are counted through the machine.
    """
    per_node = machine["chips_per_node"] * machine["cores_per_chip"]
    active = machine["active_cores"] or per_node * machine["nodes"]
    firsts = np.arange(machine["nodes"]) * per_node
    threads = machine["hypervisor"].get("siblings", 1)
    return np.asarray(threads * np.clip(active - firsts, 0, per_node), dtype=np.float64)
