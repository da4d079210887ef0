"""Layouts a second on one core: 20 partitions on 256 cores, of which one differs from row to row.

Several times: partitions go to other books, as a search asks again and again; rows of which none
was seen before; rows that wander ever further from the layout as it is; the neighbours of such
rows, as local search looks at them; and these on a machine of half the size, 97 % full.
"""

from __future__ import annotations

import json
import random
import time
from typing import Any

from homenode import _engine
from homenode.simulate.scenario import Scenario

ROWS = 2_000
STEPS = 20
"""Rows whose neighbours are looked at."""
FULL, RATE = 4, 52
"""Books of the full machine, and transactions in a second for each virtual processor."""
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


def frame(dice: random.Random, books: int = BOOKS, rate: int = 40) -> dict[str, Any]:
    """The spec of a Power 795 with so many books, and transactions for each virtual processor."""
    text = f'[machine]\nmodel = "ibm-power-795"\nactive_cores = {32 * books}\n'
    for at in range(20):
        virtual = dice.choice([4, 6, 8, 12, 16])
        text += PARTITION.format(
            at=at,
            entitlement=virtual / 2,
            virtual=virtual,
            smt=dice.choice([2, 4]),
            book=at % books,
            rate=rate * virtual,
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


def wander(dice: random.Random, count: int, books: int = BOOKS) -> list[list[int]]:
    """Rows that differ in the home of one partition from the one before."""
    rows = [[0] * 20]
    for _ in range(count):
        row = list(rows[-1])
        row[dice.randrange(20)] = dice.randint(1, books)
        rows.append(row)
    return rows[1:]


def single(at: int, form: int) -> list[int]:
    """The layout as it is, but for one partition."""
    return [form if other == at else 0 for other in range(20)]


def layouts_of(spec: dict[str, Any]) -> _engine.Layouts:
    """With all forms; the spec's own layout is solved."""
    layouts = _engine.Layouts(json.dumps(spec))
    for at, one in enumerate(spec["partitions"]):
        for form in forms(one):
            layouts.add(at, json.dumps(form))
    layouts.solve([[0] * 20])
    return layouts


def told(name: str, spec: dict[str, Any], asked: list[tuple[list[int], list[list[int]]]]) -> None:
    """How many of the rows beside each layout are solved in a second, that layout included."""
    layouts, steps = layouts_of(spec), []
    began = time.process_time()
    for near, rows in asked:
        layouts.near(near)
        steps += layouts.solve(rows)["steps"]
    each = len(steps) / (time.process_time() - began)
    print(f"{name:16s} {each:8,.0f} layouts a second; {sum(steps) / len(steps):.1f} steps each")


def beside(rows: list[list[int]], books: int) -> list[tuple[list[int], list[list[int]]]]:
    """Each row with all that differ from it in the home of one partition."""
    return [
        (row, [[*row[:at], to, *row[at + 1 :]] for at in range(20) for to in range(1, books + 1)])
        for row in rows
    ]


def main() -> None:
    """Solve layouts, and tell how many in a second of processor time."""
    dice, own = random.Random(1), [0] * 20
    spec = frame(dice)
    count = len(forms(spec["partitions"][0]))
    homes = [single(dice.randrange(20), dice.randint(1, BOOKS)) for _ in range(ROWS)]
    told("homes", spec, [(own, homes)])
    new = [single(at, form) for at in range(20) for form in range(BOOKS + 1, count + 1)]
    told("all new", spec, [(own, new)])
    rows = wander(dice, ROWS)
    told("wander", spec, [(own, rows)])
    told("neighbours", spec, beside(rows[:: ROWS // STEPS], BOOKS))
    full = frame(random.Random(1), FULL, RATE)
    told("full, neighbours", full, beside(wander(dice, STEPS, FULL)[::4], FULL))


if __name__ == "__main__":
    main()
