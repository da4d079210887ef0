"""What change would remove a cost on a Linux or Xen host, where threads are dispatched one by one:
pins, weights and quotas in place of entitlements and homes.
"""

from __future__ import annotations

from collections.abc import Callable

from homenode.simulate.explain.situation import Situation

_MUCH_MEMORY_AWAY = 0.05


def _distance(at: Situation) -> str:
    """Memory and processors on different sockets."""
    if _knows_no_nodes(at):
        return (
            "Its guest knows nothing of the host's nodes, so what its threads use lies wherever the"
            " host has the pages: show it the nodes and pin each virtual processor to one"
            " (kvm = { numa = true } and pins; in libvirt's words cells, numatune and vcpupin), or"
            " let it fit beside one."
        )
    away = at.memory_away_share
    if away > _MUCH_MEMORY_AWAY:
        return (
            f"{100 * away:.0f} % of its memory lies away from where its threads are at home:"
            " memory and pins on one socket (numatune and vcpupin, or cpuset.mems and cpuset.cpus)"
            " would bring them together."
        )
    return (
        f"{100 * at.metric('far_share') + 100 * at.metric('near_share'):.0f} % of its core time is"
        " spent away from its home chips: pins or a cpuset beside its memory would keep it there."
    )


def _knows_no_nodes(at: Situation) -> bool:
    """Whether it is a guest of KVM with memory on several nodes that it is not shown."""
    places = {domain for part in at.spec["memory"] for domain in part["domains"]}
    on_linux = at.machine["hypervisor"]["policy"] == "linux"
    return on_linux and at.spec["memory_policy"] == "in-order" and len(places) > 1


def _reload(at: Situation) -> str:
    """Threads that lose their processors and come back to caches of others."""
    return (
        f"Its threads are taken off a processor {at.metric('nivcsw_per_s'):,.0f} times a second and"
        f" moved to another one {at.metric('migrations_per_s'):,.0f} times: a longer slice, fewer"
        " runnable threads than processors, or pins keep what was cached useful."
    )


def _smt(_at: Situation) -> str:
    """Threads of the host that share a core."""
    return (
        "Other threads run beside its own on the same cores: pins to one thread of each core, or"
        " fewer runnable threads than cores, would give each more of one."
    )


def _hypervisor(at: Situation) -> str:
    """Switches, exits and polling."""
    switches = at.metric("nvcsw_per_s") + at.metric("nivcsw_per_s")
    return (
        f"Its threads switch {switches:,.0f} times a second: work that comes in larger pieces, or a"
        " longer slice, saves switches and exits."
    )


def _spin(at: Situation) -> str:
    """A holder that waits for a processor."""
    return (
        "Threads wait for locks while those that hold them wait"
        f" {at.metric('run_delay_ms'):.2f} ms for a processor: fewer virtual processors than the"
        " host has free ones keep the holders running."
    )


def _guest_idle(_at: Situation) -> str:
    """Polling on behalf of halted virtual processors."""
    return (
        "Halted virtual processors keep polling for work: a shorter halt_poll_ns frees the"
        " processors, at the price of later wake-ups."
    )


REMEDIES: dict[str, Callable[[Situation], str]] = {
    "distance": _distance,
    "reload": _reload,
    "smt": _smt,
    "spin": _spin,
    "guest_idle": _guest_idle,
    "hypervisor": _hypervisor,
}
"""By family of causes."""
