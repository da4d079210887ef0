"""`homenode vparstatus` and `homenode parstatus`: a layout as the machine's tools show it;
`homenode processors`: the logical processors of a mainframe's layout.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from homenode.cli import complete
from homenode.cli.output import JsonOption, OutOption, show_json
from homenode.cli.scenarios import scenario_at
from homenode.errors import NotFoundError

if TYPE_CHECKING:
    from homenode.simulate.scenario import Scenario

LATEST = "latest"
_ABOUT = "A scenario file (- reads standard input) or a run by id; the newest run if not given."
LayoutArgument = Annotated[
    str, typer.Argument(help=_ABOUT, metavar="[SCENARIO|RUN]", autocompletion=complete.runs)
]


def vparstatus(
    which: LayoutArgument = LATEST,
    detailed: Annotated[bool, typer.Option("-v", help="Each partition in full.")] = False,
    machine: Annotated[bool, typer.Option("-M", help="A line a partition, for programs.")] = False,
    names: Annotated[
        list[str] | None,
        typer.Option("-p", help="Only this virtual partition; may be repeated.", metavar="NAME"),
    ] = None,
    out: OutOption = "runs",
    as_json: JsonOption = False,
) -> None:
    """Show virtual partitions as HP-UX would.

    Those of a layout, as its vparstatus prints them.
    """
    from homenode.tools import UsageError
    from homenode.tools import vparstatus as tool

    if detailed and machine:
        raise UsageError("vparstatus: -v and -M exclude each other", next_step="leave one out")
    form: tool.Form = "v" if detailed else "M" if machine else ""
    resolved = layout(which, out).resolved
    if as_json:
        show_json(tool.listing(resolved, form, names or ()))
    else:
        typer.echo(tool.render(resolved, form, names or ()), nl=False)


def parstatus(
    which: LayoutArgument = LATEST,
    cells: Annotated[bool, typer.Option("-C", help="The cells.")] = False,
    partitions: Annotated[bool, typer.Option("-P", help="The hard partitions.")] = False,
    server: Annotated[bool, typer.Option("-X", help="The server itself.")] = False,
    full: Annotated[
        bool, typer.Option("-V", help="Cells in full, with their cell-local memory.")
    ] = False,
    machine: Annotated[
        bool, typer.Option("-M", help="Lines for programs, of cells and hard partitions.")
    ] = False,
    cell: Annotated[
        int | None, typer.Option("-c", help="With -V, only this cell.", metavar="CELL")
    ] = None,
    out: OutOption = "runs",
    as_json: JsonOption = False,
) -> None:
    """Show cells and hard partitions as HP-UX would.

    Those of a layout, as its parstatus prints them; all if nothing is chosen.
    """
    from homenode.tools import UsageError
    from homenode.tools import parstatus as tool

    if cell is not None and not full:
        raise UsageError("parstatus: -c needs -V", next_step=f"write parstatus -V -c {cell}")
    if machine and (full or server):
        raise UsageError(
            f"parstatus: -M is a form of -C and -P, not of {'-V' if full else '-X'}",
            next_step="leave one out",
        )
    asked = {tool.COMPLEX: server, tool.CELLS: cells, tool.DETAILS: full}
    asked[tool.PARTITIONS] = partitions
    chosen = tuple(section for section, wanted in asked.items() if wanted) or tool.SECTIONS
    resolved = layout(which, out).resolved
    if as_json:
        show_json(tool.listing(resolved, chosen, cell))
    elif machine:
        typer.echo(tool.records(resolved, chosen), nl=False)
    else:
        typer.echo(tool.render(resolved, chosen, cell), nl=False)


def processors(
    which: LayoutArgument = LATEST, out: OutOption = "runs", as_json: JsonOption = False
) -> None:
    """Show the logical processors of a mainframe.

    Those of its partitions: core types, entitlement, numbers.
    """
    from homenode.cli.output import show
    from homenode.errors import ScenarioError
    from homenode.model.scenario.mainframe.kinds import is_mainframe
    from homenode.report.processors import layout_json, layout_table

    scenario = layout(which, out, simulated=False)
    if not is_mainframe(scenario.machine):
        raise ScenarioError(
            f"{scenario.machine.title} is no mainframe, its processors have no such numbers",
            next_step="homenode vparstatus and parstatus show machines of cells",
        )
    if as_json:
        show_json(layout_json(scenario.partitions))
    else:
        show(layout_table(scenario.partitions))


def layout(which: str, out: str, *, simulated: bool = True) -> Scenario:
    """The scenario of that file, or the one that a run was made of; without `simulated` a file's
    may be one that can only be looked at.
    """
    from homenode.simulate.run import Run
    from homenode.simulate.scenario import Scenario

    if names_file(which):
        return scenario_at(Path(which), simulated=simulated)
    try:
        run = Run.load(which, out)
    except NotFoundError as error:
        step = "a scenario file, whose name ends in .toml, can be shown without a run"
        raise NotFoundError(error.problem, asked=which, next_step=step) from None
    return Scenario.load(run.path / "scenario.toml")


def names_file(which: str) -> bool:
    """Whether a word means a scenario file (or standard input) rather than a run."""
    return which == "-" or Path(which).suffix == ".toml" or Path(which).is_file()
