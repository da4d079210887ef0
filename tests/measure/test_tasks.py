"""Accounts of tasks that come and go while they are read: each counts once, none goes missing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest

from homenode.hosts.live import tasks, taskstats
from homenode.hosts.live.cgroups import Group
from homenode.hosts.live.detect import GroupNone
from homenode.hosts.live.tasks import Ledger
from homenode.hosts.live.taskstats import Exit

MS = 1_000_000


def exit_of(tid: int, run_ms: int, *, pid: int | None = None, parent: int = 1) -> Exit:
    """A record: as many switches as milliseconds, three turns."""
    return Exit(tid, pid or tid, parent, run_ms * MS, 2 * MS, 3, run_ms, run_ms + 1)


@dataclass
class Kernel:
    """Tasks with the milliseconds that they have run, and the records that wait to be taken."""

    running: dict[int, int] = field(default_factory=dict)
    records: list[Exit] = field(default_factory=list)
    meanwhile: Callable[[], None] = lambda: None
    """What happens just before records are taken."""
    lost: bool = False

    def drain(self) -> Iterator[Exit]:
        self.meanwhile()
        taken, self.records = self.records, []
        yield from taken

    def end(self, tid: int, *, remains: bool = False, parent: int = 1) -> None:
        """It ends, a millisecond later than it was seen."""
        self.records.append(exit_of(tid, self.running[tid] + 1, parent=parent))
        if not remains:
            del self.running[tid]


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Kernel:
    made = Kernel()
    monkeypatch.setattr(taskstats.ExitRecords, "open", classmethod(lambda *_: made))
    monkeypatch.setattr(
        tasks,
        "accounts",
        lambda pids: [
            (pid, tasks._Account(made.running[pid] * MS, 2 * MS, 3, *[made.running[pid]] * 2))
            for pid in pids
        ],
    )
    return made


@pytest.fixture
def group(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> Group:
    made = GroupNone("a", None)
    monkeypatch.setattr(made, "pids", lambda: sorted(kernel.running))
    return made


@pytest.fixture
def ledger(kernel: Kernel, group: Group) -> Ledger:
    made = Ledger("0")
    made.watch(group)
    return made


def test_one_that_ends_between_the_looks_counts_once(
    kernel: Kernel, group: Group, ledger: Ledger
) -> None:
    kernel.running = {7: 100, 8: 50}
    before = ledger.totals(group)
    assert (before.run_s, before.tasks) == (pytest.approx(0.15), 2)
    kernel.meanwhile = lambda: kernel.end(7) if 7 in kernel.running else None
    during = ledger.totals(group)
    after = ledger.totals(group)
    for found in (during, after):
        assert found.run_s == pytest.approx(0.151)
        assert (found.voluntary, found.involuntary, found.tasks) == (151, 152, 2)
        assert found.run_delay_s == pytest.approx(0.004)
        assert found.complete
    assert min(vars(during.since(before)).values()) >= 0


def test_remains_are_not_counted_beside_the_kernels_word(
    kernel: Kernel, group: Group, ledger: Ledger
) -> None:
    """A task whose memory is freed is still seen after its record has come."""
    kernel.running = {7: 100}
    kernel.end(7, remains=True)
    assert [ledger.totals(group).run_s for _ in range(3)] == pytest.approx([0.101] * 3)


def test_an_id_that_is_given_again_is_another_task(
    kernel: Kernel, group: Group, ledger: Ledger
) -> None:
    for _ in range(3):
        kernel.running = {7: 100}
        ledger.look()
        kernel.end(7)
        ledger.look()
    found = ledger.totals(group)
    assert found.run_s == pytest.approx(0.303)
    assert found.tasks == 3


def test_a_child_that_nobody_saw_is_known_by_its_parent(
    kernel: Kernel, group: Group, ledger: Ledger
) -> None:
    """Its record may come before its parent is known; a stranger's never counts."""
    kernel.records = [exit_of(9, 30, parent=7), exit_of(99, 1000, parent=os.getpid())]
    ledger.look()
    kernel.running = {7: 100}
    assert ledger.totals(group).run_s == pytest.approx(0.13)


def test_what_a_group_used_stays_when_it_is_forgotten(
    kernel: Kernel, group: Group, ledger: Ledger
) -> None:
    kernel.running = {7: 100}
    ledger.look()
    kernel.end(7)
    ledger.forget(group)
    assert ledger.all_run_s() == pytest.approx(0.101)
    assert ledger.totals(group).tasks == 0
