"""The index of the shipped machines, profiles, suites and studies, written from their files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from homenode.evidence.study.listing import head, list_studies
from homenode.hosts import suite_file
from homenode.model import catalog
from homenode.model.index import FILE, MACHINE, PROFILE, STUDY, digest
from homenode.model.shipped import shipped_folder
from homenode.report.hosts.suites import suite_row

PLACE = shipped_folder("") / FILE


def index() -> str:
    """What the file should say."""
    machines = [catalog.machine(name) for name in catalog.machines()]
    profiles = [catalog.profile(name) for name in catalog.profiles()]
    kinds = {
        "machines": [{key: getattr(one, key) for key in MACHINE} for one in machines],
        "profiles": [{key: getattr(one, key) for key in PROFILE} for one in profiles],
        "measurements": [suite_row(suite_file.load(name)) for name in suite_file.names()],
        "studies": [{key: getattr(head(name), key) for key in STUDY} for name in list_studies()],
    }
    told = {kind: _by_name(kind, rows) for kind, rows in kinds.items()}
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"


def _by_name(kind: str, rows: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    return {
        row["name"]: {
            **{key: value for key, value in row.items() if key != "name"},
            "sha256": digest(kind, row["name"]),
        }
        for row in rows
    }
