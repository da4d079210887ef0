"""What Python shows of results: names, tables, pages of a notebook; and what the package offers."""

from __future__ import annotations

import copy
import inspect
import pickle
import re
import xml.etree.ElementTree as ET
from typing import get_type_hints

import pytest

import frames
import homenode
from homenode.errors import NotFoundError
from homenode.simulate.kept.grid import Grid
from homenode.simulate.run import Run
from homenode.simulate.runner import run_scenario


@pytest.fixture
def run(fake: object) -> Run:
    return run_scenario(frames.near_and_far()[0])


def cells(html: str) -> list[list[str]]:
    """Rows of a page's table; it must be well-formed."""
    page = ET.fromstring(f"<page>{html}</page>")
    return [["".join(cell.itertext()) for cell in row] for row in page.iter("tr")]


def test_dir_shows_what_there_is() -> None:
    shown = [name for name in dir(homenode) if not name.startswith("_")]
    assert shown == sorted(homenode.__all__)
    for name in shown:
        assert getattr(homenode, name) is not None
    with pytest.raises(AttributeError, match="module 'homenode' has no attribute 'nosuch'"):
        _ = homenode.nosuch  # type: ignore[attr-defined]


def test_every_package_offers_what_it_says() -> None:
    import importlib
    import pkgutil

    for found in pkgutil.walk_packages(homenode.__path__, "homenode."):
        if not found.ispkg:
            continue
        package = importlib.import_module(found.name)
        for name in getattr(package, "__all__", ()):
            value = getattr(package, name)
            assert not inspect.ismodule(value) or name in ("jmh", "integer"), f"{found.name}.{name}"


def test_a_metric_that_is_not_there_names_the_nearest(run: Run) -> None:
    first = run.partitions[0]
    for ask, told in {
        lambda: run.metrics["nosuch"]: f"no partition nosuch; there are {first}",
        lambda: run.metrics["physc"]: f"metrics stand by partition: metrics['{first}']['physc']",
        lambda: run.metrics[first]["physk"]: "there is no metric physk; did you mean physc?",
    }.items():
        with pytest.raises(NotFoundError, match=re.escape(told)):
            ask()
        with pytest.raises(KeyError):
            ask()
    assert run.metrics.get("nosuch") is None
    assert "physk" not in run.metrics[first]
    assert copy.deepcopy(run.metrics) == run.metrics == pickle.loads(pickle.dumps(run.metrics))


def test_the_options_of_a_run_are_typed_and_told() -> None:
    told = inspect.signature(homenode.Scenario.run).parameters
    there = inspect.signature(run_scenario).parameters
    assert list(told)[1:] == list(there)[1:]
    assert {n: p.default for n, p in list(told.items())[1:]} == {
        n: p.default for n, p in list(there.items())[1:]
    }
    assert get_type_hints(homenode.Scenario.run)["replications"] == int | None


def test_an_explanation_prints_as_its_table(run: Run) -> None:
    first = run.partitions[0]
    explained = run.explain(first)
    title, heads, *rows = str(explained).splitlines()
    assert title == f"Where the cores of {first} went ({run.id})"
    assert heads.split() == ["cause", "cores", "share", "us/tx"]
    assert len(rows) == len(explained.rows) + 1
    assert rows[-1].split()[:2] == ["total", f"{explained.total:.2f}"]
    assert len({len(row) for row in (heads, *rows)}) == 1
    assert cells(explained._repr_html_())[-1][:2] == ["total", f"{explained.total:.2f}"]
    assert explained.paragraph in explained._repr_html_().replace("&#x27;", "'")


def test_runs_and_metrics_are_pages_of_a_notebook(run: Run) -> None:
    first, second = run.partitions
    assert cells(run._repr_html_())[0] == ["metric", first, second, "unit"]
    shown = {row[0]: row[1] for row in cells(run._repr_html_())[1:]}
    assert shown["physc"].startswith(f"{run.metrics[first]['physc'].mean:.2f}")
    every = cells(run.metrics._repr_html_())[1:]
    with_value = [n for n, one in run.metrics[first].items() if one.mean is not None]
    assert set(with_value) <= {row[0] for row in every}
    assert [row[0] for row in cells(run.metrics[first]._repr_html_())[1:]] == with_value


def test_what_people_write_is_no_markup() -> None:
    html = Grid("<b>", ("a",), [("<i>",)], paragraphs=("x & y",)).html()
    assert cells(html) == [["a"], ["<i>"]]
    assert "&lt;b&gt;" in html
