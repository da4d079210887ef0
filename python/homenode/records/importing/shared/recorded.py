"""What the readers of nmon and njmon share: chunks of a file into tables, and the times of samples.

The compiled reader hands over columns of doubles by section; memory does not grow with the file as
long as the tables that are kept do not.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, Protocol

from homenode import _engine
from homenode.errors import Where
from homenode.records.importing.facts import Facts, PartitionFacts, Told, Took
from homenode.records.importing.opening.contents import Input
from homenode.records.importing.opening.sources import Notice
from homenode.records.importing.shared.words import counted, unread

if TYPE_CHECKING:
    import polars as pl

CHUNK = 1 << 20
CLOCK = "ZZZZ"
"""The table that holds the time of each snapshot [s since 1970 by the recorded clock]."""
_LATE = 1.5
"""Times the interval, beyond which a sample is not as long as the time since the one before."""

Batch = dict[str, Any]
"""See `RecordingReader` in `_engine.pyi`."""
Form = Literal["nmon", "njmon"]


@dataclass
class Recorded:
    """A file that was read to its end."""

    summary: dict[str, Any] = field(default_factory=dict)
    """`found`, `dropped`, `remarks`."""
    batches: dict[tuple[int, str], list[Batch]] = field(default_factory=dict)
    """By number of the recording and name of the table."""

    def table(self, recording: int, name: str) -> pl.DataFrame | None:
        """The rows of a table under its first heading and those that only repeat it, with the
        columns `snapshot` and `line`; nothing if there are none.
        """
        import polars as pl

        frames = [frame(batch) for batch in self.batches.get((recording, name), [])]
        return pl.concat(frames, how="diagonal_relaxed") if frames else None

    def tell(self, facts: Facts, source: Input) -> None:
        """Add the remarks as notices."""
        for remark in self.summary["remarks"]:
            facts.notices.append(Notice(remark["text"], source.at(remark["line"])))


def stream(source: Input, form: Form, wanted: Sequence[str] | None) -> Iterator[Batch | str]:
    """Batches as they come, and last the summary (JSON); `ListingError` if nothing was sound."""
    reader = _engine.RecordingReader(form, None if wanted is None else set(wanted))
    try:
        with source.open() as file:
            while chunk := file.read(CHUNK):
                yield from reader.feed(chunk)
        last, summary = reader.finish()
    except _engine.CaptureError as fault:
        raise unread(fault, source.at) from fault
    yield from last
    yield summary


def read(source: Input, form: Form, wanted: Sequence[str]) -> Recorded:
    """The wanted tables and all else the file says."""
    found = Recorded()
    for piece in stream(source, form, wanted):
        if isinstance(piece, str):
            found.summary = json.loads(piece)
        else:
            key = (piece["recording"], piece["table"])
            found.batches.setdefault(key, []).append(piece)
    return found


class Reader(Protocol):
    """What makes facts of one recording of a file."""

    def tell(self) -> None:
        """Add what it says of the partition and its server."""
        ...

    def series(self) -> tuple[str, int]:
        """Add its samples; what they are in words, and how many were left out."""
        ...


def read_recording(
    source: Input,
    facts: Facts,
    form: Form,
    wanted: Sequence[str],
    parts: str,
    reader: Callable[[Input, Facts, Recorded, int, dict[str, Any]], Reader],
) -> None:
    """Read a file and all its recordings, which its summary lists under `parts`."""
    found = read(source, form, wanted)
    found.tell(facts, source)
    whats, dropped = [], int(found.summary["dropped"])
    for index, part in enumerate(found.summary["found"][parts]):
        one = reader(source, facts, found, index, part)
        one.tell()
        what, left = one.series()
        whats.append(what)
        dropped += left
    facts.took.append(Took(source.file, form, _together(whats), dropped))


def _together(whats: list[str]) -> str:
    """Each thing once, in the order of the file, with how often it is there."""
    counts = Counter(whats)
    said = (what if count == 1 else f"{count} times {what}" for what, count in counts.items())
    return "; ".join(said) or "nothing about a partition"


def frame(batch: Batch) -> pl.DataFrame:
    """A batch as a table; what was not written is null."""
    import numpy as np
    import polars as pl

    columns = {
        "snapshot": np.frombuffer(batch["snapshots"], "<i8"),
        "line": np.frombuffer(batch["lines"], "<i8"),
    }
    if batch["processors"] is not None:
        columns["cpu"] = np.frombuffer(batch["processors"], "<i8")
    numbers = distinct(columns, [name for name, _ in batch["columns"]])
    for name, (_, packed) in zip(numbers, batch["columns"], strict=True):
        columns[name] = np.frombuffer(packed, "<f8")
    table = pl.DataFrame(columns)
    if batch["words"]:
        names = distinct(columns, [name for name, *_ in batch["words"]])
        packed_words = zip(names, batch["words"], strict=True)
        table = table.with_columns(
            _words(name, text, ends, batch["rows"]) for name, (_, text, ends) in packed_words
        )
    return table.with_columns(pl.col(*numbers).fill_nan(None)) if numbers else table


def distinct(taken: Iterable[str], names: Sequence[str]) -> list[str]:
    """The names, numbered where one is there already."""
    seen, found = set(taken), []
    for name in names:
        plain, number = name or "unnamed", 1
        free = plain
        while free in seen:
            number += 1
            free = f"{plain} {number}"
        seen.add(free)
        found.append(free)
    return found


def _words(name: str, text: bytes, ends: bytes, rows: int) -> pl.Series:
    import polars as pl
    import pyarrow as pa

    buffers = [None, pa.py_buffer(ends), pa.py_buffer(text)]
    return pl.Series(name, pa.Array.from_buffers(pa.large_string(), rows, buffers))


@dataclass
class Clock:
    """Times of a recording's samples."""

    table: pl.DataFrame
    """`snapshot`, `time` (end, Datetime), `seconds` (length)."""
    interval: float | None
    """Usual length [s]."""


def clock_of(
    times: pl.DataFrame,
    interval: float | None,
    begun: float | None,
    notices: list[Notice],
    source: Input,
) -> Clock | None:
    """When samples ended and how long they are; nothing if that cannot be told.

    A sample is as long as the time since the one before it, unless a snapshot is missing or the
    clock was set: then it is one interval long. After a clock that goes back, samples follow each
    other as they were counted.
    """
    import polars as pl

    moments = [float(time) for time in times["time"]]
    lines = times["line"].to_list()
    if interval is None:
        interval = _usual(moments)
    if interval is None:
        return None
    ends, lengths, shift = [], [], 0.0
    late: list[Where] = []
    before = begun
    for index, moment in enumerate(moments):
        length = interval if before is None else moment + shift - before
        if length <= 0 and index:
            where = source.at(int(lines[index]))
            text = f"the clock goes back by {interval - length:g} s here; samples follow each other"
            notices.append(Notice(f"{text} as they were counted", where))
            shift += interval - length
            length = interval
        elif not 0 < length <= _LATE * interval:
            late += [source.at(int(lines[index]))] if index else []
            length = interval
        before = moment + shift
        ends.append(round(before * 1e6))
        lengths.append(length)
    if late:
        apart = f"more than {_LATE:g} intervals of {interval:g} s after the one before"
        text = f"from here on {counted(len(late), 'sample')} came {apart}"
        notices.append(Notice(f"{text}; such a sample counts as one interval", late[0]))
    table = pl.DataFrame(
        {
            "snapshot": times["snapshot"],
            "time": pl.Series(ends, dtype=pl.Int64).cast(pl.Datetime("us")),
            "seconds": pl.Series(lengths, dtype=pl.Float64),
        }
    )
    return Clock(table, interval)


def _usual(moments: Sequence[float]) -> float | None:
    apart = sorted(b - a for a, b in pairwise(moments) if b > a)
    return apart[len(apart) // 2] if apart else None


def timed(clock: Clock, use: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """Rows of `snapshot`, `line`, `cores` and more with their times, in order of time; and how many
    were left out: without a time, with that of another row, or without cores.
    """
    import polars as pl

    sound = use.filter(pl.col("cores").is_finite() & (pl.col("cores") >= 0))
    single = sound.filter(pl.len().over("snapshot") == 1)
    joined = single.join(clock.table, on="snapshot", how="inner").sort("time")
    first = ["time", "seconds", "cores", "line"]
    rest = [name for name in joined.columns if name not in (*first, "snapshot")]
    return joined.select(*first, *rest), use.height - joined.height


def tell_threads(facts: Facts, of: PartitionFacts, where: Where) -> None:
    """Threads a core, where a partition's logical processors are told and its virtual ones."""
    if of.smt is None and of.logical is not None and of.virtual is not None:
        threads, rest = divmod(of.logical.value, max(of.virtual.value, 1))
        if threads and not rest:
            facts.tell(of, "smt", Told(threads, where))
