"""What shipped machines, profiles, suites and studies say of themselves, none of them being read.

`data/index.json` is written by `make docs`. It holds the SHA-256 of what it tells of, and where
a file says something else by now, or one is new, the index is not believed.
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
STUDY = ("name", "title", "source", "claim", "rows")
"""What a list says of a study: how many published figures it has."""
FILE = "index.json"
_ROWS = {"studies": "published.csv"}
"""What lies beside the file of a kind; the index tells how many rows it has."""


def indexed(kind: str) -> list[dict[str, Any]] | None:
    """A row for each shipped file of a kind (`machines`, `profiles`, `measurements`, `studies`), in
    order of the names; None where the index is not there or not of these files.
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
    """SHA-256 of a shipped file, and of the rows beside it."""
    file = shipped_file(kind, name)
    beside = [file.with_name(_ROWS[kind])] if kind in _ROWS else []
    return hashlib.sha256(b"".join(one.read_bytes() for one in [file, *beside])).hexdigest()
