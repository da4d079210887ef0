"""Recordings of real servers made into a scenario.

`import_paths` takes files, folders and archives, recognises what each of them is, and makes one
scenario of all of them: the machine, its partitions, and what they were recorded to use. Every
value of it says where it comes from; what no recording tells is assumed and said to be.
"""

from homenode.records.importing.cellular import Imported, import_files, import_sources
from homenode.records.importing.front import Outcome, import_paths, read_paths
from homenode.records.importing.opening.sources import ListingError, Notice, Source

__all__ = [
    "Imported",
    "ListingError",
    "Notice",
    "Outcome",
    "Source",
    "import_files",
    "import_paths",
    "import_sources",
    "read_paths",
]
