"""Questions about one kept table, answered in plain rows.

For a few rows of a small file the library decides how long a command takes: DuckDB answers before
polars or pyarrow, which bring numpy, have been loaded.
"""

from __future__ import annotations

import errno
import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from homenode.errors import DamagedRunError
from homenode.simulate.kept.reading import unreadable

if TYPE_CHECKING:
    import duckdb
    import polars as pl

    Source = Path | pl.DataFrame
    """A table as a Parquet file, or in memory."""

_SPECIAL = str.maketrans({"[": "[[]", "*": "[*]", "?": "[?]"})


def select(what: str, source: Source, rest: str = "", **values: object) -> list[tuple[Any, ...]]:
    """`SELECT what FROM source rest`, with values for its `$names`."""
    return _asked(what, source, rest, values).fetchall()


def column_names(source: Source) -> list[str]:
    """Columns of a table, in their order."""
    if not isinstance(source, Path):
        return source.columns
    return [str(column[0]) for column in _asked("*", source, "LIMIT 0", {}).description or ()]


def _asked(
    what: str, source: Source, rest: str, values: Mapping[str, object]
) -> duckdb.DuckDBPyConnection:
    import duckdb

    cursor = _connection().cursor()
    if not isinstance(source, Path):
        cursor.register("frame", source.to_arrow())
        return cursor.execute(f"SELECT {what} FROM frame {rest}", dict(values))  # noqa: S608
    try:
        return cursor.execute(
            f"SELECT {what} FROM read_parquet($path) {rest}",  # noqa: S608 - our own words
            {"path": str(source).translate(_SPECIAL), **values},
        )
    except duckdb.IOException as error:
        if not source.exists():
            gone = FileNotFoundError(errno.ENOENT, "", str(source))
            raise unreadable(_folder_of(source), gone) from error
        raise DamagedRunError(
            f"{source} cannot be read: {_first(str(error))}",
            next_step="run the scenario again, or delete the folder",
        ) from error


def _folder_of(table: Path) -> Path:
    """The run folder of a table, which lies in it or in one of its own."""
    return table.parent.parent if table.parent.name == "intervals" else table.parent


def _first(message: str) -> str:
    return next(iter(message.splitlines()), "")


@functools.cache
def _connection() -> duckdb.DuckDBPyConnection:
    """A database in memory that holds nothing and fetches nothing."""
    import duckdb

    settings: dict[str, Any] = {
        "threads": 1,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    return duckdb.connect(":memory:", config=settings)


def names(columns: Sequence[str]) -> str:
    """Columns for a question, quoted."""
    return ", ".join(f'"{column}"' for column in columns)
