"""What the first screen and the studies show; called in worker processes."""

from __future__ import annotations

from typing import Any

from homenode.errors import DamagedRunError, HomenodeError
from homenode.evidence.study import list_studies, load_study, recorded_outcome
from homenode.model.scenario import Scenario
from homenode.report.handed.section import grid_of
from homenode.report.pictures import page_drawing
from homenode.report.studies import error_lines, miss_lines, study_table
from homenode.report.study_pictures import rows_picture
from homenode.serve.examples import EXAMPLES
from homenode.serve.layouts import changes_data, grid_data
from homenode.serve.workspace import MOST_BYTES, MOST_FILES
from homenode.simulate.kept.kept_run import KeptRun
from homenode.version import program_version

_ADVICE_S = 20
_DURATION_S = 3600
_MOST_RUNS = 200


def start_data(out: str, scenarios: dict[str, str]) -> dict[str, Any]:
    """What there is to open. Only runs that are whole are shown."""
    damaged: list[DamagedRunError] = []
    kept = KeptRun.all(out, damaged)
    return {
        "version": program_version(),
        "examples": [
            {"name": name, "title": title, "platform": platform}
            for name, (_, _, platform, title) in EXAMPLES.items()
        ],
        "runs": [
            {
                "id": one.id,
                "scenario": one.name,
                "title": one.name,
                "when": str(one.provenance.get("date", "")),
                "version": str(one.provenance.get("version", "")),
                "changes": changes_data(one.changes),
            }
            for one in kept[:_MOST_RUNS]
        ],
        "kept": len(kept),
        "scenarios": [
            {"id": name, "name": name, "title": _title(path)} for name, path in scenarios.items()
        ],
        "limits": {
            "upload_bytes": MOST_BYTES,
            "files": MOST_FILES,
            "advise_s": _ADVICE_S,
            "duration_s": _DURATION_S,
        },
    }


def _title(path: str) -> str:
    scenario = Scenario.load(path)
    return scenario.title or scenario.name


def studies_data() -> list[dict[str, Any]]:
    """A line a study, as its result is written down."""
    found = []
    for name in list_studies():
        try:
            result = recorded_outcome(load_study(name))
        except HomenodeError:  # of somebody's own, never written down
            continue
        count = result.not_fitted_count
        found.append(
            {
                "name": name,
                "title": result.study.title,
                "score": f"{count.within} of {count.rows}",
                "null_score": None if count.null_within is None else str(count.null_within),
                "platform": "",
            }
        )
    return found


def study_data(name: str) -> dict[str, Any]:
    """One study: how its rows came out, which were missed and why."""
    result = recorded_outcome(load_study(name))
    table = grid_data(grid_of(study_table(result)))
    lines = [*error_lines(result), *miss_lines(result)]
    chart = rows_picture(result)
    says = chart.to_dict()["description"]
    picture = {"title": "", "svg": page_drawing(chart), "says": says}
    drawn = [{**picture, "table": None}]
    return {"title": result.study.title, "lines": lines, "pictures": drawn, "tables": [table]}
