"""A small scenario that tests change one thing of; the helpers of all tests are importable."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


@pytest.fixture
def base() -> str:
    return Path(__file__).with_name("base.toml").read_text(encoding="utf-8")
