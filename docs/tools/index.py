"""The index of the shipped machines and profiles, written from their files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from homenode.model import catalog
from homenode.model.index import FILE, MACHINE, PROFILE, digest
from homenode.model.shipped import shipped_folder

PLACE = shipped_folder("") / FILE


def index() -> str:
    """What the file should say."""
    kinds = {
        "machines": _rows("machines", MACHINE, map(catalog.machine, catalog.machines())),
        "profiles": _rows("profiles", PROFILE, map(catalog.profile, catalog.profiles())),
    }
    return json.dumps(kinds, indent=1, ensure_ascii=False) + "\n"


def _rows(kind: str, keys: Sequence[str], described: Any) -> dict[str, dict[str, Any]]:
    return {
        one.name: {
            **{key: getattr(one, key) for key in keys if key != "name"},
            "sha256": digest(kind, one.name),
        }
        for one in described
    }
