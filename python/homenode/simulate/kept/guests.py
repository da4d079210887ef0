"""What the virtual machines, switches and paging volumes of a partition counted, added up by kind.

Metrics ask for all clients, all servers, all volumes of a partition together; the interval tables
hold a row for each of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from homenode.model.spec import Spec, loads_of, zvm_of
from homenode.simulate.answers import Answer, Sums
from homenode.simulate.kept.sums import REPLICATION, Source, added


def guest_tables(spec: Spec) -> list[str]:
    """Interval tables that a run of this frozen scenario has beside those of every run."""
    guests = [guest for p in spec["partitions"] if (guest := zvm_of(p)) is not None]
    there = {
        "virtual_machine": any(guest["machines"] for guest in guests),
        "switch": any(guest["switches"] for guest in guests),
        "volume": any(guest["paging"] is not None for guest in guests),
    }
    return [table for table, has_rows in there.items() if has_rows]


def tables_beside(spec: Spec) -> list[str]:
    """All interval tables that only some runs have, of those that this one has."""
    several = any("beside" in partition for partition in spec["partitions"])
    return [*(["workload"] if several else []), *guest_tables(spec)]


def names_of(spec: Spec, kind: str) -> list[dict[str, int | str]]:
    """Index and name of all pools or partitions, or of all virtual machines, switches or workloads
    beside others with that of their partition.
    """
    if kind in ("pool", "partition"):
        own = spec["pools"] if kind == "pool" else spec["partitions"]
        return [{f"{kind}_index": number, kind: str(one["name"])} for number, one in enumerate(own)]
    if kind == "workload":
        return [
            {"partition_index": index, "workload_index": number, "workload": name}
            for index, partition in enumerate(spec["partitions"])
            for number, name in enumerate(loads_of(partition) if "beside" in partition else ())
        ]
    return [
        {"partition_index": index, f"{kind}_index": number, kind: str(one["name"])}
        for index, partition in enumerate(spec["partitions"])
        if (guest := zvm_of(partition)) is not None
        for number, one in enumerate(
            guest["machines"] if kind == "virtual_machine" else guest["switches"]
        )
    ]


def with_guests(raw: Sequence[Answer], folder: Source, spec: Spec) -> list[Answer]:
    """The engine's summaries with these sums, which it keeps by interval only."""
    sums = guest_sums(folder, spec, REPLICATION)
    return [
        {
            **summary,
            "partitions": [
                {**partition, "guests": sums[summary["replication"], index]}
                if (summary["replication"], index) in sums
                else partition
                for index, partition in enumerate(summary["partitions"])
            ],
        }
        for summary in raw
    ]


def guest_sums(
    folder: Source,
    spec: Spec,
    key: str,
    batches: Mapping[int, int] | None = None,
    replication: int | None = None,
) -> dict[tuple[int, int], Sums]:
    """Sums by `key` (`replication`, or `batch`, where `batches` says by its end which batch an
    interval belongs to) and partition; of all replications together, or of one.
    """
    found: dict[tuple[int, int], Sums] = {}
    for table in guest_tables(spec):
        keys = (key, "partition", table)
        rows = added(folder, table, keys, batches=batches, replication=replication)
        by_kind = [
            ((at, partition), _kind(spec, table, partition, number), one.sums)
            for (at, partition, number), one in rows.items()
        ]
        for place, kind, sums in sorted(by_kind, key=lambda one: one[:2]):
            kinds = found.setdefault(place, {})
            before = kinds.get(kind, {})
            kinds[kind] = {name: value + before.get(name, 0) for name, value in sums.items()}
    return found


def _kind(spec: Spec, table: str, partition: int, number: int) -> str:
    """What is added up with what: virtual machines by what they do."""
    guest = zvm_of(spec["partitions"][partition])
    if table != "virtual_machine" or guest is None:
        return table
    return str(guest["machines"][number]["role"])
