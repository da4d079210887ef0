"""A run of a mainframe as tables: partitions under PR/SM; of z/VM the partition, a transaction, its
switches and paging volumes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.markup import escape
from rich.table import Table

from homenode.errors import EngineMissingError
from homenode.model.numbers import NOTHING, number, significant, with_interval
from homenode.model.spec import (
    PartitionSpec,
    SharedSpec,
    cores_of,
    processors_of,
    shared_of,
    zvm_of,
)
from homenode.report.tables import plain_table
from homenode.simulate.engine import load_engine
from homenode.simulate.kept.figures import Figures
from homenode.simulate.kept.guests import guest_tables
from homenode.simulate.kept.kept_run import KeptRun
from homenode.simulate.kept.totals import NS_PER_S

_SYSTEM = [
    ("ETR/s", "etr_per_s", 1),
    ("ITR/s", "itr_per_s", 1),
    ("%busy", "busy_pct", 1),
    ("guest %", "guest_busy_pct", 1),
    ("chargeable %", "chargeable_busy_pct", 1),
    ("system %", "system_busy_pct", 1),
    ("T/V", "tv_ratio", 2),
    ("unparked", "unparked", 1),
    ("%busy of these", "unparked_busy_pct", 1),
    ("client wait us", "client_wait_us", 2),
    ("server wait us", "server_wait_us", 2),
]
_TRANSACTION = [
    ("guest %s", "guest_busy_per_tx", None),
    ("chargeable %s", "chargeable_busy_per_tx", None),
    ("system %s", "system_busy_per_tx", None),
    ("CP %s", "cp_busy_per_tx", None),
    ("CPU us", "cpu_per_tx_us", 1),
    ("instructions", "instructions_per_tx", 0),
    ("spinning", "spin_instructions_per_tx", 0),
    ("CPI", "cpi", 3),
    ("EICPI", "eicpi", 3),
    ("EFCPI", "efcpi", 3),
    ("page wait ms", "page_wait_ms", 3),
]
"""Heading, metric and decimals; None where the size says how many."""
_PAGING = [
    ("pages/s", "paging_per_s", 0),
    ("I/O /s a volume", "volume_io_per_s", 1),
    ("pend ms", "volume_pend_ms", 3),
    ("disc ms", "volume_disc_ms", 3),
    ("conn ms", "volume_conn_ms", 3),
    ("serv ms", "volume_serv_ms", 3),
    ("resp ms", "volume_resp_ms", 3),
    ("qued", "volume_qued", 2),
    ("%busy", "volume_busy_pct", 0),
    ("%read", "volume_read_pct", 0),
    ("%read hits", "read_hit_pct", 1),
]
_WITH_INTERVAL = ("etr_per_s", "itr_per_s", "instructions_per_tx", "paging_per_s")
_LAYERS = {"ip": "3", "ethernet": "2"}


def mainframe_tables(run: Figures) -> list[Table]:
    """PR/SM's, where it divides the machine, and those of z/VM, where it runs."""
    tables = [_prsm_table(run)] if _divides(run) else []
    guests = [p for p in run.partitions if zvm_of(run.partition_spec(p)) is not None]
    if not guests:
        return tables
    tables += [
        _metrics(run, guests, _SYSTEM, "z/VM"),
        _metrics(run, guests, _TRANSACTION, "z/VM, a transaction (%s: percent of a processor x s)"),
    ]
    pools = _pool_table(run, guests)
    tables += [pools] if pools.rows else []
    switches = _switch_rows(run)
    if switches:
        tables.append(_switch_table(switches))
    paging = [p for p in guests if run.metrics[p]["volume_io_per_s"].mean is not None]
    if paging:
        tables.append(_metrics(run, paging, _PAGING, "Paging volumes, the average one"))
    return tables


def _metrics(
    run: Figures, partitions: list[str], shown: Sequence[tuple[str, str, int | None]], title: str
) -> Table:
    """A column a metric, without those that none of the partitions has."""
    there = [
        entry
        for entry in shown
        if any(run.metrics[p][entry[1]].mean is not None for p in partitions)
    ]
    table = plain_table("partition", *(head for head, *_ in there), title=title)
    for partition in partitions:
        metrics = run.metrics[partition]
        cells = [
            significant(metrics[name].mean)
            if digits is None
            else with_interval(metrics[name], digits)
            if name in _WITH_INTERVAL
            else number(metrics[name].mean, digits)
            for _, name, digits in there
        ]
        table.add_row(escape(partition), *cells)
    return table


def _pool_table(run: Figures, guests: Sequence[str]) -> Table:
    """CPU pools: what their members used together, what CP did on their account counted."""
    table = plain_table(
        "pool", "partition", "type", "limit", "members", "cores used", "% of it", title="CPU pools"
    )
    for name in guests:
        guest = zvm_of(run.partition_spec(name))
        pools = [] if guest is None else guest.get("cpu_pools", [])
        if guest is None or not pools or not isinstance(run, KeptRun):
            continue
        used, told = _used_by_machines(run, name), run.details.get(name, {}).get("cpu_pools", [])
        for index, pool in enumerate(pools):
            members = [
                at for at, one in enumerate(guest["machines"]) if one.get("cpu_pool") == index
            ]
            cores = sum(used.get(at, 0.0) for at in members)
            kind = told[index]["type"].upper() if told else NOTHING
            share = 100 * cores / pool["cores"]
            figures = (number(pool["cores"], 2), str(len(members)), number(cores, 2))
            row = (escape(pool["name"]), escape(name), kind, *figures, number(share, 1))
            table.add_row(*row)
    return table


def _used_by_machines(run: KeptRun, partition: str) -> dict[int, float]:
    """Cores that each virtual machine of a partition used, the mean of all replications."""
    rows = run.intervals("virtual_machine")
    keys = ("partition", "virtual_machine_index")
    sums = rows.select(*keys, "guest_ns", "chargeable_ns").group_by(*keys).sum()
    seconds = run.replications * run.spec["duration_ns"]
    return {
        row["virtual_machine_index"]: (row["guest_ns"] + row["chargeable_ns"]) / seconds
        for row in sums.iter_rows(named=True)
        if row["partition"] == partition
    }


def _switch_rows(run: Figures) -> list[dict[str, Any]]:
    """Each switch with its means over all replications."""
    if not isinstance(run, KeptRun) or "switch" not in guest_tables(run.spec):
        return []
    rows = run.intervals("switch")
    sums = rows.group_by("partition", "switch", "partition_index", "switch_index").sum()
    found = []
    seconds = run.replications * run.spec["duration_ns"] / NS_PER_S
    for row in sums.sort("partition_index", "switch_index").iter_rows(named=True):
        guest = zvm_of(run.spec["partitions"][row["partition_index"]])
        if guest is None:
            raise AssertionError("a switch where no z/VM runs")
        told = guest["switches"][row["switch_index"]]
        nics = sum(one["switch"] == row["switch_index"] for one in guest["machines"])
        found.append({**row, "seconds": seconds, "layer": told["layer"], "nics": nics})
    return found


def _switch_table(rows: list[dict[str, Any]]) -> Table:
    table = plain_table(
        "switch", "partition", "layer", "NICs", "frames/s", "MB/s", "searches/s",
        "passed a search", "list us a search", "line wait us", title="Virtual switches",
    )  # fmt: skip
    for row in rows:
        searches = row["searches"]
        table.add_row(
            escape(str(row["switch"])),
            escape(str(row["partition"])),
            _LAYERS[row["layer"]],
            str(row["nics"]),
            number(row["frames"] / row["seconds"], 0),
            number(row["bytes"] / row["seconds"] / 1e6, 1),
            number(searches / row["seconds"], 0) if searches else NOTHING,
            number(row["elements"] / searches, 1) if searches else NOTHING,
            number(row["list_ns"] / searches / 1e3, 2) if searches else NOTHING,
            number(row["line_wait_ns"] / searches / 1e3, 2) if searches else NOTHING,
        )
    return table


def _divides(run: Figures) -> bool:
    """Whether PR/SM has something to divide: a shared partition, or several."""
    shared = any(p["processors"]["mode"] == "shared" for p in run.spec["partitions"])
    prsm = run.spec["machine"]["hypervisor"]["policy"] == "prsm"
    return bool(prsm and (shared or len(run.partitions) > 1))


def _prsm_table(run: Figures) -> Table:
    """A row a partition, and for each pool what PR/SM takes for none of them."""
    table = plain_table(
        "partition", "cores", "type", "weight", "entitlement", "VH/VM/VL", "cores busy",
        "management", "capped", title="PR/SM",
    )  # fmt: skip
    for name in run.partitions:
        spec = run.partition_spec(name)
        shared, own = shared_of(spec), cores_of(spec)
        metrics = run.metrics[name]
        share = metrics["hypervisor_pct"]
        managed = (metrics["physc"].mean or 0.0) * (share.mean or 0.0) / 100.0
        table.add_row(
            escape(name),
            str(processors_of(spec)),
            str(run.details.get(name, {}).get("core_type", "ifl")).upper(),
            "dedicated" if shared is None else str(shared["weight"]),
            number(len(own) if shared is None else shared["entitlement"], 2),
            _polarization(spec),
            with_interval(metrics["physc"], 2),
            number(managed if share.reason is None else None, 4),
            _caps(run, shared),
        )
    sharing = {
        one["processors"]["pool"]
        for one in run.spec["partitions"]
        if one["processors"]["mode"] == "shared"
    }
    for index, (name, pool) in enumerate(run.summary["machine"]["pools"].items()):
        if index in sharing and "management" in pool:
            taken = number(pool["management"]["mean"], 4)
            cells = [NOTHING] * 5
            table.add_row("PHYSICAL", str(pool["cores"]), escape(name), *cells[:4], taken, NOTHING)
    return table


def _polarization(spec: PartitionSpec) -> str:
    """How many logical cores are vertical-high, -medium and -low, by PR/SM's rule in the engine; a
    report can do without.
    """
    shared = shared_of(spec)
    if shared is None:
        return f"{len(cores_of(spec))}/0/0"
    more = shared.get("prsm")
    if more is None or more.get("polarization") != "vertical":
        return "horizontal"
    try:
        high, medium, low, _ = load_engine().polarize(shared["entitlement"], shared["virtual"])
    except EngineMissingError:
        return "vertical"
    return f"{high}/{medium}/{low}"


def _caps(run: Figures, shared: SharedSpec | None) -> str:
    """Which limits hold beside the weight."""
    found = ["weight"] if shared is not None and shared["capped"] else []
    more = None if shared is None else shared.get("prsm")
    if more is None:
        return escape(", ".join(found)) or "no"
    if more.get("cap") is not None:
        found.append(f"{more['cap']:g} cores")
    if (index := more.get("group")) is not None:
        group = run.spec["groups"][index]
        found.append(f"group {group['name']} {group['cap']:g}")
    if (soft := more.get("defined_capacity")) is not None:
        found.append(f"average {soft['cores']:g}")
    return escape(", ".join(found)) or "no"
