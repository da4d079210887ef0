"""Control groups of both versions, on trees of our own making."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import fake_groups
import pytest

from homenode.hosts.errors import MeasureError
from homenode.hosts.live import cgroups, cgroups_v2
from homenode.hosts.live.cgroups import Setting, Usage, cpu_list, parse_cpu_list
from homenode.hosts.live.cgroups_v2 import GroupsV2, places_for_groups
from homenode.hosts.live.detect import open_groups


@pytest.fixture(autouse=True)
def no_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroups, "make_folder", fake_groups.fill)
    monkeypatch.setattr(cgroups, "remove_folder", fake_groups.clear)


def text(path: Path) -> str:
    return path.read_text().strip()


def test_version_1_writes_shares_quota_and_cpuset(tmp_path: Path) -> None:
    groups = open_groups(name="ours", proc=fake_groups.v1(tmp_path))
    group = groups.make("a")
    group.set(Setting(weight=200, quota=0.5, period_us=50_000, burst_us=1000, cpus=(0, 1, 3)))
    cpu = tmp_path / "sys" / "cpu" / "ours" / "a"
    assert groups.kind == "v1"
    assert text(cpu / "cpu.shares") == "2048"
    assert text(cpu / "cpu.cfs_quota_us") == "25000"
    assert text(cpu / "cpu.cfs_period_us") == "50000"
    assert text(cpu / "cpu.cfs_burst_us") == "1000"
    assert text(tmp_path / "sys" / "cpuset" / "ours" / "a" / "cpuset.cpus") == "0-1,3"
    assert text(tmp_path / "sys" / "cpuset" / "ours" / "cpuset.mems") == "0"


@pytest.mark.parametrize("tree", [fake_groups.v1, fake_groups.v2])
def test_a_mount_point_may_have_any_name(tmp_path: Path, tree: Callable[[Path], Path]) -> None:
    """And that of somebody else may be no text."""
    root = tmp_path / "a \\ b"
    root.mkdir()
    with (tree(root) / "self" / "mounts").open("ab") as table:
        table.write(b"/dev/sdb1 /media/caf\xe9 vfat rw 0 0\n")
    groups = open_groups(name="ours", proc=root / "proc")
    assert groups.kind == tree.__name__
    assert all(root in folder.parents for folder in groups.folders())


def test_version_1_reads_its_account(tmp_path: Path) -> None:
    groups = open_groups(name="ours", proc=fake_groups.v1(tmp_path))
    group = groups.make("a")
    account = tmp_path / "sys" / "cpuacct" / "ours" / "a"
    (account / "cpuacct.usage").write_text("2000000000\n")
    # Sampled by the tick: only their ratio counts.
    (account / "cpuacct.usage_user").write_text("900000000\n")
    (account / "cpuacct.usage_sys").write_text("300000000\n")
    stat = "nr_periods 10\nnr_throttled 4\nthrottled_time 500000000\nnr_bursts 0\n"
    (tmp_path / "sys" / "cpu" / "ours" / "a" / "cpu.stat").write_text(stat)
    used = group.usage()
    assert used == Usage(2.0, 1.5, 0.5, 10, 4, 0.5)
    assert used.since(Usage(1.0, 1.0, 0.0, 4, 1, 0.25)) == Usage(1.0, 0.5, 0.5, 6, 3, 0.25)


def test_a_role_of_version_1_has_an_account_and_nothing_else(tmp_path: Path) -> None:
    groups = open_groups(name="ours", proc=fake_groups.v1(tmp_path))
    group = groups.make("a")
    role = groups.make("server", parent=group, account_only=True)
    places = {path.parent.relative_to(tmp_path / "sys").as_posix() for path in role.joins()}
    assert places == {"cpu/ours/a", "cpuacct/ours/a/server", "cpuset/ours/a"}


def test_controllers_mounted_together_give_no_role(tmp_path: Path) -> None:
    """A role would be a scheduling group there, with a share of its own."""
    groups = open_groups(name="ours", proc=fake_groups.v1(tmp_path, together=True))
    assert "roles" not in groups.can
    assert {"account", "weight", "quota", "cpuset"} <= groups.can
    assert len(groups.make("a").joins()) == 2


def test_version_1_leaves_nothing_behind(tmp_path: Path) -> None:
    groups = open_groups(name="ours", proc=fake_groups.v1(tmp_path))
    group = groups.make("a")
    groups.make("b", parent=group)
    groups.close()
    assert not list((tmp_path / "sys").glob("*/ours"))


def test_version_2_writes_weight_max_and_cpuset(tmp_path: Path) -> None:
    groups = open_groups(name="ours", proc=fake_groups.v2(tmp_path))
    base = tmp_path / "unified" / "ours"
    # The fake kernel does not hand down by itself what it is told.
    assert text(base / "cgroup.subtree_control") == "+cpuset"
    group = groups.make("a")
    group.set(Setting(weight=50, quota=1.5, cpus=(2,)))
    assert text(base / "a" / "cpu.weight") == "50"
    assert text(base / "a" / "cpu.max") == "150000 100000"
    assert text(base / "a" / "cpuset.cpus") == "2"


def test_version_2_reads_its_account(tmp_path: Path) -> None:
    groups = open_groups(name="ours", proc=fake_groups.v2(tmp_path))
    group = groups.make("a")
    stat = (
        "usage_usec 2000000\nuser_usec 1500000\nsystem_usec 500000\n"
        "nr_periods 10\nnr_throttled 4\nthrottled_usec 500000\n"
    )
    (tmp_path / "unified" / "ours" / "a" / "cpu.stat").write_text(stat)
    assert group.usage() == Usage(2.0, 1.5, 0.5, 10, 4, 0.5)


def test_version_2_builds_below_the_own_group(tmp_path: Path) -> None:
    groups = open_groups(name="ours", proc=fake_groups.v2(tmp_path, own="/user/scope"))
    assert isinstance(groups, GroupsV2)
    assert groups.base.folder == tmp_path / "unified" / "user" / "scope" / "ours"


def test_controllers_handed_down_by_us_are_known_for_taking_back(tmp_path: Path) -> None:
    groups = open_groups(name="ours", proc=fake_groups.v2(tmp_path / "root"))
    assert groups.enabled() == []
    groups = open_groups(name="ours", proc=fake_groups.v2(tmp_path / "own", own="/scope"))
    control = tmp_path / "own" / "unified" / "scope" / "cgroup.subtree_control"
    assert groups.enabled() == [(control, "cpu"), (control, "cpuset")]
    # What the place does not have is none of ours, whoever enables it later.
    proc = fake_groups.v2(tmp_path / "less", own="/scope")
    scope = tmp_path / "less" / "unified" / "scope"
    (scope / "cgroup.controllers").write_text("cpu")
    groups = open_groups(name="ours", proc=proc)
    assert groups.enabled() == [(scope / "cgroup.subtree_control", "cpu")]


def test_places_go_from_the_own_group_to_the_root(tmp_path: Path) -> None:
    fake_groups.v2(tmp_path, own="/user/scope")
    root = tmp_path / "unified"
    (root / "user" / "cgroup.procs").touch()
    places = places_for_groups(root, "/user/scope")
    assert places == [root / "user" / "scope", root / "user", root]
    assert places_for_groups(root, "/") == [root]
    assert places_for_groups(root, "/../outside") == [root]


def test_the_place_that_hands_all_down_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A login's scope holds others, so the controllers come from further up."""
    enabled = cgroups_v2.GroupV2.hand_down

    def hand_down(self: cgroups_v2.GroupV2) -> None:
        enabled(self)
        full = text(self.folder.parent / "cgroup.procs")
        given = "" if full else "cpu cpuset"
        (self.folder / "cgroup.subtree_control").write_text(given)

    monkeypatch.setattr(cgroups_v2.GroupV2, "hand_down", hand_down)
    proc = fake_groups.v2(tmp_path, own="/scope")
    scope = tmp_path / "unified" / "scope"
    (scope / "cgroup.procs").write_text("1\n2\n")
    groups = open_groups(name="ours", proc=proc)
    assert isinstance(groups, GroupsV2)
    assert groups.base.folder == tmp_path / "unified" / "ours"
    assert {"weight", "quota", "cpuset"} <= groups.can
    assert not (scope / "ours").exists()


def test_a_group_full_of_others_keeps_its_controllers(tmp_path: Path) -> None:
    """We only move ourselves out of the way, never anybody else."""
    proc = fake_groups.v2(tmp_path, own="/scope")
    scope = tmp_path / "unified" / "scope"
    (scope / "cgroup.procs").write_text("1\n2\n")
    groups = open_groups(name="ours", proc=proc)
    assert text(scope / "cgroup.procs") == "1\n2"
    assert not (scope / "ours-runner").exists()
    assert groups.kind == "v2"


def test_alone_in_a_delegated_group_we_step_aside_and_back(tmp_path: Path) -> None:
    proc = fake_groups.v2(tmp_path, own="/scope")
    scope = tmp_path / "unified" / "scope"
    (scope / "cgroup.procs").write_text(f"{os.getpid()}\n")
    groups = open_groups(name="ours", proc=proc)
    assert text(scope / "ours-runner" / "cgroup.procs") == str(os.getpid())
    groups.close()
    assert text(scope / "cgroup.procs") == str(os.getpid())
    assert not (scope / "ours-runner").exists()


def test_without_control_groups_settings_are_refused(tmp_path: Path) -> None:
    groups = open_groups(proc=fake_groups.proc(tmp_path, [], []))
    assert groups.kind == "none"
    with pytest.raises(MeasureError, match=r"does not let us set quota, weight.*Delegate=yes"):
        groups.check(Setting(weight=100, quota=0.5))
    groups.check(Setting())


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        (Setting(weight=0), "weight 0 is out of range"),
        (Setting(weight=10_001), "weight 10001 is out of range"),
        (Setting(quota=0.001), "quota of 0.001 processors is 100 us"),
        (Setting(period_us=10), "period of 10 us"),
    ],
)
def test_settings_that_the_kernel_would_refuse(setting: Setting, message: str) -> None:
    with pytest.raises(MeasureError, match=message):
        setting.check()


def test_a_refusal_of_the_kernel_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(MeasureError, match=r"refuses cpu.weight 7: No such file.*cpu\.weight"):
        cgroups.write(tmp_path / "cpu.weight", "7", what="cpu.weight")


@pytest.mark.parametrize(
    ("cpus", "written"),
    [((0,), "0"), ((0, 1, 2, 5), "0-2,5"), ((7, 3, 4), "3-4,7"), ((), "")],
)
def test_lists_of_processors(cpus: tuple[int, ...], written: str) -> None:
    assert cpu_list(cpus) == written
    assert parse_cpu_list(written) == tuple(sorted(cpus))
