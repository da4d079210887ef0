"""The machine as a drawing: who is at home where, on any ground, for those who don't see it too."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any, cast

import pytest

from homenode.model.scenario import Scenario
from homenode.report import charts
from homenode.report.machine_drawing import MachineDrawing, lodgers
from homenode.report.machine_map import MachineMap, map_of
from homenode.report.pictures import drawing, page_drawing, save_picture

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SHARED = EXAMPLES / "p795-shared-book.toml"


def told_of(path: Path, **used: float) -> MachineMap:
    """The map of a file, with what partitions used as if it had run."""
    told = map_of(next(iter(Scenario.load(path, simulated=False).expand())))
    for one in told["partitions"]:
        if one["partition"] in used:
            one["used"], one["dispatches"] = used[one["partition"]], [6.0, 3.0, 1.0]
    return told


def parts(svg: str, kind: str) -> list[ET.Element]:
    return list(ET.fromstring(svg).iter(f"{{http://www.w3.org/2000/svg}}{kind}"))


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: path.stem)
def test_every_example_has_a_drawing_that_names_all_its_partitions(path: Path) -> None:
    told = told_of(path)
    chart = MachineDrawing(told)
    svg = drawing(chart)
    words = [one.text or "" for one in parts(svg, "text")]
    for node in told["nodes"]:
        if not node["active"]:
            continue
        assert node["place"] in words
        for one in lodgers(told, node):
            if one.share:
                start = one.partition["partition"][:4]
                assert any(word.startswith(start) for word in words)
    assert len(parts(svg, "text")) < 5000
    assert chart.to_dict()["description"] in re.sub("&#x27;|&quot;", "'", svg).replace("&amp;", "&")


def test_a_home_is_shared_out_and_what_is_used_with_it() -> None:
    told = told_of(SHARED, lpar1=18.0, lpar2=16.0)
    here = [one for node in told["nodes"] for one in lodgers(told, node)]
    for name, cores in (("lpar1", 18.0), ("lpar2", 16.0)):
        own = [one for one in here if one.partition["partition"] == name]
        assert sum(one.share for one in own) == pytest.approx(1.0)
        assert sum(one.cores or 0.0 for one in own) == pytest.approx(cores)
    assert "34.0 of 32 cores: full" in MachineDrawing(told).svg()


def test_more_used_is_a_longer_bar_and_farther_from_home_a_longer_hollow() -> None:
    told = told_of(SHARED, lpar1=4.0, lpar2=4.0)
    first = cast("Any", told["partitions"][0])

    def hollow() -> float:
        bars = [
            one for one in parts(MachineDrawing(told).svg(), "rect") if one.get("height") == "5"
        ]
        return max(float(one.get("width", 0)) for one in bars if one.get("fill") == "none")

    near = hollow()
    first["dispatches"] = [1.0, 1.0, 8.0]
    assert hollow() > near


@pytest.mark.parametrize("ground", [charts.LIGHT, charts.DARKENED])
def test_it_stands_on_either_ground(ground: charts.Ground) -> None:
    svg = MachineDrawing(told_of(SHARED, lpar1=4.0)).svg(ground)
    assert ground.back in svg
    of_words = {one.get("fill") for one in parts(svg, "text")}
    assert of_words == {ground.ink, *map(charts.letter_on, charts.MANY[:2])}


def test_on_a_page_it_is_as_the_reader_has_it() -> None:
    svg = page_drawing(MachineDrawing(told_of(SHARED)), "a map")
    assert charts.BOTH.style in svg
    assert 'role="img" aria-label="a map"' in svg
    assert charts.LIGHT.back not in {one.get("fill") for one in parts(svg, "rect")}


def test_names_are_no_markup() -> None:
    told = told_of(SHARED)
    told["partitions"][0]["partition"] = "<b>&"
    for node in told["nodes"]:
        for one in (
            *node["tenants"],
            *(each for chip in node["chips"] for each in chip["tenants"]),
        ):
            one["partition"] = "<b>&" if one["partition"] == "lpar1" else one["partition"]
    assert not parts(MachineDrawing(told).svg(), "b")
    assert "<b>&" in [one.text for one in parts(MachineDrawing(told).svg(), "text")]


@pytest.mark.parametrize("suffix", [".svg", ".png", ".json"])
def test_it_is_saved_as_its_suffix_says(tmp_path: Path, suffix: str) -> None:
    path = save_picture(MachineDrawing(told_of(SHARED)), tmp_path / f"map{suffix}", dark=True)
    begins = {".svg": b"<svg", ".png": b"\x89PNG", ".json": b"{"}
    assert path.read_bytes().startswith(begins[suffix])
