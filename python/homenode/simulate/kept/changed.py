"""What of a run an operator changed while it ran."""

from __future__ import annotations

from homenode.model.spec import Spec
from homenode.model.units import SIZE, TIME

_NS_PER_S = 1e9
_WORDS = {"virtual": "virtual processors"}
_SOFT_CAP = -1


def changes_of(spec: Spec) -> list[dict[str, object]]:
    """Each change in order of time: `at_s`, `partition` by name, and the new values by the key of
    the scenario; `cores` as their number, `memory` as its size [bytes].
    """
    found = []
    for change in sorted(spec.get("changes", ()), key=lambda change: change["at_ns"]):
        name = spec["partitions"][change["partition"]]["name"]
        row: dict[str, object] = {"at_s": change["at_ns"] / _NS_PER_S, "partition": name}
        rest = ("at_ns", "partition", "soft_cap", "data_bytes")
        row |= {key: value for key, value in change.items() if key not in rest}
        if change.get("soft_cap"):
            row["weight"] = _SOFT_CAP
        if "cores" in change:
            row["cores"] = len(change["cores"])
        if "memory" in change:
            row["memory"] = sum(part["bytes"] for part in change["memory"])
        found.append(row)
    return found


def changed_lines(spec: Spec) -> list[str]:
    """A line for each partition that changed."""
    told: dict[object, list[str]] = {}
    for row in changes_of(spec):
        at = TIME.format(round(float(str(row["at_s"])) * _NS_PER_S))
        values = [_told(key, row[key]) for key in row if key not in ("at_s", "partition")]
        told.setdefault(row["partition"], []).append(f"at {at} {', '.join(values)}")
    return [f"{name} changed during the run: {'; '.join(of)}" for name, of in told.items()]


def _told(key: str, value: object) -> str:
    """A new value in words."""
    if key == "running":
        return "started" if value else "stopped"
    if key == "capped":
        return "capped" if value else "uncapped"
    if key == "memory":
        return f"memory {SIZE.format(int(str(value)))}, placed anew"
    return f"{_WORDS.get(key, key)} {value}"
