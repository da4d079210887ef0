"""Neighbours taken together: all that gain are, and few of them are looked at again."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from homenode.planner.lazy import Lazy
from homenode.planner.solver import Floats
from homenode.planner.space import Rows

PARTITIONS, WORDS, VALUES = 12, 2, 5


class Frame:
    """Partitions of two variables each; what a value gains of one partition, and what two gain
    together.
    """

    def __init__(self, gains: Floats, together: float = 0.0) -> None:
        self.gains, self.together = gains, together
        self.looked = 0
        self.partition_of = np.repeat(np.arange(PARTITIONS), WORDS)

    def look(self, rows: Rows) -> Floats:
        self.looked += len(rows)
        alone = self.gains[np.arange(rows.shape[1]), rows].sum(axis=1)
        both = (rows.reshape(len(rows), PARTITIONS, WORDS) > 0).all(axis=2).sum(axis=1)
        return np.asarray(1000 - alone - self.together * both)

    def neighbours(self) -> Rows:
        found = []
        for at in range(PARTITIONS * WORDS):
            for value in range(1, VALUES):
                row = np.zeros(PARTITIONS * WORDS, dtype=np.int64)
                row[at] = value
                found.append(row)
        return np.array(found)

    def taken(self) -> tuple[Rows, float]:
        rows = self.neighbours()
        scores = self.look(rows)
        self.looked = 0
        now = np.zeros(PARTITIONS * WORDS, dtype=np.int64)
        lazy = Lazy(now, self.partition_of, self.look, lambda one, other: one < other - 1e-9)
        return lazy.take(rows, scores, int(np.argmin(scores)))


def gains_of(seed: int, low: float = -5.0) -> Floats:
    gains = np.random.default_rng(seed).uniform(low, 5.0, (PARTITIONS * WORDS, VALUES))
    gains[:, 0] = 0.0
    return gains


@given(st.integers(0, 10_000))
def test_all_that_gain_by_themselves_are_taken(seed: int) -> None:
    frame = Frame(gains_of(seed))
    row, score = frame.taken()
    assert row.tolist() == np.argmax(frame.gains, axis=1).tolist()
    assert score == pytest.approx(1000 - frame.gains.max(axis=1).sum())


def test_what_gains_only_beside_another_change_of_its_partition_is_found() -> None:
    gains = gains_of(3)
    gains[1::2, 1:] = -1.0  # the second variable alone costs one,
    row, _ = Frame(gains, together=3.0).taken()  # and brings two beside the first
    first, second = row[::2], row[1::2]
    assert (first > 0).sum() > PARTITIONS // 2
    assert ((second > 0) == (first > 0)).all()


def test_few_are_looked_at_again() -> None:
    frame = Frame(gains_of(4, low=0.1))
    row, _ = frame.taken()
    steps = int((row > 0).sum())
    assert steps == PARTITIONS * WORDS
    assert frame.looked < steps * len(frame.neighbours()) / 4


def test_from_what_cannot_be_it_comes_to_what_can() -> None:
    frame = Frame(gains_of(5))
    rows = frame.neighbours()
    scores = frame.look(rows)

    def look(asked: Rows) -> Floats:
        found = frame.look(asked)
        found[(asked == 0).all(axis=1)] = np.inf  # the layout itself cannot be
        return found

    now = np.zeros(PARTITIONS * WORDS, dtype=np.int64)
    lazy = Lazy(now, frame.partition_of, look, lambda one, other: one < other - 1e-9)
    row, score = lazy.take(rows, scores, int(np.argmin(scores)))
    assert np.isfinite(score)
    assert score == pytest.approx(float(look(row[None, :])[0]))
