"""How many cores an x86 server has, as people say it: sockets, cores of each, threads, NPS.

`active_cores` on several sockets is so many on each alike, for that is how servers are bought and
how cores are switched off; `sockets = 1` puts all on the first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from homenode.model.catalog.policies import HOST_POLICIES
from homenode.model.document import Problems, TomlTable
from homenode.model.scenario.file.machine import MachineChoice

WORDS = ("sockets", "cores_per_socket", "threads", "nps")
"""Of a machine's table, those that only such servers have."""
_SAID = "set by the scenario"


@dataclass(frozen=True)
class Sockets:
    """The tree of a server as its sockets."""

    count: int
    chips: int
    """Chips of a socket: what shares a last-level cache."""
    cores: int
    """Of a chip."""
    threads: int
    table: str
    """Key of the topology that counts chips of a socket; none if a chip is a socket."""

    @classmethod
    def of(cls, data: TomlTable) -> Sockets:
        """From the data of a machine file."""

        def number(name: str) -> int:
            return int(topology[name]["value"])

        topology: Any = data["topology"]
        nodes, chips = number("nodes"), number("chips_per_node")
        count, inside, table = (nodes, chips, "chips_per_node") if nodes > 1 else (chips, 1, "")
        return cls(count, inside, number("cores_per_chip"), number("threads_per_core"), table)


def set_sockets(
    data: TomlTable, choice: MachineChoice, active: int | None, problems: Problems
) -> int | None:
    """Put what a scenario says of sockets into the data of a machine; returns its activated cores,
    None where nothing is said. What cannot be is noted.
    """
    said = [word for word in WORDS if getattr(choice, word) is not None]
    hypervisor: Any = data.get("hypervisor", {})
    if hypervisor.get("policy") not in HOST_POLICIES:
        for word in said:
            step = "leave it out; cores are said by active_cores"
            problems.add_key(("machine", word), "only x86 servers are told by sockets", step)
        return active
    there = Sockets.of(data)
    _set_threads(hypervisor, choice, there, problems)
    return _set_cores(data, choice, active, there, problems)


def _set_threads(
    hypervisor: TomlTable, choice: MachineChoice, there: Sockets, problems: Problems
) -> None:
    if choice.threads is None:
        return
    if choice.threads > there.threads:
        step = f"write threads = 1 to {there.threads}"
        has = f"a core of it has {there.threads}"
        problems.add(("machine", "threads"), there=has, next_step=step)
        return
    if there.threads > 1:
        hypervisor["smt"] = {"value": choice.threads > 1, "stated": _SAID}


def _set_cores(
    data: TomlTable, choice: MachineChoice, active: int | None, there: Sockets, problems: Problems
) -> int | None:
    count, each = choice.sockets or there.count, choice.cores_per_socket
    if count > there.count:
        step = f"write sockets = 1 to {there.count}, or describe a machine of your own"
        has = f"it has {there.count} sockets"
        problems.add(("machine", "sockets"), there=has, next_step=step)
        return active
    if each is None and (active is None or count == 1):
        whole = count * there.chips * there.cores
        return active if active is not None or count == there.count else whole
    if each is None and active is not None:
        each, rest = divmod(active, count)
        if rest or each == 0:
            more = f"write sockets = 1 for the first socket alone, or {(each + 1) * count} cores"
            has = f"{active} cores are not as many on each of {count} sockets"
            problems.add(("machine", "active_cores"), there=has, next_step=more)
            return active
    each = each or 0
    if active not in (None, each * count):
        has = f"{count} sockets of {each} cores make {each * count}"
        problems.add(("machine", "active_cores"), there=has, next_step="leave it out")
        return active
    _shrink(data, each, there, choice, problems)
    return each * count


def _shrink(
    data: TomlTable, each: int, there: Sockets, choice: MachineChoice, problems: Problems
) -> None:
    """So many cores a socket: fewer chips if they are whole ones, else fewer cores a chip."""
    topology: Any = data["topology"]
    if each <= there.chips * there.cores and each % there.cores == 0 and there.table:
        topology[there.table] = {"value": each // there.cores, "stated": _SAID}
    elif each <= there.chips * there.cores and each % there.chips == 0:
        topology["cores_per_chip"] = {"value": each // there.chips, "stated": _SAID}
    else:
        key = "active_cores" if choice.cores_per_socket is None else "cores_per_socket"
        has = f"a socket has {there.chips} chips of {there.cores} cores"
        if there.chips == 1:
            has = f"a socket has {there.cores} cores"
        step = "write as many for each chip, or whole chips"
        problems.add(("machine", key), there=has, next_step=step)
