"""What the pages say of the studies, from what is written down of their results; and whether that
is still what comes out: `make studies`.

Every study is run, printed, and held against `results.csv` and the page beside it; the exit code is
1 if a row moved or a page says something else. With `--write` what comes out is written down and
the pages follow. Names of studies restrict it to these.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from homenode.cli.study import run_one, show_study, show_summary
from homenode.errors import HomenodeError
from homenode.evidence.study import (
    Study,
    StudyResult,
    list_studies,
    load_study,
    recorded_outcome,
)
from homenode.evidence.study.outcome import moved_rows, outcome_path, outcome_text
from homenode.report.study_pages import filled, result_block, trust_table

_ROOT = Path(__file__).resolve().parents[2]
WITH_ALL = (_ROOT / "README.md", _ROOT / "docs" / "trust.md")
"""Pages with the table of all studies."""


def pages() -> dict[Path, Callable[[], str]]:
    """Each study's page and who writes it."""
    return {page_of(study): partial(study_page, study) for study in map(load_study, list_studies())}


def page_of(study: Study) -> Path:
    """The page of a study."""
    return study.folder / "README.md"


def study_page(study: Study) -> str:
    """A study's page with the result that is written down."""
    text = page_of(study).read_text(encoding="utf-8")
    return filled(text, "results", result_block(recorded_outcome(study)))


def front_page(text: str) -> str:
    """A page with the table of all studies."""
    results = [recorded_outcome(load_study(name)) for name in list_studies()]
    return filled(text, "studies", trust_table(results))


def check(result: StudyResult) -> list[str]:
    """What is written down of a study and is not so any more."""
    study = result.study
    try:
        told = moved_rows(recorded_outcome(study), result)
        if page_of(study).read_text(encoding="utf-8") != study_page(study):
            told.append(f"{page_of(study).name} says something else: run `make docs`")
    except HomenodeError as error:
        told = [str(error)]
    return [f"{study.name}: {line}" for line in told]


def write(result: StudyResult) -> None:
    """Write down what came out, and bring the page up to date."""
    outcome_path(result.study).write_text(outcome_text(result), encoding="utf-8")
    page_of(result.study).write_text(study_page(result.study), encoding="utf-8")


def main(arguments: Sequence[str]) -> int:
    """Run the studies; hold them against their pages, or write them down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("studies", nargs="*", metavar="STUDY", help="these only; all of them else")
    parser.add_argument("--write", action="store_true", help="write down what comes out")
    asked = parser.parse_args(arguments)
    unknown = sorted(set(asked.studies) - set(list_studies()))
    if unknown:
        parser.error(f"no study {', '.join(unknown)}; there are {', '.join(list_studies())}")
    results, wrong = [], []
    with tempfile.TemporaryDirectory(prefix="homenode-studies-") as folder:
        for study in map(load_study, asked.studies or list_studies()):
            result = run_one(study, None, None, folder)
            show_study(result, kept=False)
            results.append(result)
            if asked.write:
                write(result)
            wrong += check(result)
    show_summary(results)
    for line in wrong:
        print(line, file=sys.stderr)
    if wrong:
        print(
            "studies: the pages do not say what comes out; `make studies WRITE=1` and `make docs` "
            "bring them up to date if that is meant",
            file=sys.stderr,
        )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
