"""The specs of all charts, from plain points: curves, bars beside each other, waterfalls, what went
on over time. What the points mean is the business of the modules that make them; a front that draws
by itself takes `to_dict` of what these functions give.
"""

from homenode.report.charts.beside import Beside, beside
from homenode.report.charts.colours import (
    DARK,
    DARK_GROUND,
    GAIN,
    LOSS,
    MANY,
    OTHER,
    PALE,
    QUIET,
    on_dark,
    said,
)
from homenode.report.charts.courses import LIMIT, Moment, Panel, courses, over_time
from homenode.report.charts.curves import curves
from homenode.report.charts.lying import Piece, lying
from homenode.report.charts.spreads import Spread, spreads
from homenode.report.charts.waterfall import Step, steps

__all__ = [
    "DARK", "DARK_GROUND", "GAIN", "LIMIT", "LOSS", "MANY", "OTHER", "PALE", "QUIET", "Beside",
    "Moment", "Panel", "Piece", "Spread", "Step", "beside", "courses", "curves", "lying",
    "on_dark", "over_time", "said", "spreads", "steps",
]  # fmt: skip
