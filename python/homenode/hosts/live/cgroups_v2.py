"""Control groups of version 2: one tree, settings where the controllers `cpu` and `cpuset` are
handed down, the account of processor time everywhere.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from homenode.hosts.errors import MeasureError
from homenode.hosts.live import cgroups
from homenode.hosts.live.cgroups import (
    Group,
    Groups,
    Setting,
    Usage,
    cpu_list,
    read_numbers,
    read_pairs,
    write,
)

_US = 1e-6
_CONTROLLERS = ("cpu", "cpuset")


class GroupV2(Group):
    """A folder of the one tree."""

    def __init__(self, name: str, parent: Group | None, folder: Path) -> None:
        super().__init__(name, parent)
        self.folder = folder
        cgroups.make_folder(folder)

    def joins(self) -> list[Path]:
        """Its own file."""
        return [self.folder / "cgroup.procs"]

    def set(self, setting: Setting) -> None:
        """`cpu.weight`, `cpu.max`, `cpu.max.burst`, `cpuset.cpus`, `cpu.idle`."""
        if setting.weight is not None:
            write(self.folder / "cpu.weight", str(setting.weight), what="cpu.weight")
        quota = setting.quota_us()
        if quota is not None:
            write(self.folder / "cpu.max", f"{quota} {setting.period_us}", what="cpu.max")
        if setting.burst_us:
            write(self.folder / "cpu.max.burst", str(setting.burst_us), what="cpu.max.burst")
        if setting.cpus is not None:
            write(self.folder / "cpuset.cpus", cpu_list(setting.cpus), what="cpuset.cpus")
        if setting.idle:
            write(self.folder / "cpu.idle", "1", what="cpu.idle")

    def usage(self) -> Usage:
        """From `cpu.stat` [us]: processor time with the groups in it, throttling its own."""
        stat = read_pairs(self.folder / "cpu.stat")
        return Usage(
            stat.get("usage_usec", 0) * _US,
            stat.get("user_usec", 0) * _US,
            stat.get("system_usec", 0) * _US,
            stat.get("nr_periods", 0),
            stat.get("nr_throttled", 0),
            stat.get("throttled_usec", 0) * _US,
        )

    def pids(self) -> list[int]:
        """Of it and of the groups in it."""
        own = read_numbers(self.folder / "cgroup.procs")
        return [*own, *(pid for child in self.children for pid in child.pids())]

    def hand_down(self) -> None:
        """Let the groups in it have settings of their own; nothing may run in it itself."""
        for controller in _CONTROLLERS:
            _enable(self.folder, controller)

    def remove(self) -> None:
        """Remove its folder."""
        cgroups.remove_folder(self.folder)


class GroupsV2(Groups):
    """Our folder below the first place that hands down controllers, or at least lets us in."""

    kind = "v2"

    def __init__(self, place: Path, name: str) -> None:
        self._moved: Path | None = None
        self._enabled: list[str] = []
        self._place = place
        self._room_for_controllers(name)
        self.base = GroupV2(name, None, place / name)
        self.base.hand_down()
        handed = set(_words(self.base.folder / "cgroup.subtree_control"))
        can = {"account", "roles"}
        if "cpu" in handed:
            can |= {"weight", "quota"}
            # Younger than the controller: bursts since Linux 5.14, idle since 5.15.
            with _probe(self.base.folder) as probe:
                can |= {"burst"} if (probe / "cpu.max.burst").exists() else set()
                can |= {"idle"} if (probe / "cpu.idle").exists() else set()
        if "cpuset" in handed:
            can.add("cpuset")
        self.can = frozenset(can)
        missing = [controller for controller in _CONTROLLERS if controller not in handed]
        self.why_not = (
            f"the controllers {', '.join(missing)} are not handed down below {place}"
            if missing
            else ""
        )

    def _room_for_controllers(self, name: str) -> None:
        """A group that holds processes hands nothing down: where that is only ourselves, we move
        into a group beside the measured ones.
        """
        if all(c in _words(self._place / "cgroup.subtree_control") for c in _CONTROLLERS):
            return
        if read_numbers(self._place / "cgroup.procs") == [os.getpid()]:
            aside = self._place / f"{name}-runner"
            with contextlib.suppress(OSError):
                aside.mkdir(exist_ok=True)
                (aside / "cgroup.procs").write_text(str(os.getpid()))
                self._moved = aside
        for controller in _CONTROLLERS:
            there = controller in _words(self._place / "cgroup.subtree_control")
            # What is refused is not ours to take back: somebody else may enable it meanwhile.
            if not there and _enable(self._place, controller):
                self._enabled.append(controller)

    def make(self, name: str, *, parent: Group | None = None, account_only: bool = False) -> Group:
        """A group; controllers are handed down along the way, but for the account alone."""
        above = parent if isinstance(parent, GroupV2) else self.base
        if above is not self.base and not account_only:
            above.hand_down()
        return GroupV2(name, above, above.folder / name)

    def folders(self) -> list[Path]:
        """Ours; the one that we may have moved into holds the guard too, and stays."""
        return [self.base.folder]

    def enabled(self) -> list[tuple[Path, str]]:
        """Those that we hand down in the place around our folder."""
        file = self._place / "cgroup.subtree_control"
        return [(file, controller) for controller in self._enabled]

    def account(self) -> Usage:
        """Our folder's: it keeps what groups removed from it have used."""
        return self.base.usage()

    def machine_s(self) -> float | None:
        """The root's account is sampled by the tick, so it is not used."""
        return None

    def close(self) -> None:
        """End all, remove our folder, go back where we were."""
        self.base.end()
        for controller in self._enabled:
            _enable(self._place, controller, sign="-")
        if self._moved is not None:
            with contextlib.suppress(OSError):
                (self._place / "cgroup.procs").write_text(str(os.getpid()))
            cgroups.remove_folder(self._moved)


@contextlib.contextmanager
def _probe(folder: Path) -> Iterator[Path]:
    """A group to look which files there are."""
    probe = folder / "probe"
    cgroups.make_folder(probe)
    try:
        yield probe
    finally:
        cgroups.remove_folder(probe)


def _words(path: Path) -> list[str]:
    try:
        return path.read_text().split()
    except OSError:
        return []


def _enable(folder: Path, controller: str, sign: str = "+") -> bool:
    """Hand a controller down, if that is possible; whether it was."""
    if controller not in _words(folder / "cgroup.controllers"):
        return False
    try:
        write(folder / "cgroup.subtree_control", f"{sign}{controller}", what=controller)
    except MeasureError:
        return False
    return True


def places_for_groups(root: Path, own: str) -> list[Path]:
    """Where in the tree we may make groups: our own group, those around it, the root last.

    A login's own group holds processes and so hands nothing down; one around it may.
    """
    folder = root / own.strip("/")
    around = [folder, *folder.parents] if ".." not in own.split("/") else []
    wanted = [place for place in around if place != root and place.is_relative_to(root)]
    return [place for place in [*wanted, root] if _is_ours(place)]


def _is_ours(folder: Path) -> bool:
    procs = folder / "cgroup.procs"
    return procs.exists() and os.access(folder, os.W_OK) and os.access(procs, os.W_OK)
