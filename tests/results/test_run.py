"""Running and keeping: ids, bytes, what is in the folder, what happens when it goes wrong."""

from __future__ import annotations

import errno
import json
import re
import threading
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl
import pytest

import cell_frames
import frames
from homenode.errors import DamagedRunError, HomenodeError, NotFoundError, StoreError
from homenode.simulate.kept.store import drafting, publish
from homenode.simulate.run import Run
from homenode.simulate.runner import InterruptedRun, run_scenario
from homenode.staging import LOCK, PREFIX, hold
from homenode.tools import KeptRunView, ToolError, render

pytestmark = pytest.mark.usefixtures("fake", "here")

DIFFERS = "provenance.json"


def contents(run: Run) -> dict[str, bytes]:
    """Every file of a run but the one that may differ."""
    return {
        str(path.relative_to(run.path)): path.read_bytes()
        for path in sorted(run.path.rglob("*"))
        if path.is_file() and path.name != DIFFERS
    }


def test_a_run_folder_holds_what_it_should() -> None:
    apart, _ = frames.near_and_far()
    run = run_scenario(apart)
    assert set(contents(run)) == {
        "scenario.toml",
        "machine.json",
        "spec.json",
        "details.json",
        "summary.json",
        "replications.json",
        "intervals/partition.parquet",
        "intervals/cpu.parquet",
        "intervals/pool.parquet",
    }
    assert run.id.startswith("apart-")
    assert json.loads((run.path / "spec.json").read_text()) == apart.spec
    assert [path.name for path in Path("runs").iterdir()] == [run.id]


def test_same_job_same_id_same_bytes_however_it_was_run(fake: ModuleType) -> None:
    apart, _ = frames.near_and_far(4)
    first = run_scenario(apart, out="a", jobs=1)
    fake.BATCH_INTERVALS = 7
    second = run_scenario(apart, out="b", jobs=4)
    assert first.id == second.id
    assert contents(first) == contents(second)


def test_seed_and_replications_are_part_of_the_id() -> None:
    apart, _ = frames.near_and_far()
    ids = {
        run_scenario(apart).id,
        run_scenario(apart, seed=2).id,
        run_scenario(apart, replications=1).id,
    }
    assert len(ids) == 3


def test_running_again_replaces_the_folder() -> None:
    apart, _ = frames.near_and_far()
    run_scenario(apart)
    run_scenario(apart)
    assert len(list(Path("runs").iterdir())) == 1


def test_tables_hold_all_rows_in_order_of_replication() -> None:
    apart, _ = frames.near_and_far(3)
    run = run_scenario(apart)
    rows = run.intervals("partition")
    assert rows.columns[:3] == ["replication", "time_ns", "partition"]
    assert rows.height == 3 * 20 * 2
    assert rows["replication"].is_sorted()
    assert rows["partition"].unique().sort().to_list() == ["one", "two"]
    assert run.intervals("cpu").height == 3 * 20 * 64
    assert run.intervals("pool")["pool"].unique().to_list() == ["DefaultPool"]


def test_metrics_agree_with_the_rows() -> None:
    apart, _ = frames.near_and_far(3)
    run = run_scenario(apart)
    busy = run.intervals().filter(pl.col("partition") == "one")["busy_ns"].sum()
    assert run.metrics["one"]["physc"].mean == pytest.approx(busy / (3 * 20e9))
    books = sum(run.breakdown("one").cores.values())
    assert books == pytest.approx(run.metrics["one"]["physc"].mean)


def test_a_single_replication_has_intervals_from_batches() -> None:
    apart, _ = frames.near_and_far()
    metrics = run_scenario(apart, replications=1).metrics["one"]
    assert metrics["physc"].ci95 is not None
    assert metrics["physc"].ci95 > 0
    assert metrics["response_ms_p95"].mean == 90.0
    assert metrics["response_ms_p95"].ci95 is None


def test_percentages_add_up_below_the_entitlement() -> None:
    small = frames.frame(frames.partition("calm", 0, rate=10.0))
    metrics = run_scenario(frames.Frozen(small)).metrics["calm"]
    shares = [metrics[name].mean for name in ("user_pct", "sys_pct", "wait_pct", "idle_pct")]
    assert sum(shares) == pytest.approx(100.0)  # type: ignore[arg-type]
    assert metrics["idle_pct"].mean > 90  # type: ignore[operator]


def test_without_a_steady_state_there_is_no_mean() -> None:
    tipped = frames.frame(frames.partition("full", 0, virtual=5), name="tipped")
    run = run_scenario(frames.Frozen(tipped, 2))
    reason = run.unsteady_reason("full")
    assert reason == "all 5 virtual processors are always busy"
    for name in ("etr_per_s", "response_ms_mean", "response_ms_p99", "cpu_per_tx_us"):
        assert run.metrics["full"][name].mean is None
        assert reason in str(run.metrics["full"][name].reason)
        assert run.values("full", name) == []
    assert run.metrics["full"]["physc"].mean == pytest.approx(5.0, rel=0.01)
    told = run.summary["partitions"]["full"]["response_ms_mean"]
    assert told == {"mean": None, "ci95": None, "reason": f"no steady state: {reason}"}


def test_one_replication_without_a_steady_state_has_no_intervals() -> None:
    both = frames.frame(
        frames.partition("full", 0, virtual=5), frames.partition("calm", 1, rate=10.0)
    )
    alone, several = (run_scenario(frames.Frozen(both, count)) for count in (1, 2))
    assert alone.unsteady_reason("full") is not None
    assert alone.unsteady_reason("calm") is None
    of = {name: alone.metrics[name] for name in ("full", "calm")}
    assert all(one.ci95 is None for one in of["full"].values())
    assert of["full"]["physc"].mean is not None
    assert of["calm"]["physc"].ci95 is not None
    # Several replications are independent of each other, whatever happens within them.
    assert several.metrics["full"]["physc"].ci95 is not None


def test_threads_and_processors_by_number() -> None:
    run = run_scenario(frames.near_and_far()[0])
    thread = run.metric("one", "cpu3_pct").mean
    processor = run.metric("one", "proc1_pct").mean
    assert thread is not None
    assert processor == pytest.approx(2 * thread)
    assert run.metric("one", "cpu_rank1_pct").mean == pytest.approx(thread)
    with pytest.raises(NotFoundError, match="has no cpu 99"):
        run.metric("one", "cpu99_pct")


def test_progress_is_told_and_ends_at_one(fake: ModuleType) -> None:
    fake.PAUSE_S = 0.02
    shares: list[float] = []
    run_scenario(frames.near_and_far()[0], progress=lambda share, _left: shares.append(share))
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_ctrl_c_keeps_finished_replications(fake: ModuleType) -> None:
    """One thread, four replications: the second has begun when it comes."""
    fake.STANDS_IN = 1

    def interrupt(share: float, _left: float | None) -> None:
        if share > 0.25:
            raise KeyboardInterrupt

    scenario = frames.near_and_far(4)[0]
    with pytest.raises(InterruptedRun) as stopped:
        run_scenario(scenario, jobs=1, progress=interrupt)
    assert stopped.value.finished == 1
    assert "1 of 4 replications had finished" in str(stopped.value)
    kept = stopped.value.run
    assert kept is not None
    asked_for_one = run_scenario(scenario, replications=1, out="again")
    assert kept.id == asked_for_one.id
    assert contents(kept) == contents(asked_for_one)


def test_stopped_before_anything_finished_leaves_nothing() -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(InterruptedRun, match="nothing to keep"):
        run_scenario(frames.near_and_far()[0], stop=stop)
    assert list(Path("runs").iterdir()) == []


def test_a_full_disk_is_one_message_and_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    from homenode.simulate.runner import interval_files as tables

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tables.PartWriter, "add", full)
    with pytest.raises(StoreError, match=r"runs: No space left on device; .* --out \(nothing"):
        run_scenario(frames.near_and_far()[0])
    assert list(Path("runs").iterdir()) == []


def test_an_out_folder_that_is_a_file() -> None:
    Path("taken").write_text("")
    with pytest.raises(StoreError, match="cannot write results into taken"):
        run_scenario(frames.near_and_far()[0], out="taken")


def test_what_a_killed_process_left_is_swept() -> None:
    left = Path("runs", f"{PREFIX}left")
    (left / "run" / "intervals").mkdir(parents=True)
    hold(left / LOCK).close()
    run_scenario(frames.near_and_far()[0])
    assert not left.exists()


def test_a_run_that_another_process_makes_is_left_alone() -> None:
    """Of whatever process id: only who holds the lock counts."""
    with drafting(Path("runs")) as draft:
        (draft / "half").write_text("")
        run_scenario(frames.near_and_far()[0])
        assert (draft / "half").exists()
    assert len(list(Path("runs").iterdir())) == 1


def test_a_refused_spec_is_told() -> None:
    apart = frames.near_and_far()[0]
    apart.spec["duration_ns"] = 0
    with pytest.raises(HomenodeError, match="scenario apart: the duration is 0 ns"):
        run_scenario(apart)


@pytest.mark.parametrize(("replications", "seed"), [(0, None), (None, -1), (None, 2**64)])
def test_absurd_numbers_are_refused(replications: int | None, seed: int | None) -> None:
    with pytest.raises(HomenodeError):
        run_scenario(frames.near_and_far()[0], replications=replications, seed=seed)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"seed": 1.5}, "seed = 1.5 is not a whole number"),
        ({"replications": True}, "replications = True is not a whole number"),
        ({"jobs": "a"}, "jobs = 'a' is not a whole number"),
        ({"jobs": 0}, "jobs = 0: a run takes a thread at least"),
    ],
)
def test_options_of_a_wrong_kind_are_told_by_their_names(given: dict[str, Any], told: str) -> None:
    with pytest.raises(HomenodeError, match=re.escape(told)):
        run_scenario(frames.near_and_far()[0], **given)


def test_runs_are_found_by_many_names() -> None:
    apart, together = frames.near_and_far()
    first, second = run_scenario(apart), run_scenario(together)
    assert Run.load().id in {first.id, second.id}
    assert Run.load(first.id).id == first.id
    assert Run.load("apart").id == first.id
    assert Run.load(second.id[:-2]).id == second.id
    assert Run.load(first.path).id == first.id
    with pytest.raises(NotFoundError, match=f"did you mean {first.id}"):
        Run.load(first.id.replace("a", "e", 1))


def test_no_run_at_all() -> None:
    with pytest.raises(NotFoundError, match="runs holds none"):
        Run.load()


def test_partitions_are_found_or_named() -> None:
    run = run_scenario(frames.near_and_far()[0])
    with pytest.raises(NotFoundError, match=r"has 2 partitions; name one of one, two"):
        run.partition(None)
    with pytest.raises(NotFoundError, match="no partition onne; did you mean one"):
        run.partition("onne")
    with pytest.raises(NotFoundError, match="no metric phisc; did you mean physc"):
        run.metric("one", "phisc")


@pytest.mark.parametrize(
    ("name", "damage", "told"),
    [
        ("summary.json", "{", "summary.json is damaged: Expecting property name"),
        ("summary.json", "{}", "summary.json is damaged: it has 2 bytes"),
        ("details.json", "null", "details.json is damaged: it has 4 bytes"),
        ("provenance.json", "[]", "does not say how the files were written"),
        ("spec.json", None, "spec.json is missing"),
        ("provenance.json", "\udcff", "cannot be read"),
        ("intervals/cpu.parquet", "PAR1", "cpu.parquet is damaged"),
        ("intervals/pool.parquet", None, "pool.parquet is missing"),
    ],
)
def test_a_damaged_folder_says_which_file(name: str, damage: str | None, told: str) -> None:
    run = run_scenario(frames.near_and_far()[0])
    path = run.path / name
    if damage is None:
        path.unlink()
    else:
        path.write_bytes(damage.encode("utf-8", "surrogateescape"))
    with pytest.raises(DamagedRunError, match=f"{told}.*run the scenario again"):
        Run.load(run.id)
    assert Run.all() == []


@pytest.mark.parametrize("name", ["summary.json", "spec.json", "intervals/partition.parquet"])
def test_a_changed_byte_is_seen(name: str) -> None:
    run = run_scenario(frames.near_and_far()[0])
    path = run.path / name
    content = bytearray(path.read_bytes())
    place = content.rindex(b"0") if name.endswith(".json") else len(content) // 3
    content[place] ^= 1
    path.write_bytes(content)
    with pytest.raises(DamagedRunError, match="is not what was written; run the scenario again"):
        Run.load(run.id).intervals("partition")


def test_damaged_folders_are_told_apart() -> None:
    run = run_scenario(frames.near_and_far()[0])
    (run.path / "spec.json").unlink()
    damaged: list[DamagedRunError] = []
    assert Run.all("runs", damaged) == []
    assert "spec.json is missing" in str(damaged[0])


def test_publishing_gives_way_to_a_run_that_was_quicker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process renames the same run between our two steps."""
    stage = tmp_path / "stage"
    final, ours, theirs = tmp_path / "run", stage / "ours", stage / "theirs"
    for folder in (final, ours, theirs):
        folder.mkdir(parents=True)
        (folder / "file").write_text(folder.name)
    rename = Path.rename

    def slow(self: Path, target: Path) -> Path:
        if self == ours and theirs.exists():
            rename(theirs, final)
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", slow)
    publish(ours, final)
    assert (final / "file").read_text() == "ours"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run", "stage"]


def test_a_second_ctrl_c_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pressed once while the replications run and again while they come to their end."""
    from homenode.simulate.runner import simulate

    presses = iter([True, False])

    def impatient(futures: object, **_: object) -> object:
        if next(presses):
            raise KeyboardInterrupt
        return wait(futures)  # type: ignore[arg-type]

    wait = simulate.wait
    monkeypatch.setattr(simulate, "wait", impatient)
    simulate.wait_out([])
    assert next(presses, None) is None


def test_tools_of_aix_refuse_another_guest_by_name() -> None:
    memory = [{"domains": [0], "bytes": 1 << 30}]
    run = run_scenario(frames.Frozen(cell_frames.frame(cell_frames.partition("jbb", [0], memory))))
    with pytest.raises(ToolError, match=r"partition jbb of run cells-\w+ runs HP-UX: lparstat"):
        render("lparstat", KeptRunView(run), ["-p", "jbb", "1", "1"])
