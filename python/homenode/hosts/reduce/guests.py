"""What a case gives on a host alone and in its virtual machines at once, and what these cost the
host: real time, which it spent for a guest, by virtual time, which the guest counts itself.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from homenode.hosts.record import RunRecord
from homenode.hosts.reduce import identities
from homenode.hosts.reduce.repetitions import Cell
from homenode.hosts.reduce.two_hosts import all_told, mapping, mean_told, over

TOGETHER = 0.9
"""Share of a guest's measured time beside those of all others, below which it is told
(assumed, 0.8 to 0.95)."""


@dataclass(frozen=True)
class GuestFigures:
    """Of one guest, or of all together; geometric means over the runs, None where not told."""

    name: str
    of_the_host: float | None
    """Work a second by that of the host alone [ratio]."""
    real_us: float | None
    """Processor time that the host spent for the guest, for a unit of work [us]."""
    virtual_us: float | None
    """Processor time that the guest counts itself, for a unit of work [us]."""
    host_us: float | None
    """What a unit takes on the host alone, by the account of its processes [us]."""
    in_guest: float | None
    """Share of the real time in which virtual processors ran the guest [0..1]."""
    steal: float | None
    """Time that the guest's processors were kept waiting for, by its own account [0..1]."""
    beside: float | None
    """Least share of its measured time in which all others ran too [0..1]."""

    @property
    def real_over_virtual(self) -> float | None:
        """What a second that the guest counts costs the host; below 1 where the guest takes time
        for its own that it did not get.
        """
        if not self.real_us or not self.virtual_us:
            return None
        return self.real_us / self.virtual_us

    def as_json(self) -> dict[str, object]:
        """Its part of `--json`."""
        return {**dataclasses.asdict(self), "real_over_virtual": self.real_over_virtual}


@dataclass(frozen=True)
class Guests:
    """A case on the host alone and in its guests."""

    case: str
    load: float
    guests: tuple[GuestFigures, ...]
    together: GuestFigures

    def as_json(self) -> dict[str, object]:
        """Its part of `--json`."""
        return {
            "case": self.case,
            "load": self.load,
            "guests": [one.as_json() for one in self.guests],
            "together": self.together.as_json(),
        }


def guests_of(cells: Sequence[Cell]) -> list[Guests]:
    """Of those cases that ran in guests; rejected runs where none counts."""
    by_case: dict[tuple[str, float], list[Cell]] = {}
    for cell in cells:
        by_case.setdefault((cell.key.case, cell.key.load), []).append(cell)
    found = []
    for (case, load), beside in by_case.items():
        inside = [cell for cell in beside if any("guest" in run.details for run in _runs(cell))]
        if inside:
            alone = next((cell for cell in beside if cell not in inside), None)
            each = tuple(_figures(cell.key.system, [_runs(cell)], alone) for cell in inside)
            together = _figures("all", [_runs(cell) for cell in inside], alone)
            found.append(Guests(case, load, each, together))
    return found


def _runs(cell: Cell) -> Sequence[RunRecord]:
    return cell.runs or cell.rejected


def _figures(name: str, members: Sequence[Sequence[RunRecord]], alone: Cell | None) -> GuestFigures:
    """Of guests that ran at once, their works and times added up run by run."""
    turns = list(zip(*members, strict=False))
    told = [[mapping(run.details.get("guest")) for run in turn] for turn in turns]
    work = [math.fsum(run.work for run in turn) for turn in turns]
    rates = [math.fsum(identities.etr(run) for run in turn) for turn in turns]
    real, virtual = (_sums(told, key) for key in ("real_s", "virtual_s"))
    base = None if alone is None else Cell(alone.key, tuple(_runs(alone)))
    reference = None if base is None else base.spread_of(identities.etr)
    host_us = None if base is None else base.spread_of(identities.cpu_per_unit)
    mean_rate = mean_told(rates)
    beside = [one for turn in told for one in all_told(turn, "beside_share") if one is not None]
    return GuestFigures(
        name=name,
        of_the_host=None if not mean_rate or reference is None else mean_rate / reference.mean,
        real_us=mean_told(over(real, work, scale=1e6)),
        virtual_us=mean_told(over(virtual, work, scale=1e6)),
        host_us=None if host_us is None else 1e6 * host_us.mean,
        in_guest=mean_told(over(_sums(told, "in_guest_s"), real)),
        steal=mean_told([math.fsum(run.steal for run in turn) / len(turn) for turn in turns]),
        beside=min(beside, default=None),
    )


def _sums(told: Sequence[Sequence[Mapping[str, object]]], key: str) -> list[float | None]:
    """Of a figure over the guests of each turn; None where one does not tell it."""
    found = []
    for turn in told:
        values = all_told(turn, key)
        known = [value for value in values if value is not None]
        found.append(math.fsum(known) if len(known) == len(values) else None)
    return found
