"""`homenode calibrate`."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from homenode.cli import complete
from homenode.cli.output import JobsOption, JsonOption, OutOption, show, show_json, tell
from homenode.cli.progress import progress_bar
from homenode.errors import HomenodeError
from homenode.model.units import RATE, SHARE, Kind, UnitError

if TYPE_CHECKING:
    from homenode.records.calibrate import Fitted

BaseOption = Annotated[
    str,
    typer.Option(
        "--base",
        help="Profile to start from: a name or a FILE.toml.",
        metavar="NAME",
        autocompletion=complete.profiles,
    ),
]
RateOption = Annotated[
    str | None,
    typer.Option(
        "--rate",
        help='Units of work done, such as "1400/s", or a FILE.csv of them: time,rate[,cpi].',
        metavar="RATE",
    ),
]
ScenarioOption = Annotated[
    Path | None,
    typer.Option("--scenario", help="Scenario of the host that was measured.", metavar="FILE"),
]
KnowOption = Annotated[
    str | None,
    typer.Option(
        "--know", help="Figures that are known, such as cpu_per_tx_us,cpi.", metavar="NAMES"
    ),
]
FreeOption = Annotated[
    str | None,
    typer.Option(
        "--free",
        help="Parameters to fit: instructions,miss_m0,sharing,footprint.",
        metavar="NAMES",
    ),
]
CpiOption = Annotated[
    float | None,
    typer.Option("--cpi", help="Cycles an instruction, where they were counted.", metavar="N"),
]
AccuracyOption = Annotated[
    str,
    typer.Option("--accuracy", help="By how much a recorded figure may be off.", metavar="SHARE"),
]
NameOption = Annotated[str, typer.Option("--name", help="Name of the profile.", metavar="NAME")]


def calibrate(
    recordings: Annotated[
        list[str],
        typer.Argument(
            help="Kept runs, a FILE.json of homenode measure, or folders that import reads; several"
            " of one workload under several layouts tell more.",
            metavar="RECORDING...",
        ),
    ],
    base: BaseOption = "oltp",
    partition: Annotated[
        str | None,
        typer.Option("-p", "--partition", help="Partition that was recorded.", metavar="NAME"),
    ] = None,
    scenario: ScenarioOption = None,
    know: KnowOption = None,
    free: FreeOption = None,
    rate: RateOption = None,
    cpi: CpiOption = None,
    accuracy: AccuracyOption = "0.3 %",
    replications: Annotated[
        int, typer.Option("--replications", min=1, help="Replications of each trial.", metavar="N")
    ] = 3,
    name: NameOption = "calibrated",
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="File of the profile; NAME.toml if not given.", metavar="FILE"
        ),
    ] = None,
    jobs: JobsOption = None,
    root: OutOption = "runs",
    as_json: JsonOption = False,
) -> None:
    """Fit a workload profile to a recorded run.

    Says which of its parameters the recording determines, and writes a profile that a scenario
    takes with profile = "NAME.toml".
    """
    from homenode.records.calibrate import fit_profile

    told = {} if free is None else {"free": _names(free) or ()}
    written = output or Path(f"{name}.toml")
    if not written.parent.is_dir():
        raise HomenodeError(f"{written}: there is no folder {written.parent}")
    with progress_bar("calibrate") as progress:
        fitted = fit_profile(
            *recordings,
            base=base,
            name=name,
            partition=partition,
            scenario=scenario,
            know=_names(know),
            rate=None if rate is None else _rate(rate),
            cpi=cpi,
            accuracy=_read(SHARE, accuracy, "--accuracy"),
            replications=replications,
            jobs=jobs,
            root=root,
            progress=progress,
            **told,
        )
    _finish(fitted, fitted.write(written), as_json=as_json)


def _rate(text: str) -> float | Path:
    """A number, or a table of them."""
    path = Path(text)
    # What is too long for a name is none.
    with contextlib.suppress(OSError):
        if path.suffix == ".csv" or path.is_file():
            return path
    return _read(RATE, text, "--rate")


def _finish(fitted: Fitted, path: Path, *, as_json: bool) -> None:
    if as_json:
        show_json({**fitted.as_json(), "file": str(path)})
    else:
        show_fitted(fitted, path)


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [one.strip() for one in text.split(",") if one.strip()]


def _read(kind: Kind, text: str, option: str) -> float:
    try:
        return float(kind.parse(text))
    except UnitError as error:
        raise HomenodeError(f"{option}: {error}") from error


def show_fitted(fitted: Fitted, path: Path) -> None:
    """Tables and sentences."""
    from homenode.report.calibration import calibration_lines, calibration_tables

    for table in calibration_tables(fitted):
        show(table)
    for line in calibration_lines(fitted):
        tell(line)
    tell(f'{path}; in a scenario profile = "{path}"')
