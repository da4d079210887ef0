"""What the processes of an experiment do, and what each of them reports at its end.

The generators are the package's own kernels, started as fresh processes that wait for a common
start, so that no tool's start-up is in the figures.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from homenode.hosts.adapters.kernel_process import kernel_command
from homenode.hosts.errors import MeasureError

_NS = 1_000_000_000


@dataclass(frozen=True)
class Spin:
    """Computes until the experiment ends."""


@dataclass(frozen=True)
class Job:
    """Computes a fixed amount of work, then ends."""

    seconds: float
    """What it takes alone [s]."""


@dataclass(frozen=True)
class OnOff:
    """Computes a fixed amount of work, sleeps, and so on until the experiment ends."""

    run_s: float
    """What a burst takes alone [s]."""
    sleep_s: float
    """Asked length of the sleep after each burst [s]."""


@dataclass(frozen=True)
class Database:
    """A PostgreSQL server with clients that ask for one transaction after the other."""

    clients: int


Load = Spin | Job | OnOff | Database


@dataclass(frozen=True)
class Pace:
    """What the host was found to do alone: the only things anything is calibrated on."""

    turns_per_s: float
    """Turns of the generator's loop in a second of processor time."""


@dataclass(frozen=True)
class Reported:
    """What one process said of the time between the common start and its end."""

    started_ns: int
    """When it began, by the monotonic clock [ns]."""
    ended_ns: int
    cpu_ns: int
    voluntary: int
    involuntary: int
    run_delay_ns: int
    iterations: int
    responses_ns: tuple[int, ...] = ()
    """From the instant at which a sleep should have ended to the end of the burst after it."""

    @property
    def seconds(self) -> float:
        """From the start to the end [s]."""
        return (self.ended_ns - self.started_ns) / _NS


@dataclass(frozen=True)
class Asked:
    """What a process asks of the scheduler for itself."""

    nice: int = 0
    slice_ns: int = 0
    """0 asks for none."""


def command(
    load: Load, pace: Pace, start_ns: int, seconds: float, asked: Asked = Asked()
) -> list[str]:
    """How a process of a load is started; it waits until `start_ns` of the monotonic clock."""
    table: dict[str, object] = {"start_ns": start_ns}
    if asked != Asked():
        table["scheduling"] = asdict(asked)
    name = "loop"
    match load:
        case Spin():
            table["seconds"] = seconds
        case Job(seconds=alone):
            table["iterations"] = max(1, round(alone * pace.turns_per_s))
        case OnOff(run_s=run, sleep_s=sleep):
            name = "onoff"
            table["seconds"] = seconds
            table["iterations"] = max(1, round(run * pace.turns_per_s))
            table["sleep_ns"] = round(sleep * _NS)
        case Database():
            raise AssertionError("a database has programs of its own")
    return kernel_command(name, table)


def read_report(text: bytes) -> Reported:
    """What a process printed.

    Raises `MeasureError` for output that is empty, cut or garbled, quoting it.
    """
    try:
        told = json.loads(text)
        late, bursts = told.get("wakeup_late_ns", []), told.get("burst_ns", [])
        if len(late) != len(bursts):
            raise ValueError("wakeup_late_ns and burst_ns differ in length")
        return Reported(
            started_ns=int(told["start_ns"]),
            ended_ns=int(told["end_ns"]),
            cpu_ns=int(told["cpu_ns"]),
            voluntary=int(told["nvcsw"]),
            involuntary=int(told["nivcsw"]),
            run_delay_ns=int(told["run_delay_ns"]),
            iterations=int(told["iterations"]),
            responses_ns=tuple(int(a) + int(b) for a, b in zip(late, bursts, strict=True)),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        shown = text[-200:].decode("utf-8", "replace").strip() or "nothing"
        raise MeasureError(f"a load generator printed no report ({error}); its end: {shown}") from (
            error
        )
