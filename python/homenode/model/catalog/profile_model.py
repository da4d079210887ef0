"""Workload profiles: how work behaves on a processor, every number with its provenance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from homenode.model.catalog.figure import CatalogName, Figure
from homenode.model.document import Quantity, Table
from homenode.model.units import SHARE, SIZE

Instructions = Annotated[float, Field(gt=0, le=1e18)]
Cpi = Annotated[float, Field(gt=0, le=100)]
Misses = Annotated[float, Field(ge=0, le=1)]
Exponent = Annotated[float, Field(ge=0, le=10)]
Run = Annotated[float, Field(ge=1, le=1e6)]
Stream = Annotated[float, Quantity(SIZE, "0 B", "1 KiB")]
SpinLock = Literal["queue", "ticket", "test-and-set"]
LockKind = Literal["kernel", "queue", "ticket", "test-and-set", "sleeping"]
"""Of a profile: that of its guest's kernel, whichever it has, or one of its own."""
Switch = Annotated[float, Field(ge=0, le=1e9)]
Flush = Annotated[float, Field(ge=0, le=1e15)]
Share = Annotated[float, Quantity(SHARE, "0 %", "100 %")]
ScoreOfRate = Annotated[float, Field(gt=0, le=1e9)]
Bytes = Annotated[int, Quantity(SIZE, "0 B", "1 TiB")]
CurveBytes = Annotated[int, Quantity(SIZE, "1 B", "1 TiB")]

Numbers = dict[str, float | int | str]
"""A profile as the engine takes it (`homenode.model.spec.ProfileSpec`), part by part."""
ENGINE_NAMES = {
    "instructions": "instructions_per_unit",
    "miss_c0": "miss_c0_bytes",
    "working_set": "working_set_bytes",
    "buffers": "buffers_bytes",
    "copied": "copied_bytes",
    "footprint": "footprint_bytes",
    "stream": "stream_bytes",
}
"""What the engine calls those numbers that it calls otherwise."""
NOT_TOLD: dict[str, float | str] = {
    "control_share": 0.0,
    "branch_misses": 0.0,
    "working_set": 0.0,
    "working_set_touches": 0.0,
    "buffers": 0.0,
    "copied": 0.0,
    "roaming": 0.0,
    "dirty_share": 0.0,
    "stream": 0.0,
    "lock_hold_instructions": 1000.0,
    "lock_kind": "queue",
    "lock_switch_instructions": 2500.0,
    "flush_instructions": 0.0,
    "private_data": 0.0,
    "io_data": 0.0,
    "store_share": 0.0,
    "store_run": 1.0,
}
"""Numbers that files may leave out, since earlier ones do not have them, and what is then taken:
nothing that empties pipelines, no working set beside the miss curve, nothing copied,
work that stays with its processor, lines that are only read, nothing gone through in order, a lock
held for a short routine, whose waiters stand in a queue as in today's kernels, no mapping taken
back, all data common, and stores that cost nothing."""


LEFT_OUT: Numbers = {ENGINE_NAMES.get(name, name): value for name, value in NOT_TOLD.items()}
"""The same as the engine calls them."""


class Score(Table):
    """What a rate of transactions makes in the unit of the benchmark that they are of."""

    unit: Annotated[str, Field(min_length=1, max_length=16)] = Field(
        description='the benchmark\'s own unit, such as "SAPS"'
    )
    of_rate: Figure[ScoreOfRate] = Field(
        description="how many of it one transaction a second makes"
    )


class ProfileDescription(Table):
    """A profile as its file describes it; figures keep their provenance."""

    name: CatalogName = Field(description="lower case, as the file is called")
    title: str = Field(min_length=1, description="what kind of work it is")
    instructions: Figure[Instructions] = Field(
        description="instructions of one transaction or one loop"
    )
    system_share: Figure[Share] = Field(
        description="share of the processor time spent in the kernel"
    )
    eicpi: Figure[Cpi] = Field(
        description="cycles per instruction with an infinite cache and one thread on the core"
    )
    control_share: Figure[Share] | None = Field(
        None,
        description=(
            "instructions that change the state of the processor or are left to millicode, in an"
            " instruction; their time is within eicpi"
        ),
    )
    branch_misses: Figure[Misses] | None = Field(
        None,
        description=(
            "taken branches, in an instruction, whose targets a core lacks that knows 8192;"
            " their time is within eicpi"
        ),
    )
    issue_share: Figure[Share] = Field(
        description="share of eicpi in which issue slots are really used"
    )
    miss_m0: Figure[Misses] = Field(description="misses per instruction of an empty cache")
    miss_c0: Figure[CurveBytes] = Field(
        description="capacity from which on misses fall: m(C) = m0 (1 + C/C0)^-a"
    )
    miss_exponent: Figure[Exponent] = Field(description="a of the miss curve")
    working_set: Figure[Bytes] | None = Field(
        None,
        description="lines that are touched again and again, each with equal chance: they fit into"
        " a cache or do not",
    )
    working_set_touches: Figure[Misses] | None = Field(
        None,
        description="touches of them per instruction, without those that the first level serves",
    )
    buffers: Figure[Bytes] | None = Field(
        None,
        description="what a job copies from and to, again and again: a process's files, the pieces"
        " of a connection",
    )
    copied: Figure[Stream] | None = Field(
        None,
        description="what of them an instruction goes through, line by line, without pieces that"
        " were copied just before",
    )
    sharing: Figure[Share] = Field(
        description="share of a 2 MiB cache's misses that go to lines last written by another core"
    )
    footprint: Figure[Bytes] = Field(
        description="what a thread touches again after it was off its core"
    )
    footprint_common: Figure[Share] = Field(
        description=(
            "share of the footprint that all threads of the partition have in common (code, shared"
            " buffers)"
        )
    )
    roaming: Figure[Share] | None = Field(
        None,
        description=(
            "share of what is not common that is work which any processor of the partition takes"
            " up, so that it is in all its caches by turns"
        ),
    )
    overlap: Figure[Share] = Field(
        description="share of a miss's latency hidden by other work of the same thread"
    )
    dirty_share: Figure[Share] | None = Field(
        None, description="share of the lines from memory that are written back later"
    )
    stream: Figure[Stream] | None = Field(
        None,
        description="what an instruction goes through once and in order, whatever the caches",
    )
    lock_share: Figure[Share] = Field(
        description="share of the processor time in which a lock is held"
    )
    lock_hold_instructions: Figure[Instructions] | None = Field(
        None, description="instructions for which that lock is held at a time"
    )
    lock_kind: Figure[LockKind] | None = Field(
        None, description="what those do that wait for that lock"
    )
    lock_switch_instructions: Figure[Switch] | None = Field(
        None, description="instructions of a switch, of which who sleeps for a lock pays two"
    )
    flush_instructions: Figure[Flush] | None = Field(
        None,
        description=(
            "instructions of a thread between two flushes of translations that siblings may hold;"
            " 0 is never"
        ),
    )
    private_data: Figure[Share] | None = Field(
        None,
        description="share of memory accesses to data of the thread's own, which it allocated",
    )
    io_data: Figure[Share] | None = Field(
        None, description="share of memory accesses to the kernel's structures of I/O"
    )
    store_share: Figure[Share] | None = Field(
        None, description="stores, of 8 bytes each, in an instruction"
    )
    store_run: Figure[Run] | None = Field(
        None, description="neighbouring stores that follow each other"
    )
    score: Score | None = Field(
        None, description="in what unit results of this benchmark are published, if it is one"
    )

    def figures(self) -> Iterator[tuple[str, Figure[Any]]]:
        """Every number with its name, in the order of the model."""
        yield from self._of_work()
        if self.score is not None:
            yield f"score.of_rate [{self.score.unit}]", self.score.of_rate

    def _of_work(self) -> Iterator[tuple[str, Figure[Any]]]:
        """Those that say how the work behaves."""
        for name in PROFILE_NUMBERS:
            value = getattr(self, name)
            if value is not None:
                yield name, value

    def numbers(self) -> Numbers:
        """Every number as the engine calls it, those that the file leaves out among them."""
        told = {ENGINE_NAMES.get(name, name): figure.value for name, figure in self._of_work()}
        return {"name": self.name, **LEFT_OUT, **told}

    def spec(self) -> Numbers:
        """The `profile` part of the engine's input, where no guest says what its kernel has: a
        queue lock, as on most of today's.
        """
        numbers = self.numbers()
        kernel = numbers["lock_kind"] == "kernel"
        return worth_telling({**numbers, "lock_kind": "queue"} if kernel else numbers)


def worth_telling(numbers: Numbers) -> Numbers:
    """A profile as the engine takes it, without what it would take anyway or never ask for."""
    kind = numbers["lock_kind"] if numbers["lock_share"] else "queue"
    left_out = {"lock_switch_instructions"} if kind != "sleeping" else set()
    if kind == "queue":
        left_out.add("lock_kind")
    if not numbers["flush_instructions"]:
        left_out.add("flush_instructions")
    for name in ("stream_bytes", "roaming", "control_share", "branch_misses"):
        if not numbers[name]:
            left_out.add(name)
    if not (numbers["working_set_bytes"] or numbers["working_set_touches"]):
        left_out |= {"working_set_bytes", "working_set_touches"}
    if not (numbers["buffers_bytes"] or numbers["copied_bytes"]):
        left_out |= {"buffers_bytes", "copied_bytes"}
    return {name: value for name, value in numbers.items() if name not in left_out}


def undrained(numbers: Mapping[str, Any]) -> dict[str, Any]:
    """A profile without what empties pipelines: a machine that tells nothing of its own never asks
    for it.
    """
    asked = ("control_share", "branch_misses")
    return {name: value for name, value in numbers.items() if name not in asked}


PROFILE_NUMBERS = tuple(
    name for name in ProfileDescription.model_fields if name not in ("name", "title", "score")
)
