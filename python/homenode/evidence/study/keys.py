"""Keys of a table of study.toml: those that nobody reads are refused, those that miss are told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from homenode.errors import StudyError, nearest


def only(
    raw: Mapping[str, Any], known: set[str], needed: set[str], where: str
) -> Mapping[str, Any]:
    """The table itself, if all its keys are known and all that are needed are there."""
    for key in raw:
        if key not in known:
            raise StudyError(f"{where}: unknown key {key}{nearest(key, known)}")
    for key in sorted(needed - set(raw)):
        raise StudyError(f"{where}: {key} is missing")
    return raw
