"""lsmemopt: affinity scores as the HMC lists them, now (`currscore`) and after a run of the Dynamic
Platform Optimizer (`calcscore`), of the system or of each partition.

The columns are the HMC's, the figures are not: its formula is not published
(`homenode.simulate.affinity.score`). `none`, which it prints for a partition without processors and
memory, does not occur here: every partition has some.
"""

from __future__ import annotations

from typing import Literal

from homenode.simulate.affinity.frame import FrameAffinity

Resource = Literal["sys", "lpar"]
Operation = Literal["currscore", "calcscore"]


def rows(frame: FrameAffinity, resource: Resource, operation: Operation) -> list[dict[str, object]]:
    """A dict a line, keys as the HMC has them."""
    calculated = operation == "calcscore"
    if resource == "sys":
        predicted = {"predicted_sys_score": frame.then} if calculated else {}
        return [{"curr_sys_score": frame.now, **predicted}]
    found: list[dict[str, object]] = []
    for row in frame.rows:
        told: dict[str, object] = {"lpar_name": row.partition, "lpar_id": row.number}
        told["curr_lpar_score"] = row.now.score
        if calculated:
            told["predicted_lpar_score"] = row.then.score
        found.append(told)
    return found


def render(frame: FrameAffinity, resource: Resource, operation: Operation) -> str:
    """What the HMC would print: `key=value` with commas, a line a partition."""
    lines = (
        ",".join(f"{key}={value}" for key, value in row.items())
        for row in rows(frame, resource, operation)
    )
    return "".join(f"{line}\n" for line in lines)
