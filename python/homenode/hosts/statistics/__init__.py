"""Statistics of runs: how much one differs from another, and whether that can be told at all.

The unit is always a run, never a second of one. All is computed on logarithms, since what is asked
for is a ratio: `x` runs of one system against `y` of another, and how many times the other is it.
Nothing here knows what was measured, or whether it was.
"""

from homenode.later import TYPE_CHECKING, later

if TYPE_CHECKING:
    from homenode.hosts.statistics.bootstrap import GeometricMean, geometric_mean
    from homenode.hosts.statistics.floor import noise_floor
    from homenode.hosts.statistics.laws import SqrtLaw, Usl, fit_sqrt_law, fit_usl
    from homenode.hosts.statistics.power import detectable, runs_needed
    from homenode.hosts.statistics.ranks import ALPHA, fewest_runs, holm, rank_p
    from homenode.hosts.statistics.ratio import Ratio, ratio_of_pairs, ratio_of_samples
    from homenode.hosts.statistics.samples import Spread, cv, log_mean, spread
    from homenode.hosts.statistics.warmup import WarmUp, slope_of_rest, warm_up

__all__ = [
    "ALPHA",
    "GeometricMean",
    "Ratio",
    "Spread",
    "SqrtLaw",
    "Usl",
    "WarmUp",
    "cv",
    "detectable",
    "fewest_runs",
    "fit_sqrt_law",
    "fit_usl",
    "geometric_mean",
    "holm",
    "log_mean",
    "noise_floor",
    "rank_p",
    "ratio_of_pairs",
    "ratio_of_samples",
    "runs_needed",
    "slope_of_rest",
    "spread",
    "warm_up",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = later(
        __name__,
        {
            "ALPHA": "ranks",
            "GeometricMean": "bootstrap",
            "Ratio": "ratio",
            "Spread": "samples",
            "SqrtLaw": "laws",
            "Usl": "laws",
            "WarmUp": "warmup",
            "cv": "samples",
            "detectable": "power",
            "fewest_runs": "ranks",
            "fit_sqrt_law": "laws",
            "fit_usl": "laws",
            "geometric_mean": "bootstrap",
            "holm": "ranks",
            "log_mean": "samples",
            "noise_floor": "floor",
            "rank_p": "ranks",
            "ratio_of_pairs": "ratio",
            "ratio_of_samples": "ratio",
            "runs_needed": "power",
            "slope_of_rest": "warmup",
            "spread": "samples",
            "warm_up": "warmup",
        },
    )
