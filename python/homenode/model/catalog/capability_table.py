"""Tables of capacity adjustment factors. A table is one TOML file: a shipped one, in
`data/capability_tables`, or one's own by its path. Documented in docs/guides/partition-table.md.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field

from homenode.errors import CapabilityError, HomenodeError, NotFoundError, hint, listed
from homenode.model.catalog.capability_factors import STEPS, read_sysinfo
from homenode.model.catalog.figure import CatalogName
from homenode.model.document import (
    Document,
    Problems,
    Table,
    read_document,
    shipped_document,
    validate,
)
from homenode.model.document.read import read_text
from homenode.model.shipped import shipped_names

MOST_PROCESSORS = 4096
_PRINTED = 3
"""Decimals with which factors are published."""
_EXACT = 5
"""Decimals that tell two steps of 1/65536 apart."""


@dataclass(frozen=True)
class Factor:
    """What each of n processors of a partition brings, as a share of one that is alone."""

    processors: int
    value: float
    interpolated: bool = False
    """Whether the table has no such point and the value lies on the line between its neighbours."""
    predicted: bool = False
    """Whether it, or how far it lies from the table's last point, is predicted from topology."""

    @property
    def capability(self) -> float:
        """What all of them bring together [processors that are alone]."""
        return self.processors * self.value


@dataclass(frozen=True)
class CapabilityTable:
    """Factors of one machine by the number of processors of a partition."""

    name: str
    title: str
    source: str
    factors: Mapping[int, float]
    """In rising order, from one processor on, whose factor is 1."""
    machine: str | None = None
    """Name of the description of the machine it holds for, if there is one."""
    predicted: bool = False
    """Whether the factors are predicted from the machine's topology and published nowhere."""
    beyond: Callable[[int], Factor] | None = None
    """What is said of more processors than the last point has, if it is asked for."""

    @property
    def largest(self) -> int:
        """Processors of the largest partition it has a factor for."""
        return max(self.factors)

    @property
    def decimals(self) -> int:
        """Decimals that a factor needs to be printed as it was given, or as sure as it is."""
        short = self.predicted or all(
            round(value, _PRINTED) == value for value in self.factors.values()
        )
        return _PRINTED if short else _EXACT

    def factor(self, processors: int, *, interpolate: bool = False) -> Factor:
        """The factor of a partition of so many processors.

        A point that the table does not have is refused, unless `interpolate` asks for the straight
        line between its neighbours, or for what is said `beyond` the last point, if anything is.
        """
        if processors < 1:
            raise HomenodeError(
                f"a partition of {processors} processors has no capability",
                next_step="ask for 1 processor or more",
            )
        if processors in self.factors:
            return Factor(processors, self.factors[processors], predicted=self.predicted)
        points = list(self.factors)
        place = bisect.bisect(points, processors)
        lacking = f"table {self.name} has no factor for {processors} processors"
        if place == len(points) and interpolate and self.beyond is not None:
            return self.beyond(processors)
        if place == len(points):
            # A machine that is described says what comes beyond, where that is asked for.
            more = self.machine is not None and not interpolate
            raise NotFoundError(
                lacking,
                there=f"its last point is {self.largest}",
                next_step=f"ask for {self.largest} or fewer"
                + (", or for a prediction beyond it with --interpolate" if more else ""),
            )
        below, above = points[place - 1], points[place]
        if not interpolate:
            raise NotFoundError(
                lacking,
                there=f"the nearest points are {below} and {above}",
                next_step="name one of them, or ask for the line between them with --interpolate",
            )
        share = (processors - below) / (above - below)
        low, high = self.factors[below], self.factors[above]
        return Factor(processors, low + share * (high - low), interpolated=True)

    def capability(self, processors: int, *, interpolate: bool = False) -> float:
        """`n x c(n)` [processors that are alone]; refuses what `factor` refuses."""
        return self.factor(processors, interpolate=interpolate).capability


class _Point(Table):
    """A factor as the file has it."""

    processors: Annotated[int, Field(ge=1, le=MOST_PROCESSORS)] = Field(
        description="processors of the partition"
    )
    factor: Annotated[float, Field(gt=0)] = Field(
        description="what each of them brings, in steps of 1/scale"
    )


class _TableFile(Table):
    """A file with factors."""

    name: CatalogName = Field(description="name of the table")
    title: Annotated[str, Field(min_length=3)] = Field(description="machine it holds for")
    source: Annotated[str, Field(min_length=3)] = Field(description="document that publishes it")
    machine: CatalogName | None = Field(
        None, description="name of the description of the machine it holds for"
    )
    scale: Annotated[int, Field(ge=1, le=STEPS)] = Field(
        1, description="what a factor of 1 is written as: 1, or 65536 as the machine tells it"
    )
    point: Annotated[list[_Point], Field(min_length=1)] = Field(description="the factors")


def capability_tables() -> list[str]:
    """Names of the shipped tables."""
    return shipped_names("capability_tables")


def capability_table(name_or_path: str | Path) -> CapabilityTable:
    """A shipped table by name; a table of one's own (a file ending in `.toml`); or the factors in
    the text of a /proc/sysinfo (any other file: a name with `/` or `.` in it).
    """
    path = Path(name_or_path)
    if isinstance(name_or_path, str) and not {"/", "."} & set(name_or_path):
        return _table(_shipped(name_or_path))
    if path.suffix == ".toml":
        return _table(read_document(path, CapabilityError))
    title, factors = read_sysinfo(read_text(path, CapabilityError), str(path))
    return CapabilityTable(path.name, title, f"{path}, lines Adjustment", factors)


def _shipped(name: str) -> Document:
    names = capability_tables()
    if name not in names:
        raise NotFoundError(
            f"no table of capability factors is called {name}{hint(name, names)}",
            there=f"there are {listed(names)}",
            next_step="for one of your own name a file, such as mine.toml",
        )
    return shipped_document("capability_tables", name, CapabilityError)


def _table(document: Document) -> CapabilityTable:
    """The table a document holds, its factors as shares."""
    read = validate(_TableFile, document, CapabilityError)
    problems = Problems(document, CapabilityError)
    factors: dict[int, float] = {1: 1.0}
    for index, point in enumerate(read.point):
        path = ("point", index)
        if point.factor > read.scale or (point.processors == 1 and point.factor != read.scale):
            problems.add(
                (*path, "factor"),
                there=f"one processor alone is {read.scale}, no factor is above it",
                next_step="correct the factor, or state the scale",
            )
        if point.processors in factors and point.processors != 1:
            problems.add(
                (*path, "processors"),
                there="this number of processors stands there twice",
                next_step="leave one out",
            )
        factors[point.processors] = point.factor / read.scale
    problems.raise_any()
    ordered = dict(sorted(factors.items()))
    return CapabilityTable(read.name, read.title, read.source, ordered, read.machine)
