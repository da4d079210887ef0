"""Tests here run against the stand-in engine and small frames."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from standins import fake, files, here  # noqa: F401 - fixtures of all tests of this folder
