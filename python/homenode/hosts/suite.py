"""Suites: which cases of which adapters, how long and how often."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from homenode.errors import HomenodeError, Where, hint, listed
from homenode.hosts.adapter import Adapter, Case, Parameters, Serves
from homenode.hosts.errors import MeasureError


@dataclass(frozen=True)
class Row:
    """A case with its adapter and how it is repeated."""

    adapter: Adapter
    case: Case
    repeats: int
    """Recorded repetitions of a system."""
    seconds: float
    """Asked length of a repetition [s]."""
    warm_up: bool
    """Whether an unrecorded repetition comes first."""
    processors: tuple[int, ...]
    """Numbers of logical processors to run it with; empty for all there are."""
    where: Where
    load_per_processor: int | None = None
    """Clients, threads or jobs for each logical processor, in place of a load of its own."""

    @property
    def id(self) -> str:
        """`adapter/case`."""
        return f"{self.adapter.name}/{self.case.name}"

    @property
    def serves(self) -> Serves:
        """The adapter, as one whose servers may run on another host.

        Raises `MeasureError` where they cannot.
        """
        if not isinstance(self.adapter, Serves):
            raise MeasureError(f"{self.adapter.name} runs on one host only")
        return self.adapter

    def on(self, processors: int) -> Row:
        """The same with the load of so many processors, and run with these alone.

        Raises `MeasureError` for a load that the adapter does not take.
        """
        if self.load_per_processor is None:
            return self
        given = {**self.case.parameters, "load": processors * self.load_per_processor}
        case = case_of(self.adapter, self.case.name, given, self.where)
        return replace(self, case=case, processors=(processors,))


@dataclass(frozen=True)
class Suite:
    """All cases, in the order of the file."""

    name: str
    title: str
    rows: tuple[Row, ...]
    sha256: str
    """Of the file: equal sums are equal suites."""

    def only(self, wanted: Sequence[str]) -> tuple[Row, ...]:
        """Rows of these adapters or cases; all if none is named.

        Raises `MeasureError` for a name that matches nothing.
        """
        if not wanted:
            return self.rows
        names = {row.adapter.name for row in self.rows} | {row.id for row in self.rows}
        for name in wanted:
            if name not in names:
                adapters = sorted({row.adapter.name for row in self.rows})
                raise MeasureError(
                    f"suite {self.name} has no {name}{hint(name, names)}",
                    there=f"its adapters are {listed(adapters, 30)}",
                    next_step=f"`homenode measure list {self.name}` lists its cases",
                )
        return tuple(r for r in self.rows if r.adapter.name in wanted or r.id in wanted)

    def repeated(self, least: int, by: int) -> Suite:
        """Cases that are repeated less than `least` times are repeated `by` times."""
        rows = (replace(r, repeats=by) if r.repeats < least else r for r in self.rows)
        return replace(self, rows=tuple(rows))

    def sized(self, counts: Sequence[int], all_there_are: int) -> Suite:
        """A row for each number of processors, with the load of so many, where a case asks for a
        load a processor; `counts` take the place of the suite's own, if there are any.
        """
        rows: list[Row] = []
        for row in self.rows:
            if row.load_per_processor is None:
                rows.append(replace(row, processors=tuple(counts) or row.processors))
            else:
                sizes = tuple(counts) or row.processors or (all_there_are,)
                rows += [row.on(count) for count in sizes]
        return replace(self, rows=tuple(rows))

    @property
    def grows(self) -> bool:
        """Whether the load of a case goes by the number of processors."""
        return any(row.load_per_processor is not None for row in self.rows)


def case_of(made: Adapter, name: str, parameters: Parameters, where: Where) -> Case:
    """The case of an adapter; what it refuses is told with the place in the suite."""
    try:
        return made.case(name, parameters)
    except HomenodeError as error:
        raise MeasureError(f"{where}: {error}") from error
