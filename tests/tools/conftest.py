"""Makes the helpers beside these tests importable; what a command prints."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from homenode.cli import call

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Calls a command that succeeds, and returns its output."""

    def asked(*words: str) -> str:
        capsys.readouterr()
        assert call(list(words)) == 0, capsys.readouterr().err
        return capsys.readouterr().out

    return asked
