"""The figures of one run, and the identities between them.

    ETR = W / T                    external throughput rate [1/s]
    u   = C / (N T)                busy, of N processors [0..1]
    ITR = ETR / u = N W / C        internal throughput rate: what N fully busy ones would do [1/s]
    CPU per unit = C / W = N / ITR [s]

with W completed work, T seconds, C processor seconds, N logical processors. As the z/VM performance
reports define them; everything is computed from W, T, C and N, and rounded only when printed.
"""

from __future__ import annotations

from homenode.hosts.errors import MeasureError
from homenode.hosts.record import RunRecord


def etr(record: RunRecord) -> float:
    """External throughput rate [units/s]."""
    if not record.seconds > 0.0:
        raise MeasureError(f"{record.case}: a run of {record.seconds:g} s has no rate")
    return record.work / record.seconds


def busy(record: RunRecord) -> float | None:
    """Share of the processors that the run was allowed and used [0..1]; None where processor time
    is not known.
    """
    if record.cpu is None or not record.seconds > 0.0:
        return None
    return record.cpu.total / (record.seconds * record.processors)


def cpu_per_unit(record: RunRecord) -> float | None:
    """Processor seconds of a unit of work; None where either is not known or nothing was done."""
    if record.cpu is None or not record.cpu.total > 0.0 or not record.work > 0.0:
        return None
    return record.cpu.total / record.work


def itr(record: RunRecord) -> float | None:
    """Internal throughput rate [units/s]."""
    each = cpu_per_unit(record)
    return None if each is None else record.processors / each


def instructions_per_unit(record: RunRecord) -> float | None:
    """User-mode instructions of a unit of work, where the host counts them."""
    if not record.instructions or not record.work > 0.0:
        return None
    return record.instructions / record.work


def voluntary_switches_per_s(record: RunRecord) -> float | None:
    """Context switches of its own will, where they are counted [1/s]."""
    return None if record.switches is None else record.switches.voluntary / record.seconds


def involuntary_switches_per_s(record: RunRecord) -> float | None:
    """Context switches forced on it, where they are counted [1/s]."""
    return None if record.switches is None else record.switches.involuntary / record.seconds


def run_delay_cores(record: RunRecord) -> float | None:
    """Threads that waited for a processor in the mean, where it is known [cores]."""
    return None if record.run_delay_s is None else record.run_delay_s / record.seconds


def speed(record: RunRecord) -> float:
    """The case's own figure such that more is better: the score, or the inverse of one that is
    better when lower.
    """
    if record.better == "higher":
        return record.score
    if not record.score > 0.0:
        raise MeasureError(
            f"{record.case}: a {record.metric} of {record.score:g} {record.unit}, which is better "
            "when lower, has no speed",
            next_step="look at the run's raw output",
        )
    return 1.0 / record.score


def implied_busy_ratio(deviation: float, saving: float) -> float:
    """Busy of the new by busy of the old that a pair of figures asserts: `(1 + deviation) (1 -
    saving)`. 1 where both are equally busy; less where the new one was not as busy.
    """
    return (1.0 + deviation) * (1.0 - saving)
