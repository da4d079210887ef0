"""What z/VM's Control Program (CP) costs: path lengths, locks, dispatching, paging; every number
with its provenance.

The numbers of the shipped file are taken wherever a scenario does not replace them.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import Field

from homenode.errors import MachineError
from homenode.model.catalog.figure import CatalogName, Figure
from homenode.model.document import Document, Quantity, Table, shipped_document, validate
from homenode.model.units import SHARE, SIZE, TIME

Instructions = Annotated[float, Field(ge=0, le=1e9)]
Times = Annotated[float, Field(ge=0, le=1e6)]
Interval = Annotated[int, Quantity(TIME, "1 ms", "1 h")]
Slice = Annotated[int, Quantity(TIME, "100 us", "1 s")]
DeviceTime = Annotated[int, Quantity(TIME, "0 ns", "1 s")]
Waiting = Annotated[float, Field(ge=0, le=1000)]
Frame = Annotated[int, Quantity(SIZE, "64 B", "64 KiB")]
Pages = Annotated[int, Field(ge=1, le=1024)]
Share = Annotated[float, Quantity(SHARE, "0 %", "100 %")]
Cache = Annotated[int, Quantity(SIZE, "1 MiB", "64 TiB")]
Staged = Annotated[float, Field(ge=1, le=10_000)]
Disks = Annotated[int, Field(ge=1, le=65_535)]


class Dispatcher(Table):
    """When CP looks again, and when a processor takes another's work."""

    park_interval: Figure[Interval] = Field(description="time between decisions to park or unpark")
    minor_slice: Figure[Slice] = Field(
        description="time after which a virtual processor is looked at again"
    )
    steal_local: Figure[Waiting] = Field(
        description="virtual processors that wait before a processor of the same chip takes one"
    )
    steal_near: Figure[Waiting] = Field(description="the same for one of the same drawer")
    steal_far: Figure[Waiting] = Field(description="the same for one of another drawer")


class Paths(Table):
    """Path lengths [instructions]."""

    dispatch: Figure[Instructions] = Field(
        description="putting a virtual processor on a logical one and taking it off again"
    )
    scan: Figure[Instructions] = Field(description="looking at one dispatch vector for work")
    interruption: Figure[Instructions] = Field(
        description="intercept, interruption and return, once for all that arrived together"
    )
    frame: Figure[Instructions] = Field(description="one frame through a virtual switch")
    searches: Figure[Times] = Field(description="searches of a layer-3 switch's list for one frame")
    element: Figure[Instructions] = Field(
        description="one control block passed in a search, found in the own caches"
    )
    page_io: Figure[Instructions] = Field(
        description="one paging read or write, from the fault to its end"
    )
    page: Figure[Instructions] = Field(description="one page brought in or stolen")
    signal: Figure[Instructions] = Field(
        description="signal to the idle processor that takes what became ready"
    )
    master: Figure[Share] = Field(
        description="share of paging I/Os that begin on the master processor; no path length"
    )


class Locks(Table):
    """Formal spin locks."""

    dispatch: Figure[Times] = Field(
        description="times that the scheduler's lock is taken shared and a vector's, a dispatch"
    )
    ready: Figure[Times] = Field(
        description="times that the scheduler's lock is taken exclusive for one made ready"
    )
    frame: Figure[Times] = Field(description="times that a switch's lock is taken for one frame")
    page: Figure[Times] = Field(
        description="times that the lock of pages is taken for a page that comes in"
    )
    asked: Figure[Times] = Field(
        description="lines of each other unparked processor, fetched when a page loses its frame"
    )
    search: Figure[Times] = Field(
        description="searches of a layer-3 switch's list under one take of its lock"
    )
    hold: Figure[Instructions] = Field(
        description="instructions for which a lock is held at a time"
    )
    lines: Figure[Times] = Field(
        description="lines that come with a lock to its new holder, its own included"
    )
    look: Figure[Times] = Field(
        description="instructions of a look at a lock's line while spinning"
    )
    delay: Figure[Annotated[float, Field(gt=0, le=1e6)]] = Field(
        description="cycles until the next look where the line does not change"
    )


class PagingFigures(Table):
    """How pages leave and come back, and what an I/O takes."""

    block_pages: Figure[Pages] = Field(
        description="pages of a block, which leave together and come back together"
    )
    changed: Figure[Share] = Field(
        description="share of stolen pages that were changed, so that they must be written"
    )
    guest_frames: Figure[Share] = Field(
        description="share of central memory that holds guest pages"
    )
    pend: Figure[DeviceTime] = Field(
        description="time until a channel program starts at the volume"
    )
    connect: Figure[DeviceTime] = Field(
        description="connect time of an I/O in transport mode, pages apart"
    )
    command_page: Figure[DeviceTime] = Field(
        description="more connect time for each page in command mode"
    )
    page: Figure[DeviceTime] = Field(description="connect time of a page")
    exchange: Figure[DeviceTime] = Field(
        description="time of a channel for an exchange in transport mode"
    )
    link_page: Figure[DeviceTime] = Field(
        description="time in which a page crosses a channel's link, one way, in transport mode"
    )


class Storage(Table):
    """The storage server: a read cache before its disks."""

    cache: Figure[Cache] = Field(description="paged data that its read cache holds")
    stage_pages: Figure[Staged] = Field(
        description="pages that come into the cache with a read that missed it"
    )
    disks: Figure[Disks] = Field(description="disks that serve what the cache lacks")
    disk: Figure[DeviceTime] = Field(description="mean time of a disk for one request")


class ControlProgram(Table):
    """z/VM's Control Program as its file describes it."""

    name: CatalogName = Field(description="lower case, as the file is called")
    title: str = Field(min_length=1, description="which release")
    frame: Figure[Frame] = Field(description="payload of a frame of a virtual switch")
    dispatcher: Dispatcher
    paths: Paths
    locks: Locks
    paging: PagingFigures
    storage: Storage

    def figures(self) -> Iterator[tuple[str, Figure[Any]]]:
        """Every number with its name, such as `paths.dispatch`, in the order of the file."""
        yield "frame", self.frame
        for part in ("dispatcher", "paths", "locks", "paging", "storage"):
            table = getattr(self, part)
            for name in type(table).model_fields:
                yield f"{part}.{name}", getattr(table, name)


@functools.cache
def control_program_document(name: str = "zvm") -> Document:
    """The file of the shipped Control Program, read once: whoever changes its data copies it
    first.
    """
    return shipped_document("control_programs", name, MachineError)


@functools.cache
def control_program() -> ControlProgram:
    """z/VM's Control Program with the shipped numbers."""
    return validate(ControlProgram, control_program_document(), MachineError)
