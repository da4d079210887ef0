"""Layouts that are another scenario: a partition as several of equal parts, several as fewer, all
on another machine. Each has a space of its own, in which it is searched like the layout as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import product
from math import ceil
from typing import Any

import numpy as np

from homenode.errors import HomenodeError, ScenarioError
from homenode.model.catalog import MachineDescription
from homenode.model.catalog.names import machine, machines
from homenode.model.catalog.policies import HOST_POLICIES
from homenode.model.scenario import PlacedPartition, Scenario
from homenode.model.scenario.cellular.hardware import PlacedNpartition
from homenode.model.scenario.file.processors import Dedicated, Shared
from homenode.model.scenario.paths import spelt
from homenode.model.scenario.places import PlaceError, find_place, node_word
from homenode.model.units import SIZE
from homenode.planner.confirm import Groups
from homenode.planner.cost import Now
from homenode.planner.loads import divided
from homenode.planner.problem import Problem, problem_of
from homenode.planner.solver import Floats
from homenode.planner.wishes import Wishes

MOST = 12
"""Variants of a word that are searched, those of the largest partitions first."""
_PARTS = (2, 3, 4)
_MIB = 1 << 20
_GRANULES = tuple(_MIB << power for power in range(6, 13))
"""From the least that there is to 4 GiB, beyond which no page goes."""
_CENT = 100
_HOST = "host"
_AROUND = ("policy", "active_cores", "placing", "characterized", "threads")
"""What of the machine's table does not belong to one model."""


@dataclass(frozen=True)
class Variant:
    """Another scenario for the same work."""

    word: str
    name: str
    """Whose: that of a partition, of a kind, or of the scenario."""
    path: str
    before: object
    after: object
    also: Mapping[str, object]
    """What else of the scenario changes, by path."""
    problem: Problem
    groups: Groups
    """Names of partitions as they are, each beside those of this variant that do the same work."""
    on: Variant | None = None
    """The variant that it begins with; None for the scenario as it is."""

    @property
    def steps(self) -> tuple[Variant, ...]:
        """All that it changes, the first first."""
        return (self,) if self.on is None else (*self.on.steps, self)

    @property
    def of_what(self) -> tuple[str, str]:
        """What it is a variant of: no two of the same are combined."""
        kinds = {"machine": ("machine", ""), "granules": ("granules", self.name)}
        return kinds.get(self.word, ("count", self.name))


@dataclass
class Varying:
    """All variants of a problem."""

    base: Problem
    unfit: list[str]
    """Those that cannot be, and why."""
    on: Variant | None = None
    """The variant that the problem is of."""

    def again(self, other: Variant) -> Variant | None:
        """Another variant of the same scenario on top of this one; None where it cannot be."""
        told = self.base.wishes.told
        if told.changes is not None and told.changes < 1:
            return None
        try:
            if other.word == "machine":
                return self._on(str(other.after))
            if other.word == "granules":
                return self._grained(other.name, str(other.after))
            of = (one for one in self.base.scenario.partitions if one.table.name == other.name)
            one = next(of, None)
            return None if one is None else self._counted(other.word, one, int(str(other.after)))
        except HomenodeError:
            return None

    def all(self) -> Iterator[Variant]:
        """One after the other. Raises where a word means nothing at all."""
        makers = {
            "split": self._splits,
            "merge": self._merges,
            "machine": self._machines,
            "granules": self._granules,
        }
        for word in dict.fromkeys(self.base.wishes.told.free):
            if word not in makers:
                continue
            told = [*makers[word]()]
            if not told:
                self._refuse(word)
            yield from self._sound(told[:MOST])
            if len(told) > MOST:
                self.unfit.append(f"{word}: only {MOST} of {len(told)} were looked at")

    def _refuse(self, word: str) -> None:
        lacks = {
            "split": "no partition's work can be divided into equal parts",
            "merge": "there are no partitions of one kind (count) that could be fewer",
            "machine": "no other machine of its kind is known",
            "granules": "no virtual partitions that may change get memory in granules",
        }
        at = self.base.wishes.told.free.index(word)  # type: ignore[arg-type]
        raise ScenarioError(
            f'advise.free = "{word}"',
            there=f"on {self.base.scenario.machine.title} {lacks[word]}",
            where=self.base.wishes.where("free", at),
            next_step="leave it out",
        )

    def _sound(self, told: Sequence[Callable[[], Variant]]) -> Iterator[Variant]:
        for make in told:
            try:
                yield make()
            except HomenodeError as error:
                self.unfit.append(f"{error.problem}{f': {error.there}' if error.there else ''}")

    def _kinds(self) -> list[tuple[int, PlacedPartition, float]]:
        """Of each table that is free, its count, its first partition and the cores that one uses;
        those that use most first.
        """
        problem = self.base
        fixed = {*problem.wishes.told.pinned, *problem.held}
        used = problem.solved_now.figures.cores[0]
        found: dict[int, tuple[int, PlacedPartition, float]] = {}
        names: dict[int, list[str]] = {}
        for one, cores in zip(problem.scenario.partitions, used, strict=True):
            found.setdefault(one.row, (one.table.count, one, float(cores)))
            names.setdefault(one.row, []).append(one.name)
        free = [found[row] for row, ones in names.items() if not fixed & {*ones}]
        return sorted(free, key=lambda kind: -kind[2])

    def _splits(self) -> Iterator[Callable[[], Variant]]:
        for count, one, _ in self._kinds():
            for parts in _PARTS:
                if divided(one, Fraction(1, parts)) is not None:
                    yield partial(self._counted, "split", one, count * parts)

    def _merges(self) -> Iterator[Callable[[], Variant]]:
        for count, one, _ in self._kinds():
            for fewer in (n for n in range(count - 1, 0, -1) if count % n == 0):
                if divided(one, Fraction(count, fewer)) is not None:
                    yield partial(self._counted, "merge", one, fewer)

    def _counted(self, word: str, one: PlacedPartition, count: int) -> Variant:
        """So many of a kind, for the same work."""
        name, before = one.table.name, one.table.count
        share = Fraction(before, count)
        below: dict[str, object] = {**(divided(one, share) or {}), **_sized(one, share)}
        also = {f"partition.{spelt(name)}.{key}": value for key, value in below.items()}
        path = f"partition.{spelt(name)}.count"
        try:
            return self._made(word, name, path, before, count, also, one.row)
        except HomenodeError as error:
            told = error.there or error.problem
            raise HomenodeError(f"{name} as {count} partitions cannot be", there=told) from error

    def _machines(self) -> Iterator[Callable[[], Variant]]:
        now = self.base.scenario.machine
        for name in machines():
            other = machine(name)
            if name != self.base.scenario.file.machine.model and _is_alike(now, other):
                yield partial(self._on, name)

    def _on(self, model: str) -> Variant:
        """On another machine: homes and memory by number of node."""
        scenario = self.base.scenario
        table: Any = scenario.data["machine"]
        also: dict[str, object] = {
            f"machine.{key}": None for key in table if key not in (*_AROUND, "model")
        }
        before = scenario.file.machine.model or scenario.machine.title
        try:
            also |= _places(scenario, machine(model))
            return self._made("machine", scenario.name, "machine.model", before, model, also, None)
        except PlaceError as error:
            raise HomenodeError(f"{model} does not fit", there=error.there) from error
        except HomenodeError as error:
            told = error.there or error.problem
            raise HomenodeError(f"{model} does not fit", there=told) from error

    def _granules(self) -> Iterator[Callable[[], Variant]]:
        """Units in which the virtual partitions of an nPartition get memory: none of its pages is
        larger.
        """
        problem = self.base
        fixed = {*problem.wishes.told.pinned, *problem.held}
        found: dict[str, PlacedNpartition] = {}
        kept: set[str] = set()
        for one in problem.scenario.partitions:
            if one.in_cells is not None and one.in_cells.npartition.vpars:
                there = one.in_cells.npartition
                found[there.name] = there
                kept |= {there.name} if one.name in fixed else set()
        # The largest of each first, as they hold the largest pages.
        for size, there in product(reversed(_GRANULES), found.values()):
            if there.name not in kept and {size} != {there.ilm_granule, there.clm_granule}:
                yield partial(self._grained, there.name, SIZE.format(size))

    def _grained(self, name: str, size: str) -> Variant:
        """Interleaved and cell-local memory of an nPartition in units of a size."""
        of = (one.in_cells.npartition for one in self.base.scenario.partitions if one.in_cells)
        there = next(one for one in of if one.name == name)
        head = f"npartition.{spelt(name)}"
        sizes = {
            f"{head}.ilm_granule": SIZE.format(there.ilm_granule),
            f"{head}.clm_granule": SIZE.format(there.clm_granule),
        }
        # Told by one that changes: the other may have the size.
        path, now = next((path, now) for path, now in sizes.items() if now != size)
        also: dict[str, object] = {key: size for key in sizes if key != path}
        try:
            return self._made("granules", name, path, now, size, also, None)
        except HomenodeError as error:
            told = error.there or error.problem
            raise HomenodeError(f"granules of {size} cannot be", there=told) from error

    def _made(
        self,
        word: str,
        name: str,
        path: str,
        before: object,
        after: object,
        also: Mapping[str, object],
        row: int | None,
    ) -> Variant:
        base = self.base
        changes = {**also, path: after, "advise": None, "find": None}
        scenario = base.scenario.with_(changes, why="advised")
        groups = _groups(base.scenario, scenario, row)
        wishes = _renamed(base.wishes, groups)
        held = frozenset(base.held)
        problem = problem_of(scenario, {}, wishes, held, _now(base, scenario, groups))
        if self.on is not None:
            groups = _composed(self.on.groups, groups)
        return Variant(word, name, path, before, after, also, problem, groups, self.on)


def _sized(one: PlacedPartition, share: Fraction) -> dict[str, object]:
    """Processors and memory so many times as large; virtual processors are rounded up, entitlement
    down to hundredths.
    """
    table, processors = one.table, one.table.processors
    found: dict[str, object] = {}
    if isinstance(processors, Shared):
        found["processors.virtual"] = ceil(processors.virtual * share)
        if processors.entitlement is not None:
            cents = int(round(processors.entitlement * _CENT) * share)
            found["processors.entitlement"] = max(cents, 1) / _CENT
        elif processors.weight is not None:
            found["processors.weight"] = max(1, round(processors.weight * share))
    else:
        found |= _own_cores(processors, share)
    sizes = [SIZE.format(_MIB * ceil(part.size * share / _MIB)) for part in table.memory]
    if len(table.memory) == 1 and table.memory[0].on is None:
        found["memory"] = sizes[0]
    else:
        kept = [part.model_dump(exclude_none=True, exclude_defaults=True) for part in table.memory]
        found["memory"] = [{**k, "size": size} for k, size in zip(kept, sizes, strict=True)]
    bounds = {"minimum": table.minimum, "maximum": table.maximum, "desired": table.desired}
    return found | {key: None for key, told in bounds.items() if told is not None}


def _own_cores(processors: Dedicated, share: Fraction) -> dict[str, object]:
    """Cores of its own, of each cell its share of them where all of these are whole; else, and
    where it names single cores, they are chosen anew.
    """
    found: dict[str, object] = {"processors.cores": ceil(processors.cores * share)}
    cells = processors.cells or {}
    parts = {cell: count * share for cell, count in cells.items()}
    if parts and not processors.paths and all(part.denominator == 1 for part in parts.values()):
        found["processors.cells"] = {cell: int(part) for cell, part in parts.items()}
    named = ("cells", "paths", "boot", "minimum", "maximum")
    left = {f"processors.{key}": None for key in named if getattr(processors, key) is not None}
    return {**left, **found}


def _is_alike(one: MachineDescription, other: MachineDescription) -> bool:
    """Whether the same hypervisor divides both."""
    kinds = [
        (told.platform is None, _HOST if policy in HOST_POLICIES else policy)
        for told, policy in ((told, told.hypervisor.policy) for told in (one, other))
    ]
    return kinds[0] == kinds[1]


def _places(scenario: Scenario, other: MachineDescription) -> dict[str, object]:
    """By path, homes and places of memory on another machine."""
    found: dict[str, object] = {}
    for one in {told.row: told for told in scenario.partitions}.values():
        head = f"partition.{spelt(one.table.name)}"
        if one.table.home is not None:
            homes = [_place(home, scenario.machine, other) for home in one.table.home]
            found[f"{head}.home"] = homes
        for at, part in enumerate(one.table.memory):
            if part.on not in (None, "interleaved"):
                there = _place(str(part.on), scenario.machine, other)
                found[f"{head}.memory.{at}.on"] = there
    return found


def _place(text: str, now: MachineDescription, other: MachineDescription) -> str:
    """A place by its numbers: `drawer1.chip0` on a machine of books is `book1.chip0`."""
    chips, word = find_place(text, now), node_word(other)
    node, chip = divmod(chips[0], now.chips_per_node)
    whole = len(chips) > 1 or now.chips_per_node == 1
    there = f"{word}{node}" if whole else f"{word}{node}.chip{chip}"
    find_place(there, other)
    return there


def _groups(before: Scenario, after: Scenario, row: int | None) -> Groups:
    """Partitions of the table in a row do the same work together, all others each by itself."""
    rows = list(dict.fromkeys(one.row for one in before.partitions))
    found: list[tuple[tuple[str, ...], tuple[str, ...]]] = []
    for at in rows:
        old, new = (
            tuple(p.name for p in told.partitions if p.row == at) for told in (before, after)
        )
        pairs = zip(old, new, strict=True) if at != row else ()
        found += [((a,), (b,)) for a, b in pairs] or [(old, new)]
    return tuple(found)


def _composed(first: Groups, second: Groups) -> Groups:
    """Partitions as they are beside those of the second of two variants, one on the other."""
    found = [([*old], {*new}, list[str]()) for old, new in first]
    for between, new in second:
        ours = [one for one in found if one[1] & {*between}]
        olds = [name for one in ours for name in one[0]]
        names = [name for one in ours for name in one[2]]
        place = found.index(ours[0])
        found = [one for one in found if one not in ours]
        found.insert(place, (olds, {name for one in ours for name in one[1]}, [*names, *new]))
    return tuple((tuple(old), tuple(new)) for old, _, new in found)


def _renamed(wishes: Wishes, groups: Groups) -> Wishes:
    """The wishes with the names of the variant, and a change less."""
    names = {one: new for old, new in groups for one in old}

    def of(ones: Sequence[str]) -> list[str]:
        return list(dict.fromkeys(new for one in ones for new in names[one]))

    told = wishes.told
    limits = [
        one.model_copy(update={"partition": name})
        for one in told.limit
        for name in ([None] if one.partition is None else of([one.partition]))
    ]
    licences = [one.model_copy(update={"partitions": of(one.partitions)}) for one in told.licence]
    update = {
        "limit": limits,
        "licence": licences,
        "pinned": of(told.pinned),
        "gives_way": of(told.gives_way),
        "apart": [of(group) for group in told.apart],
        "values": {} if len(names) != sum(len(new) for _, new in groups) else told.values,
        "changes": None if told.changes is None else told.changes - 1,
    }
    return Wishes(told.model_copy(update=update), wishes.document, wishes.asked | {"limit"})


def _now(base: Problem, scenario: Scenario, groups: Groups) -> Now:
    """What the layout as it is does, by partition of the variant: each part has its share."""
    places = {name: at for at, name in enumerate(base.cost.names)}
    work, response = (np.zeros(len(scenario.partitions)) for _ in range(2))
    new_places = {one.name: at for at, one in enumerate(scenario.partitions)}
    for old, new in groups:
        olds = [places[name] for name in old]
        news = [new_places[name] for name in new]
        work[news] = base.cost.now.work[olds].sum() / len(news)
        response[news] = _mean(base.cost.now.response_ns[olds])
    return Now(work, response)


def _mean(values: Floats) -> float:
    return float(values.mean())
