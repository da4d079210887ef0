"""`homenode machines`, `homenode profiles` and `homenode control-program`."""

from __future__ import annotations

from typing import Annotated

import typer

from homenode.cli.output import JsonOption, show, show_json

NameArgument = Annotated[
    str | None,
    typer.Argument(help="Name, or a file of your own; a list if not given.", metavar="[NAME]"),
]

_LISTED = (
    "name", "title", "model", "generation", "nodes", "node_name", "cores", "threads_per_core",
)  # fmt: skip


def machines(name: NameArgument = None, as_json: JsonOption = False) -> None:
    """List the shipped machines, or show one.

    Each number is shown with its source, or as assumed with its range; for a mainframe also how
    many logical processors z/VM supports there.
    """
    from homenode.model import catalog
    from homenode.report.catalog import description_json, description_table
    from homenode.report.processors import limits_json, limits_table
    from homenode.report.tables import plain_table

    if name is not None:
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
    found = [catalog.machine(one) for one in catalog.machines()]
    if as_json:
        show_json([{key: getattr(one, key) for key in _LISTED} for one in found])
        return
    table = plain_table("machine", "model", "generation", "nodes", "cores", "threads/core")
    table.add_column("title")
    for one in found:
        nodes = f"{one.nodes} x {one.node_name}"
        cores, threads = str(one.cores), str(one.threads_per_core)
        table.add_row(one.name, one.model, one.generation, nodes, cores, threads, one.title)
    show(table)


def profiles(name: NameArgument = None, as_json: JsonOption = False) -> None:
    """List the shipped workload profiles, or show one.

    Each number is shown with where it comes from.
    """
    from homenode.model import catalog
    from homenode.report.catalog import description_json, description_table
    from homenode.report.tables import plain_table

    if name is not None:
        described = catalog.profile(name)
        if as_json:
            show_json(description_json(described))
        else:
            show(description_table(described))
        return
    found = [catalog.profile(one) for one in catalog.profiles()]
    if as_json:
        show_json([{"name": one.name, "title": one.title} for one in found])
        return
    table = plain_table("profile")
    table.add_column("title")
    for one in found:
        table.add_row(one.name, one.title)
    show(table)


def control_program(as_json: JsonOption = False) -> None:
    """Show what z/VM's Control Program costs: path lengths, locks, paging.

    Each number is shown with where it comes from; [partition.cp] in a scenario replaces it.
    """
    from homenode.model.catalog import control_program as shipped
    from homenode.report.catalog import description_json, description_table

    described = shipped.control_program()
    if as_json:
        show_json(description_json(described))
    else:
        show(description_table(described))
