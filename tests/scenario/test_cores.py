"""Work told by the cores it takes: what a file may say, and what is wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from homenode.errors import ScenarioError
from homenode.model.scenario import Scenario
from homenode.model.scenario.asked import has_day
from homenode.model.scenario.day import clock, day_of, used_at
from homenode.model.scenario.kept import stand_alone

LAYOUT = """
[machine]
model = "ibm-power-770"
active_cores = 16

[[partition]]
name = "db"
processors = {{ mode = "shared", entitlement = 2.0, virtual = 6{processors} }}
memory = "16 GiB"
workload = {{ kind = "cores", profile = "oltp", {said} }}

[run]
warmup = "1 s"
duration = "{duration}"
"""
TWICE = ', { every = "m", use = 1 }, { every = "m", use = 2 }'
DAY = '[{ from = "09:00", use = 4 }, { from = "18:00", use = 1 }%s]'


def text(said: str, duration: str = "24 s", processors: str = "") -> str:
    return LAYOUT.format(said=said, duration=duration, processors=processors)


def cores(said: str, folder: Path = Path(), **how: str) -> tuple[float, ...]:
    return Scenario.from_toml(text(said, **how), "f.toml", folder).resolved.asked["db"].cores


def message(said: str, folder: Path = Path(), **how: str) -> str:
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_toml(text(said, **how), "f.toml", folder)
    return str(caught.value)


def lengths(said: str, duration: str) -> tuple[int, ...]:
    return Scenario.from_toml(text(said, duration), "f.toml").resolved.asked["db"].lengths_ns


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ('use = "2.5"', 2.5),
        ('use = "2.5 cores"', 2.5),
        ("use = 2.5", 2.5),
        ('use = "25 %"', 4.0),  # of the 16 cores of the machine
        ('busy = "60 %"', 3.6),  # of its 6 virtual processors
    ],
)
def test_ways_to_say_an_amount(said: str, found: float) -> None:
    assert cores(said) == (pytest.approx(found),)


def test_on_a_host_a_share_is_of_its_hardware_threads() -> None:
    host = """
    [machine]
    model = "intel-xeon-6240-2s"

    [[partition]]
    name = "db"
    kvm = {}
    processors = { mode = "shared", virtual = 16 }
    memory = "8 GiB"
    workload = { kind = "cores", use = "10 %", profile = "oltp" }
    """
    asked = Scenario.from_toml(host, "f.toml").resolved.asked["db"]
    assert asked.cores == (pytest.approx(7.2),)  # of 72
    alone = host.replace('-2s"', '-2s"\n    threads = 1')
    asked = Scenario.from_toml(alone, "f.toml").resolved.asked["db"]
    assert asked.cores == (pytest.approx(3.6),)  # of 36


def test_a_part_of_a_day_holds_over_midnight() -> None:
    assert cores(f"schedule = {DAY % ''}") == (1.0, 4.0, 1.0)
    assert lengths(f"schedule = {DAY % ''}", "24 s") == (9 * 10**9, 9 * 10**9, 6 * 10**9)


def test_what_comes_now_and_then_is_played_as_an_hour_after_the_day() -> None:
    said = "schedule = " + DAY % ', { every = "month end", use = 6 }'
    assert cores(said, duration="25 s") == (1.0, 4.0, 1.0, 6.0)
    assert lengths(said, "25 s")[-1] == 10**9
    day = has_day(Scenario.from_toml(text(said, "25 s"), "f.toml").file)
    assert day is not None
    assert day.labels()[-2:] == ("23:00", "month end")


def test_results_are_kept_by_the_hour() -> None:
    made = Scenario.from_toml(text(f"schedule = {DAY % ''}", "48 s"))
    assert made.timing.interval_ns == 2 * 10**9


def test_all_days_are_cut_alike_and_extras_find_the_others_at_their_busiest() -> None:
    said = "schedule = " + DAY % ', { every = "audit", use = 5 }'
    both = text(said, "25 s").replace(
        "[run]",
        """
[[partition]]
name = "app"
processors = { mode = "shared", entitlement = 1.0, virtual = 4 }
memory = "8 GiB"
[partition.workload]
kind = "cores"
profile = "oltp"
schedule = [{ from = "06:30", use = 3 }, { from = "12:00", use = 2 }]

[[partition]]
name = "flat"
processors = { mode = "shared", entitlement = 1.0, virtual = 4 }
memory = "8 GiB"
workload = { kind = "cores", profile = "oltp", use = 0.5 }

[run]""",
    )
    made = Scenario.from_toml(both, "f.toml")
    found = {name: one.cores for name, one in made.resolved.asked.items()}
    # 00:00, 06:30, 09:00, 12:00, 18:00, audit
    assert found == {
        "db": (1.0, 1.0, 4.0, 4.0, 1.0, 5.0),
        "app": (2.0, 3.0, 3.0, 2.0, 2.0, 3.0),
        "flat": (0.5,) * 6,
    }


def test_a_day_in_a_file(tmp_path: Path) -> None:
    rows = [1.0] * 9 + [4.0] * 9 + [1.0] * 6
    (tmp_path / "day.csv").write_text("cores\n" + "\n".join(map(str, rows)), encoding="utf-8")
    assert cores('schedule = "day.csv"', tmp_path) == tuple(rows)
    (tmp_path / "day.csv").write_text("from,cores\n00:00,1\n09:00,4\n18:00,1\n", encoding="utf-8")
    assert cores('schedule = "day.csv"', tmp_path) == (1.0, 4.0, 1.0)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ('use = "7"', "db has 6 virtual processors, 7 are asked for"),
        ('use = "much"', '"much" is no amount of cores'),
        ("use = [1]", 'text such as "8.5" or "30 %", or a table, is needed here'),
        ("use = {}", "it needs one of cores and machine"),
        ('use = 1, busy = "60 %"', "it has use and busy"),
        ('schedule = [{ from = "09:00", use = 7 }]', "db has 6 virtual processors"),
        ('schedule = [{ from = "25:00", use = 1 }]', "it is no time of day"),
        ('schedule = [{ every = "x", use = 1 }]', "it says nothing of a day"),
        ("schedule = [{ use = 1 }]", "it needs one of from, every and file"),
        ('schedule = [{ from = "09:00" }]', "it needs one of use and busy"),
        (
            'schedule = [{ from = "09:00", to = "12:00", use = 1 }, { from = "13:00", use = 2 }]',
            "nothing is said of 12:00 to 13:00",
        ),
        (
            'schedule = [{ from = "09:00", to = "14:00", use = 1 }, { from = "13:00", use = 2 }]',
            "it lies over the part that begins at 13:00",
        ),
        (
            'schedule = [{ from = "09:00", use = 1 }, { from = "09:00", use = 2 }]',
            "another part begins at 09:00 too",
        ),
        ('schedule = "none.csv"', "there is no file"),
        ('schedule = [{ from = "24:00", use = 1 }]', "a day ends then"),
        (
            f"schedule = {DAY % TWICE}",
            "another part has the same name",
        ),
    ],
)
def test_what_cannot_be_is_said_with_its_line(said: str, expected: str, tmp_path: Path) -> None:
    told = message(said, tmp_path)
    assert told.startswith("f.toml:10:")
    assert expected in told


def test_a_capped_partition_uses_its_entitlement_at_most() -> None:
    told = message('use = "3"', processors=", capped = true")
    assert "db has 2 cores at most, for it is capped" in told


def test_a_day_is_played_in_whole_hours() -> None:
    told = message(f"schedule = {DAY % ''}", duration="10 s")
    assert 'run.duration = "10 s": 24 hours are played in 10 s; write duration = "24 s"' in told


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("watts\n1\n", "is no day: its columns are watts, it has 1 rows"),
        ("cores\n" + "1\n" * 7, "7 rows are no equal parts of a day"),
        ("cores\n" + "1\n" * 5 + "x\n", "day.csv:7"),
        ("from,cores\n09:00,1\n08:00,2\n", "its time is not after that of the row before"),
        ("from,to,cores\n08:00,09:00,1\n", "its columns are from, to, cores"),
        ("cores,cores\n1,2\n", "its columns are cores, cores"),
        ("from,cores\nnoon,1\n", 'from = "noon" is no time of day'),
    ],
)
def test_a_file_that_is_no_day(content: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / "day.csv").write_text(content, encoding="utf-8")
    assert expected in message('schedule = "day.csv"', tmp_path)


def test_the_model_alone_gives_no_spec_to_simulate() -> None:
    made = Scenario.from_toml(text('use = "2"'), "f.toml")
    with pytest.raises(ScenarioError, match="the work of db is told by the cores it takes"):
        made.spec()
    looked = made.layout_spec()["partitions"][0]["workload"]
    assert looked["kind"] == "trace"
    assert looked["instructions_per_s"] == [0.0]


@pytest.mark.parametrize("lines", [False, True])
def test_a_kept_scenario_names_the_file_of_its_work(tmp_path: Path, *, lines: bool) -> None:
    said = text('use = "2"')
    if lines:
        at = 'workload = { kind = "cores", profile = "oltp", use = "2" }'
        assert at in said
        table = '[partition.workload]\nkind = "cores" # told so\nprofile = "oltp"\nuse = "2"\n'
        said = said.replace(at, table)
    made = Scenario.from_toml(said, "f.toml", tmp_path)
    kept, files = stand_alone(made, b"{}")
    assert files == {"files/work.json": b"{}"}
    again = Scenario.from_toml(kept, "f.toml", tmp_path).resolved.asked["db"]
    assert again.work == "files/work.json"
    assert stand_alone(made)[1] == {}


DAYS = st.lists(
    st.tuples(st.integers(0, 1439), st.integers(0, 9)), min_size=1, unique_by=lambda one: one[0]
).map(sorted)


@given(st.lists(DAYS, min_size=1, max_size=4), st.integers(0, 3))
def test_cuts_lose_nothing(days: list[list[tuple[int, int]]], extras: int) -> None:
    """The mean over the steps is the mean over the day, whatever the others' cuts are."""
    told = [[(since, float(use)) for since, use in day] for day in days]
    day = day_of(told, [f"extra {number}" for number in range(extras)])
    lengths_ns = day.lengths_ns(60 * 60 * 10**9 * day.hours)
    assert sum(lengths_ns) == 60 * 60 * 10**9 * day.hours
    for one in told:
        steps = lengths_ns[: len(day.cuts)]
        mean = sum(n * used_at(one, at) for n, at in zip(steps, day.cuts, strict=True)) / sum(steps)
        minutes = sum(used_at(one, minute) for minute in range(1440)) / 1440
        assert mean == pytest.approx(minutes)


def test_midnight_at_the_end_of_a_day() -> None:
    assert [clock(0), clock(540), clock(1440), clock(1500)] == ["00:00", "09:00", "24:00", "01:00"]
