"""What a recording of one partition is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from homenode.model.spec import AixSpec, aix_of
from homenode.simulate.kept.totals import NS_PER_S
from homenode.tools import Sample, SystemConfiguration

if TYPE_CHECKING:
    from homenode.records.exporting.frames import Frames
    from homenode.simulate.run import Run

_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")


@dataclass(frozen=True)
class Section:
    """One section: its name, what stands behind it in the heading, and how a row is made."""

    name: str
    heading: str
    row: Callable[[Sample], str]


@dataclass(frozen=True)
class Recording:
    """The samples of one partition."""

    frames: Frames
    partition: str
    interval_ns: int
    begins: datetime
    samples: list[Sample]

    @cached_property
    def told(self) -> SystemConfiguration:
        """What the partition knows of itself."""
        return self.frames.configurations[self.partition]

    @property
    def run(self) -> Run:
        """The kept run whose samples they are."""
        return self.frames.run

    @cached_property
    def guest(self) -> AixSpec:
        """AIX with its tunables, as the frozen scenario has it; no other system has such tools."""
        found = aix_of(self.run.partition_spec(self.partition))
        if found is None:
            raise AssertionError("a recording of another system is refused before")
        return found

    @property
    def host(self) -> str:
        """Its host name."""
        return self.told.node_name or self.partition

    @property
    def seconds(self) -> int:
        """Length of a sample."""
        return self.interval_ns // NS_PER_S


def date_of(moment: datetime) -> str:
    """`10-FEB-2016`, in any locale."""
    return f"{moment.day:02d}-{_MONTHS[moment.month - 1]}-{moment.year}"
