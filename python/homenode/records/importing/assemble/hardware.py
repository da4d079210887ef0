"""Which machine a scenario is set on: the one named, the very model, the nearest of its generation,
one made from a topology, or, where recordings tell nothing of the hardware, an assumed one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from homenode.errors import InputError, MachineError
from homenode.model.catalog import MachineDescription, machine, machines
from homenode.model.catalog.hypervisor import PowerVm
from homenode.model.catalog.names import is_path, load_machine
from homenode.model.catalog.policies import HOST_POLICIES
from homenode.model.document import parse_document, read_text
from homenode.model.scenario.places import name_of_chip
from homenode.model.units import FREQUENCY, SIZE
from homenode.records.importing.assemble.generations import (
    Generation,
    generation_name,
    generation_of,
)
from homenode.records.importing.assemble.machine_file import machine_file
from homenode.records.importing.facts import Facts, SystemFacts, Told, TopologyFacts
from homenode.records.importing.opening.sources import ListingError, Notice

DEFAULT_MACHINE = "ibm-power-e1080"
"""For partitions that share cores of a server of which nothing is told."""
DEFAULT_HOSTS = ("intel-xeon-6240-2s", "amd-epyc-7742-2s")
"""For guests of an x86 server of which nothing is told, the smaller first."""
DEFAULT_MAINFRAME = "ibm-z15"
"""For those of a mainframe of which no model is told."""
_SAME_CLOCK = 0.01
MACHINE_FILE = "machine.toml"


@dataclass(frozen=True)
class Need:
    """What the partitions need of their machine."""

    cores: int
    """Least cores: entitlements, dedicated cores, the largest partition."""
    memory_bytes: int
    shares: bool
    """Whether any partition shares cores."""
    under: str | None = None
    """Hypervisor of an x86 server, or `processes`; None for any other server."""
    threads: int = 1
    """Virtual processors of the largest, as threads; of a host no more are needed, since guests
    take turns.
    """
    cells: bool = False
    """Whether all of them ran HP-UX, so that they may be set on a machine of cells."""


@dataclass(frozen=True)
class ChosenMachine:
    """The machine with why it is that one."""

    description: MachineDescription
    reference: tuple[str, str]
    """Key and value in `[machine]`: a model or a file."""
    reason: str
    active_cores: int
    active_reason: str
    overrides: dict[str, tuple[dict[str, str] | str, str]] = field(default_factory=dict)
    """What recordings tell otherwise, by dotted key, with where from."""
    text: str | None = None
    """The machine file, if it was made here."""
    notices: tuple[Notice, ...] = ()
    types: dict[str, Told[int]] = field(default_factory=dict)
    """Cores by type, where they are told."""

    @property
    def power(self) -> PowerVm | None:
        """PowerVM, if that is what dispatches its partitions."""
        hypervisor = self.description.hypervisor
        return hypervisor if isinstance(hypervisor, PowerVm) else None


def choose_machine(
    facts: Facts, system: SystemFacts | None, asked: str | None, need: Need
) -> ChosenMachine:
    """The machine for the partitions of a server; `asked` is the one someone named.

    Raises `NotFoundError` for a name that is none, `ListingError` where it cannot hold them.
    """
    found = _choose(facts, system, asked, need)
    return found if system is None else replace(found, types=system.types)


def _choose(
    facts: Facts, system: SystemFacts | None, asked: str | None, need: Need
) -> ChosenMachine:
    if asked is not None:
        if not need.cells:
            _refuse_cells(machine(asked))
        return named(asked, need)
    if need.under is not None:
        need = replace(need, cores=1)
    system = system or SystemFacts("")
    exact = exact_machine(system)
    if exact is not None and system.model is not None:
        return _of_catalog(exact, f"{system.model.where}", system, need)
    topology = real_topology(facts, system)
    wanted = _generation(system)
    nearest = None if wanted is None else _nearest(wanted, need)
    if nearest is not None and (wanted == _generation_of(nearest) or topology is None):
        return _by_generation(nearest, system, wanted, need)
    why = ""
    hosted = need.under is not None
    if topology is not None or (system.cores is not None and (hosted or not need.shares)):
        try:
            made = _made(topology, system, need)
        except InputError as error:
            why = f"; none can be made of it: {error.problem}"
        else:
            if made is not None:
                return made
    return _assumed(system, need, why)


def named(asked: str, need: Need) -> ChosenMachine:
    """The machine that someone named, a shipped one or a file of it."""
    found = machine(asked)
    if found.hypervisor.policy in HOST_POLICIES:
        need = replace(need, cores=1)
    own = read_text(Path(asked), MachineError) if is_path(asked) else None
    reference = ("model", asked) if own is None else ("file", MACHINE_FILE)
    if need.cores > found.cores:
        there = f"{found.title} has {found.cores} cores, the partitions need {need.cores}"
        raise ListingError(there, next_step="name a larger one with --machine")
    active = max(need.cores, found.active_cores)
    overrides, why = _memory(found, need), "named with --machine"
    return ChosenMachine(found, reference, why, active, "all of them", overrides, own)


def _refuse_cells(found: MachineDescription) -> None:
    if found.platform is not None:
        raise ListingError(
            f"{found.title} is made of cells, of which recordings of use tell nothing unless all"
            " ran HP-UX",
            next_step="import vparstatus -v -M and parstatus -C of it, or name another machine",
        )


def exact_machine(system: SystemFacts) -> MachineDescription | None:
    """The shipped machine of the very model that recordings tell."""
    if system.model is None:
        return None
    told = system.model.value
    found = (machine(name) for name in machines())
    return next((one for one in found if _same_model(one.model, told)), None)


def same_generation(system: SystemFacts) -> MachineDescription | None:
    """The smallest shipped machine of the processor generation that recordings tell."""
    wanted = _generation(system)
    found = None if wanted is None else _nearest(wanted, Need(1, 0, shares=False))
    return found if found is not None and _generation_of(found) == wanted else None


def _same_model(one: str, other: str) -> bool:
    def plain(text: str) -> str:
        return "".join(c for c in text.upper() if c.isalnum()).removeprefix("IBM")

    return plain(one) == plain(other)


def real_topology(facts: Facts, system: SystemFacts) -> TopologyFacts | None:
    """A topology of the hardware itself, of this server or of none that is named."""
    real = [one for one in facts.topologies if not one.virtual]
    own = [one for one in real if one.system == system.key]
    nameless = [one for one in real if one.system is None]
    return next(iter([*own, *nameless]), None)


def generation(system: SystemFacts | None, found: MachineDescription) -> Generation | None:
    """Of a server that is told to be Power, by its own model or else that of the machine which
    stands for it; None where nothing tells what it is.
    """
    told = None if system is None else system.architecture
    if system is None or told is None or told.value != "power":
        return None
    return _generation(system) or _generation_of(found)


def _generation(system: SystemFacts) -> Generation | None:
    told = (system.processor, system.model)
    return generation_of(*(one.value for one in told if one is not None))


def _generation_of(found: MachineDescription) -> Generation | None:
    return generation_of(found.generation)


def _nearest(wanted: Generation, need: Need) -> MachineDescription | None:
    """Of the same family, the nearest generation; of several the smallest that is large enough."""
    found = [machine(name) for name in machines()]
    family = [(one, of) for one in found if (of := _generation_of(one)) and of[0] == wanted[0]]
    large = [(one, of) for one, of in family if one.cores >= need.cores]
    if not large:
        return None
    return min(large, key=lambda pair: (abs(pair[1][1] - wanted[1]), pair[0].cores))[0]


def _of_catalog(
    found: MachineDescription, reason: str, system: SystemFacts, need: Need
) -> ChosenMachine:
    _refuse_cells(found)
    active, why, notices = _active(found, system, need)
    overrides = {**_clock(found, system), **_memory(found, need)}
    return ChosenMachine(
        found, ("model", found.name), reason, active, why, overrides, notices=notices
    )


def _by_generation(
    found: MachineDescription, system: SystemFacts, wanted: Generation | None, need: Need
) -> ChosenMachine:
    told = system.model or system.processor
    what = "?" if told is None else told.value
    where = "" if told is None else f"{told.where}: "
    name = generation_name(wanted) if wanted is not None else "?"
    reason = f"{where}{what} is {name}; the nearest machine with a description"
    text = f"{what} has no description; {found.title} ({found.generation}) stands for it"
    notice = Notice(text, None if told is None else told.where)
    chosen = _of_catalog(found, reason, system, need)
    notices = (notice, *chosen.notices)
    return ChosenMachine(**{**vars(chosen), "notices": notices})


def _made(topology: TopologyFacts | None, system: SystemFacts, need: Need) -> ChosenMachine | None:
    """A machine file of its own; none if it would not hold the partitions."""
    name = "imported"
    made = machine_file(topology, system if system.key else None, name)
    found = load_machine(parse_document(made.text, MACHINE_FILE, MachineError))
    policy = found.hypervisor.policy
    if found.cores < need.cores or (need.shares and policy not in ("phyp", *HOST_POLICIES)):
        return None
    where = "" if topology is None else f"{topology.where}: "
    reason = f"{where}no machine with a description; made of what is told"
    active = max(found.active_cores, need.cores)
    return ChosenMachine(
        found,
        ("file", MACHINE_FILE),
        reason,
        active,
        "all of them",
        _memory(found, need),
        made.text,
        tuple(made.notices),
    )


def _assumed(system: SystemFacts, need: Need, why: str) -> ChosenMachine:
    is_mainframe = system.architecture is not None and system.architecture.value == "s390x"
    found = machine(DEFAULT_MAINFRAME if is_mainframe else DEFAULT_MACHINE)
    hosts = [machine(name) for name in DEFAULT_HOSTS] if need.under is not None else []
    found = next((one for one in hosts if need.threads <= one.host_cpus), found)
    if need.cores > found.cores:
        there = f"the partitions need {need.cores} cores, {found.title} has {found.cores}"
        raise ListingError(there, next_step="import fewer, or name a machine file with --machine")
    told = next((f" ({one.value})" for one in (system.model, system.processor) if one), "")
    text = f"what they ran on{told} is not told or has no description{why}"
    step = "choose another with --machine"
    active, active_why, notices = _active(found, system, need)
    return ChosenMachine(
        found,
        ("model", found.name),
        "assumed: nothing is told of the hardware that a description fits",
        active,
        active_why,
        _memory(found, need),
        notices=(Notice(f"{text}; {found.title} is assumed, {step}"), *notices),
    )


def _active(
    found: MachineDescription, system: SystemFacts, need: Need
) -> tuple[int, str, tuple[Notice, ...]]:
    told = system.cores or system.installed_cores or system.pool_cores
    if told is None:
        return max(found.active_cores, need.cores), "assumed: all of them", ()
    wanted, origin = max(told.value, need.cores), _told_cores(system, told)
    if wanted > told.value:
        origin = f"{origin}: {told.value}, but the partitions need more"
    if wanted <= found.cores:
        return wanted, origin, ()
    text = f"{told.value} cores are in use, {found.title} has {found.cores}; those count"
    return found.cores, "all of them", (Notice(text, told.where),)


def _told_cores(system: SystemFacts, told: Told[int]) -> str:
    """The lines that tell the cores, with what they count where that is not those in use."""
    if told is system.cores and system.types:
        return ", ".join(str(one.where) for one in system.types.values())
    if told is system.cores:
        return str(told.where)
    return f"{told.where}: {'installed' if told is system.installed_cores else 'of the pool'}"


def run_by_esxi(chosen: ChosenMachine) -> ChosenMachine:
    """The machine with ESXi's scheduler in the place of that of Linux."""
    if chosen.description.hypervisor.policy != "linux":
        return chosen
    overrides: dict[str, tuple[dict[str, str] | str, str]]
    overrides = {"policy": ("esxi", "a host of vmware"), **chosen.overrides}
    return replace(chosen, description=chosen.description.under("esxi"), overrides=overrides)


def _clock(
    found: MachineDescription, system: SystemFacts
) -> dict[str, tuple[dict[str, str] | str, str]]:
    told = system.clock_hz
    if told is None or abs(told.value / found.clock.value - 1) < _SAME_CLOCK:
        return {}
    value = {"value": FREQUENCY.format(round(told.value)), "why": f"as recorded, {told.where}"}
    return {"clock": (value, str(told.where))}


def _memory(found: MachineDescription, need: Need) -> dict[str, tuple[dict[str, str] | str, str]]:
    """More memory than the description has, if the partitions have more."""
    if need.memory_bytes <= found.memory.maximum.value:
        return {}
    why = "the partitions have so much"
    value = {"value": SIZE.format(-(-need.memory_bytes // 2**30) * 2**30), "why": why}
    return {"memory.maximum": (value, why)}


def chip_names(found: MachineDescription, active_cores: int) -> Iterator[str]:
    """Places of the chips with active cores, in order."""
    for chip in range(found.chips):
        if chip * found.cores_per_chip < active_cores:
            yield name_of_chip(chip, found)
