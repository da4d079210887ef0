"""From the tables of a file to a scenario with everything decided and everything checked."""

from __future__ import annotations

from pathlib import Path as FilePath

from homenode.document import Document, Problems
from homenode.errors import ScenarioError
from homenode.scenario import checks, totals
from homenode.scenario.models import DEFAULT_POOL, Pool, ScenarioFile
from homenode.scenario.naming import spell_out
from homenode.scenario.override import choose_machine
from homenode.scenario.placed import Resolved
from homenode.scenario.profiles import choose_profile
from homenode.scenario.seating import seat_all


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
    resolved = Resolved(machine, pools, seat_all(entries, profiles, machine, problems))
    # Sums say nothing while one of their terms is wrong.
    if not problems:
        totals.check_memory(machine, resolved.partitions, problems)
        totals.check_capacity(resolved, problems)
        totals.check_size(resolved.partitions, file.run, problems)
    problems.raise_any()
    return resolved
