"""Which dispatchers are of which kind, by their name in a machine description.

The engine has the list of hosts' schedulers, with the numbers of each that may be set; it is asked,
so that a new one stands there and nowhere else. Linux and Xen have many numbers more, in tables of
their own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from homenode import _engine

_WITH_TABLES = ("linux", "credit2")
"""Those with a table of their own in `catalog.hosts`."""
WITH_A_FILE = ("esxi",)
"""Those of the others with a file for what a Linux host has differently."""


@dataclass(frozen=True)
class Setting:
    """A number of a scheduler, as the engine tells it."""

    name: str
    """In the engine's input, with its unit."""
    usual: int
    least: int
    most: int
    meaning: str
    source: str
    """Where the usual value is published; empty where nobody does."""
    assumed: str
    """Why it, then."""

    @property
    def is_time(self) -> bool:
        """Whether it is one, in nanoseconds."""
        return self.name.endswith("_ns")

    @property
    def key(self) -> str:
        """What people call it: a value says its unit."""
        return self.name.removesuffix("_ns")


@dataclass(frozen=True)
class HostPolicy:
    """A scheduler of hosts that a machine can name."""

    name: str
    title: str
    settings: tuple[Setting, ...]


def _told(one: Mapping[str, Any]) -> HostPolicy:
    settings = tuple(Setting(**setting) for setting in one["settings"])
    return HostPolicy(one["name"], one["title"], settings)


HOSTS: Mapping[str, HostPolicy] = {
    one["name"]: _told(one) for one in json.loads(_engine.HOST_POLICIES)
}
"""All of them by name, in the engine's order."""
HOST_POLICIES = tuple(HOSTS)
"""Policies under which a host's threads are dispatched one by one."""
LISTED = tuple(one for name, one in HOSTS.items() if name not in _WITH_TABLES)
"""Those of which little is known here but what the engine tells. All but ESXi's stand in the place
of Linux's scheduler on a Linux host.
"""

if TYPE_CHECKING:
    HostName = str
else:
    HostName = Literal[HOST_POLICIES]
