"""`homenode walk`."""

from __future__ import annotations

from typing import Annotated

import typer

from homenode.cli import complete
from homenode.cli.output import JsonOption, show, show_json

_SMALLEST, _LARGEST = 16 << 10, 1 << 30


def walk(
    machine: Annotated[
        str,
        typer.Argument(
            help="Machine by name, or a file of your own.",
            metavar="MACHINE",
            autocompletion=complete.machines,
        ),
    ],
    size: Annotated[
        list[str] | None,
        typer.Option(
            "--size", help="Length of the buffer, such as 24MiB; may be repeated.", metavar="SIZE"
        ),
    ] = None,
    pattern: Annotated[
        list[str] | None,
        typer.Option("--pattern", help="How it is gone through; may be repeated.", metavar="NAME"),
    ] = None,
    cores: Annotated[
        int,
        typer.Option(
            "--cores", help="Cores beside one memory that do so, each with its own buffers."
        ),
    ] = 1,
    base: Annotated[
        str | None,
        typer.Option(
            "--base",
            help="Another machine to hold it against.",
            metavar="MACHINE",
            autocompletion=complete.machines,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """What a line costs as a buffer in memory grows.

    Goes through a buffer and says which level it lives in. Without a size, powers of two from
    16 KiB to 1 GiB; without a pattern, a read of every word.
    """
    from homenode.evidence.compare.walk import parse_size, powers_of_two, walk_bytes, walk_machine
    from homenode.model import catalog
    from homenode.report.walks import walk_json, walk_table

    described = catalog.machine(machine)
    hierarchy = walk_machine(described)
    other = None if base is None else catalog.machine(base)
    against = None if other is None else walk_machine(other)
    sizes = [parse_size(text) for text in size] if size else powers_of_two(_SMALLEST, _LARGEST)
    tables, plain = [], []
    for name in pattern or ["read"]:
        rows = [(bytes_, walk_bytes(hierarchy, name, bytes_, cores)) for bytes_ in sizes]
        others = [walk_bytes(against, name, bytes_, cores) for bytes_ in sizes] if against else []
        shown = None if other is None else (other.name, others)
        tables.append(walk_table(described.name, name, rows, shown))
        for index, (bytes_, walked) in enumerate(rows):
            beside = others[index] if others else None
            plain.append(walk_json(described.name, name, bytes_, walked, beside))
    if as_json:
        show_json(plain)
    else:
        show(*tables)
