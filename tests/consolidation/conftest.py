"""Makes the helpers of these tests, and those of all, importable."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

for folder in Path(__file__).resolve().parents[:2]:
    sys.path.insert(0, str(folder))

engine = pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")
