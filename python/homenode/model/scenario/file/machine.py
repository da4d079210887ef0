"""The machine in a scenario file: which, and with which of its numbers replaced."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from homenode.model.catalog.policies import HOSTS, HostName
from homenode.model.document import Table
from homenode.model.scenario.file.mainframe import ByType


class MachineChoice(Table):
    """The machine: a shipped model or a file, with any of its numbers replaced for a stated reason.

    `[machine.memory] far = { value = "300 ns", why = "measured on ours" }` replaces one number; the
    tables are those of the machine files, a cache level is named as in `[machine.cache."L3 chip"]`.
    """

    model: str | None = Field(
        None, min_length=1, description="name of a shipped machine, such as ibm-power-795"
    )
    file: str | None = Field(
        None, min_length=1, description="path of a machine file, from the scenario's folder"
    )
    policy: HostName | None = Field(
        None,
        description="on an x86 server, who dispatches: "
        + "; ".join(f"{one.name} ({one.title})" for one in HOSTS.values()),
    )
    active_cores: Annotated[int, Field(ge=1, le=4096)] | None = Field(
        None,
        description=(
            "how many cores are activated, from the first chip on; on an x86 server as many of"
            " each socket"
        ),
    )
    sockets: Annotated[int, Field(ge=1, le=64)] | None = Field(
        None, description="on an x86 server, how many sockets are used; all if not given"
    )
    cores_per_socket: Annotated[int, Field(ge=1, le=1024)] | None = Field(
        None, description="on an x86 server, cores of each socket; all if not given"
    )
    threads: Annotated[int, Field(ge=1, le=8)] | None = Field(
        None, description="on an x86 server, threads used of each core; all if not given"
    )
    nps: Annotated[int, Field(ge=1, le=8)] | None = Field(
        None,
        description=(
            "on an x86 server, memory domains of a socket: 1 (if not given), or 2 or 4 where the"
            " machine's memory.quarter is known"
        ),
    )
    placing: Literal["largest-first", "as-listed"] | None = Field(
        None,
        description=(
            "order in which PowerVM or PR/SM places partitions without a stated home: largest-first"
            " (if not given), as when all of them start together, or as-listed, as they were"
            " activated one after the other"
        ),
    )
    characterized: ByType | None = Field(
        None,
        description=(
            "on a mainframe, how many cores there are of which type, as { cp = 4, ifl = 128 }; all"
            " of the one type that is used if not given"
        ),
    )
    clock: dict[str, object] | None = Field(None, description="another core clock, with the reason")
    turbo: dict[str, object] | None = Field(
        None, description="other clocks by the number of busy cores"
    )
    core_rate: dict[str, object] | None = Field(
        None, description="another rate of the core part of instructions"
    )
    pipeline: dict[str, object] | None = Field(
        None, description="other cycles of what empties a core's pipelines"
    )
    line: dict[str, object] | None = Field(None, description="another length of a cache line")
    accounting: dict[str, object] | None = Field(None, description="another rule of charging")
    topology: dict[str, object] | None = Field(None, description="other counts of the tree")
    cache: dict[str, object] | None = Field(
        None, description="other numbers of a cache level, by its name"
    )
    cache_to_cache: dict[str, object] | None = Field(
        None, description="other latencies of lines in other cores' caches"
    )
    memory: dict[str, object] | None = Field(
        None, description="other memory latencies, bandwidth or size"
    )
    links: dict[str, object] | None = Field(None, description="other bandwidths of the fabric")
    translation: dict[str, object] | None = Field(
        None, description="another cost of address translation"
    )
    walks: dict[str, object] | None = Field(
        None, description="other walks of translations in virtual machines"
    )
    smt: dict[str, object] | None = Field(None, description="another gain from threads")
    hypervisor: dict[str, object] | None = Field(None, description="other constants of it")
    node_distance: dict[str, object] | None = Field(
        None, description="factor on far latencies for each pair of nodes, a row a node"
    )
    platform: dict[str, object] | None = Field(
        None, description="other limits of a machine of cells"
    )
    rni: dict[str, object] | None = Field(
        None, description="other weights of the relative nest intensity"
    )
    streams: dict[str, object] | None = Field(None, description="other figures of streaming")
    zvm: dict[str, object] | None = Field(None, description="other limits of z/VM")

    @model_validator(mode="after")
    def _names_one(self) -> MachineChoice:
        """A machine comes from one place."""
        if (self.model is None) == (self.file is None):
            there = (
                "it names no machine" if self.model is None else "it names both a model and a file"
            )
            step = (
                'write model = "ibm-power-795" or file = "mine.toml"; `homenode machines` lists the'
                " models"
            )
            raise PydanticCustomError("fact", "machine", {"there": there, "next_step": step})
        return self
