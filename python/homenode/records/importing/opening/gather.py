"""Files, folders and archives to single files and dumps, each once, in the order of their names.

Archives and compressed files within others are opened too, as deep as the limits allow.
"""

from __future__ import annotations

import os
import posixpath
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Self

from homenode.errors import NotFoundError, Where, nearest
from homenode.records.importing.opening.archives import (
    Member,
    Readable,
    is_tar,
    is_zip,
    tar_members,
    zip_members,
)
from homenode.records.importing.opening.bounds import Limits, Meter
from homenode.records.importing.opening.contents import (
    Content,
    Inflated,
    Input,
    OnDisk,
    Store,
    beginning,
)
from homenode.records.importing.opening.sources import Left, ListingError, Notice
from homenode.records.importing.opening.streams import SUFFIXES, Note, compression
from homenode.records.importing.opening.trees import Listing, Tree, part_of, roots

_HEAD = 1 << 13
_OFFICE = re.compile(rb"\[Content_Types\]\.xml|mimetypeapplication/|_rels/|xl/|docProps/")
_TAR_SUFFIXES = {".tgz": ".tar", ".tbz": ".tar", ".tbz2": ".tar", ".txz": ".tar", ".tzst": ".tar"}
_OTHER_PACKERS = {
    b"\x1f\x9d": ("compress (.Z)", "unpack it with uncompress first"),
    b"7z\xbc\xaf\x27\x1c": ("7-Zip", "unpack it with 7z first"),
    b"Rar!": ("RAR", "unpack it with unrar first"),
    b"\x04\x22\x4d\x18": ("LZ4", "unpack it with lz4 first"),
}


@dataclass
class Gathered:
    """All single files and dumps that were given. Close it when all of them are read."""

    limits: Limits = field(default_factory=Limits)
    inputs: list[Input] = field(default_factory=list)
    trees: list[Tree] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    """Damage is found while files are read, so these grow until then."""

    def __post_init__(self) -> None:
        self._store = Store(self.limits)
        self._seen: set[tuple[int, int]] = set()
        self._members = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._store.close()

    def add_all(self, paths: Sequence[Path]) -> None:
        """Add what is at each path; `NotFoundError` if there is nothing."""
        for path in paths:
            self.add(path)

    def add(self, path: Path) -> None:
        """Add what is at a path."""
        try:
            there = path.stat()
        except FileNotFoundError:
            raise _not_there(path) from None
        except (OSError, ValueError) as failure:
            reason = getattr(failure, "strerror", None) or str(failure)
            raise ListingError(
                f"{path} cannot be read: {reason}", next_step="name a file you may read"
            ) from failure
        if stat.S_ISDIR(there.st_mode):
            self._split(_walk(path, self), str(path), 0)
        elif not stat.S_ISREG(there.st_mode):
            self.left.append(Left(str(path), "it is no regular file"))
        elif (there.st_dev, there.st_ino) in self._seen:
            self.left.append(Left(str(path), "it was given twice"))
        else:
            self._seen.add((there.st_dev, there.st_ino))
            self._file(OnDisk(path), str(path), path.name, 0)

    def single(self, tree: Tree) -> list[Input]:
        """The files of a dump one by one, for one that no reader of dumps knows."""
        inputs = []
        for path, content in sorted(tree.part.files.items()):
            try:
                inputs.append(Input(str(tree.at(path)), posixpath.basename(path), content))
            except ListingError as error:
                self.left.append(Left(str(tree.at(path)), reason(error)))
        return inputs

    def noting(self, file: str) -> Note:
        """Takes what is wrong with a file, each thing once."""

        def note(text: str) -> None:
            notice = Notice(text, Where(file))
            if notice not in self.notices:
                self.notices.append(notice)

        return note

    def count(self, file: str) -> None:
        """Count a member of a folder or archive; `ListingError` once there are too many in all."""
        self._members += 1
        if self._members > self.limits.members:
            raise _too_many(self.limits, file)

    def _file(self, content: Content, file: str, name: str, depth: int) -> None:
        """Add a file, or what it unpacks to."""
        try:
            self._unpacked(content, file, name, depth)
        except ListingError as error:
            self.left.append(Left(file, reason(error)))

    def _unpacked(self, content: Content, file: str, name: str, depth: int) -> None:
        head = beginning(content, _HEAD)
        kind = compression(head)
        if not head:
            raise ListingError("it is empty")
        if depth >= self.limits.depth and (kind or is_tar(head) or _is_archive(head)):
            raise ListingError(
                f"it lies in more than {self.limits.depth} archives within each other",
                next_step="unpack the outermost yourself",
            )
        for magic, (packer, step) in _OTHER_PACKERS.items():
            if head.startswith(magic):
                raise ListingError(f"files packed by {packer} are not read", next_step=step)
        if kind:
            plain = Inflated(content, kind, file, self.limits, self.noting(file))
            self._unpacked(plain, file, _plain_name(name, kind), depth + 1)
        elif is_tar(head) or _is_archive(head):
            before = self._count()
            self._split(self._archive(content, head, file), f"{file}:", depth + 1)
            if self._count() == before:
                raise ListingError("it holds no file that can be read")
        else:
            self.inputs.append(Input(file, name, content))

    def _count(self) -> int:
        return len(self.inputs) + len(self.trees) + len(self.left)

    def _archive(self, content: Content, head: bytes, file: str) -> Listing:
        note = self.noting(file)
        with content.open() as stream:
            if is_tar(head):
                taking = _Taking(self, file, Meter.of_members(file, self.limits))
                tar_members(stream, taking.take, note)
                return taking.listing
            meter = Meter(file, self.limits)
            with self._seekable(stream, file) as whole:
                meter.add(whole.seek(0, os.SEEK_END), 0)
                taking = _Taking(self, file, meter)
                zip_members(whole, self.limits.members, taking.take, note)
        return taking.listing

    def _seekable(self, stream: BinaryIO, file: str) -> BinaryIO:
        if stream.seekable():
            return stream
        return self._store.keep(stream, Meter.of_members(file, self.limits)).open()

    def keep(self, stream: Readable, meter: Meter) -> Content:
        """Put a member of an archive aside."""
        return self._store.keep(stream, meter)

    def _split(self, listing: Listing, before: str, depth: int) -> None:
        """Dumps and single files of a folder or archive."""
        for root in roots(listing):
            file = _below(before, root)
            self.trees.append(Tree(file, part_of(listing, root), self.limits.small))
        for path in sorted(listing.files):
            self._file(listing.files[path], _below(before, path), posixpath.basename(path), depth)


@dataclass
class _Taking:
    """Takes the members of one archive."""

    gathered: Gathered
    file: str
    meter: Meter
    listing: Listing = field(default_factory=Listing)

    def take(self, member: Member, stream: Readable | None) -> None:
        """See `archives.Each`."""
        listing, left = self.listing, self.gathered.left
        path = _clean(member.name)
        shown = _below(f"{self.file}:", member.name)
        self.gathered.count(self.file)
        if path is None:
            left.append(Left(shown, "its name leads out of the archive"))
        elif member.kind == "folder":
            listing.folders.add(path)
        elif member.kind == "link":
            listing.links[path] = member.target
        elif member.kind == "hard link":
            target = listing.files.get(_clean(member.target) or "")
            if target is None:
                left.append(Left(shown, f"it links to {member.target}, which is not there"))
            else:
                listing.files[path] = target
        elif stream is None:
            left.append(Left(shown, member.target))
        else:
            earlier = listing.files.get(path)
            listing.files[path] = self.gathered.keep(stream, self.meter)
            if earlier not in (None, listing.files[path]):
                left.append(Left(shown, "a later member has the same name; that one counts"))


def _walk(top: Path, gathered: Gathered) -> Listing:
    """Everything below a folder; links are not followed."""
    listing = Listing()
    todo = [""]
    while todo:
        folder = todo.pop()
        try:
            entries = list(os.scandir(top / folder))
        except OSError as failure:
            left = Left(_below(str(top), folder), f"it cannot be read: {failure.strerror}")
            gathered.left.append(left)
            continue
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            gathered.count(str(top))
            try:
                if _found(entry, path, listing):
                    todo.append(path)
            except (OSError, ListingError) as failure:
                why = getattr(failure, "strerror", None) or str(failure)
                gathered.left.append(Left(_below(str(top), path), why))
    return listing


def _found(entry: os.DirEntry[str], path: str, listing: Listing) -> bool:
    """Add what a folder holds; whether it is a folder itself. Raises `OSError` for what has gone
    in the meantime, `ListingError` for what is neither.
    """
    if entry.is_symlink():
        listing.links[path] = str(Path(entry.path).readlink())
    elif entry.is_dir(follow_symlinks=False):
        listing.folders.add(path)
        return True
    elif entry.is_file(follow_symlinks=False):
        listing.files[path] = OnDisk(Path(entry.path))
    else:
        raise ListingError("it is no regular file")
    return False


def _not_there(path: Path) -> NotFoundError:
    """The message for a missing file, with the nearest of its folder."""
    try:
        beside = [entry.name for entry in path.parent.iterdir()]
    except (OSError, ValueError):
        beside = []
    there = nearest(path.name, beside) if beside else "; nothing is in its folder"
    return NotFoundError(f"there is no file or folder {path}{there}")


def _too_many(limits: Limits, file: str) -> ListingError:
    return ListingError(
        f"there are more than {limits.members} files, folders and links in all",
        where=Where(file),
        next_step="name the files or folders that matter",
    )


def reason(error: ListingError) -> str:
    """What is wrong and what to do, without the place, which is shown beside it."""
    parts = (error.problem, error.asked, error.there, error.next_step)
    return "; ".join(part for part in parts if part)


def _is_archive(head: bytes) -> bool:
    """Whether it is a zip archive and no document of an office program, which is one too."""
    return is_zip(head) and not _OFFICE.search(head[:_HEAD])


def _clean(name: str) -> str | None:
    """The name of a member as a path below the root; None if it leads out of it."""
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".")]
    drive = bool(parts) and re.fullmatch("[A-Za-z]:", parts[0])
    return None if ".." in parts or name.startswith("/") or drive else "/".join(parts)


def _below(before: str, path: str) -> str:
    """A path below another as it is shown: names may hold what would move a terminal's cursor."""
    path = "".join(one if one.isprintable() else "?" for one in path)
    if before.endswith(":") or not before or not path:
        return before.removesuffix(":") if not path else f"{before}{path}"
    return str(PurePosixPath(before) / path)


def _plain_name(name: str, kind: str) -> str:
    """The name of what is in a compressed file."""
    suffix = PurePosixPath(name).suffix.lower()
    if suffix in SUFFIXES[kind]:
        return name[: -len(suffix)] + _TAR_SUFFIXES.get(suffix, "")
    return name
