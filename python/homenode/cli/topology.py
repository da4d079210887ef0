"""`homenode topology`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from homenode.cli.output import JsonOption, show_json, show_text, show_whole, tell


def topology(
    paths: Annotated[
        list[Path],
        typer.Argument(
            help="hwloc XML, a dump of /sys and /proc, lscpu's or virsh capabilities' output.",
            metavar="PATH...",
        ),
    ],
    xml: Annotated[bool, typer.Option("--xml", help="Print hwloc XML instead.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show the processors and memory of a host.

    With its caches, as lstopo prints them on a console.
    """
    from homenode import _engine
    from homenode.records.importing.hosts import hosts

    found = hosts(paths)
    answers: list[dict[str, Any]] = []
    for host in found:
        for notice in host.loaded.notices:
            tell(f"note: {notice}")
        if as_json:
            answers.append({"file": host.file, "format": host.form, **host.loaded.host})
        elif xml:
            show_whole(_engine.topology_xml(host.loaded.tree_json()).rstrip("\n"))
        else:
            if len(found) > 1:
                show_text(f"{host.file}:")
            show_whole(host.loaded.console().rstrip("\n"))
    if as_json:
        show_json({"hosts": answers})
