"""Fetch the programs that judge what homenode writes, as packages of this Debian, into a folder.

    python3 tests/clients/fetch.py .tools/clients

Nothing of the system is changed and no rights are needed: apt-get works on a state of its own,
under the folder, with the sources of packages that this system has; packages are unpacked, not
installed. What cannot be had is named with the reason, on the screen and in the folder's
`missing.txt`; the tests that need it are then skipped with that reason. Such a lack is no failure,
so the exit status is 0. What is there already is not fetched again.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

POWER = "ppc64el"
HOST = "host"
"""Stands for the architecture of this system."""

_TIMEOUT_S = 300
_SCHEMAS = "/usr/share/libvirt/schemas"


@dataclass(frozen=True)
class Client:
    """A program and where it comes from: the packages with the files that are taken of each."""

    name: str
    arch: str
    program: str
    """Its path below the folder of its architecture."""
    packages: tuple[tuple[str, tuple[str, ...]], ...]


_POWER_LIBRARIES = (
    ("libc6", ("*/ld64.so.2", "*/libc.so.6")),
    ("librtas2", ("*/librtas.so.2*",)),
)
_HWLOC = (("libhwloc15", ("*/libhwloc.so.15*",)), ("libudev1", ("*/libudev.so.1*",)))
_XML = (
    ("libxml2", ("*/libxml2.so.2*",)),
    ("libicu72", ("*/libicuuc.so.*", "*/libicudata.so.*")),
    ("liblzma5", ("*/liblzma.so.5*",)),
    ("zlib1g", ("*/libz.so.1*",)),
)
_PROCPS = (
    ("libproc2-0", ("*/libproc2.so.0*",)),
    ("libsystemd0", ("*/libsystemd.so.0*",)),
)


def _power(name: str) -> Client:
    path = f"usr/sbin/{name}"
    return Client(name, POWER, path, (("powerpc-ibm-utils", (path,)), *_POWER_LIBRARIES))


CLIENTS = (
    _power("lparstat"),
    _power("vcpustat"),
    _power("ppc64_cpu"),
    Client(
        "qemu-ppc64le-static",
        HOST,
        "usr/bin/qemu-ppc64le-static",
        (("qemu-user-static", ("usr/bin/qemu-ppc64le-static",)),),
    ),
    Client(
        "lscpu",
        HOST,
        "usr/bin/lscpu",
        (("util-linux", ("usr/bin/lscpu",)), ("libsmartcols1", ("*/libsmartcols.so.1*",))),
    ),
    Client(
        "lstopo-no-graphics",
        HOST,
        "usr/bin/lstopo-no-graphics",
        (
            ("hwloc-nox", ("usr/bin/lstopo-no-graphics", "usr/bin/hwloc-ls", "usr/bin/lstopo")),
            *_HWLOC,
        ),
    ),
    Client(
        "hwloc-info",
        HOST,
        "usr/bin/hwloc-info",
        (("hwloc-nox", ("usr/bin/hwloc-info",)), *_HWLOC),
    ),
    *(
        Client(name, HOST, path, (("sysstat", (path,)),))
        for name, path in (
            ("mpstat", "usr/bin/mpstat"),
            ("pidstat", "usr/bin/pidstat"),
            ("sar.sysstat", "usr/bin/sar.sysstat"),
            ("sadc", "usr/lib/sysstat/sadc"),
        )
    ),
    Client("vmstat", HOST, "usr/bin/vmstat", (("procps", ("usr/bin/vmstat",)), *_PROCPS)),
    Client(
        "tsc.js",
        HOST,
        "usr/share/nodejs/typescript/lib/tsc.js",
        (("node-typescript", ("usr/share/nodejs/typescript/lib/*",)),),
    ),
    Client("jc", HOST, "usr/bin/jc", (("jc", ("usr/bin/jc", "usr/lib/python3/*")),)),
    Client("promtool", HOST, "usr/bin/promtool", (("prometheus", ("usr/bin/promtool",)),)),
    Client(
        "xmllint",
        HOST,
        "usr/bin/xmllint",
        (("libxml2-utils", ("usr/bin/xmllint",)), *_XML),
    ),
    Client(
        "virt-xml-validate",
        HOST,
        "usr/bin/virt-xml-validate",
        (
            ("libvirt-clients", ("usr/bin/virt-xml-validate",)),
            ("libvirt0", ("usr/share/libvirt/schemas/*.rng",)),
        ),
    ),
)


class CannotFetchError(Exception):
    """A package cannot be had; the text says why."""


class Apt:
    """apt-get for one architecture, on a state of its own."""

    def __init__(self, folder: Path, arch: str) -> None:
        self._folder = folder
        self._arch = arch
        self._ready = False
        self._trouble = ""

    def fetch(self, packages: Iterable[str]) -> None:
        """Have the packages ready, all in one go; one that is not there does not spoil the rest."""
        self._update()
        wanted = sorted(set(packages))
        if len(wanted) > 1 and not all(self._find(package) for package in wanted):
            self._download(wanted)

    def package(self, name: str) -> Path:
        """A package's file; `CannotFetchError` if there is none."""
        self._update()
        told = "" if self._find(name) else self._download([name])
        found = self._find(name)
        if found is None:
            reasons = [one for one in (_last(told) or "not there", self._trouble) if one]
            raise CannotFetchError(f"package {name} ({self._arch}): {'; '.join(reasons)}")
        return found

    def _download(self, packages: list[str]) -> str:
        return _run(["apt-get", *self._options(), "download", *packages], cwd=self._folder)

    def _find(self, package: str) -> Path | None:
        return max(self._folder.glob(f"{package}_*.deb"), default=None)

    def _update(self) -> None:
        """Read the lists of packages once. One list may be missing (a mirror at work): whether the
        packages can be had in spite of it shows when they are fetched.
        """
        if self._ready:
            return
        for name in ("state/lists/partial", "cache/archives/partial"):
            (self._folder / name).mkdir(parents=True, exist_ok=True)
        (self._folder / "status").touch()
        self._trouble = _last(_run(["apt-get", *self._options(), "update"], cwd=self._folder))
        self._ready = True

    def _options(self) -> list[str]:
        place = self._folder.resolve()
        settings = {
            "Dir::State": place / "state",
            "Dir::State::status": place / "status",
            "Dir::Cache": place / "cache",
            "APT::Architecture": self._arch,
            "APT::Architectures": self._arch,
            "APT::Sandbox::User": "",
            "Acquire::Languages": "none",
            "Acquire::Retries": 1,
            "Acquire::http::Timeout": 20,
            "Acquire::https::Timeout": 20,
        }
        return [
            "-q",
            *(word for key, value in settings.items() for word in ("-o", f"{key}={value}")),
        ]


def _run(command: list[str], cwd: Path) -> str:
    """Output and errors of a program; `CannotFetchError` if it cannot be started or hangs."""
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except FileNotFoundError as error:
        raise CannotFetchError(f"{command[0]} is not on this system (it is Debian's)") from error
    except subprocess.TimeoutExpired as error:
        raise CannotFetchError(f"{command[0]} took longer than {_TIMEOUT_S} s") from error
    return done.stdout


def _last(text: str) -> str:
    """The last line of a report that is an error, else a warning."""
    for head in ("E:", "W:"):
        found = [line for line in text.splitlines() if line.startswith(head)]
        if found:
            return found[-1]
    return ""


def unpack(package: Path, patterns: Iterable[str], target: Path) -> None:
    """Take the wanted files out of a package."""
    wanted = tuple(patterns)
    with (
        subprocess.Popen(
            ["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE
        ) as reading,
        tarfile.open(fileobj=reading.stdout, mode="r|") as archive,
    ):
        for member in archive:
            name = member.name.removeprefix("./")
            if any(fnmatch(name, pattern) for pattern in wanted) and ".." not in name:
                _take(archive, member, target / name)


def _take(archive: tarfile.TarFile, member: tarfile.TarInfo, place: Path) -> None:
    if member.isdir():
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    place.unlink(missing_ok=True)
    if member.issym():
        place.symlink_to(member.linkname)
        return
    content = archive.extractfile(member)
    if content is not None:
        place.write_bytes(content.read())
        place.chmod(member.mode)


def host_architecture() -> str:
    """As Debian calls it; `CannotFetchError` where there is no dpkg."""
    return _run(["dpkg", "--print-architecture"], cwd=Path.cwd()).strip()


def fetch_all(folder: Path, clients: Iterable[Client] = CLIENTS) -> dict[str, str]:
    """Fetch what is not there yet; the reason by client that cannot be had."""
    missing: dict[str, str] = {}
    wanted = [one for one in clients if not (folder / one.arch / one.program).is_file()]
    for arch in sorted({one.arch for one in wanted}):
        of_arch = [one for one in wanted if one.arch == arch]
        try:
            name = host_architecture() if arch == HOST else arch
            apt = Apt(folder / "apt" / arch, name)
            apt.fetch(package for one in of_arch for package, _ in one.packages)
        except (CannotFetchError, OSError) as error:
            missing |= {one.name: str(error) for one in of_arch}
            continue
        for one in of_arch:
            try:
                _unpack_client(one, apt, folder / arch)
            except (CannotFetchError, OSError, tarfile.TarError) as error:
                missing[one.name] = str(error)
    shutil.rmtree(folder / "apt", ignore_errors=True)
    return missing


def _unpack_client(client: Client, apt: Apt, target: Path) -> None:
    """Unpack a client's packages, its own last: what is there is complete."""
    for package, patterns in reversed(client.packages):
        unpack(apt.package(package), patterns, target)
    program = target / client.program
    if not program.is_file():
        raise CannotFetchError(f"package {client.packages[0][0]} holds no {client.program}")
    if client.name == "virt-xml-validate":  # a script that knows its schemas by absolute path
        text = program.read_text(encoding="utf-8")
        program.write_text(text.replace(_SCHEMAS, f"{target.resolve()}{_SCHEMAS}"), "utf-8")


def main(arguments: list[str]) -> int:
    """Fetch all into the folder that is named, and say what cannot be had."""
    folder = Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    missing = fetch_all(folder)
    lines = [f"{name}: {reason}" for name, reason in missing.items()]
    (folder / "missing.txt").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    for line in lines:
        print(f"clients: {line}; the tests that need it are skipped", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or [".tools/clients"]))
