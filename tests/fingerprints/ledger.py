"""The file of recorded fingerprints, and how one is held against it.

A fingerprint stands on one line: sixteen digits of the SHA-256 over all its names, then a letter
for each name of its kind, in the order of the list of names, a point where it has no such name. The
digits judge; the letters, six bits each, say where to look.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from digests import Digests, whole

FILE = Path(__file__).with_name("fingerprints.json")
ABOUT = "Fingerprints of all that is simulated. `make fingerprints` compares, RECORD=1 writes."
_DIGITS = 16
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
_NONE = "."


class LedgerError(Exception):
    """A recorded file that cannot be read."""


@dataclass(frozen=True)
class Print:
    """Fingerprint of one item: of a run's summary, of its tables, of what a command prints."""

    kind: str
    """Items of a kind share a list of names."""
    digests: Digests


@dataclass(frozen=True)
class Difference:
    """An item that is not what was recorded."""

    item: str
    names: tuple[str, ...]
    """What of it moved, as far as the letters tell."""
    old: str
    new: str


@dataclass
class Ledger:
    """What was recorded: where, the names of each kind, a line for each item."""

    platform: dict[str, str] = field(default_factory=dict)
    names: dict[str, list[str]] = field(default_factory=dict)
    lines: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path = FILE) -> Ledger:
        """The recorded file; empty if there is none."""
        if not path.exists():
            return cls()
        try:
            raw: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            return cls(raw["platform"], raw["names"], raw["fingerprints"])
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise LedgerError(
                f"{path} is no record of fingerprints ({type(error).__name__}: {error}); fetch it "
                "from the repository again, or record all anew into another --file"
            ) from error

    def write(self, path: Path = FILE) -> None:
        """Write it sorted, a line an item; never half."""
        raw = {
            "about": ABOUT,
            "platform": self.platform,
            "names": dict(sorted(self.names.items())),
            "fingerprints": dict(sorted(self.lines.items())),
        }
        aside = path.with_name(f".{path.name}-{os.getpid()}")
        try:
            aside.write_text(json.dumps(raw, indent=1) + "\n", encoding="utf-8")
            aside.replace(path)
        finally:
            aside.unlink(missing_ok=True)

    def of(self, subject: str) -> dict[str, str]:
        """The lines of a subject, by item."""
        return {item: line for item, line in self.lines.items() if item.startswith(f"{subject}/")}

    def record(self, subject: str, prints: Mapping[str, Print]) -> None:
        """Put the items of a subject in place of those it had. New names go to the end of the list,
        so that the letters of other lines keep their places.
        """
        for item in self.of(subject):
            del self.lines[item]
        for item, one in sorted(prints.items()):
            names = self.names.setdefault(one.kind, [])
            names += sorted(set(one.digests) - set(names))
            letters = "".join(_letter(one.digests.get(name)) for name in names).rstrip(_NONE)
            digits = whole(one.digests, list(one.digests)).hex()[:_DIGITS]
            self.lines[item] = f"{digits} {letters}"

    def compare(self, subject: str, prints: Mapping[str, Print]) -> list[Difference]:
        """Items of a subject that are not what was recorded, or are gone."""
        found = []
        for item, line in self.of(subject).items():
            if item not in prints:
                found.append(Difference(item, ("gone",), line.partition(" ")[0], "none"))
            elif (difference := self._difference(item, line, prints[item])) is not None:
                found.append(difference)
        return found

    def gained(self, subject: str, prints: Mapping[str, Print]) -> list[str]:
        """What was not recorded: items, and names of items that were."""
        told = set()
        for item, one in prints.items():
            if item not in self.lines:
                told.add(item)
                continue
            for name in set(one.digests) - set(self._letters(item, one.kind)):
                told.add(f"{one.kind}: {name}")
        return sorted(told)

    def _difference(self, item: str, line: str, one: Print) -> Difference | None:
        letters = self._letters(item, one.kind)
        gone = [f"{name} (gone)" for name in letters if name not in one.digests]
        there = [name for name in letters if name in one.digests]
        old, new = line.partition(" ")[0], whole(one.digests, there).hex()[:_DIGITS]
        if old == new:
            return None
        moved = [name for name in there if _letter(one.digests[name]) != letters[name]]
        return Difference(item, (*moved, *gone), old, new)

    def _letters(self, item: str, kind: str) -> dict[str, str]:
        """The letter of each name that was recorded of an item."""
        letters = self.lines[item].partition(" ")[2]
        pairs = zip(self.names.get(kind, []), letters, strict=False)
        return {name: letter for name, letter in pairs if letter != _NONE}


def _letter(digest: bytes | None) -> str:
    return _NONE if digest is None else _LETTERS[digest[0] % len(_LETTERS)]
