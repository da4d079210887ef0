"""Advice with a price: what another layout would save, by the engine's own cost of an instruction.

Where the engine is not at hand, or has no price for a layout, the sentences do without.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping, Sequence

from homenode.model.spec import PartitionSpec, VirtualizedSpec, shared_of
from homenode.simulate.explain.moves import KINDS, Move, beside_io, moves, rehomed
from homenode.simulate.explain.pricing import WORTH, Outcome, Pricing
from homenode.simulate.explain.situation import Situation

_MIB = 1 << 20
_SHOWN = 5e-4
"""Share of its cores that is printed as something."""
_FEW = 4
"""So many nodes are told one by one."""


def moved_advice(at: Situation) -> str:
    """What moving its cores or its memory would save a partition with cores of its own, or that
    nothing would.
    """
    where = _where(at)
    pricing = Pricing.of(at.run)
    if pricing is None or pricing.now is None:
        avoided = f"{where} Cores and memory on one {at.vocabulary.node} would avoid it."
        again = " What that saves this engine cannot tell of this run: simulate it again."
        return avoided if pricing is None else avoided + again
    if not pricing.is_used(at.index):
        return f"{where} It works too little for another layout to save anything."
    outcomes = pricing.outcomes(at.index, moves(at))
    if not outcomes:
        together = {*at.seats_by_node, *at.tree.memory_by_node(at.spec)} == {at.home_node}
        why = (
            f"All of it is on one {at.vocabulary.node}: the distance is between the chips there."
            if together
            else "There is no room to bring its cores and its memory together."
        )
        return f"{where} {why}"
    told = _told(worth_telling(outcomes)) or _none_helps(outcomes)
    return f"{where} {told}{_io_advice(at, pricing)}"


def _io_advice(at: Situation, pricing: Pricing) -> str:
    """` It has no memory of its own on cell 0, where its I/O hangs and 4 of its cores are: with 1
    GiB of base memory there ...`; nothing where that would not show.
    """
    found = beside_io(at)
    outcomes = [] if found is None else pricing.outcomes(at.index, [found[0]])
    if found is None or not outcomes or outcomes[0].saving < _SHOWN:
        return ""
    (_, size, node), outcome = found, outcomes[0]
    return (
        f" It has no memory of its own on {at.node_label(node)}, where its I/O hangs and "
        f"{at.seats_by_node[node]:g} of its cores are: {_size(size)} of base memory there, for the "
        f"kernel's structures of I/O, would make it {outcome.then:.2f} "
        f"({100 * outcome.saving:.1f} % less)."
    )


def _where(at: Situation) -> str:
    """`Its 8 cores are on cell 0; 25 % of its memory lies on cell 0 and 75 % on cell 1.`"""
    seats, memory = (
        sorted(at.seats_by_node.items()),
        sorted(at.tree.memory_by_node(at.spec).items()),
    )
    if max(len(seats), len(memory)) > _FEW:
        return _spread(at, seats, memory)
    lies = [f"{100 * share:.0f} % of its memory" for _, share in memory[:1]]
    lies[0] += f" lies on {at.node_label(memory[0][0])}"
    lies += [f"{100 * share:.0f} % on {at.node_label(node)}" for node, share in memory[1:]]
    cores = [f"{count:g} on {at.node_label(node)}" for node, count in seats[1:]]
    first = f"{seats[0][1]:g} of its {at.shape.processors} cores are on"
    if not cores:
        first = (
            "Its core is on" if at.shape.processors == 1 else f"Its {seats[0][1]:g} cores are on"
        )
    cores.insert(0, f"{first} {at.node_label(seats[0][0])}")
    return f"{_listed(cores)}; {_listed(lies)}."


def _spread(at: Situation, seats: list[tuple[int, float]], memory: list[tuple[int, float]]) -> str:
    """`Its 128 cores are on 16 cells (at most 8 on one), its memory on 16 (at most 6 % on one).`"""
    cores, lies = max(count for _, count in seats), max(share for _, share in memory)
    first = (
        f"Its {at.shape.processors} cores are on {len(seats)} {at.vocabulary.node}s "
        f"(at most {cores:g} on one)"
        if len(seats) > 1
        else f"Its {at.shape.processors} cores are on {at.node_label(seats[0][0])}"
    )
    second = (
        f"on {len(memory)} {at.vocabulary.node}s (at most {100 * lies:.0f} % on one)"
        if len(memory) > 1
        else f"on {at.node_label(memory[0][0])}"
    )
    return f"{first}, its memory {second}."


def worth_telling(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Of each kind of move the one that saves most over all partitions, from the smallest kind on,
    as long as it saves more than what was told before, or as much at less cost to the others.
    """
    told: list[Outcome] = []
    for kind in KINDS:
        best = max(
            (outcome for outcome in outcomes if outcome.move.kind == kind),
            key=lambda outcome: outcome.total,
            default=None,
        )
        least = max((outcome.saving for outcome in told), default=0.0) + WORTH
        if best is None or best.total <= 0:
            continue
        most = max((outcome.total for outcome in told), default=best.total)
        kinder = best.total > most + WORTH * best.now and best.saving > least - 2 * WORTH
        if best.saving > least or kinder:
            told.append(best)
    return told


def _told(outcomes: Sequence[Outcome]) -> str:
    """`With its 8 cores on cell 1, the same work would take 7.30 cores in place of 8.00 (9 % less);
    with all its memory on cell 0, 7.20 (10 % less).`
    """
    texts: list[str] = []
    for outcome in outcomes:
        cores = f"{outcome.then:.2f}"
        if not texts:
            cores = f"the same work would take {cores} cores in place of {outcome.now:.2f}"
        texts.append(f"with {outcome.move.text}, {cores} ({100 * outcome.saving:.1f} % less)")
        texts += [
            f"{name} would take {then:.2f} in place of {now:.2f}"
            for name, (now, then) in outcome.others.items()
        ]
    text = "; ".join(texts)
    return f"{text[0].upper()}{text[1:]}." if text else ""


def _none_helps(outcomes: Sequence[Outcome]) -> str:
    best = max(outcomes, key=lambda outcome: outcome.saving)
    told = f"{100 * best.saving:.1f} %" if best.saving > 0 else "nothing"
    return f"No move helps: the best of them, {best.move.text}, would save {told} of its cores."


def _listed(texts: Sequence[str]) -> str:
    return " and ".join(texts) if len(texts) < 3 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def rehomed_saving(at: Situation, targets: Mapping[int, int]) -> str:
    """What a shared partition would save once these partitions, by index, have home and memory on
    these nodes: the end of a sentence, or nothing where there is no price.
    """
    pricing = Pricing.of(at.run)
    if pricing is None or pricing.now is None or pricing.used[at.index] <= 0:
        return ""
    spec = at.run.spec
    for index, node in targets.items():
        spec = rehomed(spec, index, at.tree, node)
    prices = pricing.prices(spec, at_home=(at.index, *targets))
    if prices is None or pricing.now[at.index] <= 0:
        return ""
    now = pricing.used[at.index]
    then = now * prices[at.index] / pricing.now[at.index]
    if then > now * (1.0 - WORTH):
        return "; that alone would save less than half a percent of its cores"
    return (
        f"; the same work would take {then:.2f} cores in place of {now:.2f}, and fewer yet with "
        "less cache reload"
    )


def page_advice(at: Situation) -> str:
    """Larger pages, where translations do not reach all data."""
    if at.machine["translation"] is None:
        return _nested_advice(at)
    entries = _entries(at)
    page, data = at.spec["page_bytes"], at.spec["data_bytes"]
    found = (
        f"A core holds the translations of {entries:,} pages of {_size(page)}, "
        f"{100 * min(entries * page / data, 1.0):.0f} % of its {_size(data)} of data"
    )
    pricing = Pricing.of(at.run)
    outcomes = [] if pricing is None else pricing.outcomes(at.index, _larger_pages(at))
    told = _told(worth_telling(outcomes))
    return f"{found}. {told}" if told else f"{found}: larger pages reach farther."


def _nested_advice(at: Situation) -> str:
    """Larger pages of a virtual machine, of its host and both."""
    found = (
        f"A virtual machine's addresses are translated twice: {_size(at.spec['data_bytes'])} of "
        "data by the guest's tables and by the host's"
    )
    pricing = Pricing.of(at.run)
    outcomes = [] if pricing is None else pricing.outcomes(at.index, _larger_of_both(at))
    told = _told(worth_telling(outcomes))
    return f"{found}. {told}" if told else f"{found}: larger pages cost less."


def _larger_of_both(at: Situation) -> Iterator[Move]:
    """The host's pages of 2 MiB or 1 GiB, and the guest's with them."""
    for size in (2 << 20, 1 << 30):
        for of_guest in (False, True):
            spec = copy.deepcopy(at.run.spec)
            one = spec["partitions"][at.index]
            by = _virtualized(one)
            if by is None:
                return
            before = (one["page_bytes"], by["page_bytes"])
            by["page_bytes"] = max(size, before[1])
            one["page_bytes"] = max(before[0], size) if of_guest else before[0]
            if (one["page_bytes"], by["page_bytes"]) != before:
                whose = "host and guest" if of_guest else "the host"
                yield Move(f"pages of {_size(size)} of {whose}", "pages", spec)


def _virtualized(one: PartitionSpec) -> VirtualizedSpec | None:
    """What it costs a partition to be a virtual machine; None = it is none."""
    shared = shared_of(one)
    host = None if shared is None else shared.get("host")
    return None if host is None else host.get("virtualized")


def _entries(at: Situation) -> int:
    """Translations that a core holds; the advice is given only where the machine has them."""
    translation = at.machine["translation"]
    return 0 if translation is None else translation["entries"]


def _larger_pages(at: Situation) -> Iterator[Move]:
    """Pages that make the translations reach all data, and four times those of now."""
    entries = _entries(at)
    page, data = at.spec["page_bytes"], at.spec["data_bytes"]
    enough = 2 ** math.ceil(math.log2(data / entries))
    for larger in sorted({4 * page, enough}):
        if larger > page:
            spec = copy.deepcopy(at.run.spec)
            spec["partitions"][at.index]["page_bytes"] = larger
            yield Move(f"pages of {_size(larger)}{_granules(at, larger)}", "pages", spec)


def _granules(at: Situation, page: int) -> str:
    """` and granules as large (128 MiB now)`, where a page is larger than a granule can be."""
    granule = at.run.details.get(at.partition, {}).get("granule")
    if granule is None or page <= granule:
        return ""
    return f" and granules as large ({_size(granule)} now)"


def _size(size: int) -> str:
    """`64 KiB`, `8 GiB`."""
    for unit, name in ((_MIB * 1024, "GiB"), (_MIB, "MiB"), (1024, "KiB")):
        if size >= unit:
            return f"{size / unit:.4g} {name}"
    return f"{size} B"
