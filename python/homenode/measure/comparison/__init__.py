"""Two systems side by side: two result files, two settings of one host, or a measured and a
simulated one.
"""

from homenode.measure.comparison.beside import Beside, beside
from homenode.measure.comparison.claim import Claim
from homenode.measure.comparison.compare import compare, compare_settings
from homenode.measure.comparison.comparison import Area, Comparison
from homenode.measure.comparison.refuse import differences

__all__ = [
    "Area",
    "Beside",
    "Claim",
    "Comparison",
    "beside",
    "compare",
    "compare_settings",
    "differences",
]
