"""All adapters by name, one line each; imported when they are first asked for."""

from __future__ import annotations

import importlib
from typing import cast

from homenode.errors import hint, listed
from homenode.measure.adapter import Adapter
from homenode.measure.errors import MeasureError

ADAPTERS: dict[str, str] = {
    "apache": "homenode.measure.adapters.apache:Apache",
    "dbench": "homenode.measure.adapters.dbench:Dbench",
    "duckdb": "homenode.measure.adapters.duckdb:DuckDb",
    "fio": "homenode.measure.adapters.fio:Fio",
    "hackbench": "homenode.measure.adapters.hackbench:Hackbench",
    "integer": "homenode.measure.adapters.integer:Integer",
    "iperf3": "homenode.measure.adapters.iperf3:Iperf3",
    "jmh": "homenode.measure.adapters.jmh:Jmh",
    "kernels": "homenode.measure.adapters.kernels:Kernels",
    "lmbench": "homenode.measure.adapters.lmbench:Lmbench",
    "loops": "homenode.measure.adapters.loops:Loops",
    "netperf": "homenode.measure.adapters.netperf:Netperf",
    "request": "homenode.measure.adapters.request:Request",
    "sockperf": "homenode.measure.adapters.sockperf:Sockperf",
    "stressng": "homenode.measure.adapters.stressng:StressNg",
    "sysbench": "homenode.measure.adapters.sysbench:Sysbench",
    "tbench": "homenode.measure.adapters.dbench:Tbench",
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
