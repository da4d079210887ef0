"""The set-up of the real programs never fails: it says what cannot be had, and why."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from fetch import CLIENTS, fetch_all

FETCH = Path(__file__).with_name("fetch.py")


def test_without_debian_every_client_has_a_reason(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, FETCH, tmp_path / "clients"],
        env={**os.environ, "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0
    written = (tmp_path / "clients" / "missing.txt").read_text(encoding="utf-8")
    for client in CLIENTS:
        assert f"clients: {client.name}: " in done.stderr
        assert f"{client.name}: " in written
    assert "apt-get is not on this system" in written
    assert not (tmp_path / "clients" / "apt").exists()


def test_what_is_there_is_not_fetched_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for client in CLIENTS:
        program = tmp_path / client.arch / client.program
        program.parent.mkdir(parents=True, exist_ok=True)
        program.touch()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert fetch_all(tmp_path) == {}
