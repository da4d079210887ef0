"""From records of runs to the figures of the published studies: ETR, busy, ITR, ITRR, processor
time of a unit, deviation, saving, scaling sets. Never asks where a record comes from.
"""

from homenode.later import TYPE_CHECKING, later

if TYPE_CHECKING:
    from homenode.hosts.reduce.measured import Measured, Plain
    from homenode.hosts.reduce.pair import Pair, pair_of
    from homenode.hosts.reduce.repetitions import Cell, Key, area_of, cells_of, systems_of
    from homenode.hosts.reduce.scaling import ScalingSet, Size, scaling_sets
    from homenode.hosts.reduce.summary import Summary, summarize, summary_json

__all__ = [
    "Cell",
    "Key",
    "Measured",
    "Pair",
    "Plain",
    "ScalingSet",
    "Size",
    "Summary",
    "area_of",
    "cells_of",
    "pair_of",
    "scaling_sets",
    "summarize",
    "summary_json",
    "systems_of",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = later(
        __name__,
        {
            "Cell": "repetitions",
            "Key": "repetitions",
            "Measured": "measured",
            "Pair": "pair",
            "Plain": "measured",
            "ScalingSet": "scaling",
            "Size": "scaling",
            "Summary": "summary",
            "area_of": "repetitions",
            "cells_of": "repetitions",
            "pair_of": "pair",
            "scaling_sets": "scaling",
            "summarize": "summary",
            "summary_json": "summary",
            "systems_of": "repetitions",
        },
    )
