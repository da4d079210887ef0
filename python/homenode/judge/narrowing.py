"""Which experiment to run once more: that whose figure will soonest be known well enough.

How wide the measured interval is decides, never how near the simulation comes: to measure until it
agrees would find agreement anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence

from homenode.judge.judge import half_width, spread
from homenode.judge.kinds import Experiment, Judged
from homenode.judge.trial import Trial
from homenode.model.estimate import mean_of

AIMS = (1.0, 0.5)
"""Half width of the interval over the tolerance: first all that can be are brought to the one,
then, if there is time, to the other.
"""

_LEAST = 2


def further(
    experiments: Sequence[Experiment], trials: Sequence[Trial], most: int
) -> list[Experiment]:
    """Experiments that are worth another trial, the soonest known first. Left out are those known
    well enough, and those that would need more than `most` trials.
    """
    for aim in AIMS:
        wanted = [(_lacking(one, trials, aim, most), one) for one in experiments]
        found = sorted(
            ((lacking, one) for lacking, one in wanted if lacking is not None),
            key=lambda pair: pair[0],
        )
        if found:
            return [one for _, one in found]
    return []


def _lacking(experiment: Experiment, trials: Sequence[Trial], aim: float, most: int) -> int | None:
    """Trials until the next of its figures is known; None if none will be or all are."""
    counted = [t for t in trials if t.experiment == experiment.name and t.rejected is None]
    lacking = []
    for judged in experiment.judged:
        needed = needed_trials(judged, _values(judged, counted), aim, most)
        if needed is not None and needed > len(counted):
            lacking.append(needed - len(counted))
    return min(lacking, default=None)


def _values(judged: Judged, trials: Sequence[Trial]) -> list[float]:
    return [
        trial.figures[judged.group][judged.metric]
        for trial in trials
        if judged.metric in trial.figures[judged.group]
    ]


def needed_trials(judged: Judged, values: Sequence[float], aim: float, most: int) -> int | None:
    """The least number of trials that makes the interval so narrow if they scatter as these do;
    None if these are too few to tell, or if more than `most` are needed.
    """
    if len(values) < _LEAST:
        return None
    unit = 1.0 if judged.kind == "points" else abs(mean_of(values)) / 100.0
    deviation = spread(values)
    room = aim * judged.tolerance * unit
    return next((n for n in range(_LEAST, most + 1) if half_width(deviation, n) <= room), None)
