"""Partitions placed on machines, through the compiled engine: its answer against all there are."""

from __future__ import annotations

from array import array
from itertools import product
from typing import Any

import pytest

_engine = pytest.importorskip("homenode._engine", reason="the engine is not built")

CAPACITY = [9, 9, 7]
TAKES = [2, 3, 4, 1, 2]
MOVES = [1, 4, 2, 1, 3]
SAFE = [5, 4, 6]


def columns() -> dict[str, Any]:
    return {
        "transient": [0],
        "load_weight": [10],
        "neighbourhood": [0, 0, 0],
        "location": [0, 1, 2],
        "capacity": array("q", CAPACITY),
        "safety": SAFE,
        "way": [0] * 9,
        "spread": [0, 0, 0, 0],
        "needs": [],
        "service": [0, 0, 1, 2, 3],
        "requirement": TAKES,
        "move_cost": MOVES,
        "start": [0, 1, 0, 0, 0],
        "balances": [],
        "weights": [1, 0, 0],
    }


def cost(at: tuple[int, ...]) -> int | None:
    used = [sum(t for t, m in zip(TAKES, at, strict=True) if m == one) for one in range(3)]
    if at[0] == at[1] or any(u > c for u, c in zip(used, CAPACITY, strict=True)):
        return None
    moved = zip(at, columns()["start"], MOVES, strict=True)
    load = sum(10 * max(0, u - s) for u, s in zip(used, SAFE, strict=True))
    return load + sum(price for now, then, price in moved if now != then)


def placed(problem: dict[str, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = _engine.place(
        problem, lambda _moves, _cost: 0.0, seed=1, searches=2, threads=2, moves=50_000
    )
    return answer


def test_no_assignment_is_cheaper() -> None:
    found = placed(columns())
    costs = [one for at in product(range(3), repeat=5) if (one := cost(at)) is not None]
    assert found["cost"] == min(costs) == cost(tuple(found["at"]))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"start": [0, 0, 0, 1, 1]}, "machine 0 has more than one partition of service 0"),
        ({"start": [0, 1, 2, 2, 2], "capacity": [9, 9, 6]}, "machine 2 has 6 of resource 0"),
        ({"safety": [5, 4]}, "safety has 2 values, 3 are needed"),
        ({"service": [0, 0, 1, 2, 4]}, "names 4; there are 4"),
        ({"way": [-1] * 9}, "way has a number below 0"),
        ({"balances": [0, 0, 1]}, "balances is not rows of 4 values"),
        ({"needs": [9, 0]}, "needs names service 9 or 0"),
    ],
)
def test_what_is_unsound_is_told(change: dict[str, Any], told: str) -> None:
    with pytest.raises(_engine.SpecError, match=told):
        placed({**columns(), **change})


def test_what_the_watch_raises_comes_out() -> None:
    def watch(_moves: int, _cost: int) -> float:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _engine.place(columns(), watch, seed=1, searches=1, threads=1)
