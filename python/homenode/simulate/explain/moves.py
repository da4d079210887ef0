"""Layouts that a partition with cores of its own could have in place of the one it has: its cores
at its memory, its memory at its cores, its interleaved memory made local, and two of these at once.

Each is the frozen scenario of the run with cores and memory put elsewhere. Whether it helps is not
decided here.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from homenode.model.spec import MemoryPartSpec, PartitionSpec, Spec, cores_of
from homenode.simulate.explain.places import Tree, even
from homenode.simulate.explain.situation import Situation

KINDS = ("pages", "cores", "memory", "both")
"""What can be moved, from what needs no restart of anything else to what needs most."""
_NEARLY = 1.01
"""By how much memory may exceed its room: what firmware takes moves with it."""
_GIB = 1 << 30
_FEW = 4
"""So many nodes are told one by one."""


@dataclass(frozen=True)
class Move:
    """A layout that differs from the run's."""

    text: str
    """The difference, as in `with ...`."""
    kind: str
    """What is moved: one of `KINDS`."""
    spec: Spec
    exchanged: tuple[int, ...] = ()
    """Other partitions whose cores were moved as well."""
    complete: bool = True
    """Whether all its cores are in one place now, where cores were moved."""
    besides: str = ""
    """Where the memory of those others is put as well."""


def moves(at: Situation) -> Iterator[Move]:
    """All that there is room for, the smaller changes first."""
    return (move for move in _moves(at) if _fits(at, move.spec))


def _moves(at: Situation) -> Iterator[Move]:
    to_nodes = [(node, move) for node in _targets(at) for move in _cores(at, node)]
    yield from (move for _, move in to_nodes)
    start = Move("", "memory", at.run.spec)
    yield from _memory(at, start)
    for node, move in to_nodes:
        if move.complete:
            label = at.node_label(node)
            yield from _memory(at, move, there=label)
            if move.exchanged:
                yield from _memory(at, _others_memory(at, move), there=label)


def _targets(at: Situation) -> list[int]:
    """Nodes on which its cores could be brought together: those that have some of its cores, of its
    memory or its I/O.
    """
    here = {*at.seats_by_node, *at.tree.memory_by_node(at.spec)}
    if at.spec["io_domain"] is not None:
        here.add(at.tree.node_of_domain(at.spec["io_domain"]))
    return [node for node in at.run.reach(at.partition) if node in here]


def _fits(at: Situation, spec: Spec) -> bool:
    """Whether no memory domain holds more than it has, as far as that is known."""
    held: dict[int, float] = {}
    for partition in spec["partitions"]:
        for part in partition["memory"]:
            for domain in part["domains"]:
                held[domain] = held.get(domain, 0.0) + part["bytes"] / len(part["domains"])
    room = at.run.memory_room
    return all(size <= _NEARLY * room.get(domain, math.inf) for domain, size in held.items())


def _cores(at: Situation, node: int) -> Iterator[Move]:
    """Its cores on a node: on free ones, else in exchange for those of others."""
    own = _cores_by_node(at.tree, at.spec)
    wanted = [core for other, cores in own.items() if other != node for core in cores]
    if not wanted:
        return
    owner = _owners(at.run.spec)
    free = [core for core in at.tree.cores_of(node) if core not in owner]
    taken = _whole_chips_first(at.tree, free)[: len(wanted)]
    willing = [
        (core, owner[core])
        for core in at.tree.cores_of(node)
        if owner.get(core, at.index) != at.index
        and all(at.tree.node_of(at.tree.chip_of(c)) in at.run.reach(owner[core]) for c in wanted)
    ]
    if taken:
        yield _moved(at, node, wanted, taken, [])
    for lent in _lenders(willing, len(wanted) - len(taken)):
        yield _moved(at, node, wanted, taken, lent)


def _lenders(willing: list[tuple[int, int]], missing: int) -> Iterator[list[tuple[int, int]]]:
    """Cores that others could lend, with their owner: of each who has enough alone, since one may
    gain by the exchange where another loses; else of several together.
    """
    alone = [
        lent
        for who in dict.fromkeys(owner for _, owner in willing)
        if len(lent := [pair for pair in willing if pair[1] == who][:missing]) == missing
    ]
    together = willing[:missing]
    if missing:
        yield from alone
    if together and together not in alone:
        yield together


def _moved(
    at: Situation, node: int, wanted: list[int], taken: list[int], lent: list[tuple[int, int]]
) -> Move:
    """Cores among `wanted` given up for free ones and for those lent by others."""
    spec = copy.deepcopy(at.run.spec)
    partitions = spec["partitions"]
    new = [*taken, *(core for core, _ in lent)]
    swap = dict(zip(wanted[: len(new)], new, strict=True))
    back = {core: gone for gone, core in swap.items()}
    others = tuple(dict.fromkeys(index for _, index in lent))
    for index, exchange in ((at.index, swap), *((other, back) for other in others)):
        cores = cores_of(partitions[index])
        cores[:] = [exchange.get(core, core) for core in cores]
        partitions[index]["home"] = list(dict.fromkeys(at.tree.chip_of(core) for core in cores))
    text = _cores_text(at, node, at.shape.processors - len(wanted) + len(new), others)
    return Move(text, "cores", spec, others, len(new) == len(wanted))


def _cores_text(at: Situation, node: int, there_now: int, others: tuple[int, ...]) -> str:
    """`its 8 cores on cell 1, where 75 % of its memory lies`."""
    count, label = at.shape.processors, at.node_label(node)
    few = "" if there_now == count else f"{there_now} of "
    text = f"its core on {label}" if count == 1 else f"{few}its {count} cores on {label}"
    there = []
    share = at.tree.memory_by_node(at.spec).get(node, 0.0)
    if share > 0:
        there.append(f"{100 * share:.0f} % of its memory lies")
    domain = at.spec["io_domain"]
    if domain is not None and at.tree.node_of_domain(domain) == node:
        there.append("its I/O hangs")
    if there:
        text += f", where {' and '.join(there)}"
    if others:
        names = " and ".join(at.run.partitions[index] for index in others)
        text += f", in exchange with {names}"
    return text


def _memory(at: Situation, start: Move, there: str | None = None) -> Iterator[Move]:
    """Its memory beside its cores, wherever `start` has put these: all of it, or what is
    interleaved.
    """
    partition = start.spec["partitions"][at.index]
    seats = at.tree.seats(partition)
    parts = partition["memory"]
    interleaved = [part for part in parts if len(part["domains"]) > 1]
    if interleaved and len(interleaved) < len(parts):
        yield _with_memory(at, start, seats, interleaved, "its {size} of interleaved memory", there)
    local = _local(at.tree, seats, sum(part["bytes"] for part in parts))
    if local != sorted(parts, key=lambda part: list(part["domains"])):
        yield _with_memory(at, start, seats, parts, "all its memory", there)


def _others_memory(at: Situation, start: Move) -> Move:
    """Those that lent their cores take their memory along: the room that this one's memory needs is
    where theirs was.
    """
    spec = copy.deepcopy(start.spec)
    for index in start.exchanged:
        other = spec["partitions"][index]
        size = sum(part["bytes"] for part in other["memory"])
        other["memory"] = _together(_local(at.tree, at.tree.seats(other), size))
    names = " and ".join(f"that of {at.run.partitions[index]}" for index in start.exchanged)
    return replace(start, spec=spec, besides=f", {names} beside its cores")


def beside_io(at: Situation) -> tuple[Move, int, int] | None:
    """A little of its memory on the node on which its I/O hangs and that has cores of it, where it
    has none of its own there: as much as its accesses to the kernel's structures of I/O are a part
    of all, in whole GiB. With the size [bytes] and the node; None where there is nothing to do.
    """
    domain, share = at.spec["io_domain"], at.spec["profile"]["io_data"]
    parts = at.spec["memory"]
    if domain is None or share <= 0 or any(part["domains"] == [domain] for part in parts):
        return None
    node = at.tree.node_of_domain(domain)
    largest = max(parts, key=lambda part: (domain in part["domains"], part["bytes"]))
    size = math.ceil(share * sum(part["bytes"] for part in parts) / _GIB) * _GIB
    if not at.seats_by_node.get(node) or size >= largest["bytes"]:
        return None
    spec = copy.deepcopy(at.run.spec)
    memory = spec["partitions"][at.index]["memory"]
    memory[parts.index(largest)]["bytes"] -= size
    memory.append({"domains": [domain], "bytes": size})
    if not _fits(at, spec):
        return None
    text = f"{size / _GIB:.4g} GiB of base memory on {at.node_label(node)}"
    return Move(text, "memory", spec), size, node


def _with_memory(
    at: Situation,
    start: Move,
    seats: Mapping[int, float],
    parts: list[MemoryPartSpec],
    what: str,
    there: str | None,
) -> Move:
    """Those parts of its memory put beside its cores."""
    size = sum(part["bytes"] for part in parts)
    spec = copy.deepcopy(start.spec)
    kept = [part for part in start.spec["partitions"][at.index]["memory"] if part not in parts]
    local = _local(at.tree, seats, size)
    spec["partitions"][at.index]["memory"] = _together([*kept, *local])
    nodes = [at.node_label(node) for node in sorted(at.tree.by_node(seats))]
    where = "there too" if there else f"on {' and '.join(nodes)} beside its cores"
    if not there and len(nodes) > _FEW:
        where = f"beside its cores on {len(nodes)} {at.vocabulary.node}s"
    text = f"{what.format(size=f'{size / _GIB:.4g} GiB')} {where}"
    if start.text:
        text = (
            f"{start.text}, and {text}" if ", where" in start.text else f"{start.text} and {text}"
        )
    text += start.besides
    return replace(start, text=text, kind="both" if there else "memory", spec=spec)


def _local(tree: Tree, seats: Mapping[int, float], size: int) -> list[MemoryPartSpec]:
    """Memory beside each core, by their number."""
    weights: dict[int, float] = {}
    for chip, count in seats.items():
        domain = tree.domain_of(chip)
        weights[domain] = weights.get(domain, 0.0) + count
    total, left = sum(weights.values()), size
    parts: list[MemoryPartSpec] = []
    for domain, weight in sorted(weights.items()):
        share = min(round(size * weight / total), left)
        parts.append({"domains": [domain], "bytes": share})
        left -= share
    parts[-1]["bytes"] += left
    return parts


def _together(parts: list[MemoryPartSpec]) -> list[MemoryPartSpec]:
    """Parts of the same domains made one, empty ones left out."""
    found: dict[tuple[int, ...], int] = {}
    for part in parts:
        key = tuple(part["domains"])
        found[key] = found.get(key, 0) + part["bytes"]
    return [{"domains": list(key), "bytes": size} for key, size in found.items() if size]


def rehomed(spec: Spec, index: int, tree: Tree, node: int) -> Spec:
    """A scenario with a shared partition's home and memory on another node."""
    spec = copy.deepcopy(spec)
    partition = spec["partitions"][index]
    chips = sorted({tree.chip_of(core) for core in tree.cores_of(node)})
    size = sum(part["bytes"] for part in partition["memory"])
    partition["home"] = chips
    partition["memory"] = _local(tree, even(1.0, chips), size)
    return spec


def _cores_by_node(tree: Tree, partition: PartitionSpec) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for core in cores_of(partition):
        found.setdefault(tree.node_of(tree.chip_of(core)), []).append(core)
    return found


def _owners(spec: Spec) -> dict[int, int]:
    """Index of the partition that owns a core, by core."""
    return {
        core: index
        for index, partition in enumerate(spec["partitions"])
        for core in cores_of(partition)
    }


def _whole_chips_first(tree: Tree, cores: list[int]) -> list[int]:
    """Cores of chips of which most are free come first, so that a chip is shared with as few as
    possible.
    """
    free: dict[int, int] = {}
    for core in cores:
        free[tree.chip_of(core)] = free.get(tree.chip_of(core), 0) + 1
    return sorted(cores, key=lambda core: (-free[tree.chip_of(core)], core))
