"""What systems count as a switch of threads."""

from __future__ import annotations

from collections.abc import Mapping


def linux_switches_each(busy_share: float) -> float:
    """How often Linux counts a thread's turn on a processor.

    `ctxt` of /proc/stat is every change of what runs, to the idle task and from it as well
    (`__schedule` counts wherever the next task is another one). So a turn counts once for its
    beginning, and once more for its end if nothing else is there to run, which is so with the
    chance that the processor is idle.
    """
    return 2.0 - min(1.0, max(0.0, busy_share))


def linux_switches(counted: Mapping[str, float]) -> float:
    """Switches as Linux would have counted them, of the counters of a run over some time."""
    busy = counted["ticks_user"] + counted["ticks_sys"]
    whole = busy + counted["ticks_wait"] + counted["ticks_idle"]
    return counted["context_switches"] * linux_switches_each(busy / whole if whole else 0.0)
