"""Recordings and listings of real servers made into a scenario.

Entry points: `import_paths` (files, folders and archives to a scenario), `read_paths` (what they
say, and nothing made of it). Every value of the scenario says where it comes from; what nothing
tells is assumed and said to be.

In this order, each knowing only those before it: `opening` (bytes, bounded), `facts` (what readers
hand over), `shared` (what readers have in common), `formats` (a module a family, which only adds to
facts), `assemble` (what counts, what is assumed, the files), and what stands here.
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
