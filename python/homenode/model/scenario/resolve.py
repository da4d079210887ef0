"""From the tables of a file to a scenario with everything decided and everything checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path as FilePath

from homenode.errors import ScenarioError
from homenode.model.catalog import MachineDescription
from homenode.model.catalog.profile_model import Numbers
from homenode.model.document import Document, Problems
from homenode.model.scenario import checks, totals
from homenode.model.scenario.asked import asked_of
from homenode.model.scenario.cellular.hardware import PlacedNpartition, divide
from homenode.model.scenario.cellular.refuse import refuse_cells, refuse_whole
from homenode.model.scenario.changes import place_changes
from homenode.model.scenario.demand import with_demand
from homenode.model.scenario.file.partition import Partition
from homenode.model.scenario.file.processors import DEFAULT_POOL
from homenode.model.scenario.file.scenario import Pool, ScenarioFile
from homenode.model.scenario.host.esxi import check_resource_pools
from homenode.model.scenario.host.placing import Hosted, is_host, place_on_host, with_usual_guests
from homenode.model.scenario.host.refuse import check_host, refuse_host_words
from homenode.model.scenario.interrupts import check_interrupts
from homenode.model.scenario.io_threads import check_io_threads, with_io_threads
from homenode.model.scenario.known import Known
from homenode.model.scenario.loads import check_loads, place_of_load, with_loads
from homenode.model.scenario.mainframe.kinds import is_mainframe
from homenode.model.scenario.mainframe.placing import Mainframe, divide_cores, place_in_mainframe
from homenode.model.scenario.mainframe.refuse import refuse_words
from homenode.model.scenario.memory_away import check_memory_away
from homenode.model.scenario.moved import with_memory
from homenode.model.scenario.naming import Named, spell_out
from homenode.model.scenario.override import choose_machine
from homenode.model.scenario.placed import PlacedPartition, Resolved
from homenode.model.scenario.profiles import choose_profile
from homenode.model.scenario.seating import seat_all
from homenode.model.scenario.seating_in_cells import seat_in_cells
from homenode.model.scenario.strict import check_strict


def resolve(
    file: ScenarioFile,
    document: Document,
    folder: FilePath,
    *,
    held: Sequence[object] = (),
    known: Known | None = None,
) -> Resolved:
    """Decide everything the file leaves open, and check all of it.

    All that is wrong is raised at once, in the order of the file; `folder` is where files that the
    scenario names are looked for. `held` is what is told of work of the layout that this one was
    changed from, which need not fit here. What is `known` of a layout that has most of its tables
    is not found, and these are not checked by themselves, once more; what is wrong is then told at
    any place.
    """
    problems = Problems(document, ScenarioError)
    checks.check_run(file.run, problems)
    checks.check_pools(file.pool, problems)
    told = None if known is None else known.machine
    machine = told or choose_machine(file.machine, document, folder, problems)
    if machine is not None and is_host(machine):
        file = with_usual_guests(file, machine, problems, {} if known is None else known.usual)
    entries = spell_out(file.partition, problems)
    rows = list(enumerate(file.partition))
    profiles = _profiles(rows, document, folder, problems, known)
    if machine is None:
        problems.raise_any()
        raise AssertionError("a machine that cannot be had is noted as a problem")
    pools = (Pool(name=DEFAULT_POOL), *file.pool)
    new = rows if known is None else [one for one in rows if one[0] not in known.usual]
    _check_tables(file, new, profiles, machine, problems)
    mainframe, hosted, before = None, None, len(problems)
    if is_mainframe(machine):
        mainframe = place_in_mainframe(file, entries, machine, problems)
    if is_host(machine):
        problems.raise_any()  # what groups get follows from what they are
        hosted = place_on_host(file, entries, machine)
    if len(problems) > before:
        problems.raise_any()  # where partitions go follows from what they are
    npartitions, partitions = _seat(file, entries, profiles, machine, mainframe, hosted, problems)
    partitions = with_loads(partitions, dict(rows), folder, machine, problems)
    partitions = with_demand(partitions, dict(rows), folder, file.run, problems)
    asked = asked_of(partitions, machine, folder, file, problems, held=held)
    if hosted is not None:
        check_io_threads(partitions, problems)
        check_memory_away(partitions, problems)
        partitions = with_io_threads(partitions, machine) if partitions else partitions
    around = Hosted((), {}) if hosted is None else hosted
    resolved = Resolved(
        machine,
        pools,
        partitions,
        npartitions,
        cgroups=around.groups,
        resource_pools=around.pools,
        asked=asked,
    )
    if mainframe is not None and mainframe.is_shared:
        resolved = _with_types(resolved, mainframe, file)
    # Sums say nothing while one of their terms is wrong.
    if not problems:
        totals.check_memory(machine, resolved.partitions, problems)
        totals.check_capacity(resolved, problems)
        totals.check_size(resolved.partitions, file.run, problems)
        check_strict(machine, resolved.partitions, problems)
        changes = place_changes(file.change, resolved, file.run, problems)
        resolved = replace(resolved, changes=changes)
        if not problems:

            def later(then: ScenarioFile) -> tuple[PlacedPartition, ...]:
                return resolve(then, document, folder, held=held).partitions

            resolved = with_memory(file, resolved, later, problems)
    problems.raise_any()
    return resolved


def _check_tables(
    file: ScenarioFile,
    rows: Sequence[tuple[int, Partition]],
    profiles: Mapping[int, Numbers],
    machine: MachineDescription,
    problems: Problems,
) -> None:
    """What can be said of each table by itself, or beside those of the machine; of partitions only
    of those in these rows.
    """
    if len(rows) < len(file.partition):
        file = file.model_copy(update={"partition": [table for _, table in rows]})
    names = [DEFAULT_POOL, *(pool.name for pool in file.pool)]
    checks.check_placing(file.machine.placing, machine, problems)
    refuse_words(file, machine, problems)
    (check_host if is_host(machine) else refuse_host_words)(file, machine, problems)
    check_resource_pools(file, machine, problems)
    for row, table in rows:
        checks.check_partition(table, row, machine, names, problems)
        first = place_of_load(problems.document, row)
        checks.check_burst(table.workload, first, profiles[row], machine, problems)
        check_loads(table, row, machine, problems)
        check_interrupts(table, row, machine, problems)


def _profiles(
    rows: Sequence[tuple[int, Partition]],
    document: Document,
    folder: FilePath,
    problems: Problems,
    known: Known | None,
) -> dict[int, Numbers]:
    """By row; those of one kind that were changed one by one share what they were read as."""
    read: dict[int, Numbers] = {}
    found: dict[int, Numbers] = {} if known is None else dict(known.profiles)
    for row, table in rows:
        if row in found:
            continue
        choice = table.workload.profile
        place = (*place_of_load(document, row), "profile")
        numbers = read.get(id(choice)) or choose_profile(choice, place, folder, problems)
        found[row] = read[id(choice)] = numbers
    return found


def _with_types(resolved: Resolved, mainframe: Mainframe, file: ScenarioFile) -> Resolved:
    """With a pool for each type of core that is shared, and the groups."""
    taken = {core for partition in resolved.partitions for core in partition.cores or ()}
    pools, members = divide_cores(mainframe, taken, resolved.machine)
    return replace(resolved, pools=pools, pool_members=members, groups=tuple(file.group))


def _seat(
    file: ScenarioFile,
    entries: Sequence[Named],
    profiles: Mapping[int, Numbers],
    machine: MachineDescription,
    mainframe: Mainframe | None,
    hosted: Hosted | None,
    problems: Problems,
) -> tuple[tuple[PlacedNpartition, ...], tuple[PlacedPartition, ...]]:
    """nPartitions, if the machine is made of cells, and the partitions at their places."""
    platform = machine.platform
    if platform is None:
        before = len(problems)
        refuse_cells(file, machine, problems)
        if len(problems) > before:
            return (), ()
        said = None if mainframe is None else mainframe.partitions
        threads = None if hosted is None else hosted.partitions
        largest_first = file.machine.placing != "as-listed"
        return (), seat_all(
            entries, profiles, machine, problems, said, threads, largest_first=largest_first
        )
    if refuse_whole(file, machine, problems):
        return (), ()
    npartitions = tuple(divide(file.npartition, machine, platform, problems))
    names = [table.name for table in file.npartition]
    return npartitions, seat_in_cells(
        entries, profiles, npartitions, names, machine, platform, problems
    )
