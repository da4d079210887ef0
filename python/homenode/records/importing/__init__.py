"""Recordings of real servers made into a scenario.

`import_paths` takes files, folders and archives, recognises what each of them is, and makes one
scenario of all of them: the machine, its partitions, and what they were recorded to use. Every
value of it says where it comes from; what no recording tells is assumed and said to be.
"""

from homenode.later import TYPE_CHECKING, later

if TYPE_CHECKING:
    from homenode.records.importing.assemble import Assembled, AssembleOptions
    from homenode.records.importing.front import import_paths, read_paths
    from homenode.records.importing.opening.sources import ListingError, Notice

__all__ = ["AssembleOptions", "Assembled", "ListingError", "Notice", "import_paths", "read_paths"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = later(
        __name__,
        {
            "AssembleOptions": "assemble",
            "Assembled": "assemble",
            "ListingError": "opening.sources",
            "Notice": "opening.sources",
            "import_paths": "front",
            "read_paths": "front",
        },
    )
