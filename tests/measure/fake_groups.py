"""Trees of control groups without a kernel: folders get the files that the kernel would make."""

from __future__ import annotations

from pathlib import Path

V1_FILES = {
    "cpu": {
        "cpu.shares": "1024",
        "cpu.cfs_quota_us": "-1",
        "cpu.cfs_period_us": "100000",
        "cpu.cfs_burst_us": "0",
        "cpu.idle": "0",
        "cpu.stat": "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n",
    },
    "cpuacct": {"cpuacct.usage": "0", "cpuacct.usage_user": "0", "cpuacct.usage_sys": "0"},
    "cpuset": {"cpuset.cpus": "", "cpuset.mems": ""},
}
V2_FILES = {
    "cpu.stat": "usage_usec 0\nuser_usec 0\nsystem_usec 0\n",
    "cgroup.controllers": "cpuset cpu memory",
    "cgroup.subtree_control": "",
    "cpu.weight": "100",
    "cpu.max": "max 100000",
    "cpu.max.burst": "0",
    "cpu.idle": "0",
    "cpuset.cpus": "",
}


def fill(folder: Path) -> None:
    """Make a group's folder as the kernel would; the tree is told by the folder's first part."""
    folder.mkdir(exist_ok=True)
    controller = str(folder).rpartition("/sys/")[2].split("/")[0]
    files = V1_FILES.get(controller, V2_FILES)
    for name, text in {"cgroup.procs": "", **files}.items():
        if not (folder / name).exists():
            (folder / name).write_text(text)


def clear(folder: Path) -> None:
    """Remove a group's folder with the files that the kernel would take along."""
    for each in folder.iterdir():
        assert each.is_file(), f"{each} is a group that was not removed before"
        each.unlink()
    folder.rmdir()


def v1(root: Path, own: str = "/", *, together: bool = False) -> Path:
    """A host of version 1; its `/proc`."""
    lines = []
    for controller in V1_FILES:
        place = root / "sys" / controller
        place.mkdir(parents=True)
        fill(place)
        (place / "cpuset.cpus").write_text("0-3")
        (place / "cpuset.mems").write_text("0")
        (place / "release_agent").write_text("")
        lines.append(f"cgroup {escaped(place)} cgroup rw,relatime,{controller} 0 0")
    if together:
        lines[1] = f"cgroup {escaped(root / 'sys' / 'cpu')} cgroup rw,relatime,cpu,cpuacct 0 0"
        for name, text in V1_FILES["cpuacct"].items():
            (root / "sys" / "cpu" / name).write_text(text)
    return proc(root, lines, [f"{n}:{c}:{own}" for n, c in enumerate(V1_FILES, start=1)])


def v2(root: Path, own: str = "/") -> Path:
    """A host of version 2; its `/proc`."""
    place = root / "unified"
    place.mkdir(parents=True)
    fill(place)
    (place / "cgroup.subtree_control").write_text("cpuset cpu")
    inner = place / own.strip("/")
    if own != "/":
        inner.mkdir(parents=True)
        fill(inner)
    return proc(root, [f"cgroup2 {escaped(place)} cgroup2 rw,relatime 0 0"], [f"0::{own}"])


def escaped(place: Path) -> str:
    """As the kernel writes a mount point, by the octal digits of what would part it."""
    return str(place).replace("\\", "\\134").replace(" ", "\\040")


def proc(root: Path, mounts: list[str], own: list[str]) -> Path:
    folder = root / "proc" / "self"
    folder.mkdir(parents=True)
    (folder / "mounts").write_text("\n".join(["proc /proc proc rw 0 0", *mounts]) + "\n")
    (folder / "cgroup").write_text("\n".join(own) + "\n")
    return root / "proc"
