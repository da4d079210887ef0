"""What the kernel at hand is set to, as far as dispatching depends on it, and where that is told.

Everything read here is a setting, none a result. What cannot be read is the kernel's own default
for its version, which the package's numbers hold (hypervisors/linux.toml), and is said to be.
"""

from __future__ import annotations

import gzip
import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from homenode.judge.debugfs import read_debugfs

_VERSION = re.compile(r"(\d+)\.(\d+)")
_HZ = re.compile(r"^CONFIG_HZ=(\d+)$", re.MULTILINE)
_BUILT = re.compile(r"^CONFIG_PREEMPT(?:_(NONE|VOLUNTARY|LAZY))?=y$", re.MULTILINE)
_DYNAMIC = re.compile(r"^CONFIG_PREEMPT_DYNAMIC=y$", re.MULTILINE)
_BOOTED = re.compile(r"(?:^|\s)preempt=(none|voluntary|full|lazy)(?!\S)")
_CHOSEN = re.compile(r"\((\w+)\)")
_SLICE = re.compile(r"^se\.slice\s*:\s*(\d+)$", re.MULTILINE)
_FEATURES = {"RUN_TO_PARITY": "run_to_parity", "PLACE_LAG": "place_lag"}
_REPORTED_SLICE = re.compile(r"sysctl_sched_base_slice\s*:\s*([\d.]+)")
_REPORTED_FEATURES = re.compile(r"sysctl_sched_features\s*:\s*(\d+)")
_PLACE_LAG_BIT = 0
_PARITY_BITS = (((6, 12), 3), ((6, 6), 2))
"""Place of RUN_TO_PARITY among the features, since a version (kernel/sched/features.h)."""
_AUTOGROUPS = (
    "autogroups are on (/proc/sys/kernel/sched_autogroup_enabled): sessions in no control group of "
    "their own compete as groups; the experiments' processes are in control groups"
)
EEVDF_SINCE = (6, 6)
"""Kernel with which EEVDF took the place of CFS."""
DELAY_DEQUEUE_SINCE = (6, 12)
LAZY_SINCE = (6, 13)
REWEIGHT_SINCE, REWEIGHT_UNTIL = (6, 13), (7, 0)
"""Kernels that place a runner anew as if it came, and the first that does not."""


@dataclass(frozen=True)
class Set:
    """What a kernel setting was found to be; a time in ns."""

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
    notes: tuple[str, ...] = ()
    """What else there is that one should know, in words."""


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
        reweighs = REWEIGHT_SINCE <= version < REWEIGHT_UNTIL
        found["reweigh_in_sums"] = Set(reweighs, f"kernel {version[0]}.{version[1]}")
    configured = _configured(root, release)
    _add_tick(found, unread, configured)
    _add_slice(found, unread, root)
    bandwidth = _read(root / "proc/sys/kernel/sched_cfs_bandwidth_slice_us")
    if bandwidth.strip().isdigit():
        found["bandwidth_slice"] = Set(
            int(bandwidth) * 1000, "/proc/sys/kernel/sched_cfs_bandwidth_slice_us"
        )
    else:
        unread.append("the slice of quotas; 5 ms, the kernel's default")
    texts = read_debugfs(root)
    _add_debug(found, unread, texts, version)
    if version is not None and version >= LAZY_SINCE:
        booted = _read(root / "proc/cmdline")
        _add_preemption(found, unread, configured, (texts.get("preempt", ""), booted))
    numa = _read(root / "proc/sys/kernel/numa_balancing").strip()
    balanced = numa not in ("", "0")
    where = "/proc/sys/kernel/numa_balancing" if numa else "no such setting: off"
    found["numa_balancing.enabled"] = Set(balanced, where)
    return Kernel(release, found, tuple(unread), _notes(root))


def _notes(root: Path) -> tuple[str, ...]:
    grouped = _read(root / "proc/sys/kernel/sched_autogroup_enabled").strip()
    if grouped in ("", "0"):
        return ()
    return (_AUTOGROUPS,)


def _version(release: str) -> tuple[int, int] | None:
    match = _VERSION.match(release)
    return None if match is None else (int(match[1]), int(match[2]))


def _configured(root: Path, release: str) -> dict[str, str]:
    """What the kernel was built with, by file: its own, and the one that came with it."""
    paths = (root / "proc/config.gz", root / f"boot/config-{release}")
    return {path.name.replace(release, "RELEASE"): _read(path) for path in paths}


def _add_tick(found: dict[str, Set], unread: list[str], configured: Mapping[str, str]) -> None:
    """CONFIG_HZ, from the kernel itself or the file that came with it."""
    for name, text in configured.items():
        match = _HZ.search(text)
        if match is not None:
            found["tick"] = Set(1_000_000_000 // int(match[1]), f"CONFIG_HZ of {name}")
            return
    unread.append("CONFIG_HZ (neither /proc/config.gz nor /boot/config-*); 250 is assumed")


def _add_preemption(
    found: dict[str, Set],
    unread: list[str],
    configured: Mapping[str, str],
    texts: tuple[str, str],
) -> None:
    """Whether preemption is lazy: as it is set now, else as booted, else as built."""
    now, booted = texts
    lazy: dict[str, list[str]] = {"sched/preempt in debugfs": _CHOSEN.findall(now)}
    # Of what the kernel is started with the last word counts, if it heeds it at all.
    if any(_DYNAMIC.search(text) for text in configured.values()):
        lazy["preempt= of /proc/cmdline"] = _BOOTED.findall(booted)[-1:]
    for name, text in configured.items():
        lazy[f"CONFIG_PREEMPT of {name}"] = _BUILT.findall(text)
    for where, words in lazy.items():
        if words:
            is_lazy = words[0].lower() == "lazy"
            found["preemption"] = Set("lazy" if is_lazy else "full", where)
            return
    unread.append("how a runner is preempted; at once, as before lazy preemption")


def _add_slice(found: dict[str, Set], unread: list[str], root: Path) -> None:
    """The slice of this very process, which is the base slice unless it asked for another."""
    match = _SLICE.search(_read(root / "proc/self/sched"))
    if match is not None and int(match[1]):
        found["base_slice"] = Set(int(match[1]), "se.slice in /proc/self/sched")
    else:
        unread.append("the base slice; the kernel's rule by number of processors")


def _add_debug(
    found: dict[str, Set],
    unread: list[str],
    texts: Mapping[str, str],
    version: tuple[int, int] | None,
) -> None:
    """What only debugfs tells: the settings themselves, else the report that holds some."""
    words = texts.get("features", "").split()
    for feature, name in _FEATURES.items():
        if feature in words or f"NO_{feature}" in words:
            found[name] = Set(feature in words, "features in debugfs")
    if not words:
        _add_reported(found, texts.get("debug", ""), version)
    if not set(_FEATURES.values()) <= found.keys():
        unread.append("features (debugfs); the kernel's defaults")
    cost = texts.get("migration_cost_ns", "").strip()
    if cost.isdigit():
        found["migration_cost"] = Set(int(cost), "migration_cost_ns in debugfs")
    else:
        unread.append("the migration cost (debugfs); 0.5 ms, the kernel's default")


def _add_reported(found: dict[str, Set], report: str, version: tuple[int, int] | None) -> None:
    """Of the report `debug`: the base slice [ms] and the features, a bit each."""
    took = _REPORTED_SLICE.search(report)
    if took is not None:
        found["base_slice"] = Set(round(float(took[1]) * 1e6), "sched/debug in debugfs")
    mask = _REPORTED_FEATURES.search(report)
    parity = next((bit for since, bit in _PARITY_BITS if version and version >= since), None)
    if mask is None or parity is None:
        return
    for name, bit in (("place_lag", _PLACE_LAG_BIT), ("run_to_parity", parity)):
        found[name] = Set(bool(int(mask[1]) >> bit & 1), "sched/debug in debugfs")


def _read(path: Path) -> str:
    """A file's text, unpacked; empty where it cannot be read."""
    try:
        data = path.read_bytes()
        return (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8", "replace")
    except (OSError, EOFError, ValueError):
        return ""
