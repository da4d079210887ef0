"""The paragraph of an explanation: what is used, the largest cause first, the change that would
remove it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from homenode.simulate.explain.control_program import (
    dispatch_waits_told,
    page_wait,
    page_waits,
)
from homenode.simulate.explain.measure import Measure
from homenode.simulate.explain.remedies import OF_THE_WORK, remedy
from homenode.simulate.explain.situation import Situation
from homenode.simulate.kept.books import FAMILIES, Breakdown, Work
from homenode.simulate.kept.sharing import difference as sharing_difference
from homenode.simulate.kept.sharing import sharing_differs
from homenode.simulate.kept.vocabulary import Vocabulary

_MOST_TOLD = 3
"""Causes that a difference names."""
_WORTH = 0.005
"""Share of all from which on a cause is worth a change."""
_SHARED_MUCH = 0.2
"""Share of all from which on it is told how threads that share cores are booked."""
_MATTERS = 0.1
"""Share of the largest part of a difference from which on another part is worth one."""
_ALIKE = 0.005
"""Difference of two quantities that is not worth a word."""
_FAMILY_PHRASES = {
    "work": "the instructions themselves",
    "caches": "hits in the caches beyond the first",
    "coherence": "lines other cores of the chip have changed",
    "memory": "memory beside its own cores",
    "distance": "distance, that is lines fetched from farther away",
    "translation": "pages whose addresses must be translated anew",
    "store": "stores waiting for their way to the cache that keeps them",
    "reload": "cache reload after a switch",
    "smt": "threads sharing a core",
    "tick": "the guest's clock tick",
    "spin": "spinning on locks",
    "list": "searching a switch's list",
    "guest_idle": "idle threads holding a core",
    "hypervisor": "the hypervisor",
}
_SHARING_NOTE = (
    "The table shows this at every cause, useful work among them: each of the threads on a core "
    "books its part of the core's time."
)


@dataclass(frozen=True)
class Pair:
    """Two partitions that are compared: the one explained and its base."""

    at: Situation
    there: Situation
    books: Breakdown
    base: Breakdown
    measure: Measure
    digits: int
    factor: float
    """By which the base is scaled to do the same work."""
    words: Vocabulary
    totals: tuple[float, ...]
    """Sums of the printed columns: of the one, of the base, of the base at equal work."""

    @property
    def on_other_machine(self) -> bool:
        """Whether the hardware differs."""
        return self.at.hardware != self.there.hardware


@dataclass(frozen=True)
class _Told:
    """Values by family, ready to be said."""

    values: Mapping[str, float]
    digits: int
    unit: str
    words: Vocabulary
    phrases: Mapping[str, str]

    @property
    def least(self) -> float:
        """What is still printed."""
        return 0.5 * math.pow(10.0, -self.digits)

    def families(self) -> list[tuple[float, str]]:
        """Families with what they take, largest first; ties in the order of the causes."""
        sums: dict[str, float] = {}
        for cause, value in self.values.items():
            sums[FAMILIES[cause]] = sums.get(FAMILIES[cause], 0.0) + value
        return sorted(((v, family) for family, v in sums.items()), key=lambda pair: -pair[0])

    def amount(self, value: float) -> str:
        """`1.94 cores`."""
        return f"{value:.{self.digits}f} {self.unit}"

    def parts(self, family: str) -> str:
        """The causes of a family, if several matter; signed where some take and others give."""
        there = [
            (value, cause)
            for cause, value in self.values.items()
            if FAMILIES[cause] == family and abs(value) >= self.least
        ]
        if len(there) < 2:
            return ""
        sign = "+" if any(value < 0 for value, _ in there) else ""
        told = ", ".join(
            f"{self.words.labels[cause]} {value:{sign}.{self.digits}f}"
            for value, cause in sorted(there, reverse=True)
        )
        return f" ({told})"

    def verdict(self, difference: float, base: float) -> str:
        """`1.94 cores more (22 %)`."""
        if abs(difference) < self.least:
            return "as many"
        percent = f" ({100 * abs(difference) / base:.0f} %)" if base > 0 else ""
        return f"{self.amount(abs(difference))} {'more' if difference > 0 else 'less'}{percent}"

    def against(self, least: float) -> str:
        """What takes less while the whole takes more: a line from far away is one less from near
        by.
        """
        less = [(-v, f) for v, f in reversed(self.families())]
        return self._opposed(less, least, "less")

    def _opposed(self, amounts: Sequence[tuple[float, str]], least: float, word: str) -> str:
        """The first two of `amounts` that are worth a word beside the largest part."""
        worth = [(v, f) for v, f in amounts if v >= max(least, self.least)]
        told = " and ".join(f"{self.phrases[f]} {v:.{self.digits}f}" for v, f in worth[:2])
        return f"; against that, {told} {word}" if told else ""

    def saving(self) -> str:
        """What takes less, largest first, and what takes more in exchange."""
        saved = [(-v, f) for v, f in reversed(self.families()) if -v >= self.least]
        if not saved:
            return "No cause differs by as much as is printed."
        told = "; then ".join(
            f"{self.phrases[f]} ({value:.{self.digits}f})" for value, f in saved[:_MOST_TOLD]
        )
        against = self._opposed(self.families(), _MATTERS * saved[0][0], "more")
        return f"The largest part of the saving is {told}{against}."


def tell_one(
    at: Situation,
    books: Breakdown,
    printed: Mapping[str, float],
    measure: Measure,
    digits: int,
    words: Vocabulary,
) -> str:
    """About one partition."""
    told = _Told(printed, digits, measure.unit, words, _FAMILY_PHRASES)
    total = math.fsum(printed.values())
    values = measure.values(books)
    useful = values["useful"] / math.fsum(values.values()) if total > 0 else 0.0
    booked = _by_thread(values, measure)
    used = _uses(at, books, told, measure, total)
    sentences = [f"{used}; {_pct(useful)} of it is useful work{booked}."]
    there = [(value, family) for value, family in told.families() if value > 0]
    avoidable = [pair for pair in there if pair[1] not in OF_THE_WORK]
    fixed = [pair for pair in there if pair[1] in OF_THE_WORK[1:]]
    if not avoidable or avoidable[0][0] < _WORTH * total:
        sentences.append(f"Of that the layout decides less than {100 * _WORTH:g} %.")
    else:
        value, family = avoidable[0]
        sentences.append(
            f"Of what the layout decides, the largest part is {told.phrases[family]}: "
            f"{told.amount(value)}{told.parts(family)}."
        )
        sentences.append(remedy(family, at))
    if fixed:
        listed = ", ".join(f"{told.phrases[f]} {value:.{digits}f}" for value, f in fixed)
        sentences.append(f"The work would pay elsewhere too: {listed} {told.unit}.")
    waits = page_wait(at) if at.runs_guests else None
    sentences += [waits] if waits else []
    return _with_steadiness(books, " ".join(sentences))


def _by_thread(values: Mapping[str, float], measure: Measure) -> str:
    """Why useful work looks small where threads share cores."""
    if measure.name != "cores" or values["smt"] <= _SHARED_MUCH * math.fsum(values.values()):
        return ""
    return (
        " (a core's time is booked to its busy threads in equal parts, and what a thread takes"
        " longer for the others stands under threads sharing a core, not here)"
    )


def _uses(at: Situation, books: Breakdown, told: _Told, measure: Measure, total: float) -> str:
    if measure.name == "cpi":
        clock = at.machine["clock_hz"] / 1e9
        return (
            f"{at.partition} takes {total:.{told.digits}f} cycles an instruction "
            f"({total / clock:.3f} ns at {clock:g} GHz)"
        )
    return f"{at.partition} uses {told.amount(total)}{_for_work(books)}"


def _for_work(books: Breakdown) -> str:
    """` for 494 transactions a second (4.74 core-ms each)`."""
    work = books.work
    if work is None or work.rate_per_s <= 0:
        return ""
    each = books.total / work.rate_per_s
    size = f"{each * 1e3:.2f} core-ms" if each < 1 else f"{each:.2f} core-s"
    return f" for {_rate(work)} ({size} each)"


def _rate(work: Work) -> str:
    """`494 transactions a second`; of loops, which may take long, with more digits."""
    shown = f"{work.rate_per_s:,.0f}" if work.rate_per_s >= 100 else f"{work.rate_per_s:.3g}"
    return f"{'' if work.counted else 'the work of '}{shown} {work.unit}s a second"


def tell_difference(pair: Pair, printed: Mapping[str, float]) -> str:
    """About two partitions; `printed` are the differences of the table."""
    extra: Mapping[str, float] = printed
    phrases, note = _phrases(pair), []
    if pair.measure.name == "cores" and sharing_differs(pair.books, pair.base):
        extra = sharing_difference(pair.books, pair.base, pair.factor)
        phrases = {**phrases, "smt": _sharing_phrase(pair)}
        note = [_SHARING_NOTE]
    told = _Told(extra, pair.digits, pair.measure.unit, pair.words, phrases)
    sentences = [*_heads(pair, told), *_machines(pair), *_waits(pair)]
    families = [(value, family) for value, family in told.families() if value >= told.least]
    if math.fsum(extra.values()) < -told.least or not families:
        sentences += [told.saving(), *note]
        return _with_steadiness(pair.books, " ".join(sentences))
    value, family = families[0]
    said = [f"{phrases[family]}, {told.amount(value)}{told.parts(family)}"]
    least = _MATTERS * value
    others = [(v, f) for v, f in families[1:_MOST_TOLD] if v >= least]
    said += [f"{phrases[f]} ({v:.{pair.digits}f})" for v, f in others]
    against = told.against(least)
    sentences += [f"The largest part is {'; then '.join(said)}{against}.", *note]
    sentences.append(_change(pair, families))
    return _with_steadiness(pair.books, " ".join(sentences))


def _waits(pair: Pair) -> list[str]:
    """What no core is busy with."""
    if not (pair.at.runs_guests and pair.there.runs_guests):
        return []
    waits = (page_waits(pair.at, pair.there), dispatch_waits_told(pair.at, pair.there))
    return [one for one in waits if one]


def _heads(pair: Pair, told: _Told) -> list[str]:
    """What both use, and how that compares at equal work."""
    name, other = _names(pair)
    mine, theirs, equal = pair.totals
    base = f"{other} {theirs:.{told.digits}f}"
    if pair.measure.name == "cpi":
        takes = f"{name} takes {mine:.{told.digits}f} cycles an instruction"
        return [f"{takes}, {base}: {told.verdict(mine - theirs, theirs)}."]
    uses = f"{name} uses {told.amount(mine)}, {base}: {told.verdict(mine - theirs, theirs)}"
    sentences = [f"{uses}{_compared(pair)}."]
    if pair.factor != 1.0:
        sentences.append(f"At equal work that would be {told.verdict(mine - equal, equal)}.")
    return sentences


def _compared(pair: Pair) -> str:
    """How the work compares."""
    mine, theirs = pair.books.work, pair.base.work
    if mine is None or theirs is None:
        return ""
    if mine.unit != theirs.unit:
        return f", for {_rate(mine)} against {_rate(theirs)}, which do not compare"
    if pair.factor == 1.0:
        return f" for the same {_rate(mine)}"
    each = [1e6 * b.total / w.rate_per_s for b, w in ((pair.books, mine), (pair.base, theirs))]
    base = _rate(theirs).split(" ", 1)[0] if theirs.counted else _rate(theirs)
    return (
        f", while it does {_rate(mine)} against {base} "
        f"({each[0]:,.0f} us of a core each against {each[1]:,.0f})"
    )


def _machines(pair: Pair) -> list[str]:
    """What differs between two machines, as far as all causes feel it."""
    if not pair.on_other_machine:
        return []
    mine, theirs = pair.at.machine, pair.there.machine
    if mine["name"] == theirs["name"]:
        hardware = pair.at.hardware
        differing = [name for name in hardware if hardware[name] != pair.there.hardware.get(name)]
        return [f"Their machines are not the same: {', '.join(sorted(differing))} differ."]
    clocks = [machine["clock_hz"] / 1e9 for machine in (mine, theirs)]
    text = (
        f"They run on different machines: {mine['name']} with {clocks[0]:g} GHz, {theirs['name']}"
    )
    text += f" with {clocks[1]:g} GHz"
    if pair.measure.name == "cpi":
        each = [
            b.cpi / clock
            for b, clock in zip((pair.books, pair.base), clocks, strict=True)
            if b.cpi is not None
        ]
        text += f", so that an instruction takes {each[0]:.3f} ns against {each[1]:.3f} ns"
    return [f"{text}."]


def _phrases(pair: Pair) -> dict[str, str]:
    """Families in words; the work itself also by what makes it differ."""
    mine, theirs = pair.at.spec["profile"], pair.there.spec["profile"]
    why = []
    if pair.on_other_machine:
        why.append("another core")
    lengths = [profile["instructions_per_unit"] for profile in (mine, theirs)]
    if pair.measure.name == "cores" and abs(lengths[0] / lengths[1] - 1.0) > _ALIKE:
        why.append(f"{lengths[0]:,.0f} of them a unit of work in place of {lengths[1]:,.0f}")
    told = f" ({', '.join(why)})" if why else ""
    return {**_FAMILY_PHRASES, "work": _FAMILY_PHRASES["work"] + told}


def _change(pair: Pair, families: list[tuple[float, str]]) -> str:
    """The change that would remove the largest cause that a change can remove."""
    least = _MATTERS * families[0][0]
    cause = next((f for v, f in families if f not in OF_THE_WORK and v >= least), families[0][1])
    if pair.on_other_machine and cause in OF_THE_WORK:
        name = pair.at.machine["name"]
        return f"These are the machines, not the layout: no other place on {name} would save it."
    spread = (pair.books.busy_threads or 0.0) < (pair.base.busy_threads or 0.0)
    return remedy("spread" if cause == "smt" and spread else cause, pair.at)


def _sharing_phrase(pair: Pair) -> str:
    mine, theirs = pair.books.busy_threads or 0.0, pair.base.busy_threads or 0.0
    return f"that {mine:.1f} busy threads share a core in place of {theirs:.1f}"


def _names(pair: Pair) -> tuple[str, str]:
    """The partitions' names; with the runs where the names alone would not tell them apart."""
    books, base = pair.books, pair.base
    if books.partition != base.partition:
        return books.partition, base.partition
    return f"{books.partition} of {books.run}", f"that of {base.run}"


def _with_steadiness(books: Breakdown, text: str) -> str:
    if books.reason is None:
        return text
    return (
        f"There is no steady state: {books.reason}. The figures are of the time that was "
        f"simulated, not of a lasting state. {text}"
    )


def _pct(share: float) -> str:
    return f"{100 * share:.0f} %"
