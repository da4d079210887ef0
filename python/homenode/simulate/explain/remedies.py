"""What change would remove a cost: one function for each family of causes, computed from the
partition's situation.

Each returns sentences with the figures they rest on. None of them knows any machine, partition or
study by name.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from homenode.model.spec import aix_of, scheduler_of
from homenode.simulate.explain import control_program, host_remedies
from homenode.simulate.explain.advice import moved_advice, page_advice, rehomed_saving
from homenode.simulate.explain.situation import Situation

OF_THE_WORK = ("work", "caches", "coherence", "memory", "store")
"""Families that the work pays wherever it is put."""
_FULL = 0.98
"""A node counts as full from this share of its cores on: at that point dispatches spill over now
and then.
"""
_MUCH_MEMORY_AWAY = 0.05
_AT_HOME = 0.98
"""A partition counts as never away from home from this share of its core time on."""


def remedy(family: str, at: Situation) -> str:
    """The sentences on how to avoid a family of causes."""
    if at.runs_guests and family in control_program.REMEDIES:
        return control_program.REMEDIES[family](at)
    if at.shape.on_host and family in host_remedies.REMEDIES:
        return host_remedies.REMEDIES[family](at)
    if at.is_dedicated and family in _DEDICATED:
        return _DEDICATED[family](at)
    return _REMEDIES[family](at)


def _distance(at: Situation) -> str:
    node = at.home_node
    homed = at.homed_on(node)
    demand, cores = math.fsum(homed.values()), at.node_cores(node)
    if demand > _FULL * cores:
        return _crowded_home(at, homed, demand, cores)
    if at.metric("home_share") > _AT_HOME and at.memory_away_share <= _MUCH_MEMORY_AWAY:
        return _between_home_chips(at)
    if at.memory_away_share > _MUCH_MEMORY_AWAY:
        return (
            f"{_pct(at.memory_away_share)} of its memory lies outside its home, "
            f"{at.node_label(node)}: bring the memory "
            "home (a platform optimizer run, or a restart with room on that node)"
            f"{rehomed_saving(at, {at.index: node})}."
        )
    crowded = at.metric("physc") > _FULL * at.home_chips_cores
    if crowded and at.metric("near_share") > at.metric("far_share"):
        return (
            f"Its home chips have {at.home_chips_cores} cores, it uses {at.metric('physc'):.1f}, "
            "and "
            f"{_pct(at.metric('near_share'))} of its core time is spent on other chips of the "
            "node: a home with more cores, "
            "or less work, would keep it on its own chips."
        )
    return (
        f"{_pct(at.metric('excess_share'))} of its core time is beyond its entitlement of "
        f"{at.shape.entitlement:g} cores, and "
        "such cycles have no claim to the home node: raise the entitlement towards what it uses."
    )


def _between_home_chips(at: Situation) -> str:
    """It never leaves its home, which is more than a chip."""
    used, chips = at.metric("physc"), at.home_chips
    needed = max(math.ceil(used / at.machine["cores_per_chip"]), 1)
    found = (
        f"It stays on its {chips} home chips ({_pct(at.metric('home_share'))} of its core time): "
        "the distance is between these, over which its memory and the threads that share its data "
        "are spread"
    )
    if needed < chips:
        return f"{found}; {needed} would hold the {used:.1f} cores that it uses on average."
    return f"{found}. It needs them all for the {used:.1f} cores it uses."


def _crowded_home(at: Situation, homed: dict[str, float], demand: float, cores: int) -> str:
    home = at.node_label(at.home_node)
    away = at.metric("far_share")
    who = " and ".join(homed) if len(homed) < 3 else f"{len(homed)} partitions"
    found = (
        f"{_pct(away)} of its core time is spent outside its home, {home}: that has {cores} cores, "
        f"and what is homed there ({who}) uses {demand:.1f}."
    )
    target = at.emptiest_node()
    if target is None:
        return f"{found} The machine has no other node to move one to."
    room = at.free_cores(target)
    movable = sorted((used, name) for name, used in homed.items() if used <= room)
    enough = [(used, name) for used, name in movable if demand - used <= cores]
    others = [pair for pair in enough if pair[1] != at.partition]
    if others or enough:
        used, name = (others or enough)[0]
        saving = rehomed_saving(at, {at.run.partitions.index(name): target}) or (
            f"; that saves at most the {at.remote_cores:.2f} cores which lines from other nodes "
            "and cache reload take"
        )
        return (
            f"{found} Move one: {name} ({used:.1f} cores) to {at.node_label(target)}, which has "
            f"{room:.1f} cores to spare, leaves {max(cores - (demand - used), 0.0):.1f} cores free "
            f"at home{saving}.{_trials(at)}"
        )
    if movable:
        used, name = movable[-1]
        return (
            f"{found} Moving {name} ({used:.1f} cores) to {at.node_label(target)} helps "
            "but does not suffice; more than one partition has to go."
        )
    return (
        f"{found} No other place has room for one of them: the emptiest, {at.node_label(target)}, "
        f"has {room:.1f} cores to spare."
    )


def _trials(at: Situation) -> str:
    """What no price of an instruction tells, and where to have it."""
    if at.run.spec["machine"]["hypervisor"]["policy"] != "phyp":
        return ""
    named = f"{at.run.name}:{at.partition}"
    return (
        " Fewer virtual processors and more entitlement are simulated by"
        f" `homenode explain {named} --try`."
    )


def _reload(at: Situation) -> str:
    return (
        f"Its virtual processors are taken off their cores {at.metric('evictions_per_s'):,.0f} "
        "times a second by others and "
        f"its logical CPUs lose the core {at.metric('ilcs_per_s'):,.0f} times; each has "
        f"{at.slice_ms:.1f} ms of entitled time "
        f"in a window ({at.shape.entitlement:g} cores over {at.shape.processors} virtual "
        "processors). A larger entitlement or "
        "fewer virtual processors lengthen the slices, and what was cached stays useful."
    )


def _reload_dedicated(at: Situation) -> str:
    return (
        "Its threads come to cores that hold the lines of others, "
        f"{at.metric('context_switches_per_s'):,.0f} switches a second on {at.shape.processors} "
        "cores: fewer threads that take turns, or threads bound to their processors, keep what was "
        "cached useful."
    )


def _smt(at: Situation) -> str:
    aix = aix_of(at.spec)
    mode = 0 if aix is None else aix["throughput_mode"]
    unfolded = at.metric("vps_unfolded")
    if mode > 1 and unfolded < at.shape.processors:
        return (
            f"With throughput mode {mode} threads share a core before the next virtual processor "
            f"is used ({unfolded:.1f} of "
            f"{at.shape.processors} are in use): mode 0 gives each thread a core of its own, at "
            "the price of more cores."
        )
    what = "cores" if at.is_dedicated else "virtual processors"
    return (
        f"All its {at.shape.processors} {what} are in use and their threads share the "
        f"cores: more {what}, or less work, would give each thread more of a core."
    )


def _spread(at: Situation) -> str:
    """What costs is that threads do not share cores."""
    aix, smt = aix_of(at.spec), at.spec["smt"]
    mode = None if aix is None else aix["throughput_mode"]
    if smt < 2:
        return "It uses one thread of a core: with SMT on, others would use the time it waits."
    if mode is not None and mode < smt:
        return (
            f"With throughput mode {mode} its threads go to idle cores before {smt} share one: a "
            "higher mode fills the threads of a core first, at the price of slower threads."
        )
    what = "cores" if at.is_dedicated else "virtual processors"
    return (
        f"Of its {at.shape.processors} {what} {at.metric('vps_unfolded'):.1f} are in "
        "use: with fewer, more threads would share a core."
    )


def _tick(at: Situation) -> str:
    scheduler = scheduler_of(at.spec)
    tick_ms = 0.0 if scheduler is None else scheduler["tick_ns"] / 1e6
    what = "processors" if at.is_dedicated else "virtual processors in use"
    return (
        f"Every busy logical CPU takes a clock tick each {tick_ms:g} ms, wherever it runs: fewer "
        f"{what} take fewer."
    )


def _spin(at: Situation) -> str:
    return (
        f"Threads wait for locks{_held(at)}; a virtual processor that is ready waits "
        f"{at.metric('dispatch_wait_us'):,.0f} us for a core, and a lock it holds waits with it: "
        "fewer virtual processors, each with more entitlement, keep the holders running."
    )


def _spin_dedicated(at: Situation) -> str:
    return (
        f"Threads on {at.metric('physc'):.1f} busy cores wait for locks{_held(at)}: shorter "
        "critical sections, more locks, or fewer cores that work on the same data shorten the "
        "queue."
    )


def _held(at: Situation) -> str:
    share = at.spec["profile"]["lock_share"]
    return f" that its work holds {100 * share:.1f} % of the time" if share > 0 else ""


def _guest_idle(at: Situation) -> str:
    aix = aix_of(at.spec)
    delay = None if aix is None else aix["snooze_delay_ns"]
    how_long = "for ever" if delay is None else f"for {delay / 1e3:,.0f} us"
    return (
        f"Idle threads keep their core {how_long} before they give it back: a shorter snooze delay "
        "frees it."
    )


def _guest_idle_dedicated(at: Situation) -> str:
    busy = at.metric("physc") - at.metric("cores_guest_idle")
    return (
        f"Its {at.shape.processors} cores are its own also while they idle: {math.ceil(busy)} "
        f"would hold the {busy:.2f} that work, and leave the others free."
    )


def _hypervisor(at: Situation) -> str:
    return (
        f"Its virtual processors are put on a core {at.metric('dispatches_per_s'):,.0f} times a "
        "second: longer slices or fewer "
        "virtual processors in use save the switches."
    )


def _hypervisor_dedicated(at: Situation) -> str:
    share = at.spec["hypervisor_share"]
    if share > 0:
        return (
            f"{100 * share:.1f} % of its core time goes to what the guest may not do itself: as "
            "the only partition of its part of the machine, without a monitor, it would keep it."
        )
    return (
        f"Its cores go to sleep and wake {at.metric('dispatches_per_s'):,.0f} times a second: "
        "work that comes in larger pieces saves the calls."
    )


def _own_work(at: Situation) -> str:
    return (
        f"This is the work itself ({at.metric('cpi'):.2f} cycles an instruction), not the layout: "
        "no other place for "
        f"{at.partition} would save it."
    )


def _pct(share: float) -> str:
    return f"{100 * share:.0f} %"


_REMEDIES: dict[str, Callable[[Situation], str]] = {
    "work": _own_work,
    "caches": _own_work,
    "coherence": _own_work,
    "memory": _own_work,
    "distance": _distance,
    "translation": page_advice,
    "store": _own_work,
    "reload": _reload,
    "smt": _smt,
    "spread": _spread,
    "tick": _tick,
    "spin": _spin,
    "list": control_program.REMEDIES["list"],
    "guest_idle": _guest_idle,
    "hypervisor": _hypervisor,
}
_DEDICATED: dict[str, Callable[[Situation], str]] = {
    "distance": moved_advice,
    "reload": _reload_dedicated,
    "spin": _spin_dedicated,
    "guest_idle": _guest_idle_dedicated,
    "hypervisor": _hypervisor_dedicated,
}
"""Where cores of one's own need another advice."""
