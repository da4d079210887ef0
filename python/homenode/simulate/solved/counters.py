"""From what the engine solved to the counters of a run, as far as they follow from it.

Metrics are then those of a run by the same formulas. A counter that does not follow is not known,
which is not the same as zero: metrics that need it are left out.
"""

from __future__ import annotations

from typing import cast

from homenode.model.spec import (
    PartitionSpec,
    SharedSpec,
    Spec,
    WorkloadSpec,
    cores_of,
    shared_of,
    works_of,
    zvm_of,
)
from homenode.simulate.answers import Answer, PartitionAnswer, PartitionSolved, SolvedAnswer
from homenode.simulate.kept.totals import NS_PER_S, UnknownCounterError

MORE_THAN_IT_CAN = "more work comes than it can do"
_DIGITS = 6
WITHOUT_TRANSACTIONS = ("loops", "idle")
"""Kinds of work that have none."""
_PERCENTILES = ("p50", "p95", "p99")
_OF_ZVM = ("guest_ns", "chargeable_ns", "system_ns")


class Known(dict[str, float]):
    """Numbers by name; to ask for another is an `UnknownCounterError`."""

    def __missing__(self, name: str) -> float:
        raise UnknownCounterError(name)

    def get(self, name: str, _default: object = None) -> float:
        """As by `[]`: there is no default for what is not known."""
        return self[name]

    def __bool__(self) -> bool:
        return True


def as_answer(spec: Spec, solved: SolvedAnswer) -> Answer:
    """As one replication of the scenario's duration; nothing was simulated for it."""
    pairs = zip(spec["partitions"], solved["partitions"], strict=True)
    return {
        "replication": 0,
        "events": 0,
        "sim_ns": 0,
        "partitions": [_partition(spec, one, of) for one, of in pairs],
        "pool_idle_ns": 0,
    }


def is_recorded(partition: PartitionSpec) -> bool:
    """Whether its demand was recorded, or told by the cores it takes: only its mean is solved."""
    zvm = zvm_of(partition)
    if zvm is None:
        return any(one["kind"] == "trace" for one in works_of(partition))
    works = [work for of in zvm["machines"] if (work := of.get("work"))]
    return any(work.get("played") is not None for work in works)


def is_limited(spec: Spec, partition: PartitionSpec) -> bool:
    """Whether a cap, its own or its pool's or group's, holds it up within a window in a way that is
    not solved: its cores are known, not what its work waits. What a capped partition of PowerVM
    waits for its windows is solved, but for several workloads and locks for which threads sleep.
    """
    zvm, shared = zvm_of(partition), shared_of(partition)
    if zvm is not None and any(of["limit_hard"] and of["maximum"] for of in zvm["machines"]):
        return True
    if shared is None:
        return False
    pool = spec["pools"][shared["pool"]]["maximum"]
    caps = shared.get("prsm", {})
    profile = partition["profile"]
    sleeps = profile["lock_share"] > 0.0 and profile.get("lock_kind") == "sleeping"
    alone = "beside" not in partition and not sleeps
    is_solved = spec["machine"]["hypervisor"]["policy"] == "phyp" and alone
    return (
        (shared["capped"] and not is_solved)
        or pool is not None
        or any(caps.get(key) is not None for key in ("cap", "group", "defined_capacity"))
        or _has_quota(spec, shared)
    )


def _has_quota(spec: Spec, shared: SharedSpec) -> bool:
    """Whether a host limits it: by a cap, or by a quota of a control group above it."""
    host = shared.get("host")
    if host is None:
        return False
    group = host["cgroup"]
    while group is not None:
        above = spec["cgroups"][group]
        if above["quota_ns"] is not None:
            return True
        group = above["parent"]
    return host["cap"] is not None


def _partition(spec: Spec, one: PartitionSpec, of: PartitionSolved) -> PartitionAnswer:
    found: dict[str, object] = {
        "name": of["name"],
        "totals": _counters(spec, one, of),
        "response_ns": _response(spec, one, of),
        "dispatch_wait_ns": Known(),
        "finished": {"count": 0, "sum": 0, "min": 0, "max": 0},
        "gauges": Known(),
        "steady": {
            "is_steady": of["steady"],
            "reason": None if of["steady"] else MORE_THAN_IT_CAN,
            "vp_busy_share": 1.0 if not of["steady"] else 0.0,
        },
    }
    if "workloads" in of:
        pairs = zip(works_of(one), of["workloads"], strict=True)
        found["workloads"] = [_load(spec, one, work, own) for work, own in pairs]
    return cast("PartitionAnswer", found)


def _load(
    spec: Spec, one: PartitionSpec, work: WorkloadSpec, of: PartitionSolved
) -> dict[str, object]:
    """One of several workloads of a partition."""
    ns = float(spec["duration_ns"])
    seconds = ns / NS_PER_S
    has_any = work["kind"] not in WITHOUT_TRANSACTIONS
    done = _rate(of) * seconds if has_any else 0.0
    totals = Known(
        busy_ns=of["cores"] * ns,
        instructions=of["instructions"] * seconds,
        spin_instructions=0.0,
        cycles=of["busy_threads"] * seconds * spec["machine"]["clock_hz"],
        tx_arrived=done,
        tx_done=done,
    )
    return {
        "name": of["name"],
        "totals": totals,
        "response_ns": _told(spec, one, of) if has_any else {},
    }


def _response(spec: Spec, one: PartitionSpec, of: PartitionSolved) -> Known | dict[str, float]:
    if not _transactions(one, of):
        return {}
    return _told(spec, one, of)


def _told(spec: Spec, one: PartitionSpec, of: PartitionSolved) -> Known:
    mean, percentiles = of["response_ns"], of["percentiles_ns"]
    if mean is None or is_limited(spec, one):
        return Known()
    told = () if percentiles is None else zip(_PERCENTILES, percentiles, strict=True)
    return Known(count=1, mean=mean, **dict(told))


def _transactions(one: PartitionSpec, of: PartitionSolved) -> float:
    """Of a second, in the digits to which the solver settles; loops have none."""
    alone = of["zvm"] is None and "workloads" not in of
    if alone and one["workload"]["kind"] in WITHOUT_TRANSACTIONS:
        return 0.0
    return _rate(of)


def _rate(of: PartitionSolved) -> float:
    return float(f"{of['throughput']:.{_DIGITS}g}")


def _counters(spec: Spec, one: PartitionSpec, of: PartitionSolved) -> Known:
    ns = float(spec["duration_ns"])
    seconds = ns / NS_PER_S
    home, near, far = of["by_distance"]
    busy = of["cores"] * ns
    done = _transactions(one, of) * seconds
    known = Known(
        busy_ns=busy,
        home_ns=home * busy,
        near_ns=near * busy,
        far_ns=far * busy,
        instructions=of["instructions"] * seconds,
        cycles=of["busy_threads"] * seconds * spec["machine"]["clock_hz"],
        spin_instructions=0.0,
        tx_arrived=done,
        tx_done=done,
    )
    known |= {f"book_{name}": cores * ns for name, cores in of["books"].items()}
    known |= {f"lines_{name}": rate * seconds for name, rate in of["lines"].items()}
    if not is_limited(spec, one):
        known["ready_ns"] = of["busy_vps"] * of["waiting"] * ns
        if of["inside"] is not None and not is_recorded(one):
            known["runq_ns"] = of["inside"] * ns
    known |= {**_of_own_cores(one), **_of_zvm(one, of, ns)}
    return known


def _of_zvm(one: PartitionSpec, of: PartitionSolved, ns: float) -> dict[str, float]:
    told = of["zvm"]
    if told is None:
        return {}
    found = {name: cores * ns for name, cores in zip(_OF_ZVM, told["owners"], strict=True)}
    found |= {"unparked_ns": told["unparked"] * ns}
    if one["smt"] > 1:
        found["thread_ns"] = of["busy_threads"] * ns
    return {**found, "spin_instructions": told["spun"] * ns / NS_PER_S}


def _of_own_cores(one: PartitionSpec) -> dict[str, float]:
    """What never happens: dedicated cores are no excess, only those that are donated are lent."""
    if shared_of(one) is not None:
        return {"donated_ns": 0.0}
    own = {"excess_ns": 0.0}
    if not (cores_of(one) and one["processors"].get("donating")):
        own["donated_ns"] = 0.0
    return own
