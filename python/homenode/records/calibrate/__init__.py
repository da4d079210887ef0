"""From what was recorded to a profile: which of its free parameters the data determine, their
values with intervals, and a file that a scenario takes.

>>> import homenode
>>> fitted = homenode.fit_profile("latest", base="oltp")  # doctest: +SKIP
>>> fitted.write("mine.toml")  # doctest: +SKIP
"""

from homenode.later import TYPE_CHECKING, later

if TYPE_CHECKING:
    from homenode.records.calibrate.fitted import Fitted, Parameter
    from homenode.records.calibrate.front import fit_profile

__all__ = ["Fitted", "Parameter", "fit_profile"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = later(
        __name__,
        {
            "Fitted": "fitted",
            "Parameter": "fitted",
            "fit_profile": "front",
        },
    )
