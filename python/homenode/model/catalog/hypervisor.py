"""What decides on a machine who runs where, with its constants."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Discriminator, Field

from homenode.model.catalog.figure import Figure
from homenode.model.catalog.hosts import Credit2Host, LinuxHost
from homenode.model.catalog.listed import Listed
from homenode.model.document import Quantity, Table, TagDefault
from homenode.model.spec import HypervisorSpec
from homenode.model.units import TIME

CallTime = Annotated[int, Quantity(TIME, "0 ns", "10 ms")]
Window = Annotated[int, Quantity(TIME, "100 us", "1 s")]
Quantum = Annotated[int, Quantity(TIME, "1 us", "1 s")]
RunTime = Annotated[int, Quantity(TIME, "1 ms", "100 ms")]
PhysicalTime = Annotated[int, Quantity(TIME, "0 ns", "500 us")]


class PowerVm(Table):
    """Constants of PowerVM's hypervisor, which dispatches virtual processors on a shared pool."""

    policy: Literal["phyp"] = Field("phyp", description="which of the kinds it is")
    window: Figure[Window] = Field(description="dispatch window")
    min_entitlement_per_vp: Figure[Annotated[float, Field(gt=0, le=1)]] = Field(
        description="least entitled capacity of a virtual processor in cores"
    )
    dispatch: Figure[CallTime] = Field(description="time to put a virtual processor on a core")
    cede: Figure[CallTime]
    prod: Figure[CallTime]
    confer: Figure[CallTime]
    phantom: Figure[CallTime] = Field(
        description="time to pass on an interrupt meant for another partition"
    )
    excess_quantum: Figure[Quantum] = Field(
        description="longest time on excess capacity while others wait for excess"
    )
    counts_redispatch: Figure[bool] = Field(
        description=(
            "whether a switch counts where the same virtual processor goes on on the same core"
        )
    )
    eviction: Figure[Literal["home-elsewhere", "other-partition"]] = Field(
        description="whom an entitled requester may throw off a core of its home node"
    )

    def spec(self) -> HypervisorSpec:
        """The `hypervisor` part of the engine's input."""
        return {
            "policy": self.policy,
            "window_ns": self.window.value,
            "min_entitlement_per_vp": self.min_entitlement_per_vp.value,
            "dispatch_ns": self.dispatch.value,
            "cede_ns": self.cede.value,
            "prod_ns": self.prod.value,
            "confer_ns": self.confer.value,
            "phantom_ns": self.phantom.value,
            "excess_quantum_ns": self.excess_quantum.value,
            "counts_redispatch": self.counts_redispatch.value,
            "eviction": self.eviction.value,
        }


class PrSm(Table):
    """PR/SM, which runs the logical cores of IBM Z's partitions by weight."""

    policy: Literal["prsm"] = Field(description="which of the kinds it is")
    window: Figure[Window] = Field(
        description=(
            "how often the load of caches and links is taken anew where no partition shares cores"
        )
    )
    dispatch: Figure[CallTime] = Field(
        description="time to put a logical core on a physical one, the partition's management time"
    )
    cede: Figure[CallTime] = Field(description="time to take a logical core that waits off again")
    physical: Figure[PhysicalTime] = Field(
        description="its own time on each shared core and time slice, for no partition (PHYSICAL)"
    )
    excess_quantum: Figure[Quantum] = Field(
        description="longest time beyond a partition's share while others wait for the same"
    )
    counts_redispatch: Figure[bool] = Field(
        description=(
            "whether the end of a time slice costs a dispatch where the same logical core goes on"
        )
    )
    run_time: Figure[RunTime] | None = Field(
        None,
        description=(
            "time slice as an operator sets it, 1 ms to 100 ms; 25 ms times physical over logical"
            " cores, at least 12.5 ms, where it is left out"
        ),
    )

    def spec(self) -> HypervisorSpec:
        """The `hypervisor` part of the engine's input."""
        return {
            "policy": self.policy,
            "window_ns": self.window.value,
            "min_entitlement_per_vp": 1e-3,
            "dispatch_ns": self.dispatch.value,
            "cede_ns": self.cede.value,
            "prod_ns": 0,
            "confer_ns": self.cede.value,
            "phantom_ns": 0,
            "excess_quantum_ns": self.excess_quantum.value,
            "counts_redispatch": self.counts_redispatch.value,
            "eviction": "other-partition",
            "prsm": {
                "run_time_ns": None if self.run_time is None else self.run_time.value,
                "physical_ns": self.physical.value,
            },
        }


class OwnCores(Table):
    """Every partition has cores of its own for good; nothing is dispatched."""

    policy: Literal["dedicated"] = Field(description="which of the kinds it is")
    window: Figure[Window] = Field(
        description="how often the load of caches and links is taken anew"
    )
    monitor_share: Figure[Annotated[float, Field(ge=0, lt=1)]] | None = Field(
        None,
        description=(
            "share of a partition's core time that goes to the monitor of virtual partitions for"
            " what the operating system may not do itself; none without the monitor"
        ),
    )

    def spec(self) -> HypervisorSpec:
        """The `hypervisor` part of the engine's input; calls that there are not cost nothing."""
        return {
            "policy": self.policy,
            "window_ns": self.window.value,
            "min_entitlement_per_vp": 1.0,
            "dispatch_ns": 0,
            "cede_ns": 0,
            "prod_ns": 0,
            "confer_ns": 0,
            "phantom_ns": 0,
            "excess_quantum_ns": self.window.value,
            "counts_redispatch": False,
            "eviction": "home-elsewhere",
        }


Hypervisor = Annotated[
    Annotated[
        PowerVm | PrSm | OwnCores | LinuxHost | Credit2Host | Listed, Discriminator("policy")
    ],
    TagDefault("policy", "phyp"),
]
