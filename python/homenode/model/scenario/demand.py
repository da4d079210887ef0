"""Recorded demand: a table of steps beside the scenario, which a workload of kind `trace` plays.

The table is Parquet, or CSV where a person wrote it, with a row a step and partition in the order
of time: `partition` (text), `seconds` (recorded length), `instructions_per_s` (the work). What else
`homenode import` puts beside them (`cores` as recorded, `folded`, `time`) is for `homenode replay`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

from homenode.errors import HomenodeError, NotFoundError, ScenarioError, listed, nearest
from homenode.model.document import Problems
from homenode.model.document.positions import Path
from homenode.model.document.read import need_file
from homenode.model.scenario.file.guest import Gang, Unix
from homenode.model.scenario.file.mainframe import GuestTrace
from homenode.model.scenario.file.partition import Partition
from homenode.model.scenario.file.scenario import Run
from homenode.model.scenario.file.workload import Recorded, Trace
from homenode.model.scenario.loads import place_of_load
from homenode.model.scenario.placed import PlacedPartition
from homenode.model.scenario.played import Played
from homenode.model.units import TIME

if TYPE_CHECKING:
    import polars as pl

COLUMNS = ("partition", "seconds", "instructions_per_s")
"""Those that a scenario needs."""
_MOST_STEPS = 10_000_000
_MOST_BYTES = 1 << 30
_NS = 1_000_000_000
_FORMS = 'name a Parquet or CSV file, such as file = "demand.parquet"'


class Demands:
    """Tables of demand, each read once."""

    def __init__(self) -> None:
        self._read: dict[FilePath, pl.DataFrame] = {}

    def played(self, path: FilePath, workload: Recorded | Gang, names: Sequence[str]) -> Played:
        """What a workload plays: the rows of the first of `names` that is in the file.

        Raises `NotFoundError` if none is, `ScenarioError` for what cannot be played.
        """
        import polars as pl

        table = self._read.get(path)
        if table is None:
            table = self._read[path] = read_demand(path)
        there = table["partition"].unique(maintain_order=True).to_list()
        series = next((name for name in names if name in there), None)
        if series is None:
            problem = f'{path.name} has no partition "{names[0]}"{nearest(names[0], there)}'
            step = f'write series = "..." with one of {listed(there)}'
            raise NotFoundError(problem, asked=names[0], next_step=step)
        rows = table.filter(pl.col("partition") == series)
        seconds = rows["seconds"].to_list()
        lengths = [round(one * _NS) for one in seconds]
        if workload.step is not None:
            lengths = [workload.step] * len(lengths)
        return Played(path, series, tuple(lengths), tuple(rows["instructions_per_s"].to_list()))


def read_demand(path: FilePath) -> pl.DataFrame:
    """A table of demand with the columns that a scenario needs, and all others it has.

    Raises `NotFoundError` where there is none, `ScenarioError` for what is not one.
    """
    import polars as pl

    need_file(path, _FORMS)
    if path.stat().st_size > _MOST_BYTES:
        raise ScenarioError(f"{path} is larger than {_MOST_BYTES >> 30} GiB", next_step=_FORMS)
    read = pl.read_csv if path.suffix.lower() == ".csv" else pl.read_parquet
    try:
        # Opened here: polars would take some characters of a name for a pattern.
        with path.open("rb") as file:
            table = read(file)
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ScenarioError(f"{path} cannot be read: {reason}", next_step=_FORMS) from error
    missing = [name for name in COLUMNS if name not in table.columns]
    if missing:
        there = f"{path} has no column {listed(missing)}"
        step = f"a table of demand has the columns {listed(COLUMNS)}"
        raise ScenarioError(there, there=f"its columns are {listed(table.columns)}", next_step=step)
    return _checked(path, table)


def _checked(path: FilePath, table: pl.DataFrame) -> pl.DataFrame:
    """Every row can be played."""
    import polars as pl

    try:
        table = table.with_columns(
            pl.col("partition").cast(pl.String),
            pl.col("seconds").cast(pl.Float64),
            pl.col("instructions_per_s").cast(pl.Float64),
        )
    except pl.exceptions.PolarsError as error:
        step = "partition is text, seconds and instructions_per_s are numbers"
        raise ScenarioError(f"{path} holds no demand", next_step=step) from error
    per_s, seconds = pl.col("instructions_per_s"), pl.col("seconds")
    sound = (
        pl.col("partition").is_not_null()
        & seconds.is_between(1e-3, 1e9)
        & per_s.is_between(0.0, 1e15)
    )
    broken = table.with_row_index("row").filter(~sound.fill_null(value=False))
    if len(broken):
        row = broken.row(0, named=True)
        there = f"row {row['row'] + 1} of {path} is {[row[name] for name in COLUMNS]}"
        step = "seconds is 0.001 or more, instructions_per_s from 0 to 1e15, nothing is empty"
        raise ScenarioError(there, next_step=step)
    if not 0 < len(table) <= _MOST_STEPS:
        there = f"{path} has {len(table):,} rows"
        raise ScenarioError(there, next_step=f"1 to {_MOST_STEPS:,} rows can be played")
    return table


def with_demand(
    partitions: Sequence[PlacedPartition],
    tables: Mapping[int, Partition],
    folder: FilePath,
    run: Run,
    problems: Problems,
) -> tuple[PlacedPartition, ...]:
    """The partitions with what their workloads play; `tables` are those of the file by row."""
    demands = Demands()
    found = [_with(partition, tables, folder, demands, problems) for partition in partitions]
    demands_of = [
        played
        for one in found
        for played in (one.demand, *(b.demand for b in one.beside), *one.guest_demand.values())
    ]
    _check_length([one for one in demands_of if one is not None], run, problems)
    return tuple(found)


def _with(
    partition: PlacedPartition,
    tables: Mapping[int, Partition],
    folder: FilePath,
    demands: Demands,
    problems: Problems,
) -> PlacedPartition:
    table = tables[partition.row]
    top: Path = ("partition", partition.row)

    def played(of: Recorded | Gang, own: Sequence[str], at: Path) -> Played | None:
        names = own if of.series is None else [of.series]
        try:
            return demands.played(folder / str(of.file), of, names)
        except HomenodeError as error:
            key = "series" if of.series is not None and error.asked is not None else "file"
            problems.add((*top, *at, key), there=error.problem, next_step=error.next_step)
            return None

    own = [partition.name, partition.table.name]
    if isinstance(table.workload, Trace):
        here = place_of_load(problems.document, partition.row)[2:]
        partition = replace(partition, demand=played(table.workload, own, here))
    if partition.beside:
        beside = [
            replace(one, demand=played(one.table, [one.name, *own], ("workload", number)))
            if isinstance(one.table, Trace)
            else one
            for number, one in enumerate(partition.beside, 1)
        ]
        partition = replace(partition, beside=tuple(beside))
    gangs: dict[int, Played] = {}
    for at, gang in enumerate(table.guest.daemons.gangs if isinstance(table.guest, Unix) else ()):
        if gang.file is not None:
            found = played(gang, [gang.name], ("guest", "daemons", "gangs", at))
            gangs.update({} if found is None else {at: found})
    partition = replace(partition, gangs=gangs) if gangs else partition
    guests: dict[str, Played] = {}
    for machine in partition.machines:
        work, rows = machine.table.workload, partition.table.virtual_machine
        if isinstance(work, GuestTrace):
            row = next(at for at, one in enumerate(rows) if one is machine.table)
            own = [machine.name, machine.table.name]
            found = played(work, own, ("virtual_machine", row, "workload"))
            if found is None:  # what is wrong of one is wrong of its copies
                break
            guests[machine.name] = found
    return replace(partition, guest_demand=guests) if guests else partition


def _check_length(played: Sequence[Played], run: Run, problems: Problems) -> None:
    """The run is not longer than what is played in it."""
    longest = max((one.total_ns for one in played), default=run.duration)
    if run.duration > longest:
        there = f"the recorded demand ends after {TIME.format(longest)}"
        step = f'write duration = "{TIME.format(longest)}" or a longer step'
        problems.add(("run", "duration"), there=there, next_step=step)
