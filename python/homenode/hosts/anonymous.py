"""What `--anonymous` takes out of results and raw outputs: the names of the host and of its people.

Tools print them unasked: `uname -n`, a home folder in a path, the user of a connection. A name is
looked for as a whole word, so that a user called `max` also changes that word of a tool's table.
Accounts that name nobody, as root and those of services, stay.
"""

from __future__ import annotations

import contextlib
import os
import platform
import pwd
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

HOST, DOMAIN, USER = "host", "domain", "user"
"""What stands in place of a name."""
_FIRST_PERSON = 1000
"""Lower ids are of the system's own accounts (Debian Policy, 9.2.2; login.defs, UID_MIN)."""
_NOBODY = 65_534
_NO_HOSTS = {"", "localhost", "localdomain", "local", "none", "(none)"}
_BOUNDS = {
    # A host's name may have hyphens, and another host's may begin or end with it.
    HOST: (rb"(?<![\w-])", rb"(?![\w-])"),
    DOMAIN: (rb"(?<![A-Za-z0-9])", rb"(?![\w-])"),
    # A user's is often a part of other names: alice_data, alice-laptop.
    USER: (rb"(?<![A-Za-z0-9])", rb"(?![A-Za-z0-9])"),
}


class Names:
    """Names and what stands in their place; longer ones are looked for first."""

    def __init__(self, found: Iterable[tuple[str, str]]) -> None:
        words = {name: word for name, word in found if len(name.strip()) > 1}
        self._words = {os.fsencode(name).lower(): word.encode() for name, word in words.items()}
        parts = [
            _BOUNDS[word][0] + re.escape(os.fsencode(name)) + _BOUNDS[word][1]
            for name, word in sorted(words.items(), key=lambda pair: -len(pair[0]))
        ]
        self._any = re.compile(b"|".join(parts), re.IGNORECASE) if parts else None

    @classmethod
    def here(cls) -> Names:
        """Of this host and of who works on it."""
        return cls([*_people(), *_domains(), *_hosts()])

    def data(self, data: bytes) -> bytes:
        """Without the names."""
        if self._any is None:
            return data
        return self._any.sub(lambda match: self._words[match[0].lower()], data)

    def value(self, value: Any) -> Any:
        """A text, or all texts in lists and in the values of tables."""
        if isinstance(value, str):
            return self.data(value.encode("utf-8", "surrogatepass")).decode(
                "utf-8", "surrogatepass"
            )
        if isinstance(value, Mapping):
            return {key: self.value(inner) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(inner) for inner in value]
        return value

    def folder(self, folder: Path) -> None:
        """In all files below a folder."""
        for file in folder.rglob("*"):
            if file.is_file() and not file.is_symlink():
                data = file.read_bytes()
                clean = self.data(data)
                if clean != data:
                    file.write_bytes(clean)


def _hosts() -> Iterator[tuple[str, str]]:
    node = platform.node()
    pretty = re.search(r'^PRETTY_HOSTNAME="?(.+?)"?$', _text("/etc/machine-info"), re.MULTILINE)
    for name in {node, node.partition(".")[0], pretty[1] if pretty else ""} - _NO_HOSTS:
        yield name, HOST


def _domains() -> Iterator[tuple[str, str]]:
    """Of the node's own name, and those where the resolver looks for others (resolv.conf(5))."""
    values = [platform.node().partition(".")[2]]
    for line in _text("/etc/resolv.conf").splitlines():
        word, *found = line.split() or [""]
        values += found if word in ("search", "domain") else []
    # One label is a top-level domain or a word such as `lan` or `local`, and names nobody.
    yield from ((name.strip("."), DOMAIN) for name in values if "." in name.strip("."))


def _people() -> Iterator[tuple[str, str]]:
    """Who runs this and who became it, by login, full name and home folder."""
    for entry in _accounts():
        yield entry.pw_name, USER
        yield entry.pw_gecos.partition(",")[0], USER
        home = Path(entry.pw_dir)
        if len(home.parts) > 2:
            yield home.name, USER


def _accounts() -> Iterator[pwd.struct_passwd]:
    names = {os.environ.get(name, "") for name in ("SUDO_USER", "LOGNAME", "USER")}
    with contextlib.suppress(OSError):
        names.add(os.getlogin())
    for uid in {os.getuid(), os.geteuid()}:
        with contextlib.suppress(KeyError):
            names.add(pwd.getpwuid(uid).pw_name)
    for name in sorted(names):
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(name)
            if _FIRST_PERSON <= entry.pw_uid != _NOBODY:
                yield entry


def _text(path: str) -> str:
    try:
        return Path(path).read_text("utf-8", "replace")
    except OSError:
        return ""
