"""Two systems side by side: two result files, two settings of one host, or a measured and a
simulated one.
"""

from homenode.hosts.comparison.beside import Beside, beside
from homenode.hosts.comparison.claim import Claim
from homenode.hosts.comparison.compare import compare, compare_settings
from homenode.hosts.comparison.comparison import Area, Comparison
from homenode.hosts.comparison.refuse import differences

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
