"""The tool that writes a study's results into its page, and holds both against a run."""

from __future__ import annotations

import sys
from pathlib import Path

from homenode.evidence.study import StudyResult, load_study, recorded_outcome

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs" / "tools"))

import studies as tool  # noqa: E402, F401 - what the tests of this folder take from here
import what_if  # noqa: E402, F401 - the same


def page(name: str) -> str:
    """A study's README."""
    return Path(load_study(name).folder / "README.md").read_text(encoding="utf-8")


def recorded(name: str) -> StudyResult:
    """What is written down of a study; `test_outcomes.py` holds it against a run."""
    return recorded_outcome(load_study(name))
