"""Dumps of `/proc` and `/sys` as trees, with their links resolved as if the root were `/`."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from homenode.errors import Where
from homenode.records.importing.opening.contents import Content, beginning
from homenode.records.importing.opening.sources import ListingError

_MOST_LINKS = 40
_TOPS = ("sys", "proc")
_MARKS = {
    "sys": ("devices", "firmware", "hypervisor"),
    "proc": ("cpuinfo", "sysinfo", "meminfo", "stat", "interrupts", "ppc64", "powerpc"),
}
"""What stands in a dump's top folders; a folder that is only called sys is none."""


@dataclass
class Listing:
    """Everything below one folder, on disk or in an archive; by path with `/`."""

    files: dict[str, Content] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    links: dict[str, str] = field(default_factory=dict)

    def paths(self) -> Iterator[str]:
        """Paths of files, folders and links, in that order."""
        yield from self.files
        yield from self.folders
        yield from self.links

    def __len__(self) -> int:
        return len(self.files) + len(self.folders) + len(self.links)


def roots(listing: Listing) -> list[str]:
    """Folders of a listing that are the root of a dump; the outermost of those in each other."""
    found = {root for path in listing.paths() if (root := _root(path)) is not None}
    return sorted(one for one in found if not any(_inside(one, other) for other in found))


def _root(path: str) -> str | None:
    parts = path.split("/")
    for index, part in enumerate(parts[:-1]):
        if part in _TOPS and parts[index + 1] in _MARKS[part]:
            return "/".join(parts[:index])
    return None


def _inside(path: str, other: str) -> bool:
    return path != other and (not other or path.startswith(f"{other}/"))


def part_of(listing: Listing, root: str) -> Listing:
    """What stands in `sys` and `proc` below a root, by path below it; taken out of the listing."""
    before = f"{root}/" if root else ""
    part = Listing()

    def below(path: str) -> str | None:
        rest = path.removeprefix(before)
        inside = path.startswith(before) and rest.split("/", 1)[0] in _TOPS
        return rest if inside else None

    for path in [path for path in listing.files if below(path)]:
        part.files[path.removeprefix(before)] = listing.files.pop(path)
    for path in [path for path in listing.links if below(path)]:
        part.links[path.removeprefix(before)] = listing.links.pop(path)
    for path in [path for path in listing.folders if below(path)]:
        listing.folders.remove(path)
        part.folders.add(path.removeprefix(before))
    return part


class Tree:
    """A dump of `/proc` and `/sys`: the files below its root."""

    def __init__(self, file: str, part: Listing, longest: int) -> None:
        self.file = file
        """Its name in messages."""
        self.part = part
        every = set(part.folders)
        for path in part.paths():
            while path := posixpath.dirname(path):
                every.add(path)
        self._resolver = _Resolver(part, every)
        to_folders = {link for link in part.links if self._resolver.folder(link)}
        self.folders = frozenset(every | to_folders)
        """All folders, by path below the root."""
        self.files: Mapping[str, bytes] = _Files(self, self._resolver, longest)
        """Contents by path below the root, such as `sys/devices/system/cpu/online`. A symbolic link
        stands as the content of what it points to within the tree.
        """

    def at(self, path: str, line: int | None = None) -> Where:
        """A line of one of its files."""
        shown = "".join(one if one.isprintable() else "?" for one in path)
        return Where(f"{self.file}/{shown}" if self.file else shown, line)


class _Resolver:
    """Where paths lead, links followed."""

    def __init__(self, part: Listing, folders: set[str]) -> None:
        self._part, self._folders = part, folders

    def content(self, path: str) -> Content | None:
        real = self._real(path)
        return None if real is None else self._part.files.get(real)

    def folder(self, path: str) -> bool:
        real = self._real(path)
        return real is not None and (not real or real in self._folders)

    def _real(self, path: str) -> str | None:
        """The path without links; None if it leads nowhere, in circles or out of the tree."""
        todo, real, followed = path.split("/")[::-1], "", 0
        while todo:
            name = todo.pop()
            if name in ("", "."):
                continue
            if name == "..":
                real = posixpath.dirname(real)
                continue
            here = f"{real}/{name}" if real else name
            target = self._part.links.get(here)
            if target is None:
                real = here
                continue
            followed += 1
            if followed > _MOST_LINKS:
                return None
            real = "" if target.startswith("/") else real
            todo.extend(target.split("/")[::-1])
        return real


class _Files(Mapping[str, bytes]):
    """Contents by path, read when asked for."""

    def __init__(self, tree: Tree, resolver: _Resolver, longest: int) -> None:
        self._tree, self._resolver, self._longest = tree, resolver, longest
        links = tree.part.links
        self._paths = sorted({*tree.part.files, *(one for one in links if resolver.content(one))})

    def __getitem__(self, path: str) -> bytes:
        content = self._resolver.content(path)
        if content is None:
            raise KeyError(path)
        data = beginning(content, self._longest + 1)
        if len(data) > self._longest:
            raise ListingError(
                f"it is longer than {self._longest} bytes",
                where=self._tree.at(path),
                next_step="no file of a dump is; leave it out",
            )
        return data

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and self._resolver.content(path) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)
