"""Fixtures: the stand-in engine in place of the compiled one, small scenario files, an empty folder to work in."""

from __future__ import annotations

import sys
import tomllib
import types
from collections.abc import Callable
from pathlib import Path

import fake_engine
import frames
import pytest

TWO_PARTITIONS = """\
name = "{name}"
replications = 3

[[partition]]
name = "{first}"
node = 0

[[partition]]
name = "{second}"
node = {node}
"""
APART = TWO_PARTITIONS.format(name="apart", first="one", second="two", node=1)
TOGETHER = TWO_PARTITIONS.format(name="together", first="three", second="four", node=0)
TIPPED = APART.replace('"apart"', '"tipped"') + "virtual = 5\n"


class SmallScenario:
    """Reads a little TOML of its own, so that these tests do not depend on the scenario language."""

    @staticmethod
    def load(path: str | Path) -> frames.Frozen:
        text = Path(path).read_text(encoding="utf-8")
        raw = tomllib.loads(text)
        partitions = [
            frames.partition(
                one["name"], one["node"], rate=one.get("rate", 900.0), virtual=one.get("virtual", 16)
            )
            for one in raw["partition"]
        ]
        spec = frames.frame(*partitions, name=raw["name"])
        return frames.Frozen(spec, raw.get("replications", 1), text)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """The stand-in engine, with its knobs put back afterwards."""
    monkeypatch.setitem(sys.modules, "homenode._engine", fake_engine)
    scenario = types.ModuleType("homenode.scenario")
    scenario.Scenario = SmallScenario  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "homenode.scenario", scenario)
    monkeypatch.setattr(fake_engine, "PAUSE_S", 0.0)
    monkeypatch.setattr(fake_engine, "BATCH_INTERVALS", 1)
    return fake_engine


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def files(here: Path) -> Callable[[str, str], Path]:
    """Write a file into the working folder."""

    def write(name: str, text: str) -> Path:
        path = here / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return write
