"""What sysstat's reports have in common: the line of the system, clocks, columns after a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from homenode.tools.linux.system import LinuxSystem

DAY = "01/01/00"
"""Simulated time has no date; the clock of a run starts at midnight of a day that means nothing."""
RELEASE = "0"
"""No release of the kernel is simulated."""
AVERAGE = "Average:"
_TIME_WIDTH = 8


def system_line(system: LinuxSystem) -> str:
    """System, release, host, day, architecture, processors."""
    cpus = f"({system.cpus} CPU)"
    return f"Linux {RELEASE} ({system.name}) \t{DAY} \t_{system.architecture}_\t{cpus}"


def clock(time_ns: int) -> str:
    """HH:MM:SS."""
    seconds = time_ns // 1_000_000_000
    return f"{seconds // 3600 % 24:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"


def line(label: str, words: Iterable[str]) -> str:
    """A time, or `Average:`, then columns that bring their own widths."""
    return f"{label:<{_TIME_WIDTH}}" + "".join(words)


def wide(values: Iterable[float], width: int) -> list[str]:
    """Numbers with two decimals, each at least so wide with its gap."""
    return [f"{value:>{width}.2f}" for value in values]


def heads(names: Sequence[str], width: int) -> list[str]:
    """Their headings."""
    return [f"{name:>{width}}" for name in names]
