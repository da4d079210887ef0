"""Imported recordings: cores, the rate of work, and where threads were dispatched."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

import homenode
from homenode import tools
from homenode.cli import call
from homenode.errors import HomenodeError
from homenode.model.catalog import profile
from homenode.records.calibrate import Fitted
from homenode.records.calibrate.levels import Levels
from homenode.records.calibrate.model import Condition, Model, Observation, Recording

SECONDS = 24
RATE = 800.0
HOME = 'home = ["book0.chip0"]'
TEXT = f"""
name = "web1"
[machine]
model = "ibm-power-795"
[[partition]]
name = "web1"
processors = {{ mode = "shared", entitlement = 4.0, virtual = 4 }}
smt = 1
memory = "16 GiB"
{HOME}
guest = {{ os = "aix", folding = false }}
[partition.workload]
kind = "transactions"
rate = "{RATE:g}/s"
profile = {{ base = "oltp", instructions = 1.2e6, footprint = "1 MiB" }}
[run]
warmup = "200 ms"
duration = "{SECONDS} s"
interval = "1 s"
replications = 1
"""
TRUE = {"instructions": 1.2e6, "footprint": float(1 << 20)}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `mpstat -a` would have printed beside a run, with the command above it."""
    folder = tmp_path_factory.mktemp("printed")
    run = homenode.Scenario.from_toml(TEXT).run(out=folder / "runs")
    shown = tools.render("mpstat", tools.KeptRunView.of(run), ["-a", "1", str(SECONDS)])
    file = folder / "web1.txt"
    file.write_text(f"# mpstat -a 1 {SECONDS}\n\n{shown}", encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def scenario(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The host, as somebody knows it: not what its work is like."""
    path = tmp_path_factory.mktemp("host") / "host.toml"
    path.write_text(re.sub(r"profile = .*", 'profile = "oltp"', TEXT), encoding="utf-8")
    return path


def fit(file: Path, scenario: Path, **options: object) -> Fitted:
    told = {"rate": RATE, "scenario": scenario, "replications": 1, **options}
    return homenode.fit_profile(file, **told)  # type: ignore[arg-type]


def value(fitted: Fitted, name: str) -> float:
    return fitted.values[name]


def test_a_run_as_the_tool_prints_it_gives_its_instructions_again(
    recorded: Path, scenario: Path
) -> None:
    """Where threads ran is played as it was recorded, so that nothing is corrected."""
    fitted = fit(recorded, scenario)
    one = next(one for one in fitted.parameters if one.name == "instructions")
    assert one.determined
    assert one.low < TRUE["instructions"] < one.high
    assert {found.name for found in fitted.parameters if found.determined} == {"instructions"}
    for placed in fitted.placed:
        assert placed.factor == pytest.approx(1.0, abs=5e-3)
        assert placed.played is not None
        assert placed.recorded.per_s is not None
    assert fitted.placed


def test_threads_away_from_home_explain_part_of_the_time(
    recorded: Path, scenario: Path, tmp_path: Path
) -> None:
    """The same cores with half of the dispatches on other nodes need fewer instructions."""
    text = recorded.read_text(encoding="utf-8")
    away = tmp_path / "web1.txt"
    assert text.count("100.0   0.0   0.0") >= SECONDS
    away.write_text(text.replace("100.0   0.0   0.0", " 50.0   0.0  50.0"), encoding="utf-8")
    near, far = fit(recorded, scenario), fit(away, scenario)
    factors = [one.factor for one in far.placed]
    assert min(factors) > 1.05
    ratio = value(near, "instructions") / value(far, "instructions")
    assert min(factors) * 0.98 < ratio < max(factors) * 1.02


HEADING = (
    "cpu cs ics bound rq push S3pull S3grd S0rd S1rd S2rd S3rd S4rd S5rd sysc pc ilcs vlcs"
    " S3hrd S4hrd S5hrd"
)


def windows_of(
    scenario: Path, moved: Sequence[float], noise: Callable[[int], float], values: dict[str, float]
) -> list[str]:
    """Rows of `mpstat -a` for windows in which so many threads were moved to other nodes, with
    the cores that a profile with these values takes.
    """
    host = homenode.Scenario.load(scenario)
    levels = [
        Levels((1.0 - share, 0, 0, 0, 0, share), (1.0, 0.0, 0.0), {"cs": 2 * RATE, "ics": 0.0})
        for share in moved
    ]
    every = dict(zip(moved, levels, strict=True))
    conditions = tuple(Condition(str(at), host, "web1", one) for at, one in every.items())
    seen = tuple(Observation(at, "physc", 1.0, 0.01) for at in range(len(every)))
    logs = Model(Recording("x", conditions, seen), profile("oltp").spec(), 1, 1)(values).logs
    cores = dict(zip(every, logs, strict=True))
    rows = []
    for at, share in enumerate(moved):
        pc = math.exp(cores[share]) * (1.0 + noise(at))
        same, far = 100 * (1 - share), 100 * share
        rows.append(
            f"ALL {2 * RATE:.0f} 0 0 1 0 0 0 {same:.1f} 0.0 0.0 0.0 0.0 {far:.1f} 0 {pc:.4f} 10 10"
            " 100.0 0.0 0.0"
        )
    return rows


def test_windows_in_which_threads_were_moved_more_tell_the_footprint(
    scenario: Path, tmp_path: Path
) -> None:
    """Noise of half a per cent a window; both are found again within their intervals."""
    random = np.random.default_rng(3)
    moved = [(0.0, 0.2, 0.4)[at % 3] for at in range(30)]
    rows = windows_of(scenario, moved, lambda _: random.normal(scale=0.005), TRUE)
    lines = ["# mpstat -a 1 30", "", "System configuration: lcpu=4 ent=4.0 mode=Uncapped", ""]
    for row in rows:
        lines += [HEADING, row]
    file = tmp_path / "web1.txt"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    fitted = fit(file, scenario, free=["instructions", "footprint"], accuracy=0.002)
    assert len(fitted.recording.conditions) == 3
    for one in fitted.parameters:
        assert one.determined, one.said
        assert one.low < TRUE[one.name] < one.high, one.name


def test_a_table_of_the_work_makes_conditions_and_tells_the_cycles(
    scenario: Path, tmp_path: Path
) -> None:
    """Cores in proportion to work of 200 to 1100 a second; windows without work known are left."""
    rates = [200.0 + 100 * (at % 10) for at in range(30)]
    cores = [f"{60 * (at + 1)},web1,{rate / 500:.4f}" for at, rate in enumerate(rates)]
    (tmp_path / "cores").mkdir()
    file = tmp_path / "cores" / "web1.csv"
    file.write_text("\n".join(["timestamp,name,cores", *cores, "1860,web1,3.0"]) + "\n")
    table = tmp_path / "work.csv"
    work = [f"{60 * (at + 1)},{rate:g},2.5" for at, rate in enumerate(rates)]
    table.write_text("\n".join(["time,rate,cpi", *work]) + "\n")
    fitted = fit(file.parent, scenario, rate=table)
    titles = [one.title.split(", ")[-1] for one in fitted.recording.conditions]
    assert titles == ["least work", "middling work", "most work"]
    figures = {
        (row.condition.split(", ")[-1], row.metric): row.recorded for row in fitted.deviations
    }
    assert figures["least work", "physc"] == pytest.approx(300.0 / 500, rel=0.1)
    assert figures["most work", "cpi"] == pytest.approx(2.5)
    assert any("1 window of cores without a rate: left out" in note for note in fitted.notes)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"know": ["etr_per_s"]}, "does not tell etr_per_s"),
        ({"partition": "db"}, "nothing in web1.txt tells what db used"),
        ({"rate": Path("none.csv")}, "there is no none.csv"),
    ],
)
def test_wrong_wishes_are_told(
    recorded: Path, scenario: Path, options: dict[str, object], message: str
) -> None:
    """With what there is."""
    with pytest.raises(HomenodeError, match=message):
        fit(recorded, scenario, **options)


def test_rates_of_another_time_are_told(recorded: Path, scenario: Path, tmp_path: Path) -> None:
    """No window is guessed to have done no work."""
    table = tmp_path / "work.csv"
    table.write_text("time,rate\n2026-01-01T00:00:00,100\n")
    with pytest.raises(HomenodeError, match=r"no window of web1.txt has a rate") as caught:
        fit(recorded, scenario, rate=table)
    assert "on the clock of the recording" in str(caught.value)


def test_the_command_shows_where_threads_ran(
    recorded: Path, scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And the profile that it writes is one that another machine's scenario takes."""
    target = tmp_path / "ours.toml"
    words = ["calibrate", str(recorded), "--rate", "800/s", "--scenario", str(scenario)]
    assert call([*words, "--replications", "1", "--free", "instructions", "-o", str(target)]) == 0
    printed = capsys.readouterr()
    assert "Where threads were dispatched" in printed.out
    assert "S5hrd" in printed.out
    other = re.sub(r"profile = .*", f'profile = "{target}"', TEXT)
    other = other.replace("ibm-power-795", "ibm-power-e880").replace(HOME, "")
    run = homenode.Scenario.from_toml(other).run(out=tmp_path / "runs")
    per_tx = run.metric("web1", "instructions_per_tx").mean
    assert per_tx == pytest.approx(TRUE["instructions"], rel=0.02)


def test_a_recording_named_twice_is_one_fact(recorded: Path, scenario: Path) -> None:
    """Counted twice its interval would be too narrow."""
    with pytest.raises(HomenodeError, match="the same recording"):
        homenode.fit_profile(recorded, recorded, rate=RATE, scenario=scenario)


def test_ranges_are_those_of_the_base_to_either_side(recorded: Path, scenario: Path) -> None:
    """As its file has them, however far they reach."""
    fitted = fit(recorded, scenario, base="compute", replications=1)
    for one in fitted.parameters:
        figure = getattr(profile("compute"), one.name)
        if not one.determined and figure.range is not None:
            assert (one.low, one.high) == tuple(map(float, figure.range)), one.name
    sharing = next(one for one in fitted.parameters if one.name == "sharing")
    assert not sharing.determined
    assert sharing.low == 0.0
