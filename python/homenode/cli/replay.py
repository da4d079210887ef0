"""`homenode replay`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from homenode.cli import complete
from homenode.cli.output import (
    JsonOption,
    OnlyPartitionOption,
    OutOption,
    show,
    show_json,
    show_text,
)

if TYPE_CHECKING:
    from homenode.records.replay import Summary


def replay(
    run: Annotated[
        str,
        typer.Argument(
            help="Run id, beginning of one, or latest.", metavar="RUN", autocompletion=complete.runs
        ),
    ] = "latest",
    partition: OnlyPartitionOption = None,
    summary: Annotated[bool, typer.Option("--summary", help="No rows of single windows.")] = False,
    out: OutOption = "runs",
    as_json: JsonOption = False,
) -> None:
    """Recorded figures against simulated ones, of a run of an imported recording.

    A row a window where one partition is asked for or there is only one, a summary, and the means
    of all figures that the recording and the run both tell.
    """
    from homenode.records.replay import replay as replayed
    from homenode.report.replays import (
        figures_table,
        folding_lines,
        replay_table,
        windows_table,
    )
    from homenode.simulate.run import Run

    kept = Run.load(run, out)
    found = replayed(kept)
    names = list(found.quantities) if partition is None else [kept.partition(partition)]
    summaries = [one for one in found.summaries() if one.partition in names]
    rows = [row for row in found.rows if row.partition in names]
    if as_json:
        answer: dict[str, Any] = {"run": kept.id, "partitions": [_data(one) for one in summaries]}
        if not summary:
            answer["windows"] = [
                {
                    **asdict(row),
                    "time": None if row.time is None else row.time.isoformat(),
                    "deviation_pct": row.deviation_pct,
                }
                for row in rows
            ]
        show_json(answer)
        return
    if len(names) == 1 and not summary:
        show(windows_table(rows))
    show(replay_table(summaries))
    show_text(folding_lines(summaries))
    for one in summaries:
        if len(one.figures) > 1:
            show(figures_table(one))


def _data(summary: Summary) -> dict[str, Any]:
    figures = [{**asdict(one), "ratio": one.ratio} for one in summary.figures]
    return {**asdict(summary), "figures": figures}
