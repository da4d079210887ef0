"""The map of a machine as a picture: whose the cores of each chip are, who is at home there, where
memory lies, and of a run how much of each chip was used.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from homenode.report import charts
from homenode.report.charts import Piece
from homenode.report.machine_map import KEYS

if TYPE_CHECKING:
    import altair as alt

    from homenode.report.machine_map import MachineMap, NodeMap, Tenant

_GIB = 1 << 30
_USED, _REST = "used", "not used"
_QUIET = (charts.PALE, "#e3e7ea", "#b8c4cc", "#f2f4f5")


def map_picture(told: MachineMap) -> alt.ConcatChart:
    """Bars that lie, a place each: cores, entitlement at home, memory, used capacity."""
    panels = map_pieces(told)
    colours = _colours(told, {piece["kind"] for pieces in panels.values() for piece in pieces})
    of_what = f", run {told['run']}" if told["run"] else ""
    return charts.lying(panels, f"{told['title']}: {told['scenario']}{of_what}", colours)


def map_pieces(told: MachineMap) -> dict[str, list[Piece]]:
    """The pieces of all bars by panel; nodes without an active core are left out."""
    names = {one["partition"]: f"{one['key']} {one['partition']}" for one in told["partitions"]}
    owners = {name.partition(" ")[0]: name for name in names.values()} | told["marks"]
    panels: dict[str, list[Piece]] = {"cores": [], "entitled at home": [], "memory [GiB]": []}
    if told["used"] is not None:
        panels[f"{told['unit']} used"] = []
    for node in told["nodes"]:
        if not node["active"]:
            continue
        for chip in node["chips"]:
            place = f"{node['place']}.{chip['place']}"
            panels["cores"] += _cores(place, chip["cores"], owners)
            panels["entitled at home"] += _tenants(place, chip["tenants"], names, "entitlement")
            if chip["used"] is not None:
                capacity = chip["active"] * told["capacity"] / told["active"]
                panels[f"{told['unit']} used"] += _used(place, chip["used"], capacity)
        panels["memory [GiB]"] += _memory(node, names)
    return panels


def _colours(told: MachineMap, kinds: set[str]) -> dict[str, str]:
    """Of each partition, then of what is no partition's."""
    names = [f"{one['key']} {one['partition']}" for one in told["partitions"]]
    turns = itertools.cycle(charts.MANY)
    found = dict(zip(names, turns, strict=False))
    found |= dict(zip(told["marks"].values(), itertools.cycle(_QUIET), strict=False))
    found |= {_USED: charts.QUIET, _REST: "#f7f8f9"}
    return {kind: colour for kind, colour in found.items() if kind in kinds}


def _cores(place: str, marks: str, owners: dict[str, str]) -> list[Piece]:
    """A piece for cores that are the same partition's, one after the other."""
    runs = [(mark, len(list(group))) for mark, group in itertools.groupby(marks)]
    return [
        _piece(place, owners.get(mark, mark), count, at, mark if mark in KEYS else str(count))
        for at, (mark, count) in enumerate(runs)
    ]


def _tenants(
    place: str, tenants: Sequence[Tenant], names: dict[str, str], what: str
) -> list[Piece]:
    found = []
    for at, one in enumerate(tenants):
        value = one["entitlement"] if what == "entitlement" else one["memory_bytes"] / _GIB
        if value:
            name = names[one["partition"]]
            found.append(_piece(place, name, value, at, name.partition(" ")[0]))
    return found


def _memory(node: NodeMap, names: dict[str, str]) -> list[Piece]:
    """Beside the node, or beside each of its chips."""
    found = _tenants(node["place"], node["tenants"], names, "memory")
    for chip in node["chips"]:
        place = f"{node['place']}.{chip['place']}"
        found += _tenants(place, chip["tenants"], names, "memory")
    return found


def _used(place: str, used: float, capacity: float) -> list[Piece]:
    rest = max(capacity - used, 0.0)
    shown = [f"{used:.2f}", ""] if used > rest else ["", f"{used:.2f}"]
    return [_piece(place, _USED, used, 0, shown[0]), _piece(place, _REST, rest, 1, shown[1])]


def _piece(place: str, kind: str, value: float, at: int, shown: str) -> Piece:
    return {"place": place, "kind": kind, "value": value, "at": at, "shown": shown}
