"""All commands in one place, each with the line by which `--help` lists it."""

from __future__ import annotations

from typing import Annotated

import typer

from homenode.cli.lazy import Entry, Front
from homenode.version import program_version


class Commands(Front):
    """What `homenode` can be asked."""

    entries = (
        Entry("run", "run:run", "Simulate a layout or a sweep."),
        Entry("solve", "solve:solve", "Solve a layout or a sweep without simulating it."),
        Entry("sweep", "sweep:sweep", "Work off a sweep of thousands of points."),
        Entry("check", "check:check", "Check a scenario and show its layout; nothing is run."),
        Entry("show", "show:show", "Show the machine as a map: who is where, what is free."),
        Entry("top", "top:top", "Watch a run, a simulation or a recording."),
        Entry("runs", "run:runs", "List kept runs, newest first."),
        Entry("report", "report:report", "Write a run as one page to hand over."),
        Entry("compare", "points:compare", "Compare kept runs in one table."),
        Entry("explain", "explain:explain", "Where the cores went."),
        Entry("serve", "serve:serve", "Move partitions on a map, in a browser."),
        Entry("advise", "advise:advise", "The layout that costs least, with its reasons."),
        Entry(
            "consolidate",
            "consolidate:consolidate",
            "Where recorded partitions go, and the cores they need.",
        ),
        Entry("study", "study:study", "Compare with a published result."),
        Entry("calibrate", "calibrate:calibrate", "Fit a workload profile to a recorded run."),
        Entry(
            "scaling", "scaling:scaling", "How a z/VM partition scales, and what bends the curve."
        ),
        Entry("compare-machines", "compare:compare_machines", "What another machine would gain."),
        Entry("walk", "walk:walk", "What a line costs as a buffer in memory grows."),
        Entry(
            "partition-table",
            "partition_table:partition_table",
            "What a large partition is worth beside smaller ones.",
        ),
        Entry("sql", "sql:sql", "Ask kept runs anything."),
        Entry("machines", "catalog:machines", "List the shipped machines, or show one."),
        Entry("profiles", "catalog:profiles", "List the shipped workload profiles, or show one."),
        Entry("control-program", "catalog:control_program", "What z/VM's Control Program costs."),
        Entry("demo", "demo:demo", "The main job from end to end."),
        Entry("import", "importing:import_recordings", "Make a scenario of recordings of servers."),
        Entry("replay", "replay:replay", "Recorded figures against simulated."),
        Entry("topology", "topology:topology", "Show the processors and memory of a host."),
        Entry("export", "export:export_run", "Write a run in a form that other programs read."),
        Entry("measure", "measure.app:app", "Measure this host by real benchmarks."),
        Entry(
            "affinity", "affinity:affinity", "Show who lies where, and what a DPO run would bring."
        ),
        Entry("lsmemopt", "affinity:lsmemopt", "Show affinity scores as the HMC would."),
        Entry("vparstatus", "layout:vparstatus", "Show virtual partitions as HP-UX would."),
        Entry("parstatus", "layout:parstatus", "Show cells and hard partitions as HP-UX would."),
        Entry("processors", "layout:processors", "Show the logical processors of a mainframe."),
        Entry("fcx", "mainframe:fcx", "Show a run as z/VM's Performance Toolkit would."),
        Entry("hyptop", "mainframe:hyptop", "Show a run as hyptop would."),
        Entry("sysinfo", "mainframe:sysinfo", "Show /proc/sysinfo of a partition or a guest."),
        Entry(
            "lparstat",
            "tools:lparstat",
            "Show a partition as lparstat would.",
            own_h=True,
            passes_on=True,
        ),
        Entry(
            "mpstat",
            "tools:mpstat",
            "Show a partition, or a host, as mpstat would.",
            passes_on=True,
        ),
        Entry(
            "vmstat",
            "tools:vmstat",
            "Show a partition, or a host, as vmstat would.",
            passes_on=True,
        ),
        Entry("sar", "tools:sar", "Show a partition, or a host, as sar would.", passes_on=True),
        Entry(
            "pidstat",
            "tools:pidstat",
            "Show groups of a host as pidstat would.",
            own_h=True,
            passes_on=True,
        ),
        Entry(
            "domstats",
            "tools:domstats",
            "Show the guests of a KVM host as virsh domstats would.",
            passes_on=True,
        ),
        Entry(
            "virt-top",
            "tools:virt_top",
            "Show the guests of a KVM host as virt-top would.",
            passes_on=True,
        ),
        Entry(
            "xentop",
            "tools:xentop",
            "Show the domains of a Xen host as xentop would.",
            passes_on=True,
        ),
        Entry(
            "esxtop",
            "tools:esxtop",
            "Show virtual machines of ESXi as esxtop would.",
            passes_on=True,
        ),
        Entry(
            "numastat",
            "tools:numastat",
            "Show where memory lies on a host as numastat would.",
            passes_on=True,
        ),
        Entry("lssrad", "tools:lssrad", "Show a partition as lssrad would.", passes_on=True),
    )


app = typer.Typer(
    name="homenode",
    cls=Commands,
    help="What a partition layout costs: simulate it and see where the cores went.",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"homenode {program_version()}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options before the command."""
