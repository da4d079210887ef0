"""From rows with a moment, a name and a use to series: what readers of tables share."""

from __future__ import annotations

import codecs
import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from homenode.errors import listed
from homenode.records.importing.facts import Facts, Quantity, Series
from homenode.records.importing.opening.contents import Input
from homenode.records.importing.opening.sources import ListingError, Notice

if TYPE_CHECKING:
    import polars as pl

    from homenode._engine import MetricReader, SampleReader

PIECE = 1 << 20
Moment = dt.datetime | None
_GAP = 1.5
"""Times the usual distance of samples, above which some are missing."""
_ALONE_S = 300.0
"""Length of a sample that stands alone [s]."""


@dataclass(frozen=True)
class Use:
    """Rows of use, of any number of partitions."""

    table: pl.DataFrame
    """Columns `name`, `time` (Datetime, microseconds), `cores`, `line`, and, where told, `seconds`
    and what else `Series.table` may have.
    """
    quantity: Quantity
    note: str = ""
    ahead_s: float | None = None
    """How far `time` is ahead of UTC [s]; None where the recording does not tell its time zone."""


def on_one_clock(moments: Sequence[Moment]) -> tuple[list[Moment], float | None]:
    """Moments as they were printed, without their zones, and how far these are ahead of UTC [s];
    in UTC where they tell different ones, as over a change to summer time.
    """
    ahead = {one.utcoffset() for one in moments if one is not None}
    if len(ahead) > 1 and None not in ahead:
        moments = [None if one is None else one.astimezone(dt.UTC) for one in moments]
        ahead = {dt.timedelta(0)}
    plain = [None if one is None else one.replace(tzinfo=None) for one in moments]
    offset = ahead.pop() if len(ahead) == 1 else None
    return plain, None if offset is None else offset.total_seconds()


@dataclass(frozen=True)
class Added:
    """What became of rows."""

    samples: int
    names: int
    dropped: int

    def __str__(self) -> str:
        """In words."""
        plural = "s" if self.names != 1 else ""
        return f"{self.samples} samples of {self.names} partition{plural}"


def add_use(facts: Facts, source: Input, system: str | None, use: Use) -> Added:
    """Add a series for each name; samples of one moment count once, the first of them."""
    import polars as pl

    sound = use.table.filter(pl.col("cores").is_finite() & (pl.col("cores") >= 0))
    samples, dropped, moved = 0, use.table.height - sound.height, 0
    if dropped:
        text = f"{dropped} samples use no amount that can be; they are left out"
        facts.notices.append(Notice(text, source.at()))
    ahead_s, kind = use.ahead_s, sound.schema["time"]
    if isinstance(kind, pl.Datetime) and kind.time_zone == "UTC":
        sound, ahead_s = sound.with_columns(pl.col("time").dt.replace_time_zone(None)), 0.0
    same = 0
    parts = sound.partition_by("name", as_dict=True, maintain_order=True)
    usual = _usual(parts.values())
    for (name,), rows in parts.items():
        if not rows["time"].is_sorted():
            moved += 1
        kept = rows.sort("time", maintain_order=True)
        kept = kept.unique("time", keep="first", maintain_order=True)
        same += rows.height - kept.height
        samples += kept.height
        if kept.height == 1 and usual is None and "seconds" not in kept.columns:
            text = f"{name} has one sample, whose length is not told: {_ALONE_S:g} s are assumed"
            facts.notices.append(Notice(text, source.at(int(kept["line"][0]))))
        table = _with_seconds(kept.drop("name"), usual or _ALONE_S)
        series = Series(str(name), system, use.quantity, table, source.file, use.note, ahead_s)
        facts.series.append(series)
        facts.partition(system, str(name))
    if moved:
        text = f"the clock goes back in the samples of {moved} names; they are put in order"
        facts.notices.append(Notice(text, source.at()))
    if same:
        text = f"{same} samples have the moment of another; the first counts"
        facts.notices.append(Notice(text, source.at()))
    return Added(samples, len(parts), dropped + same)


def fold(facts: Facts) -> None:
    """Folded virtual processors of series that tell those in use, once it is known how many there
    are.
    """
    import polars as pl

    for place, series in enumerate(facts.series):
        if "unfolded" in series.table.columns:
            known = facts.partitions.get((series.system, series.partition))
            table = series.table.drop("unfolded")
            if known is not None and known.virtual is not None:
                folded = (known.virtual.value - series.table["unfolded"]).cast(pl.Float64)
                table = table.with_columns(folded.alias("folded"))
            facts.series[place] = replace(series, table=table)


def _usual(parts: Iterable[pl.DataFrame]) -> float | None:
    """How far samples of one name are apart [s], the least of all names; none if each has one."""
    import polars as pl

    apart = (part.select(pl.col("time").unique().sort().diff().median()).item() for part in parts)
    return min((one.total_seconds() for one in apart if one is not None), default=None)


def _with_seconds(table: pl.DataFrame, alone: float) -> pl.DataFrame:
    """With the length of every sample: from the one before it, or the usual one after a gap; of a
    single one, `alone`.
    """
    import polars as pl

    if "seconds" in table.columns:
        return table
    apart = table["time"].diff().dt.total_microseconds() / 1e6
    median = apart.median()
    usual = float(median) if isinstance(median, (int, float)) else alone
    length = (
        pl.when(apart.is_not_null() & (apart <= _GAP * usual)).then(apart).otherwise(pl.lit(usual))
    )
    return table.with_columns(length.cast(pl.Float64).alias("seconds"))


def read_pieces(
    source: Input, reader: SampleReader | MetricReader
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """What a reader of the engine makes of a file: batches, the last of them with what it tells of
    the whole.
    """
    batches = [reader.feed(piece) for piece in _pieces(source)]
    rest = reader.finish()
    return [*batches, rest], rest


def _pieces(source: Input) -> Iterator[bytes]:
    """The file piece by piece, without a byte order mark, and in UTF-8 if it was in UTF-16."""
    wide = source.head.startswith((b"\xff\xfe", b"\xfe\xff"))
    decoder = codecs.getincrementaldecoder("utf-16")("replace") if wide else None
    first = True
    with source.open() as stream:
        while piece := stream.read(PIECE):
            if decoder is not None:
                piece = decoder.decode(piece).encode()
            yield piece.removeprefix(codecs.BOM_UTF8) if first else piece
            first = False


def column(batches: Iterable[Mapping[str, Any]], name: str, kind: str) -> Any:
    """A column of all batches, as an array; `kind` is that of its numbers."""
    import numpy as np

    return np.frombuffer(b"".join(batch[name] for batch in batches), dtype=kind)


def numbers(batches: Iterable[Mapping[str, Any]], place: int) -> Any:
    """A column of numbers of all batches of a `SampleReader`."""
    import numpy as np

    return np.frombuffer(b"".join(batch["numbers"][place] for batch in batches), dtype="<f8")


def remark_all(facts: Facts, source: Input, remarks: Iterable[tuple[int, str]]) -> None:
    """Notices of what a reader of the engine remarks."""
    facts.notices.extend(Notice(text, source.at(line)) for line, text in remarks)


def nothing_sound(source: Input, what: str, rest: Mapping[str, Any]) -> ListingError:
    """The error for a file of which nothing is left."""
    said = [f"line {line}: {text}" for line, text in rest["remarks"]]
    return ListingError(
        f"it holds no sound {what}",
        there=listed(said, 3) if said else None,
        where=source.at(),
    )
