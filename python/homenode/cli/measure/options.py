"""Options that several commands share, and what their words mean."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TypedDict

import typer

from homenode.cli import complete
from homenode.errors import HomenodeError

SUITE_HELP = "A suite's name, or its TOML file."
SuiteArgument = Annotated[
    str, typer.Argument(help=SUITE_HELP, metavar="SUITE", autocompletion=complete.measurements)
]
OnlyOption = Annotated[
    list[str] | None,
    typer.Option("--only", help="Only these adapters or cases; may be repeated.", metavar="A,B"),
]
CLAIM_HELP = "Hold this against it: at least so many per cent faster, as 30."
RepeatsOption = Annotated[
    int | None,
    typer.Option("--repeats", min=1, help="Repetitions, in place of the suite's.", metavar="N"),
]
SecondsOption = Annotated[
    float | None,
    typer.Option(
        "--seconds", min=0.01, help="Length of one, in place of the suite's.", metavar="S"
    ),
]
ProcessorsOption = Annotated[
    str | None,
    typer.Option("--processors", help="A scaling set: numbers of processors.", metavar="N,N,..."),
]
FileOption = Annotated[
    Path | None,
    typer.Option("-o", "--output", help="Result file; raw outputs beside it.", metavar="FILE.json"),
]
AnonymousOption = Annotated[
    bool, typer.Option("--anonymous", help="Keep nothing that names the host or its people.")
]
GateOption = Annotated[
    str,
    typer.Option(
        "--gate",
        help="Share of the host that others may use, and that may be stolen from it, as "
        "3%,steal=5%; `off` to count all.",
        metavar="PCT",
    ),
]
PatienceOption = Annotated[
    float,
    typer.Option(
        "--patience",
        min=0,
        help="Seconds to wait and repeat for a quiet host, in all.",
        metavar="S",
    ),
]
FolderOption = Annotated[
    Path | None,
    typer.Option("--folder", help="Where databases and files are made.", metavar="FOLDER"),
]
SeedOption = Annotated[int, typer.Option("--seed", help="Draws the order of turns.", metavar="N")]
_PERCENT = re.compile(r"\s*(?P<number>[+-]?\d+(?:\.\d+)?)\s*%?\s*")


def percentage(text: str, option: str) -> float:
    """A number of per cent, with or without its sign; `option` names it in messages."""
    found = _PERCENT.fullmatch(text)
    if found is None:
        from homenode.hosts.errors import MeasureError

        raise MeasureError(
            f"{option} {text}: that is no number of per cent", next_step=f"write {option} 30"
        )
    return float(found["number"])


def names_of(only: Sequence[str] | None) -> tuple[str, ...]:
    """Adapters and cases of all `--only`, each of which may hold several with commas.

    Raises `MeasureError` for one that names nothing: all would be
    """
    for words in only or ():
        if not words.strip(", "):
            from homenode.hosts.errors import MeasureError

            raise MeasureError(
                f"--only {words!r} names nothing",
                next_step="name adapters or cases, or leave it out",
            )
    every = (name.strip() for words in only or () for name in words.split(","))
    return tuple(dict.fromkeys(name for name in every if name))


def length_of(seconds: float | None) -> float | None:
    """Of a repetition [s]; what a suite may ask for too."""
    from homenode.hosts.suite_file import MOST_SECONDS

    if seconds is not None and not 0 < seconds <= MOST_SECONDS:
        raise HomenodeError(
            f"--seconds {seconds} makes no sense",
            next_step=f"write a number up to {MOST_SECONDS:g}",
        )
    return seconds


class Limits(TypedDict):
    """Shares of the host that others may use and that may be stolen; None where all runs count."""

    foreign_limit: float | None
    steal_limit: float


def limits_of(gate: str, steal: float) -> Limits:
    """What a gate lets through; `steal` holds where nothing is said of it."""
    from homenode.hosts.live.gate import FOREIGN_LIMIT

    if gate == "off":
        return Limits(foreign_limit=None, steal_limit=1.0)
    others = FOREIGN_LIMIT
    for word in gate.split(","):
        name, equals, value = (part.strip() for part in word.rpartition("="))
        limit = percentage(value, "--gate") / 100
        if name not in ("", "steal", "others") or not 0 < limit <= 1:
            raise HomenodeError(
                f"--gate {gate} makes no sense",
                next_step="write 3 %, or steal=5%, or both with a comma, or off",
            )
        if equals and name == "steal":
            steal = limit
        else:
            others = limit
    return Limits(foreign_limit=others, steal_limit=steal)
