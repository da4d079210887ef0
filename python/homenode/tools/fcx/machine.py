"""Reports on the machine and on the virtual machines: FCX126 LPAR, FCX302 PHYSLOG, FCX112 USER,
FCX114 USTAT.
"""

from __future__ import annotations

from decimal import ROUND_DOWN, Decimal
from typing import Any

import polars as pl

from homenode.model.spec import VirtualMachineSpec, shared_of
from homenode.simulate.kept.totals import NS_PER_S
from homenode.tools.errors import ToolError
from homenode.tools.fcx.plain import Cells, PlainTable
from homenode.tools.guestview import GuestView, clock


def _lpar(view: GuestView, _partition: str) -> list[Cells]:
    scale = 100.0 / (view.seconds * NS_PER_S)
    cores = float(view.spec["machine"]["active_cores"])
    groups = [str(one["name"]) for one in view.spec.get("groups", ())]
    found = []
    for number, one in enumerate(view.partitions, start=1):
        name, shared = str(one["name"]), shared_of(one)
        row = view.total("partition", name)
        busy, managed = row["busy_ns"], row["hypervisor_ns"]
        more = None if shared is None else shared.get("prsm")
        group = None if more is None else more.get("group")
        found.append(
            {
                "Partition": name,
                "Nr.": number,
                "#Proc": view.processors(name),
                "Type": view.core_type(name),
                "Weight": "DED" if shared is None else int(shared["weight"] or 0),
                "Cap": "YES" if shared is not None and shared["capped"] else "NO",
                "TypeCap": None if more is None else more.get("cap"),
                "GrpCapNm": None if group is None else groups[group],
                "%Load": busy * scale / cores,
                "%Busy": busy * scale / view.processors(name),
                "%Ovhd": managed * scale / view.processors(name),
                "%Susp": row["ready_ns"] * scale / view.processors(name),
            }
        )
    return found


def _physlog(view: GuestView, _partition: str) -> list[Cells]:
    """Time of partitions, of their management and of the machine's own, by pool and interval."""
    if all(one["processors"]["mode"] != "shared" for one in view.partitions):
        raise ToolError(
            f"no partition of run {view.name} shares cores",
            there="PHYSLOG tells of shared cores only",
            next_step="look at LPAR for dedicated ones",
        )
    found: list[Cells] = []
    before: dict[int, int] = {}
    for row in view.rows("pool").sort("time_ns", "pool").iter_rows(named=True):
        pool, now = row["pool"], row["time_ns"]
        span = float(now - before.get(pool, 0))
        before[pool] = now
        own, managed = row["management_ns"], _managed(view, pool, now)
        found.append(
            {
                "Interval End Time": clock(now),
                "Pool": str(view.spec["pools"][pool]["name"]),
                "PU Num": row["cores"],
                "%LgclP": 100.0 * (row["busy_ns"] - managed) / span,
                "%Ovrhd": 100.0 * managed / span,
                "%LPmgt": 100.0 * own / span,
                "%Total": 100.0 * (row["busy_ns"] + own) / span,
            }
        )
    return found


def _managed(view: GuestView, pool: int, now: int) -> int:
    """PR/SM's time for the partitions that share a pool, in the interval that ends then [ns]."""
    sharing = [
        index
        for index, one in enumerate(view.partitions)
        if one["processors"]["mode"] == "shared" and one["processors"]["pool"] == pool
    ]
    rows = view.rows("partition")
    of_pool = rows.filter((pl.col("time_ns") == now) & pl.col("partition").is_in(sharing))
    return int(of_pool["hypervisor_ns"].sum())


def _machines(view: GuestView, partition: str) -> list[tuple[VirtualMachineSpec, dict[str, Any]]]:
    """Virtual machines, and what was counted of each over the whole run."""
    rows = view.rows("virtual_machine", partition)
    if not rows.height:
        return []
    sums = rows.group_by("virtual_machine").agg(pl.all().exclude("virtual_machine").sum())
    machines = view.zvm(partition)["machines"]
    of_each = sums.sort("virtual_machine").iter_rows(named=True)
    return [(machines[row["virtual_machine"]], row) for row in of_each]


def _user(view: GuestView, partition: str) -> list[Cells]:
    return [_used(one, row, view.seconds) for one, row in _machines(view, partition)]


def _used(machine: VirtualMachineSpec, row: dict[str, Any], seconds: float) -> Cells:
    """Processors that a machine used, threads of cores where there are several, what it did with
    them, how long it waited for each.
    """
    spent_ns = row["guest_ns"] + row["chargeable_ns"]
    total = row.get("thread_ns", spent_ns) / NS_PER_S
    virtual = total * row["guest_ns"] / spent_ns if spent_ns else 0.0
    done, dispatches = row["tx_done"], row["dispatches"]
    return {
        "Userid": machine["name"],
        "CPUs": machine["cpus"],
        "%CPU": 100.0 * total / seconds,
        "TCPU": total,
        "VCPU": virtual,
        "T/V Ratio": total / virtual if virtual else None,
        "Tx/s": done / seconds if done else None,
        "Resp msec": row["response_ns"] / done / 1e6 if done else None,
        "Wait usec": row["wait_ns"] / dispatches / 1e3 if dispatches else None,
    }


def _ustat(view: GuestView, partition: str) -> list[Cells]:
    found = []
    for machine, row in _machines(view, partition):
        scale = 100.0 / (view.seconds * NS_PER_S * machine["cpus"])
        shares = {
            "%RUN": row.get("thread_ns", row["guest_ns"] + row["chargeable_ns"]) * scale,
            "%CPU": row["wait_ns"] * scale,
            "%PGW": row["page_wait_ns"] * scale,
        }
        found.append({"Userid": machine["name"], "CPUs": machine["cpus"], **_filled(shares)})
    return found


def _filled(shares: dict[str, float]) -> dict[str, float]:
    """Shares of time [%] with `%OTH`, which makes them 100 as they are printed.

    A wait is counted as a whole when it ends; of one that began before the run was recorded no more
    is told than there was time for.
    """
    left, found = Decimal(100), {}
    for name, share in shares.items():
        digits = Decimal(1).scaleb(-_STATES[name])
        most = left.quantize(digits, rounding=ROUND_DOWN)
        told = min(Decimal(share).quantize(digits), most)
        found[name] = float(told)
        left -= told
    return {**found, "%OTH": float(left)}


_STATES = {"%RUN": 2, "%CPU": 4, "%PGW": 2, "%OTH": 4}
"""Decimals of the states of a virtual machine: waits for a processor may be very short."""


LPAR = PlainTable(
    _lpar,
    {"%Load": 2, "%Busy": 2, "%Ovhd": 3, "%Susp": 3, "TypeCap": 2},
    "%Load is of all active cores of the machine; %Busy, %Ovhd and %Susp of its logical cores.",
)
PHYSLOG = PlainTable(
    _physlog,
    {"%LgclP": 2, "%LPmgt": 3, "%Total": 2, "%Ovrhd": 3},
    "Of shared cores. %Ovrhd is PR/SM's time for partitions, %LPmgt that for none (PHYSICAL).",
)
USER = PlainTable(
    _user,
    {"%CPU": 2, "TCPU": 3, "VCPU": 3, "T/V Ratio": 2, "Resp msec": 3, "Wait usec": 2},
    "%CPU is of a processor, with SMT of a thread; Wait is for one, once for each dispatch.",
)
USTAT = PlainTable(
    _ustat,
    _STATES,
    "Shares of time, not of samples; %OTH is idle and what is not told apart.",
)
