"""Several unknowns with a row each, by equations whose roots are known."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from homenode.evidence.study.newton import newton

WIDE = [(-5.0, 5.0)] * 3


def curved(x: Sequence[float]) -> list[float]:
    """Root at 1, 2, -1; each answers its own unknown most."""
    a, b, c = x
    return [
        2 * (a - 1) + 0.3 * (b - 2) + 0.1 * (a - 1) ** 2,
        math.expm1(0.5 * (b - 2)) + 0.2 * (c + 1),
        -1.5 * (c + 1) + 0.4 * (a - 1),
    ]


def test_a_root_inside_the_bounds() -> None:
    calls = []

    def counted(x: Sequence[float]) -> list[float]:
        calls.append(x)
        return curved(x)

    found = newton(counted, [0.0] * 3, WIDE, step=0.05, precise=1e-6, own=[0, 1, 2])
    assert found == pytest.approx([1.0, 2.0, -1.0], abs=1e-5)
    assert len(calls) <= 20


def test_rows_stand_in_any_order() -> None:
    def turned(x: Sequence[float]) -> list[float]:
        return curved(x)[::-1]

    found = newton(turned, [0.0] * 3, WIDE, step=0.05, precise=1e-6, own=[2, 1, 0])
    assert found == pytest.approx([1.0, 2.0, -1.0], abs=1e-5)


def test_bounds_hold_and_the_others_still_come_out() -> None:
    bounds = [(-5.0, 0.5), *WIDE[1:]]
    a, b, c = newton(curved, [0.0] * 3, bounds, step=0.05, precise=1e-6, own=[0, 1, 2])
    assert a == 0.5
    assert c == pytest.approx(-1 + 0.4 * (a - 1) / 1.5, abs=0.05)
    assert abs(math.expm1(0.5 * (b - 2)) + 0.2 * (c + 1)) < 0.1


def test_a_row_that_does_not_answer_leaves_its_unknown() -> None:
    def deaf(x: Sequence[float]) -> list[float]:
        return [x[0] - 1, 0.7, x[2] - 2]

    found = newton(deaf, [0.0, 0.25, 0.0], WIDE, step=0.05, precise=1e-6, own=[0, 1, 2])
    assert found == pytest.approx([1.0, 0.25, 2.0])
