"""Numbers as text."""

from __future__ import annotations

import pytest

from homenode.model.numbers import NOTHING, number, signed


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (-0.0004824, "+0.0"),
        (-0.0, "+0.0"),
        (0.04, "+0.0"),
        (-0.06, "-0.1"),
        (1234.56, "+1,234.6"),
        (None, NOTHING),
    ],
)
def test_a_difference_that_rounds_to_nothing_is_not_below_it(
    value: float | None, text: str
) -> None:
    assert signed(value, 1) == text


@pytest.mark.parametrize(("value", "text"), [(-0.0004, "0.00"), (-0.0, "0.00"), (-0.006, "-0.01")])
def test_what_rounds_to_nothing_has_no_sign(value: float, text: str) -> None:
    assert number(value) == text
