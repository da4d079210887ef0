"""From the rows of one interval, as the engine counts them, to a frame."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from homenode.model.catalog.policies import HOST_POLICIES
from homenode.model.spec import PartitionSpec, Spec, capacity_of, chips_of, processors_of, spec_at
from homenode.records.exporting.dispatches import REASONS
from homenode.simulate.kept.fabric import PORTS
from homenode.simulate.kept.totals import NS_PER_S, shape_during
from homenode.top.frames import (
    Distances,
    Frame,
    NodeRow,
    PartitionRow,
    PoolRow,
    ProcessorRow,
)  # fmt: skip

Row = Mapping[str, int]
TABLES: Mapping[str, tuple[str, ...]] = {
    "partition": (
        "partition", "busy_ns", "user_ns", "sys_ns", "wait_ns", "home_ns", "near_ns", "far_ns",
        "dispatches", "cede_calls", "confer_calls", "prod_calls", "evictions", "phint", "vcsw",
        "throttled_periods", "ready_ns", "runq_ns", "vps_unfolded", "tx_done", "response_ns",
    ),
    "cpu": (
        "partition", "vp", "user_ns", "sys_ns", "wait_ns", "idle_ns", "ilcs", "vlcs",
        "s3hrd", "s4hrd", "s5hrd",
    ),
    "pool": ("pool", "cores", "busy_ns"),
    "fabric": ("port", "place", "lines", "bytes", "wait_ns"),
}  # fmt: skip
"""The columns that are shown, by table."""
RATES = (
    "dispatches", "cede_calls", "confer_calls", "prod_calls", "evictions", "phint", "vcsw",
    "throttled_periods",
)  # fmt: skip
_PLACES = ("s3hrd", "s4hrd", "s5hrd")
_STATES = ("user_ns", "sys_ns", "wait_ns", "idle_ns")


@dataclass(frozen=True)
class Dispatched:
    """What the dispatches of an interval come to."""

    reasons: Mapping[tuple[int, int], int]
    """How many ended, by partition and reason."""
    core_ns: Mapping[tuple[int, int], int]
    """Time on cores, by core and partition."""


@dataclass(frozen=True)
class Interval:
    """The rows of one interval, of one replication."""

    begin_ns: int
    """From the end of the warm-up."""
    end_ns: int
    tables: Mapping[str, Sequence[Row]]
    dispatched: Dispatched | None = None
    """Where every dispatch was recorded."""

    @property
    def length_ns(self) -> int:
        """How long it is [ns]."""
        return self.end_ns - self.begin_ns

    def of(self, table: str) -> Sequence[Row]:
        """Its rows of a table; none where there is no such table."""
        return self.tables.get(table, ())


def frame_at(spec: Spec, interval: Interval) -> Frame:
    """The frame of an interval of a run of that frozen scenario."""
    then = spec_at(spec, interval.end_ns)
    machine = then["machine"]
    cpus: dict[int, list[Row]] = defaultdict(list)
    for row in interval.of("cpu"):
        cpus[row["partition"]].append(row)
    places = _Places(then)
    rows = {row["partition"]: row for row in interval.of("partition")}
    partitions = [
        _partition(spec, then["partitions"][index], interval, rows[index], cpus[index], places)
        for index in sorted(rows)
    ]
    end, whole = interval.end_ns / NS_PER_S, spec["duration_ns"] / NS_PER_S
    return Frame(
        time=f"{end:.{_decimals(spec['interval_ns'])}f} of {whole:g} s",
        partitions=tuple(partitions),
        capacity=float(capacity_of(machine)),
        unit="processors" if machine["hypervisor"]["policy"] in HOST_POLICIES else "cores",
        pools=_pools(then, interval),
        nodes=_nodes(then, interval, places),
    )


def _decimals(interval_ns: int) -> int:
    """As many as tell one interval's end from the next."""
    return next((n for n in range(9) if interval_ns % 10 ** (9 - n) == 0), 9)


class _Places:
    """Where partitions are at home."""

    def __init__(self, spec: Spec) -> None:
        machine = spec["machine"]
        self.chips_per_node = machine["chips_per_node"]
        cores = machine["cores_per_chip"] * machine["hypervisor"].get("siblings", 1)
        self.cores_per_node = cores * self.chips_per_node
        """As many as a dispatcher sees: on a host, hardware threads."""
        self.domains_per_node = self.chips_per_node if machine["memory_beside"] == "chip" else 1
        self.chips = {
            one["name"]: chips_of(one, machine["cores_per_chip"]) for one in spec["partitions"]
        }

    def home(self, partition: str, vp: int) -> str:
        """Node and chip of a virtual processor, as `2.1`; empty where it has no home."""
        chips = self.chips[partition]
        if vp >= len(chips):
            return ""
        node, chip = divmod(chips[vp], self.chips_per_node)
        return f"{node}.{chip}" if self.chips_per_node > 1 else str(node)

    def at_home(self, node: int) -> tuple[str, ...]:
        """Partitions with a home on a node."""
        return tuple(
            name
            for name, chips in self.chips.items()
            if any(chip // self.chips_per_node == node for chip in chips)
        )


def _partition(
    spec: Spec,
    of: PartitionSpec,
    interval: Interval,
    row: Row,
    cpus: Iterable[Row],
    places: _Places,
) -> PartitionRow:
    index, length = row["partition"], interval.length_ns
    shape = shape_during(spec, index, interval.begin_ns, interval.end_ns)
    per_s = {name: row[name] * NS_PER_S / length for name in RATES}
    per_s["ready_ms"] = row["ready_ns"] / max(row["dispatches"], 1) / 1e6
    ended = {} if interval.dispatched is None else interval.dispatched.reasons
    told = [row[name] / max(row["busy_ns"], shape.entitlement * length, 1) for name in _STATES[:3]]
    return PartitionRow(
        name=of["name"],
        mode=mode_of(of),
        used=row["busy_ns"] / length,
        entitled=shape.entitlement,
        virtual=processors_of(of),
        smt=of["smt"],
        memory_bytes=sum(part["bytes"] for part in of["memory"]),
        states=(told[0], told[1], told[2], max(0.0, 1 - sum(told))),
        distances=_shares(row["home_ns"], row["near_ns"], row["far_ns"]),
        unfolded=row["vps_unfolded"],
        runnable=row["runq_ns"] / length,
        response_ms=row["response_ns"] / row["tx_done"] / 1e6 if row["tx_done"] else None,
        per_s=per_s,
        reasons={
            REASONS[reason]: count * NS_PER_S / length
            for (partition, reason), count in sorted(ended.items())
            if partition == index
        },
        processors=tuple(_processors(of["name"], cpus, length, places)),
    )


def mode_of(partition: PartitionSpec) -> str:
    """How a partition has its processors, in a word."""
    processors = partition["processors"]
    if processors["mode"] == "dedicated":
        return "donating" if processors["donating"] else "dedicated"
    host = processors.get("host")
    capped = processors["capped"] or (host is not None and host["cap"] is not None)
    return "capped" if capped else "uncapped"


def _shares(home: int, near: int, far: int) -> Distances | None:
    whole = home + near + far
    return (home / whole, near / whole, far / whole) if whole else None


def _processors(
    partition: str, cpus: Iterable[Row], length_ns: int, places: _Places
) -> Iterable[ProcessorRow]:
    """Logical processors added up by virtual processor."""
    by_vp: dict[int, dict[str, int]] = {}
    for cpu in cpus:
        sums = by_vp.setdefault(cpu["vp"], dict.fromkeys(TABLES["cpu"], 0))
        for name in TABLES["cpu"]:
            sums[name] += cpu[name]
    for vp, sums in sorted(by_vp.items()):
        spent = [sums[name] for name in _STATES]
        user, system, wait, idle = (one / max(sum(spent), 1) for one in spent)
        yield ProcessorRow(
            number=vp,
            home=places.home(partition, vp),
            used=sum(spent) / length_ns,
            states=(user, system, wait, idle),
            distances=_shares(*(sums[name] for name in _PLACES)),
            voluntary_per_s=sums["vlcs"] * NS_PER_S / length_ns,
            involuntary_per_s=sums["ilcs"] * NS_PER_S / length_ns,
        )


def _pools(spec: Spec, interval: Interval) -> tuple[PoolRow, ...]:
    """Pools with cores, and what their partitions can use together."""
    return tuple(
        PoolRow(
            name=pool["name"],
            used=row["busy_ns"] / interval.length_ns,
            cores=float(row["cores"] if pool["maximum"] is None else pool["maximum"]),
        )
        for row in interval.of("pool")
        for pool in [spec["pools"][row["pool"]]]
        if row["cores"]
    )


def _ran(spec: Spec, interval: Interval, places: _Places) -> Mapping[int, dict[str, float]] | None:
    """Cores that partitions used, by node; None where dispatches were not recorded."""
    if interval.dispatched is None:
        return None
    found: dict[int, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for (core, partition), ns in sorted(interval.dispatched.core_ns.items()):
        name = spec["partitions"][partition]["name"]
        found[core // places.cores_per_node][name] += ns / interval.length_ns
    return found


def _most_first(cores: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    return tuple(sorted(cores.items(), key=lambda one: -one[1]))


def _nodes(spec: Spec, interval: Interval, places: _Places) -> tuple[NodeRow, ...]:
    machine = spec["machine"]
    memory: dict[int, float] = defaultdict(float)
    for partition in spec["partitions"]:
        for part in partition["memory"]:
            for domain in part["domains"]:
                node = domain // places.domains_per_node
                memory[node] += part["bytes"] / len(part["domains"])
    ports: dict[tuple[str, int], list[int]] = defaultdict(lambda: [0, 0, 0])
    for row in interval.of("fabric"):
        kind = PORTS[row["port"]]
        node = row["place"] // places.domains_per_node if kind == "memory" else row["place"]
        for at, name in enumerate(("lines", "bytes", "wait_ns")):
            ports[kind, node][at] += row[name]
    ran = _ran(spec, interval, places)
    most = machine["memory_bytes_per_s"] * places.domains_per_node / 1e9
    found = []
    for node in range(machine["nodes"]):
        read, into, out = (ports[kind, node] for kind in ("memory", "into_node", "out_of_node"))
        lines = read[0] + into[0] + out[0]
        carried = [port[1] / interval.length_ns for port in (read, into, out)]
        active = capacity_of(machine) - node * places.cores_per_node
        found.append(
            NodeRow(
                name=str(node),
                cores=max(0, min(places.cores_per_node, active)),
                used=None if ran is None else math.fsum(ran[node].values()),
                home_of=places.at_home(node),
                ran=() if ran is None else _most_first(ran[node]),
                memory_bytes=round(memory[node]),
                memory_gb_per_s=carried[0],
                memory_pct=100 * carried[0] / most,
                into_gb_per_s=carried[1],
                out_gb_per_s=carried[2],
                wait_ns=(read[2] + into[2] + out[2]) / max(lines, 1),
            )
        )
    return tuple(found)
