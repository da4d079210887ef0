"""A small scenario that tests change one thing of."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def base() -> str:
    return Path(__file__).with_name("base.toml").read_text(encoding="utf-8")
