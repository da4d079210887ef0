"""What the scheduler tells in debugfs.

Where it is not mounted, root can mount it for one child process alone: the mount ends with that
process, and nobody else ever sees it. A locked-down kernel lets nobody read the settings one by
one, but still prints its report `debug`, which holds some of them.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

NAMES = ("features", "base_slice_ns", "migration_cost_ns", "preempt", "debug")
_PLACE = "sys/kernel/debug"
_LIMIT_S = 10.0
_MOST = 65_536
"""Of the report only its head is needed; on large hosts it has megabytes [bytes]."""
_PRIVATE = """\
mount -t debugfs homenode /sys/kernel/debug || exit 1
for name in {names}; do
  echo "== $name"
  head -c {most} "/sys/kernel/debug/sched/$name" 2>/dev/null
  echo
done
"""
_MARK = re.compile(r"^== (\w+)$", re.MULTILINE)


def read_debugfs(root: Path = Path("/")) -> Mapping[str, str]:
    """Texts by name; empty where nothing can be read. `root` is for tests."""
    folder = root / _PLACE / "sched"
    found = {name: text for name in NAMES if (text := _read(folder / name))}
    if found or root != Path("/") or os.geteuid() != 0:
        return found
    return _privately()


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_MOST).decode("utf-8", "replace")
    except OSError:
        return ""


def _privately() -> Mapping[str, str]:
    script = _PRIVATE.format(names=" ".join(NAMES), most=_MOST)
    try:
        done = subprocess.run(
            ["unshare", "--mount", "sh", "-c", script],
            capture_output=True,
            check=True,
            timeout=_LIMIT_S,
            env={"LC_ALL": "C", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
        )
    except (OSError, subprocess.SubprocessError):
        return {}
    return marked(done.stdout.decode("utf-8", "replace"))


def marked(text: str) -> Mapping[str, str]:
    """The texts of what the child prints, by the names before them; empty ones are not there."""
    parts = _MARK.split(text)
    pairs = zip(parts[1::2], parts[2::2], strict=True)
    return {name: told.strip() for name, told in pairs if told.strip()}
