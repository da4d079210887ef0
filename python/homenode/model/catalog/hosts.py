"""The schedulers of servers that run virtual machines or processes as threads: Linux with KVM, and
Xen's credit2. Each stands with its constants in a file of the package; a machine file gives what
differs. Schedulers that only the engine knows stand in `catalog.listed`.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Annotated, Literal, cast

from pydantic import Field, model_validator

from homenode.errors import MachineError
from homenode.model.catalog.figure import Figure
from homenode.model.catalog.policies import (
    HOST_POLICIES,
    LISTED,
    WITH_A_FILE,
    HostPolicy,
    Setting,
)
from homenode.model.catalog.virtualized import Virtualized
from homenode.model.document import Quantity, Table, shipped_document
from homenode.model.spec import (
    BalanceSpec,
    Credit2Spec,
    HypervisorSpec,
    KvmSpec,
    LinuxSpec,
    NumaBalancingSpec,
    ParavirtualLocksSpec,
    PauseLoopSpec,
)
from homenode.model.units import SIZE, TIME

Tick = Annotated[int, Quantity(TIME, "100 us", "1 s")]
Short = Annotated[int, Quantity(TIME, "0 ns", "10 ms")]
Clock = Annotated[int, Quantity(TIME, "1 ms", "10 ms")]
Direct = Annotated[int, Quantity(TIME, "0 ns", "1 ms")]
Part = Annotated[int, Quantity(TIME, "100 us", "1 s")]
Turn = Annotated[int, Quantity(TIME, "10 us", "1 s")]
Limit = Annotated[int, Quantity(TIME, "0 ns", "500 ms")]
CapPeriod = Annotated[int, Quantity(TIME, "1 ms", "1 s")]
Long = Annotated[int, Quantity(TIME, "0 ns", "1 s")]
Period = Annotated[int, Quantity(TIME, "1 ms", "1 h")]
Credit = Annotated[int, Quantity(TIME, "1 ms", "1 s")]
Reset = Annotated[int, Quantity(TIME, "0 ns", "0 ns")]
Percent = Annotated[int, Field(ge=100, le=1000)]
Few = Annotated[int, Field(ge=0, le=64)]
Cycles = Annotated[int, Field(ge=1, le=10_000_000)]
Spun = Annotated[int, Field(ge=128, le=10_000_000)]
ScanSize = Annotated[int, Quantity(SIZE, "1 MiB", "1 TiB")]

OPTIONAL = ("base_slice", "latency", "min_granularity", "wakeup_granularity")
"""Numbers that the kernel works out itself where nobody sets them."""


DIRECT_COSTS = ("switch", "wake_interrupt", "wake_idle", "idle_poll")
"""What switches and wake-ups cost on a Linux host, whoever decides."""


class Balance(Table):
    """How the kernel spreads load over processors."""

    enabled: Figure[bool] = Field(description="whether processors take work from others at all")
    newly_idle: Figure[bool] = Field(
        description="whether one that becomes idle looks for work at once"
    )
    interval: Figure[Part] = Field(
        description="time between two attempts of an idle processor, for each one of the domain"
    )
    busy_factor: Figure[Annotated[int, Field(ge=1, le=1000)]] = Field(
        description="factor on that while the processor is busy"
    )
    imbalance_smt: Figure[Percent] = Field(
        description=(
            "load of the busiest over the own, in percent, at which work moves between threads of a"
            " core"
        )
    )
    imbalance: Figure[Percent] = Field(description="the same between cores, chips and nodes")

    def spec(self) -> BalanceSpec:
        """As the engine takes it."""
        return {
            "enabled": self.enabled.value,
            "newly_idle": self.newly_idle.value,
            "interval_ns": self.interval.value,
            "busy_factor": self.busy_factor.value,
            "imbalance_smt_pct": self.imbalance_smt.value,
            "imbalance_pct": self.imbalance.value,
        }


class NumaBalancing(Table):
    """Movement of tasks and memory towards each other."""

    enabled: Figure[bool] = Field(description="kernel.numa_balancing")
    scan_delay: Figure[Period] = Field(description="time before a new task's memory is scanned")
    scan_period_min: Figure[Period] = Field(description="least time between two scans")
    scan_period_max: Figure[Period] = Field(description="longest time between two scans")
    scan_size: Figure[ScanSize] = Field(description="memory made to fault in a scan")

    def spec(self) -> NumaBalancingSpec | None:
        """As the engine takes it; None where it is off."""
        if not self.enabled.value:
            return None
        return {
            "scan_delay_ns": self.scan_delay.value,
            "scan_period_min_ns": self.scan_period_min.value,
            "scan_period_max_ns": self.scan_period_max.value,
            "scan_bytes": self.scan_size.value,
        }


class SpinningGuests(Virtualized):
    """What a hypervisor does about virtual processors that spin for a lock, and what it costs to be
    one.
    """

    pause_loop: Figure[bool] = Field(description="whether the processor notices loops of pauses")
    pause_gap: Figure[Cycles] = Field(
        description="ple_gap: most cycles between two pauses of one loop"
    )
    pause_window: Figure[Spun] = Field(
        description="ple_window: cycles in a loop after which it exits"
    )
    lock_holder_preemption: Figure[bool] = Field(
        description="whether a virtual processor may lose its processor while it holds a lock"
    )
    paravirtual_locks: Figure[bool] = Field(
        description=(
            "whether waiters of a guest's queue and ticket locks halt after a while, until kicked"
        )
    )
    lock_spin: Figure[Short] = Field(description="SPIN_THRESHOLD: how long they spin before")
    lock_early: Figure[Short] = Field(
        description="PV_PREV_CHECK_MASK: how long, if whoever is before them has halted"
    )
    lock_early_if_preempted: Figure[bool] = Field(
        description="whether one that has lost its processor counts as halted"
    )
    kick_yields: Figure[bool] = Field(
        description="whether who wakes a waiter lends it its processor"
    )
    paravirtual_flush: Figure[bool] = Field(
        description="whether the host flushes translations for those that are off"
    )

    def locks_spec(self) -> ParavirtualLocksSpec:
        """How waiters of a queue lock halt, as the engine takes it."""
        return {
            "spin_ns": self.lock_spin.value,
            "early_ns": self.lock_early.value,
            "early_if_preempted": self.lock_early_if_preempted.value,
            "kick_yields": self.kick_yields.value,
        }

    def loop_spec(self) -> PauseLoopSpec:
        """When the processor notices a loop of pauses, as the engine takes it."""
        return {
            "gap_cycles": self.pause_gap.value,
            "window_cycles": self.pause_window.value,
        }

    def spec(self) -> KvmSpec:
        """As the engine takes it; one that halts sleeps at once, and one that spins yields."""
        return {
            "halt_poll_ns": 0,
            "halt_poll_grow_start_ns": 0,
            "halt_poll_grow": 0,
            "halt_poll_shrink": 0,
            "exit_ns": 0,
            "entry_ns": 0,
            "pause_loop": self.loop_spec() if self.pause_loop.value else None,
            "directed_yield": True,
            "lock_holder_preemption": self.lock_holder_preemption.value,
            "paravirtual_locks": self.locks_spec() if self.paravirtual_locks.value else None,
            "paravirtual_flush": self.paravirtual_flush.value,
        }


class KvmHost(SpinningGuests):
    """What KVM does for a guest's virtual processors, named as the module's parameters are, and
    what it costs.
    """

    halt_poll: Figure[Short] = Field(
        description="halt_poll_ns: longest time that a halted virtual processor polls for work"
    )
    halt_poll_start: Figure[Short] = Field(description="halt_poll_ns_grow_start: its first length")
    halt_poll_grow: Figure[Few] = Field(
        description="halt_poll_ns_grow: factor by which polling gets longer; 0 is never"
    )
    halt_poll_shrink: Figure[Few] = Field(
        description="halt_poll_ns_shrink: divisor by which it gets shorter; 0 is to nothing at once"
    )
    exit: Figure[Direct] = Field(description="time from a halt to the host's scheduler")
    entry: Figure[Direct] = Field(description="time from the host's scheduler into the guest")
    idle_exits: Figure[Few] = Field(
        description=(
            "short exits of its kernel on the way into idling, and as many on the way out: the tick"
            " is stopped, and set anew"
        )
    )
    kick: Figure[Direct] = Field(
        description=(
            "what it takes to wake an I/O thread of a guest that sleeps, or the guest for what that"
            " has for it"
        )
    )
    directed_yield: Figure[bool] = Field(
        description="whether one caught spinning yields to one that may hold the lock"
    )

    def spec(self) -> KvmSpec:
        """As the engine takes it."""
        return {
            **super().spec(),
            "halt_poll_ns": self.halt_poll.value,
            "halt_poll_grow_start_ns": self.halt_poll_start.value,
            "halt_poll_grow": self.halt_poll_grow.value,
            "halt_poll_shrink": self.halt_poll_shrink.value,
            "exit_ns": self.exit.value,
            "entry_ns": self.entry.value,
            "idle_exits": self.idle_exits.value,
            "directed_yield": self.directed_yield.value,
        }


class Host(Table):
    """What a host has whatever runs it."""

    policy: str = Field(description="which of the kinds it is")
    window: Figure[Tick] = Field(description="how often the load of caches and links is taken anew")

    @model_validator(mode="before")
    @classmethod
    def _take_defaults(cls, data: object) -> object:
        return completed(data)


class HostOnLinux(Host):
    """What a host with the Linux kernel has whatever its scheduler."""

    smt: Figure[bool] = Field(description="whether all threads of a core are in use (not nosmt)")
    switch: Figure[Direct] = Field(description="direct cost of a switch between two threads")
    wake_interrupt: Figure[Direct] = Field(
        description="processor time of waking a thread on another processor: an interrupt is sent"
    )
    wake_idle: Figure[Direct] = Field(
        description="time from such a wake-up on an idle processor until the thread runs"
    )
    idle_poll: Figure[Direct] = Field(
        description="for how long an idle processor polls, and needs neither"
    )
    kvm: KvmHost

    def direct_costs(self) -> dict[str, object]:
        """What switches and wake-ups cost, as the engine takes it."""
        return {f"{name}_ns": getattr(self, name).value for name in DIRECT_COSTS}


class LinuxHost(HostOnLinux):
    """The Linux scheduler, named as the kernel names its settings."""

    policy: Literal["linux"] = Field(description="which of the kinds it is")
    switch: Figure[Direct] = Field(
        description="direct cost of a switch between two threads, a guest's own too"
    )
    scheduler: Figure[Literal["eevdf", "cfs"]] = Field(description="which fair class")
    preemption: Figure[Literal["full", "lazy"]] = Field(
        description=(
            "when a runner makes way for one that another processor wakes: full = at once, also"
            " for kernels with none or voluntary, lazy = at its next tick or interrupt"
        )
    )
    tick: Figure[Clock] = Field(description="clock tick, 1 / CONFIG_HZ")
    tick_late: Figure[Short] = Field(
        description="most by which a processor handles its tick late, each tick by chance"
    )
    base_slice: Figure[Part] | None = Field(
        None,
        description=(
            "base_slice_ns of EEVDF; 0.7 ms times 1 + log2 of the processors, eight at most, if not"
            " given"
        ),
    )
    run_to_parity: Figure[bool] = Field(description="whether a runner may use up its slice")
    place_lag: Figure[bool] = Field(description="whether a sleeper keeps the lag it left with")
    delay_dequeue: Figure[bool] = Field(
        description="whether a sleeper that has had too much stays queued until it has not"
    )
    reweigh_in_sums: Figure[bool] = Field(
        description=(
            "whether a runner whose weight changes is placed as if it came anew (Linux 6.13 to"
            " 6.19), by which what it is owed grows"
        )
    )
    latency: Figure[Part] | None = Field(
        None, description="sched_latency_ns of CFS; 6 ms times that factor if not given"
    )
    min_granularity: Figure[Part] | None = Field(
        None, description="sched_min_granularity_ns of CFS; 0.75 ms times that factor"
    )
    wakeup_granularity: Figure[Long] | None = Field(
        None, description="sched_wakeup_granularity_ns of CFS; 1 ms times that factor"
    )
    gentle_sleepers: Figure[bool] = Field(
        description="whether CFS gives sleepers half a period of credit, not a whole one"
    )
    bandwidth_slice: Figure[Part] = Field(
        description="slice in which a quota is handed to a processor"
    )
    migration_cost: Figure[Long] = Field(description="time for which one that ran is taken as warm")
    migrate_most: Figure[Annotated[int, Field(ge=1, le=1024)]] = Field(
        description="most tasks moved in one go"
    )
    wake_affine: Figure[bool] = Field(
        description="whether a waking task may be drawn to its waker's processor"
    )
    balance: Balance
    numa_balancing: NumaBalancing

    def spec(self) -> HypervisorSpec:
        """The `hypervisor` part of the engine's input; PowerVM's calls cost nothing."""
        rules = ("run_to_parity", "place_lag", "delay_dequeue", "gentle_sleepers")
        plain = ("scheduler", *rules, "reweigh_in_sums")
        times = ("tick", "tick_late", "bandwidth_slice", "migration_cost")
        own = {
            **self.direct_costs(),
            **{name: getattr(self, name).value for name in plain},
            **{f"{name}_ns": getattr(self, name).value for name in times},
            **{f"{name}_ns": _value(getattr(self, name)) for name in OPTIONAL},
            "migrate_most": self.migrate_most.value,
            "wake_affine": self.wake_affine.value,
            "balance": self.balance.spec(),
            "numa_balancing": self.numa_balancing.spec(),
        }
        if self.preemption.value != "full":
            # Left out where it is as it always was, so that runs of before keep their names.
            own["preemption"] = self.preemption.value
        calls = without_calls(self.policy, self.window.value)
        return {**calls, "linux": cast(LinuxSpec, own)}


class Credit2Host(Host):
    """Xen's scheduler credit2, named as its boot parameters are."""

    policy: Literal["credit2"] = Field(description="which of the kinds it is")
    smt: Figure[bool] = Field(description="whether all threads of a core are in use (smt=on)")
    rate_limit: Figure[Limit] = Field(
        description="sched_ratelimit_us: least time that one runs before another may take over"
    )
    runqueue: Figure[Literal["cpu", "core", "socket", "node", "all"]] = Field(
        description="credit2_runqueue: which processors share a run queue"
    )
    max_per_queue: Figure[Annotated[int, Field(ge=1, le=4096)]] = Field(
        description="sched_credit2_max_cpus_runqueue: most processors of a run queue"
    )
    credit_init: Figure[Credit] = Field(description="credit with which everybody starts anew")
    reset_below: Figure[Reset] = Field(description="credit at or below which all start anew")
    min_timer: Figure[Turn] = Field(description="shortest time to the next look at the queue")
    max_timer: Figure[Turn] = Field(description="longest time to the next look at the queue")
    outgoing_counts: Figure[bool] = Field(
        description="whether it is due, too, when credit is down to that of whom one relieved"
    )
    timer_late: Figure[Long] = Field(description="most by which such a look comes late")
    migrate_resist: Figure[Long] = Field(
        description="sched_credit2_migrate_resist: lead that one needs to be moved"
    )
    cap_period: Figure[CapPeriod] = Field(description="credit2_cap_period_ms: period of caps")
    load_window: Figure[Annotated[int, Field(ge=20, le=36)]] = Field(
        description="credit2_load_window_shift: the load is averaged over 2^this ns"
    )
    switch: Figure[Direct] = Field(description="direct cost of a switch")
    domain: SpinningGuests

    def spec(self) -> HypervisorSpec:
        """The `hypervisor` part of the engine's input; PowerVM's calls cost nothing."""
        times = ("rate_limit", "credit_init", "reset_below", "min_timer", "max_timer")
        more = ("timer_late", "migrate_resist", "cap_period", "switch")
        own = {
            **{f"{name}_ns": getattr(self, name).value for name in (*times, *more)},
            "runqueue": self.runqueue.value,
            "max_per_queue": self.max_per_queue.value,
            "load_window_shift": self.load_window.value,
        }
        if self.outgoing_counts.value:
            # Left out where it is as it was for ten years, so that runs of before keep their names.
            own["outgoing_counts"] = True
        calls = without_calls(self.policy, self.window.value)
        return {**calls, "credit2": cast(Credit2Spec, own)}


def completed(table: object) -> object:
    """A `[hypervisor]` table of a host's policy with the package's numbers where it gives none; any
    other value as it is.
    """
    if not isinstance(table, dict) or table.get("policy") not in HOST_POLICIES:
        return table
    return _filled(table, defaults(str(table["policy"])))


@functools.cache
def defaults(policy: str) -> dict[str, object]:
    """The numbers of a policy where nobody changes anything, as its file has them; of one that only
    the engine knows its settings, and what a Linux host has besides its scheduler.
    """
    for listed in LISTED:
        if listed.name == policy:
            return _listed_defaults(listed)
    return shipped_document("hypervisors", policy, MachineError).data


def _listed_defaults(policy: HostPolicy) -> dict[str, object]:
    linux = defaults("linux")
    of_host = {name: linux[name] for name in ("window", "smt", *DIRECT_COSTS, "kvm")}
    own = {one.key: _figure(one) for one in policy.settings}
    if policy.name in WITH_A_FILE:
        told = shipped_document("hypervisors", policy.name, MachineError).data
        return {**_filled(told, of_host), **own}
    return {**of_host, **own}


def _figure(setting: Setting) -> dict[str, object]:
    """A setting as it would stand in a file."""
    told = [setting.usual, setting.least, setting.most]
    value, *bounds = [TIME.format(one) for one in told] if setting.is_time else told
    known = {"source": setting.source} if setting.source else {"assumed": setting.assumed}
    return {"value": value, **known, "range": bounds}


def _filled(table: Mapping[str, object], missing: Mapping[str, object]) -> dict[str, object]:
    """A table with what it lacks; a number is never put together of two."""
    found = dict(table)
    for key, value in missing.items():
        mine = found.setdefault(key, value)
        if isinstance(mine, dict) and isinstance(value, dict) and "value" not in value:
            found[key] = _filled(mine, value)
    return found


def _value(figure: Figure[int] | None) -> int | None:
    return None if figure is None else figure.value


def without_calls(policy: str, window_ns: int) -> HypervisorSpec:
    """What only dispatchers of windows have."""
    return {
        "policy": policy,
        "window_ns": window_ns,
        "min_entitlement_per_vp": 1e-3,
        "dispatch_ns": 0,
        "cede_ns": 0,
        "prod_ns": 0,
        "confer_ns": 0,
        "phantom_ns": 0,
        "excess_quantum_ns": window_ns,
        "counts_redispatch": False,
        "eviction": "home-elsewhere",
    }
