"""From the tables of a file to a scenario with everything decided and everything checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath

from homenode.catalog import MachineDescription
from homenode.document import Document, Problems
from homenode.errors import ScenarioError
from homenode.scenario import checks, totals
from homenode.scenario.cellular.hardware import PlacedNpartition, divide
from homenode.scenario.cellular.refuse import refuse_cells, refuse_whole
from homenode.scenario.cellular.seating import seat_in_cells
from homenode.scenario.models import DEFAULT_POOL, Pool, ScenarioFile
from homenode.scenario.naming import Named, spell_out
from homenode.scenario.override import choose_machine
from homenode.scenario.placed import PlacedPartition, Resolved
from homenode.scenario.profiles import Numbers, choose_profile
from homenode.scenario.seating import seat_all
from homenode.scenario.strict import check_strict


def resolve(file: ScenarioFile, document: Document, folder: FilePath) -> Resolved:
    """Decide everything the file leaves open, and check all of it.

    All that is wrong is raised at once, in the order of the file; `folder` is where files that the
    scenario names are looked for.
    """
    problems = Problems(document, ScenarioError)
    checks.check_run(file.run, problems)
    checks.check_pools(file.pool, problems)
    entries = spell_out(file.partition, problems)
    rows = list(enumerate(file.partition))
    profiles = {row: choose_profile(table, row, folder, problems) for row, table in rows}
    machine = choose_machine(file.machine, document, folder, problems)
    if machine is None:
        problems.raise_any()
        raise AssertionError("a machine that cannot be had is noted as a problem")
    pools = (Pool(name=DEFAULT_POOL), *file.pool)
    for row, table in rows:
        checks.check_partition(table, row, machine, [pool.name for pool in pools], problems)
        checks.check_burst(table, row, profiles[row], machine, problems)
    npartitions, partitions = _seat(file, entries, profiles, machine, problems)
    resolved = Resolved(machine, pools, partitions, npartitions)
    # Sums say nothing while one of their terms is wrong.
    if not problems:
        totals.check_memory(machine, resolved.partitions, problems)
        totals.check_capacity(resolved, problems)
        totals.check_size(resolved.partitions, file.run, problems)
        check_strict(machine, resolved.partitions, problems)
    problems.raise_any()
    return resolved


def _seat(
    file: ScenarioFile,
    entries: Sequence[Named],
    profiles: Mapping[int, Numbers],
    machine: MachineDescription,
    problems: Problems,
) -> tuple[tuple[PlacedNpartition, ...], tuple[PlacedPartition, ...]]:
    """nPartitions, if the machine is made of cells, and the partitions at their places."""
    platform = machine.platform
    if platform is None:
        before = len(problems)
        refuse_cells(file, machine, problems)
        if len(problems) > before:
            return (), ()
        return (), seat_all(entries, profiles, machine, problems)
    if refuse_whole(file, machine, problems):
        return (), ()
    npartitions = tuple(divide(file.npartition, machine, platform, problems))
    names = [table.name for table in file.npartition]
    return npartitions, seat_in_cells(
        entries, profiles, npartitions, names, machine, platform, problems
    )
