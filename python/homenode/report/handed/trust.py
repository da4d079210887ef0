"""How far a run can be trusted: the studies that touch what it uses, and what is only assumed."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table

from homenode.errors import HomenodeError
from homenode.evidence.study import (
    Study,
    StudyResult,
    list_studies,
    load_study,
    recorded_outcome,
)
from homenode.model.catalog import MachineDescription, ProfileDescription
from homenode.report.catalog import figure_json
from homenode.report.studies import summary_table
from homenode.report.tables import plain_table

_ASSUMED = "assumed"


def studies_of(machine: MachineDescription, profiles: frozenset[str]) -> list[Study]:
    """Studies of the machine, then those of a profile."""
    ranked: list[tuple[int, str, Study]] = []
    for name in list_studies():
        study = load_study(name)
        nearness = _nearness(study, machine, profiles)
        if nearness is not None:
            ranked.append((nearness, name, study))
    return [study for _, _, study in sorted(ranked, key=lambda one: one[:2])]


def _nearness(study: Study, machine: MachineDescription, profiles: frozenset[str]) -> int | None:
    """0 for the machine itself, 1 for a profile; None for neither."""
    texts = [*_texts(study)]
    if any(f'"{machine.name}"' in text for text in texts):
        return 0
    if any(f'"{name}"' in text for text in texts for name in profiles):
        return 1
    return None


def _texts(study: Study) -> Iterator[str]:
    """What the study's own files say."""
    for path in sorted(study.folder.rglob("*.toml")):
        yield path.read_text(encoding="utf-8")


def outcomes(studies: list[Study]) -> list[StudyResult]:
    """What came out of these studies, as it is written down."""
    results = []
    for study in studies:
        try:
            results.append(recorded_outcome(study))
        except HomenodeError:  # a study of somebody's own that was not written down
            continue
    return results


def trust_table(results: list[StudyResult]) -> Table | None:
    """The same as a table; None of none."""
    return summary_table(results) if results else None


def trust_line(results: list[StudyResult]) -> str:
    """The same in a sentence."""
    counts = [one.not_fitted_count for one in results]
    rows, within = sum(one.rows for one in counts), sum(one.within for one in counts)
    if not rows:
        return "No published result holds this machine or this work."
    return (
        f"Of {rows} published figures of this machine or this work to which nothing is fitted,"
        f" {within} come out within their tolerance; one number for each metric, chosen knowing"
        f" them, would pass {sum(one.null_within or 0 for one in counts)}."
    )


def assumed_table(of: MachineDescription | ProfileDescription) -> Table:
    """Figures of a machine, or of the work of a profile, that nothing publishes, each with its
    range and why.
    """
    table = plain_table("figure", "value", "range", title=f"Assumed of {of.name}")
    table.add_column("why")
    for name, figure in of.figures():
        if figure.provenance != _ASSUMED:
            continue
        shown = figure_json(figure)
        between = " to ".join(map(str, shown["range"])) if shown["range"] else ""
        table.add_row(name, str(shown["value"]), between, figure.reason)
    return table
