"""hyptop: partitions of the machine as PR/SM's counters show them, or virtual machines of a
partition as z/VM's do.

Layout, fields, units and formats are those of the tool (manual page hyptop.8 and source of
s390-tools). What is not modelled is `-`: memory that a virtual machine uses. The window of one
system (`sys`) is not shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from homenode.errors import nearest
from homenode.tools.errors import UsageError
from homenode.tools.guestview import GuestView, clock, refuse_other_machines, zvm_partition
from homenode.tools.hyptop import structured
from homenode.tools.hyptop.columns import LPAR, SYSTEM, ZVM, Column, chosen, usual
from homenode.tools.hyptop.systems import TYPES, Span, System, guests, lpars, physical, spans

_API_LEVEL = 1
_SCREEN = 80
_HELP = "?=help"
_END_OF_BATCH = "-" * 79
_DEFAULT_SORT = "c"


@dataclass(frozen=True)
class Request:
    """What was asked, in the tool's words."""

    partition: str | None = None
    """Virtual machines of this partition; None: the partitions."""
    fields: str | None = None
    sort: Sequence[str] = ()
    """Letters; the same one twice reverses the order."""
    systems: Sequence[str] = ()
    types: Sequence[str] = ()
    batch: bool = False
    delay_s: float | None = None
    iterations: int | None = None
    form: str | None = None


def render(view: GuestView, request: Request) -> str:
    """What the tool would print; raises `ToolError` for what it would refuse."""
    refuse_other_machines(view, "hyptop")
    there = LPAR if request.partition is None else ZVM
    looks = _looks(view, request)
    if request.form is not None:
        if request.form.lower() not in structured.FORMATS:
            near = nearest(request.form, structured.FORMATS)
            raise UsageError(f'hyptop: Unknown format "{request.form}"{near}', asked=request.form)
        meta = {"api_level": _API_LEVEL, "run": view.name}
        return structured.render(request.form.lower(), meta, looks, list(there))
    threads = any(view.smt(str(one["name"])) > 1 for one in view.partitions)
    shown = chosen(request.fields, there) if request.fields else usual(there, threads=threads)
    return "".join(_screen(look, shown, request.batch) for look in looks)


def _looks(view: GuestView, request: Request) -> list[structured.Iteration]:
    types = _types(view, request)
    found = []
    for number, span in enumerate(spans(view, request.delay_s, request.iterations), start=1):
        systems = _sorted(_picked(_systems(view, request, span, types), request), request)
        found.append(structured.Iteration(number, clock(span.end), types, systems))
    return found


def _types(view: GuestView, request: Request) -> dict[str, int]:
    """Core types that are counted, with their physical cores."""
    for kind in request.types:
        if kind.upper() not in TYPES:
            raise UsageError(
                f'hyptop: Invalid CPU type "{kind}"', there=f"there are {' '.join(TYPES)}"
            )
    if request.partition is not None:
        name = zvm_partition(view, request.partition)
        return {"UN": view.processors(name) * view.smt(name)}
    asked = {kind.upper() for kind in request.types} or set(TYPES)
    return {kind: count for kind, count in physical(view).items() if kind in asked}


def _systems(view: GuestView, request: Request, span: Span, types: dict[str, int]) -> list[System]:
    if request.partition is not None:
        return guests(view, zvm_partition(view, request.partition), span)
    return lpars(view, span, tuple(types) if request.types else TYPES)


def _picked(there: list[System], request: Request) -> list[System]:
    names = [one.name for one in there]
    for name in request.systems:
        if name not in names:
            raise UsageError(f"hyptop: There is no system {name}{nearest(name, names)}", asked=name)
    return [one for one in there if not request.systems or one.name in request.systems]


def _sorted(there: list[System], request: Request) -> list[System]:
    """Largest first; names rise. Asking for the same letter twice turns the order around."""
    letter = request.sort[-1] if request.sort else _DEFAULT_SORT
    reverse = bool(request.sort) and list(request.sort).count(letter) % 2 == 0
    if letter == SYSTEM.letter:
        return sorted(there, key=lambda one: one.name, reverse=reverse)
    if there and letter not in there[0].values:
        raise UsageError(f'hyptop: Sort field "{letter}" is not available')

    def size(one: System) -> int:
        value = one.values[letter]
        return value if isinstance(value, int) else -1

    return sorted(there, key=size, reverse=not reverse)


def _screen(look: structured.Iteration, shown: list[Column], batch: bool) -> str:
    columns = [SYSTEM, *shown]
    last = {one.letter: one.last([s.values[one.letter] for s in look.systems]) for one in shown}
    cells = [
        [one.name, *(column.text(one.values[column.letter]) for column in shown)]
        for one in (*look.systems, System("", last))
    ]
    heads = [[column.heading for column in columns], [f"({column.unit})" for column in columns]]
    widths = [max(len(row[place]) for row in (*heads, *cells)) for place in range(len(columns))]
    lines = [_head(look), *(_line(row, widths) for row in (*heads, *cells))]
    return "\n".join([*lines, *([_END_OF_BATCH] if batch else [])]) + "\n"


def _head(look: structured.Iteration) -> str:
    types = "  ".join(f"{kind}({count})" for kind, count in look.types.items())
    return f"{look.time} | cpu-t: {types}".ljust(_SCREEN - len(_HELP)) + _HELP


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    first, *rest = (
        cell.rjust(width) if place else cell.ljust(width)
        for place, (cell, width) in enumerate(zip(row, widths, strict=True))
    )
    return " ".join([first, *rest]).rstrip()
