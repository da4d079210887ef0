"""Reading what a run folder holds while others may delete it, or keep the same run anew."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from homenode.errors import DamagedRunError
from homenode.simulate.kept.store import table_path

if TYPE_CHECKING:
    import polars as pl

NEXT = "run the scenario again, or delete the folder"


def scan_table(folder: Path, table: str) -> pl.LazyFrame:
    """A table of a run folder, read when it is collected. Brackets and stars in the folder's name
    are no pattern.
    """
    import polars as pl

    return pl.scan_parquet(table_path(folder, table), glob=False)


@contextlib.contextmanager
def reading(folder: Path) -> Iterator[None]:
    """What the system says of files of a run folder as a `DamagedRunError`."""
    try:
        yield
    except OSError as error:
        raise unreadable(folder, error) from error


def unreadable(folder: Path, error: OSError) -> DamagedRunError:
    """The folder is gone, a file of it is, or cannot be read."""
    if isinstance(error, FileNotFoundError):
        if not folder.is_dir():
            return DamagedRunError(
                f"{folder} is gone: it was deleted or renamed while it was read",
                next_step="`homenode runs` lists those that are there",
            )
        missing = f"{error.filename} is missing" if error.filename else f"{folder} lacks a file"
        return DamagedRunError(f"{missing}; {NEXT}")
    if isinstance(error, PermissionError):
        return DamagedRunError(
            f"{error.filename or folder} cannot be read: {error.strerror}",
            next_step="have its owner let you read it",
        )
    return DamagedRunError(f"{error.filename or folder} cannot be read ({error}); {NEXT}")
