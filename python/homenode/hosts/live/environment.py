"""What the host is, as far as it changes figures: topology, kernel, scheduler, mitigations,
governor, virtualisation, memory. Kept with every result.

Each scheduler value comes with where it was read. With `anonymous` nothing names the host, its
people or its place.
"""

from __future__ import annotations

import gzip
import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

from homenode.hosts.live import cpus
from homenode.hosts.live.cgroups import parse_cpu_list

_CPU = Path("/sys/devices/system/cpu")
_NODE = Path("/sys/devices/system/node")
_KERNEL = Path("/proc/sys/kernel")
_DEBUG = Path("/sys/kernel/debug/sched")
_EEVDF_SINCE = (6, 6)
_LSCPU_LIMIT_S = 10
_LEFT_OUT = ("Flags", "Vulnerability")
"""Of lscpu: long, or told by the kernel itself."""
_LINES = re.MULTILINE


def capture(*, anonymous: bool = False) -> dict[str, object]:
    """Everything, as plain JSON values; what the host does not tell is left out."""
    found: dict[str, object] = {
        "host": None if anonymous else platform.node(),
        "anonymous": anonymous,
        "kernel": _kernel(anonymous=anonymous),
        "processors": _processors(),
        "nodes": _nodes(),
        "scheduler": scheduler(),
        "mitigations": _folder(_CPU / "vulnerabilities"),
        "frequency": _frequency(),
        "virtualisation": virtualisation(),
        "memory": _memory(),
        "clock": _text(Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")),
        "lscpu": _lscpu(),
        "distribution": _distribution(),
        "python": platform.python_version(),
    }
    return {name: value for name, value in found.items() if value not in (None, {}, [], "")}


def _text(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError):
        return None


def _whole(path: Path) -> int | None:
    text = _text(path)
    return int(text) if text is not None and re.fullmatch(r"-?\d+", text) else None


def _folder(path: Path) -> dict[str, str]:
    if not path.is_dir():
        return {}
    return {each.name: text for each in sorted(path.iterdir()) if (text := _text(each))}


def _kernel(*, anonymous: bool) -> dict[str, object]:
    uname = platform.uname()
    release = uname.release
    if anonymous:
        # A build of one's own may carry a name behind the version.
        release = ".".join(re.findall(r"\d+", release)[:3])
    command = _text(Path("/proc/cmdline")) or ""
    names = r"isolcpus|nohz\w*|mitigations|nosmt|preempt|numa_balancing|rcu_nocbs|sched_\w+"
    return {
        "release": release,
        "architecture": uname.machine,
        "preemption": _preemption(uname.version),
        "parameters": re.findall(rf"(?:^|\s)((?:{names})(?:=\S*)?)(?=\s|$)", command),
        "transparent_huge_pages": _chosen(Path("/sys/kernel/mm/transparent_hugepage/enabled")),
    }


def _preemption(version: str) -> str | None:
    found = re.search(r"PREEMPT\w*", version)
    return found.group(0) if found else None


def _chosen(path: Path) -> str | None:
    """The word in brackets."""
    found = re.search(r"\[(\w+)\]", _text(path) or "")
    return found.group(1) if found else None


def _processors() -> dict[str, object]:
    info = _text(Path("/proc/cpuinfo")) or ""
    model = re.search(r"^(?:model name|cpu|machine)\s*:\s*(.+)$", info, re.MULTILINE)
    own = cpus.allowed()
    return {
        "model": model.group(1).strip() if model else None,
        "online": list(parse_cpu_list(_text(_CPU / "online") or "")),
        "allowed": list(own),
        "smt": _text(_CPU / "smt" / "control"),
        "threads": {str(cpu): _place(cpu) for cpu in own},
        "caches": _caches(own[0]) if own else [],
    }


def _place(cpu: int) -> dict[str, int | None]:
    folder = _CPU / f"cpu{cpu}" / "topology"
    return {
        "core": _whole(folder / "core_id"),
        "die": _whole(folder / "die_id"),
        "package": _whole(folder / "physical_package_id"),
    }


def _caches(cpu: int) -> list[dict[str, object]]:
    """Of one processor; `shared` are the logical processors that share it."""
    found: list[dict[str, object]] = []
    for folder in sorted((_CPU / f"cpu{cpu}" / "cache").glob("index*")):
        shared = parse_cpu_list(_text(folder / "shared_cpu_list") or "")
        found.append(
            {
                "level": _whole(folder / "level"),
                "type": _text(folder / "type"),
                "size": _text(folder / "size"),
                "line_bytes": _whole(folder / "coherency_line_size"),
                "shared": list(shared),
            }
        )
    return found


def _nodes() -> list[dict[str, object]]:
    found = []
    for folder in sorted(_NODE.glob("node[0-9]*")):
        total = re.search(r"MemTotal:\s*(\d+)", _text(folder / "meminfo") or "")
        found.append(
            {
                "node": int(folder.name.removeprefix("node")),
                "cpus": list(parse_cpu_list(_text(folder / "cpulist") or "")),
                "memory_kib": int(total.group(1)) if total else None,
                "distance": [int(word) for word in (_text(folder / "distance") or "").split()],
            }
        )
    return found


def scheduler() -> dict[str, dict[str, object]]:
    """The kernel's scheduler: `name: {value, source}`; times in their own unit, by name."""
    found: dict[str, dict[str, object]] = {}

    def note(name: str, value: object, source: str) -> None:
        if value not in (None, ""):
            found.setdefault(name, {"value": value, "source": source})

    major, minor = kernel_version()
    note("kernel", [major, minor], "uname")
    by_version = "eevdf" if (major, minor) >= _EEVDF_SINCE else "cfs"
    note("class", by_version, f"the kernel's version: EEVDF since {_dotted(_EEVDF_SINCE)}")
    hz, source = _hz()
    note("hz", hz, source)
    slice_ns = re.search(r"^se\.slice\s*:\s*(\d+)", _text(Path("/proc/self/sched")) or "", _LINES)
    note("base_slice_ns", slice_ns and int(slice_ns.group(1)), "/proc/self/sched, se.slice")
    for name, file in {
        "bandwidth_slice_us": "sched_cfs_bandwidth_slice_us",
        "autogroup": "sched_autogroup_enabled",
        "numa_balancing": "numa_balancing",
        "min_granularity_ns": "sched_min_granularity_ns",
        "wakeup_granularity_ns": "sched_wakeup_granularity_ns",
        "latency_ns": "sched_latency_ns",
        "migration_cost_ns": "sched_migration_cost_ns",
    }.items():
        note(name, _whole(_KERNEL / file), str(_KERNEL / file))
    if not (_KERNEL / "numa_balancing").exists():
        note("numa_balancing", 0, "not built into this kernel")
    for name in ("base_slice_ns", "min_granularity_ns", "latency_ns", "wakeup_granularity_ns"):
        note(name, _whole(_DEBUG / name), str(_DEBUG / name))
    note("migration_cost_ns", _whole(_DEBUG / "migration_cost_ns"), str(_DEBUG))
    features = _text(_DEBUG / "features")
    note("features", features and features.split(), str(_DEBUG / "features"))
    return found


def kernel_version() -> tuple[int, int]:
    """Major and minor number of the running kernel."""
    found = re.match(r"(\d+)\.(\d+)", platform.release())
    return (int(found.group(1)), int(found.group(2))) if found else (0, 0)


def _dotted(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))


def _hz() -> tuple[int | None, str]:
    """Frequency of the tick, from the kernel's own configuration."""
    for path in (Path("/proc/config.gz"), Path(f"/boot/config-{platform.release()}")):
        try:
            text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        except (OSError, EOFError):
            continue
        found = re.search(rb"^CONFIG_HZ=(\d+)", text, re.MULTILINE)
        if found:
            name = "/boot/config-*" if path.parent.name == "boot" else str(path)
            return int(found.group(1)), f"CONFIG_HZ in {name}"
    return None, ""


def _frequency() -> dict[str, object]:
    folder = _CPU / "cpufreq" / "policy0"
    found = {
        "driver": _text(folder / "scaling_driver"),
        "governor": _text(folder / "scaling_governor"),
        "least_khz": _whole(folder / "scaling_min_freq"),
        "most_khz": _whole(folder / "scaling_max_freq"),
        "boost": _whole(_CPU / "cpufreq" / "boost"),
        "no_turbo": _whole(_CPU / "intel_pstate" / "no_turbo"),
    }
    return {name: value for name, value in found.items() if value is not None}


def virtualisation() -> dict[str, object]:
    """Whether this is a guest, and whose."""
    info = _text(Path("/proc/cpuinfo")) or ""
    guest = bool(re.search(r"^flags\s*:.*\bhypervisor\b", info, re.MULTILINE))
    listing = _lscpu()
    vendor = next((v for k, v in listing.items() if k == "Hypervisor vendor"), None)
    kind = vendor or _text(Path("/sys/hypervisor/type"))
    return {"guest": guest or kind is not None, "hypervisor": kind}


def _memory() -> dict[str, int]:
    text = _text(Path("/proc/meminfo")) or ""
    wanted = {"MemTotal": "total_kib", "SwapTotal": "swap_kib", "HugePages_Total": "huge_pages"}
    pairs = re.findall(r"^(\w+):\s+(\d+)", text, re.MULTILINE)
    return {wanted[name]: int(value) for name, value in pairs if name in wanted}


def _lscpu() -> dict[str, str]:
    """What lscpu(1) says, by its own names; empty where it is not there."""
    if shutil.which("lscpu") is None:
        return {}
    try:
        done = subprocess.run(
            ["lscpu"],
            capture_output=True,
            text=True,
            check=False,
            timeout=_LSCPU_LIMIT_S,
            env={**os.environ, "LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return {}
    pairs = (line.partition(":") for line in done.stdout.splitlines())
    return {
        key.strip(): value.strip()
        for key, _, value in pairs
        if key and not key.strip().startswith(_LEFT_OUT)
    }


def _distribution() -> str | None:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME")
    except OSError:
        return None
