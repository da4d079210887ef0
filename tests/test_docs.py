"""Pages: every block runs and shows what it prints now; `make docs` brings them up to date."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]


def load_refresh() -> ModuleType:
    path = ROOT / "docs" / "tools" / "refresh.py"
    spec = importlib.util.spec_from_file_location("docs_refresh", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


refresh = load_refresh()


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("page", refresh.played_pages(), ids=name)
def test_page_shows_what_it_prints(page: Path) -> None:
    assert page.read_text(encoding="utf-8") == refresh.play(page), "run `make docs`"


@pytest.mark.parametrize("page", refresh.notebooks(), ids=name)
def test_notebook_shows_what_it_computes(page: Path) -> None:
    plain = refresh.notebook.without_pictures
    shown = plain(page.read_text(encoding="utf-8"))
    assert shown == plain(refresh.run_notebook(page)), "run `make docs`"


@pytest.mark.parametrize("page", refresh.reference.pages())
def test_reference_is_what_the_code_says(page: str) -> None:
    written = (ROOT / "docs" / page).read_text(encoding="utf-8")
    assert written == refresh.reference.pages()[page](), "run `make docs`"


def test_every_book_is_described() -> None:
    from homenode import _engine

    page = (ROOT / "docs" / "background" / "accounting.md").read_text(encoding="utf-8")
    rows = page.split("## The books", 1)[1].splitlines()
    described = [word for row in rows if row.startswith("| `") for word in row.split("`")[1::2]]
    assert described == list(_engine.BOOKS)


def test_the_picture_of_trust_shows_what_is_written_down() -> None:
    tool = refresh.gallery
    assert tool.says(tool.TRUST.read_text(encoding="utf-8")) == tool.says(tool.trust())


def test_the_gallery_has_every_chart_that_there_is() -> None:
    """A module of charts without a picture in the gallery would be seen by nobody."""
    drawn = {
        "bands": "Published and simulated", "beside": "Advice, before and after",
        "courses": "Cores over time, and responses", "curves": "How a z/VM partition scales",
        "heat": "A sweep of two things", "intervals": "One host against another",
        "loads": "What comes out under each load", "lying": "Headroom over days",
        "moves": "Advice, before and after", "sizes": "A study of several sizes",
        "slices": "Who was on which core",
        "spreads": "Responses and waits for a core",
        "waterfall": "Where the cores of a partition went",
    }  # fmt: skip
    charts = ROOT / "python" / "homenode" / "report" / "charts"
    modules = {path.stem for path in charts.glob("*.py")} - {"__init__", "colours"}
    # The picture of all studies has a page of its own.
    assert modules == drawn.keys() | {"against"}
    assert "(img/trust.svg)" in (ROOT / "docs" / "trust.md").read_text(encoding="utf-8")
    assert set(drawn.values()) <= refresh.gallery.DRAWN.keys()


@pytest.mark.slow("runs the demo")
def test_the_opening_picture_is_what_the_demo_draws() -> None:
    tool = refresh.gallery
    assert tool.says(tool.FRONT.read_text(encoding="utf-8")) == tool.says(tool.front())
