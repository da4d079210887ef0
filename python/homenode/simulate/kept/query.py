"""Any question about kept runs, in SQL: `query("select run, partition, mean from summary where
metric = 'physc'")`.

Views: `partition_intervals`, `cpu_intervals`, `pool_intervals`, `fabric_intervals`, `dispatches`;
of partitions with several workloads `workload_intervals`, of those whose devices interrupt
`interrupt_intervals`; of ESXi on several memory nodes `home_intervals`; of z/VM
`virtual_machine_intervals`, `switch_intervals`, `volume_intervals`
(the result tables with `run` and names beside the indices);
`summary` (a row per run, partition and metric), `workloads` (the same of each of several), `points`
(a row per run and axis, of sweeps) and `runs`. They are read in place, by Arrow; the database
itself can open no file, so that a statement that gets past the check of its kind still writes
nothing.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from homenode.errors import HomenodeError, NotFoundError
from homenode.model.units import SIZE, TIME
from homenode.simulate.engine import table_names
from homenode.simulate.kept.fabric import PORTS
from homenode.simulate.kept.guests import names_of
from homenode.simulate.kept.kept_run import KeptRun
from homenode.simulate.kept.points import point_in_words
from homenode.simulate.kept.reading import reading
from homenode.simulate.kept.statements import refuse_writing
from homenode.simulate.kept.store import table_path

if TYPE_CHECKING:
    import duckdb
    import polars as pl
    import pyarrow as pa
    from pyarrow.dataset import Dataset

Answer = TypeVar("Answer")
VIEWS = {
    "partition_intervals": "partition",
    "cpu_intervals": "cpu",
    "pool_intervals": "pool",
    "dispatches": "dispatches",
    "workload_intervals": "workload",
    "virtual_machine_intervals": "virtual_machine",
    "switch_intervals": "switch",
    "volume_intervals": "volume",
    "fabric_intervals": "fabric",
    "interrupt_intervals": "interrupt",
    "home_intervals": "home",
}
_KINDS = ("virtual_machine", "switch", "workload")
"""Of which a row tells the index in its partition, and `guests_` the name."""
_GUESTS = {"run": str, "kind": str, "partition": int, "number": int, "name": str}
_WORKLOADS = {
    "run": str,
    "partition": str,
    "workload": str,
    "metric": str,
    "mean": float,
    "ci95": float,
}
TIME_LIMIT_NS = 60 * 10**9
MEMORY_LIMIT = 2 << 30
"""Most that a question may take [bytes]."""
_LOOK_EVERY_S = 0.1
_SETTINGS = (
    # Nothing is put aside on disk, and variables of this program are no tables.
    "SET temp_directory = ''",
    "SET python_enable_replacements = false",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)


def query(
    sql: str,
    root: str | Path = "runs",
    run: str | None = None,
    *,
    time_limit_ns: int = TIME_LIMIT_NS,
    memory_limit: int = MEMORY_LIMIT,
) -> pl.DataFrame:
    """Answer a question about all kept runs, or about one.

    Raises `HomenodeError` for what is no question and for one that needs more time [ns], or more
    memory [bytes] for its work or for its answer, than it may have.
    """
    import duckdb
    import polars as pl

    runs = [KeptRun.load(run, root)] if run is not None else KeptRun.all(root)
    if not runs:
        raise NotFoundError(
            f"{root} holds no run to ask about; make one with `homenode run SCENARIO`"
        )
    connection = duckdb.connect(":memory:")

    def ask() -> pa.Table:
        with connection:
            refuse_writing(connection, sql)
            connection.execute(f"SET memory_limit = '{memory_limit} B'")
            _create_views(connection, runs)
            for setting in _SETTINGS:
                connection.execute(setting)
            return _collect(connection, sql, memory_limit)

    try:
        return pl.DataFrame(_in_time(ask, connection, time_limit_ns))
    except duckdb.OutOfMemoryException as error:
        raise _too_large(f"the query needs more than {SIZE.format(memory_limit)}") from error
    except duckdb.Error as error:
        raise HomenodeError(f"the query cannot be answered: {error}") from error
    except pl.exceptions.PolarsError as error:
        why = str(error).partition(" Hint")[0].strip().rstrip(".")
        raise HomenodeError(
            f"the answer holds a kind of value that cannot be shown ({why})",
            next_step="cast it, as in CAST(x AS VARCHAR)",
        ) from error


def _in_time(
    ask: Callable[[], Answer], connection: duckdb.DuckDBPyConnection, limit_ns: int
) -> Answer:
    """What `ask` gives, called in a thread of its own: while a query runs, the thread that asked
    hears neither Ctrl-C nor a clock.
    """
    import duckdb

    answer: Future[Answer] = Future()

    def work() -> None:
        try:
            answer.set_result(ask())
        except BaseException as error:  # noqa: BLE001 - raised where it is waited for
            answer.set_exception(error)

    # Whatever ends this thread ends that one: a signal may come while it is being started.
    thread = threading.Thread(target=work, name="query", daemon=True)
    try:
        thread.start()
        return answer.result(min(limit_ns / 1e9, threading.TIMEOUT_MAX))
    except (TimeoutError, KeyboardInterrupt) as error:
        while thread.is_alive():  # it may not have begun yet, and be closed by the next look
            with contextlib.suppress(duckdb.Error):
                connection.interrupt()
            thread.join(_LOOK_EVERY_S)
        if not isinstance(error, TimeoutError):
            raise
        raise HomenodeError(
            f"the query was not answered in {TIME.format(limit_ns)}",
            next_step="ask for less, or give it more time with --time-limit",
        ) from error


def _collect(connection: duckdb.DuckDBPyConnection, sql: str, limit: int) -> pa.Table:
    """The answer, as long as it fits."""
    import pyarrow as pa

    batches, size = [], 0
    found = connection.sql(sql)
    if found is None:
        raise HomenodeError("the query has no answer", next_step="ask with SELECT")
    reader = pa.RecordBatchReader.from_stream(found)
    for batch in reader:
        size += batch.nbytes
        if size > limit:
            raise _too_large(f"the answer is larger than {SIZE.format(limit)}")
        batches.append(batch)
    return pa.Table.from_batches(batches, reader.schema).rename_columns(
        _distinct(reader.schema.names)
    )


def _distinct(names: Sequence[str]) -> list[str]:
    """Names of columns, of which a join may give one twice: the second is `name:1`."""
    found: list[str] = []
    for name in names:
        others = (f"{name}:{number}" for number in itertools.count(1))
        found.append(name if name not in found else next(n for n in others if n not in found))
    return found


def _too_large(what: str) -> HomenodeError:
    return HomenodeError(
        what, next_step="ask for less, as with LIMIT, or give it more memory with --memory-limit"
    )


def _create_views(connection: duckdb.DuckDBPyConnection, runs: Sequence[KeptRun]) -> None:
    _rows(connection, "runs", [_run_row(run) for run in runs])
    _rows(connection, "summary", [row for run in runs for row in _summary_rows(run)])
    _rows(connection, "names_", [row for run in runs for row in _name_rows(run)])
    rows = [row for run in runs for row in _workload_rows(run)]
    _rows(connection, "workloads", rows, _WORKLOADS)
    rows = [row for run in runs for row in _point_rows(run)]
    _rows(connection, "points", rows, {"run": str, "axis": str, "value": str})
    _rows(connection, "guests_", [row for run in runs for row in _guest_rows(run)], _GUESTS)
    for view, table in VIEWS.items():
        there = [run for run in runs if table_path(run.path, table).exists()]
        if there:
            _interval_view(connection, view, table, there)
        else:
            _empty_view(connection, view, table)


def _interval_view(
    connection: duckdb.DuckDBPyConnection, view: str, table: str, runs: Sequence[KeptRun]
) -> None:
    kind = {"pool": "pool", "fabric": "port"}.get(table, "partition")
    source = f"{view}_rows"
    connection.register(source, _rows_of_all(table, runs))
    name, left_out, join = "", kind, ""
    if table in _KINDS:
        name = f"guests_.name AS {table}, rows_.{table} AS {table}_index, "
        left_out = f"{kind}, {table}"
        join = (
            f"JOIN guests_ ON guests_.run = rows_.run_ AND guests_.kind = '{table}' "
            f"AND guests_.partition = rows_.partition AND guests_.number = rows_.{table}"
        )
    connection.execute(
        f"CREATE VIEW {view} AS "  # noqa: S608 - names of our own views
        f"SELECT names_.run, rows_.replication, names_.name AS {kind}, "
        f"rows_.{kind} AS {kind}_index, {name}rows_.* EXCLUDE (run_, replication, {left_out}) "
        f"FROM {source} AS rows_ "
        f"JOIN names_ ON names_.run = rows_.run_ AND names_.kind = '{kind}' "
        f"AND names_.number = rows_.{kind} {join}"
    )


def _rows_of_all(table: str, runs: Sequence[KeptRun]) -> Dataset:
    """The rows of all runs, with the run of each; a column that some lack is empty there."""
    import pyarrow as pa
    import pyarrow.dataset as ds
    import pyarrow.parquet as pq
    from pyarrow.fs import LocalFileSystem

    paths, schemas = [], [pa.schema([("run_", pa.string())])]
    for run in runs:
        path = str(table_path(run.path.resolve(), table))
        with reading(run.path):
            schemas.append(pq.read_schema(path))
        paths.append(path)
    return ds.FileSystemDataset.from_paths(
        paths,
        pa.unify_schemas(schemas),
        ds.ParquetFileFormat(),
        filesystem=LocalFileSystem(),
        partitions=[ds.field("run_") == run.id for run in runs],
    )


def _empty_view(connection: duckdb.DuckDBPyConnection, view: str, table: str) -> None:
    columns = ", ".join(f"NULL::BIGINT AS {name}" for name in table_names(table))
    connection.execute(f"CREATE VIEW {view} AS SELECT NULL::VARCHAR AS run, {columns} WHERE false")


def _rows(
    connection: duckdb.DuckDBPyConnection,
    view: str,
    rows: Sequence[Mapping[str, Any]],
    schema: Mapping[str, Any] | None = None,
) -> None:
    """A view of rows of ours, which no statement changes."""
    import polars as pl

    frame = pl.DataFrame(rows, schema=schema, infer_schema_length=None)
    connection.register(view, frame.to_arrow())


def _run_row(run: KeptRun) -> dict[str, object]:
    return {
        "run": run.id,
        "scenario": run.name,
        "seed": str(run.seed),
        "replications": run.replications,
        "date": run.provenance.get("date"),
        "version": run.provenance.get("version"),
        "commit": run.provenance.get("commit"),
        "point": point_in_words(run.point),
    }


def _point_rows(run: KeptRun) -> list[dict[str, object]]:
    """A row an axis, values as text: those of different axes are of different kinds."""
    return [{"run": run.id, "axis": axis, "value": str(value)} for axis, value in run.point.items()]


def _summary_rows(run: KeptRun) -> list[dict[str, object]]:
    return [
        {
            "run": run.id,
            "partition": partition,
            "metric": metric,
            "mean": None if estimate.mean is None else float(estimate.mean),
            "ci95": None if estimate.ci95 is None else float(estimate.ci95),
            "steady": run.unsteady_reason(partition) is None,
        }
        for partition, metrics in run.metrics.items()
        for metric, estimate in metrics.items()
    ]


def _workload_rows(run: KeptRun) -> list[dict[str, object]]:
    """A row a metric of each of several workloads of a partition."""
    return [
        {
            "run": run.id,
            "partition": name,
            "workload": load,
            "metric": metric,
            "mean": one.mean,
            "ci95": one.ci95,
        }
        for name, partition in run.metrics.items()
        for load, metrics in partition.workloads.items()
        for metric, one in metrics.items()
    ]


def _name_rows(run: KeptRun) -> list[dict[str, object]]:
    pools = [str(pool["name"]) for pool in run.spec["pools"]]
    kinds = {"partition": run.partitions, "pool": pools, "port": PORTS}
    return [
        {"run": run.id, "kind": kind, "number": number, "name": name}
        for kind, names in kinds.items()
        for number, name in enumerate(names)
    ]


def _guest_rows(run: KeptRun) -> list[dict[str, Any]]:
    """Names of virtual machines and switches by partition; none where no z/VM runs."""
    return [
        {
            "run": run.id,
            "kind": kind,
            "partition": one["partition_index"],
            "number": one[f"{kind}_index"],
            "name": one[kind],
        }
        for kind in _KINDS
        for one in names_of(run.spec, kind)
    ]
