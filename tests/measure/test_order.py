"""The order of turns."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from homenode.hosts.order import turns

pytestmark = pytest.mark.anywhere


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=6),
    st.sampled_from([("host",), ("a", "b")]),
    st.integers(0, 1000),
)
def test_every_repetition_has_one_turn(
    repeats: list[int], systems: tuple[str, ...], seed: int
) -> None:
    every = list(turns(repeats, systems, seed=seed))
    counted = Counter((turn.cell, turn.system, turn.replicate) for turn in every)
    wanted = {(c, s, r) for c, n in enumerate(repeats) for s in systems for r in range(n)}
    assert set(counted) == wanted
    assert set(counted.values()) <= {1}


@given(st.integers(1, 5), st.integers(0, 1000))
def test_two_rounds_are_abba_or_baab(cells: int, seed: int) -> None:
    """Both sides stand, on average, at the same time: linear drift cancels."""
    every = list(turns([4] * cells, ("a", "b"), seed=seed))
    for cell in range(cells):
        mine = "".join(turn.system for turn in every if turn.cell == cell)
        assert mine[:4] in {"abba", "baab"}
        assert mine[4:] in {"abba", "baab"}


def test_a_pair_stands_side_by_side() -> None:
    every = list(turns([3, 3, 3], ("a", "b"), seed=7))
    for first, second in zip(every[::2], every[1::2], strict=True):
        assert (first.cell, first.replicate) == (second.cell, second.replicate)
        assert {first.system, second.system} == {"a", "b"}


def test_cells_run_forth_and_back() -> None:
    every = [turn.cell for turn in turns([2, 2, 2], ("host",), seed=1)]
    assert every == [0, 1, 2, 2, 1, 0]


def test_the_seed_draws_who_begins() -> None:
    firsts = {next(turns([2], ("a", "b"), seed=seed)).system for seed in range(20)}
    assert firsts == {"a", "b"}
    assert list(turns([4], ("a", "b"), seed=3)) == list(turns([4], ("a", "b"), seed=3))
