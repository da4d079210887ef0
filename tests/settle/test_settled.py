"""Work told by the cores it takes: it takes them where it is told, and costs elsewhere what it
costs there.
"""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from homenode.cli import call
from homenode.errors import ScenarioError
from homenode.simulate.kept.hours import by_hour
from homenode.simulate.runner.ready import all_ready
from homenode.simulate.scenario import Scenario
from homenode.simulate.settle import work
from homenode.simulate.settle.solve import solve
from homenode.simulate.settle.work import settled
from homenode.simulate.trials import tried

LAYOUT = """
[machine]
model = "ibm-power-770"
active_cores = 16

[[partition]]
name = "db"
processors = { mode = "shared", entitlement = 2.0, virtual = 6 }
memory = "16 GiB"
home = "drawer0"
workload = { kind = "cores", profile = "oltp", use = "3.0" }

[[partition]]
name = "app"
count = 2
processors = { mode = "shared", entitlement = 1.0, virtual = 2 }
memory = "8 GiB"
workload = { kind = "transactions", rate = "100/s", profile = "oltp" }

[run]
warmup = "1 s"
duration = "6 s"
replications = 2
"""


@pytest.fixture(autouse=True)
def _nothing_found_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "_RECENT", {})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "frame.toml"
    place.write_text(LAYOUT, encoding="utf-8")
    return place


def rate(scenario: Scenario, name: str = "db") -> float:
    """Its work [instructions/s]."""
    told = next(one for one in scenario.spec()["partitions"] if one["name"] == name)["workload"]
    assert told["kind"] == "trace"
    return told["instructions_per_s"][0]


def test_it_takes_the_cores_that_are_told(path: Path, tmp_path: Path) -> None:
    run = Scenario.load(path).run(out=tmp_path / "runs")
    assert run.metric("db", "physc").mean == pytest.approx(3.0, rel=0.02)
    assert run.unsteady_reason("db") is None


def test_what_was_found_is_kept_beside_and_not_looked_for_again(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = rate(Scenario.load(path))
    beside = path.with_name("frame.work.json")
    told = json.loads(beside.read_text(encoding="utf-8"))["found"][-1]
    assert told["on"] == "the layout as stated"
    assert told["partitions"]["db"] == {"cores": [3.0], "instructions_per_s": [first]}
    monkeypatch.setattr(work, "_RECENT", {})
    monkeypatch.setattr(work, "solve", None)  # nothing may be looked for
    assert rate(Scenario.load(path)) == first


def test_without_it_the_same_is_found(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = rate(Scenario.load(path))
    path.with_name("frame.work.json").unlink()
    monkeypatch.setattr(work, "_RECENT", {})
    assert rate(Scenario.load(path)) == first


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"form": 1, "found": [{"key": 1}, 2]}'])
def test_a_damaged_file_is_no_obstacle(path: Path, content: bytes) -> None:
    path.with_name("frame.work.json").write_bytes(content)
    assert rate(Scenario.load(path)) > 0


def test_on_another_layout_the_work_stays_and_the_cores_change(path: Path, tmp_path: Path) -> None:
    """Threads spread over more processors share fewer cores: the same work takes more of them."""
    told = Scenario.load(path)
    wide = told.with_({"partition.db.processors.virtual": 12})
    assert rate(wide) == rate(told)
    used = [one.run(out=tmp_path / "runs").metric("db", "physc").mean for one in (told, wide)]
    assert used[0] is not None
    assert used[1] is not None
    assert used[1] > used[0] + 0.03


def test_other_load_of_the_neighbours_leaves_the_work(path: Path) -> None:
    told = Scenario.load(path)
    assert rate(told.with_({"partition.app.workload.rate": "200/s"})) == rate(told)


def test_more_cores_asked_for_are_found_on_the_layout_as_stated(path: Path) -> None:
    told = Scenario.load(path)
    more = told.with_({"partition.db.workload.use": 4, "partition.db.processors.virtual": 12})
    alone = told.with_({"partition.db.workload.use": 4})
    assert rate(more) == rate(alone)
    assert rate(more) > 1.2 * rate(told)


def test_a_share_is_that_of_the_layout_as_stated(path: Path) -> None:
    """Half of twelve virtual processors is not half of six: the work is that of the file."""
    path.write_text(LAYOUT.replace('use = "3.0"', 'busy = "50 %"'), encoding="utf-8")
    told = Scenario.load(path)
    assert rate(told.with_({"partition.db.processors.virtual": 12})) == rate(told)


def test_what_no_longer_fits_is_overload_not_a_fault(path: Path, tmp_path: Path) -> None:
    narrow = Scenario.load(path).with_(
        {"partition.db.processors": {"mode": "dedicated", "cores": 1}}
    )
    run = narrow.run(out=tmp_path / "runs")
    assert run.unsteady_reason("db") is not None


def test_every_point_of_a_sweep_has_the_work_of_the_layout_as_stated(path: Path) -> None:
    sweep = LAYOUT + '[sweep]\n"partition.db.processors.virtual" = [6, 12]\n'
    path.write_text(sweep, encoding="utf-8")
    rates = [rate(point) for point in Scenario.load(path).expand()]
    assert rates[0] == rates[1]


def test_the_seed_of_a_run_leaves_the_work(path: Path) -> None:
    told = Scenario.load(path)
    assert rate(told.with_({"run.seed": 99})) == rate(told)


def test_a_kept_run_stands_alone(path: Path, tmp_path: Path) -> None:
    wide = Scenario.load(path).with_({"partition.db.processors.virtual": 12})
    run = wide.run(out=tmp_path / "runs")
    path.unlink()
    path.with_name("frame.work.json").unlink()
    again = Scenario.load(run.path / "scenario.toml")
    assert rate(again) == rate(wide)
    assert again.run(out=tmp_path / "again").id == run.id


def test_a_kept_layout_can_be_changed(path: Path, tmp_path: Path) -> None:
    """What it kept is the work of its own layout, whatever a share comes to on the changed one."""
    path.write_text(LAYOUT.replace('use = "3.0"', 'busy = "50 %"'), encoding="utf-8")
    run = Scenario.load(path).run(out=tmp_path / "runs")
    again = Scenario.load(run.path / "scenario.toml")
    wide = again.with_({"partition.db.processors.virtual": 12})
    assert rate(wide) == rate(again)


def test_another_layout_as_reference(path: Path, tmp_path: Path) -> None:
    """The work that takes three cores in one layout, told in the scenario of another one."""
    moved = LAYOUT.replace('use = "3.0"', 'use = "3.0", reference = "frame.toml"')
    moved = moved.replace("virtual = 6", "virtual = 12")
    other = tmp_path / "other.toml"
    other.write_text(moved, encoding="utf-8")
    assert rate(Scenario.load(other)) == rate(Scenario.load(path))


def test_another_machine_as_reference(path: Path, tmp_path: Path) -> None:
    """A core of POWER5 does less work in a second than one of POWER7."""
    older = LAYOUT.replace('use = "3.0"', 'use = "3.0", reference = "ibm-p5-570"')
    other = tmp_path / "other.toml"
    other.write_text(older, encoding="utf-8")
    assert rate(Scenario.load(other)) < 0.9 * rate(Scenario.load(path))


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ('reference = "none.toml"', "there is no file"),
        ('reference = "ibm-power-999"', "did you mean ibm-power-795?"),
        ('reference = "lacks.toml"', 'lacks.toml has no partition "db"'),
        ('work_file = "none.json"', "there is no file"),
        ('work_file = "other.json"', "keeps the work of db for 2 cores, others are asked for"),
        ('work_file = "empty.json"', "holds no work"),
    ],
)
def test_a_reference_that_does_not_fit_is_told_at_its_line(
    path: Path, said: str, expected: str
) -> None:
    folder = path.parent
    lacks = LAYOUT.replace('name = "db"', 'name = "web"').replace('use = "3.0"', "use = 1")
    (folder / "lacks.toml").write_text(lacks, encoding="utf-8")
    kept = {"db": {"cores": [2.0], "instructions_per_s": [1e9]}}
    found = {"form": 1, "found": [{"key": "", "partitions": kept}]}
    (folder / "other.json").write_text(json.dumps(found), encoding="utf-8")
    (folder / "empty.json").write_text("{}", encoding="utf-8")
    path.write_text(LAYOUT.replace('use = "3.0"', f'use = "3.0", {said}'), encoding="utf-8")
    with pytest.raises(ScenarioError) as caught:
        Scenario.load(path).spec()
    assert str(caught.value).startswith(f"{path}:11:")
    assert expected in str(caught.value)


def test_cores_that_the_machine_does_not_have_are_told(path: Path) -> None:
    full = LAYOUT.replace("active_cores = 16", "active_cores = 4").replace("3.0", "5.9")
    path.write_text(full, encoding="utf-8")
    with pytest.raises(ScenarioError) as caught:
        Scenario.load(path).spec()
    told = str(caught.value)
    assert told.startswith(f"{path}:11:")
    assert "partition db: workload: 5.9 cores are more than it gets" in told
    assert "3 partitions share its 4 cores" in told


def test_a_day_is_found_step_by_step(path: Path, tmp_path: Path) -> None:
    day = 'schedule = [{ from = "08:00", use = "4" }, { from = "16:00", use = "1" }]'
    said = LAYOUT.replace('use = "3.0"', day).replace('duration = "6 s"', 'duration = "24 s"')
    path.write_text(said, encoding="utf-8")
    run = Scenario.load(path).run(out=tmp_path / "runs", replications=1)
    found = by_hour(run)
    assert found is not None
    db = found.partitions.index("db")
    used = [hour.cores[db] for hour in found.hours]
    for wanted, part in ((1.0, used[:8]), (4.0, used[8:16]), (1.0, used[16:])):
        assert sum(part) / 8 == pytest.approx(wanted, rel=0.04)
    assert "08:00" <= found.binding.label < "16:00"
    assert found.as_json()["binding_of"]["db"] == found.binding_of(db).label


def test_equal_steps_are_played_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = Scenario.load(path).layout_spec()
    wanted = {"db": (1.0, 2.0, 1.0, 1.0)}
    found = solve(spec, wanted, lambda _: None)
    rates = found.rates["db"]
    assert rates[0] == rates[2] == rates[3] < rates[1]
    assert found.missed() == {}


GUESTS = """
[machine]
model = "ibm-z15"
active_cores = 4

[[partition]]
name = "vm"
mode = "z/vm"
guest = { os = "zvm" }
processors = { mode = "shared", virtual = 3, weight = 300 }
memory = "32 GiB"
workload = { kind = "idle", profile = "oltp" }

[[partition.virtual_machine]]
name = "db"
count = 2
cpus = 2
memory = "4 GiB"
workload = { kind = "cores", use = "0.6" }

[[partition.virtual_machine]]
name = "desk"
memory = "2 GiB"
workload = { kind = "users", count = 10, think = "400 ms" }

[run]
warmup = "1 s"
duration = "10 s"
replications = 1
"""


def test_virtual_machines_take_the_processors_that_are_told(tmp_path: Path) -> None:
    run = Scenario.from_toml(GUESTS, "f.toml").run(out=tmp_path / "runs")
    rows = run.intervals("virtual_machine")
    assert set(rows["virtual_machine"]) == {"db1", "db2", "desk"}
    sums = rows.group_by("virtual_machine").agg(
        pl.col("guest_ns", "chargeable_ns", "tx_done").sum()
    )
    for row in sums.iter_rows(named=True):
        cores = (row["guest_ns"] + row["chargeable_ns"]) / 10e9
        if row["virtual_machine"] != "desk":
            assert cores == pytest.approx(0.6, rel=0.03)
        else:  # ten users: at most one transaction each in the time that they think
            assert 0 < row["tx_done"] <= 10 * 10 / 0.4 * 1.2


def test_a_virtual_machine_s_work_stays_with_other_neighbours(tmp_path: Path) -> None:
    told = Scenario.from_toml(GUESTS, "f.toml")
    changed = told.with_({"partition.vm.virtual_machine.desk.workload.count": 40})
    work = [settled(one).resolved.found for one in (told, changed)]
    assert work[0] == work[1]


def test_more_than_a_virtual_machine_has_is_told_at_its_line() -> None:
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_toml(GUESTS.replace('"0.6"', '"2.5"'), "f.toml")
    assert str(caught.value).startswith("f.toml:19:")
    assert "vm/db1 has 2 virtual processors, 2.5 are asked for" in str(caught.value)


def test_a_kept_run_of_virtual_machines_stands_alone(tmp_path: Path) -> None:
    run = Scenario.from_toml(GUESTS, "f.toml").run(out=tmp_path / "runs")
    again = Scenario.load(run.path / "scenario.toml")
    assert again.run(out=tmp_path / "again").id == run.id


def recorded(folder: Path, rates: list[float]) -> Scenario:
    """Two virtual machines that play what is recorded of both, in steps of five seconds."""
    rows = {"partition": "db", "seconds": 300.0, "instructions_per_s": rates}
    pl.DataFrame(rows).write_csv(folder / "demand.csv")
    play = 'kind = "trace", file = "demand.csv", step = "5 s"'
    text = GUESTS.replace('kind = "cores", use = "0.6"', play)
    assert play in text
    return Scenario.from_toml(text, "f.toml", folder)


def test_virtual_machines_play_what_is_recorded(tmp_path: Path) -> None:
    run = recorded(tmp_path, [4e8, 8e8]).run(out=tmp_path / "runs")
    rows = run.intervals("virtual_machine").filter(pl.col("virtual_machine") != "desk")
    done = rows.group_by("virtual_machine", pl.col("time_ns") > 5e9).agg(pl.col("tx_done").sum())
    by_half = done.group_by("time_ns").agg(pl.col("tx_done").mean()).sort("time_ns")["tx_done"]
    # What arrives in a step is exact but for its last transaction; transactions differ in length.
    assert by_half[1] / by_half[0] == pytest.approx(2.0, rel=0.15)
    assert Scenario.load(run.path / "scenario.toml").run(out=tmp_path / "again").id == run.id


def test_what_virtual_machines_play_is_looked_at_first(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="the recorded demand ends after 5 s"):
        recorded(tmp_path, [4e8])
    scenario = recorded(tmp_path, [4e8, 8e8])
    other = scenario.text.replace('"demand.csv"', '"demand.csv", series = "dv"')
    with pytest.raises(ScenarioError, match=r"f\.toml:19:.*vm.*no partition \"dv\""):
        Scenario.from_toml(other, "f.toml", tmp_path)
    (tmp_path / "demand.csv").unlink()
    with pytest.raises(ScenarioError, match=r"f\.toml:19:.*vm.*there is no file") as caught:
        Scenario.from_toml(scenario.text, "f.toml", tmp_path)
    assert str(caught.value).count("there is no file") == 1


DAYS = """
[machine]
model = "ibm-power-770"
active_cores = 16

[[partition]]
name = "web"
processors = { mode = "shared", entitlement = 2.0, virtual = 6 }
memory = "8 GiB"
[partition.workload]
kind = "cores"
profile = "oltp"
schedule = [
  { from = "08:00", use = 4 },
  { from = "18:00", use = 0.5 },
  { every = "audit", use = 3 },
]

[[partition]]
name = "db"
processors = { mode = "shared", entitlement = 1.0, virtual = 3 }
memory = "8 GiB"
[partition.workload]
kind = "cores"
profile = "oltp"
schedule = [{ from = "10:00", use = 2 }, { from = "20:00", use = 1 }]

[run]
warmup = "1 s"
duration = "25 s"
"""


def hourly(scenario: Scenario, name: str) -> dict[int | str, float]:
    """Its work by the minute at which it begins [instructions/s]."""
    found = settled(scenario).resolved
    asked, rates = found.asked[name], found.found[name]
    return dict(zip([*asked.cuts, *asked.extras], rates, strict=True))


@pytest.mark.parametrize(
    "other",
    [
        {"kind": "idle", "profile": "oltp"},
        {"kind": "cores", "profile": "oltp", "use": 1},
        {
            "kind": "cores",
            "profile": "oltp",
            "schedule": [{"from": "02:00", "use": 2}, {"from": "04:00", "use": 1}],
        },
    ],
)
def test_work_keeps_its_hours_however_the_others_days_are_cut(other: dict[str, object]) -> None:
    told = Scenario.from_toml(DAYS, "f.toml")
    before = hourly(told, "web")
    after = hourly(told.with_({"partition.db.workload": other}), "web")
    assert after["audit"] == before["audit"]
    for minute, rate in after.items():
        if isinstance(minute, int):
            earlier = [cut for cut in before if isinstance(cut, int) and cut <= minute]
            assert rate == before[max(earlier)]


def test_copies_of_a_table_all_have_its_work(path: Path) -> None:
    said = LAYOUT.replace('name = "db"', 'name = "db"\ncount = 2').replace("3.0", "1.0")
    path.write_text(said, encoding="utf-8")
    told = Scenario.load(path)
    work = settled(told.with_({"partition.db.count": 4})).resolved.found
    assert set(work) == {"db1", "db2", "db3", "db4"}
    assert work["db3"] == work["db4"] == settled(told).resolved.found["db1"]


def test_transactions_that_are_too_long_to_tell_are_refused(path: Path) -> None:
    path.write_text(LAYOUT.replace('"oltp", use', '"compute", use'), encoding="utf-8")
    with pytest.raises(ScenarioError) as caught:
        Scenario.load(path).spec()
    assert str(caught.value).startswith(f"{path}:11:")
    assert "of a core or more" in str(caught.value)
    assert "instructions = 2e8" in str(caught.value)


@pytest.mark.parametrize(
    "partitions",
    [
        {},
        [],
        {"db": {"cores": [3.0], "instructions_per_s": [1e9, 1e9]}},
        {"db": {"cores": [3.0], "instructions_per_s": [-1.0]}},
        {"db": {"cores": [3.0], "instructions_per_s": [1e300]}},
        {"db": {"cores": [3.0], "instructions_per_s": [float("nan")]}},
        {"db": {"cores": [3.0], "instructions_per_s": []}},
        {"other": {"cores": [3.0], "instructions_per_s": [1e9]}},
    ],
)
def test_what_is_unusable_is_found_again(
    path: Path, partitions: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = rate(Scenario.load(path))
    beside = path.with_name("frame.work.json")
    kept = json.loads(beside.read_text(encoding="utf-8"))
    kept["found"][0]["partitions"] = partitions
    beside.write_text(json.dumps(kept), encoding="utf-8")
    monkeypatch.setattr(work, "_RECENT", {})
    assert rate(Scenario.load(path)) == first


def test_a_value_of_an_axis_that_cannot_be_is_told_before_anything_runs(path: Path) -> None:
    path.write_text(LAYOUT + '[sweep]\n"partition.db.workload.use" = [1, 9]\n', encoding="utf-8")
    with pytest.raises(ScenarioError) as caught:
        list(Scenario.load(path).expand())
    assert "sweep" in str(caught.value)
    assert "db has 6 virtual processors, 9 are asked for" in str(caught.value)


@pytest.mark.parametrize(
    ("axis", "told"),
    [
        ('"partition.db.workload.use" = [1, 6]', "at use = 6: partition db: workload: 6 cores are"),
        (
            '"partition.db.workload.reference" = ["ibm-power-770", "none.toml"]',
            'at reference = none.toml: partition db: workload.reference = "none.toml"',
        ),
    ],
)
def test_all_points_are_looked_at_before_the_first_is_simulated(
    path: Path, axis: str, told: str, tmp_path: Path
) -> None:
    text = LAYOUT.replace("entitlement = 2.0", "entitlement = 0.6").replace(
        "active_cores = 16", "active_cores = 3"
    )
    path.write_text(f"{text}[sweep]\n{axis}\n", encoding="utf-8")
    points = list(Scenario.load(path).expand())
    with pytest.raises(ScenarioError) as caught:
        all_ready(points)
    assert f"frame.toml:11:1: {told}" in str(caught.value)
    assert "(changed)" not in str(caught.value)
    assert call(["run", str(path), "--out", str(tmp_path / "runs")]) == 2
    assert not list(tmp_path.glob("runs/frame*"))


def test_points_that_are_ready_are_what_they_were(path: Path) -> None:
    path.write_text(LAYOUT + '[sweep]\n"partition.db.workload.use" = [1, 2]\n', encoding="utf-8")
    shares: list[float] = []
    points = list(Scenario.load(path).expand())
    ready = all_ready(points, lambda share, _: shares.append(share))
    assert [rate(one) for one in ready] == [rate(one) for one in points]
    assert [one.point for one in ready] == [one.point for one in points]
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0)


def test_trials_of_a_day_play_all_of_it(tmp_path: Path) -> None:
    run = Scenario.from_toml(DAYS, "f.toml").run(out=tmp_path / "runs", replications=1)
    as_it_is = tried(run, "web")[0]
    assert as_it_is.physc == pytest.approx(run.metric("web", "physc").mean, rel=0.05)
