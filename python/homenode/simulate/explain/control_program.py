"""What would save a partition with z/VM a cost, and what it waits for: one function for each family
of causes that its Control Program decides.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from homenode.model.spec import zvm_of
from homenode.simulate.explain.situation import Situation
from homenode.simulate.kept.rows import select

_FULL = 80.0
"""Percent busy from which on no processor is parked for want of work."""
_PARKED = (
    " The work then shares fewer and busier processors: virtual processors wait longer for "
    "dispatch and find more of their lines cold, and what the Control Program saves the guests may "
    "lose. Compare ETR, response times and dispatch waits before and after."
)
"""What goes with advice to park."""
_WORTH_A_WORD = 0.0005
"""Waiting for pages [ms a transaction] from which on it is told."""
_WAITS = {"clients": "client_wait_us", "servers": "server_wait_us"}
"""Mean waits of virtual processors for a logical one, by whose they are."""
_SHORT, _TIMES = 1.0, 2.0
"""Waits [us] below which, and of which less than so many times as long, is no difference."""


@dataclass(frozen=True)
class ListSearch:
    """What searches of layer-3 switches found, all of them together."""

    switches: int
    longest: int
    """Virtual machines on the switch that has most."""
    searches_per_s: float
    passed: float
    """Control blocks passed in a search, mean."""


def list_search(at: Situation) -> ListSearch | None:
    """None where no list was searched."""
    guest = zvm_of(at.spec)
    if guest is None:
        return None
    lists = [n for n, one in enumerate(guest["switches"]) if one["layer"] == "ip"]
    if not lists:
        return None
    ((searches, elements),) = select(
        "sum(searches), sum(elements)",
        at.run.table_file("switch"),
        "WHERE partition = $partition AND list_contains($lists, switch)",
        partition=at.index,
        lists=lists,
    )
    if not searches:
        return None
    seconds = at.run.replications * at.run.spec["duration_ns"] / 1e9
    coupled = [sum(m["switch"] == n for m in guest["machines"]) for n in lists]
    return ListSearch(len(lists), max(coupled), searches / seconds, elements / searches)


def _list(at: Situation) -> str:
    found = list_search(at)
    if found is None:
        return "No list of a switch was searched."
    lists = f"the list of one of {found.switches} layer-3 switches"
    if found.switches == 1:
        lists = "the list of its layer-3 switch"
    return (
        f"To find the receiver of a frame it searches {lists}, {found.searches_per_s:,.0f} times a "
        f"second, and passes {found.passed:.1f} control blocks each time (up to {found.longest} "
        "virtual machines a switch); those that another processor has found since were changed "
        "there, and their lines come from its caches. A layer-2 switch has a table and no list; "
        "more switches with fewer virtual machines each have shorter ones."
    )


def _spin(at: Situation) -> str:
    path, spun = at.metric("instructions_per_tx"), at.metric("spin_instructions_per_tx")
    told = f": {spun:,.0f} of the {path:,.0f} instructions of a transaction" if path > 0 else ""
    engaged = at.metric("unparked")
    text = (
        f"Its {engaged:.1f} unparked processors wait for formal spin locks of the Control "
        f"Program{told}. The fewer of them are engaged, the shorter is the queue: "
    )
    guest, idles = zvm_of(at.spec), at.metric("unparked_busy_pct") < _FULL
    if guest is not None and guest["vertical"] and guest["unparking"] != "small" and idles:
        return f'{text}unparking = "small" parks what the load does not need.{_PARKED}'
    return f"{text}several smaller partitions, and several switches, have locks of their own."


def _distance(at: Situation) -> str:
    nodes = len([node for node, seats in at.seats_by_node.items() if seats > 0])
    where = f"{nodes} {at.vocabulary.node}s" if nodes > 1 else f"one {at.vocabulary.node}"
    text = (
        f"Its {at.shape.processors} cores lie on {where}, and what they change comes from each "
        "other's caches at that distance: "
    )
    guest = zvm_of(at.spec)
    if at.metric("freed_cores") < 1 and guest is not None and guest["vertical"]:
        needed = math.ceil(at.metric("physc"))
        if needed < at.shape.processors - 1:
            return (
                f'{text}{needed} of them would hold the load, and unparking = "small" brings it '
                f"together.{_PARKED}"
            )
    return f"{text}smaller partitions keep it nearer."


def _reload(at: Situation) -> str:
    totals = at.run.totals(at.partition)
    counted = sum(kind.get("dispatches", 0) for one in totals for kind in one.guests.values())
    seconds = math.fsum(one.seconds for one in totals)
    return (
        "Virtual processors come to processors that hold the lines of others, "
        f"{counted / seconds:,.0f} dispatches a second; fewer virtual machines that take turns "
        "would keep what was cached useful."
    )


def _smt(at: Situation) -> str:
    return (
        f'Two threads share each of its {at.shape.processors} cores: smt = "off" gives each a '
        "core of its own, at the price of logical processors."
    )


def _hypervisor(at: Situation) -> str:
    share = at.metric("hypervisor_pct")
    return (
        f"PR/SM takes {share:.2f} % of its core time to put {at.shape.processors} logical cores on "
        "physical ones: a dedicated partition, or fewer logical cores, saves it."
    )


def _guest_idle(at: Situation) -> str:
    return (
        f"{at.metric('unparked'):.1f} unparked processors look for work before they wait: with "
        f'unparking = "small" fewer of them look in fewer places.{_PARKED}'
    )


REMEDIES: dict[str, Callable[[Situation], str]] = {
    "list": _list,
    "spin": _spin,
    "distance": _distance,
    "reload": _reload,
    "smt": _smt,
    "spread": _smt,
    "hypervisor": _hypervisor,
    "guest_idle": _guest_idle,
}
"""By family of causes; the others are explained as everywhere."""


def page_wait(at: Situation) -> str | None:
    """What a transaction waits for pages, in sentences; None where it does not."""
    wait = at.metric("page_wait_ms")
    if wait < _WORTH_A_WORD:
        return None
    told = (
        f"Beside this a transaction waits {wait:,.2f} ms for pages. That is time, not cores: no "
        f"processor is busy with it. {at.metric('paging_per_s'):,.0f} pages a second move between "
        "memory and paging volumes"
    )
    io = at.metric("volume_io_per_s")
    if io <= 0:
        return f"{told}."
    parts = {
        "queueing before them": at.metric("volume_resp_ms") - at.metric("volume_serv_ms"),
        "the storage server's disks": at.metric("volume_disc_ms"),
        "the transfer": at.metric("volume_conn_ms"),
        "starting": at.metric("volume_pend_ms"),
    }
    largest = max(parts, key=lambda name: parts[name])
    return (
        f"{told}, a request takes {at.metric('volume_resp_ms'):.2f} ms, of it "
        f"{parts[largest]:.2f} ms {largest} ({at.metric('read_hit_pct'):.0f} % of the reads hit "
        "the storage server's cache): more central memory, or fewer guests in it, page less."
    )


def page_waits(at: Situation, there: Situation) -> str | None:
    """The same of two partitions; None where neither waits."""
    mine, theirs = (one.metric("page_wait_ms") for one in (at, there))
    if max(mine, theirs) < _WORTH_A_WORD:
        return None
    return (
        f"A transaction waits {mine:,.2f} ms for pages against {theirs:,.2f} ms; that is time, not "
        "cores, and in no row of the table."
    )


def dispatch_waits(
    here: Callable[[str], float], there: Callable[[str], float]
) -> dict[str, tuple[float, float]]:
    """Whose virtual processors wait much longer or shorter for a logical one, with how long in one
    partition and in the other [us], of which metrics are asked by name; nothing where both wait
    about as long.
    """
    waits = {whose: (here(name), there(name)) for whose, name in _WAITS.items()}
    return {
        whose: both for whose, both in waits.items() if max(both) > max(_SHORT, _TIMES * min(both))
    }


def dispatch_waits_told(at: Situation, there: Situation) -> str | None:
    """The same in a sentence; None where there is nothing to tell."""
    found = dispatch_waits(at.metric, there.metric)
    told = [
        f"of {whose} {here:,.2f} us against {away:,.2f}" for whose, (here, away) in found.items()
    ]
    if not told:
        return None
    return (
        f"Virtual processors wait for dispatch: {', '.join(told)}. ETR and response times tell "
        "what that does to the guests."
    )
