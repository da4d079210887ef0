"""What is said of solved layouts beside the tables that they share with runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.markup import escape

from homenode.errors import listed
from homenode.model.numbers import NOTHING, significant, significant_with_interval
from homenode.report.tables import plain_table

if TYPE_CHECKING:
    from rich.table import Table

    from homenode.simulate.solved.beside import Beside
    from homenode.simulate.solved.figures import Solved

_WITHIN = {True: "yes", False: "no", None: NOTHING}


def solved_lines(solved: Sequence[Solved]) -> list[str]:
    """How the figures are to be read, and what is not among them; of several layouts once."""
    left_out = dict.fromkeys(name for one in solved for name in one.left_out)
    recorded = list(dict.fromkeys(name for one in solved for name in one.recorded))
    lines = ["Solved, not simulated: means of the steady state, without intervals."]
    if recorded:
        lines.append(
            f"Work of {listed(recorded, 4)} is recorded, or told in cores: the mean over all of it"
            " is solved, response is left out."
        )
    limited = list(dict.fromkeys(name for one in solved for name in one.limited))
    if limited:
        lines.append(
            f"A cap may hold {listed(limited, 4)} up within a window: response is left out there."
        )
    if crowded := _beside(one.crowded for one in solved):
        waits, others = crowded
        lines.append(
            f"{others} would take more processors than there are: what the work of"
            f" {waits} waits for one beside that is told in part at best, and short"
            " work may take several times as long. `homenode run` tells it."
        )
    if kept := _beside(one.kept_from for one in solved):
        waits, others = kept
        lines.append(
            f"{others} always wants more and keeps its processors, which leaves fewer"
            f" than {waits} has virtual ones: responses there are told up to several times"
            " too short. `homenode run` tells them."
        )
    if wanting := _beside(one.wanting_all for one in solved):
        waits, others = wanting
        lines.append(
            f"{waits} wants nearly all that {others} leaves it, which always wants more: how long"
            " its work waits hangs on when threads are moved. Response is left out there,"
            " `homenode run` tells it."
        )
    late = list(dict.fromkeys(name for one in solved for name in one.looked_for_late))
    if late:
        lines.append(
            f"Pinned beside domains that are not, {listed(late, 4)} may get little more than half"
            " of the share that is told: Xen looks for a pinned one late (`outgoing_counts`)."
            " `homenode run` tells it."
        )
    if any(one.settles_late for one in solved):
        lines.append(
            "Threads of this host are drawn to their memory within some seconds, where processors"
            " are short beside it within a minute, those of partitions that use a part of a"
            " processor as many times later, and this is how it is then: a run whose warm-up is"
            " shorter uses more cores."
        )
    lines += _sureness(solved)
    balances = {name: of for one in solved for name, of in one.balances.items()}
    if balances:
        each = [
            f"{name} ({significant(low)} or {significant(high)} cores)"
            for name, (low, high) in balances.items()
        ]
        lines.append(
            f"There are two balances of {listed(each, 4)}: cold caches make work longer and homes"
            " full, which leaves caches cold. Which comes about hangs on what was before, so no"
            " figure is told; several replications of `homenode run` show it."
        )
    return [*lines, f"left out: {', '.join(left_out)}"]


def _beside(each: Iterable[Mapping[str, Sequence[str]]]) -> tuple[str, str] | None:
    """Who waits, and for whom, over several layouts; None where nobody does."""
    found = {name: of for one in each for name, of in one.items()}
    others = dict.fromkeys(other for of in found.values() for other in of)
    return (listed(found, 4), listed(others, 4)) if found else None


def _sureness(solved: Sequence[Solved]) -> list[str]:
    """How near cores are, the surest first; of several layouts the least sure."""
    worst: dict[str, float] = {}
    for name, sure in (pair for one in solved for pair in one.sureness.items()):
        worst[name] = max(sure.cores, worst.get(name, 0.0))
    if not worst:
        return []
    alike: dict[float, list[str]] = {}
    for name, within in worst.items():
        alike.setdefault(within, []).append(name)
    each = [f"{100 * within:.2g} % for {listed(alike[within], 4)}" for within in sorted(alike)]
    first = "Of 100 partitions like these 95 use as many cores in a simulation within"
    return [f"{first} {'; '.join(each)}. --check says how near these are."]


def beside_table(rows: Sequence[Beside], run: str) -> Table:
    """Solved beside simulated, a row a metric."""
    table = plain_table(
        "partition", "metric", "solved", "simulated", "deviation", "within",
        title=f"Solved beside run {escape(run)}",
    )  # fmt: skip
    for row in rows:
        deviation = row.deviation
        table.add_row(
            escape(row.partition),
            row.metric,
            significant(row.solved),
            significant_with_interval(row.simulated),
            NOTHING if deviation is None else f"{deviation:+.1%}",
            _WITHIN[row.is_within],
        )
    return table
