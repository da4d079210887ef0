"""Explanations: sums to the last digit, sentences from the figures."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from types import ModuleType

import pytest

import frames
from homenode.errors import HomenodeError, StoreError
from homenode.report.pictures import save_picture, waterfall, waterfall_steps
from homenode.simulate.explain import remedies
from homenode.simulate.explain.explanation import explain
from homenode.simulate.explain.remedies import remedy
from homenode.simulate.explain.situation import Situation
from homenode.simulate.kept.books import CAUSES, Breakdown, Work
from homenode.simulate.kept.sharing import busy_threads, difference, sharing_differs
from homenode.simulate.run import Run
from homenode.simulate.runner import run_scenario

pytestmark = pytest.mark.usefixtures("fake", "here")


@pytest.fixture
def runs(fake: ModuleType, here: Path) -> tuple[Run, Run]:
    apart, together = frames.near_and_far()
    return run_scenario(apart), run_scenario(together)


def test_rows_add_up_to_the_last_printed_digit(runs: tuple[Run, Run]) -> None:
    apart, together = runs
    told = explain(together, "three", apart, "one")
    cents = [(round(100 * r.value), round(100 * (r.base or 0))) for r in told.rows]
    differences = [round(100 * (row.difference or 0)) for row in told.rows]
    assert sum(mine for mine, _ in cents) == round(100 * told.total)
    assert sum(theirs for _, theirs in cents) == round(100 * (told.base_total or 0))
    assert sum(differences) == round(100 * (told.difference or 0))
    assert all(mine - theirs == d for (mine, theirs), d in zip(cents, differences, strict=True))
    assert told.total == pytest.approx(together.metrics["three"]["physc"].mean, abs=0.006)


def test_the_largest_cause_comes_first_and_the_move_is_computed(runs: tuple[Run, Run]) -> None:
    apart, together = runs
    text = explain(together, "three", apart, "one").paragraph
    assert "1.94 cores more (22 %) for the same 900 transactions a second" in text
    assert "The largest part is distance" in text
    assert text.index("another cache, other node") < text.index("cache reload")
    assert (
        "its home, node 0: that has 16 cores, and what is homed there (three and four) uses 21.9"
        in text
    )
    assert re.search(r"Move one: four \(10\.9 cores\) to node 1, which has 16\.0 cores", text)
    # By hand: an instruction takes 0.5 ns of the core and 0.002 lines; of its core time 73 % is at
    # home, where 1/4 of the memory is local and 3/4 near (137.5 ns), the rest far (270 ns).
    far = together.metrics["three"]["far_share"].mean or 0.0
    assert far == pytest.approx(0.27, abs=5e-3)
    now, then = 0.5 + 0.002 * ((1 - far) * 137.5 + far * 270), 0.5 + 0.002 * 137.5
    assert f"the same work would take {10.95 * then / now:.1f}" in text
    assert "cores in place of 10.95, and fewer yet with less cache reload." in text


def test_no_place_to_move_to_is_said() -> None:
    crowd = [frames.partition(f"p{n}", n // 2, rate=900.0) for n in range(8)]
    run = run_scenario(frames.Frozen(frames.frame(*crowd, name="crowd"), 2))
    assert "No other place has room for one of them" in explain(run, "p0").paragraph


def test_memory_away_from_home_is_seen() -> None:
    """A partition that has room at home, some of its time far, and its memory elsewhere."""
    lone = frames.partition("lone", 0)
    lone["memory"] = [{"domains": [15], "bytes": 40 << 30}]
    run = run_scenario(frames.Frozen(frames.frame(lone)))
    at = Situation(run, "lone")
    assert at.memory_away_share == 1.0
    assert "100 % of its memory lies outside its home, node 0" in remedy("distance", at)


@pytest.mark.parametrize(
    "family",
    [
        "work",
        "caches",
        "coherence",
        "memory",
        "distance",
        "reload",
        "smt",
        "spread",
        "spin",
        "guest_idle",
        "hypervisor",
    ],
)
def test_every_family_has_an_advice(family: str, runs: tuple[Run, Run]) -> None:
    text = remedy(family, Situation(runs[0], "one"))
    assert text.endswith(".")
    assert "None" not in text


def test_what_is_the_works_own_is_not_put_down_to_the_layout() -> None:
    own = {family for family, says in remedies._REMEDIES.items() if says is remedies._own_work}
    assert own == set(remedies.OF_THE_WORK)


def test_less_is_told_as_saving(runs: tuple[Run, Run]) -> None:
    text = explain(runs[0], "one", runs[1], "three").paragraph
    assert "1.94 cores less (18 %)" in text
    assert "The largest part of the saving is distance" in text


def test_nothing_differs(runs: tuple[Run, Run]) -> None:
    text = explain(runs[0], "one", None, "two").paragraph
    assert "as many" in text
    assert "No cause differs" in text


def test_more_work_is_not_blamed_on_the_layout() -> None:
    calm, busy = (
        run_scenario(
            frames.Frozen(frames.frame(frames.partition("p", 0, rate=r), name=f"r{r:g}"), 2)
        )
        for r in (400.0, 800.0)
    )
    text = explain(busy, "p", calm, "p").paragraph
    assert "while it does 800 transactions a second against 400" in text
    assert "At equal work that would be as many." in text
    assert "No cause differs" in text


def test_unsteadiness_comes_first() -> None:
    tipped = frames.frame(frames.partition("full", 0, virtual=5), name="tipped")
    text = explain(run_scenario(frames.Frozen(tipped))).paragraph
    assert text.startswith("There is no steady state: all 5 virtual processors")


def test_the_waterfall_ends_where_the_partition_is(runs: tuple[Run, Run]) -> None:
    told = explain(runs[1], "three", runs[0], "one")
    steps = waterfall_steps(told)
    assert steps[0]["end"] == told.base_total
    assert steps[-1]["end"] == told.total
    for before, after in itertools.pairwise(steps[:-1]):
        assert after["start"] == before["end"]
    assert steps[-2]["end"] == told.total
    with pytest.raises(HomenodeError, match=r"out/w\.svg: there is no folder out"):
        save_picture(waterfall(told), "out/w.svg")
    Path("out").mkdir()
    svg = save_picture(waterfall(told), "out/w.svg").read_text()
    assert "another cache, other node" in svg
    assert save_picture(waterfall(told), "out/w.png").read_bytes().startswith(b"\x89PNG")


def test_a_picture_is_never_half_written(
    runs: tuple[Run, Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Path, content: bytes) -> int:
        with self.open("wb") as file:
            file.write(content[:10])
        raise OSError(28, "No space left on device")

    Path("out").mkdir()
    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(StoreError, match=r"cannot write out/w.svg: No space left"):
        save_picture(waterfall(explain(runs[0], "one")), "out/w.svg")
    assert list(Path("out").iterdir()) == []


def _books(useful: float, memory: float, smt: float, busy_threads: float) -> Breakdown:
    cores = dict.fromkeys((cause.name for cause in CAUSES), 0.0)
    cores |= {"useful": useful, "memory_near": memory, "smt": smt}
    return Breakdown("run", "p", cores, Work("transaction", 100.0), busy_threads)


def test_threads_that_share_a_core_are_not_taken_for_less_work() -> None:
    """Twice the threads on a core halve what an instruction books, and contend a little."""
    spread, packed = _books(8.0, 6.0, 0.0, 1.0), _books(4.0, 3.0, 0.5, 2.0)
    assert sharing_differs(packed, spread)
    told = difference(packed, spread, 1.0)
    assert told["useful"] == told["memory_near"] == 0.0
    assert told["smt"] == pytest.approx(7.5 - 14.0)
    assert sum(told.values()) == pytest.approx(packed.total - spread.total)


def test_what_differs_beside_the_sharing_keeps_its_cause() -> None:
    """The packed one also waits half as long again for memory."""
    spread, packed = _books(8.0, 6.0, 0.0, 1.0), _books(4.0, 4.5, 0.0, 2.0)
    told = difference(packed, spread, 1.0)
    assert told["useful"] == 0.0
    assert told["memory_near"] == pytest.approx(3.0 * (1 / 2 + 1) / 2)
    assert told["smt"] == pytest.approx(8.5 - 14.0 - told["memory_near"])


def test_busy_threads_follow_from_the_instructions() -> None:
    """4e9 instructions of 2 cycles take 2 s of a thread at 4 GHz; booked as 1 core, 2 shared it."""
    assert busy_threads(4e9, 2.0, 4e9, 1.0) == 2.0
    assert busy_threads(0.0, 2.0, 4e9, 0.0) is None


def test_who_stays_at_home_is_not_sent_elsewhere() -> None:
    """All its time on its home chips, its memory between them: entitlement would change nothing."""
    wide = frames.partition("wide", 0)
    run = run_scenario(frames.Frozen(frames.frame(wide)))
    at = Situation(run, "wide")
    assert at.metric("home_share") == 1.0
    text = remedy("distance", at)
    assert f"It stays on its {at.home_chips} home chips" in text
    assert "entitlement" not in text
