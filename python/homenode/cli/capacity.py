"""`homenode partition-table`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from homenode.cli.output import JsonOption, show, show_json, show_text, tell
from homenode.errors import HomenodeError


def partition_table(
    table: Annotated[
        str,
        typer.Argument(
            help="Capability factors: a table by name, a .toml of your own, or a sysinfo text.",
            metavar="TABLE",
        ),
    ],
    processors: Annotated[
        str | None,
        typer.Option("--processors", help="Sizes that are compared.", metavar="N,N,..."),
    ] = None,
    parts: Annotated[
        str | None,
        typer.Option("--parts", help="Numbers of equal partitions.", metavar="N,N,..."),
    ] = None,
    total: Annotated[
        int | None,
        typer.Option("--total", help="Processors that are divided; the largest size if not given."),
    ] = None,
    interpolate: Annotated[
        bool,
        typer.Option("--interpolate", help="Draw a line between points the table does not have."),
    ] = False,
    picture: Annotated[
        Path | None,
        typer.Option("--picture", "-p", help="Also draw the curve (.svg or .png).", metavar="FILE"),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """What a large partition is worth by the side of smaller ones.

    Capability of partitions by their processors, and of one large partition against several small
    ones of as many processors, from a table of capacity adjustment factors (CAF).
    """
    from homenode import capacity
    from homenode.report.capacity import (
        capability_curve,
        capacity_json,
        capacity_lines,
        size_table,
        split_table,
    )

    read = capacity.capacity_table(table)
    asked = _numbers(processors, "--processors") or capacity.default_sizes(read)
    sizes = capacity.sizes(read, asked, interpolate=interpolate)
    whole = max(asked) if total is None else total
    counts = _numbers(parts, "--parts")
    counts = counts or capacity.default_parts(read, whole, interpolate=interpolate)
    splits = capacity.splits(read, whole, counts, interpolate=interpolate)
    if picture is not None:
        from homenode.report.pictures import save_picture

        tell(f"drew {save_picture(capability_curve(read), picture)}")
    if as_json:
        show_json(capacity_json(read, sizes, splits))
        return
    show(size_table(read, sizes), split_table(read, splits))
    factors = [size.factor for size in sizes] + [split.factor for split in splits]
    show_text(["", *capacity_lines(read, factors)])


def _numbers(text: str | None, option: str) -> list[int]:
    """The whole numbers of a list with commas; none if nothing was given."""
    if text is None:
        return []
    words = [word.strip() for word in text.split(",")]
    for word in words:
        if not (word.isascii() and word.isdigit() and len(word) < 10):
            raise HomenodeError(
                f"{option} {text}: {word or 'nothing'} is not a plain whole number",
                next_step=f"write numbers with commas, such as {option} 1,2,4",
            )
    return [int(word) for word in words]
