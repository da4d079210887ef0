"""Values with units: parsed and printed without loss, refused with what would fit."""

from __future__ import annotations

import contextlib
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from homenode.model.units import (
    BANDWIDTH,
    FREQUENCY,
    KINDS,
    RATE,
    SHARE,
    SIZE,
    TIME,
    Kind,
    UnitError,
)

kinds = st.sampled_from(KINDS)


@pytest.mark.parametrize(
    ("kind", "text", "base"),
    [
        (TIME, "10 ms", 10_000_000),
        (TIME, "1.5us", 1_500),
        (TIME, " 2 min ", 120_000_000_000),
        (TIME, "1_000 ns", 1_000),
        (FREQUENCY, "4.004 GHz", 4_004_000_000),
        (SIZE, "40 GiB", 40 * 2**30),
        (SIZE, "32 KiB", 32_768),
        (BANDWIDTH, "100 GB/s", 100_000_000_000),
        (RATE, "1400/s", 1_400),
        (RATE, "90/min", Fraction(3, 2)),
        (SHARE, "49 %", Fraction(49, 100)),
    ],
)
def test_what_people_write(kind: Kind, text: str, base: int | Fraction) -> None:
    assert kind.parse(text) == base


@pytest.mark.parametrize(
    ("kind", "base", "text"),
    [
        (TIME, 1_500_000_000, "1.5 s"),
        (TIME, 0, "0 ns"),
        (TIME, 1, "1 ns"),
        (FREQUENCY, 4.004e9, "4.004 GHz"),
        (SIZE, 3 * 2**29, "1.5 GiB"),
        (RATE, 1400.0, "1400/s"),
        (RATE, Fraction(1, 7200), "0.5/h"),
        (SHARE, 0.49, "49 %"),
    ],
)
def test_what_is_printed(kind: Kind, base: float | Fraction, text: str) -> None:
    assert kind.format(base) == text


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        (TIME, 10, "10 has no unit; a time is written with one of ns, us, ms, s, min, h, d"),
        (TIME, "10", '"10" has no unit; a time is written with one of ns, us, ms, s, min, h, d'),
        (SIZE, "40 GB", "write GiB (2^30 bytes)"),
        (SIZE, "40 s", "the units of a size are B, KiB, MiB, GiB, TiB"),
        (TIME, "ten ms", 'write a number and a unit, like "10 ms"'),
        (TIME, True, "true is not a time"),
        (TIME, [1], "[1] is not a time"),
        (RATE, "5 Hz", "write /s"),
        (TIME, "1" * 41 + " s", "more digits than any time needs"),
        (TIME, "1" * 99 + " s", "is not a time"),
    ],
)
def test_what_is_refused(kind: Kind, value: object, message: str) -> None:
    with pytest.raises(UnitError) as caught:
        kind.parse(value)
    assert message in str(caught.value)


@given(kinds, st.integers(min_value=0, max_value=2**64))
def test_whole_numbers_survive_a_round_trip(kind: Kind, value: int) -> None:
    assert kind.parse(kind.format(value)) == value


@given(kinds, st.floats(min_value=1e-12, max_value=1e18))
def test_floats_survive_a_round_trip(kind: Kind, value: float) -> None:
    assert float(kind.parse(kind.format(value))) == value


@given(kinds, st.decimals(min_value=0, max_value=10**9, places=3), st.data())
def test_texts_survive_a_round_trip(kind: Kind, number: object, data: st.DataObject) -> None:
    text = f"{number} {data.draw(st.sampled_from(sorted(kind.units)))}"
    assert kind.parse(kind.format(kind.parse(text))) == kind.parse(text)


@given(kinds, st.one_of(st.text(), st.integers(), st.floats(), st.none()))
def test_anything_else_is_one_error(kind: Kind, value: object) -> None:
    with contextlib.suppress(UnitError):
        kind.parse(value)
