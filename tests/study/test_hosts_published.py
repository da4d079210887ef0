"""The study hosts-published as a whole: what is written down of it, which a run is held against."""

from __future__ import annotations

import re

from pages import page

from homenode.evidence.study import load_study

NAME = "hosts-published"


def test_every_source_is_explained_and_used() -> None:
    used = {row.reading.split(",", 1)[0] for row in load_study(NAME).published}
    told = set(re.findall(r"^\| ([A-Z][A-Z0-9-]+) \|", page(NAME), re.MULTILINE))
    assert used == told
