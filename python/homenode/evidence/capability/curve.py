"""The capability curve of a machine: the published factors as far as they go, the predicted ones
where there are none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from homenode.evidence.capability.prediction import REFERENCE, Prediction
from homenode.model.catalog import MachineDescription
from homenode.model.catalog.capability_table import (
    CapabilityTable,
    Factor,
    capability_table,
    capability_tables,
)


@dataclass(frozen=True)
class Curve:
    """Factors of one machine for any number of processors that it has."""

    machine: str | MachineDescription
    table: CapabilityTable | None
    """The published ones, if there are any."""
    work: str = REFERENCE
    """Profile behind what is predicted."""

    @property
    def source(self) -> str:
        """Where its factors are from, in a sentence."""
        name = self.machine if isinstance(self.machine, str) else self.machine.name
        if self.table is None:
            return f"predicted from the topology of {name} with the profile {self.work}"
        return f"capacity adjustment factors of {self.table.title}: {self.table.source}"

    @cached_property
    def prediction(self) -> Prediction:
        """The prices behind what is predicted."""
        return Prediction.of(self.machine, self.work)

    def factor(self, processors: int) -> Factor:
        """The factor of a partition of so many processors.

        Between two points of the table it lies on the line between them (`interpolated`); beyond
        its last one it is the last one times what the prediction loses from there (`predicted`), as
        is all of it where there is no table. More processors than the machine has are refused.
        """
        table = self.table
        if table is None:
            return Factor(processors, self.prediction.factor(processors), predicted=True)
        if processors <= table.largest:
            return table.factor(processors, interpolate=True)
        last = table.factor(table.largest).value
        lost = self.prediction.factor(processors) / self.prediction.factor(table.largest)
        return Factor(processors, last * lost, predicted=True)

    def reaching(self) -> CapabilityTable | None:
        """The table, if there is one, with what is predicted beyond its last point."""
        return None if self.table is None else replace(self.table, beyond=self.factor)

    def capability(self, processors: int) -> float:
        """What all of them bring together [processors that are alone]."""
        return self.factor(processors).capability


def capability_of(machine: str | MachineDescription, work: str = REFERENCE) -> Curve:
    """The curve of a machine, by its name, its file or its description."""
    name = machine if isinstance(machine, str) else machine.name
    tables = (capability_table(table) for table in capability_tables())
    return Curve(machine, next((t for t in tables if t.machine == name), None), work)
