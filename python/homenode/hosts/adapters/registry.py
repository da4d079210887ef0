"""All adapters by name, one line each; imported when they are first asked for."""

from __future__ import annotations

import importlib
from typing import cast

from homenode.errors import hint, listed
from homenode.hosts.adapter import Adapter
from homenode.hosts.errors import MeasureError

ADAPTERS: dict[str, str] = {
    "apache": "homenode.hosts.adapters.apache:Apache",
    "dbench": "homenode.hosts.adapters.dbench:Dbench",
    "duckdb": "homenode.hosts.adapters.duckdb:DuckDb",
    "fio": "homenode.hosts.adapters.fio:Fio",
    "floating": "homenode.hosts.adapters.floating:Floating",
    "hackbench": "homenode.hosts.adapters.hackbench:Hackbench",
    "integer": "homenode.hosts.adapters.integer:Integer",
    "iperf3": "homenode.hosts.adapters.iperf3:Iperf3",
    "jmh": "homenode.hosts.adapters.jmh:Jmh",
    "kernels": "homenode.hosts.adapters.kernels:Kernels",
    "lmbench": "homenode.hosts.adapters.lmbench:Lmbench",
    "loops": "homenode.hosts.adapters.loops:Loops",
    "netperf": "homenode.hosts.adapters.netperf:Netperf",
    "pgbench": "homenode.hosts.adapters.pgbench:Pgbench",
    "request": "homenode.hosts.adapters.request:Request",
    "sockperf": "homenode.hosts.adapters.sockperf:Sockperf",
    "stressng": "homenode.hosts.adapters.stressng:StressNg",
    "sysbench": "homenode.hosts.adapters.sysbench:Sysbench",
    "tbench": "homenode.hosts.adapters.dbench:Tbench",
}
"""Name in suites: `module:class`; the class is made without arguments."""


def adapter(name: str) -> Adapter:
    """The adapter of that name.

    Raises `MeasureError` for a name that is not there.
    """
    if name not in ADAPTERS:
        raise MeasureError(
            f"there is no adapter {name}{hint(name, ADAPTERS)}",
            there=f"there are {listed(sorted(ADAPTERS), 30)}",
            next_step="correct the suite's `adapter`",
        )
    module, _, kind = ADAPTERS[name].partition(":")
    return cast(Adapter, getattr(importlib.import_module(module), kind)())
