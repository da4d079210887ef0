"""Random PowerVM frames on which work that comes and goes is beside loops that want all cores."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any, cast

Table = dict[str, object]

PROFILES = ("oltp", "java", "database-mix", "specjbb", "integer-suite")


def turns(dice: random.Random) -> tuple[Table, list[float]]:
    """One or two partitions that come and go beside loops that want all cores of a PowerVM frame,
    of which some are capped or in a pool with a maximum.
    """
    cores = dice.choice([1, 2, 4, 8, 16])
    entitled = cores * dice.choice([0.3, 0.6, 0.85])
    parts = [dice.uniform(0.2, 1.0) for _ in range(dice.randint(2, 5))]
    come = min(dice.choice([1, 1, 2]), len(parts) - 1)
    pool = dice.random() < 0.25
    partitions: list[Table] = []
    for at, part in enumerate(parts):
        own = round(max(0.1, entitled * part / sum(parts)), 2)
        loops, least = at >= come, math.ceil(own)
        virtual = dice.randint(least, max(least, min(cores, int(10.0 * own))))
        smt = dice.choice([1, 2, 4])
        processors: Table = {"mode": "shared", "entitlement": own, "virtual": virtual}
        processors["weight"] = dice.choice([32, 64, 128, 255])
        processors["capped"] = dice.random() < 0.15
        if pool and dice.random() < 0.5:
            processors["pool"] = "some"
        profile = {
            "base": dice.choice(PROFILES),
            "instructions": dice.choice([1e5, 3e5, 1e6, 5e6, 22e6]),
        }
        work: Table = {"kind": "loops", "count": virtual * smt, "endless": True}
        if not loops:
            work = {"kind": dice.choice(["transactions", "users"])}
            if dice.random() < 0.3:
                work |= {"bursts": dice.choice([4, 20]), "wait": "1 ms"}
        partitions.append(
            {
                "name": f"p{at}",
                "processors": processors,
                "smt": smt,
                "memory": "8 GiB",
                "guest": {"os": "aix", "folding": dice.random() < 0.5},
                "workload": work | {"profile": profile},
            }
        )
    # The last one's loops are on each core, and nothing stops them.
    last: Any = partitions[-1]
    last["processors"] |= {"virtual": cores, "capped": False}
    last["processors"]["entitlement"] = max(0.1 * cores, last["processors"]["entitlement"])
    last["processors"].pop("pool", None)
    last["workload"]["count"] = last["processors"]["virtual"] * last["smt"]
    for at in range(come):
        _ask(partitions[at]["workload"], _of_its_own(dice, partitions, at, cores))
    data: Table = {"machine": {"model": "ibm-power-770", "active_cores": cores}}
    each = [cast(Any, one["processors"]) for one in partitions]
    of_pool = [one["entitlement"] for one in each if "pool" in one]
    if of_pool:
        data["pool"] = [{"name": "some", "maximum": math.ceil(max(sum(of_pool), 0.6 * cores))}]
    return data | {"partition": partitions}, [0.0] * len(parts)


def _ask(work: Any, cores: float) -> None:
    """Gives it as much to do as takes about so many cores: an instruction .5 to 1.2 ns, as beside
    loops what one waits for does not tell how long it works.
    """
    each_s = 0.8e-9 * work["profile"]["instructions"]
    if work["kind"] == "transactions":
        work["rate"] = f"{cores / each_s:.3f}/s"
    else:
        away_s = 0.2 + 1e-3 * (work.get("bursts", 1) - 1) + 1.5 * each_s
        work |= {"count": max(1, round(cores / each_s * away_s)), "think": "200 ms"}


def _of_its_own(dice: random.Random, partitions: Sequence[Any], at: int, cores: int) -> float:
    """Cores that are a part of what it gets beside all others."""
    each = [one["processors"] for one in partitions]
    left = cores - sum(one["entitlement"] for one in each)
    weight = {True: 0, False: each[at]["weight"]}[each[at]["capped"]]
    own = each[at]["entitlement"] + left * weight / sum(one["weight"] for one in each)
    most = min(own, each[at]["virtual"])
    return dice.choice([0.1, 0.25, 0.4, 0.6, 0.8]) * float(most)
