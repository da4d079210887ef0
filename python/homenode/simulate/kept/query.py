"""Any question about kept runs, in SQL: `query("select run, partition, mean from summary where
metric = 'physc'")`.

Views: `partition_intervals`, `cpu_intervals`, `pool_intervals`, `dispatches` and, of z/VM,
`virtual_machine_intervals`, `switch_intervals`, `volume_intervals` (the result tables with `run`
and names beside the indices), `summary` (a row per run, partition and metric) and `runs`. They are
read in place; nothing is written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from homenode.errors import HomenodeError, NotFoundError
from homenode.simulate.engine import table_names
from homenode.simulate.kept.guests import names_of
from homenode.simulate.kept.kept_run import KeptRun
from homenode.simulate.kept.store import table_path

if TYPE_CHECKING:
    import duckdb
    import polars as pl

VIEWS = {
    "partition_intervals": "partition",
    "cpu_intervals": "cpu",
    "pool_intervals": "pool",
    "dispatches": "dispatches",
    "virtual_machine_intervals": "virtual_machine",
    "switch_intervals": "switch",
    "volume_intervals": "volume",
}
_KINDS = ("virtual_machine", "switch")
"""Of which a row tells the index in its partition, and `guests_` the name."""
_READING = {"SELECT", "EXPLAIN"}


def query(sql: str, root: str | Path = "runs", run: str | None = None) -> pl.DataFrame:
    """Answer a question about all kept runs, or about one."""
    import duckdb
    import polars as pl

    runs = [KeptRun.load(run, root)] if run is not None else KeptRun.all(root)
    if not runs:
        raise NotFoundError(
            f"{root} holds no run to ask about; make one with `homenode run SCENARIO`"
        )
    connection = duckdb.connect(":memory:")
    try:
        _refuse_writing(connection, sql)
        _create_views(connection, runs)
        _lock(connection, runs)
        answer = pl.DataFrame(connection.sql(sql).to_arrow_table())
    except duckdb.Error as error:
        raise HomenodeError(f"the query cannot be answered: {error}") from error
    except pl.exceptions.PolarsError as error:
        raise HomenodeError(
            f"the answer holds a kind of value that cannot be shown ({error})",
            next_step="cast it, as in CAST(x AS VARCHAR)",
        ) from error
    finally:
        connection.close()
    return answer


def _refuse_writing(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    """One statement that only reads."""
    statements = connection.extract_statements(sql)
    if len(statements) != 1:
        raise HomenodeError(
            f"the query has {len(statements)} statements; ask one question at a time"
        )
    kind = statements[0].type.name
    if kind not in _READING:
        raise HomenodeError(
            f"the query is a {kind} statement; only questions (SELECT) are answered"
        )


def _lock(connection: duckdb.DuckDBPyConnection, runs: Sequence[KeptRun]) -> None:
    """From here on only the files of these runs can be read."""
    folders = ", ".join(_quoted(run.path.resolve()) for run in runs)
    connection.execute(f"SET allowed_directories = [{folders}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def _create_views(connection: duckdb.DuckDBPyConnection, runs: Sequence[KeptRun]) -> None:
    _table(connection, "runs", [_run_row(run) for run in runs])
    _table(connection, "summary", [row for run in runs for row in _summary_rows(run)])
    _table(connection, "names_", [row for run in runs for row in _name_rows(run)])
    _guest_names(connection, runs)
    for view, table in VIEWS.items():
        files = [run.path.resolve() for run in runs if table_path(run.path, table).exists()]
        if files:
            _interval_view(connection, view, table, files)
        else:
            _empty_view(connection, view, table)


def _interval_view(
    connection: duckdb.DuckDBPyConnection, view: str, table: str, folders: Sequence[Path]
) -> None:
    kind = "pool" if table == "pool" else "partition"
    parts = [
        f"SELECT {_quoted(folder.name)} AS run_, * "  # noqa: S608 - quoted
        f"FROM read_parquet({_quoted(table_path(folder, table))})"
        for folder in folders
    ]
    source = " UNION ALL BY NAME ".join(parts)
    name, left_out, join = "", kind, ""
    if table in _KINDS:
        name = f"guests_.name AS {table}, rows_.{table} AS {table}_index, "
        left_out = f"{kind}, {table}"
        join = (
            f"JOIN guests_ ON guests_.folder = rows_.run_ AND guests_.kind = '{table}' "
            f"AND guests_.partition = rows_.partition AND guests_.number = rows_.{table}"
        )
    connection.execute(
        f"CREATE VIEW {view} AS "  # noqa: S608 - names of our own views and quoted folder names
        f"SELECT names_.run, rows_.replication, names_.name AS {kind}, "
        f"rows_.{kind} AS {kind}_index, {name}rows_.* EXCLUDE (run_, replication, {left_out}) "
        f"FROM ({source}) AS rows_ "
        f"JOIN names_ ON names_.folder = rows_.run_ AND names_.kind = '{kind}' "
        f"AND names_.number = rows_.{kind} {join}"
    )


def _empty_view(connection: duckdb.DuckDBPyConnection, view: str, table: str) -> None:
    columns = ", ".join(f"NULL::BIGINT AS {name}" for name in table_names(table))
    connection.execute(f"CREATE VIEW {view} AS SELECT NULL::VARCHAR AS run, {columns} WHERE false")


def _table(
    connection: duckdb.DuckDBPyConnection, name: str, rows: Sequence[Mapping[str, Any]]
) -> None:
    import polars as pl

    frame = pl.DataFrame(rows, infer_schema_length=None).to_arrow()
    connection.register(f"{name}_rows", frame)
    connection.execute(f"CREATE TABLE {name} AS SELECT * FROM {name}_rows")  # noqa: S608
    connection.unregister(f"{name}_rows")


def _run_row(run: KeptRun) -> dict[str, Any]:
    return {
        "run": run.id,
        "scenario": run.name,
        "seed": str(run.seed),
        "replications": run.replications,
        "date": run.provenance.get("date"),
        "version": run.provenance.get("version"),
        "commit": run.provenance.get("commit"),
    }


def _summary_rows(run: KeptRun) -> list[dict[str, Any]]:
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


def _name_rows(run: KeptRun) -> list[dict[str, Any]]:
    kinds = {"partition": run.partitions, "pool": [str(pool["name"]) for pool in run.spec["pools"]]}
    folder = run.path.resolve().name
    return [
        {"run": run.id, "folder": folder, "kind": kind, "number": number, "name": name}
        for kind, names in kinds.items()
        for number, name in enumerate(names)
    ]


def _guest_names(connection: duckdb.DuckDBPyConnection, runs: Sequence[KeptRun]) -> None:
    """Names of virtual machines and switches by partition; none where no z/VM runs."""
    connection.execute(
        "CREATE TABLE guests_ (folder VARCHAR, kind VARCHAR, partition BIGINT, number BIGINT, "
        "name VARCHAR)"
    )
    rows = [
        (run.path.resolve().name, kind, one["partition_index"], one[f"{kind}_index"], one[kind])
        for run in runs
        for kind in _KINDS
        for one in names_of(run.spec, kind)
    ]
    if rows:
        connection.executemany("INSERT INTO guests_ VALUES (?, ?, ?, ?, ?)", rows)


def _quoted(text: object) -> str:
    return "'" + str(text).replace("'", "''") + "'"
