"""Root trees of Linux on Power and on IBM Z: what stands in their files, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from homenode import Run
from homenode.errors import NotFoundError
from homenode.records.exporting import ExportError, ExportOptions, export
from homenode.records.exporting.linux_power import files
from homenode.records.exporting.linux_power.live import LiveTree
from homenode.records.exporting.linux_power.state import TIMEBASE_HZ, partition_of, states
from homenode.records.exporting.root_tree import cpu_list, cpu_mask
from homenode.tools import KeptRunView, samples

SECOND = 1_000_000_000


def tree(run: Run, folder: Path, form: str, **options: object) -> Path:
    target = folder / "tree"
    export(run, form, target, ExportOptions(**options))  # type: ignore[arg-type]
    return target


def lparcfg(root: Path) -> dict[str, str]:
    first, *lines = (root / "proc/ppc64/lparcfg").read_text(encoding="utf-8").splitlines()
    assert first == "lparcfg 1.9"
    return dict(line.split("=", 1) for line in lines)


def counter(root: Path, cpu: int, name: str) -> int:
    return int((root / f"sys/devices/system/cpu/cpu{cpu}/{name}").read_text(encoding="utf-8"), 16)


@given(st.sets(st.integers(0, 200)))
def test_a_list_of_processors_reads_back(numbers: set[int]) -> None:
    found: set[int] = set()
    for part in filter(None, cpu_list(numbers).split(",")):
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    assert found == numbers


@given(st.integers(1, 200).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.integers(0, n - 1)))))
def test_a_mask_of_processors_reads_back(case: tuple[int, set[int]]) -> None:
    count, numbers = case
    words = cpu_mask(numbers, count).split(",")
    assert len(words) == -(-count // 32)
    assert all(len(word) == 8 for word in words[1:])
    bits = int("".join(words), 16)
    assert {number for number in range(count) if bits >> number & 1} == numbers


def test_masks_look_like_the_kernels() -> None:
    assert cpu_mask([16, 17, 18, 19], 64) == "00000000,000f0000"
    assert cpu_mask([0, 3], 4) == "9"
    assert cpu_list([0, 1, 2, 4, 7, 8]) == "0-2,4,7-8"
    assert cpu_list([]) == ""


def test_lparcfg_says_what_the_partition_was_given(kept: Run, tmp_path: Path) -> None:
    told = lparcfg(tree(kept, tmp_path, "linux-power", partition="shop"))
    assert told["DesEntCap"] == told["partition_entitled_capacity"] == "130"
    assert told["capacity_weight"] == "200"
    assert told["capped"] == "0"
    assert told["shared_processor_mode"] == "1"
    assert told["partition_active_processors"] == "4"
    assert told["DisWheRotPer"] == "5120000"
    assert told["system_type"] == "IBM,9117-MMC"
    assert told["entitled_memory_pool_number"] == "65535"


def test_a_capped_partition_has_no_weight(kept: Run, tmp_path: Path) -> None:
    told = lparcfg(tree(kept, tmp_path, "linux-power", partition="night"))
    assert (told["capped"], told["capacity_weight"], told["pool"]) == ("1", "0", "1")


def test_a_dedicated_partition_has_no_pool(kept: Run, tmp_path: Path) -> None:
    told = lparcfg(tree(kept, tmp_path, "linux-power", partition="database"))
    assert told["shared_processor_mode"] == "0"
    assert told["DedDonMode"] == "1"
    assert told["CapInc"] == "100"
    assert not [name for name in told if name.startswith("pool")]


@pytest.mark.parametrize("replication", [0, 1])
def test_counters_are_those_of_the_run(kept: Run, tmp_path: Path, replication: int) -> None:
    told = lparcfg(tree(kept, tmp_path, "linux-power", partition="shop", replication=replication))
    view = KeptRunView.of(kept, replication)
    (sample,) = samples(view, "shop", None, None)
    assert int(told["tbr"]) == sample.elapsed_ns * TIMEBASE_HZ // SECOND
    assert int(told["purr"]) == sample.partition["busy_ns"] * 512 // 1000
    assert int(told["pool_idle_time"]) == sample.pool["idle_ns"] * 512 // 1000
    assert int(told["dispatches"]) == sample.partition["vcsw"]


def test_a_moment_is_the_end_of_its_interval(kept: Run, tmp_path: Path) -> None:
    told = lparcfg(tree(kept, tmp_path, "linux-power", partition="shop", at_ns=1_200_000_000))
    assert int(told["tbr"]) == 1_500_000_000 * TIMEBASE_HZ // SECOND


@pytest.mark.parametrize("partition", ["shop", "night", "web", "database"])
def test_registers_of_threads_add_up(kept: Run, tmp_path: Path, partition: str) -> None:
    """PURR over all threads is that of lparcfg; what is not idle is what was used."""
    root = tree(kept, tmp_path, "linux-power", partition=partition)
    online = sorted(int(file.parent.name[3:]) for file in root.rglob("cpu*/spurr"))
    purr = sum(counter(root, cpu, "purr") for cpu in online)
    idle = sum(counter(root, cpu, "idle_purr") for cpu in online)
    assert purr == pytest.approx(int(lparcfg(root)["purr"]), rel=1e-4)
    (sample,) = samples(KeptRunView.of(kept), partition, None, None)
    used = (sample.partition["user_ns"] + sample.partition["sys_ns"]) * 512 // 1000
    assert purr - idle == pytest.approx(used, rel=1e-4)
    assert all(counter(root, cpu, "spurr") == counter(root, cpu, "purr") for cpu in online)


def test_unused_threads_keep_their_numbers(kept: Run, tmp_path: Path) -> None:
    """Two of four threads are used: Linux numbers the others as well."""
    cpu = tree(kept, tmp_path, "linux-power", partition="night") / "sys/devices/system/cpu"
    assert (cpu / "online").read_text(encoding="utf-8") == "0-1\n"
    assert (cpu / "offline").read_text(encoding="utf-8") == "2-3\n"
    assert (cpu / "cpu3/online").read_text(encoding="utf-8") == "0\n"


def test_ticks_make_lbusy(kept: Run, tmp_path: Path) -> None:
    root = tree(kept, tmp_path, "linux-power", partition="shop")
    first, *rest = (root / "proc/stat").read_text(encoding="utf-8").splitlines()
    name, *cells = first.split()
    user, nice, system, idle, wait, *others = map(int, cells)
    (sample,) = samples(KeptRunView.of(kept), "shop", None, None)
    counted = sample.partition
    assert name == "cpu"
    assert nice == sum(others) == 0
    assert user == pytest.approx(counted["ticks_user"] / 1e7, abs=0.5)
    assert system == pytest.approx(counted["ticks_sys"] / 1e7, abs=0.5)
    assert idle + wait == pytest.approx(
        (counted["ticks_idle"] + counted["ticks_wait"]) / 1e7, abs=1
    )
    per_cpu = [list(map(int, line.split()[1:])) for line in rest if line.startswith("cpu")]
    assert len(per_cpu) == 16
    assert sum(row[0] + row[2] for row in per_cpu) == pytest.approx(user + system, rel=0.02)


def test_the_same_run_gives_the_same_bytes(kept: Run, tmp_path: Path) -> None:
    one = tree(kept, tmp_path / "one", "linux-power", partition="web")
    two = tree(kept, tmp_path / "two", "linux-power", partition="web")
    names = sorted(file.relative_to(one) for file in one.rglob("*") if file.is_file())
    assert names == sorted(file.relative_to(two) for file in two.rglob("*") if file.is_file())
    assert all((one / name).read_bytes() == (two / name).read_bytes() for name in names)


def test_a_run_without_dispatches_has_no_statistics(kept_z: Run, kept: Run) -> None:
    """Which the kernel shows as a feature that is switched off."""
    partition = partition_of(kept, ExportOptions(partition="shop"))
    state = next(states(kept, partition, ExportOptions(partition="shop")))
    assert state.dispersion is not None
    bare = type(state)(state.elapsed_ns, state.counted, state.cpus, state.pool)
    assert files.statistics(partition, bare) == b"off\n"
    assert b"dispatch_dispersions" not in files.moving(partition, bare)["proc/ppc64/lparcfg"]


def test_a_tool_that_keeps_a_file_open_sees_it_change(kept: Run, tmp_path: Path) -> None:
    options = ExportOptions(partition="shop")
    root = tree(kept, tmp_path, "linux-power", partition="shop", at_ns=500_000_000)
    partition = partition_of(kept, options)
    first, second, *_ = states(kept, partition, options)
    counters = root / "sys/devices/system/cpu/cpu0/purr"
    with counters.open("rb") as kept_open, (root / "proc/stat").open("rb") as earlier:
        before = kept_open.read()
        live = LiveTree(root, partition, first)
        live.play([second])
        kept_open.seek(0)
        assert int(kept_open.read(), 16) > int(before, 16)
        assert earlier.read() == files.moving(partition, first)["proc/stat"]
    for name, content in files.moving(partition, second).items():
        assert (root / name).read_bytes() == content
    assert not [file.name for file in root.rglob("*.new")]


def test_statistics_count_from_when_they_are_asked_for(kept: Run, tmp_path: Path) -> None:
    options = ExportOptions(partition="shop")
    root = tree(kept, tmp_path, "linux-power", partition="shop", at_ns=500_000_000)
    partition = partition_of(kept, options)
    first, second, *_ = states(kept, partition, options)
    place = root / files.STATISTICS
    live = LiveTree(root, partition, first)
    assert place.read_bytes() == b"off\n"
    place.write_bytes(b"off\n1")
    live.play([second])
    totals = [int(line.split()[1]) for line in place.read_text(encoding="utf-8").splitlines()]
    assert first.dispersion is not None
    assert second.dispersion is not None
    assert totals == [second.dispersion[vp].total - first.dispersion[vp].total for vp in range(4)]
    place.write_bytes(b"0")
    live.linger(0.1)
    assert place.read_bytes() == b"off\n"


def test_a_tool_that_is_about_to_write_is_waited_for(kept: Run, tmp_path: Path) -> None:
    """It empties the file as it opens it: had the file been replaced then, what it writes would be
    in nobody's file.
    """
    options = ExportOptions(partition="shop")
    root = tree(kept, tmp_path, "linux-power", partition="shop", at_ns=500_000_000)
    partition = partition_of(kept, options)
    first, second, third, *_ = states(kept, partition, options)
    place = root / files.STATISTICS
    live = LiveTree(root, partition, first)
    place.write_bytes(b"1")
    live.play([second])
    assert place.read_bytes() != b"off\n"
    with place.open("wb", buffering=0) as tool:
        live.play([third])
        live.linger(0.1)
        tool.write(b"0")
    live.linger(0.1)
    assert place.read_bytes() == b"off\n"


def test_a_live_tree_ends_with_the_run(kept: Run, tmp_path: Path) -> None:
    with pytest.raises(ExportError, match=r"does not go on for 10 s") as raised:
        tree(kept, tmp_path, "linux-power", partition="shop", live_ns=10 * SECOND)
    assert "3.5 s are left" in str(raised.value)
    assert not (tmp_path / "tree").exists()


def test_one_partition_is_to_be_named(kept: Run, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="name one of"):
        tree(kept, tmp_path, "linux-power")


def test_each_form_has_its_machines(kept: Run, kept_z: Run, kept_hp: Run, tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="no Power server"):
        tree(kept_z, tmp_path, "linux-power", partition="shop")
    with pytest.raises(ExportError, match="no Power server"):
        tree(kept_hp, tmp_path, "linux-power", partition="shop")
    with pytest.raises(ExportError, match="no IBM Z"):
        tree(kept, tmp_path, "s390x", partition="shop")
    with pytest.raises(ExportError, match="runs z/VM") as raised:
        tree(kept_z, tmp_path, "s390x", partition="zvm")
    assert "-p shop" in str(raised.value)


def test_a_mainframes_tree_has_every_container(kept_z: Run, tmp_path: Path) -> None:
    root = tree(kept_z, tmp_path, "s390x", partition="own")
    topology = root / "sys/devices/system/cpu/cpu3/topology"
    told = {file.name: file.read_text(encoding="utf-8").strip() for file in topology.iterdir()}
    assert told["core_id"] == "1"
    assert told["thread_siblings_list"] == "2-3"
    assert told["book_siblings_list"] == told["drawer_siblings_list"] == "0-7"
    polarization = root / "sys/devices/system/cpu/cpu3/polarization"
    assert polarization.read_text(encoding="utf-8") == "vertical:high\n"
    sysinfo = (root / "proc/sysinfo").read_text(encoding="utf-8")
    assert "CPU Topology SW:      0 0 4 1 6 10" in sysinfo
