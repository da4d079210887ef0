"""A scenario of each target with its partitions at the moment when it is fullest: what advice,
simulations and pictures go on from.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from homenode.errors import HomenodeError
from homenode.model.catalog import MachineDescription, machine
from homenode.model.catalog.hypervisor import PowerVm
from homenode.model.catalog.policies import HOST_POLICIES
from homenode.model.document import to_toml
from homenode.model.units import SIZE
from homenode.planner.consolidation.front import Consolidating
from homenode.planner.consolidation.targets import Target, is_file
from homenode.simulate.scenario import Scenario
from homenode.staging import write_folder

_LEAST_USE = 0.01
"""Cores below which a partition counts as idle."""
_ASSUMED_MEMORY = 2**30
"""Of a partition whose memory no recording tells [bytes]: what a small guest boots with."""
_RUN = {"warmup": "1 s", "duration": "5 s", "replications": 3}


def layouts(work: Consolidating) -> dict[str, str]:
    """A scenario file as text by machine that has partitions, each held against the rules of
    scenarios.

    Entitlements are mean use, virtual processors hold the highest step; homes are left to the rule
    of the platform, for advice to change. Raises `HomenodeError` where the machine of a target
    takes no such partitions.
    """
    found: dict[str, str] = {}
    for number, target in enumerate(work.gathered.targets):
        if (work.placing.at == number).any():
            found[target.name] = _layout(work, number, target)
    return found


def save(work: Consolidating, folder: Path, *, force: bool = False) -> list[Path]:
    """Write each layout to a file of a folder, all of them or none."""
    files = {f"{name}.toml": text for name, text in layouts(work).items()}
    content = {name: text.encode() for name, text in files.items()}
    write_folder(folder, content, _is_ours if force else None)
    return [folder / name for name in files]


def _is_ours(folder: Path) -> bool:
    """Whether nothing but scenarios and what was found of them is in it."""
    return folder.is_dir() and all(
        one.name.endswith((".toml", ".work.json")) for one in folder.iterdir()
    )


def _layout(work: Consolidating, number: int, target: Target) -> str:
    described = machine(target.reference)
    if described.platform is not None:
        raise HomenodeError(
            f"{described.title} is made of cells, of which no layout is written",
            next_step="leave -o out, or write the scenario by hand",
        )
    of = work.gathered
    mine = [int(one) for one in np.flatnonzero(work.placing.at == number)]
    step = work.step_of(number)
    counted = int(np.flatnonzero(np.flatnonzero(of.wanted) == step)[0])
    worth = float(of.worth[number])
    names = _names([of.demands[one].name for one in mine])
    partitions = [
        _partition(work, one, names[place], described, float(of.loads.use[one, counted]) / worth)
        for place, one in enumerate(mine)
    ]
    if isinstance(described.hypervisor, PowerVm):
        least = described.hypervisor.min_entitlement_per_vp.value
        _entitle(partitions, target.cores, least)
    when = of.grid.moment(step).strftime("%A %Y-%m-%d %H:%M %Z")
    named: dict[str, Any] = {"file": str(Path(target.reference).resolve())}
    named = named if is_file(target) else {"model": target.reference}
    if described.hypervisor.policy not in HOST_POLICIES:
        named["active_cores"] = target.cores
    data = {
        "name": target.name,
        "title": f"{len(mine)} partitions on {described.title}, {when}",
        "machine": named,
        "partition": partitions,
        "run": _RUN,
    }
    head = (
        f"# {target.name} at its peak: {when}.\n"
        "# Made by homenode consolidate. Uses are recorded ones in cores of this machine;\n"
        "# homes are left to the platform: `homenode advise` looks for better ones.\n"
    )
    text = head + to_toml(data)
    Scenario.from_toml(text, f"{target.name}.toml")
    return text


def _names(names: list[str]) -> list[str]:
    """Names as scenarios take them, each once."""
    found: list[str] = []
    for name in names:
        plain = re.sub(r"[^A-Za-z0-9_.+-]", "-", name)[:60]
        plain = plain if plain[:1].isalnum() else f"p{plain}"
        numbered = (f"{plain}-{number}" for number in range(2, len(names) + 2))
        taken = {*found, *names}
        found.append(plain if plain not in found else next(n for n in numbered if n not in taken))
    return found


def _partition(
    work: Consolidating, one: int, name: str, on: MachineDescription, use: float
) -> dict[str, Any]:
    of = work.gathered
    demand, worth = of.demands[one], float(of.worth[work.placing.at[one]])
    own = of.loads.use[one] / worth
    virtual = max(1, math.ceil(float(own.max()) - 1e-9))
    os = demand.partition.os
    partition: dict[str, Any] = {"name": name, "memory": _memory(demand.memory_bytes)}
    partition["processors"] = _processors(on, virtual, float(own.mean()))
    smt = demand.partition.smt
    if on.hypervisor.policy not in HOST_POLICIES:
        if smt is not None and smt.value <= on.threads_per_core:
            partition["smt"] = smt.value
        if not isinstance(on.hypervisor, PowerVm) or (os is not None and os.value == "linux"):
            partition["guest"] = {"os": "linux"}
    profile = work.asked.profile
    partition["workload"] = {"kind": "idle", "profile": profile}
    if use >= _LEAST_USE:
        partition["workload"] = {"kind": "cores", "profile": profile, "use": f"{use:.3f}"}
    return partition


def _memory(told: int | None) -> str:
    """In whole MiB."""
    return SIZE.format(-(-(told or _ASSUMED_MEMORY) // 2**20) * 2**20)


def _processors(on: MachineDescription, virtual: int, mean: float) -> dict[str, Any]:
    policy = on.hypervisor.policy
    if isinstance(on.hypervisor, PowerVm):
        least = on.hypervisor.min_entitlement_per_vp.value * virtual
        return {"mode": "shared", "virtual": virtual, "entitlement": max(least, _hundredths(mean))}
    if policy == "prsm":
        return {"mode": "shared", "virtual": virtual, "weight": max(1, round(100 * mean))}
    if policy in HOST_POLICIES:
        return {"mode": "shared", "virtual": virtual}
    return {"mode": "dedicated", "cores": virtual}


def _hundredths(cores: float) -> float:
    return math.ceil(100 * cores - 1e-9) / 100


def _entitle(partitions: Sequence[Mapping[str, Any]], cores: int, of_virtual: float) -> None:
    """Entitlements in hundredths that the machine has in sum; what is over is taken from those that
    have more than their least, which is `of_virtual` of each virtual processor.
    """
    every = [one["processors"] for one in partitions]
    least = [_hundredths(of_virtual * one["virtual"]) for one in every]
    over = sum(one["entitlement"] for one in every) - cores
    spare = [one["entitlement"] - low for one, low in zip(every, least, strict=True)]
    share = min(1.0, over / sum(spare)) if over > 0 and sum(spare) > 0 else 0.0
    for one, more, low in zip(every, spare, least, strict=True):
        fewer = math.floor(100 * (one["entitlement"] - share * more) + 1e-6) / 100
        one["entitlement"] = max(low, fewer)
