"""Hosts, whose layouts are solved as a whole; what is not solved is simulated, briefly."""

from __future__ import annotations

from pathlib import Path

import pytest

from homenode.cli import call
from homenode.errors import HomenodeError
from homenode.planner import advise
from homenode.planner.confirm import cores_of
from homenode.planner.played import Played
from homenode.planner.problem import problem_of
from homenode.planner.reasons import why
from homenode.report.advice import advice_lines
from homenode.simulate.runner import run_scenario
from homenode.simulate.scenario import Scenario

HOST = """\
name = "host"

[machine]
model = "intel-xeon-6240-2s"

[run]
warmup = "100 ms"
duration = "500 ms"
replications = 3
"""
GUEST = """
[[partition]]
name = "{name}"
processors = {{ mode = "shared", virtual = 24, cpuset = "0-35" }}
memory = "16 GiB"
kvm = {{}}
workload = {{ kind = "transactions", rate = "{rate}/s", profile = "oltp" }}
"""


def host(*rates: int) -> Scenario:
    """Guests that are all kept to the first socket."""
    guests = [GUEST.format(name=f"kvm{at}", rate=rate) for at, rate in enumerate(rates, start=1)]
    return Scenario.from_toml(HOST + "".join(guests))


def test_one_of_two_crowded_guests_goes_to_the_other_socket(tmp_path: Path) -> None:
    told = host(1200, 1200)
    found = advise(told, free=["cpuset"], goal="response", out=tmp_path)
    assert found.proven
    assert "simulated, not solved" not in found.told
    assert found.best
    (change,) = found.best[0].changes
    assert (change.before, change.after) == ("0-35", "36-71")
    assert found.best[0].saving.mean is not None
    assert found.best[0].saving.mean > (found.best[0].saving.ci95 or 0.0)
    again = advise(told, free=["cpuset"], goal="response", out=tmp_path, jobs=1)
    assert again.as_json() == found.as_json()


def test_a_guest_alone_stays(tmp_path: Path) -> None:
    found = advise(host(500), free=["cpuset"], out=tmp_path)
    assert found.verdict == "no beneficial move"


def test_words_of_powervm_mean_nothing_there() -> None:
    with pytest.raises(HomenodeError, match="no home that could be chosen"):
        advise(host(500), free=["home"])
    words = {one.word for one in problem_of(host(500), {}).space.variables}
    assert words == {"virtual", "cpuset"}


ZVM = Path(__file__).resolve().parents[2] / "examples" / "zvm-paging.toml"


def test_what_the_control_program_does_is_no_work(tmp_path: Path) -> None:
    """With fewer processors it does less for a transaction: that is saved, not left undone."""
    short = {"run.warmup": "6 s", "run.duration": "500 ms", "run.replications": 1}
    short["partition.zvm.processors.cores"] = 48
    base, run = (
        run_scenario(
            Scenario.load(ZVM).with_({**short, "partition.zvm.guest.unparking": unparking}),
            out=tmp_path,
        )
        for unparking in ("large", "small")
    )
    totals = [one.totals("zvm")[0] for one in (base, run)]
    assert totals[1]["instructions"] / totals[1]["tx_done"] < (
        0.99 * totals[0]["instructions"] / totals[0]["tx_done"]
    )
    each = [one["busy_ns"] / one["tx_done"] for one in totals]
    before, after = (cores_of(one, base)[0] for one in (base, run))
    assert after / before == pytest.approx(each[1] / each[0])
    # What it costs who waits is told with what it saves.
    told = why("", "zvm", run, base)
    waits = [one.metric("zvm", "server_wait_us").mean or 0.0 for one in (base, run)]
    assert f"servers wait {waits[0]:,.2f} -> {waits[1]:,.2f} us; compare ETR" in told


def test_a_layout_is_warmed_up_as_its_run_is() -> None:
    """Paging sets in when memory is full: a brief warm-up would compare layouts before it."""
    told = problem_of(ZVM, {"free": ["unparking"]})
    solver = told.space.solver
    assert isinstance(solver, Played)
    assert solver._specs[0]["warmup_ns"] == told.scenario.spec()["warmup_ns"]


SLEEPS = GUEST.format(name="kvm", rate=50).replace("virtual = 24", "virtual = 2")
BRIEF = '{ base = "oltp", lock_share = 0.05, lock_kind = "sleeping", lock_hold_instructions = 200 }'
SLEEPS = SLEEPS.replace('"oltp"', BRIEF)
WHY = "partition kvm: a lock for which threads sleep that is held for less than a tenth of a switch"


def test_who_has_to_play_says_so_before_with_the_reason(tmp_path: Path) -> None:
    told = Scenario.from_toml(HOST + SLEEPS)
    solver = problem_of(told, {"free": ["cpuset"]}).space.solver
    assert isinstance(solver, Played)
    assert solver.each_s > 0
    assert f"a second, 200 at most: {WHY}" in solver.notice()
    found = advise(told, free=["cpuset"], out=tmp_path)
    assert f"not solved ({WHY}" in found.told
    assert f"{found.solved} layouts were simulated" in "\n".join(advice_lines(found))


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (["--free", "cpuset"], f"a second, 200 at most: {WHY}"),
        (["--free", "cpuset", "--add", "more.toml"], f"a second, 200 at most: {WHY}"),
        (["--more", "kvm"], f"a second: {WHY}"),
        (["--find", "rate"], f"a second: {WHY}"),
    ],
)
def test_whatever_is_asked_it_is_said_once_before(
    asked: list[str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("host.toml").write_text(HOST + SLEEPS)
    Path("more.toml").write_text(GUEST.format(name="next", rate=50))
    assert call(["advise", "host.toml", "--no-simulate", *asked]) == 0
    assert capsys.readouterr().err.count(words) == 1
    Path("host.toml").write_text(HOST + GUEST.format(name="kvm", rate=500))
    assert call(["advise", "host.toml", "--no-simulate", *asked]) == 0
    assert "is simulated" not in capsys.readouterr().err
