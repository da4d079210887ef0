"""Control groups of version 1: one tree a controller, each with its own copy of our folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from homenode.hosts.live import cgroups
from homenode.hosts.live.cgroups import (
    DEFAULT_WEIGHT,
    Group,
    Groups,
    Setting,
    Usage,
    cpu_list,
    read_number,
    read_numbers,
    read_pairs,
    write,
)

SHARES_OF_DEFAULT = 1024
"""`cpu.shares` of a group that nobody has set (kernel's default)."""
_NS = 1e-9
_USED = ("cpu", "cpuacct", "cpuset")


class GroupV1(Group):
    """The same folder in each controller's tree."""

    def __init__(self, name: str, parent: Group | None, trees: Mapping[str, Path]) -> None:
        super().__init__(name, parent)
        self._trees = dict(trees)
        for controller, folder in self._trees.items():
            cgroups.make_folder(folder)
            if controller == "cpuset":
                # Empty at first; nobody can join it then.
                for file in ("cpuset.cpus", "cpuset.mems"):
                    text = (folder.parent / file).read_text().strip()
                    write(folder / file, text, what=file)

    def folder(self, controller: str) -> Path | None:
        """Its folder in a controller's tree."""
        return self._trees.get(controller)

    def joins(self) -> list[Path]:
        """One file a controller: its own, or of the nearest group above that has one."""
        return list(dict.fromkeys(self.joins_by_controller().values()))

    def joins_by_controller(self) -> dict[str, Path]:
        """Files to join, by controller."""
        above = self.parent.joins_by_controller() if isinstance(self.parent, GroupV1) else {}
        return above | {name: folder / "cgroup.procs" for name, folder in self._trees.items()}

    def set(self, setting: Setting) -> None:
        """Shares, quota, burst, cpuset and idle; in an order that the kernel takes."""
        cpu = self._trees.get("cpu")
        if cpu is not None:
            if setting.weight is not None:
                shares = max(2, round(setting.weight * SHARES_OF_DEFAULT / DEFAULT_WEIGHT))
                write(cpu / "cpu.shares", str(shares), what="cpu.shares")
            quota = setting.quota_us()
            if quota is not None:
                write(cpu / "cpu.cfs_period_us", str(setting.period_us), what="cpu.cfs_period_us")
                write(cpu / "cpu.cfs_quota_us", str(quota), what="cpu.cfs_quota_us")
            if setting.burst_us:
                write(cpu / "cpu.cfs_burst_us", str(setting.burst_us), what="cpu.cfs_burst_us")
            if setting.idle:
                write(cpu / "cpu.idle", "1", what="cpu.idle")
        if setting.cpus is not None and "cpuset" in self._trees:
            write(self._trees["cpuset"] / "cpuset.cpus", cpu_list(setting.cpus), what="cpuset.cpus")

    def usage(self) -> Usage:
        """From `cpuacct.usage` [ns], the groups in it included, and its own `cpu.stat`.

        User and system are sampled by the tick in version 1; their ratio divides the exact total,
        as the kernel itself does in version 2.
        """
        account = self._trees["cpuacct"]
        stat = read_pairs(self._trees["cpu"] / "cpu.stat") if "cpu" in self._trees else {}
        total = read_number(account / "cpuacct.usage") * _NS
        user = read_number(account / "cpuacct.usage_user")
        system = read_number(account / "cpuacct.usage_sys")
        share = user / (user + system) if user + system else 1.0
        return Usage(
            total,
            total * share,
            total * (1.0 - share),
            stat.get("nr_periods", 0),
            stat.get("nr_throttled", 0),
            stat.get("throttled_time", 0) * _NS,
        )

    def pids(self) -> list[int]:
        """Of it and of the groups in it."""
        own = read_numbers(self._trees["cpuacct"] / "cgroup.procs")
        return [*own, *(pid for child in self.children for pid in child.pids())]

    def remove(self) -> None:
        """Remove it from every tree."""
        for folder in dict.fromkeys(self._trees.values()):
            cgroups.remove_folder(folder)


class GroupsV1(Groups):
    """Our folder in the trees that we may write to."""

    kind = "v1"

    def __init__(self, mounts: Mapping[str, Path], name: str) -> None:
        self._mounts = dict(mounts)
        self.base = GroupV1(name, None, {c: tree / name for c, tree in mounts.items()})
        can = {"account"}
        cpu = self.base.folder("cpu")
        if cpu is not None:
            files = {
                "weight": "cpu.shares",
                "quota": "cpu.cfs_quota_us",
                "burst": "cpu.cfs_burst_us",
                "idle": "cpu.idle",
            }
            can |= {ability for ability, file in files.items() if (cpu / file).exists()}
        if "cpuset" in mounts:
            can.add("cpuset")
        if mounts["cpuacct"] not in [mounts.get("cpu"), mounts.get("cpuset")]:
            can.add("roles")
        self.can = frozenset(can)
        missing = [controller for controller in _USED if controller not in mounts]
        self.why_not = f"no writable tree of {', '.join(missing)}" if missing else ""

    def make(self, name: str, *, parent: Group | None = None, account_only: bool = False) -> Group:
        """A group; one for the account alone only in the tree of `cpuacct`, if it has its own."""
        above = parent if isinstance(parent, GroupV1) else self.base
        trees = {}
        for controller in self._mounts:
            folder = above.folder(controller)
            if folder is not None:
                trees[controller] = folder / name
        if account_only:
            trees = {"cpuacct": trees["cpuacct"]}
        return GroupV1(name, above, trees)

    def folders(self) -> list[Path]:
        """One a tree."""
        trees = (self.base.folder(controller) for controller in self._mounts)
        return [folder for folder in dict.fromkeys(trees) if folder is not None]

    def account(self) -> Usage:
        """Our folder's: it keeps what groups removed from it have used."""
        return self.base.usage()

    def machine_s(self) -> float | None:
        """The root's account; None in a container, whose root is not the machine's."""
        root = self._mounts["cpuacct"]
        if not (root / "release_agent").exists():
            return None
        return read_number(root / "cpuacct.usage") * _NS

    def close(self) -> None:
        """End all and remove our folder."""
        self.base.end()


def writable_trees(mounts: Mapping[str, Path], own: Mapping[str, str]) -> dict[str, Path]:
    """For each controller the folder to build in: the process's own group, else the root."""
    found = {}
    for controller in _USED:
        root = mounts.get(controller)
        if root is None:
            continue
        for folder in (root / own.get(controller, "/").lstrip("/"), root):
            if (folder / "cgroup.procs").exists() and os.access(folder, os.W_OK):
                found[controller] = folder
                break
    return found
