"""Where the tools take their counters from: any run that can name its partitions and hand over
interval tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from homenode.errors import NotFoundError
from homenode.model.spec import Spec
from homenode.tools.configuration import Limits, SystemConfiguration, from_spec
from homenode.tools.errors import ToolError
from homenode.tools.summing import Rows

if TYPE_CHECKING:
    pass

Table = Literal["partition", "cpu", "pool"]
_LIMITS = ("capacity", "processors", "memory")
_SYSTEMS = {"hpux": "HP-UX", "linux": "Linux", "zvm": "z/VM"}


class RunView(Protocol):
    """What the tools need of a run."""

    @property
    def interval_ns(self) -> int:
        """Length of one kept interval [ns]."""
        ...

    def partition(self, name: str | None) -> SystemConfiguration:
        """The partition of that name; without a name, the only one there is."""
        ...

    def rows(self, table: Table, partition: str) -> Rows:
        """Kept rows of one replication: of that partition, or of the whole physical pool."""
        ...


class Kept(Protocol):
    """The part of a kept run (`homenode.Run`) that is read here."""

    @property
    def id(self) -> str:
        """Name of the run."""
        ...

    @property
    def path(self) -> Path:
        """Its folder."""
        ...

    @property
    def spec(self) -> Spec:
        """The frozen scenario."""
        ...

    @property
    def replications(self) -> int:
        """How many replications were kept."""
        ...

    def partition(self, name: str | None) -> str:
        """The name of a partition that is there."""
        ...

    @property
    def partitions(self) -> Sequence[str]:
        """Names of the partitions, in order of their index."""
        ...

    @property
    def details(self) -> Mapping[str, Mapping[str, Any]]:
        """Of each partition, what its own tools print but no simulation needs."""
        ...

    def table_file(self, table: str) -> Path:
        """The file of an interval table."""
        ...


@dataclass(frozen=True)
class KeptRunView:
    """One replication of a kept run; `details` holds by partition what the engine need not know."""

    run: Kept
    replication: int = 0
    details: Mapping[str, Mapping[str, object]] = field(default_factory=dict)

    @classmethod
    def of(cls, run: Kept, replication: int = 0) -> KeptRunView:
        """One replication of a run, with all that was kept beside the frozen scenario."""
        return cls(run, replication, configuration_details(run))

    def __post_init__(self) -> None:
        if not 0 <= self.replication < self.run.replications:
            raise NotFoundError(
                f"run {self.run.id} has no replication {self.replication}",
                there=f"it kept {self.run.replications}, counted from 0",
            )

    @property
    def interval_ns(self) -> int:
        """Length of one kept interval [ns]."""
        return int(self.run.spec["interval_ns"])

    def partition(self, name: str | None) -> SystemConfiguration:
        """See `RunView.partition`."""
        name = self.run.partition(name)
        self._check_guest(name)
        return from_spec(self.run.spec, name, self.details.get(name))

    def _check_guest(self, name: str) -> None:
        """Columns and counters are those of AIX."""
        guest = next(p["guest"] for p in self.run.spec["partitions"] if p["name"] == name)
        if guest["os"] != "aix":
            command = f"homenode explain {self.run.id}:{name}"
            if guest["os"] == "zvm":
                command = f"homenode fcx {self.run.id} or homenode hyptop {self.run.id}"
            raise ToolError(
                f"partition {name} of run {self.run.id} runs {_SYSTEMS[guest['os']]}",
                there="lparstat, mpstat, vmstat, sar and lssrad are shown as AIX prints them",
                next_step=f"see its figures with {command}",
            )

    def rows(self, table: Table, partition: str) -> Rows:
        """See `RunView.rows`; pool 0 is the whole physical pool."""
        there = {"pool": 0}
        if table != "pool":
            there = {"partition": list(self.run.partitions).index(partition)}
        return Rows(self.run.table_file(table), {"replication": self.replication, **there})


def configuration_details(run: Kept) -> dict[str, dict[str, Any]]:
    """What the tools print of the partitions beside the frozen scenario, by partition."""
    return {
        partition: {
            name: Limits(*value) if name in _LIMITS and isinstance(value, list) else value
            for name, value in details.items()
        }
        for partition, details in run.details.items()
    }
