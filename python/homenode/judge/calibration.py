"""The model's numbers from what ran alone, and from nothing that is compared."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence

from homenode.hosts.errors import MeasureError
from homenode.judge.scene import Alone, Busy
from homenode.judge.trial import Trial


def counted(trials: Sequence[Trial], experiment: str) -> list[Trial]:
    """Those of an experiment that count."""
    return [one for one in trials if one.experiment == experiment and one.rejected is None]


def calibrated(
    trials: Sequence[Trial], second_instructions: float, job_s: float, processors: int
) -> Alone:
    """The model's numbers, for a host of so many processors.

    Raises `MeasureError` if no such trial counts.
    """
    loops = counted(trials, "loops-1")
    bursts = [one.totals["a"] for one in counted(trials, "on-off-alone")]
    if not loops or not bursts:
        raise MeasureError(
            "nothing can be calibrated: no trial of a loop or of on/off work alone counts, "
            f"of {len(trials)} in all",
            there=next(
                (f"the last: {one.rejected}" for one in reversed(trials) if one.rejected), None
            ),
            next_step="run it while the host is quiet, or count disturbed trials too with a wider "
            "gate, as --gate 10%, or --gate steal=5% where its own hypervisor takes the time",
        )
    done = sum(one["bursts"] for one in bursts)
    burst_s = sum(one["cpu_s"] for one in bursts) / done
    cycle_s = sum(one["elapsed_s"] for one in bursts) / done
    stores = [one.totals["a"] for one in counted(trials, "database-alone")]
    return Alone(
        second_instructions=second_instructions,
        job_stretch=sum(one.totals["a"]["cpu_s"] for one in loops) / len(loops) / job_s,
        run_s=burst_s,
        sleep_s=cycle_s - burst_s,
        bound=_busy(loops, "bound", processors),
        free=_busy(loops, "free", 1),
        **_databases(stores),
    )


def _databases(stores: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """A transaction by its processor time, and what waking another processor costs."""
    if not stores:
        return {}
    cpu_s = math.fsum(one["cpu_s"] for one in stores)
    return {
        "transaction_s": cpu_s / math.fsum(one["done"] for one in stores),
        "client_share": math.fsum(one["client_s"] for one in stores) / cpu_s,
        "wake_interrupt_s": statistics.median(one["interrupt_s"] for one in stores),
        "wake_idle_s": statistics.median(one["idle_s"] for one in stores),
    }


def _busy(loops: Sequence[Trial], kind: str, shared: int) -> Busy:
    """Turns of others beside a loop that was alone, on each of so many."""
    elapsed = math.fsum(one.others_s for one in loops)
    turns = sum(one.others.get(kind, 0) for one in loops)
    run_s = math.fsum(one.others.get(f"{kind}_ns", 0) for one in loops) * 1e-9
    if not turns or elapsed <= 0:
        return Busy()
    return Busy(turns / elapsed / shared, run_s / turns)
