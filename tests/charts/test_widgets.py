"""A layout that is moved about in a notebook: the same charts, solved anew."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("homenode._engine", reason="the compiled engine is not installed")

import homenode
from homenode.errors import HomenodeError

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def moving() -> homenode.LayoutWidget:
    pytest.importorskip("ipywidgets", reason="ipywidgets, which shows widgets, is not installed")
    return homenode.LayoutWidget(homenode.load_scenario(EXAMPLES / "p795-shared-book.toml"))


def test_a_home_that_is_chosen_is_solved_and_drawn(moving: homenode.LayoutWidget) -> None:
    before = moving.says
    assert "fewer" not in before
    assert list(moving.homes) == ["lpar1", "lpar2"]
    moving.homes["lpar2"].value = "book7"
    assert "fewer than as opened" in moving.says
    assert moving.scenario.data["partition"] != moving.opened.data["partition"]
    shown = moving._shown.value
    assert moving.says in shown
    assert shown.count("<svg") == 2
    moving.homes["lpar2"].value = "book5"
    assert moving.says == before
    assert moving._shown.value.count("<svg") == 1


def test_what_it_says_is_what_is_solved(moving: homenode.LayoutWidget) -> None:
    moving.homes["lpar1"].value = "book0"
    solved = moving.opened.with_({"partition.lpar1.home": "book0"}).solve()
    cores = sum(solved.metrics[name]["physc"].mean or 0.0 for name in solved.partitions)
    assert moving.says.startswith(f"{cores:.1f} cores used")


def test_a_notebook_shows_it(moving: homenode.LayoutWidget) -> None:
    told: Any = moving._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in told
    assert moving._repr_svg_().startswith("<svg")


def test_a_machine_without_homes_to_choose_is_refused() -> None:
    pytest.importorskip("ipywidgets")
    with pytest.raises(HomenodeError, match="no partition's home"):
        homenode.LayoutWidget(homenode.load_scenario(EXAMPLES / "linux-groups.toml"))


def test_without_ipywidgets_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name == "ipywidgets":
            raise ImportError(name)
        return real(name, *rest, **more)

    scenario = homenode.load_scenario(EXAMPLES / "p795-shared-book.toml")
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(HomenodeError, match=r"homenode\[notebook\]"):
        homenode.LayoutWidget(scenario)
