"""How much work a core of a machine does, by the cost model alone."""

from __future__ import annotations

import functools
from typing import Any

from homenode.errors import HomenodeError, InputError
from homenode.model.catalog import MachineDescription, machine
from homenode.model.catalog.names import is_path
from homenode.model.catalog.policies import HOST_POLICIES
from homenode.model.document import to_toml
from homenode.simulate.scenario import Scenario

_MEMORY = "16 GiB"
"""Of the partition that is priced: any that holds its work."""


@functools.lru_cache(maxsize=256)
def core_rate(reference: str, profile: str, clock: str | None = None) -> float:
    """Instructions in a second of a core (on hosts: of a hardware thread) of a machine, given by
    name or file, while all cores and threads of a chip do this work with memory beside them.

    A chip that is busy as a whole, since that is when cores run out; `clock` replaces the
    machine's own. Raises `InputError` where the machine cannot be priced.
    """
    found = machine(reference)
    try:
        scenario = Scenario.from_toml(
            to_toml(_busy_chip(found, reference, profile, clock)), f"a core of {reference}"
        )
        (told,) = scenario.solve().answer["partitions"]
    except InputError as error:
        raise InputError(
            f"what a core of {found.title} does of {profile} cannot be priced: {error.problem}",
            next_step="rate it and the target with --rating",
        ) from error
    if not told["instructions"] > 0 or not told["cores"] > 0:
        raise HomenodeError(f"a busy chip of {found.title} does nothing of {profile}")
    return told["instructions"] / told["cores"]


def _busy_chip(
    found: MachineDescription, reference: str, profile: str, clock: str | None
) -> dict[str, Any]:
    hosted = found.hypervisor.policy in HOST_POLICIES
    count = found.cores_per_chip * found.host_threads
    threads = 1 if hosted else found.threads_per_core
    partition: dict[str, Any] = {"name": "busy", "memory": _MEMORY}
    if hosted:
        pins = [str(number) for number in range(count)]
        partition["processors"] = {"mode": "shared", "virtual": count, "pins": pins}
    else:
        partition["processors"] = {"mode": "dedicated", "cores": count}
        partition |= {"smt": threads, "guest": {"os": "linux"}}
    partition["workload"] = {
        "kind": "loops", "endless": True, "count": count * threads, "profile": profile,
    }  # fmt: skip
    named: dict[str, Any] = {"file" if is_path(reference) else "model": reference}
    if clock is not None:
        named["clock"] = {"value": clock, "why": "as recorded"}
    return {
        "name": "busy-chip",
        "machine": named,
        "partition": [partition],
        "run": {"warmup": "1 s", "duration": "1 s", "replications": 1},
        **_cells(found),
    }


def _cells(found: MachineDescription) -> dict[str, Any]:
    """A machine of cells is divided: one hard partition of its first cell."""
    if found.platform is None:
        return {}
    return {"npartition": [{"name": "npar0", "cells": ["cell0"], "memory": "32 GiB"}]}
