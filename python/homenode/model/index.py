"""What shipped machines, profiles and suites say of themselves, without reading them one by one.

`data/index.json` is written by `make docs`. It holds the SHA-256 of each file it tells of, and
where a file says something else by now, or one is new, the index is not believed.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from homenode.model.shipped import shipped_file, shipped_folder, shipped_names

MACHINE = (
    "name", "title", "model", "generation", "nodes", "node_name", "cores", "threads_per_core",
)  # fmt: skip
"""What a list shows of a machine."""
PROFILE = ("name", "title")
"""What a list shows of a profile."""
SUITE = ("name", "title", "cases", "adapters")
"""What a list shows of a suite of measurements: how many cases of how many adapters."""
FILE = "index.json"


def indexed(kind: str) -> list[dict[str, Any]] | None:
    """A row for each shipped file of a kind (`machines`, `profiles` or `measurements`), in order of
    the names; None where the index is not there or not of these files.
    """
    try:
        index = json.loads((shipped_folder("") / FILE).read_text(encoding="utf-8"))
        rows: dict[str, dict[str, Any]] = index[kind]
        if list(rows) != shipped_names(kind):
            return None
        if any(row.pop("sha256") != digest(kind, name) for name, row in rows.items()):
            return None
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None
    return [{"name": name, **row} for name, row in rows.items()]


def digest(kind: str, name: str) -> str:
    """SHA-256 of a shipped file."""
    return hashlib.sha256(shipped_file(kind, name).read_bytes()).hexdigest()
