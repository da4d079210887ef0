"""Which control groups this host has, and which of them are ours to use."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from homenode.hosts.errors import MeasureError
from homenode.hosts.live.cgroups import Group, Groups, Setting, Usage, gone
from homenode.hosts.live.cgroups_v1 import GroupsV1, writable_trees
from homenode.hosts.live.cgroups_v2 import GroupsV2, places_for_groups
from homenode.hosts.live.leftovers import sweep_groups

_CONTROLLERS_V1 = {"cpu", "cpuacct", "cpuset"}


class GroupNone(Group):
    """Processes without a control group: only their list is kept."""

    def joins(self) -> list[Path]:
        """Nothing to join."""
        return []

    def set(self, setting: Setting) -> None:
        """Nothing can be set; the host refuses such settings before."""

    def usage(self) -> Usage:
        """Not known by group; the processes' own account is used."""
        return Usage()

    def pids(self) -> list[int]:
        """The processes started in it, their living children, and those of the groups in it."""
        own = [pid for root in sorted(self.roots) for pid in family(root)]
        return [*own, *(pid for child in self.children for pid in child.pids())]

    def remove(self) -> None:
        """Nothing to remove."""


class GroupsNone(Groups):
    """A host whose control groups are not ours."""

    kind = "none"
    can = frozenset()

    def __init__(self, why_not: str) -> None:
        self.why_not = why_not
        self.base = GroupNone("homenode", None)

    def make(self, name: str, *, parent: Group | None = None, account_only: bool = False) -> Group:
        """A list of processes."""
        del account_only
        return GroupNone(name, parent or self.base)

    def folders(self) -> list[Path]:
        """There are none."""
        return []

    def account(self) -> Usage:
        """Nothing: without control groups no account is kept of all together."""
        return Usage()

    def machine_s(self) -> float | None:
        """None: the machine's use is not told by groups."""
        return None

    def close(self) -> None:
        """End all processes that were started."""
        self.base.end()


def family(root: int) -> list[int]:
    """A process, those it leads, and all their living children.

    Without control groups a process that left its parent is found by its process group.
    """
    parents: dict[int, tuple[int, int]] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                text = Path(entry.path, "stat").read_bytes()
            except OSError:
                continue
            fields = text.rpartition(b")")[2].split()
            parents[int(entry.name)] = (int(fields[1]), int(fields[2]))
    found = {pid for pid, (_, leader) in parents.items() if root in (pid, leader)}
    while more := {p for p, (parent, _) in parents.items() if parent in found} - found:
        found |= more
    return sorted(pid for pid in found if not gone(pid))


def open_groups(
    *, name: str | None = None, proc: Path = Path("/proc"), prefer: str | None = None
) -> Groups:
    """The host's control groups, with a folder of our own made in them.

    Version 1 is used where its controllers `cpu` and `cpuacct` are mounted and writable, else
    version 2 where we may make groups, else none.
    """
    name = name or f"homenode-{os.getpid()}"
    trees_v1, root_v2 = mounts(proc)
    own = own_groups(proc)
    places_v2 = [] if root_v2 is None else places_for_groups(root_v2, own.get("", "/"))
    sweep_groups([*writable_trees(trees_v1, own).values(), *places_v2])
    reasons: list[str] = []
    if prefer in (None, "v1") and "cpuacct" in trees_v1:
        writable = writable_trees(trees_v1, own)
        if "cpuacct" in writable:
            try:
                return GroupsV1(writable, name)
            except (OSError, MeasureError) as error:
                reasons.append(str(error))
        reasons.append("the trees of version 1 are not writable")
    if prefer in (None, "v2") and root_v2 is not None:
        found = _open_v2(places_v2, name, reasons)
        if found is not None:
            return found
        reasons.append("the tree of version 2 is not writable")
    return GroupsNone("; ".join(reasons) or "no control groups are mounted")


def _open_v2(places: Sequence[Path], name: str, reasons: list[str]) -> Groups | None:
    """Our folder in the first place that hands all down, else in the one that does most."""
    less: list[tuple[int, Path]] = []
    for place in places:
        try:
            groups = GroupsV2(place, name)
        except (OSError, MeasureError) as error:
            reasons.append(str(error))
            continue
        if not groups.why_not or (place is places[-1] and not less):
            return groups
        less.append((len(groups.can), place))
        groups.close()
    if not less:
        return None
    most = max(can for can, _ in less)
    return GroupsV2(next(place for can, place in less if can == most), name)


def mounts(proc: Path) -> tuple[dict[str, Path], Path | None]:
    """Version 1's trees by controller, and version 2's root, from the table of mounts."""
    trees: dict[str, Path] = {}
    root: Path | None = None
    try:
        # Names of folders are bytes; those of other people's mounts may be no UTF-8.
        lines = os.fsdecode((proc / "self" / "mounts").read_bytes()).splitlines()
    except OSError:
        return {}, None
    for line in lines:
        _, point, kind, options, *_ = [*line.split(), "", "", "", ""]
        if kind == "cgroup":
            for controller in _CONTROLLERS_V1 & set(options.split(",")):
                trees[controller] = _unescaped(point)
        elif kind == "cgroup2":
            root = root or _unescaped(point)
    return trees, root


def _unescaped(point: str) -> Path:
    """A mount point as it is: the kernel writes spaces and the like as three octal digits."""
    return Path(re.sub(r"\\([0-7]{3})", lambda digits: chr(int(digits[1], 8)), point))


def own_groups(proc: Path) -> Mapping[str, str]:
    """The process's own group by controller; the key of version 2 is empty."""
    found: dict[str, str] = {}
    try:
        lines = (proc / "self" / "cgroup").read_text().splitlines()
    except OSError:
        return found
    for line in lines:
        _, names, path = [*line.split(":", 2), "", ""][:3]
        for controller in names.split(","):
            found[controller] = path
    return found
