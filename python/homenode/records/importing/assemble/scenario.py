"""From facts to a scenario that was loaded once: machine, partitions, demand."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import ceil
from typing import TypeVar

from homenode.errors import HomenodeError, listed
from homenode.model.catalog.policies import HOST_POLICIES
from homenode.model.scenario import Scenario
from homenode.records.importing.assemble.assembled import (
    Assembled,
    lasting_folder,
    loaded,
    write_files,
)
from homenode.records.importing.assemble.beside import Told, columns, mean_rate, told_beside
from homenode.records.importing.assemble.bursts import SWITCHES, Guest, Switched, switched
from homenode.records.importing.assemble.cells import assemble_cells
from homenode.records.importing.assemble.convert import (
    Converted,
    Residual,
    by_factor,
    convert,
    shown,
    slopes,
)
from homenode.records.importing.assemble.gangs import SplitProbe, own_share, set_gangs
from homenode.records.importing.assemble.generations import Generation
from homenode.records.importing.assemble.hardware import (
    MACHINE_FILE,
    ChosenMachine,
    Need,
    chip_names,
    choose_machine,
    generation,
    real_topology,
    run_by_esxi,
)
from homenode.records.importing.assemble.hosting import hosting, set_on_host
from homenode.records.importing.assemble.hpux import is_hpux, set_in_cells, smallest_of_cells
from homenode.records.importing.assemble.machines import leave_machines, set_machines
from homenode.records.importing.assemble.members import members
from homenode.records.importing.assemble.options import AssembleOptions
from homenode.records.importing.assemble.passes import Target
from homenode.records.importing.assemble.places import lay_out
from homenode.records.importing.assemble.plan import (
    Bursts,
    Line,
    Planned,
    plan,
    set_on_mainframe,
    set_on_power,
    set_without_sharing,
)
from homenode.records.importing.assemble.windows import Recorded, Windows, put_together, recorded_of
from homenode.records.importing.assemble.write import (
    DEMAND_FILE,
    demand_table,
    packed,
    scenario_text,
)
from homenode.records.importing.facts import Facts, Quantity, SystemFacts
from homenode.records.importing.opening.sources import ListingError, Notice
from homenode.simulate.settle.probe import Probe
from homenode.simulate.settle.work import settled

T = TypeVar("T")
ProgressFn = Callable[[float, float | None], None]
_S = 1_000_000_000
STEP_S = 20.0
"""Simulated time of a window: long enough for folding, which takes one step a second, to follow."""
_LEAST_STEP_S = 10.0
_LEAST_UNFOLDED_S = 2.5
"""The same of guests that fold nothing, in bursts of the profile, which are thousands by then."""
_BUDGET = 110_000.0
"""Simulated time of the run times the cores in use [core-seconds]: about a minute or two of
computing.
"""
_SWITCHES_OF_A_CORE = 400.0
"""So many bursts cost as much computing as a second of a core in usual bursts, with what else is
going on in it.
"""
_GUESS = 1e9
"""Instructions in a second of a core, for the first probe: any number of the right size will do."""
_ROUNDS = 2
"""How often the scenario is asked what a core does in bursts of recorded length: shorter ones cost
more, and the first answer is of the profile's own.
"""
_LEAST_SHARE = 0.1
"""Of recorded cores the least part that is taken for work, where the guest's own time is most."""
_LONGEST_BURST_S = 0.1
"""Longer bursts would be so few in a window that chance decides what it uses."""


def assemble(
    facts: Facts,
    options: AssembleOptions | None = None,
    progress: ProgressFn | None = None,
    unplayed: Callable[[Assembled], None] | None = None,
) -> Assembled:
    """One scenario of all that was found.

    Where recorded cores are converted by playing them, which takes its time, `unplayed` is given
    what there is before: the same layout with its work by one factor.

    Raises `ListingError` where nothing makes one or several servers could be meant,
    `NotFoundError` for a machine or profile that is not there.
    """
    chosen = options or AssembleOptions()
    if facts.of_cells:
        return assemble_cells(facts, chosen)
    system, every = members(facts, chosen)
    notices: list[Notice] = []
    begin, found = recorded_of(facts, every, notices)
    under = hosting(system, every)
    hypervisor = system.hypervisor.value if system and system.hypervisor else under
    planned = plan(every, found, hypervisor, notices)
    need = replace(_need(planned), under=under, cells=is_hpux(every))
    if need.cells and chosen.machine is None:
        machine = smallest_of_cells(need)
    else:
        machine = choose_machine(facts, system, chosen.machine, need)
    notices.extend(machine.notices)
    if under == "vmware":
        machine = run_by_esxi(machine)
    if machine.description.hypervisor.policy in HOST_POLICIES:
        topology = real_topology(facts, system or SystemFacts(""))
        set_on_host(planned, machine.description, under, topology, notices)
    tables: list[list[Line]] = []
    if machine.description.platform is None:
        _set(planned, machine, generation(system, machine.description), notices)
    else:
        tables = set_in_cells(planned, machine.description)
    windows, step_ns = _windows(planned, begin, chosen, _busy_with(facts, planned), notices)
    name = chosen.name or _name(system, planned)
    made = (machine, planned, tables)
    return _converted(facts, chosen, made, windows, step_ns, name, notices, progress, unplayed)


def _busy_with(facts: Facts, planned: Sequence[Planned]) -> float:
    """Switches of threads that were recorded of all partitions [1/s], roughly."""
    keys = [(one.facts.system, one.facts.name) for one in planned if one.recorded is not None]
    return sum(mean_rate(facts, key, SWITCHES) for key in keys)


def _need(planned: Sequence[Planned]) -> Need:
    entitled = sum(one.entitlement for one in planned if one.shared)
    own = sum(one.virtual for one in planned if not one.shared)
    used = sum(one.recorded.mean for one in planned if one.shared and one.recorded)
    largest = max((one.virtual for one in planned if one.shared), default=0)
    cores = own + max(ceil(entitled - 1e-9), ceil(used), largest)
    memory = sum(one.memory.value for one in planned)
    threads = max(one.virtual * (one.facts.smt.value if one.facts.smt else 1) for one in planned)
    return Need(max(1, cores), memory, any(one.shared for one in planned), threads=threads)


def _set(
    planned: list[Planned],
    machine: ChosenMachine,
    of: Generation | None,
    notices: list[Notice],
) -> None:
    described = machine.description
    threads = described.threads_per_core
    if described.hypervisor.policy != "prsm":
        leave_machines(planned, notices)
    if machine.power is not None:
        least = machine.power.min_entitlement_per_vp.value
        set_on_power(planned, machine.active_cores, least, threads, of, notices)
    elif described.hypervisor.policy == "prsm":
        set_on_mainframe(planned, threads, notices)
        set_machines(planned, notices)
    elif described.hypervisor.policy not in HOST_POLICIES:
        for one in planned:
            one.shared = False
        set_without_sharing(planned, threads, notices)
    chips = list(chip_names(described, machine.active_cores))
    lay_out(planned, chips, described.cores_per_chip, notices)


def _windows(
    planned: Sequence[Planned],
    begin: dt.datetime,
    options: AssembleOptions,
    switches_per_s: float,
    notices: list[Notice],
) -> tuple[Windows | None, int]:
    """The windows of all partitions, and for how long each is played."""
    every = [one.recorded for one in planned if one.recorded is not None]
    if not every:
        return None, round(STEP_S * _S)
    # What costs time is what happens: much use, or many switches.
    cores = max(1.0, sum(one.mean for one in every), switches_per_s / _SWITCHES_OF_A_CORE)
    least = _LEAST_STEP_S if options.step_ns is None else options.step_ns / _S
    most = max(1, int(_BUDGET / (cores * least)))
    window = None if options.window_ns is None else options.window_ns / _S
    windows = put_together(every, begin, most, window)
    _remark_windows(windows, every, window, notices)
    if options.step_ns is not None:
        return windows, options.step_ns
    length = min(STEP_S, max(windows.seconds))
    if windows.count * length * cores > _BUDGET:
        folds = any(one.guest.value == "aix" for one in planned)
        length = min(length, _LEAST_STEP_S if folds or switches_per_s else _LEAST_UNFOLDED_S)
    return windows, max(1_000_000, round(length * 1000) * 1_000_000)


def _remark_windows(
    windows: Windows, every: Sequence[Recorded], asked: float | None, notices: list[Notice]
) -> None:
    length = max(windows.seconds)
    if asked is None and length > 1.5 * min(one.length for one in every):
        text = f"samples are put together into {windows.count} windows of {length:g} s"
        notices.append(Notice(f"{text}, so that a run ends soon; choose others with --window"))
    if windows.left_out:
        notices.append(
            Notice(f"{windows.left_out} windows in which nothing was recorded are left out")
        )
    missing = {
        one.partition: sum(window.cores is None for window in windows.partitions[one.partition])
        for one in every
    }
    some = {name: count for name, count in missing.items() if count}
    if some:
        count = sum(some.values())
        windows_told = f"{count} window{'s' if count > 1 else ''}"
        text = f"not recorded in {windows_told}, and idle there: {listed(some, 4)}"
        notices.append(Notice(text))


def _name(system: SystemFacts | None, planned: Sequence[Planned]) -> str:
    if len(planned) == 1:
        return planned[0].name
    told = "" if system is None else system.key
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "_.+-") else "-" for c in told)
    return plain.strip("-.+_")[:64] or "imported"


def _converted(
    facts: Facts,
    options: AssembleOptions,
    decided: tuple[ChosenMachine, Sequence[Planned], Sequence[Sequence[Line]]],
    windows: Windows | None,
    step_ns: int,
    name: str,
    notices: list[Notice],
    progress: ProgressFn | None,
    unplayed: Callable[[Assembled], None] | None,
) -> Assembled:
    """The scenario with its demand, loaded from a folder of its own; `decided` are its machine,
    partitions and, of a machine of cells, nPartitions.
    """
    machine, planned, tables = decided
    folder = lasting_folder()
    step_count = 0 if windows is None else windows.count
    files = {} if machine.text is None else {MACHINE_FILE: machine.text.encode()}
    sources = list(dict.fromkeys(one.file for one in facts.took)) or ["facts"]

    beside = {} if windows is None else _beside(facts, planned, windows)
    if windows is not None:
        set_gangs(facts, planned, windows, beside)
    figures = {name: columns(told, step_count) for name, told in beside.items()}

    def scenario(rates: Mapping[str, Sequence[float]], told: Sequence[str]) -> tuple[str, Scenario]:
        if windows is not None:
            files[DEMAND_FILE] = packed(demand_table(planned, windows, rates, figures))
        text = scenario_text(
            name, machine, planned, windows, step_ns, options.profile, told, sources, tables
        )
        write_files(folder, text, files)
        return text, loaded(text, folder, sources)

    targets = [] if windows is None else _targets(planned, windows)
    text, made = scenario(by_factor(targets), ())
    counted = {} if windows is None else _counted(planned, windows, beside)
    for _ in range(_ROUNDS if counted else 0):
        per_core = _per_core(targets, planned, made) if options.convert else {}
        _set_bursts(planned, counted, per_core)
        text, made = scenario(by_factor(targets), ())
    bursts = {one.name: one.bursts for one in planned if one.bursts is not None}

    def assembled(residuals: Mapping[str, Residual]) -> Assembled:
        told = tuple(notices)
        return Assembled(
            text, dict(files), made, told, facts, residuals, step_count, step_ns, bursts
        )

    residuals: dict[str, Residual] = {}
    if targets and options.convert:
        if unplayed is not None:
            unplayed(assembled({}))
        done = _convert(targets, planned, made, step_ns, progress)
        residuals = done.residuals
        _remark_residuals(residuals, notices)
        head = f"Recorded cores are converted to work of the profile {options.profile}. Played,"
        text, made = scenario(done.rates, [head, *shown(residuals)])
    elif targets:
        notices.append(Notice("recorded cores are converted to work by one factor, not probed"))
    return assembled(residuals)


def _beside(facts: Facts, planned: Sequence[Planned], windows: Windows) -> dict[str, Told]:
    """What was recorded beside the cores of each partition."""
    recorded = [one for one in planned if one.recorded is not None]
    return {
        one.name: told_beside(facts, (one.facts.system, one.facts.name), windows)
        for one in recorded
    }


def _counted(
    planned: Sequence[Planned], windows: Windows, beside: Mapping[str, Told]
) -> dict[str, Switched]:
    """Bursts of those partitions whose switches were recorded."""
    found = {}
    for one in planned:
        if one.recorded is None:
            continue
        cores = tuple(window.cores for window in windows.partitions[one.recorded.partition])
        os = one.facts.os.value if one.facts.os is not None else one.guest.value
        logical = one.virtual * (one.smt.value if one.smt is not None else 1)
        guest = Guest(os, logical, not one.is_quiet)
        told = switched(beside[one.name], cores, windows.seconds, guest)
        if told is not None:
            found[one.name] = told
    return found


def _set_bursts(
    planned: Sequence[Planned],
    counted: Mapping[str, Switched],
    per_core: Mapping[str, tuple[float, float]],
) -> None:
    """The work of a burst: what its cores do in the mean, over how many bursts there are."""
    for one in planned:
        told = counted.get(one.name)
        if told is not None:
            idle, of_a_core = per_core.get(one.name, (0.0, _GUESS))
            work = max(told.cores - idle, _LEAST_SHARE * told.cores) * of_a_core * own_share(one)
            length = min(_LONGEST_BURST_S * of_a_core, work / told.per_s)
            one.bursts = Bursts(length, told)


def _per_core(
    targets: Sequence[Target], planned: Sequence[Planned], scenario: Scenario
) -> dict[str, tuple[float, float]]:
    """Cores used when idle and work of a further core, as the scenario has them now."""
    return _asking(lambda: slopes(targets, _probe(scenario, planned)))


def _targets(planned: Sequence[Planned], windows: Windows) -> list[Target]:
    found = []
    for one in planned:
        if one.recorded is not None:
            cores = tuple(window.cores for window in windows.partitions[one.recorded.partition])
            limit = one.virtual
            if one.recorded.quantity == "used" and one.guest.value != "aix" and one.smt:
                limit *= one.smt.value  # each thread's time counts
            found.append(Target(one.name, cores, _GUESS, float(limit)))
    return found


def _convert(
    targets: Sequence[Target],
    planned: Sequence[Planned],
    scenario: Scenario,
    step_ns: int,
    progress: ProgressFn | None,
) -> Converted:
    probe = _probe(scenario, planned)
    tell = None if progress is None else lambda share: progress(share, None)
    return _asking(lambda: convert(targets, probe, step_ns, tell))


def _probe(scenario: Scenario, planned: Sequence[Planned]) -> Probe:
    """Plays the partitions that were recorded by interval, beside virtual machines of z/VM whose
    work is told by what they used on the whole, as far as there are such.
    """
    return SplitProbe(settled(scenario).spec(), _quantities(planned), planned)


def _quantities(planned: Sequence[Planned]) -> dict[str, Quantity]:
    return {one.name: one.recorded.quantity for one in planned if one.recorded is not None}


def _asking(ask: Callable[[], T]) -> T:
    """What the scenario answers, or one message why it cannot be asked."""
    try:
        return ask()
    except HomenodeError as error:
        step = "convert = False, or --no-convert, takes one factor instead"
        raise ListingError(str(error), next_step=step) from error


def _remark_residuals(residuals: Mapping[str, Residual], notices: list[Notice]) -> None:
    """What does not come out as recorded when it is played, and why."""
    short = {name: one for name, one in residuals.items() if one.short}
    if short:
        count = sum(one.short for one in short.values())
        off = sum(one.beyond_short for one in short.values())
        text = f"{listed(short, 4)} were recorded to use more than their processors in {count}"
        notices.append(Notice(f"{text} windows; they use all, in {off} windows over 2 % less"))
    others = {
        name: one.beyond - one.beyond_short
        for name, one in residuals.items()
        if one.beyond > one.beyond_short
    }
    if not others:
        return
    windows = sum(one.windows for one in residuals.values())
    text = f"played, {sum(others.values())} of {windows} windows are off by more than 2 % otherwise"
    why = "for little use, bursts and chance are no small part; for much, partitions that share"
    notices.append(Notice(f"{text}, of {listed(others, 4)}: {why} cores are in each other's way"))
