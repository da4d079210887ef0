"""Inputs of the programs: the same bytes everywhere, and what they claim to be."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from homenode.hosts.adapters.integer import inputs

Maker = Callable[[Path, int], None]
SUMS: dict[str, tuple[Maker, int, str]] = {
    "text": (inputs.text, 20_000, "7a45ed844099fcd2"),
    "c_source": (inputs.c_source, 20, "877ba1c1590719ba"),
    "video": (inputs.video, 2, "c02e43a6f6129414"),
    "proteins": (inputs.proteins, 10, "990244507cdc4e34"),
    "clauses": (inputs.clauses, 50, "fe9ed78c785399f6"),
    "document": (inputs.document, 50, "4bbb98382aaa689d"),
}


@pytest.mark.parametrize("name", SUMS)
def test_inputs_are_the_same_bytes_everywhere(name: str, tmp_path: Path) -> None:
    make, size, expected = SUMS[name]
    path = tmp_path / name
    make(path, size)
    assert hashlib.sha256(path.read_bytes()).hexdigest()[:16] == expected


def test_text_is_as_long_as_asked_and_of_a_language_s_shape(tmp_path: Path) -> None:
    inputs.text(tmp_path / "t", 50_000)
    text = (tmp_path / "t").read_text()
    assert len(text) == 50_000
    words = text.split()
    often = sorted((words.count(word) for word in set(words)), reverse=True)
    assert often[0] > 20 * often[len(often) // 2]


def test_a_formula_has_its_clauses_of_three_different_variables(tmp_path: Path) -> None:
    inputs.clauses(tmp_path / "f", 50)
    head, *lines = (tmp_path / "f").read_text().splitlines()
    assert head == "p cnf 50 230"
    assert len(lines) == 230
    for line in lines:
        *literals, end = map(int, line.split())
        assert end == 0
        assert len({abs(literal) for literal in literals}) == 3
        assert all(1 <= abs(literal) <= 50 for literal in literals)


def test_pictures_have_their_size(tmp_path: Path) -> None:
    inputs.video(tmp_path / "v", 3)
    assert (tmp_path / "v").stat().st_size == 3 * 352 * 288 * 3 // 2


def test_the_document_and_its_stylesheet_are_xml(tmp_path: Path) -> None:
    inputs.document(tmp_path / "d", 40)
    inputs.stylesheet(tmp_path / "s")
    assert len(ET.parse(tmp_path / "d").getroot()) == 40
    assert ET.parse(tmp_path / "s").getroot().tag.endswith("stylesheet")


def test_a_family_is_aligned(tmp_path: Path) -> None:
    inputs.alignment(tmp_path / "a")
    rows = (tmp_path / "a").read_text().split()[1::2]
    assert {len(row) for row in rows} == {180}
    same = sum(a == b for a, b in zip(rows[0], rows[1], strict=True))
    assert 100 < same < 180
