"""A scenario in another size: processors and central memory in proportion and, as its `[scaling]`
says, as many times the tiles (a switch with its guests) or the guests on the switches there are.
Paging volumes and all else stay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from homenode.errors import HomenodeError, NotFoundError, listed, nearest
from homenode.model.document import TomlTable
from homenode.model.units import SIZE

if TYPE_CHECKING:
    from homenode.model.scenario import Scenario

TILES, GUESTS = "tiles", "guests"
WHY = "set by the scaling set"


@dataclass(frozen=True)
class Base:
    """The partition that grows, as the scenario has it."""

    scenario: Scenario
    partition: str
    by: str
    threads: int
    """Logical processors of a core."""
    cores: int
    cores_path: str
    memory_bytes: Fraction
    switches: Mapping[str, int]
    machines: Mapping[str, int]

    @property
    def processors(self) -> int:
        """Its logical processors."""
        return self.cores * self.threads

    def scaled(self, processors: int) -> Scenario:
        """The scenario with so many logical processors and all else in proportion."""
        changes = self.changes(processors)
        return self.scenario.with_(changes, why=WHY) if changes else self.scenario

    def changes(self, processors: int) -> dict[str, object]:
        """By path, what differs from the scenario itself; nothing for its own size."""
        if processors == self.processors:
            return {}
        if processors < 1 or processors % self.threads:
            raise HomenodeError(
                f"a partition of {processors} logical processors cannot be made",
                there=f"each core has {self.threads}",
                next_step="name sizes of 1 or more"
                if self.threads == 1
                else f"name multiples of {self.threads} from {self.threads} on",
            )
        factor = Fraction(processors, self.processors)
        here = f"partition.{self.partition}"
        grown = {
            f"{here}.{self.cores_path}": processors // self.threads,
            f"{here}.memory": f"{round(self.memory_bytes * factor / 2**20)} MiB",
        }
        if self.by == TILES:
            for name, count in self.switches.items():
                grown[f"{here}.switch.{name}.count"] = self._tiles(name, count, factor, processors)
        else:
            for name, count in self.machines.items():
                grown[f"{here}.virtual_machine.{name}.count"] = max(1, round(count * factor))
        return grown

    def _tiles(self, name: str, count: int, factor: Fraction, processors: int) -> int:
        tiles = count * factor
        if tiles.denominator != 1:
            fitting = [str(n * self.processors // count) for n in range(1, 6)]
            raise HomenodeError(
                f"{processors} processors make {float(tiles):.2f} tiles of switch {name}",
                there=f"{count} {'tile goes' if count == 1 else 'tiles go'} with "
                f"{self.processors} processors",
                next_step=f'name sizes such as {listed(fitting)}, or scale by = "{GUESTS}"',
            )
        return int(tiles)


def base_of(scenario: Scenario) -> Base:
    """The partition that `[scaling]` of a scenario means; refused where it has none."""
    data = scenario.data
    asked = data.get("scaling", {})
    raw = _partition(data, asked.get("partition"))
    processors = raw["processors"]
    key = "cores" if processors.get("mode") == "dedicated" else "virtual"
    if not isinstance(processors.get(key), int):
        raise HomenodeError(
            f"partition {raw['name']} cannot be scaled",
            there="its processors are told type by type",
            next_step=f"give it {key} of one type",
        )
    return Base(
        scenario=scenario,
        partition=str(raw["name"]),
        by=str(asked.get("by", TILES)),
        threads=_threads(raw),
        cores=int(processors[key]),
        cores_path=f"processors.{key}",
        memory_bytes=SIZE.parse(_whole_memory(raw)),
        switches={str(one["name"]): int(one.get("count", 1)) for one in raw.get("switch", [])},
        machines={
            str(one["name"]): int(one.get("count", 1)) for one in raw.get("virtual_machine", [])
        },
    )


def _threads(raw: TomlTable) -> int:
    """Logical processors of a core of the partition."""
    return 2 if raw.get("guest", {}).get("smt") == "smt-2" else 1


def _partition(data: TomlTable, name: str | None) -> TomlTable:
    there = [one for one in data["partition"] if one.get("guest", {}).get("os") == "zvm"]
    names = [str(one["name"]) for one in there]
    if name is None and len(there) == 1:
        return dict(there[0])
    if name is None:
        what = "no partition with z/VM" if not there else f"{len(there)} partitions with z/VM"
        raise HomenodeError(
            f"the scenario has {what}; one of them is scaled",
            next_step='give a partition guest = { os = "zvm" }'
            if not there
            else f"name one of {listed(names)} as [scaling] partition",
        )
    if name not in names:
        raise NotFoundError(
            f"[scaling] names partition {name}, which runs no z/VM{nearest(name, names)}"
        )
    return dict(there[names.index(name)])


def _whole_memory(raw: TomlTable) -> str:
    memory = raw["memory"]
    if not isinstance(memory, str):
        raise HomenodeError(
            f"the memory of partition {raw['name']} is told piece by piece and cannot be scaled",
            next_step='write memory = "256 GiB"',
        )
    return memory


def rising(sizes: Sequence[int]) -> list[int]:
    """The sizes asked for, each once, in rising order; one alone is no set."""
    found = sorted(set(sizes))
    if len(found) < 2:
        raise HomenodeError(
            "a scaling set needs two sizes or more",
            next_step="name them, such as --processors 16,32,48,64,80",
        )
    return found
