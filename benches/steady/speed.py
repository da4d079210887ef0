"""Layouts a second on one core: 20 partitions on 256 cores, of which one differs from row to row.

Three times: partitions go to other books, as a search asks again and again; rows of which none was
seen before; rows that wander ever further from the layout as it is.
"""

from __future__ import annotations

import json
import random
import time
from typing import Any

from homenode import _engine
from homenode.simulate.scenario import Scenario

ROWS = 2_000
BOOKS = 8
SMT = (1, 2, 4)
MORE = (0, 2, 4)
"""Virtual processors more than it has."""
PARTITION = """
[[partition]]
name = "p{at}"
processors = {{ mode = "shared", entitlement = {entitlement}, virtual = {virtual} }}
smt = {smt}
memory = "16 GiB"
home = "book{book}"
[partition.workload]
kind = "transactions"
rate = "{rate}/s"
bursts = 20
wait = "2 ms"
profile = "oltp"
"""


def frame(dice: random.Random) -> dict[str, Any]:
    """The spec of a full Power 795."""
    text = '[machine]\nmodel = "ibm-power-795"\n'
    for at in range(20):
        virtual = dice.choice([4, 6, 8, 12, 16])
        text += PARTITION.format(
            at=at,
            entitlement=virtual / 2,
            virtual=virtual,
            smt=dice.choice([2, 4]),
            book=at % BOOKS,
            rate=40 * virtual,
        )
    return json.loads(json.dumps(Scenario.from_toml(text).spec()))


def forms(one: dict[str, Any]) -> list[dict[str, Any]]:
    """A partition on each book; then with other threads and more virtual processors as well."""
    moved, others = [], []
    for book in range(BOOKS):
        chips = list(range(4 * book, 4 * book + 4))
        there = {**one, "home": chips, "memory": [{"domains": chips, "bytes": 16 << 30}]}
        moved.append(there)
        for smt in SMT:
            for more in MORE:
                processors = {**one["processors"]}
                processors["virtual"] += more
                others.append({**there, "smt": smt, "processors": processors})
    return moved + others


def wander(dice: random.Random, count: int) -> list[list[int]]:
    """Rows that differ in the home of one partition from the one before."""
    rows = [[0] * 20]
    for _ in range(count):
        row = list(rows[-1])
        row[dice.randrange(20)] = dice.randint(1, BOOKS)
        rows.append(row)
    return rows[1:]


def single(at: int, form: int) -> list[int]:
    """The layout as it is, but for one partition."""
    return [form if other == at else 0 for other in range(20)]


def main() -> None:
    """Solve layouts, and tell how many in a second of processor time."""
    dice = random.Random(1)
    spec = frame(dice)
    several = [forms(one) for one in spec["partitions"]]
    count = len(several[0])
    rows = {
        "homes": [single(dice.randrange(20), dice.randint(1, BOOKS)) for _ in range(ROWS)],
        "all new": [single(at, form) for at in range(20) for form in range(BOOKS + 1, count + 1)],
        "wander": wander(dice, ROWS),
    }
    for name, asked in rows.items():
        layouts = _engine.Layouts(json.dumps(spec))
        for at, own in enumerate(several):
            for form in own:
                layouts.add(at, json.dumps(form))
        layouts.solve([[0] * 20])
        began = time.process_time()
        steps = layouts.solve(asked)["steps"]
        each = len(asked) / (time.process_time() - began)
        print(f"{name:8s} {each:8,.0f} layouts a second; {sum(steps) / len(asked):.1f} steps each")


if __name__ == "__main__":
    main()
