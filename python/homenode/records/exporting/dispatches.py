"""The dispatches of a run in pieces of bounded size, with words for the engine's numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from homenode.simulate.kept.store import table_path

if TYPE_CHECKING:
    import polars as pl

    from homenode.records.exporting.options import ExportOptions
    from homenode.simulate.run import Run

TABLE = "dispatches"
DISTANCES = ("home", "near", "far")
"""From the virtual processor's home: its chip, another chip of the node, another node."""
KINDS = ("entitled", "excess")
"""Of which capacity the slice was."""
REASONS = (
    "cede",
    "slice end",
    "window end",
    "evicted",
    "preempted",
    "confer",
    "run end",
    "quantum",
    "reclaimed",
)
"""Why a slice ended: its threads had nothing to do; its entitled time was used; the dispatch window
was over; an entitled virtual processor of another partition needed the core; it had time to spare
and one that had none was waiting; it gave its time to a sibling; the run was over; it had held
excess capacity long enough; the dedicated owner took the core back.
"""
UNENDED = len(REASONS)
"""Stands where a reason would, of a dispatch that goes on: told to who looks on, never recorded."""


def were_recorded(run: Run) -> bool:
    """Whether the run wrote its dispatches down."""
    return table_path(run.path, TABLE).exists()


def groups(run: Run, options: ExportOptions) -> Iterator[pl.DataFrame]:
    """Dispatches of the replication and partition asked for, a row group at a time, in the order in
    which they ended. Partitions by index, times from the beginning of the measured time [ns].
    """
    import polars as pl
    import pyarrow.parquet as pq

    chosen = [run.partitions.index(name) for name in options.partitions(run)]
    with pq.ParquetFile(table_path(run.path, TABLE)) as source:
        for number in range(source.num_row_groups):
            rows = pl.DataFrame(source.read_row_group(number)).filter(
                (pl.col("replication") == (options.replication or 0))
                & pl.col("partition").is_in(chosen)
            )
            if len(rows):
                yield rows


def named(run: Run, options: ExportOptions) -> Iterator[pl.DataFrame]:
    """The same in words; nothing where none were recorded."""
    import polars as pl

    if not were_recorded(run):
        return
    words = {
        "partition": tuple(run.partitions),
        "distance": DISTANCES,
        "kind": KINDS,
        "reason": REASONS,
    }
    for rows in groups(run, options):
        yield rows.with_columns(
            pl.col(column).replace_strict(dict(enumerate(there)), return_dtype=pl.String)
            for column, there in words.items()
        )
