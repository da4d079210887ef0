"""Fixtures: the stand-in engine in place of the compiled one, small scenario files, an empty folder
to work in.
"""

from __future__ import annotations

import copy
import json
import sys
import tomllib
import types
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import fake_engine
import frames
import homenode.evidence.study.evaluate
import homenode.simulate.scenario  # noqa: F401 - what runs must not see the stand-ins first

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


@dataclass(frozen=True)
class SmallScenario:
    """Reads a little TOML of its own: these tests do not depend on the scenario language."""

    raw: dict[str, Any]
    text: str

    @classmethod
    def load(cls, path: str | Path, *, simulated: bool = True) -> SmallScenario:
        del simulated  # it has nothing that could not be
        text = Path(path).read_text(encoding="utf-8")
        return cls(tomllib.loads(text), text)

    @property
    def replications(self) -> int:
        return int(self.raw.get("replications", 1))

    @property
    def point(self) -> dict[str, Any]:
        return {}

    looks_for = None

    def expand(self) -> list[SmallScenario]:
        return [self]

    def spec_json(self) -> str:
        partitions = [
            frames.partition(
                one["name"],
                one["node"],
                rate=one.get("rate", 900.0),
                virtual=one.get("virtual", 16),
            )
            for one in self.raw["partition"]
        ]
        return json.dumps(frames.frame(*partitions, name=self.raw["name"]))

    def with_(self, changes: dict[str, Any], *, why: str) -> SmallScenario:
        raw = copy.deepcopy(self.raw)
        notes = ""
        for path, value in changes.items():
            _, name, key = path.split(".")
            next(one for one in raw["partition"] if one["name"] == name)[key] = value
            notes += f"# {why}: {path} = {value}\n"
        return SmallScenario(raw, self.text + notes)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """The stand-in engine, with its knobs put back afterwards."""
    monkeypatch.setitem(sys.modules, "homenode._engine", fake_engine)
    for module in ("evidence.study.evaluate", "simulate.scenario"):
        monkeypatch.setattr(f"homenode.{module}.Scenario", SmallScenario)
    monkeypatch.setattr(fake_engine, "PAUSE_S", 0.0)
    monkeypatch.setattr(fake_engine, "STANDS_IN", None)
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
