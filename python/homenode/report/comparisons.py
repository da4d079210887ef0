"""Two machines side by side, for the terminal."""

from __future__ import annotations

from rich.markup import escape
from rich.table import Table

from homenode.errors import listed
from homenode.evidence.compare.causes import CAUSES, MEANING, WALK_CAUSES
from homenode.evidence.compare.outcome import CaseResult, MachineComparison
from homenode.evidence.compare.suite import WorkClass
from homenode.model.numbers import NOTHING, number, signed
from homenode.report.tables import plain_table

_LEAST_POINTS = 0.05
"""Half of the last digit that is printed."""


def comparison_tables(result: MachineComparison) -> list[Table]:
    """A table a class: throughput, saving, and where the saving comes from."""
    return [_class_table(group, results) for group, results in result.by_class()]


def _class_table(group: WorkClass, results: list[CaseResult]) -> Table:
    causes = _causes(results)
    walked = group.measure == "walk"
    answers = any(result.response_saving_pct is not None for result in results)
    table = plain_table(
        "case",
        "ratio",
        "gain %",
        "from level" if walked else "over the loads",
        "saving %",
        *(["response %"] if answers else []),
        *causes,
        title=f"{group.name}: {group.title}",
    )
    for result in results:
        by_cause = result.saving_by_cause
        table.add_row(
            escape(result.case.name),
            number(result.ratio),
            signed(result.gain_pct.mean, 1),
            _levels(result) if walked else _range(result),
            number(result.saving_pct.mean, 1),
            *([number(result.response_saving_pct, 1)] if answers else []),
            *(signed(by_cause.get(cause), 1) for cause in causes),
        )
        for name, pair in result.guests.items():
            parts = pair.saving_by_cause
            table.add_row(
                f"  {escape(name)}",
                number(
                    1.0 + pair.gain_pct.mean / 100.0 if pair.gain_pct.mean is not None else None
                ),
                signed(pair.gain_pct.mean, 1),
                NOTHING,
                number(pair.saving_pct.mean, 1),
                *([number(pair.response_saving_pct, 1)] if answers else []),
                *(signed(parts.get(cause), 1) for cause in causes),
            )
    return table


def _causes(results: list[CaseResult]) -> list[str]:
    """Causes that show in any of the rows, in their usual order."""
    shown = {
        cause
        for result in results
        for parts in (result.saving_by_cause, *(g.saving_by_cause for g in result.guests.values()))
        for cause, points in parts.items()
        if abs(points) >= _LEAST_POINTS
    }
    usual = [*CAUSES, *WALK_CAUSES]
    return sorted(shown, key=lambda c: (usual.index(c) if c in usual else len(usual), c))


def _by_the_maker(result: MachineComparison) -> list[str]:
    """What the maker publishes of one processor of each, where both are told."""
    told = [one for one in result.pci if one is not None]
    if len(told) != 2:
        return []
    base, machine = told
    indices = f"Published capacity index of one processor (PCI): {base:g} and {machine:g}, "
    return [f"{indices}{number(machine / base)} in the mean of the maker's workloads."]


def _range(result: CaseResult) -> str:
    spread = result.gain_range
    return NOTHING if spread is None else f"{spread[0]:+.1f}..{spread[1]:+.1f}"


def _levels(result: CaseResult) -> str:
    pair = result.pairs[0]
    before, after = pair.base.level or NOTHING, pair.machine.level or NOTHING
    return before if before == after else f"{before} > {after}"


def comparison_lines(result: MachineComparison) -> list[str]:
    """How to read the tables, and what they leave out."""
    shown = dict.fromkeys(c for _, results in result.by_class() for c in _causes(results))
    how = (
        f"ratio: throughput of {result.machine} by that of {result.base}, mean over the loads; "
        "saving: processor time of a unit of work."
    )
    where = "On the right, where the saving comes from: points that add up to it."
    answered = any(one.response_saving_pct is not None for one in result.cases)
    shorter = ["Response: mean response time of a unit, by how much it is shorter."] * answered
    lines = [how, *shorter, where, *(f"  {cause}: {MEANING.get(cause, cause)}" for cause in shown)]
    left_out = [
        f"  {group.name}: {group.not_modelled}"
        for group, _ in result.by_class()
        if group.not_modelled
    ]
    if left_out:
        lines += ["Not modelled:", *left_out]
    for why in dict.fromkeys(result.left_out.values()):
        names = [name for name, reason in result.left_out.items() if reason == why]
        lines.append(f"left out: {listed(names)}: {why}")
    lines += _by_the_maker(result)
    if result.unrated and result.cases:
        lines.append(
            f"no core_rate is stated for {' and '.join(result.unrated)}: at equal clock its core "
            "counts as fast as the one that the profiles are stated for."
        )
    if None not in result.instruction_sets and len(set(result.instruction_sets)) > 1:
        lines.append(
            f"instructions of {' and of '.join(map(str, result.instruction_sets))} count as the "
            "same work, which they are not: no ratio of these two machines holds for a program."
        )
    return lines + [
        f"{one.case.name}: no steady state: {one.reason}" for one in result.cases if one.reason
    ]
