"""What a partition runs, as a scenario file says it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Discriminator, Field, model_validator
from pydantic_core import PydanticCustomError

from homenode.model.catalog.profile_model import (
    NOT_TOLD,
    PROFILE_NUMBERS,
    Bytes,
    Cpi,
    CurveBytes,
    Exponent,
    Instructions,
    LockKind,
    Misses,
    Numbers,
    Run,
    Share,
    Stream,
    Switch,
)
from homenode.model.document import OrText, Quantity, Table
from homenode.model.units import RATE, SIZE, TIME

Wait = Annotated[int, Quantity(TIME, "0 ns", "1 d")]
Phase = Annotated[int, Quantity(TIME, "1 ms", "1 d")]
BurstWork = Literal["exponential", "constant"]


class ProfileChoice(Table):
    """A profile: a shipped one or a file as `base`, with any of its numbers replaced, or all of
    them given.
    """

    base: str | None = Field(
        None, min_length=1, description="name of a profile, or a file ending in .toml"
    )
    name: str | None = Field(
        None, min_length=1, max_length=64, description="what the profile is called in results"
    )
    why: str | None = Field(None, min_length=1, description="where the replaced numbers come from")
    instructions: Instructions | None = Field(
        None, description="instructions of one transaction or one loop"
    )
    system_share: Share | None = Field(None, description="share of the time spent in the kernel")
    eicpi: Cpi | None = Field(None, description="cycles per instruction with an infinite cache")
    issue_share: Share | None = Field(
        None, description="share of eicpi in which issue slots are used"
    )
    miss_m0: Misses | None = Field(None, description="misses per instruction of an empty cache")
    miss_c0: CurveBytes | None = Field(None, description="capacity at which the miss curve bends")
    miss_exponent: Exponent | None = Field(None, description="how fast misses fall with capacity")
    working_set: Bytes | None = Field(
        None, description="lines touched again and again: they fit into a cache or do not"
    )
    working_set_touches: Misses | None = Field(
        None, description="touches of them per instruction, without those of the first level"
    )
    sharing: Share | None = Field(
        None, description="share of misses to lines that another core wrote"
    )
    footprint: Bytes | None = Field(
        None, description="what a thread touches again after it was off its core"
    )
    footprint_common: Share | None = Field(
        None, description="share of the footprint that all threads have in common"
    )
    overlap: Share | None = Field(
        None, description="share of a miss's latency hidden by other work"
    )
    dirty_share: Share | None = Field(
        None, description="share of the lines from memory that are written back later"
    )
    stream: Stream | None = Field(
        None, description="what an instruction goes through once and in order, whatever the caches"
    )
    lock_share: Share | None = Field(None, description="share of the time in which a lock is held")
    lock_hold_instructions: Instructions | None = Field(
        None, description="instructions for which it is held at a time"
    )
    lock_kind: LockKind | None = Field(
        None,
        description=(
            "what those do that wait for it: each spins on a line of its own (queue), all on the"
            " lock's (ticket), or they leave the processor after a little (sleeping)"
        ),
    )
    lock_switch_instructions: Switch | None = Field(
        None, description="instructions of a switch, of which who sleeps for it pays two"
    )
    private_data: Share | None = Field(
        None, description="share of memory accesses to data of the thread's own"
    )
    io_data: Share | None = Field(
        None, description="share of memory accesses to the kernel's structures of I/O"
    )
    store_share: Share | None = Field(None, description="stores in an instruction")
    store_run: Run | None = Field(None, description="neighbouring stores that follow each other")

    @model_validator(mode="after")
    def _is_complete(self) -> ProfileChoice:
        """Without a base, every number must be there but those that earlier files lack."""
        if self.base is None:
            needed = (name for name in PROFILE_NUMBERS if name not in NOT_TOLD)
            missing = [name for name in needed if getattr(self, name) is None]
            if missing:
                there = f"it has no base and lacks {', '.join(missing)}"
                raise PydanticCustomError(
                    "fact", "profile", {"there": there, "next_step": 'add base = "oltp"'}
                )
        return self

    def replaced(self) -> Numbers:
        """The numbers that stand in place of the base's."""
        given = {name: getattr(self, name) for name in PROFILE_NUMBERS}
        return {name: value for name, value in given.items() if value is not None}


def _named(text: str) -> dict[str, str]:
    return {"base": text}


Profile = Annotated[
    ProfileChoice,
    OrText(
        _named,
        {
            "type": "string",
            "description": "name of a profile, or a file ending in .toml",
            "examples": ["oltp"],
        },
    ),
    Field(description="name a profile, such as oltp; `homenode profiles` lists them"),
]


class Transactions(Table):
    """Open arrivals: transactions come whether or not earlier ones are done."""

    kind: Literal["transactions"] = Field(description="which kind of work it is")
    rate: Annotated[float, Quantity(RATE, "1e-8/s", "1e7/s")] = Field(
        description='arrivals, such as "1400/s"'
    )
    bursts: Annotated[float, Field(ge=1, le=1e6)] = Field(
        1.0, description="mean number of processor bursts"
    )
    wait: Wait = Field(0, description="mean wait between two bursts")
    burst_work: BurstWork = Field("exponential", description="distribution of a burst's work")
    profile: Profile


class Users(Table):
    """A fixed number of users who think between two transactions."""

    kind: Literal["users"] = Field(description="which kind of work it is")
    count: Annotated[int, Field(ge=1, le=1_000_000)] = Field(description="how many users there are")
    think: Wait = Field(description='mean think time, such as "5 s"')
    think_distribution: BurstWork = Field(
        "exponential", description="distribution of the think time"
    )
    bursts: Annotated[float, Field(ge=1, le=1e6)] = Field(
        1.0, description="mean number of processor bursts"
    )
    wait: Wait = Field(0, description="mean wait between two bursts")
    burst_work: BurstWork = Field("exponential", description="distribution of a burst's work")
    profile: Profile


class Loops(Table):
    """Processor-bound jobs started together."""

    kind: Literal["loops"] = Field(description="which kind of work it is")
    count: Annotated[int, Field(ge=1, le=100_000)] = Field(
        description="how many jobs start together"
    )
    endless: bool = Field(False, description="whether a finished job starts again at once")
    busy: Phase | None = Field(
        None,
        description="how long endless ones are busy at a time, by the clock; each ends its loop",
    )
    rest: Phase | None = Field(None, description="how long they rest then, all at once")
    profile: Profile

    @model_validator(mode="after")
    def _rests_endlessly(self) -> Loops:
        """Phases are of loops that go on, and both are told."""
        if (self.busy is None) != (self.rest is None) or (self.busy and not self.endless):
            there = "phases need both busy and rest, and loops that start again"
            step = 'write endless = true, busy = "5 s", rest = "5 s"'
            raise PydanticCustomError("fact", "loops", {"there": there, "next_step": step})
        return self


class Warehouses(Table):
    """A fixed number of threads that do transaction after transaction without a pause, as SPECjbb's
    warehouses do.
    """

    kind: Literal["warehouses"] = Field(description="which kind of work it is")
    count: Annotated[int, Field(ge=1, le=100_000)] = Field(description="how many threads there are")
    profile: Profile


class Pairs(Table):
    """Pairs of threads, a client and a server: the client asks and sleeps, the server works,
    answers and sleeps, and each message wakes the other. On a Linux host they are plain processes
    without `kvm`.
    """

    kind: Literal["pairs"] = Field(description="which kind of work it is")
    count: Annotated[int, Field(ge=1, le=16_000)] = Field(
        description="how many pairs there are; two virtual processors each, as processes of a host"
    )
    exchanges: Annotated[int, Field(ge=1, le=10_000)] = Field(
        description="requests of a transaction, each with its answer"
    )
    client_share: Annotated[float, Field(ge=0.01, le=0.99)] = Field(
        0.5, description="share of a transaction's instructions that the client executes"
    )
    think: Wait = Field(0, description="mean time between a transaction and the next one")
    think_distribution: BurstWork = Field(
        "exponential", description="distribution of the think time"
    )
    burst_work: BurstWork = Field(
        "exponential", description="distribution of the work between two messages"
    )
    profile: Profile


class Barriers(Table):
    """Parallel programs: the threads of one do their parts of a step, wait for each other and begin
    the next step together. A step is a transaction.
    """

    kind: Literal["barriers"] = Field(description="which kind of work it is")
    count: Annotated[int, Field(ge=1, le=10_000)] = Field(1, description="how many programs run")
    threads: Annotated[int, Field(ge=1, le=4096)] = Field(description="threads of a program")
    burst_work: BurstWork = Field(
        "exponential", description="distribution of a thread's part of a step"
    )
    profile: Profile


class Web(Table):
    """Virtual machines that ask others for files over virtual switches, one request after another
    on every connection of a client and a server.
    """

    kind: Literal["web"] = Field(description="which kind of work it is")
    request: Annotated[int, Quantity(SIZE, "1 B", "1 GiB")] = Field(
        300, description="length of a request"
    )
    file: Annotated[int, Quantity(SIZE, "1 B", "1 GiB")] = Field(
        description='length of a file, such as "8 KiB"'
    )
    files: Annotated[int, Field(ge=1, le=1_000_000_000)] = Field(
        description="files of a server, each asked for with equal chance"
    )
    client_share: Share = Field(
        0.5, description="share of the guests' instructions that the client executes"
    )
    think: Wait = Field(0, description="mean time between an answer and the next request")
    work: BurstWork = Field("exponential", description="distribution of the guests' instructions")
    profile: Profile


class Trace(Table):
    """Recorded demand, played step by step: what arrives in a step is exact, when it arrives within
    the step is left to chance. It comes in bursts of about the profile's instructions.
    """

    kind: Literal["trace"] = Field(description="which kind of work it is")
    file: str = Field(
        min_length=1,
        description=(
            "table of its steps, a Parquet or CSV file with the columns partition, seconds and"
            ' instructions_per_s, such as "demand.parquet"'
        ),
    )
    series: str | None = Field(
        None,
        min_length=1,
        description="its name in the file's column partition; its own name if not given",
    )
    step: Annotated[int, Quantity(TIME, "1 ms", "365 d")] | None = Field(
        None,
        description="simulated time for which each step is played; as long as it was recorded"
        " if not given",
    )
    profile: Profile


class Idle(Table):
    """Nothing but the guest's own daemons."""

    kind: Literal["idle"] = Field(description="which kind of work it is")
    profile: Profile = Field(
        default_factory=lambda: ProfileChoice(base="idle"), description="name a profile"
    )


Workload = Annotated[
    Transactions | Users | Loops | Warehouses | Pairs | Barriers | Web | Trace | Idle,
    Discriminator("kind"),
]
