"""Tests here need an engine that solves layouts."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

engine = pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")
