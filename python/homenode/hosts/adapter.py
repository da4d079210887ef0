"""What an adapter is: one tool that does a kind of work, and how to read what it prints.

The runner prepares a case once, then starts it anew, with fresh processes, for each repetition.
All processes are started by the `Bench` that the runner hands out, so that they are counted,
bounded in time and ended.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

from homenode.hosts.record import Better

Parameters = Mapping[str, str | int | float | bool]
Side = Literal["client", "server"]
"""Of a case that two hosts share: where its clients run, or its servers."""
LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class Need:
    """A tool that a case cannot do without."""

    program: str
    """Found on the path, such as `fio`."""
    package: str
    """Where it comes from, such as `fio`."""
    source: str = "debian"
    """`debian`, `pypi` or `maven`."""
    version: str | None = None
    """Pinned version, for `pypi` and `maven`."""
    plug_in: bool = False
    """Whether it is non-free or optional: never asked for, used where it is."""
    side: Side | None = None
    """Which of two hosts needs it; None for both."""


@dataclass(frozen=True)
class Requirements:
    """What a case takes of the host."""

    needs: tuple[Need, ...] = ()
    disk_bytes: int = 0
    memory_bytes: int = 0
    root: bool = False
    network_namespace: bool = False
    """Its servers listen on all addresses, or it measures the network: it runs in a namespace of
    its own with only loopback."""


@dataclass(frozen=True)
class Output:
    """What one repetition gave: everything of a `RunRecord` that only the tool knows."""

    work: float
    """Completed work in the measured time [units of the case's metric]."""
    seconds: float
    """Length of the measured time [s]."""
    score: float
    """The case's own figure [the case's unit]."""
    latency_ms: Mapping[str, float] = field(default_factory=dict)
    series: Sequence[float] = ()
    details: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Finished:
    """A process that has ended by itself."""

    argv: Sequence[str]
    code: int
    stdout: bytes
    stderr: bytes
    seconds: float


class Started(Protocol):
    """A process that runs on, such as a server."""

    pid: int

    def alive(self) -> bool:
        """Whether it still runs."""

    def output(self) -> bytes:
        """What it has printed so far, both streams."""

    def wait(self, *, limit_s: float, good: Sequence[int] = (0,)) -> Finished:
        """Wait for its end, as `Bench.run` does; for clients that run beside each other."""


class Clock(Protocol):
    """The monotonic clock that all processes of a bench read.

    Where it begins is the host's own affair: only differences of its figures say something, and
    only of figures that were read on one host between two starts of it.
    """

    def now_s(self) -> float:
        """Seconds since some moment of the host's, such as its start."""

    def wait_until(self, moment_s: float) -> None:
        """Come back at that moment of this clock, at once where it is over."""


class Bench(Protocol):
    """Where a repetition runs; made and torn down by the runner.

    Raises `MeasureError` (homenode.hosts.errors) for a program that is missing, dies or is late.
    """

    clock: Clock
    folder: Path
    """For this repetition only; removed after it."""
    data: Path
    """Of this case, kept between its repetitions: databases, files; removed after the session."""
    cache: Path
    """Of this adapter, kept between sessions: archives, generated data. Write under another name
    and rename, so that nothing half-written is taken for whole."""
    processors: Sequence[int]
    """Logical processors allowed."""

    def run(
        self,
        argv: Sequence[str],
        *,
        limit_s: float,
        role: str = "client",
        env: Mapping[str, str] | None = None,
        stdin: bytes | None = None,
        folder: Path | None = None,
        user: str | None = None,
        good: Sequence[int] = (0,),
    ) -> Finished:
        """Run a program to its end. Its output is kept raw beside the result.

        `user` counts for root only: who else it runs as.
        """

    def start(
        self,
        argv: Sequence[str],
        *,
        role: str = "server",
        env: Mapping[str, str] | None = None,
        folder: Path | None = None,
        user: str | None = None,
    ) -> Started:
        """Start a program that goes on until the repetition ends; the runner ends it by its id."""

    def wait_for_port(self, port: int, *, limit_s: float, of: Started | None = None) -> None:
        """Wait until something listens on loopback, where the case's processes run; nothing
        connects. Fails at once when `of` has ended.
        """

    def free_port(self) -> int:
        """A TCP port that nothing listens on now."""

    def program(self, name: str) -> str:
        """Full path of a program, also of those that are not on the path, such as `postgres`."""

    def give(self, path: Path, user: str) -> None:
        """Let another user own a file or a folder with all in it; nothing where not root."""

    def measuring(self) -> None:
        """Processor time and switches count from here on.

        Called after warm-up, before the work; without a call they count from the repetition's
        start.
        """

    def measured(self) -> None:
        """They count up to here; without a call, to the end of the repetition."""


@dataclass(frozen=True)
class Case:
    """One row of a suite's table: an adapter with its parameters."""

    name: str
    """Unique in its adapter, such as `read-only-high`."""
    title: str
    """One line for people."""
    metric: str
    """What the work is counted in."""
    unit: str
    """Unit of the score."""
    better: Better
    parameters: Parameters = field(default_factory=dict)
    load: float = 0.0
    """Clients, threads or jobs."""


class Adapter(Protocol):
    """One tool."""

    name: str
    """As in suites, such as `fio`."""
    title: str
    stands_for: str
    """What of the published studies it repeats, or what it does in place of."""
    limit_s: float
    """Hard limit of one repetition [s]."""

    def requires(self, case: Case) -> Requirements:
        """What a case takes of the host."""

    def case(self, name: str, parameters: Parameters) -> Case:
        """The case that a suite's table describes.

        Raises `MeasureError` for a parameter that it does not know or that makes no sense.
        """

    def prepare(self, case: Case, bench: Bench) -> None:
        """Make what all repetitions need (data, databases, classes); once a session, not timed."""

    def measure(self, case: Case, bench: Bench, *, seconds: float) -> Output:
        """One repetition of about so many seconds, with fresh processes."""

    def parse(self, case: Case, text: bytes) -> Output:
        """What the tool's output says; for tests on recorded samples, without the tool.

        Raises `MeasureError` for empty, cut or garbled output, quoting it.
        """

    def version(self, bench: Bench) -> str:
        """The tool's version, as it prints it."""


@dataclass(frozen=True)
class At:
    """Where servers listen, and for whom; on one host that is loopback."""

    address: str = LOOPBACK
    """Of IPv4, in digits; nothing listens at another."""
    clients: str = LOOPBACK
    """Where the clients come from."""


@dataclass(frozen=True)
class Served:
    """What clients must know of servers that have been started."""

    address: str = LOOPBACK
    ports: tuple[int, ...] = ()
    words: Mapping[str, str] = field(default_factory=dict)
    """Such as a password that was made up for them."""


@runtime_checkable
class Serves(Protocol):
    """An adapter whose servers may run on another host than its clients."""

    def measure(self, case: Case, bench: Bench, *, seconds: float) -> Output:
        """One repetition with both sides on this host."""
        return self.ask(case, bench, self.serve(case, bench, At()), seconds=seconds)

    def serve(self, case: Case, bench: Bench, at: At) -> Served:
        """Start fresh servers; they listen when this returns."""

    def ask(self, case: Case, bench: Bench, served: Served, *, seconds: float) -> Output:
        """One repetition of about so many seconds, with fresh clients."""

    def version_of(self, side: Side, bench: Bench) -> str:
        """The version of what runs on that side."""


@runtime_checkable
class Fetches(Protocol):
    """An adapter that brings something itself: `homenode measure tools --install` asks it to.

    What its `Need`s of source `maven` name is there when `fetched` says so.
    """

    def fetched(self, cache: Path) -> bool:
        """Whether the adapter's cache holds it, whole."""

    def fetch(self, cache: Path) -> None:
        """Bring it, checked against pinned sums."""
