"""Rows of mistakes: what is changed in a scenario of tests/scenario, and the message it gets."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from homenode import HomenodeError, Scenario

FOLDER = Path(__file__).with_name("scenario")


class Row(NamedTuple):
    """One mistake."""

    file: str
    """The scenario, which is right by itself."""
    what: str
    """The mistake in a few words."""
    changes: list[tuple[str, str]]
    """What is replaced by what, once each."""
    message: str
    """The whole message."""


def cases(rows: Iterable[Row]) -> list[Any]:
    """Parameters of a test, named by the mistakes."""
    return [pytest.param(row, id=row.what) for row in rows]


def check_refusal(row: Row) -> None:
    """The scenario is right, and with the changes it is refused with the message."""
    text = (FOLDER / f"{row.file}.toml").read_text(encoding="utf-8")
    Scenario.from_toml(text, "s.toml")
    for old, new in row.changes:
        assert old in text
        text = text.replace(old, new, 1)
    with pytest.raises(HomenodeError) as caught:
        Scenario.from_toml(text, "s.toml")
    assert str(caught.value) == row.message
