"""A partition with z/VM made by hand: its frozen scenario, and counters of every table.

The counters of the partition and of the paging volumes are those of run AP1Z604G of "Eighty
Logical Processors" (IBM's z/VM performance report; Tables 8 and 11, excerpt of FCX108 DEVICE), so
that a figure computed from them can be held against a figure printed there. They are an example of
arithmetic, and no model has made them.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import fake_engine
import frames

SECONDS = 10
SECOND = 1_000_000_000
CLOCK_HZ = 5.2e9
PROCESSORS = 16
VOLUMES = 224

ETR = 3295.34
GUEST, CHARGEABLE, SYSTEM = 658.6387, 296.5102, 92.7207
"""Percent of a processor."""
INSTRUCTIONS = 5528981.83
"""Of a transaction."""
CPI, EICPI = 3.004, 1.183
PAGES = 211_000
"""Read and written, a second."""
VOLUME_RATE = 180
PEND_MS, DISC_MS, CONN_MS, QUEUE_MS = 0.147, 0.479, 0.229, 0.645
READS, HITS = 0.97, 0.96
CLIENT_WAIT_US, SERVER_WAIT_US = 0.36, 6.50
PAGE_WAIT_MS = 15.0
UNPARKED = 13.4

VIRTUAL_MACHINE = str.split(
    "time_ns partition virtual_machine guest_ns chargeable_ns dispatches wait_ns page_wait_ns "
    "page_reads tx_done response_ns thread_ns"
)
SWITCH = str.split(
    "time_ns partition switch frames bytes searches elements list_ns line_wait_ns locks "
    "lock_spin_ns"
)
VOLUME = str.split(
    "time_ns partition volume ios reads pages pend_ns disc_ns conn_ns queue_ns busy_ns cache_hits"
)
MORE = str.split(
    "guest_ns chargeable_ns system_ns unparked_ns pages_in pages_out page_reads page_writes "
    "spin_instructions thread_ns mt1_ns prorated_ns book_list "
    "scheduler_locks scheduler_spin_ns vector_locks vector_spin_ns page_locks page_spin_ns"
)


def machine(name: str, role: str, cpus: int, gib: int, **more: Any) -> dict[str, Any]:
    """A virtual machine."""
    return {
        "name": name,
        "cpus": cpus,
        "memory_bytes": gib << 30,
        "role": role,
        "share": {"relative": 100},
        "maximum": None,
        "limit_hard": False,
        "switch": 0,
        **more,
    }


def guest(clients: int = 5, servers: int = 60) -> dict[str, Any]:
    """z/VM with a tile of clients and servers; of its paths only what reports look at."""
    return {
        "os": "zvm",
        "vertical": True,
        "unparking": "large",
        "cpupad": 1.0,
        "excessuse": "medium",
        "machines": [
            *(machine(f"CLIENT{n:02}", "client", 4, 4) for n in range(1, clients + 1)),
            *(machine(f"SERVER{n:02}", "server", 1, 5) for n in range(1, servers + 1)),
        ],
        "switches": [{"name": "TILE1", "layer": "ethernet", "frame_bytes": 8192}],
        "paging": {"volumes": VOLUMES, "control_units": 16, "bytes": 8 << 40},
    }


def partition(name: str = "zvm", cores: int = PROCESSORS, **more: Any) -> dict[str, Any]:
    """A dedicated partition with z/VM."""
    usual = {
        **frames.partition(name, 0),
        "processors": {
            "mode": "dedicated",
            "cores": [*range(cores)],
            "donating": False,
            "donate_threshold_pct": 80.0,
        },
        "smt": 1,
        "memory": [{"domains": [0], "bytes": 256 << 30}],
        "guest": guest(),
        "workload": {"kind": "web", "file_bytes": 1 << 20, "files": 5000},
    }
    usual["profile"] = {**usual["profile"], "eicpi": EICPI, "instructions_per_unit": 3.4e6}
    return {**usual, **more}


def frame(*partitions: dict[str, Any], name: str = "tile") -> dict[str, Any]:
    """A machine of 4 nodes x 4 chips x 4 cores with PR/SM."""
    spec = frames.frame(*(partitions or [partition()]), name=name, seconds=SECONDS)
    spec["machine"] |= {"name": "ibm-z14", "generation": "z14", "clock_hz": CLOCK_HZ}
    spec["machine"] |= {"threads_per_core": 2, "accounting": "elapsed"}
    spec["machine"]["hypervisor"] |= {"policy": "prsm"}
    return spec


def second(spec: Mapping[str, Any], index: int, now: int) -> dict[str, list[dict[str, int]]]:
    """What a partition with z/VM counted in a second, by table."""
    done = round(ETR)
    key = {"time_ns": now, "partition": index}
    row = dict.fromkeys([*fake_engine.PARTITION_COLUMNS, *MORE], 0) | key
    parts = [round(pct * SECOND / 100) for pct in (GUEST, CHARGEABLE, SYSTEM)]
    busy = sum(parts)
    executed = round(INSTRUCTIONS * done)
    # Finite-cache time as the published split has it: in lines from memory, some in a list.
    lost = round(busy * (CPI - EICPI) / CPI)
    row |= dict(zip(("guest_ns", "chargeable_ns", "system_ns"), parts, strict=True))
    row |= {"busy_ns": busy, "thread_ns": busy, "mt1_ns": busy, "prorated_ns": busy}
    row |= {"instructions": executed, "spin_instructions": executed // 50}
    row |= {"cycles": round(busy * CLOCK_HZ / SECOND), "unparked_ns": round(UNPARKED * SECOND)}
    row |= {"pages_in": PAGES * 6 // 10, "pages_out": PAGES - PAGES * 6 // 10}
    row |= {"page_reads": round(VOLUMES * VOLUME_RATE * READS), "tx_done": done, "tx_arrived": done}
    row |= {"page_writes": VOLUMES * VOLUME_RATE - round(VOLUMES * VOLUME_RATE * READS)}
    row |= {"response_ns": done * 102_470_000, "dispatches": 50_000}
    row |= {"book_list": lost // 20, "book_memory_local": lost - lost // 20}
    row |= {"page_locks": 1000, "page_spin_ns": busy // 100}
    row |= {"book_spin": busy // 60, "book_useful": busy - lost - busy // 60}
    return {
        "partition": [row],
        "virtual_machine": [*_machines(spec, key, parts, done)],
        "switch": [dict.fromkeys(SWITCH, 0) | key | {"switch": 0, "frames": done * 20}],
        "volume": [_volume(key, volume) for volume in range(VOLUMES)],
    }


def _machines(
    spec: Mapping[str, Any], key: Mapping[str, int], parts: list[int], done: int
) -> Iterator[dict[str, int]]:
    listed = spec["partitions"][key["partition"]]["guest"]["machines"]
    servers = sum(one["role"] == "server" for one in listed)
    for number, one in enumerate(listed):
        wait = CLIENT_WAIT_US if one["role"] == "client" else SERVER_WAIT_US
        row = dict.fromkeys(VIRTUAL_MACHINE, 0) | key | {"virtual_machine": number}
        row |= {"guest_ns": parts[0] // len(listed), "chargeable_ns": parts[1] // len(listed)}
        row["thread_ns"] = row["guest_ns"] + row["chargeable_ns"]
        row |= {"dispatches": 1_000, "wait_ns": round(wait * 1e6)}
        if one["role"] == "server":
            row |= {"page_wait_ns": round(done * PAGE_WAIT_MS * 1e6 / servers)}
        yield row


def _volume(key: Mapping[str, int], number: int) -> dict[str, int]:
    ns = {
        name: round(VOLUME_RATE * ms * 1e6)
        for name, ms in (("pend", PEND_MS), ("disc", DISC_MS), ("conn", CONN_MS))
    }
    reads = round(VOLUME_RATE * READS)
    return {
        **key,
        "volume": number,
        "ios": VOLUME_RATE,
        "reads": reads,
        "pages": PAGES // VOLUMES,
        **{f"{name}_ns": spent for name, spent in ns.items()},
        "queue_ns": round(VOLUME_RATE * QUEUE_MS * 1e6),
        "busy_ns": sum(ns.values()),
        "cache_hits": round(reads * HITS),
    }


@dataclass
class Engine:
    """Hands over those counters for partitions with z/VM; others stay idle."""

    change: Callable[[dict[str, list[dict[str, int]]]], None] = lambda _tables: None
    """What a test counts otherwise."""
    columns: dict[str, list[str]] = field(
        default_factory=lambda: {
            "PARTITION_COLUMNS": [*dict.fromkeys([*fake_engine.PARTITION_COLUMNS, *MORE])],
            "POOL_COLUMNS": [*dict.fromkeys([*fake_engine.POOL_COLUMNS, "management_ns"])],
            "VIRTUAL_MACHINE_COLUMNS": VIRTUAL_MACHINE,
            "SWITCH_COLUMNS": SWITCH,
            "VOLUME_COLUMNS": VOLUME,
            "WORKLOAD_COLUMNS": fake_engine.WORKLOAD_COLUMNS,
            "FABRIC_COLUMNS": fake_engine.FABRIC_COLUMNS,
            "INTERRUPT_COLUMNS": fake_engine.INTERRUPT_COLUMNS,
            "HOME_COLUMNS": fake_engine.HOME_COLUMNS,
        }
    )

    def __getattr__(self, name: str) -> Any:
        columns: dict[str, list[str]] = self.__dict__.get("columns", {})
        return columns[name] if name in columns else getattr(fake_engine, name)

    def simulate(
        self,
        spec_json: str,
        replication: int,
        observe: Callable[..., bool],
        latest: bool = False,
    ) -> str:
        """One replication."""
        spec = json.loads(spec_json)
        sums: list[dict[str, int]] = [{} for _ in spec["partitions"]]
        for now in range(SECOND, spec["duration_ns"] + 1, SECOND):
            tables = self._second(spec, now)
            self.change(tables)
            for row in tables["partition"]:
                total = sums[row["partition"]]
                for name, value in row.items():
                    total[name] = total.get(name, 0) + value
            packed = {name: _packed(rows) for name, rows in tables.items()}
            batch = {"now_ns": now, "end_ns": spec["duration_ns"], "events": 1, "tables": packed}
            if not observe(batch):
                raise fake_engine.Stopped
        parts = [_summary(one, total) for one, total in zip(spec["partitions"], sums, strict=True)]
        told = {"replication": replication, "events": 10, "sim_ns": spec["duration_ns"]}
        return json.dumps({**told, "partitions": parts, "pool_idle_ns": 0})

    def _second(self, spec: dict[str, Any], now: int) -> dict[str, list[dict[str, int]]]:
        tables: dict[str, list[dict[str, int]]] = {"partition": [], "cpu": [], "pool": []}
        for index, one in enumerate(spec["partitions"]):
            if one["guest"]["os"] == "zvm":
                counted = second(spec, index, now)
            else:
                idle = dict.fromkeys(self.PARTITION_COLUMNS, 0)
                counted = {"partition": [idle | {"time_ns": now, "partition": index}]}
            for name, rows in counted.items():
                tables.setdefault(name, []).extend(rows)
            for cpu in range(fake_engine.processors(one) * one["smt"]):
                row = dict.fromkeys(fake_engine.CPU_COLUMNS, 0)
                tables["cpu"].append(row | {"time_ns": now, "partition": index, "cpu": cpu})
        pool = {"cores": spec["machine"]["active_cores"], "busy_ns": 0, "idle_ns": 0}
        for number in range(len(spec["pools"])):
            row = dict.fromkeys(self.POOL_COLUMNS, 0) | pool
            tables["pool"].append(row | {"time_ns": now, "pool": number})
        return tables


def _packed(rows: list[dict[str, int]]) -> dict[str, bytes]:
    names = rows[0] if rows else {}
    return {name: struct.pack(f"<{len(rows)}q", *(row[name] for row in rows)) for name in names}


def _summary(one: Mapping[str, Any], total: dict[str, int]) -> dict[str, Any]:
    count = total["tx_done"]
    mean = total["response_ns"] / count if count else 0.0
    return {
        "name": one["name"],
        "totals": total,
        "response_ns": {"count": count, "mean": mean},
        "dispatch_wait_ns": {"count": 0},
        "finished": {},
        "steady": {"is_steady": True, "reason": None},
    }


def install(monkeypatch: Any, **changes: Any) -> Engine:
    """Put it in the place of the compiled engine."""
    import sys

    engine = Engine(**changes)
    module = ModuleType("homenode._engine")
    for name in (*engine.columns, "CPU_COLUMNS", "DISPATCH_COLUMNS", "ENGINE_VERSION", "BOOKS"):
        setattr(module, name, getattr(engine, name))
    for name in ("Stopped", "SpecError", "Runaway"):
        setattr(module, name, getattr(fake_engine, name))
    setattr(module, "simulate", engine.simulate)  # noqa: B010 - a module has no such attribute
    monkeypatch.setitem(sys.modules, "homenode._engine", module)
    return engine
