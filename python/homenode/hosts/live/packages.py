"""Which programs are there, and where those that are not come from."""

from __future__ import annotations

import glob
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from homenode.hosts.adapter import Adapter, Fetches, Need
from homenode.hosts.errors import MeasureError
from homenode.hosts.live.processes import told

BESIDE_THE_PATH = (
    "/usr/local/sbin",
    "/usr/sbin",
    "/sbin",
    "/usr/games",
    "/usr/lib/postgresql/*/bin",
    "/usr/lib/lmbench/bin/*",
    "/usr/lib/lmbench/bin",
)
"""Where Debian keeps programs that are on no user's path."""
_INSTALL_LIMIT_S = 900


def find(name: str) -> str | None:
    """Full path of a program, of the highest version where there are several."""
    on_path = shutil.which(name)
    if on_path is not None:
        return str(Path(on_path).absolute())
    for pattern in BESIDE_THE_PATH:
        for folder in sorted(glob.glob(pattern), key=_by_version, reverse=True):  # noqa: PTH207
            candidate = Path(folder, name)
            if candidate.is_file() and os.access(candidate, os.X_OK):
                return str(candidate)
    beside_python = Path(sys.executable).with_name(name)
    return str(beside_python) if os.access(beside_python, os.X_OK) else None


def _by_version(path: str) -> tuple[int, ...]:
    return tuple(int(part) for part in path.split("/") if part.isdigit())


def cache_of(adapter: str) -> Path:
    """Folder of an adapter, kept between sessions; made."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(home) / "homenode" / "measure" / adapter
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MeasureError(
            f"the cache {folder} cannot be made: {error.strerror}",
            next_step="set XDG_CACHE_HOME to a folder of yours",
        ) from error
    return folder


def missing(needs: Iterable[Need], adapter: Adapter) -> list[Need]:
    """Those that are not there."""
    return [need for need in needs if not _there(need, adapter)]


def _there(need: Need, adapter: Adapter) -> bool:
    if need.source == "maven":
        return isinstance(adapter, Fetches) and adapter.fetched(cache_of(adapter.name))
    if need.source == "pypi" and find(need.program) is None:
        from importlib.util import find_spec

        return find_spec(need.program.replace("-", "_")) is not None
    return find(need.program) is not None


def remedy(needs: Sequence[Need]) -> str:
    """What brings them, as lines for a shell."""
    lines = []
    debian = sorted({need.package for need in needs if need.source == "debian"})
    if debian:
        lines.append(f"apt-get install --no-install-recommends {' '.join(debian)}")
    pypi = sorted({_pinned(need) for need in needs if need.source == "pypi"})
    if pypi:
        lines.append(f"pip install {' '.join(pypi)}")
    if any(need.source == "maven" for need in needs):
        lines.append("homenode measure tools --install")
    return "; ".join(lines)


def _pinned(need: Need) -> str:
    return f"{need.package}=={need.version}" if need.version else need.package


def install(wanted: Sequence[tuple[Adapter, Need]]) -> list[str]:
    """Bring what is missing; what was done, a line each.

    Debian packages take root. Raises `MeasureError` with the tool's own words where one fails.
    """
    needs = [need for _, need in wanted]
    done = []
    debian = sorted({need.package for need in needs if need.source == "debian"})
    if debian:
        if os.geteuid() != 0:
            raise MeasureError(
                f"installing {', '.join(debian)} takes root",
                next_step=f"run: {remedy([n for n in needs if n.source == 'debian'])}",
            )
        quiet = {"DEBIAN_FRONTEND": "noninteractive"}
        _call(["apt-get", "install", "-y", "--no-install-recommends", *debian], quiet)
        done.append(f"installed {', '.join(debian)}")
    pypi = sorted({_pinned(need) for need in needs if need.source == "pypi"})
    if pypi:
        _call([*_python_installer(), *pypi], {})
        done.append(f"installed {', '.join(pypi)}")
    for adapter in {id(a): a for a, need in wanted if need.source == "maven"}.values():
        if isinstance(adapter, Fetches):
            adapter.fetch(cache_of(adapter.name))
            done.append(f"fetched what {adapter.name} needs into {cache_of(adapter.name)}")
    return done


def _python_installer() -> list[str]:
    """Whatever this environment installs with."""
    from importlib.util import find_spec

    if find_spec("pip") is not None:
        return [sys.executable, "-m", "pip", "install"]
    if shutil.which("uv"):
        return ["uv", "pip", "install", "--python", sys.executable]
    raise MeasureError(
        "neither pip nor uv is here to install Python packages",
        next_step="install one of them, or use another environment",
    )


def _call(argv: Sequence[str], env: dict[str, str]) -> None:
    try:
        done = subprocess.run(
            argv,
            env={**os.environ, **env},
            capture_output=True,
            timeout=_INSTALL_LIMIT_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MeasureError(f"{argv[0]}: {error}", next_step="install by hand") from error
    if done.returncode:
        raise MeasureError(
            f"{' '.join(argv[:2])} failed with code {done.returncode}",
            there=told(done.stdout + done.stderr),
            next_step=f"run it by hand: {' '.join(argv)}",
        )
