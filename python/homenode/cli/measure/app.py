"""The commands of `homenode measure`, each with the line by which `--help` lists it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import typer

from homenode.cli.lazy import Entry, Front
from homenode.errors import HomenodeError, closest
from homenode.model.shipped import shipped_names


class Commands(Front):
    """`homenode measure SUITE` is short for `homenode measure run SUITE`."""

    entries = (
        Entry("run", "measure.running:run", "Run a suite on this host, case by case."),
        Entry("ab", "measure.running:ab", "Two settings of this host in turns: a b b a ..."),
        Entry(
            "guests",
            "measure.guests:guests",
            "A host alone and its virtual machines at once.",
        ),
        Entry("list", "measure.lists:list_suites", "List the suites, or the cases of one."),
        Entry("adapters", "measure.lists:adapters", "List what a suite can be made of."),
        Entry(
            "tools", "measure.lists:tools", "Say which tools a suite needs and which are missing."
        ),
        Entry("show", "measure.results:show_result", "Print a kept result again."),
        Entry("validate", "measure.judging:validate", "Let this host judge the simulator."),
        Entry("compare", "measure.results:compare_files", "Two hosts by their result files."),
        Entry("beside", "measure.results:beside", "A measured case beside a simulated partition."),
        Entry("agent", "measure.agent:agent", "Serve a client that measures on two hosts."),
        Entry("needed", "measure.results:needed", "How many runs a claim takes."),
    )

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the word in where it is left out, unless a command was meant."""
        args = args or ["--help"]
        if args[0] not in self.commands and args[0] not in ctx.help_option_names:
            _refuse_mistyped(args[0], self.commands)
            args = ["run", *args]
        return super().parse_args(ctx, args)


def _refuse_mistyped(word: str, commands: Iterable[str]) -> None:
    """Raise for a word that is no suite and nearer to a command than to one."""
    known = shipped_names("measurements")
    if not word.isalpha() or word in known or Path(word).exists():
        return
    near = closest(word, [*commands, *known])
    if near is not None and near not in known:
        raise HomenodeError(
            f"homenode measure has no command and no suite {word}",
            next_step=f"did you mean {near}?",
        )


app = typer.Typer(
    name="measure",
    cls=Commands,
    help="Measure this host by real benchmarks: `homenode measure SUITE`.",
    add_completion=False,
    rich_markup_mode=None,
    subcommand_metavar="SUITE | COMMAND ...",
)


@app.callback()
def _common() -> None:
    """There is no option before the command."""
