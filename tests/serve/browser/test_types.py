"""The scripts of the page keep to their types, as TypeScript reads them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
ASSETS = ROOT / "python" / "homenode" / "serve" / "assets"
COMPILER = ROOT / ".tools/clients/host/usr/share/nodejs/typescript/lib/tsc.js"
RULES = "--noEmit --allowJs --checkJs --strict --noUncheckedIndexedAccess --target es2022"
LIBRARIES = "es2022,dom,dom.iterable"


def test_types_hold() -> None:
    playwright = pytest.importorskip("playwright", reason="Playwright, which has Node, isn't there")
    node = Path(playwright.__file__).parent / "driver" / "node"
    runner = str(node) if node.is_file() else shutil.which("node")
    if runner is None or not COMPILER.is_file():
        pytest.skip("TypeScript or Node is not here; `make clients` fetches TypeScript")
    scripts = sorted(map(str, ASSETS.glob("*.js")))
    assert scripts
    done = subprocess.run(
        [runner, COMPILER, *RULES.split(), "--lib", LIBRARIES, *scripts],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout
