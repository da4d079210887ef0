"""`homenode machines`, `homenode profiles` and `homenode control-program`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from homenode.cli import complete
from homenode.cli.output import JsonOption, show, show_json

_ABOUT = "Name, or a file of your own; a list if not given."
MachineArgument = Annotated[
    str | None,
    typer.Argument(help=_ABOUT, metavar="[NAME]", autocompletion=complete.machines),
]
ProfileArgument = Annotated[
    str | None,
    typer.Argument(help=_ABOUT, metavar="[NAME]", autocompletion=complete.profiles),
]


def machines(name: MachineArgument = None, as_json: JsonOption = False) -> None:
    """List the shipped machines, or show one.

    Threads are those of a core. Of one machine each number is shown with its source, or as assumed
    with its range; for a mainframe also how many logical processors z/VM supports there.
    """
    if name is not None:
        from homenode.model import catalog
        from homenode.report.catalog import description_json, description_table
        from homenode.report.processors import limits_json, limits_table

        described = catalog.machine(name)
        if as_json:
            extra = {"model": described.model, "generation": described.generation}
            supported = limits_json(described)
            more = {"zvm_limits": supported} if supported else {}
            show_json({**description_json(described), **extra, **more})
        else:
            show(description_table(described))
            if described.zvm is not None:
                show(limits_table(described))
        return
    found = _listed("machines")
    if as_json:
        show_json(found)
        return
    from homenode.report.tables import plain_table

    table = plain_table("machine", "nodes", "cores", "threads")
    for column in ("generation", "title"):
        table.add_column(column)
    for one in found:
        nodes = f"{one['nodes']} x {one['node_name']}"
        cores, threads = str(one["cores"]), str(one["threads_per_core"])
        table.add_row(one["name"], nodes, cores, threads, one["generation"], one["title"])
    show(table)


def profiles(name: ProfileArgument = None, as_json: JsonOption = False) -> None:
    """List the shipped workload profiles, or show one.

    Each number is shown with where it comes from.
    """
    if name is not None:
        from homenode.model import catalog
        from homenode.report.catalog import description_json, description_table

        described = catalog.profile(name)
        if as_json:
            show_json(description_json(described))
        else:
            show(description_table(described))
        return
    found = _listed("profiles")
    if as_json:
        show_json(found)
        return
    from homenode.report.tables import plain_table

    table = plain_table("profile")
    table.add_column("title")
    for one in found:
        table.add_row(one["name"], one["title"])
    show(table)


def _listed(kind: str) -> list[dict[str, Any]]:
    """What is shipped of a kind: from the index, or where it is not of these files, from them."""
    from homenode.model.index import MACHINE, PROFILE, indexed

    found = indexed(kind)
    if found is not None:
        return found
    from homenode.model import catalog

    if kind == "machines":
        described = map(catalog.machine, catalog.machines())
        return [{key: getattr(one, key) for key in MACHINE} for one in described]
    return [
        {key: getattr(one, key) for key in PROFILE}
        for one in map(catalog.profile, catalog.profiles())
    ]


def control_program(as_json: JsonOption = False) -> None:
    """What z/VM's Control Program costs.

    Path lengths, locks, paging. Each number is shown with where it comes from; [partition.cp] in a
    scenario replaces it.
    """
    from homenode.model.catalog import control_program as shipped
    from homenode.report.catalog import description_json, description_table

    described = shipped.control_program()
    if as_json:
        show_json(description_json(described))
    else:
        show(description_table(described))
