"""Tables of samples as text: Bitbrains, PlanetLab, and `timestamp,name,cpu`.

Bitbrains: the GWA-T-12 traces of a hosting centre, a file a virtual machine, every five minutes.
PlanetLab: the traces that CloudSim uses, a file a virtual machine, a percentage every five minutes.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from homenode._engine import SampleReader
from homenode.records.importing.facts import Facts, Quantity, Told, Took
from homenode.records.importing.opening.contents import Input
from homenode.records.importing.opening.sources import Notice, head_text
from homenode.records.importing.shared.forms import FileFormat
from homenode.records.importing.shared.heading import Heading, find_heading
from homenode.records.importing.shared.samples import (
    Use,
    add_use,
    column,
    fold,
    nothing_sound,
    numbers,
    read_pieces,
    remark_all,
)

if TYPE_CHECKING:
    import polars as pl

_BITBRAINS = re.compile(
    r'\s*"?timestamp \[m?s\]"?\s*;\s*"?cpu cores"?\s*;\s*"?cpu capacity provisioned', re.IGNORECASE
)
_PERCENTAGE = re.compile(r"(?:100|[0-9]{1,2})")
_FEWEST_PERCENTAGES = 12
_PLANETLAB_S = 300
_KIB = 1024


class Bitbrains:
    """A file of the Bitbrains traces: one virtual machine."""

    name = "Bitbrains CSV"

    def recognises(self, head: bytes, name: str) -> bool:  # noqa: ARG002 - the heading tells
        """See `FileFormat`."""
        return _BITBRAINS.match(head_text(head)) is not None

    def read(self, source: Input, facts: Facts) -> None:
        """Use in MHz of what it was provisioned with; its name is that of the file."""
        import polars as pl

        columns = len(head_text(source.head).splitlines()[0].split(";"))
        reader = _reader(";", columns, 1, [1, 2, 3, 5, 6], 3, time=0)
        batches, rest = read_pieces(source, reader)
        count, provisioned, used, size, memory = (numbers(batches, place) for place in range(5))
        table = pl.DataFrame(
            {
                "time": column(batches, "time_us", "<i8"),
                "line": column(batches, "line", "<u8").astype("i8"),
                "count": count,
                "provisioned": provisioned,
                "cores": used,
                "size": size * _KIB,
                "memory": memory * _KIB,
            }
        )
        # While it is switched off nothing is provisioned.
        table = table.with_columns(
            pl.col("time").cast(pl.Datetime("us")),
            pl.when(pl.col("provisioned") > 0)
            .then(pl.col("cores") * pl.col("count") / pl.col("provisioned"))
            .otherwise(0.0)
            .alias("cores"),
        )
        if table.is_empty():
            raise nothing_sound(source, "sample", rest)
        name = PurePosixPath(source.name).stem
        self._tell(source, facts, name, table)
        note = "MHz used, by MHz provisioned for each processor"
        kept = table.select(pl.lit(name).alias("name"), "time", "cores", "line", "memory")
        ahead_s = zone_of(facts, source, table.height, rest["zoned"])
        added = add_use(facts, source, None, Use(kept, "used", note, ahead_s))
        remark_all(facts, source, rest["remarks"])
        facts.took.append(Took(source.file, self.name, str(added), rest["dropped"] + added.dropped))

    def _tell(self, source: Input, facts: Facts, name: str, table: pl.DataFrame) -> None:
        last = table.filter(table["provisioned"] > 0).tail(1).to_dicts()
        if not last:
            text = f"nothing was ever provisioned for {name}"
            facts.notices.append(Notice(text, source.at()))
            return
        partition, where = facts.partition(None, name), source.at(last[0]["line"])
        facts.tell(partition, "virtual", Told(round(last[0]["count"]), where))
        facts.tell(partition, "hypervisor", Told("virtual machine", where))
        if last[0]["size"] > 0:
            facts.tell(partition, "memory_bytes", Told(round(last[0]["size"]), where))
        if table["count"].n_unique() > 1:
            text = f"the processors of {name} change; the last, {last[0]['count']:g}, count"
            facts.notices.append(Notice(text, where))


class PlanetLab:
    """A file of the PlanetLab traces: a column of percentages."""

    name = "PlanetLab"

    def recognises(self, head: bytes, name: str) -> bool:
        """See `FileFormat`; files of the traces have no suffix, or `.txt`."""
        text = head_text(head)
        lines = text.split()[: 1 << 12]
        suffix = PurePosixPath(name).suffix
        return (
            len(lines) >= _FEWEST_PERCENTAGES
            and suffix not in (".csv", ".json")
            and len(text.strip().splitlines()) >= len(lines)
            and all(_PERCENTAGE.fullmatch(line) for line in lines)
        )

    def read(self, source: Input, facts: Facts) -> None:
        """Percent of one processor every five minutes; when they were taken is not told."""
        import polars as pl

        batches, rest = read_pieces(source, _reader(",", 1, 0, [0], 1))
        share = numbers(batches, 0)
        name = PurePosixPath(source.name).name.removesuffix(".txt")
        table = pl.DataFrame({"cores": share / 100, "line": column(batches, "line", "<u8")})
        sound = table.filter(table["cores"] <= 1)
        over = table.height - sound.height
        if sound.is_empty():
            raise nothing_sound(source, "percentage", rest)
        moment = pl.int_range(1, pl.len() + 1, dtype=pl.Int64) * _PLANETLAB_S * 1_000_000
        kept = sound.select(
            pl.lit(name).alias("name"),
            moment.cast(pl.Datetime("us")).alias("time"),
            pl.lit(float(_PLANETLAB_S)).alias("seconds"),
            "cores",
            pl.col("line").cast(pl.Int64),
        )
        partition = facts.partition(None, name)
        facts.tell(partition, "virtual", Told(1, source.at(1)))
        facts.tell(partition, "hypervisor", Told("virtual machine", source.at(1)))
        text = "the file tells no time: samples of 5 min from 1970 on; of one processor"
        facts.notices.append(Notice(text, source.at()))
        remark_all(facts, source, rest["remarks"])
        added = add_use(facts, source, None, Use(kept, "used", "percent of one processor"))
        facts.took.append(Took(source.file, self.name, str(added), rest["dropped"] + over))


class Plain:
    """A table with a heading: a moment, a use, and a name if it is of several partitions."""

    name = "CSV of samples"

    def recognises(self, head: bytes, name: str) -> bool:  # noqa: ARG002 - the heading tells
        """See `FileFormat`."""
        text = head_text(head)
        return not _BITBRAINS.match(text) and find_heading(text) is not None

    def read(self, source: Input, facts: Facts) -> None:
        """Cores in use, or percent of the processors there are."""
        heading = find_heading(head_text(source.head))
        if heading is None:
            raise nothing_sound(source, "heading", {"remarks": []})
        reader = _reader(
            heading.delimiter,
            len(heading.columns),
            heading.line,
            [heading.use, *heading.optional.values()],
            1,
            time=heading.time,
            name=heading.name,
        )
        batches, rest = read_pieces(source, reader)
        names = rest["names"] if heading.name is not None else [PurePosixPath(source.name).stem]
        table = frame_of(heading, batches, names)
        if table.is_empty():
            raise nothing_sound(source, "sample", rest)
        remark_all(facts, source, rest["remarks"])
        ahead_s = zone_of(facts, source, table.height, rest["zoned"])
        what = add_plain(facts, source, heading, table, rest["dropped"], ahead_s)
        facts.took.append(Took(source.file, self.name, what[0], what[1]))


def frame_of(heading: Heading, batches: list[dict[str, Any]], names: list[str]) -> pl.DataFrame:
    """Rows of a `SampleReader` as a table with the columns of `Use`, use as it is printed."""
    import polars as pl

    data = {
        "time": column(batches, "time_us", "<i8"),
        "line": column(batches, "line", "<u8").astype("i8"),
        "cores": numbers(batches, 0),
    }
    for place, one in enumerate(heading.optional, start=1):
        data[one] = numbers(batches, place)
    table = pl.DataFrame(data).with_columns(pl.col("time").cast(pl.Datetime("us")))
    index = column(batches, "name", "<u4")
    name = (
        pl.Series("name", names, dtype=pl.String).gather(index) if names else pl.Series("name", [])
    )
    return table.with_columns(name.alias("name"))


def zone_of(facts: Facts, source: Input, rows: int, zoned: int) -> float | None:
    """How far times that a `SampleReader` read are ahead of UTC [s]; None if none tells."""
    if 0 < zoned < rows:
        text = f"{zoned:,} of {rows:,} times tell their time zone; the others are taken for UTC"
        facts.notices.append(Notice(text, source.at()))
    return 0.0 if zoned else None


def add_plain(
    facts: Facts,
    source: Input,
    heading: Heading,
    table: pl.DataFrame,
    dropped: int,
    ahead_s: float | None = None,
) -> tuple[str, int]:
    """Add the rows of a plain table, whose times are so far ahead of UTC [s], if that is told;
    what was taken in words, and what was dropped in all.
    """
    import polars as pl

    written = heading.columns[heading.use]
    note = f"column {written}, taken as cores"
    if heading.is_share:
        of = pl.col("count").fill_nan(1.0) if heading.count is not None else pl.lit(1.0)
        table = table.with_columns((pl.col("cores") / 100 * of).alias("cores"))
        whole = "all its processors" if heading.count is not None else "one processor"
        note = f"column {written}, percent of {whole}"
    if heading.is_share or written.strip().lower() == "cpu":
        facts.notices.append(Notice(note, source.at(heading.line)))
    if heading.count is not None:
        counts = table.group_by("name", maintain_order=True).agg(
            pl.col("count").last(), pl.col("line").last()
        )
        for name, count, line in counts.iter_rows():
            if count == count and count >= 1:
                where = source.at(line or heading.line)
                facts.tell(facts.partition(None, name), "virtual", Told(round(count), where))
        table = table.drop("count")
    quantity: Quantity = "physc" if written.strip().lower() == "physc" else "used"
    if heading.seconds is not None and not (table["seconds"] > 0).all():
        table = table.drop("seconds")
    added = add_use(facts, source, None, Use(table, quantity, note, ahead_s))
    if heading.unfolded is not None:
        facts.afterwards.append(lambda: fold(facts))
    return str(added), dropped + added.dropped


def _reader(
    delimiter: str,
    columns: int,
    heading: int,
    places: list[int],
    needed: int,
    *,
    time: int | None = None,
    name: int | None = None,
) -> Any:
    return SampleReader(
        delimiter=ord(delimiter),
        columns=columns,
        heading=heading,
        numbers=places,
        needed=needed,
        time=time,
        name=name,
        comma=delimiter == ";",
    )


FORMATS: tuple[FileFormat, ...] = (Bitbrains(), PlanetLab(), Plain())
