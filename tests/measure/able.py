"""What a test asks of the host at hand. Where that is not to be had, it is skipped, and says so."""

from __future__ import annotations

import os

import pytest

from homenode.hosts.live import Host


def own_processors() -> list[int]:
    """Those that this process may use: a container or a batch system need not give the first."""
    return sorted(os.sched_getaffinity(0))


def needs_groups_that_can(*wanted: str) -> None:
    """Such as `quota` or `cpuset`; in most containers nobody may set them."""
    with Host.open() as opened:
        lacking = sorted(set(wanted) - opened.groups.can)
        if lacking:
            names = ", ".join(lacking)
            pytest.skip(f"no {names} can be set on this host: {opened.groups.why_not}")
