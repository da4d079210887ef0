"""What the kernel at hand is set to, as far as dispatching depends on it, and where that is told.

Everything read here is a setting, none a result. What cannot be read is the kernel's own default
for its version, which the package's numbers hold (hypervisors/linux.toml), and is said to be.
"""

from __future__ import annotations

import gzip
import platform
import re
from dataclasses import dataclass
from pathlib import Path

_VERSION = re.compile(r"(\d+)\.(\d+)")
_HZ = re.compile(r"^CONFIG_HZ=(\d+)$", re.MULTILINE)
_SLICE = re.compile(r"^se\.slice\s*:\s*(\d+)$", re.MULTILINE)
_FEATURES = {"RUN_TO_PARITY": "run_to_parity", "PLACE_LAG": "place_lag"}
EEVDF_SINCE = (6, 6)
"""Kernel with which EEVDF took the place of CFS."""
DELAY_DEQUEUE_SINCE = (6, 12)


@dataclass(frozen=True)
class Set:
    """A setting."""

    value: int | bool | str
    source: str
    """Where it was read, in words."""


@dataclass(frozen=True)
class Kernel:
    """Settings by the names of a machine file's `[hypervisor]` table."""

    release: str
    settings: dict[str, Set]
    """Times in ns. Only what was read; the rest is the package's."""
    unread: tuple[str, ...]
    """What could not be read, in words."""


def read_kernel(root: Path = Path("/"), release: str | None = None) -> Kernel:
    """The settings of the kernel that runs; `root` and `release` are for tests."""
    release = release or platform.release()
    found: dict[str, Set] = {}
    unread: list[str] = []
    version = _version(release)
    if version is not None:
        name = "eevdf" if version >= EEVDF_SINCE else "cfs"
        found["scheduler"] = Set(name, f"kernel {version[0]}.{version[1]}")
        delayed = version >= DELAY_DEQUEUE_SINCE
        found["delay_dequeue"] = Set(delayed, f"kernel {version[0]}.{version[1]}")
    _add_tick(found, unread, root, release)
    _add_slice(found, unread, root)
    bandwidth = _read(root / "proc/sys/kernel/sched_cfs_bandwidth_slice_us")
    if bandwidth.strip().isdigit():
        found["bandwidth_slice"] = Set(
            int(bandwidth) * 1000, "/proc/sys/kernel/sched_cfs_bandwidth_slice_us"
        )
    else:
        unread.append("the slice of quotas; 5 ms, the kernel's default")
    _add_debug(found, unread, root / "sys/kernel/debug/sched")
    numa = _read(root / "proc/sys/kernel/numa_balancing").strip()
    balanced = numa not in ("", "0")
    where = "/proc/sys/kernel/numa_balancing" if numa else "no such setting: off"
    found["numa_balancing.enabled"] = Set(balanced, where)
    return Kernel(release, found, tuple(unread))


def _version(release: str) -> tuple[int, int] | None:
    match = _VERSION.match(release)
    return None if match is None else (int(match[1]), int(match[2]))


def _add_tick(found: dict[str, Set], unread: list[str], root: Path, release: str) -> None:
    """CONFIG_HZ, from the kernel itself or the file that came with it."""
    for path in (root / "proc/config.gz", root / f"boot/config-{release}"):
        match = _HZ.search(_read(path))
        if match is not None:
            name = path.name.replace(release, "RELEASE")
            found["tick"] = Set(1_000_000_000 // int(match[1]), f"CONFIG_HZ of {name}")
            return
    unread.append("CONFIG_HZ (neither /proc/config.gz nor /boot/config-*); 250 is assumed")


def _add_slice(found: dict[str, Set], unread: list[str], root: Path) -> None:
    """The slice of this very process, which is the base slice unless it asked for another."""
    match = _SLICE.search(_read(root / "proc/self/sched"))
    if match is not None and int(match[1]):
        found["base_slice"] = Set(int(match[1]), "se.slice in /proc/self/sched")
    else:
        unread.append("the base slice; the kernel's rule by number of processors")


def _add_debug(found: dict[str, Set], unread: list[str], folder: Path) -> None:
    """What only debugfs tells."""
    words = _read(folder / "features").split()
    if not words:
        unread.append("features and migration cost (no debugfs); the kernel's defaults")
        return
    for feature, name in _FEATURES.items():
        if feature in words or f"NO_{feature}" in words:
            found[name] = Set(feature in words, "features in debugfs")
    cost = _read(folder / "migration_cost_ns").strip()
    if cost.isdigit():
        found["migration_cost"] = Set(int(cost), "migration_cost_ns in debugfs")


def _read(path: Path) -> str:
    """A file's text, unpacked; empty where it cannot be read."""
    try:
        data = path.read_bytes()
        return (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8", "replace")
    except (OSError, EOFError, ValueError):
        return ""
