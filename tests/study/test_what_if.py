"""Perturbations of a published layout: each goes the way that its mechanism says."""

from __future__ import annotations

import pytest

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

from pages import what_if


@pytest.fixture(scope="module")
def figures() -> dict[str, dict[str, float]]:
    """What comes out, once for all tests."""
    return what_if.simulated()


@pytest.mark.slow("twenty layouts of a Power 795: some fifteen seconds of processor time")
def test_each_change_goes_the_way_its_mechanism_says(figures: dict[str, dict[str, float]]) -> None:
    wrong = [
        f"{one.name}: {figure} went {came} and should have gone {way}: {one.why}"
        for one in what_if.VARIANTS
        for figure, way in one.goes
        if (came := what_if.went(figures, one, figure)) != way
    ]
    assert wrong == []


@pytest.mark.slow("twenty layouts of a Power 795: some fifteen seconds of processor time")
def test_the_page_says_what_comes_out(figures: dict[str, dict[str, float]]) -> None:
    assert what_if.table(figures) in what_if.PAGE.read_text(encoding="utf-8"), "run `make docs`"


def test_every_variant_is_held_against_one_that_is_there() -> None:
    names = [one.name for one in what_if.VARIANTS]
    assert len(set(names)) == len(names)
    assert {one.against for one in what_if.VARIANTS} <= set(names)
    assert all(one.goes and one.why for one in what_if.VARIANTS[1:])
