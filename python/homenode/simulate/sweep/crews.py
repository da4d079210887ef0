"""Which crew a sweep gets."""

from __future__ import annotations

import os
import threading

from homenode.errors import HomenodeError
from homenode.simulate.sweep.cluster import Cluster
from homenode.simulate.sweep.crew import Alone, Crew, Processes
from homenode.simulate.sweep.order import AnyOrder


def crew_of(
    order: AnyOrder,
    on: str | None,
    jobs: int | None,
    left: int,
    stop: threading.Event | None = None,
) -> Crew:
    """The crew of a word: none for this machine, `ray` or `ray://host:port` for a cluster; `jobs`
    are its cores at most, `left` the numbers that are to be done; `stop` stops who works alone.
    Raises `HomenodeError` for another
    word, and for a cluster that is not there.
    """
    if on is None:
        cores = jobs or os.cpu_count() or 1
        count = min(cores, left)
        order = order.here(max(1, cores // count))
        return Alone(order, stop) if count == 1 else Processes(order, count)
    if on == "ray" or on.startswith("ray://"):
        return Cluster(order, None if on == "ray" else on, jobs, left)
    raise HomenodeError(
        f"--on {on}: there is no such cluster",
        there="ray starts one here or joins that of this machine, ray://HOST:PORT joins another",
        next_step="leave it out for the processes of this machine",
    )
