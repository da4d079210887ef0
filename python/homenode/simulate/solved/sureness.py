"""How near solved cores were to simulated ones, of partitions like one's own.

Random scenarios are solved and simulated (`benches/steady/validate.py --sureness`), and their
partitions sorted by what the solver itself tells of them. What hangs on who is where for how long
is less sure than what hangs on how much is to be done: so those that lose much to cold caches count
apart, and those that are away from home where partitions have homes.
"""

from __future__ import annotations

import csv
import functools
from dataclasses import dataclass

from homenode.model.shipped import shipped_folder
from homenode.model.spec import PartitionSpec, Spec, shared_of
from homenode.simulate.answers import PartitionSolved

COLD = "cold caches"
AWAY = "away from home"
AT_HOME = "at home"
WARM = "warm caches"
KINDS = (AT_HOME, AWAY, WARM, COLD)
"""Kinds of partitions: where they have homes the first two and the last, else the last two."""
_COLD_SHARE = 0.1
"""Share of a partition's cores that refill caches from which on these count as cold."""
_AWAY_SHARE = 0.01
"""Share of its time elsewhere from which on it counts as away."""
_POLICIES = {"phyp": "PowerVM", "prsm": "PR/SM", "linux": "Linux, KVM", "credit2": "Xen, credit2"}
DEDICATED = "dedicated"
ZVM = "z/VM"
_HOMELESS = ("Linux, KVM", "Xen, credit2", ZVM)
"""Where threads have no home that fills up: home is where they were dealt out to."""
PLATFORMS = (*_POLICIES.values(), DEDICATED, ZVM)
"""Where a partition runs: under which hypervisor, on cores of its own, or under z/VM."""


@dataclass(frozen=True)
class Sureness:
    """How far partitions of a kind were off."""

    partitions: int
    """How many were compared."""
    cores: float
    """Share of the simulated cores that 95 of 100 of them were within, for the same work."""


def kind_of(platform: str | None, solved: PartitionSolved) -> str:
    """By what the solver tells of a partition, which of `KINDS` it is of."""
    if solved["books"]["reload"] > _COLD_SHARE * solved["cores"]:
        return COLD
    if platform in _HOMELESS:
        return WARM
    return AWAY if solved["by_distance"][0] < 1.0 - _AWAY_SHARE else AT_HOME


def platform_of(spec: Spec, partition: PartitionSpec) -> str | None:
    """Which of `PLATFORMS` it runs on; None under a policy of which nothing was compared."""
    if "machines" in partition["guest"]:
        return ZVM
    if shared_of(partition) is None:
        return DEDICATED
    return _POLICIES.get(spec["machine"]["hypervisor"]["policy"])


@functools.cache
def known() -> dict[tuple[str, str], Sureness]:
    """What is known, by platform and kind; kinds of which too few were met are left out."""
    path = shipped_folder("solved") / "sureness.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return {
            (row["platform"], row["kind"]): Sureness(int(row["partitions"]), float(row["cores"]))
            for row in csv.DictReader(file)
        }


def sureness(spec: Spec, partition: PartitionSpec, solved: PartitionSolved) -> Sureness | None:
    """How near partitions like this one were; None where nothing was compared, and without a steady
    state, in which it takes what it can.
    """
    platform = platform_of(spec, partition)
    if platform is None or not solved["steady"] or solved["cores"] <= 0.0:
        return None
    return known().get((platform, kind_of(platform, solved)))
