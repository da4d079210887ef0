"""How much is unpacked at most, so that a small file cannot fill a machine."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from homenode.errors import Where
from homenode.records.importing.opening.sources import ListingError

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


@dataclass(frozen=True)
class Limits:
    """Bounds of one import."""

    unpacked: int = 16 * GIB
    """Bytes that one compressed file, or all members of archives together, may come to."""
    ratio: int = 200
    """Times its size that a compressed file may come to."""
    free: int = 256 * MIB
    """Unpacked bytes up to which the ratio does not count."""
    members: int = 200_000
    """Files, folders and links in all folders and archives together."""
    depth: int = 6
    """Archives and compressed files within each other."""
    in_memory: int = 256 * MIB
    """Bytes of small members of archives that are kept in memory; others go to a nameless file."""
    small: int = 1 * MIB
    """Bytes up to which a member is small; also the longest file of a dump that is read."""


@dataclass
class Meter:
    """Counts what comes out of one compressed file, or of all archives."""

    file: str
    limits: Limits
    packed: int = field(default=0, init=False)
    unpacked: int = field(default=0, init=False)

    @classmethod
    def of_members(cls, file: str, limits: Limits) -> Meter:
        """Counts members of an archive, whose ratio counts where it is compressed itself."""
        return cls(file, replace(limits, free=limits.unpacked))

    def add(self, packed: int, unpacked: int) -> None:
        """Count; `ListingError` once it is too much."""
        self.packed += packed
        self.unpacked += unpacked
        limits = self.limits
        if self.unpacked > limits.unpacked:
            raise self._too_much(f"it unpacks to more than {_size(limits.unpacked)}")
        if self.unpacked > max(limits.free, limits.ratio * self.packed):
            raise self._too_much(
                f"it unpacks to more than {limits.ratio} times its size"
                f" ({_size(limits.free)} are always allowed)"
            )

    def _too_much(self, problem: str) -> ListingError:
        step = "if you trust it, unpack it yourself and name the unpacked file"
        return ListingError(problem, where=Where(self.file), next_step=step)


def _size(count: int) -> str:
    for unit, name in ((GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")):
        if count >= unit:
            return f"{count / unit:g} {name}"
    return f"{count} bytes"
