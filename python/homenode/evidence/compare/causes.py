"""Processor time by cause, coarse enough to set two machines beside each other."""

from __future__ import annotations

from collections.abc import Mapping

CAUSES = {
    "core": ("useful", "smt"),
    "L2": ("l2",),
    "L3": ("l3",),
    "L4": ("l4",),
    "coherence": ("cache_chip", "cache_near", "cache_far", "list"),
    "memory": ("memory_local", "memory_near", "memory_far"),
    "translation": ("translation",),
    "store": ("store",),
    "spin": ("spin",),
    "other": ("reload", "tick", "hypervisor"),
}
"""Books of the engine by cause. `guest_idle` is none of them: it is no time of the work."""
MEANING = {
    "core": "instructions as if the caches were infinite: clock and core",
    "L2": "hits in the second cache level",
    "L3": "hits in the third cache level",
    "L4": "hits in the node's cache",
    "coherence": "lines that another core wrote",
    "memory": "lines from memory",
    "translation": "walks of page tables",
    "spin": "waiting for locks",
    "store": "stores on their way to the level that keeps them",
    "link": "bytes over the narrowest link to the core",
    "fetch": "latency of a level beyond what the core works ahead",
    "miss": "lines that the first level refuses and the second holds",
    "other": "cache reload, clock tick, hypervisor",
}

WALK_CAUSES = ("store", "link", "fetch", "miss")
"""Causes that a walk through memory has beside `core`."""


def by_cause(books: Mapping[str, float]) -> dict[str, float]:
    """Sum of the books of each cause that takes time at all."""
    sums = {cause: sum(books.get(book, 0.0) for book in parts) for cause, parts in CAUSES.items()}
    return {cause: value for cause, value in sums.items() if value > 0}
