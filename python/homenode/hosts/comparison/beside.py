"""A measured case beside its simulation: the same figures, and by how much they differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from homenode.errors import listed, nearest
from homenode.hosts.errors import MeasureError
from homenode.hosts.record import RunRecord
from homenode.hosts.reduce import Cell, cells_of, identities
from homenode.hosts.statistics import Spread

Figure = Callable[[RunRecord], float | None]


@dataclass(frozen=True)
class Row:
    """One figure on both sides."""

    name: str
    unit: str
    measured: Spread
    simulated: Spread

    @property
    def deviation_pct(self) -> float:
        """Simulated by measured, less one."""
        return 100.0 * (self.simulated.mean / self.measured.mean - 1.0)

    @property
    def inside(self) -> bool | None:
        """Whether the simulated mean lies in the measured 95 % interval; None of a single run."""
        low, high = self.measured.low, self.measured.high
        if low is None or high is None:
            return None
        return low <= self.simulated.mean <= high


@dataclass(frozen=True)
class Beside:
    """A case's measured and simulated runs, and the figures that both have."""

    measured: Cell
    simulated: Cell
    rows: tuple[Row, ...]

    def as_json(self) -> dict[str, object]:
        """What `--json` prints."""
        return {
            "case": self.measured.key.case,
            "measured": self.measured.as_json(),
            "simulated": self.simulated.as_json(),
            "rows": [
                {
                    "figure": row.name,
                    "unit": row.unit,
                    "measured": row.measured.mean,
                    "measured_low": row.measured.low,
                    "measured_high": row.measured.high,
                    "simulated": row.simulated.mean,
                    "deviation_pct": row.deviation_pct,
                    "inside": row.inside,
                }
                for row in self.rows
            ],
        }


def beside(
    measured: Sequence[RunRecord],
    simulated: Sequence[RunRecord],
    *,
    case: str | None = None,
    processors: int | None = None,
) -> Beside:
    """Lay a case of a result beside the records of a simulated partition (`simulated.records_of`).

    `case` may be left out where the result has one; `processors` where the case was measured with
    one number of them. Raises `MeasureError` for a case that is not there.
    """
    mine = _cell(measured, case, processors)
    theirs = _cell(simulated, None, None)
    rows = []
    for name, unit, figure in (*_FIGURES, *_latencies(mine)):
        a, b = mine.spread_of(figure), theirs.spread_of(figure)
        if a is not None and b is not None:
            rows.append(Row(name, unit, a, b))
    return Beside(mine, theirs, tuple(rows))


def _cell(records: Sequence[RunRecord], case: str | None, processors: int | None) -> Cell:
    cells = [cell for cell in cells_of(records) if cell.runs]
    names = list(dict.fromkeys(cell.key.case for cell in cells))
    if case is not None and case not in names:
        raise MeasureError(f"there is no case {case}{nearest(case, names)}")
    found = [
        cell
        for cell in cells
        if case in (None, cell.key.case) and processors in (None, cell.key.processors)
    ]
    if len(found) == 1:
        return found[0]
    there = [f"{c.key.case} on {c.key.processors} processors" for c in found or cells]
    raise MeasureError(
        f"{'several cases' if found else 'no case'} to lay beside a simulation",
        there=listed(there),
        next_step="name one with --case, and its --processors",
    )


def _share(run: RunRecord) -> float | None:
    found = identities.busy(run)
    return None if found is None else 100.0 * found


def _micro(run: RunRecord) -> float | None:
    found = identities.cpu_per_unit(run)
    return None if found is None else 1e6 * found


_FIGURES: tuple[tuple[str, str, Figure], ...] = (
    ("ETR", "1/s", identities.etr),
    ("busy", "%", _share),
    ("ITR", "1/s", identities.itr),
    ("processor time of a unit", "us", _micro),
    ("voluntary switches", "1/s", identities.voluntary_switches_per_s),
    ("involuntary switches", "1/s", identities.involuntary_switches_per_s),
    ("run delay", "cores", identities.run_delay_cores),
)


def _latencies(cell: Cell) -> list[tuple[str, str, Figure]]:
    names = dict.fromkeys(name for run in cell.runs for name in run.latency_ms)
    return [(f"response {name}", "ms", _latency(name)) for name in names]


def _latency(name: str) -> Figure:
    return lambda run: run.latency_ms.get(name)
