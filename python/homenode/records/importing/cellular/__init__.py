"""Listings of a real server made into a scenario.

`import_files` reads the outputs of `vparstatus -v`, `vparstatus -M` and `parstatus -C` and makes
one scenario of all of them, in which every value says where it comes from. A value that no listing
tells is assumed and said to be; what contradicts itself is refused.
"""

from homenode.records.importing.cellular.scenario import Imported, import_files, import_sources
from homenode.records.importing.opening.sources import ListingError, Notice, Source

__all__ = ["Imported", "ListingError", "Notice", "Source", "import_files", "import_sources"]
