"""A root folder as Linux would show it: files by path, and the forms in which Linux writes numbers
of processors.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

Files = Mapping[str, bytes]
"""Contents by path below the root folder."""

_MASK_BITS = 32


def write_tree(root: Path, files: Files) -> list[Path]:
    """Make the folder and write all files; their paths, sorted."""
    for name in sorted(files):
        place = root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(files[name])
    return sorted(root / name for name in files)


def line(value: object) -> bytes:
    """One value on a line of its own, as most files of /sys hold it."""
    return f"{value}\n".encode()


def cpu_list(numbers: Iterable[int]) -> str:
    """Numbers as ranges: `0-3,8`."""
    ranges: list[list[int]] = []
    for number in sorted(numbers):
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ",".join(f"{first}-{last}" if last > first else f"{first}" for first, last in ranges)


def cpu_mask(numbers: Iterable[int], count: int) -> str:
    """Numbers as bits of a mask for `count` processors: words of 32 bits in hexadecimal, the
    highest first; the first word has no more digits than are needed.
    """
    bits = sum(1 << number for number in set(numbers))
    words = -(-count // _MASK_BITS)
    digits = [
        f"{bits >> (_MASK_BITS * word) & 0xFFFFFFFF:08x}" for word in range(words - 1, -1, -1)
    ]
    first = -(-(count - _MASK_BITS * (words - 1)) // 4)
    return ",".join([digits[0][-first:], *digits[1:]])


def siblings(name: str, numbers: Iterable[int], count: int) -> dict[str, bytes]:
    """The two files of a set of processors: as a mask and as a list."""
    members = sorted(set(numbers))
    return {f"{name}": line(cpu_mask(members, count)), f"{name}_list": line(cpu_list(members))}
