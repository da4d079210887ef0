"""All commands in one place."""

from __future__ import annotations

from typing import Annotated

import typer

from homenode.cli import (
    calibrate,
    capacity,
    catalog,
    compare,
    demo,
    explain,
    export,
    importing,
    layout,
    mainframe,
    measure,
    replay,
    run,
    scaling,
    sql,
    study,
    tools,
    topology,
    walk,
)

app = typer.Typer(
    name="homenode",
    help="What a partition layout costs: simulate it and see where the cores went.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(asked: bool) -> None:
    if asked:
        from homenode.simulate.runner.running import program_version

        typer.echo(f"homenode {program_version()}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options before the command."""


app.command()(run.run)
app.command()(run.runs)
app.command()(explain.explain)
app.command()(study.study)
app.command()(calibrate.calibrate)
app.command()(scaling.scaling)
app.command()(compare.compare_machines)
app.command()(walk.walk)
app.command()(capacity.partition_table)
app.command()(sql.sql)
app.command()(catalog.machines)
app.command()(catalog.profiles)
app.command("control-program")(catalog.control_program)
app.command()(demo.demo)
app.command("import")(importing.import_recordings)
app.command()(replay.replay)
app.command()(topology.topology)
app.command("export")(export.export_run)
app.add_typer(measure.app, name="measure")
layout.register(app)
mainframe.register(app)
tools.register(app)
