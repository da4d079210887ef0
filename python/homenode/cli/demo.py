"""`homenode demo`: the main job from end to end."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from homenode.cli.explain import show_explanation
from homenode.cli.output import (
    JobsOption,
    JsonOption,
    OutOption,
    ReplicationsOption,
    show_json,
    show_text,
    tell,
)
from homenode.cli.study import run_one, show_study
from homenode.errors import StudyError

STUDY = "p795-lpar-affinity"
PICTURES = ("p795.png", "p795.svg")


def demo(
    folder: Annotated[
        Path, typer.Option("--pictures", help="Folder for the pictures.", metavar="FOLDER")
    ] = Path("out"),
    replications: ReplicationsOption = None,
    jobs: JobsOption = None,
    out: OutOption = "runs",
    as_json: JsonOption = False,
) -> None:
    """The main job from end to end.

    What poor affinity costs four LPARs of a Power 795, and where the cores went.
    """
    from homenode.evidence.study import load_study
    from homenode.report.pictures import save_picture, waterfall

    result = run_one(load_study(STUDY), replications, jobs, out)
    if not result.explanations:
        raise StudyError(f"study {STUDY} has no [[explain]] entry to draw")
    explanation = result.explanations[0]
    folder.mkdir(parents=True, exist_ok=True)
    pictures = [save_picture(waterfall(explanation), folder / name) for name in PICTURES]
    if as_json:
        show_json(
            {
                **result.as_json(),
                "explanation": explanation.as_json(),
                "pictures": [str(p) for p in pictures],
            }
        )
        return
    show_study(result)
    show_explanation(explanation)
    show_text(f"Pictures: {', '.join(str(picture) for picture in pictures)}")
    tell(f"more: homenode explain {explanation.breakdown.run}")
    program = "homenode" if shutil.which("homenode") else sys.argv[0]  # as make calls it
    tell(f"move LPAR4 to another book yourself: {program} serve, and open the first example")
    tell(_on_the_page())


def _on_the_page() -> str:
    """What somebody sees there: both who were crowded, where the explanation above is of one."""
    from homenode.serve.examples import example_path
    from homenode.serve.layouts import answer

    path = str(example_path("frame"))
    before = answer(path, {})
    mover = [*before["moves"]][-1]
    move = before["moves"][mover]
    place = next(one for one in move["to"] if one != move["at"])
    was, now = before["solved"], answer(path, {move["path"]: place})["solved"]
    back = [
        f"{name} {one['cores'] - now['partitions'][name]['cores']:.1f}"
        for name, one in was["partitions"].items()
    ]
    return (
        f"with {mover} in {place} the page shows {was['cores'] - now['cores']:.1f} cores fewer, "
        f"{' and '.join(back)}: of all that shared the place, where the explanation above is of "
        "one, and solved, where that is simulated"
    )
