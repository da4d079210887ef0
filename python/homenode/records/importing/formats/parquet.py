"""Parquet files of samples: the two files of an OpenDC trace, and tables with a moment and a use.

OpenDC's traces up to 2024 are `meta` with a row a virtual machine and `trace` with a row a sample,
whose memory is taken as KiB, as in the Bitbrains traces they are made of. Since then they are
`tasks`, whose memory is in MB, and `fragments`, of which each begins where the one before of its
task ends.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from homenode.errors import listed
from homenode.records.importing.facts import Facts, Told, Took
from homenode.records.importing.formats import configuration
from homenode.records.importing.formats.traces import add_plain
from homenode.records.importing.opening.contents import Input
from homenode.records.importing.opening.sources import Left, ListingError, Notice
from homenode.records.importing.shared.forms import FileFormat
from homenode.records.importing.shared.heading import heading_of, table_of
from homenode.records.importing.shared.samples import Use, add_use

if TYPE_CHECKING:
    import polars as pl

_META = {"id", "cpu_count", "cpu_capacity", "mem_capacity"}
_TRACE = {"id", "timestamp", "duration", "cpu_count", "cpu_usage"}
_TASKS = {"id", "submission_time", "cpu_count", "cpu_capacity"}
_FRAGMENTS = {"id", "duration", "cpu_usage"}
_KIB = 1024
_MB = 1_000_000
_MOST_BYTES = 1 << 30
_MOST_ROWS = 200_000_000


class Parquet:
    """Any Parquet file; its columns tell what it is."""

    name = "Parquet of samples"

    def recognises(self, head: bytes, name: str) -> bool:  # noqa: ARG002 - the mark tells
        """See `FileFormat`."""
        return head.startswith(b"PAR1")

    def read(self, source: Input, facts: Facts) -> None:
        """See `FileFormat`."""
        with _opened(source) as file:
            if file.metadata.num_rows > _MOST_ROWS:
                raise ListingError(f"it has more than {_MOST_ROWS:,} rows", where=source.at())
            names = file.schema_arrow.names
            if set(names) >= _TASKS:
                _read_tasks(source, facts, file)
            elif set(names) >= _FRAGMENTS and "timestamp" not in names:
                _read_fragments(source, facts, file)
            elif set(names) >= _TRACE:
                _read_trace(source, facts, file)
            elif set(names) >= _META:
                _read_meta(source, facts, file)
            else:
                _read_table(source, facts, file)


def _read_tasks(source: Input, facts: Facts, file: Any) -> None:
    """Processors, memory, clock and begin of each task."""
    import polars as pl

    wanted = [*sorted(_TASKS), "mem_capacity"]
    table = _table(source, file, [name for name in wanted if name in file.schema_arrow.names])
    moment = pl.col("submission_time")
    if table.schema["submission_time"].is_integer():
        moment = moment.cast(pl.Datetime("ms"))
    told = table.select(moment.alias("time"))
    begins = told.select(_moment(told))["time"].cast(pl.Int64) / 1e6
    clocks = facts.between.setdefault("opendc", {})
    starts = facts.between.setdefault("opendc starts", {})
    taken = 0
    for row, (one, begin) in enumerate(zip(table.iter_rows(named=True), begins, strict=True), 1):
        name, count, capacity = str(one["id"]), one["cpu_count"], one["cpu_capacity"]
        if one["id"] is None or begin is None or not count or count < 1 or not capacity:
            text = f"row {row} has no processors or no begin; it is left out"
            facts.notices.append(Notice(text, source.at()))
            continue
        partition = facts.partition(None, name)
        facts.tell(partition, "virtual", Told(int(count), source.at()))
        if one.get("mem_capacity") and one["mem_capacity"] > 0:
            size: Told[object] = Told(int(one["mem_capacity"]) * _MB, source.at())
            facts.tell(partition, "memory_bytes", size)
        clocks.setdefault(name, float(capacity) / int(count))
        starts.setdefault(name, begin)
        taken += 1
    if not taken:
        raise ListingError("no task in it has processors and a begin", where=source.at())
    what = f"{taken} tasks: processors, memory (taken as MB), clock, begin"
    facts.took.append(Took(source.file, "OpenDC tasks", what, table.height - taken))


def _read_fragments(source: Input, facts: Facts, file: Any) -> None:
    """Use of tasks, fragment after fragment in the order of the file."""
    import polars as pl

    table = _table(source, file, sorted(_FRAGMENTS))
    table = table.select(
        pl.col("id").cast(pl.String).alias("name"),
        pl.col("duration").cast(pl.Float64, strict=False),
        pl.col("cpu_usage").cast(pl.Float64, strict=False).alias("cores"),
        pl.lit(0, dtype=pl.Int64).alias("line"),
    )
    sound = table.filter((pl.col("duration") > 0) & (pl.col("cores") >= 0))
    if sound.is_empty():
        raise ListingError("no fragment in it has a length and a use", where=source.at())
    dropped = table.height - sound.height

    def add() -> None:
        starts = facts.between.get("opendc starts", {})
        known = pl.DataFrame(
            {"name": list(starts), "start": list(starts.values())},
            schema={"name": pl.String, "start": pl.Float64},
        )
        if not starts:
            why = "fragments do not say when they begin; give the file of tasks too"
            facts.left.append(Left(source.file, why))
            return
        passed = pl.col("duration").cum_sum().over("name") / 1000
        timed = sound.join(known, on="name", how="inner", maintain_order="left")
        end = ((pl.col("start") + passed) * 1e6).round().cast(pl.Int64).cast(pl.Datetime("us"))
        rows = timed.with_columns(end.alias("time")).drop("start")
        lost = sound.height - rows.height
        if lost:
            text = f"no file of tasks tells of the tasks of {lost} fragments: they are left out"
            facts.notices.append(Notice(text, source.at()))
        _add_trace(source, facts, rows, dropped + lost, "OpenDC fragments")

    facts.afterwards.append(add)


def _read_table(source: Input, facts: Facts, file: Any) -> None:
    import polars as pl

    names = file.schema_arrow.names
    own = table_of(names)
    if own == "configuration":
        rows = _table(source, file, names).iter_rows(named=True)
        configuration.take(source, facts, ((0, row) for row in rows))
        return
    if own == "other" or names == ["name", "value"]:
        raise configuration.not_needed(source)
    heading = heading_of(names, ",", 0)
    if heading is None:
        raise ListingError(
            "its columns are no samples",
            there=f"they are {listed(names)}",
            where=source.at(),
            next_step="columns such as time, name, cores are read, and OpenDC's traces",
        )
    places = {"time": heading.time, "cores": heading.use, **heading.optional}
    if heading.name is not None:
        places["name"] = heading.name
    wanted = {new: names[place] for new, place in places.items()}
    table = _table(source, file, list(dict.fromkeys(wanted.values())))
    table = table.select(pl.col(old).alias(new) for new, old in wanted.items())
    if heading.name is None:
        table = table.with_columns(pl.lit(source.name.split(".")[0]).alias("name"))
    table, dropped = _sound(table, source)
    what = add_plain(facts, source, heading, table, dropped)
    facts.took.append(Took(source.file, Parquet.name, what[0], what[1]))


@contextmanager
def _opened(source: Input) -> Iterator[Any]:
    """The file, which must be sought in: a compressed one is held in memory."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    stream = source.open()
    if not stream.seekable():
        stream.close()
        stream = io.BytesIO(source.read(_MOST_BYTES))
    with stream:
        try:
            file = pq.ParquetFile(stream)
        except (pa.ArrowException, OSError, ValueError) as failure:
            raise ListingError(
                f"it is no sound Parquet file: {str(failure).splitlines()[0]}",
                where=source.at(),
                next_step="one that is cut off has lost the list of its columns; copy it anew",
            ) from failure
        yield file


def _table(source: Input, file: Any, columns: list[str]) -> pl.DataFrame:
    """Some columns, row group by row group; those that are damaged end it."""
    import polars as pl
    import pyarrow as pa

    frames: list[pl.DataFrame] = []
    try:
        for group in range(file.num_row_groups):
            part = pl.from_arrow(file.read_row_group(group, columns=columns))
            if isinstance(part, pl.DataFrame):
                frames.append(part)
    except (pa.ArrowException, OSError, ValueError) as failure:
        if not frames:
            text = f"its rows cannot be read: {str(failure).splitlines()[0]}"
            raise ListingError(text, where=source.at()) from failure
    if not frames:
        raise ListingError("it has no rows", where=source.at())
    return pl.concat(frames)


def _sound(table: pl.DataFrame, source: Input) -> tuple[pl.DataFrame, int]:
    """Rows with a moment and a use, in the types of a series; how many are left out."""
    import polars as pl

    kind = table.schema["time"]
    if kind.is_integer() or kind.is_float():
        raise ListingError(
            f"its moments are of type {kind}, so that their unit is not told",
            where=source.at(),
            next_step="write them as timestamps",
        )
    try:
        typed = table.with_columns(
            _moment(table).alias("time"),
            pl.col("name").cast(pl.String),
            *(pl.col(one).cast(pl.Float64) for one in table.columns if one not in ("time", "name")),
            pl.lit(0, dtype=pl.Int64).alias("line"),
        )
    except pl.exceptions.PolarsError as failure:
        text = f"its columns are no samples: {str(failure).splitlines()[0]}"
        raise ListingError(text, where=source.at()) from failure
    use = pl.col("cores")
    there = pl.col("time").is_not_null() & pl.col("name").is_not_null()
    sound = typed.filter(there & use.is_not_null() & use.is_finite() & (use >= 0))
    if sound.is_empty():
        raise ListingError("it holds no sound sample", where=source.at())
    return sound, table.height - sound.height


def _moment(table: pl.DataFrame) -> pl.Expr:
    """The moment in microseconds, in UTC if its zone is told, else without one."""
    import polars as pl

    kind = table.schema["time"]
    moment = pl.col("time")
    if isinstance(kind, pl.Datetime) and kind.time_zone is not None:
        return moment.dt.convert_time_zone("UTC").cast(pl.Datetime("us", "UTC"))
    if kind == pl.String:
        moment = moment.str.to_datetime(time_unit="us", strict=False)
    return moment.cast(pl.Datetime("us"))


def _read_meta(source: Input, facts: Facts, file: Any) -> None:
    names = [name for name in file.schema_arrow.names if name in _META]
    table = _table(source, file, names)
    clocks = facts.between.setdefault("opendc", {})
    taken = 0
    for row, one in enumerate(table.iter_rows(named=True), 1):
        name, count, capacity = one["id"], one["cpu_count"], one["cpu_capacity"]
        if name is None or not count or count < 1 or not capacity or not capacity > 0:
            text = f"row {row} has no processors; it is left out"
            facts.notices.append(Notice(text, source.at()))
            continue
        partition = facts.partition(None, str(name))
        facts.tell(partition, "virtual", Told(int(count), source.at()))
        if one["mem_capacity"] and one["mem_capacity"] > 0:
            size = int(one["mem_capacity"]) * _KIB
            facts.tell(partition, "memory_bytes", Told(size, source.at()))
        clocks.setdefault(str(name), float(capacity) / int(count))
        taken += 1
    if not taken:
        raise ListingError("no virtual machine in it has processors", where=source.at())
    what = f"{taken} virtual machines: processors, memory (taken as KiB), clock"
    facts.took.append(Took(source.file, "OpenDC meta", what, table.height - taken))


def _read_trace(source: Input, facts: Facts, file: Any) -> None:
    import polars as pl

    table = _table(source, file, ["id", "timestamp", "duration", "cpu_count", "cpu_usage"])
    table = table.rename({"id": "name", "timestamp": "time", "cpu_usage": "cores"})
    sound, dropped = _sound(table, source)
    sound = sound.filter(pl.col("duration") > 0)
    if sound.is_empty():
        raise ListingError("no sample in it has a length", where=source.at())
    facts.afterwards.append(lambda: _add_trace(source, facts, sound, dropped))


def _add_trace(
    source: Input, facts: Facts, table: pl.DataFrame, dropped: int, form: str = "OpenDC trace"
) -> None:
    """Cores from MHz, once it is known how fast the processors are."""
    import polars as pl

    clocks = facts.between.get("opendc", {})
    known = pl.DataFrame(
        {"name": list(clocks), "clock": list(clocks.values())},
        schema={"name": pl.String, "clock": pl.Float64},
    )
    joined = table.join(known, on="name", how="left", maintain_order="left")
    kept = joined.filter(pl.col("clock").is_not_null())
    if kept.is_empty():
        why = "its use is in MHz, and no meta file tells how fast the processors are; give it too"
        facts.left.append(Left(source.file, why))
        return
    strangers = joined.filter(pl.col("clock").is_null())["name"].unique(maintain_order=True)
    if strangers.len():
        text = f"no meta file tells of {listed(strangers.to_list())}: they are left out"
        facts.notices.append(Notice(text, source.at()))
    rows = kept.select(
        "name",
        "time",
        (pl.col("cores") / pl.col("clock")).alias("cores"),
        (pl.col("duration") / 1000).alias("seconds"),
        "line",
    )
    note = "MHz used, by MHz of each processor"
    added = add_use(facts, source, None, Use(rows, "used", note))
    dropped += table.height - kept.height + added.dropped
    facts.took.append(Took(source.file, form, str(added), dropped))


FORMATS: tuple[FileFormat, ...] = (Parquet(),)
