"""How far a run can be trusted: the studies that touch what it uses, and what is only assumed."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table

from homenode.errors import HomenodeError
from homenode.evidence.study import Study, list_studies, load_study, recorded_outcome
from homenode.model.catalog import MachineDescription
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


def trust_table(studies: list[Study]) -> Table | None:
    """What came out of these studies, as it is written down; None of none."""
    results = []
    for study in studies:
        try:
            results.append(recorded_outcome(study))
        except HomenodeError:  # a study of somebody's own that was not written down
            continue
    return summary_table(results) if results else None


def assumed_table(machine: MachineDescription) -> Table:
    """Figures of the machine that nothing publishes, each with its range and why."""
    table = plain_table("figure", "value", "range")
    table.add_column("why")
    for name, figure in machine.figures():
        if figure.provenance != _ASSUMED:
            continue
        shown = figure_json(figure)
        between = " to ".join(map(str, shown["range"])) if shown["range"] else ""
        table.add_row(name, str(shown["value"]), between, figure.reason)
    return table
