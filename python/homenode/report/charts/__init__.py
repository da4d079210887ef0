"""The specs of all charts, from plain points: curves, bars beside each other, waterfalls, what went
on over time. What the points mean is the business of the modules that make them; a front that draws
by itself takes `to_dict` of what these functions give.
"""

from homenode.report.charts.against import Against, against
from homenode.report.charts.bands import NULL, OUTSIDE, WITHIN, Placed, bands
from homenode.report.charts.beside import Beside, beside
from homenode.report.charts.colours import (
    BOTH,
    DARK,
    DARK_GROUND,
    DARKENED,
    GAIN,
    LETTER,
    LIGHT,
    LINE,
    LINES,
    LOSS,
    MANY,
    OTHER,
    PALE,
    QUIET,
    Ground,
    inked,
    letter_on,
    said,
)  # fmt: skip
from homenode.report.charts.courses import LIMIT, Moment, Panel, courses, over_time
from homenode.report.charts.curves import curves
from homenode.report.charts.heat import Hot, heat
from homenode.report.charts.intervals import Interval, intervals
from homenode.report.charts.loads import Loaded, loads
from homenode.report.charts.lying import Piece, lying
from homenode.report.charts.moves import Move, moves
from homenode.report.charts.sizes import Sized, sizes
from homenode.report.charts.slices import HEIGHTS, Slice, slices
from homenode.report.charts.spreads import Spread, spreads
from homenode.report.charts.waterfall import Step, steps

__all__ = [
    "BOTH", "DARK", "DARKENED", "DARK_GROUND", "GAIN", "HEIGHTS", "LETTER", "LIGHT", "LIMIT",
    "LINE", "LINES", "LOSS", "MANY", "NULL", "OTHER", "OUTSIDE", "PALE", "QUIET", "WITHIN",
    "Against", "Beside", "Ground", "Hot", "Interval", "Loaded", "Moment", "Move", "Panel", "Piece",
    "Placed", "Sized", "Slice", "Spread", "Step", "against", "bands", "beside", "courses",
    "curves", "heat", "inked", "intervals", "letter_on", "loads", "lying", "moves", "over_time",
    "said", "sizes", "slices", "spreads", "steps",
]  # fmt: skip
