"""Partitions that did not run when their state was listed: out of all files, not of one."""

from __future__ import annotations

from homenode.errors import listed
from homenode.records.importing.facts import Facts
from homenode.records.importing.opening.sources import Notice

Key = tuple[str | None, str]
_MOST_NAMES = 20


def leave_out_stopped(facts: Facts) -> None:
    """Forget all that files tell of partitions that another, or the same, says do not run. A row
    that names no server is of the only one there is.
    """
    servers = {key for key, _ in facts.partitions if key is not None}
    servers |= {key for key in facts.systems if key}

    def same(one: Key, other: Key) -> bool:
        nameless = one[0] is None or other[0] is None
        return one[1] == other[1] and (one[0] == other[0] or (nameless and len(servers) < 2))

    found = {
        key: of.running
        for key, of in facts.partitions.items()
        if of.running is not None and not of.running.value
    }

    def stopped(key: Key) -> bool:
        return any(same(key, one) for one in found)

    names: dict[str, list[str]] = {}
    for (_, name), told in found.items():
        names.setdefault(told.where.file, []).append(name)
    for told in {told.where.file: told for told in reversed(found.values())}.values():
        of_file = sorted(names[told.where.file])
        text = f"not running, so left out: {listed(of_file, _MOST_NAMES)}"
        facts.notices.append(Notice(text, told.where))
    for key in [one for one in facts.partitions if stopped(one)]:
        del facts.partitions[key]
    for kind in (facts.series, facts.beside, facts.affinity):
        kept = [one for one in kind if not stopped((one.system, one.partition))]
        kind[:] = kept  # type: ignore[assignment]  # of its own kind
