"""Answers that are held: the same bytes, no longer than the file, no more than there is room."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any, cast

import pytest

from homenode.serve import answered
from homenode.serve.answered import Answered
from homenode.serve.figures import figures_text
from homenode.serve.layouts import answer_text
from homenode.serve.solving import Solving


class Counting:
    """Stands for the workers."""

    def __init__(self, seconds: float = 0.0, before: int = 0) -> None:
        self.asked: list[dict[str, Any]] = []
        self.calls: list[object] = []
        self.seconds, self.before = seconds, before

    def took(self, _: object, __: str) -> float:
        return self.seconds

    def there_in(self, _: object, __: str) -> float:
        return self.seconds * (1 + self.before)

    async def latest(
        self, _: str, call: object, path: str, edits: dict[str, Any], **_how: bool
    ) -> bytes:
        self.asked.append(edits)
        self.calls.append(call)
        return f"{len(self.asked)} {Path(path).read_text()}".encode()


def ask(held: Answered, path: Path, edits: dict[str, Any], visitor: str = "a") -> bytes:
    return asyncio.run(held.layout(visitor, str(path), edits))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "scenario.toml").write_text("one")
    return tmp_path / "scenario.toml"


def test_a_layout_is_worked_out_once_for_all(path: Path) -> None:
    workers = Counting()
    held = Answered(cast("Solving", workers))
    first = ask(held, path, {"a": 1})
    assert ask(held, path, {"a": 1}, "b") == first
    assert ask(held, path, {"a": 2}) != first
    assert workers.asked == [{"a": 1}, {"a": 2}]


def test_edits_count_in_their_order(path: Path) -> None:
    workers = Counting()
    held = Answered(cast("Solving", workers))
    ask(held, path, {"a": 1, "b": 2})
    ask(held, path, {"b": 2, "a": 1})
    assert len(workers.asked) == 2


def test_a_file_that_changed_is_read_again(path: Path) -> None:
    held = Answered(cast("Solving", Counting()))
    first = ask(held, path, {})
    path.write_text("two")
    os.utime(path, ns=(1, 1))
    assert ask(held, path, {}) != first


def test_the_oldest_goes_where_there_is_no_room(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answered, "_MOST_BYTES", 11)
    workers = Counting()
    held = Answered(cast("Solving", workers))
    for edits in ({"a": 1}, {"a": 2}, {"a": 1}, {"a": 3}, {"a": 1}, {"a": 2}):
        ask(held, path, edits)
    assert workers.asked == [{"a": 1}, {"a": 2}, {"a": 3}, {"a": 2}]


@pytest.mark.parametrize(
    ("seconds", "before", "call"),
    [
        (0.05, 0, answer_text),
        (0.05, 4, answer_text),
        (0.05, 9, figures_text),
        (0.2, 0, figures_text),
        (float("inf"), 0, figures_text),
    ],
)
def test_what_comes_soon_comes_whole_and_is_not_worked_out_twice(
    path: Path, seconds: float, before: int, call: object
) -> None:
    workers = Counting(seconds, before)
    held = Answered(cast("Solving", workers))
    first = asyncio.run(held.figures("a", str(path), {"a": 1}))
    assert workers.calls == [call]
    again = ask(held, path, {"a": 1})
    assert (first == again) == (call is answer_text)
    assert len(workers.calls) == (1 if call is answer_text else 2)
