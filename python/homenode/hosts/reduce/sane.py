"""Whether a record's figures can be figures at all.

A file that was damaged or written by hand may hold anything that is a number; ratios and means of
it would end in no number, far from the cause.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from homenode.hosts.errors import MeasureError
from homenode.hosts.record import RunRecord

MOST = 1e100
"""Of any figure in its unit; squares and ratios of such still are numbers."""
MOST_PROCESSORS = 1_000_000


def refuse_senseless(record: RunRecord) -> None:
    """Raise for a figure that is no finite number, too large, below 0, or 0 where it divides."""
    for name, value in _figures(record):
        if not (0.0 <= value <= MOST and (value == 0.0 or value >= 1.0 / MOST)):
            raise _senseless(record, name, value)
    if not record.seconds > 0.0:
        raise _senseless(record, "seconds", record.seconds)
    if not 1 <= record.processors <= MOST_PROCESSORS:
        raise _senseless(record, "processors", record.processors)
    for value in record.series:
        if not (math.isfinite(value) and abs(value) <= MOST):
            raise _senseless(record, "series", value)


def _figures(record: RunRecord) -> Iterator[tuple[str, float]]:
    for name in ("work", "seconds", "score", "load", "foreign", "steal"):
        yield name, getattr(record, name)
    for name in ("run_delay_s", "throttled_s", "instructions", "cycles"):
        value = getattr(record, name)
        if value is not None:
            yield name, value
    if record.cpu is not None:
        yield "cpu.total", record.cpu.total
    if record.switches is not None:
        yield "switches.voluntary", record.switches.voluntary
        yield "switches.involuntary", record.switches.involuntary
    for name, value in record.latency_ms.items():
        yield f"latency_ms.{name}", value


def _senseless(record: RunRecord, name: str, value: float) -> MeasureError:
    # An integer of a file may be too large for a float.
    shown = str(value)[:20]
    return MeasureError(
        f"{record.case} on {record.system}, run {record.replicate + 1}: {name} of {shown} makes no "
        "sense",
        next_step="look at the run's raw output, or copy the file again from where it was made",
    )
