"""A scenario made of facts: machine, partitions, and recorded use as demand.

>>> from homenode.records.importing.assemble import AssembleOptions, assemble  # doctest: +SKIP
>>> assemble(facts, AssembleOptions(profile="java")).save(Path("imported"))  # doctest: +SKIP
"""

from homenode.later import TYPE_CHECKING, later

if TYPE_CHECKING:
    from homenode.records.importing.assemble.assembled import Assembled
    from homenode.records.importing.assemble.options import AssembleOptions
    from homenode.records.importing.assemble.scenario import assemble

__all__ = ["AssembleOptions", "Assembled", "assemble"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = later(
        __name__,
        {
            "AssembleOptions": "options",
            "Assembled": "assembled",
            "assemble": "scenario",
        },
    )
