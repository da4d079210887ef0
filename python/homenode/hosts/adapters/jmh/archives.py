"""JMH's archives: fetched by Maven's own client, taken only with the sums known here."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tempfile
from pathlib import Path

from homenode.hosts.adapters.reading import quoted
from homenode.hosts.errors import MeasureError

VERSION = "1.37"
ARCHIVES = {
    f"org.openjdk.jmh:jmh-core:{VERSION}": (
        "dc0eaf2bbf0036a70b60798c785d6e03a9daf06b68b8edb0f1ba9eb3421baeb3"
    ),
    f"org.openjdk.jmh:jmh-generator-annprocess:{VERSION}": (
        "6a5604b5b804e0daca1145df1077609321687734a8b49387e49f10557c186c77"
    ),
    "net.sf.jopt-simple:jopt-simple:5.0.4": (
        "df26cc58f235f477db07f753ba5a3ab243ebe5789d9f89ecf68dd62ea9a66c28"
    ),
    "org.apache.commons:commons-math3:3.6.1": (
        "1e56d7b058d28b65abd256b8458e3885b674c1d588fa43cd7d1cbb9c7ef2b308"
    ),
}
"""Coordinates and SHA-256; the last two are what JMH itself needs to run."""
_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy"
_LIMIT_S = 300


def paths(cache: Path) -> list[Path]:
    """Where the archives lie in the adapter's cache."""
    return [cache / _file(coordinates) for coordinates in ARCHIVES]


def fetched(cache: Path) -> bool:
    """Whether all of them are there, whole."""
    return all(
        _whole(path, sum_) for path, sum_ in zip(paths(cache), ARCHIVES.values(), strict=True)
    )


def fetch(cache: Path) -> None:
    """Bring those that are not there.

    Raises `MeasureError` without Maven, without a way to its archive, or for another content.
    """
    if shutil.which("mvn") is None:
        raise MeasureError(
            f"JMH {VERSION} comes by Maven, which is not on this host",
            next_step="apt-get install maven",
        )
    cache.mkdir(parents=True, exist_ok=True)
    for coordinates, sum_ in ARCHIVES.items():
        path = cache / _file(coordinates)
        if _whole(path, sum_):
            continue
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=cache) as folder:
            _copy(coordinates, Path(folder))
            found = Path(folder, path.name)
            if not _whole(found, sum_):
                raise MeasureError(
                    f"{coordinates} is not what it was",
                    asked=f"its SHA-256 should be {sum_}",
                    there="what Maven brought has another, or is missing",
                    next_step="see which archive Maven's settings name",
                )
            found.replace(path)


def _copy(coordinates: str, folder: Path) -> None:
    argv = ["mvn", "-B", "-q", _COPY, f"-Dartifact={coordinates}", f"-DoutputDirectory={folder}"]
    try:
        done = subprocess.run(
            argv,
            capture_output=True,
            check=False,
            timeout=_LIMIT_S,
            cwd=folder,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired as error:
        raise MeasureError(
            f"Maven did not bring {coordinates} within {_LIMIT_S} s",
            next_step="see whether this host reaches Maven's archive",
        ) from error
    if done.returncode != 0:
        raise MeasureError(
            f"Maven could not bring {coordinates}",
            there=quoted(done.stdout + done.stderr),
            next_step="see whether this host reaches Maven's archive",
        )


def _file(coordinates: str) -> str:
    _, name, version = coordinates.split(":")
    return f"{name}-{version}.jar"


def _whole(path: Path, sum_: str) -> bool:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == sum_
    except OSError:
        return False
