"""Layouts a second on one core: 20 partitions on 256 cores, one of which goes to another book."""

from __future__ import annotations

import json
import random
import time
from typing import Any

from homenode import _engine
from homenode.simulate.scenario import Scenario

ROWS = 2_000
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
            book=at % 8,
            rate=40 * virtual,
        )
    return json.loads(json.dumps(Scenario.from_toml(text).spec()))


def main() -> None:
    """Solve layouts that differ from one in the home of one partition."""
    dice = random.Random(1)
    spec = frame(dice)
    layouts = _engine.Layouts(json.dumps(spec))
    for at, one in enumerate(spec["partitions"]):
        for book in range(8):
            chips = list(range(4 * book, 4 * book + 4))
            memory = [{"domains": chips, "bytes": 16 << 30}]
            layouts.add(at, json.dumps({**one, "home": chips, "memory": memory}))
    rows = []
    for _ in range(ROWS):
        row = [0] * 20
        row[dice.randrange(20)] = dice.randint(1, 8)
        rows.append(row)
    layouts.solve([[0] * 20])
    began = time.process_time()
    steps = layouts.solve(rows)["steps"]
    each = ROWS / (time.process_time() - began)
    print(f"{each:,.0f} layouts a second; 50,000 aimed at; {sum(steps) / ROWS:.1f} steps each")


if __name__ == "__main__":
    main()
