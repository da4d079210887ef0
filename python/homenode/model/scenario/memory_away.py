"""Memory that a KVM guest has not got: what its balloon holds, and what its host has swapped out.

A profile's working set is touched evenly, so that each touch finds a page away with the share that
is away: whatever comes in, another page goes for it. A page that is away is a wait of the
transaction, as one for a disk is, and work of its own:

```text
touch ──► not in the guest (balloon)  ──► the guest's own swap device
      └─► in the guest, not on the host ──► the host's swap device
```
Of the guest's memory the host swaps out first what the work does not touch. Not modelled: what the
profile touches besides (it is taken to stay), queues at the devices, pages that come in together,
the time in which a balloon grows.
"""

from __future__ import annotations

from dataclasses import dataclass

from homenode.model.catalog.profile_model import Numbers
from homenode.model.document import Problems
from homenode.model.document.positions import Path
from homenode.model.scenario.file.host import Kvm
from homenode.model.scenario.file.workload import Idle, Transactions, Users
from homenode.model.scenario.placed import PlacedPartition
from homenode.model.spec import ProfileSpec, WorkloadSpec
from homenode.model.units import SIZE

_MOST_BURSTS = 1e6
"""Of a transaction, as the engine takes them."""


@dataclass(frozen=True)
class Away:
    """Pages that are away, as seen by a touch of the working set."""

    guest: float
    """Share that the guest itself has put on its swap device [0..1]."""
    host: float
    """Share of the rest that the host has [0..1]."""
    guest_ns: int
    host_ns: int
    """How long a page takes from either."""
    work_ns: int
    """Processor time for a page of whoever brings it in, misses of its caches and all."""

    @property
    def share(self) -> float:
        """Of touches that find a page away [0..1]."""
        return self.guest + (1.0 - self.guest) * self.host

    @property
    def from_guest(self) -> float:
        """Of the pages that are away, the share on the guest's own device [0..1]."""
        return self.guest / self.share if self.share else 0.0

    def pages(self, profile: Numbers | ProfileSpec) -> float:
        """For which a unit of work with this profile waits."""
        touches = float(profile.get("working_set_touches", 0.0))
        return float(profile["instructions_per_unit"]) * touches * self.share

    @property
    def wait_ns(self) -> float:
        """Mean time of a page that is away."""
        there = self.guest * self.guest_ns + (1.0 - self.guest) * self.host * self.host_ns
        return there / self.share if self.share else 0.0


def away_of(partition: PlacedPartition) -> Away | None:
    """What is away of a guest's data; None if all of it is there."""
    kvm = partition.table.kvm
    if kvm is None or not kvm.elsewhere:
        return None
    has = partition.memory_bytes - (kvm.balloon or 0)
    data = partition.touched_bytes
    kept = min(data, has)
    if kept <= 0:
        return None  # noted by the check
    swapped = max(0, (kvm.swapped or 0) - (has - kept))
    away = Away(
        guest=(data - kept) / data,
        host=min(1.0, swapped / kept),
        guest_ns=kvm.guest_page_in,
        host_ns=kvm.host_page_in,
        work_ns=kvm.page_in_work,
    )
    return away if away.share > 0.0 else None


def with_page_ins(
    workload: WorkloadSpec, profile: ProfileSpec, away: Away | None
) -> tuple[WorkloadSpec, ProfileSpec]:
    """A workload that waits for the pages that its transactions find away, and the work for them:
    of the guest's kernel for those on its own device, of the host for those on the host's.
    """
    if away is None or workload["kind"] not in ("transactions", "users"):
        return workload, profile
    pages = away.pages(profile)
    before = workload["bursts"] - 1.0
    waits = before + pages
    if waits <= 0.0:
        return workload, profile
    wait_ns = (before * workload["wait_ns"] + pages * away.wait_ns) / waits
    slower = workload.copy()
    slower["bursts"], slower["wait_ns"] = waits + 1.0, round(wait_ns)
    work_ns, of_guest = pages * away.work_ns, away.from_guest
    told: ProfileSpec = {**profile, "kernel_ns": work_ns * of_guest}
    return slower, {**told, "host_ns": work_ns * (1.0 - of_guest)}


def check_memory_away(partitions: tuple[PlacedPartition, ...], problems: Problems) -> None:
    """Note more than there is to take away, and work of which its price cannot be told."""
    for one in partitions:
        kvm = one.table.kvm
        if kvm is None or not kvm.elsewhere:
            continue
        path: Path = ("partition", one.row, "kvm")
        if not _fits(one, kvm, path, problems):
            continue
        away = away_of(one)
        if away is not None:
            _check_work(one, away, (*path, "balloon" if away.guest else "swapped"), problems)


def _fits(one: PlacedPartition, kvm: Kvm, path: Path, problems: Problems) -> bool:
    """Whether something of its memory is left."""
    has = one.memory_bytes - (kvm.balloon or 0)
    for key, left, amount in (
        ("balloon", one.memory_bytes, kvm.balloon),
        ("swapped", has, kvm.swapped),
    ):
        if amount is not None and amount >= left:
            there = f"{one.name} has {SIZE.format(max(left, 0))}"
            problems.add((*path, key), there=there, next_step="leave it some")
            return False
    return True


def _check_work(one: PlacedPartition, away: Away, path: Path, problems: Problems) -> None:
    """Its work waits for pages as for a disk, and says how often it touches them."""
    loads = ((one.table.workload, one.profile), *((b.table, b.profile) for b in one.beside))
    missing = f"{100 * away.share:.3g} % of its data is away"
    for load, profile in loads:
        if isinstance(load, Idle):
            continue  # it touches nothing, so that it lacks nothing
        if not isinstance(load, Transactions | Users):
            there = f"{missing}, and work of this kind waits for nothing"
            step = "take transactions or users, or leave it the memory that its data needs"
            problems.add(path, there=there, next_step=step)
            return
        if not profile.get("working_set_touches"):
            there = f"{missing}, and its profile does not say how often the work touches it"
            step = "write working_set and working_set_touches in its profile, and why"
            problems.add(path, there=there, next_step=step)
            return
        pages = away.pages(profile)
        if pages + load.bursts > _MOST_BURSTS:
            there = f"a transaction would wait for {pages:.3g} pages"
            problems.add(path, there=there, next_step="leave it more memory")
            return
