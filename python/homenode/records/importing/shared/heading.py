"""Which table has these columns, and what those of a table of samples are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

_TIME = {"timestamp", "time", "datetime", "date", "ts", "timestamp_ms", "timestamp_s", "time_us"}
_NAME = {
    "name", "vm", "vm_name", "vmname", "host", "hostname", "partition", "lpar", "lpar_name",
    "id", "vm_id", "instance", "server", "node",
}  # fmt: skip
_CORES = {"cores", "physc", "cpu_cores", "cores_used", "cpu"}
_SHARE = {
    "cpu_pct", "cpu_percent", "cpu_usage_pct", "cpu_usage_percent", "cpu_util", "utilization",
    "utilisation", "util", "pct_cpu", "cpu_utilization", "cpu_utilisation",
}  # fmt: skip
_COUNT = {"cpu_count", "cpus", "vcpus", "vcpu", "virtual", "num_cpus"}
_SECONDS = {"seconds", "interval_s", "duration_s", "sample_s"}
_FOLDED = {"folded"}
_MEMORY = {"memory_bytes"}
_UNFOLDED = {"vps_unfolded"}
_SIGNS = re.compile(r"[^a-z0-9]+")
BEGINS = ("partition", "number", "os", "mode")
"""The first columns of the configuration of an exported run."""
_OF_TIME = ("time", "time_s", "seconds")
_OTHERS = (("partition", "metric", "unit"), ("replication", "start_ns", "end_ns"))
DELIMITERS = (";", ",", "\t", "|")


@dataclass(frozen=True)
class Heading:
    """The heading of a table of text: its columns, and which of them hold the time and the use."""

    delimiter: str
    line: int
    """Line of the heading, from 1."""
    columns: tuple[str, ...]
    """As they are written."""
    time: int
    use: int
    is_share: bool
    """Whether the use is a percentage, of the processors counted, else of one."""
    name: int | None = None
    count: int | None = None
    seconds: int | None = None
    folded: int | None = None
    memory: int | None = None
    unfolded: int | None = None

    @property
    def optional(self) -> dict[str, int]:
        """Columns of numbers besides the use, that are there."""
        names = ("count", "seconds", "folded", "memory", "unfolded")
        return {name: place for name in names if (place := getattr(self, name)) is not None}


def find_heading(text: str) -> Heading | None:
    """The heading of a table of samples, if its first line that is no comment is one."""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        delimiter = max(DELIMITERS, key=line.count)
        if not line.count(delimiter):
            return None
        words = [word.strip().strip('"') for word in line.split(delimiter)]
        return heading_of(words, delimiter, number)
    return None


def heading_of(words: Sequence[str], delimiter: str, line: int) -> Heading | None:
    """The same of headings that are told apart already."""
    plain = [_plain(word) for word in words]
    time, use = _place(plain, _TIME), _place(plain, _CORES)
    share = _place(plain, _SHARE)
    of_use = use if use is not None else share
    own = table_of(words)
    if time is None or of_use is None or own in ("configuration", "other"):
        return None
    return Heading(
        delimiter,
        line,
        tuple(words),
        time,
        of_use,
        is_share=use is None,
        name=_place(plain, _NAME),
        count=_place(plain, _COUNT),
        seconds=_place(plain, _SECONDS),
        folded=_place(plain, _FOLDED),
        memory=_place(plain, _MEMORY),
        unfolded=_place(plain, _UNFOLDED),
    )


def _plain(word: str) -> str:
    text = word.strip().lower().replace("%", " pct ")
    return _SIGNS.sub("_", text).strip("_")


def _place(words: Sequence[str], names: set[str]) -> int | None:
    return next((place for place, word in enumerate(words) if word in names), None)


def table_of(words: Sequence[str]) -> Literal["partition", "configuration", "other"] | None:
    """Which table of an exported run has these columns; None if it is of something else."""
    first = tuple(words[:4])
    if first == BEGINS:
        return "configuration"
    if first[:3] == _OF_TIME:
        others = {"cpu", "virtual_machine"}
        return "partition" if first[3:] == ("partition",) and not others & set(words) else "other"
    return "other" if first[:3] in _OTHERS else None
