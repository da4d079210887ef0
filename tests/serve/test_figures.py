"""First figures of a layout: near those that stay, the same whatever was asked before."""

from __future__ import annotations

import contextlib
import random
from pathlib import Path
from typing import Any

import pytest

from homenode.errors import HomenodeError
from homenode.serve import figures, layouts
from homenode.serve.examples import EXAMPLES, example_path

FRAME = str(example_path("frame"))
NEAR = 0.015
"""Where homes are full, a step back and forth is a per cent."""


def edited(path: str, count: int, dice: random.Random) -> dict[str, Any]:
    """Some partitions of a layout at home elsewhere."""
    moves = [one for one in layouts.answer(path, {})["moves"].values() if one["to"]]
    return {one["path"]: dice.choice(one["to"]) for one in dice.sample(moves, count)}


def others(path: str) -> dict[str, Any]:
    """A virtual processor more or fewer, whichever there may be."""
    for of in layouts.answer(path, {})["fields"].values():
        for one in of:
            for by in (-1, 1) if one["path"].endswith(".virtual") else ():
                edits = {one["path"]: one["value"] + by}
                with contextlib.suppress(HomenodeError):
                    layouts.changed(path, edits)
                    return edits
    return {}


@pytest.mark.parametrize("name", EXAMPLES)
def test_they_are_near_those_that_stay(name: str) -> None:
    path = str(example_path(name))
    edits = others(path)
    told, whole = figures.figures(path, edits), layouts.answer(path, edits)["solved"]
    if told is None:
        return
    assert told["cores"] == pytest.approx(whole["cores"], rel=NEAR)
    for one, of in told["partitions"].items():
        stays = whole["partitions"][one]
        assert {key: value is None for key, value in of.items()} == {
            key: stays[key] is None for key in of
        }
        for share in ("home_share", "near_share", "far_share"):
            assert of[share] == pytest.approx(stays[share], abs=NEAR)
        assert of["cores"] == pytest.approx(stays["cores"], rel=NEAR)


def test_what_was_asked_before_has_no_part_in_them() -> None:
    dice = random.Random(1)
    asked = [edited(FRAME, 2, dice) for _ in range(4)] + [{"partition.lpar4.smt": 2}]
    alone = []
    for edits in asked:
        figures._machine.cache_clear()
        alone.append(figures.figures_text(FRAME, edits))
    figures._machine.cache_clear()
    dice.shuffle(asked_again := list(range(len(asked))) * 2)
    for at in asked_again:
        assert figures.figures_text(FRAME, asked[at]) == alone[at]
    assert len({*alone}) > 1


def test_a_machine_begins_anew_where_too_much_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    edits = {"partition.lpar4.home": "book1"}
    before = figures.figures_text(FRAME, edits)
    monkeypatch.setattr(figures, "_MOST_FORMS", 0)
    for book in range(4):
        figures.figures(FRAME, {"partition.lpar4.home": f"book{book}"})
    assert figures.figures_text(FRAME, edits) == before
    own = figures._machine(FRAME, Path(FRAME).stat().st_mtime_ns)
    assert len(own._forms) == 1


def test_of_another_machine_the_whole_answer_is_to_be_asked() -> None:
    edits = {"machine.active_cores": 255}
    assert layouts.answer(FRAME, edits)["map"]["active"] == 255
    assert figures.figures(FRAME, edits) is None


def test_a_layout_that_is_known_is_answered_whole(visitor: Any) -> None:
    # A file of the visitor's own: of an example the server may know the layout from another test.
    own = Path(FRAME).read_bytes()
    name = visitor.send("/api/upload", own, content_type="application/toml").json()["scenario"]
    asked = {"base": f"scenario:{name}", "edits": {"partition.lpar4.home": "book2"}}
    first = visitor.ask("/api/figures", asked).json()
    assert set(first) == {"solved"}
    whole = visitor.ask("/api/layout", asked)
    assert visitor.ask("/api/figures", asked).content == whole.content
    assert first["solved"]["cores"] == pytest.approx(whole.json()["solved"]["cores"], rel=NEAR)
    wrong = {"base": f"scenario:{name}", "edits": {"partition.lpar4.home": "book99"}}
    assert visitor.ask("/api/figures", wrong).json() == visitor.ask("/api/layout", wrong).json()
