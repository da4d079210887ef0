"""A stand-in for `homenode._engine`: the same calls and columns, numbers from a few lines of
arithmetic.

It is no model. Partitions homed on the same node share its cores; what they need beyond them runs
far away and costs more, as much as `FAR_PENALTY` says. A demand beyond the virtual processors is
unsteady. A ripple that depends on the seed, the replication and the interval gives the statistics
something to measure.
"""

from __future__ import annotations

import hashlib
import json
import struct
import time
from collections.abc import Callable
from typing import Any

ENGINE_VERSION = "0.0.0-fake"
BOOKS = [
    "useful",
    "l2",
    "l3",
    "l4",
    "cache_chip",
    "cache_near",
    "cache_far",
    "memory_local",
    "memory_near",
    "memory_far",
    "translation",
    "store",
    "reload",
    "smt",
    "tick",
    "spin",
    "list",
    "guest_idle",
    "hypervisor",
]
SOURCES = BOOKS[1 : BOOKS.index("translation")]
PARTITION_COLUMNS = [
    "time_ns",
    "partition",
    "busy_ns",
    "entitled_ns",
    "excess_ns",
    "donated_ns",
    "user_ns",
    "sys_ns",
    "wait_ns",
    "idle_ns",
    "suser_ns",
    "ssys_ns",
    "swait_ns",
    "sidle_ns",
    "ticks_user",
    "ticks_sys",
    "ticks_wait",
    "ticks_idle",
    "vcsw",
    "ilcs",
    "vlcs",
    "phint",
    "hypervisor_ns",
    "cede_calls",
    "cede_ns",
    "cede_max_ns",
    "confer_calls",
    "confer_ns",
    "prod_calls",
    "prod_ns",
    "dispatches",
    "home_ns",
    "near_ns",
    "far_ns",
    "home_disp",
    "near_disp",
    "far_disp",
    "evictions",
    "ready_ns",
    "runq_ns",
    "blocked_ns",
    "tx_arrived",
    "tx_done",
    "tx_inside",
    "response_ns",
    "instructions",
    "cycles",
    "context_switches",
    "interrupts",
    "syscalls",
    "vps_unfolded",
    "exhausted_ns",
    "guest_ns",
    "chargeable_ns",
    "system_ns",
    "unparked_ns",
    "pages_in",
    "pages_out",
    "page_reads",
    "page_writes",
    "spin_instructions",
    "thread_ns",
    "mt1_ns",
    "prorated_ns",
    "scheduler_locks",
    "scheduler_spin_ns",
    "vector_locks",
    "vector_spin_ns",
    "page_locks",
    "page_spin_ns",
    "nvcsw",
    "nivcsw",
    "host_migrations",
    "halt_poll_ns",
    "steal_ns",
    "quota_periods",
    "throttled_periods",
    "throttled_ns",
    "costop_ns",
    "charged_ns",
    "pause_exits",
    "directed_yields",
    "numa_moved_bytes",
    *(f"lines_{source}" for source in SOURCES),
    *(f"book_{book}" for book in BOOKS),
]
CPU_COLUMNS = [
    "time_ns",
    "partition",
    "cpu",
    "vp",
    "user_ns",
    "sys_ns",
    "wait_ns",
    "idle_ns",
    "ticks_busy_ns",
    "ilcs",
    "vlcs",
    "cs",
    "ics",
    "runq_ns",
    "s0rd",
    "s1rd",
    "s2rd",
    "s3rd",
    "s4rd",
    "s5rd",
    "s3hrd",
    "s4hrd",
    "s5hrd",
    "migrations",
    "interrupts",
]
POOL_COLUMNS = [
    "time_ns",
    "pool",
    "cores",
    "busy_ns",
    "idle_ns",
    "entitled_ns",
    "management_ns",
]
FABRIC_COLUMNS = ["time_ns", "port", "place", "lines", "bytes", "wait_ns"]
FABRIC_PORTS = ["memory", "into_chip", "out_of_chip", "into_node", "out_of_node", "cache"]
WORKLOAD_COLUMNS = [
    "time_ns",
    "partition",
    "workload",
    "busy_ns",
    "thread_ns",
    "instructions",
    "tx_arrived",
    "tx_done",
    "tx_inside",
    "response_ns",
]

VIRTUAL_MACHINE_COLUMNS = [
    "time_ns",
    "partition",
    "virtual_machine",
    "guest_ns",
    "chargeable_ns",
    "dispatches",
    "wait_ns",
    "page_wait_ns",
    "page_reads",
    "tx_done",
    "response_ns",
    "thread_ns",
]
SWITCH_COLUMNS = [
    "time_ns",
    "partition",
    "switch",
    "frames",
    "bytes",
    "searches",
    "elements",
    "list_ns",
    "line_wait_ns",
    "locks",
    "lock_spin_ns",
]
VOLUME_COLUMNS = [
    "time_ns",
    "partition",
    "volume",
    "ios",
    "reads",
    "pages",
    "pend_ns",
    "disc_ns",
    "conn_ns",
    "queue_ns",
    "busy_ns",
    "cache_hits",
]
INTERRUPT_COLUMNS = ["time_ns", "partition", "cpu", "interrupts", "hard_ns", "soft_ns"]
HOME_COLUMNS = [
    "time_ns",
    "partition",
    "domain",
    "vps_at_home",
    "home_changes",
    "memory_bytes",
]
DISPATCH_COLUMNS = ["start_ns", "end_ns", "partition", "vp", "core", "distance", "kind", "reason"]

FAR_PENALTY = 0.8
MEMORY_LINES = 0.002
"""Lines from memory for an instruction of a partition with cores of its own."""
PAUSE_S = 0.0
"""Wall time of an interval; a test of progress raises it."""
STANDS_IN: int | None = None
"""The replication that comes to its first batch and no further until it is asked to stop: whatever
else the machine does meanwhile, those before it have finished and it has not.
"""
BATCH_INTERVALS = 1
"""Intervals handed over at once; results must not depend on it."""

Tables = dict[str, dict[str, list[int]]]


class SpecError(ValueError):
    """Spec refused."""


class CaptureError(ValueError):
    """What a tool printed cannot be read."""


class Runaway(RuntimeError):  # noqa: N818 - the engine's own name
    """More work piled up than memory should hold."""


class Stopped(Exception):  # noqa: N818 - the engine's own name
    """The observer asked to stop."""


def check(spec_json: str) -> None:
    """Refuse a spec without time."""
    if json.loads(spec_json)["duration_ns"] <= 0:
        raise SpecError("the duration is 0 ns; give it a length")


def simulate(
    spec_json: str,
    replication: int,
    observe: Callable[[dict[str, Any]], bool],
    latest: bool = False,
) -> str:
    """One replication."""
    check(spec_json)
    spec = json.loads(spec_json)
    duration, step = spec["duration_ns"], spec["interval_ns"]
    needs = demands(spec)
    sums = [dict.fromkeys(PARTITION_COLUMNS, 0) for _ in spec["partitions"]]
    waiting: Tables = {}
    ends = [*range(step, duration, step), duration]
    for number, now in enumerate(ends):
        ripple = 1.0 + 0.01 * _noise(spec["seed"], replication, number)
        _interval(spec, needs, now, min(step, now), ripple, waiting, sums)
        time.sleep(PAUSE_S)
        if (number + 1) % BATCH_INTERVALS == 0 or now == duration:
            packed = {
                t: {c: struct.pack(f"<{len(v)}q", *v) for c, v in cols.items()}
                for t, cols in waiting.items()
            }
            waiting = {}
            told = {"now_ns": now, "end_ns": duration, "events": number}
            if not observe(told | {"tables": packed}):
                raise Stopped
            while replication == STANDS_IN:
                time.sleep(0.001)
                if not observe(told | {"tables": {}}):
                    raise Stopped
    partitions = [
        _summary(p, need, total)
        for p, need, total in zip(spec["partitions"], needs, sums, strict=True)
    ]
    return json.dumps(
        {
            "replication": replication,
            "events": 10 * len(ends),
            "sim_ns": duration,
            "partitions": partitions,
            "pool_idle_ns": 0,
        }
    )


def polarize(entitlement: float, cores: int) -> tuple[int, int, int, float]:
    """All whole cores high, the rest of the entitlement on one medium."""
    high = min(int(entitlement), cores)
    medium = int(high < cores)
    return high, medium, cores - high - medium, entitlement - high


def price(spec_json: str, busy_json: str) -> str:
    """An instruction costs the core's part and some lines from memory, at the mean distance of the
    memory from the core's chip.
    """
    check(spec_json)
    spec, busy = json.loads(spec_json), json.loads(busy_json)
    found = []
    for partition, cores in zip(spec["partitions"], busy, strict=True):
        machine = spec["machine"]
        core_ns = partition["profile"]["eicpi"] / machine["core_rate"] / machine["clock_hz"] * 1e9
        ns = [core_ns + MEMORY_LINES * _memory_ns(machine, partition, c) for c in range(len(cores))]
        used = sum(cores)
        mean = sum(n * c for n, c in zip(ns, cores, strict=True)) / used if used else None
        found.append({"name": partition["name"], "ns": mean})
    return json.dumps({"partitions": found})


def _memory_ns(machine: dict[str, Any], partition: dict[str, Any], chip: int) -> float:
    return sum(_memory_parts(machine, partition, chip).values())


def _memory_parts(
    machine: dict[str, Any], partition: dict[str, Any], chip: int
) -> dict[str, float]:
    """Latency by distance, weighed with the memory there."""
    chips = machine["chips_per_node"]
    beside_node = machine["memory_beside"] == "node"
    total = sum(part["bytes"] for part in partition["memory"])
    found = {"local": 0.0, "near": 0.0, "far": 0.0}
    for part in partition["memory"]:
        for domain in part["domains"]:
            if domain == (chip // chips if beside_node else chip):
                where = "local"
            else:
                node = domain if beside_node else domain // chips
                where = "near" if node == chip // chips else "far"
            share = part["bytes"] / total / len(part["domains"])
            found[where] += share * machine["memory_ns"][where]
    return found


def processors(partition: dict[str, Any]) -> int:
    """Virtual processors, or cores of its own."""
    told = partition["processors"]
    return int(told["virtual"]) if told["mode"] == "shared" else len(told["cores"])


def instruction_ns(machine: dict[str, Any], partition: dict[str, Any]) -> dict[str, float]:
    """By cause, of a partition that keeps its own cores busy."""
    cores = partition["processors"]["cores"]
    parts = [_memory_parts(machine, partition, core // machine["cores_per_chip"]) for core in cores]
    core_ns = partition["profile"]["eicpi"] / machine["core_rate"] / machine["clock_hz"] * 1e9
    found = {"useful": core_ns}
    for where in ("local", "near", "far"):
        found[f"memory_{where}"] = MEMORY_LINES * sum(part[where] for part in parts) / len(parts)
    return found


def demands(spec: dict[str, Any]) -> list[dict[str, float]]:
    """Cores and far share of each partition."""
    machine = spec["machine"]
    node_cores = machine["chips_per_node"] * machine["cores_per_chip"]
    node = [p["home"][0] // machine["chips_per_node"] for p in spec["partitions"]]
    base = [_base_cores(p, machine["clock_hz"]) for p in spec["partitions"]]
    found = []
    for index, partition in enumerate(spec["partitions"]):
        together = sum(b for b, n in zip(base, node, strict=True) if n == node[index])
        far = 0.0
        for _ in range(50):  # D = base (1 + penalty far), far = 1 - cores / D
            far = max(0.0, 1.0 - node_cores / max(together * (1.0 + FAR_PENALTY * far), 1e-9))
        cores = base[index] * (1.0 + FAR_PENALTY * far)
        limit = float(processors(partition))
        found.append(
            {"base": base[index], "cores": min(cores, limit), "far": far, "over": cores - limit}
        )
    return found


def _base_cores(partition: dict[str, Any], clock_hz: float) -> float:
    workload, profile = partition["workload"], partition["profile"]
    seconds = profile["instructions_per_unit"] * profile["eicpi"] / clock_hz
    if workload["kind"] == "transactions":
        return float(workload["rate_per_s"] * seconds)
    if workload["kind"] == "trace":
        rates = workload["instructions_per_s"]
        return float(sum(rates) / len(rates) * profile["eicpi"] / clock_hz)
    if workload["kind"] in ("loops", "warehouses"):
        return float(min(workload["count"], processors(partition)))
    return 0.01


def _interval(
    spec: dict[str, Any],
    needs: list[dict[str, float]],
    now: int,
    dt: int,
    ripple: float,
    out: Tables,
    sums: list[dict[str, int]],
) -> None:
    total = 0
    for index, (partition, need) in enumerate(zip(spec["partitions"], needs, strict=True)):
        row = _partition_row(partition, need, index, now, dt, ripple)
        if partition["processors"]["mode"] == "dedicated":
            row.update(_dedicated(spec["machine"], partition, row))
        total += row["busy_ns"]
        _append(out, "partition", row)
        for name, value in row.items():
            sums[index][name] += value
        threads = processors(partition) * partition["smt"]
        for cpu in range(threads):
            cpu_row = dict.fromkeys(CPU_COLUMNS, 0)
            cpu_row.update(time_ns=now, partition=index, cpu=cpu, vp=cpu // partition["smt"])
            cpu_row.update(user_ns=row["user_ns"] // threads, ticks_busy_ns=dt // 2)
            _append(out, "cpu", cpu_row)
    cores = spec["machine"]["active_cores"]
    for index in range(len(spec["pools"])):
        busy = total if index == 0 else 0
        pool = {
            "time_ns": now,
            "pool": index,
            "cores": cores,
            "busy_ns": busy,
            "idle_ns": cores * dt - busy,
        }
        _append(out, "pool", {**pool, "entitled_ns": 0, "management_ns": 0})


def _partition_row(
    partition: dict[str, Any], need: dict[str, float], index: int, now: int, dt: int, ripple: float
) -> dict[str, int]:
    seconds = dt / 1e9
    busy = int(need["cores"] * dt * ripple)
    far = int(busy * need["far"])
    done = int(partition["workload"].get("rate_per_s", 0) * seconds)
    row = dict.fromkeys(PARTITION_COLUMNS, 0)
    row.update(
        time_ns=now,
        partition=index,
        busy_ns=busy,
        home_ns=busy - far,
        far_ns=far,
        excess_ns=busy // 2,
    )
    row.update(
        user_ns=busy * 9 // 10, sys_ns=busy // 10, entitled_ns=busy // 2, hypervisor_ns=busy // 100
    )
    row.update(
        ticks_user=busy,
        ticks_idle=busy,
        tx_arrived=done,
        tx_done=done,
        response_ns=done * 50_000_000,
    )
    row.update(
        vcsw=int(10_000 * seconds),
        ilcs=int(5_000 * (1 + 2 * need["far"]) * seconds),
        vlcs=int(14_000 * seconds),
    )
    row.update(
        dispatches=int(12_000 * seconds),
        ready_ns=int(12_000 * seconds) * 20_000,
        instructions=busy,
        cycles=2 * busy,
    )
    row.update(
        evictions=int(9_000 * need["far"] * seconds),
        vps_unfolded=int(need["cores"]) + 1,
        runq_ns=2 * busy,
    )
    row.update(_books(need, busy))
    row.update({f"lines_{name}": busy // (50 * 2**place) for place, name in enumerate(SOURCES)})
    return row


def _dedicated(
    machine: dict[str, Any], partition: dict[str, Any], row: dict[str, int]
) -> dict[str, int]:
    """What differs where cores of its own are busy: it gets done what their memory lets it."""
    by_cause, busy = instruction_ns(machine, partition), row["busy_ns"]
    ns = sum(by_cause.values())
    books = {f"book_{name}": 0 for name in BOOKS}
    books |= {f"book_{name}": int(busy * part / ns) for name, part in by_cause.items()}
    books["book_useful"] += busy - sum(books.values())
    is_loop = partition["workload"]["kind"] == "loops"
    done = 0 if is_loop else int(busy / ns / partition["profile"]["instructions_per_unit"])
    return {
        **books,
        "instructions": int(busy / ns),
        "cycles": int(busy * machine["clock_hz"] / 1e9),
        "tx_arrived": done,
        "tx_done": done,
        "response_ns": done * 50_000_000,
    }


def _books(need: dict[str, float], busy: int) -> dict[str, int]:
    """A fixed part of the work for each local cause; what being far costs is split three ways."""
    extra = int(busy * (1.0 - 1.0 / (1.0 + FAR_PENALTY * need["far"])))
    shares = {
        "l2": 0.02,
        "l3": 0.1,
        "cache_chip": 0.05,
        "memory_local": 0.2,
        "smt": 0.1,
        "hypervisor": 0.01,
    }
    books = {f"book_{name}": int((busy - extra) * share) for name, share in shares.items()}
    books["book_cache_far"] = extra // 2
    books["book_memory_far"] = extra * 3 // 10
    books["book_reload"] = extra - extra // 2 - extra * 3 // 10
    books["book_useful"] = busy - sum(books.values())
    return books


def _append(out: Tables, table: str, row: dict[str, int]) -> None:
    columns = out.setdefault(table, {name: [] for name in row})
    for name, value in row.items():
        columns[name].append(value)


def _summary(
    partition: dict[str, Any], need: dict[str, float], totals: dict[str, int]
) -> dict[str, Any]:
    unsteady = need["over"] > 0
    reason = f"all {processors(partition)} virtual processors are always busy" if unsteady else None
    count = totals["tx_done"]
    response = (
        {
            "count": count,
            "mean": 5e7,
            "p50": 4e7,
            "p95": 9e7,
            "p99": 1.2e8,
            "p999": 1.6e8,
            "max": 2e8,
        }
        if count
        else {"count": 0}
    )
    wait = {
        "count": totals["dispatches"],
        "mean": 2e4,
        "p50": 1e4,
        "p95": 5e4,
        "p99": 9e4,
        "p999": 1.2e5,
        "max": 2e5,
    }
    finished = {}
    if partition["workload"]["kind"] == "loops":
        profile = partition["profile"]
        elapsed = int(profile["instructions_per_unit"] * profile["eicpi"])
        count = partition["workload"]["count"]
        finished = {"count": count, "sum": count * elapsed, "min": elapsed, "max": elapsed}
    steady = {
        "is_steady": not unsteady,
        "reason": reason,
        "backlog_start": 0.0,
        "backlog_end": 9.0,
        "vp_busy_share": 0.5,
    }
    return {
        "name": partition["name"],
        "totals": totals,
        "response_ns": response,
        "dispatch_wait_ns": wait,
        "finished": finished,
        "steady": steady,
    }


def _noise(seed: int, replication: int, number: int) -> float:
    digest = hashlib.sha256(f"{seed}/{replication}/{number}".encode()).digest()
    return int.from_bytes(digest[:4], "little") / 2**31 - 1.0
