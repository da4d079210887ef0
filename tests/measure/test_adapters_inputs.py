"""Inputs of the programs: the same bytes everywhere, and what they claim to be."""

from __future__ import annotations

import hashlib
import wave
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from homenode.hosts.adapters.floating import inputs as floating
from homenode.hosts.adapters.floating.programs import PROGRAMS, rounded
from homenode.hosts.adapters.integer import inputs

pytestmark = pytest.mark.anywhere

Maker = Callable[[Path, int], None]
SUMS: dict[str, tuple[Maker, int, str]] = {
    "text": (inputs.text, 20_000, "7a45ed844099fcd2"),
    "c_source": (inputs.c_source, 20, "877ba1c1590719ba"),
    "video": (inputs.video, 2, "c02e43a6f6129414"),
    "proteins": (inputs.proteins, 10, "990244507cdc4e34"),
    "clauses": (inputs.clauses, 50, "fe9ed78c785399f6"),
    "document": (inputs.document, 50, "4bbb98382aaa689d"),
    "scene": (floating.scene, 1, "3e8f785700bb3799"),
    "sound": (floating.sound, 1, "ec5e1efc6d9035a9"),
    "mixture": (floating.mixture, 30, "737d5663b262ad5d"),
    "antenna": (floating.antenna, 4, "7c242c1846bb1872"),
    "beam": (floating.beam, 2, "7e7968eca5d19476"),
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


def test_sound_is_as_long_as_asked(tmp_path: Path) -> None:
    floating.sound(tmp_path / "s.wav", 3)
    with wave.open(str(tmp_path / "s.wav")) as heard:
        form = (heard.getnchannels(), heard.getsampwidth(), heard.getframerate())
        assert form == (2, 2, 44_100)
        assert heard.getnframes() == 3 * 44_100
        first, _, third = (heard.readframes(44_100) for _ in range(3))
    assert first == third  # two seconds again and again
    assert len(set(first)) > 200


def test_a_beam_has_its_bricks_between_wall_and_tip(tmp_path: Path) -> None:
    floating.beam(tmp_path / "b", 2)
    text = (tmp_path / "b").read_text()
    nodes, rest = text.split("*ELEMENT,TYPE=C3D8,ELSET=bar\n")
    bricks = rest.split("*NSET")[0].split()
    assert len(nodes.splitlines()) == 1 + 9 * 3 * 3
    assert len(bricks) == 8 * 2 * 2
    places = {line.split(",")[0]: line.split(",")[1:] for line in nodes.splitlines()[1:]}
    for brick in bricks:
        corners = [places[one] for one in brick.split(",")[1:]]
        assert len({tuple(one) for one in corners}) == 8
        for axis in range(3):
            assert len({one[axis] for one in corners}) == 2


def test_a_mixture_can_be_had(tmp_path: Path) -> None:
    """Every demand is met by something, however much of it that takes."""
    floating.mixture(tmp_path / "m", 30)
    lines = [line.split() for line in (tmp_path / "m").read_text().splitlines()]
    met = {words[1] for words in lines if words[0].startswith("x")}
    assert {f"r{row}" for row in range(30)} <= met


def test_last_digits_are_the_processor_s_affair() -> None:
    told = b"tip 41 -2.738510E-03  1.047345E-05 -1.5132904E-02 time 1.0\n"
    other = told.replace(b"2.738510", b"2.738512").replace(b"1.5132904", b"1.5132907")
    assert rounded(told) == rounded(other)
    assert rounded(told) != rounded(told.replace(b"2.738510", b"2.838510"))
    # What rounding leaves of zero has any digits.
    assert rounded(b"-1.855802E-16") == rounded(b"7.2E-17")


def test_of_a_report_only_what_is_the_same_everywhere_is_summed() -> None:
    kept = PROGRAMS["nec2c"].kept
    assert kept is not None
    report = b"FILL: 70 msec\n INPUT POWER   =  1.1095E-04 Watts\n TOTAL RUN TIME: 310 msec\n"
    assert kept(report) == kept(report.replace(b"310", b"290").replace(b"70 m", b"80 m"))
    assert b"Watts" in kept(report)
    assert PROGRAMS["povray"].kept is None
