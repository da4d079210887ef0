"""What a partition runs, as a scenario file says it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Discriminator, Field, model_validator
from pydantic_core import PydanticCustomError

from homenode.model.catalog.profile_model import Share
from homenode.model.document import Quantity, Table
from homenode.model.scenario.file.cores import CoresTaken
from homenode.model.scenario.file.load import Load
from homenode.model.scenario.file.profile import Profile, ProfileChoice
from homenode.model.units import RATE, SIZE, TIME

Wait = Annotated[int, Quantity(TIME, "0 ns", "1 d")]
Message = Annotated[int, Quantity(SIZE, "0 B", "1 GiB")]
Phase = Annotated[int, Quantity(TIME, "1 ms", "1 d")]
BurstWork = Literal["exponential", "constant"]


class Transactions(Load):
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


class Users(Load):
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


class Loops(Load):
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


class Warehouses(Load):
    """A fixed number of threads that do transaction after transaction without a pause, as SPECjbb's
    warehouses do.
    """

    kind: Literal["warehouses"] = Field(description="which kind of work it is")
    count: Annotated[int, Field(ge=1, le=100_000)] = Field(description="how many threads there are")
    profile: Profile


class Pairs(Load):
    """Pairs of threads, a client and a server: the client asks and sleeps, the server works,
    answers and sleeps, and each message wakes the other. With a `rate` one thread more makes the
    transactions, and wakes a client for each. On a Linux host they are plain processes without
    `kvm`.
    """

    kind: Literal["pairs"] = Field(description="which kind of work it is")
    count: Annotated[int, Field(ge=1, le=16_000)] = Field(
        description="how many pairs there are; two virtual processors each, as processes of a host,"
        " and one more with a rate"
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
    rate: Annotated[float, Quantity(RATE, "1e-8/s", "1e7/s")] | None = Field(
        None,
        description="in place of thinking: transactions that a thread of its own makes, at random"
        " times, whether or not earlier ones are done; each wakes a client, or waits for one",
    )
    generator_instructions: Annotated[float, Field(ge=100, le=1e9)] | None = Field(
        None,
        description="what that thread executes for each; usually 5,000, assumed, 2,000 to 20,000",
    )
    burst_work: BurstWork = Field(
        "exponential", description="distribution of the work between two messages"
    )
    message: Message = Field(0, description='what a request brings, and an answer, such as "4 KiB"')
    profile: Profile

    @model_validator(mode="after")
    def _asks_one_way(self) -> Pairs:
        """Clients think, or are woken at a rate."""
        if self.rate is not None and self.think:
            there = "clients think, or a rate says when they ask"
            step = "leave out think or rate"
            raise PydanticCustomError("fact", "pairs", {"there": there, "next_step": step})
        if self.rate is None and self.generator_instructions is not None:
            there = "what makes transactions does so at a rate"
            step = 'write rate = "500/s" beside it'
            raise PydanticCustomError("fact", "pairs", {"there": there, "next_step": step})
        return self


class Barriers(Load):
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


class Web(Load):
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


class Recorded(Table):
    """Where recorded demand is, and how long its steps are played."""

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


class Trace(Recorded, Load):
    """Recorded demand, played step by step: what arrives in a step is exact, when it arrives within
    the step is left to chance. It comes in bursts of about the profile's instructions.
    """

    profile: Profile


class Idle(Load):
    """Nothing but the guest's own daemons."""

    kind: Literal["idle"] = Field(description="which kind of work it is")
    profile: Profile = Field(
        default_factory=lambda: ProfileChoice(base="idle"), description="name a profile"
    )


Workload = Annotated[
    Transactions | Users | Loops | Warehouses | Pairs | Barriers | Web | Trace | CoresTaken | Idle,
    Discriminator("kind"),
]
