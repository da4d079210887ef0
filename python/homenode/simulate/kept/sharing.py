"""How many threads share a core, and what that changes between two partitions.

Of a core on which several threads are busy each books its part of the time. With more threads on a
core an instruction therefore books less at every cause, its own work first, though it is the same
instruction. Before two partitions are compared cause by cause, that has to be told apart.

With `x` the cores a cause takes and `b` the busy threads on a core, `T = b x` is the time of
threads, which sharing leaves alone. Of the difference `x1 - x0` the part
`(T1 - T0) (1/b1 + 1/b0) / 2` is the cause's own, and `(T1 + T0) (1/b1 - 1/b0) / 2` is sharing.
"""

from __future__ import annotations

from homenode.simulate.kept.books import SHARED, Breakdown

_NOT_OF_THREADS = ("guest_idle", "hypervisor")
_ALIKE = 0.05


def sharing_differs(books: Breakdown, base: Breakdown) -> bool:
    """Whether so many more or fewer threads share a core that it has to be told."""
    mine, theirs = books.busy_threads, base.busy_threads
    return mine is not None and theirs is not None and abs(mine / theirs - 1.0) > _ALIKE


def difference(books: Breakdown, base: Breakdown, factor: float) -> dict[str, float]:
    """What each cause takes more than `factor` times the base's, with all that sharing changes
    under the cause of threads that share a core.
    """
    mine, theirs = books.busy_threads, base.busy_threads
    found = {cause: books.cores[cause] - factor * base.cores[cause] for cause in books.cores}
    if mine is None or theirs is None:
        return found
    shared = 0.0
    for cause, change in found.items():
        if cause not in _NOT_OF_THREADS:
            threads = mine * books.cores[cause], theirs * factor * base.cores[cause]
            found[cause] = (threads[0] - threads[1]) * (1 / mine + 1 / theirs) / 2
            shared += change - found[cause]
    return {**found, SHARED: found[SHARED] + shared}


def busy_threads(
    instructions_per_s: float, core_cycles: float, clock_hz: float, useful_cores: float
) -> float | None:
    """Busy threads on a core, as the work met them; None where there was none.

    The work of an instruction takes so many cycles of its thread, however many share the core.
    """
    if useful_cores <= 0 or clock_hz <= 0 or instructions_per_s <= 0:
        return None
    return instructions_per_s * core_cycles / clock_hz / useful_cores
