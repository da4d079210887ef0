"""Which crew a sweep gets."""

from __future__ import annotations

import os
from dataclasses import replace

from homenode.errors import HomenodeError
from homenode.simulate.sweep.cluster import Cluster
from homenode.simulate.sweep.crew import Alone, Crew, Processes
from homenode.simulate.sweep.order import Order


def crew_of(order: Order, on: str | None, jobs: int | None, left: int) -> Crew:
    """The crew of a word: none for this machine, `ray` or `ray://host:port` for a cluster; `jobs`
    are its cores at most, `left` the points that are to be done. Raises `HomenodeError` for another
    word, and for a cluster that is not there.
    """
    if on is None:
        cores = jobs or os.cpu_count() or 1
        count = min(cores, left)
        # They see the folder: files need not be sent. The order's id is told before.
        order = replace(order, files={}, threads=max(1, cores // count))
        return Alone(order) if count == 1 else Processes(order, count)
    if on == "ray" or on.startswith("ray://"):
        return Cluster(order, None if on == "ray" else on, jobs, left)
    raise HomenodeError(
        f"--on {on}: there is no such cluster",
        there="ray starts one here or joins that of this machine, ray://HOST:PORT joins another",
        next_step="leave it out for the processes of this machine",
    )
