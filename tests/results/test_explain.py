"""Explanations: sums to the last digit, sentences from the figures."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import pytest

import frames
from homenode.report.pictures import save_picture, waterfall, waterfall_steps
from homenode.results import Run
from homenode.results.explain import explain
from homenode.results.situation import Situation
from homenode.runner import run_scenario

pytestmark = pytest.mark.usefixtures("fake", "here")


@pytest.fixture
def runs(fake: ModuleType, here: Path) -> tuple[Run, Run]:
    apart, together = frames.near_and_far()
    return run_scenario(apart), run_scenario(together)


def test_rows_add_up_to_the_last_printed_digit(runs: tuple[Run, Run]) -> None:
    apart, together = runs
    told = explain(together, "three", apart, "one")
    cents = [(round(100 * r.cores), round(100 * (r.base_cores or 0))) for r in told.rows]
    differences = [round(100 * (row.difference or 0)) for row in told.rows]
    assert sum(mine for mine, _ in cents) == round(100 * told.total)
    assert sum(theirs for _, theirs in cents) == round(100 * (told.base_total or 0))
    assert sum(differences) == round(100 * (told.difference or 0))
    assert all(mine - theirs == d for (mine, theirs), d in zip(cents, differences, strict=True))
    assert told.total == pytest.approx(together.metrics["three"]["physc"].mean, abs=0.006)


def test_the_largest_cause_comes_first_and_the_move_is_computed(runs: tuple[Run, Run]) -> None:
    apart, together = runs
    text = explain(together, "three", apart, "one").paragraph
    assert "1.94 cores more (22 %) for the same 900 transactions a second" in text
    assert "The largest part is distance" in text
    assert text.index("another cache, other node") < text.index("cache reload")
    assert (
        "its home, node 0: that has 16 cores, and what is homed there (three and four) uses 21.9"
        in text
    )
    assert re.search(r"Move one: four \(10\.9 cores\) to node 1, which has 16\.0 cores", text)


def test_no_place_to_move_to_is_said() -> None:
    crowd = [frames.partition(f"p{n}", n // 2, rate=900.0) for n in range(8)]
    run = run_scenario(frames.Frozen(frames.frame(*crowd, name="crowd"), 2))
    assert "No other place has room for one of them" in explain(run, "p0").paragraph


def test_memory_away_from_home_is_seen() -> None:
    """A partition that has room at home, some of its time far, and its memory elsewhere."""
    lone = frames.partition("lone", 0)
    lone["memory"] = [{"chip": 15, "share": 1.0}]
    run = run_scenario(frames.Frozen(frames.frame(lone)))
    at = Situation(run, "lone")
    assert at.memory_away_share == 1.0
    from homenode.results.remedies import remedy

    assert "100 % of its memory lies outside its home, node 0" in remedy("distance", at)


@pytest.mark.parametrize(
    "family",
    [
        "work",
        "caches",
        "coherence",
        "memory",
        "distance",
        "reload",
        "smt",
        "spin",
        "guest_idle",
        "hypervisor",
    ],
)
def test_every_family_has_an_advice(family: str, runs: tuple[Run, Run]) -> None:
    from homenode.results.remedies import remedy

    text = remedy(family, Situation(runs[0], "one"))
    assert text.endswith(".")
    assert "None" not in text


def test_less_is_told_as_saving(runs: tuple[Run, Run]) -> None:
    text = explain(runs[0], "one", runs[1], "three").paragraph
    assert "1.94 cores less (18 %)" in text
    assert "The largest part of the saving is distance" in text


def test_nothing_differs(runs: tuple[Run, Run]) -> None:
    text = explain(runs[0], "one", None, "two").paragraph
    assert "as many" in text
    assert "No cause differs" in text


def test_more_work_is_not_blamed_on_the_layout() -> None:
    calm, busy = (
        run_scenario(
            frames.Frozen(frames.frame(frames.partition("p", 0, rate=r), name=f"r{r:g}"), 2)
        )
        for r in (400.0, 800.0)
    )
    text = explain(busy, "p", calm, "p").paragraph
    assert "while it does 800 transactions a second against 400" in text
    assert "At equal work that would be as many." in text
    assert "No cause differs" in text


def test_unsteadiness_comes_first() -> None:
    tipped = frames.frame(frames.partition("full", 0, virtual=5), name="tipped")
    text = explain(run_scenario(frames.Frozen(tipped))).paragraph
    assert text.startswith("There is no steady state: all 5 virtual processors")


def test_the_waterfall_ends_where_the_partition_is(runs: tuple[Run, Run]) -> None:
    told = explain(runs[1], "three", runs[0], "one")
    steps = waterfall_steps(told)
    assert steps[0]["high"] == told.base_total
    assert steps[-1]["high"] == told.total
    assert steps[-2]["high"] == pytest.approx(told.total)
    chart = waterfall(told)
    svg = save_picture(chart, "out/w.svg").read_text()
    assert "another cache, other node" in svg
    assert save_picture(chart, "out/w.png").read_bytes().startswith(b"\x89PNG")
