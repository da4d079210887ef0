"""The table of demand beside a scenario, and the rates that a run of it is played with."""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from homenode.records.importing.assemble.plan import Planned
from homenode.records.importing.assemble.windows import Windows

if TYPE_CHECKING:
    import polars as pl


def demand_table(
    planned: Sequence[Planned], windows: Windows, rates: Mapping[str, Sequence[float]]
) -> pl.DataFrame:
    """A row a window and partition: `partition`, `step`, `time` (end of the window), `seconds`
    (recorded), `cores` (as recorded), `folded`, `instructions_per_s` (the work), `quantity` (what
    the cores are, as `Series` says).
    """
    import polars as pl

    ends = [windows.begin + dt.timedelta(seconds=end) for end in windows.ends]
    parts = []
    for one in planned:
        if one.recorded is None:
            continue
        told = windows.partitions[one.recorded.partition]
        part = {
            "step": list(range(windows.count)),
            "time": ends,
            "seconds": list(windows.seconds),
            "cores": [window.cores for window in told],
            "folded": [window.folded for window in told],
            "instructions_per_s": list(rates[one.name]),
        }
        schema: dict[str, pl.DataType | type[pl.DataType]] = {
            "step": pl.Int64,
            "time": pl.Datetime("us"),
            "seconds": pl.Float64,
            "cores": pl.Float64,
            "folded": pl.Float64,
            "instructions_per_s": pl.Float64,
        }
        frame = pl.DataFrame(part, schema=schema)
        name = pl.lit(one.name).alias("partition")
        quantity = pl.lit(one.recorded.quantity).alias("quantity")
        parts.append(frame.select(name, pl.all(), quantity))
    return pl.concat(parts)


def packed(table: pl.DataFrame) -> bytes:
    """The table as Parquet: the same bytes for the same table."""
    buffer = io.BytesIO()
    table.write_parquet(buffer, compression="zstd", statistics=False)
    return buffer.getvalue()
