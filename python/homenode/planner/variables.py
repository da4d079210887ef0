"""What of each partition may change, and to what: one variable a path of the scenario."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Any, NoReturn

from homenode.errors import HomenodeError, ScenarioError, listed
from homenode.model.catalog.hosts import LinuxHost
from homenode.model.catalog.policies import HOST_POLICIES
from homenode.model.document import to_toml
from homenode.model.scenario import PlacedPartition, Scenario
from homenode.model.scenario.file.guest import Aix, HpUx, Zvm
from homenode.model.scenario.file.processors import DEFAULT_POOL, Shared
from homenode.model.scenario.host.esxi import ESXI, NORMAL_SHARES
from homenode.model.scenario.paths import changed, spelt
from homenode.model.scenario.places import name_of_chip, node_word
from homenode.model.units import SIZE
from homenode.planner import cells
from homenode.planner.virtual_machines import Varied, as_key, guests, switches, tiles
from homenode.planner.wishes import VARIANTS, Wishes
from homenode.records.exporting.root_tree import cpu_list

_TIMES = (0.25, 0.5, 2 / 3, 0.8, 0.9, 1.1, 1.25, 1.5, 2.0, 3.0, 4.0)
"""Of the entitlement and of the virtual processors that are tried."""
_ROOM = (1.0, 1.25, 2.0)
"""Of the cores that work wants which is more than its partition can do, what else is tried."""
_STEP = {"virtual": 1, "cores": 1, "entitlement": 0.05}
"""Words whose values are numbers, each multiple of which may be the best; of entitlement [cores],
hundredths could be asked for too, which no run tells apart.
"""
_STEPS = (1, 2, 4, 8)
"""How far from where it stands a search looks among them."""
_WEIGHTS = (32, 64, 128, 192, 255)
_HOST_PAGES = (4 << 10, 2 << 20, 1 << 30)
_MODES = (0, 1, 2, 4, 8)
AROUND = ("machine", "npartition", "pool", "run")
"""Tables of a scenario that a partition alone needs; what it plays is as long as the run."""
_MOST_CHIPS = 16
"""On a machine with more, only a partition that is at home on one chip may go to another chip."""


@dataclass(frozen=True)
class Variable:
    """Something of a partition that may change."""

    partition: int
    word: str
    path: str
    now: object
    """What it is, as people write it."""
    values: tuple[object, ...]
    """What else it may be; the number of a value counts from 1, 0 is as it is."""
    also: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """By value (`as_key`), what else of the scenario changes with it."""
    first: int | None = None
    """How many of the values are looked at wherever a search stands, the others of a number only
    where it is near them; None = all.
    """

    def first_numbers(self) -> range:
        """Numbers of the values that are looked at everywhere, and of the one that it is now."""
        return range(1 + (len(self.values) if self.first is None else self.first))

    def near(self, number: int) -> list[int]:
        """Numbers of values that are 1, 2, 4, 8 steps larger or smaller; none where all are looked
        at anyway.
        """
        if self.first is None:
            return []
        by_size = self._by_size
        here = by_size.index(number)
        places = [here + sign * step for step in _STEPS for sign in (-1, 1)]
        return [by_size[at] for at in places if 0 <= at < len(by_size)]

    @functools.cached_property
    def _by_size(self) -> list[int]:
        """Numbers, the one of the least value first."""
        told: Any = [self.now, *self.values]
        return sorted(range(len(told)), key=told.__getitem__)

    def value(self, number: int) -> object:
        """The value of a number."""
        return self.now if number == 0 else self.values[number - 1]

    def changes(self, number: int) -> dict[str, object]:
        """What a number changes of the scenario, by path."""
        value = self.value(number)
        return {self.path: value, **self.with_it(value)} if number else {}

    def with_it(self, value: object) -> Mapping[str, object]:
        """What else changes with a value."""
        return self.also.get(as_key(value), {})


@dataclass(frozen=True)
class _Asking:
    """Who is asked for the values of a word."""

    scenario: Scenario
    one: PlacedPartition
    used: float
    """Cores that it uses now."""
    wants: float = 0.0
    """Those that all its work would take, where it gets more than it can do."""

    def room(self, most: float) -> set[int]:
        """Whole processors around what would do; a transaction may take more once it has room."""
        return {min(ceil(times * self.wants), int(most)) for times in _ROOM if self.wants}

    @property
    def shared(self) -> Shared | None:
        processors = self.one.table.processors
        return processors if isinstance(processors, Shared) else None

    @property
    def policy(self) -> str:
        return self.scenario.machine.hypervisor.policy


Values = Callable[[_Asking], tuple[str, object, list[Any]] | None]
"""The path below the partition, what it is, what it may be; None where there is no such thing."""


def variables_of(
    scenario: Scenario,
    wishes: Wishes,
    uses: Sequence[tuple[float, float]],
    held: Collection[str] = (),
    *,
    searched: bool = True,
) -> list[Variable]:
    """All of them, in the order of the partitions. `uses` are the cores that each uses now, and
    those that it wants beyond what it can do; of `held` nothing changes.

    Raises for a word that means nothing on the machine, and, if other layouts are searched, where
    nothing is free at all.
    """
    told = wishes.told
    found = list(_by_path(scenario, wishes))
    taken = {one.path for one in found}
    for word in (one for one in told.free if one not in VARIANTS):
        before = len(found)
        if "free" not in told.model_fields_set and not is_known(word, scenario):
            continue
        for index, one in enumerate(scenario.partitions):
            head = f"partition.{spelt(one.name)}"
            for below, now, values, also in _asked(word, _Asking(scenario, one, *uses[index])):
                path = f"{head}.{below}"
                others = [v for n, v in enumerate(values) if v != now and v not in values[:n]]
                more = {v: {f"{head}.{k}": o for k, o in told.items()} for v, told in also.items()}
                if path not in taken and others:
                    rest, first = _between(now, others, word) if word in _STEP else ([], None)
                    every = (*others, *rest)
                    found.append(Variable(index, word, path, now, every, more, first))
        if len(found) == before:
            _refuse(word, scenario, wishes)
    pinned = {one.name for one in scenario.partitions} & {*told.pinned, *held}
    left = [one for one in found if scenario.partitions[one.partition].name not in pinned]
    if not left and not wishes.varies and searched:
        _refuse_all(scenario, wishes, {scenario.partitions[one.partition].name for one in found})
    return sorted(left, key=lambda one: one.partition)


def _refuse_all(scenario: Scenario, wishes: Wishes, pinned: set[str]) -> NoReturn:
    """Of nobody anything may change, but for these that are pinned."""
    words = listed(wishes.told.free)
    if len(pinned) == len(scenario.partitions):
        raise HomenodeError(
            "nothing is left that may change: every partition is pinned",
            next_step="take one of them out of advise.pinned",
        )
    if pinned:
        raise HomenodeError(
            f"nothing is left that may change: of what is free ({words}) only pinned partitions"
            f" have any ({listed(sorted(pinned))})",
            next_step="take one of them out of advise.pinned, or add words to free",
        )
    raise HomenodeError(
        f"{scenario.name}: nothing is left that may change",
        there=f"of what is free ({words}) each partition has the only value that it can have",
        next_step="add words to free in [advise], or to --free",
    )


def _between(now: object, tried: Sequence[Any], word: str) -> tuple[list[Any], int]:
    """The multiples of a word's step below the largest that is tried but for those that are, and
    how many are.
    """
    step, known = _STEP[word], {now, *tried}
    every = (round(step * times, 2) for times in range(1, ceil(max(tried) / step)))
    return [one for one in every if one not in known], len(tried)


def _asked(word: str, at: _Asking) -> Iterator[Varied]:
    """What a word means of a partition: nothing, one thing or several."""
    if word in _INSIDE:
        yield from _INSIDE[word](at.one)
        return
    if word in _OF_CELLS and at.one.in_cells is not None:
        yield from _OF_CELLS[word](at.one)
        return
    told = _WORDS[word](at)
    if told is not None:
        yield Varied(*told)


def _refuse(word: str, scenario: Scenario, wishes: Wishes) -> None:
    at = wishes.told.free.index(word)  # type: ignore[arg-type]
    there = f"on {scenario.machine.title} {_MEANT[word]}"
    known = [one for one in (*_WORDS, *_INSIDE) if is_known(one, scenario)]
    step = f"leave it out; there is {listed(known, 20)}"
    where = wishes.where("free", at)
    if not is_known(word, scenario):
        raise ScenarioError(f'advise.free = "{word}"', there=there, where=where, next_step=step)


def is_known(word: str, scenario: Scenario) -> bool:
    """Whether a partition has it, with however few values."""
    return any([*_asked(word, _Asking(scenario, one, 0.0))] for one in scenario.partitions)


def _by_path(scenario: Scenario, wishes: Wishes) -> Iterator[Variable]:
    """Those whose values the file lists."""
    names = [one.name for one in scenario.partitions]
    for path, values in wishes.told.values.items():
        name = next(n for n in names if path.startswith(f"partition.{spelt(n)}."))
        below = path.removeprefix(f"partition.{spelt(name)}.")
        now = _written(scenario, names.index(name), below)
        others = tuple(value for value in values if value != now)
        for value in others:
            _check_value(scenario, path, value, wishes, name)
        if others:
            word = below.rpartition(".")[2]
            yield Variable(names.index(name), word, path, now, others)


def _check_value(scenario: Scenario, path: str, value: object, wishes: Wishes, name: str) -> None:
    """Refuses a value that may not stand there at all; whether a layout has room for it beside the
    other partitions is asked later: two may change places.
    """
    try:
        scenario.with_({path: value})
    except ScenarioError as error:
        if _stands_alone(scenario, path, value, name):
            return
        raise ScenarioError(
            f"[advise.values] {path} = {value!r}: {error.problem}",
            there=error.there,
            where=wishes.where("values", path),
            next_step=error.next_step,
        ) from error


def _stands_alone(scenario: Scenario, path: str, value: object, name: str) -> bool:
    """Whether a value may stand there if there were no other partition."""
    data = changed(scenario.data, {path: value}, "advised")
    tables: Any = data["partition"]
    around = {key: data[key] for key in AROUND if key in data}
    alone = {**around, "partition": [one for one in tables if one["name"] == name]}
    try:
        Scenario.from_toml(to_toml(alone), folder=scenario.folder)
    except ScenarioError:
        return False
    return True


def _written(scenario: Scenario, index: int, below: str) -> object:
    """A value of a partition as its file has it; None where it says nothing."""
    here: Any = scenario.data["partition"][scenario.partitions[index].row]
    for part in below.split("."):
        if isinstance(here, list) and part.isdecimal() and int(part) < len(here):
            here = here[int(part)]
        elif isinstance(here, dict):
            here = here.get(part)
        else:
            return None
    return here


def _home(at: _Asking) -> tuple[str, object, list[Any]] | None:
    machine = at.scenario.machine
    if machine.platform is not None or at.policy in HOST_POLICIES or at.one.mainframe is not None:
        return None
    word = node_word(machine)
    nodes = {}
    for node in range(machine.nodes):
        first = node * machine.chips_per_node
        chips = range(first, first + machine.chips_per_node)
        active = tuple(chip for chip in chips if machine.active_cores_of(chip))
        if active:
            nodes[active] = f"{word}{node}"
    all_chips = [chip for chips in nodes for chip in chips]
    by_chip = len(all_chips) <= _MOST_CHIPS or len(at.one.home) == 1
    places = {**nodes}
    if by_chip:
        places |= {(chip,): name_of_chip(chip, machine) for chip in all_chips}
    here = tuple(sorted(at.one.home))
    now = places.get(here) or ", ".join(name_of_chip(chip, machine) for chip in here)
    return "home", now, [*places.values()]


def home_of(scenario: Scenario, one: PlacedPartition) -> tuple[object, list[Any]] | None:
    """Where a partition is at home, and where it could be; None where homes are not chosen."""
    told = _home(_Asking(scenario, one, 0.0))
    return None if told is None else told[1:]


def _memory(at: _Asking) -> tuple[str, object, list[Any]] | None:
    """Where the first part of its memory lies that has a place of its own."""
    parts = at.one.table.memory
    machine = at.scenario.machine
    told = next((i for i, part in enumerate(parts) if part.on not in (None, "interleaved")), None)
    if told is None or at.policy in HOST_POLICIES:
        return None
    here = [f"{node_word(machine)}{node}" for node in range(machine.nodes)]
    return f"memory.{told}.on", parts[told].on, here


def _entitlement(at: _Asking) -> tuple[str, object, list[Any]] | None:
    shared = at.shared
    if shared is None or shared.entitlement is None or at.policy != "phyp":
        return None
    now = shared.entitlement
    tried = [now * times for times in _TIMES]
    tried += [ceil(10 * at.used) / 10, ceil(at.used)] if at.used else []
    tried += at.room(at.scenario.machine.active_cores)
    return "processors.entitlement", now, sorted(round(max(one, 0.01), 2) for one in tried)


def _virtual(at: _Asking) -> tuple[str, object, list[Any]] | None:
    shared = at.shared
    if shared is None or shared.types is not None:
        return None
    now = shared.virtual
    tried = {max(1, round(now * times)) for times in _TIMES}
    tried |= {ceil(at.used), ceil(1.25 * at.used), max(1, now - 1), now + 1} if at.used else set()
    tried |= at.room(at.scenario.machine.host_cpus)
    # The fewest that each entitlement fits.
    tried |= {ceil(one) for one in (_entitlement(at) or ("", 0, []))[2]}
    return "processors.virtual", now, sorted(tried)


def _cores(at: _Asking) -> tuple[str, object, list[Any]] | None:
    processors = at.one.table.processors
    if isinstance(processors, Shared) or processors.names_cores or processors.types is not None:
        return None
    now = processors.cores
    tried = {max(1, round(now * times)) for times in _TIMES[1:9]}
    tried |= {max(1, now - 1), now + 1} | ({ceil(at.used)} if at.used else set())
    tried |= at.room(at.scenario.machine.active_cores)
    return "processors.cores", now, sorted(tried)


def _smt(at: _Asking) -> tuple[str, object, list[Any]] | None:
    most = at.scenario.machine.threads_per_core
    if most == 1 or at.policy in HOST_POLICIES or at.one.mainframe is not None:
        return None
    return "smt", at.one.smt, [count for count in (1, 2, 4, 8) if count <= most]


def _capped(at: _Asking) -> tuple[str, object, list[Any]] | None:
    shared = at.shared
    if shared is None or at.policy not in ("phyp", "prsm"):
        return None
    return "processors.capped", shared.capped, [not shared.capped]


def _weight(at: _Asking) -> tuple[str, object, list[Any]] | None:
    shared = at.shared
    if shared is None or at.policy == "dedicated":
        return None
    if at.policy == ESXI:
        now = shared.shares or NORMAL_SHARES * shared.virtual
        return "processors.shares", now, sorted({max(1, round(now * t)) for t in _TIMES})
    if shared.shares is not None:
        return None
    if at.policy == "phyp" and shared.capped:
        return None
    usual = 128 if at.policy == "phyp" else shared.weight or 100
    tried = _WEIGHTS if at.policy == "phyp" else [round(usual * times) for times in _TIMES]
    return "processors.weight", shared.weight or usual, sorted({max(1, one) for one in tried})


def _pool(at: _Asking) -> tuple[str, object, list[Any]] | None:
    pools = [DEFAULT_POOL, *(pool.name for pool in at.scenario.file.pool)]
    if at.shared is None or at.policy != "phyp" or len(pools) == 1:
        return None
    return "processors.pool", at.shared.pool, pools


def _folding(at: _Asking) -> tuple[str, object, list[Any]] | None:
    guest = at.one.table.guest
    return ("guest.folding", guest.folding, [not guest.folding]) if isinstance(guest, Aix) else None


def _throughput(at: _Asking) -> tuple[str, object, list[Any]] | None:
    guest = at.one.table.guest
    if not isinstance(guest, Aix):
        return None
    modes = [mode for mode in _MODES if mode <= at.one.smt]
    return "guest.throughput_mode", guest.throughput_mode, modes


def _cpuset(at: _Asking) -> tuple[str, object, list[Any]] | None:
    shared = at.shared
    if at.policy != "linux" or shared is None or shared.pins is not None:
        return None
    return "processors.cpuset", shared.cpuset and cpu_list(shared.cpuset), _sockets(at)


def _pins(at: _Asking) -> tuple[str, object, list[Any]] | None:
    shared = at.shared
    if at.policy not in HOST_POLICIES or shared is None or shared.cpuset is not None:
        return None
    now = shared.pins and tuple(map(cpu_list, shared.pins))
    return "processors.pins", now, [(one,) for one in _sockets(at)]


def _unparking(at: _Asking) -> tuple[str, object, list[Any]] | None:
    guest = at.one.table.guest
    if not isinstance(guest, Zvm) or guest.polarization == "horizontal":
        return None
    return "guest.unparking", guest.unparking, ["large", "medium", "small"]


def _polarization(at: _Asking) -> tuple[str, object, list[Any]] | None:
    guest = at.one.table.guest
    if not isinstance(guest, Zvm):
        return None
    return "guest.polarization", guest.polarization, ["vertical", "horizontal"]


def _pages(at: _Asking) -> tuple[str, object, list[Any]] | None:
    """Pages with which a KVM host maps its guest's memory, or those of a guest whose processors
    walk tables.
    """
    machine, guest = at.scenario.machine, at.one.table.guest
    kvm, host = at.one.table.kvm, machine.hypervisor
    if kvm is not None and isinstance(host, LinuxHost) and machine.walks is not None:
        here = kvm.page or host.kvm.page.value
        return "kvm.page", SIZE.format(here), [SIZE.format(one) for one in _HOST_PAGES]
    told = None if machine.translation is None else machine.translation.pages
    if told is None or not isinstance(guest, HpUx):
        return None
    return "guest.page", SIZE.format(guest.page), [SIZE.format(one) for one in told.value]


def _sockets(at: _Asking) -> list[str]:
    """Processors of each chip of a host, of which a core's threads have neighbouring numbers, and
    all of them.
    """
    machine = at.scenario.machine
    per_chip, count = machine.cores_per_chip * machine.host_threads, machine.host_cpus
    firsts = range(0, count, per_chip)
    chips = [f"{first}-{min(first + per_chip, count) - 1}" for first in firsts]
    return [*chips, f"0-{count - 1}"] if len(chips) > 1 else chips


_WORDS: dict[str, Values] = {
    "home": _home, "memory": _memory, "entitlement": _entitlement, "virtual": _virtual,
    "smt": _smt, "capped": _capped, "weight": _weight, "pool": _pool, "folding": _folding,
    "throughput": _throughput, "cores": _cores, "cpuset": _cpuset, "pins": _pins,
    "unparking": _unparking, "polarization": _polarization, "pages": _pages,
}  # fmt: skip
_OF_CELLS: dict[str, Callable[[PlacedPartition], Iterator[Varied]]] = {
    "home": cells.cells,
    "memory": cells.memory,
}
_INSIDE: dict[str, Callable[[PlacedPartition], Iterator[Varied]]] = {
    "tiles": tiles,
    "switches": switches,
    "guests": guests,
}
_MEANT: dict[str, str] = {
    "home": "partitions have no home that could be chosen",
    "memory": "no partition says where its memory lies",
    "entitlement": "no partition has an entitlement of its own",
    "virtual": "no partition has virtual processors that could be counted anew",
    "smt": "threads a core are not chosen by partition",
    "capped": "no partition can be capped",
    "weight": "no partition has a weight",
    "pool": "there is no second shared pool",
    "folding": "no partition runs AIX, which folds",
    "throughput": "no partition runs AIX, which has throughput modes",
    "cores": "no partition has cores of its own that are told by number, and nothing else of them",
    "cpuset": "no partition is kept to processors by a cpuset",
    "pins": "no virtual processor is pinned",
    "unparking": "no z/VM parks logical cores",
    "polarization": "no partition runs z/VM, which chooses one",
    "pages": "no partition has pages of several sizes whose tables are walked",
    "tiles": "no z/VM has virtual switches over which its machines could be divided",
    "switches": "no z/VM has virtual switches",
    "guests": "no z/VM has virtual machines whose transactions or users could be divided"
    " (split and merge divide those of partitions)",
}
"""What is lacking where a word means nothing."""
