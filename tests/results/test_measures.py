"""What an explanation counts in: every column adds up, closed loads are compared at equal work,
cycles need no scaling.
"""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cell_frames as cells
import frames
from homenode.errors import HomenodeError, NotFoundError
from homenode.report.explanations import explanation_table
from homenode.report.pictures import waterfall_steps
from homenode.simulate.explain.explanation import Explanation, explain
from homenode.simulate.explain.measure import MEASURES, work_ratio
from homenode.simulate.kept import CAUSES
from homenode.simulate.kept.books import FINITE_CACHE, Breakdown, Work, cycles_of
from homenode.simulate.kept.work import work_done
from homenode.simulate.run import Run
from homenode.simulate.runner import run_scenario

pytestmark = pytest.mark.usefixtures("fake", "here")

NEAR = [cells.part(24, 0), cells.part(8, 0, 1)]
FAR = [cells.part(24, 1), cells.part(8, 0, 1)]


@pytest.fixture
def runs(fake: ModuleType, here: Path) -> tuple[Run, Run]:
    """The same eight cores with their memory near, and far."""
    near, far = (
        run_scenario(frames.Frozen(cells.frame(cells.partition("jbb", range(8), memory), name=n)))
        for n, memory in (("near", NEAR), ("far", FAR))
    )
    return near, far


def printed(told: Explanation) -> list[list[str]]:
    """Columns of numbers of a table, as printed; the last of each is its total."""
    table = explanation_table(told)
    return [list(column.cells) for column in table.columns[1:]]


def add_up(told: Explanation) -> None:
    """Each printed column adds up to its printed total, digit by digit."""
    for column in printed(told):
        values = [float(cell.replace(",", "").replace(" %", "")) for cell in column if cell != "-"]
        digits = len(column[0].replace(" %", "").partition(".")[2])
        assert round(math.fsum(values[:-1]), digits) == values[-1], column


@pytest.mark.parametrize("by", ["cores", "cpi"])
def test_every_printed_column_adds_up(by: str, runs: tuple[Run, Run]) -> None:
    near, far = runs
    add_up(explain(near, by=by))
    add_up(explain(far, None, near, by=by))
    add_up(explain(near, None, far, by=by))


def test_cores_that_get_less_done_are_compared_at_equal_work(runs: tuple[Run, Run]) -> None:
    """By hand: an instruction takes 0.5 ns and 0.002 lines of 212.5 ns, 0.925 ns, with the memory
    near; of 287.5 ns, 1.075 ns, far. The same eight cores do 86.0 % of the work.
    """
    near, far = runs
    told = explain(far, None, near)
    assert told.factor == pytest.approx(0.925 / 1.075, rel=2e-3)
    assert (told.total, told.base_total) == pytest.approx((8.0, 8.0), abs=0.08)
    assert told.equal_total == pytest.approx(told.total * 0.925 / 1.075, abs=0.03)
    assert told.difference == pytest.approx(told.total - (told.equal_total or 0))
    assert "as many, while it does" in told.paragraph
    assert "At equal work that would be 1.1" in told.paragraph
    assert [column.header for column in explanation_table(told).columns] == [
        "cause",
        "jbb base",
        "at equal work",
        "jbb",
        "difference",
        "us/tx",
    ]
    steps = waterfall_steps(told)
    assert steps[0]["end"] == told.equal_total
    assert steps[0]["label"].endswith("equal work")
    assert all(b["start"] == a["end"] for a, b in itertools.pairwise(steps[:-1]))
    assert steps[-2]["end"] == steps[-1]["end"] == told.total


def test_a_line_from_afar_is_one_less_from_near_by(runs: tuple[Run, Run]) -> None:
    near, far = runs
    text = explain(far, None, near).paragraph
    assert "The largest part is distance" in text
    assert "against that, memory beside its own cores" in text


def test_a_line_from_near_by_more_is_told_beside_the_saving(runs: tuple[Run, Run]) -> None:
    near, far = runs
    text = explain(near, None, far).paragraph
    assert "The largest part of the saving is distance" in text
    assert re.search(r"; against that, memory beside its own cores [0-9.]+ more\.", text)


def test_cycles_of_an_instruction_are_compared_as_they_are(runs: tuple[Run, Run]) -> None:
    """0.925 and 1.075 ns at 4 GHz."""
    near, far = runs
    told = explain(far, None, near, by="cpi")
    assert (told.base_total, told.total, told.difference) == pytest.approx((3.7, 4.3, 0.6))
    assert told.price == pytest.approx(0.15)
    assert {row.cause: row.value for row in told.rows}["memory_far"] == pytest.approx(2.1)
    assert "4.300 cycles an instruction, that of near-" in told.paragraph
    assert told.as_json()["total"]["cpi"] == told.total
    assert told.total == pytest.approx(far.metrics["jbb"]["cpi"].mean, abs=5e-4)
    alone = explain(far, by="cpi").paragraph
    assert "(1.075 ns at 4 GHz)" in alone


def test_two_machines(runs: tuple[Run, Run]) -> None:
    near, _ = runs
    frame = cells.frame(
        cells.partition("jbb", range(8), NEAR), name="fast", clock_hz=8e9, core_rate=2.0
    )
    frame["machine"]["name"] = "test-cells-2"
    fast = run_scenario(frames.Frozen(frame))
    told = explain(near, None, fast)
    add_up(told)
    text = told.paragraph
    assert "different machines: test-cells with 4 GHz, test-cells-2 with 8 GHz." in text
    assert "The largest part is the instructions themselves (another core)" in text
    assert "no other place on test-cells would save it" in text
    # 1 cycle of the core in place of 2, but the same memory takes twice as many.
    cycles = explain(near, None, fast, by="cpi")
    assert (cycles.base_total, cycles.total) == pytest.approx((4.4, 3.7))
    assert "an instruction takes 0.925 ns against 0.550 ns" in cycles.paragraph
    assert cycles.price == pytest.approx(0.375)
    # 0.125 ns of the core in place of 0.5 ns.
    assert told.factor == pytest.approx(0.55 / 0.925, rel=2e-3)


def test_machines_of_one_name_that_are_not_the_same(runs: tuple[Run, Run]) -> None:
    slower = {"local": 300.0, "near": 300.0, "far": 400.0}
    frame = cells.frame(cells.partition("jbb", range(8), NEAR), name="slow", memory_ns=slower)
    text = explain(run_scenario(frames.Frozen(frame)), None, runs[0]).paragraph
    assert "Their machines are not the same: memory_ns differ." in text


def test_loops_are_compared_by_what_they_did() -> None:
    loop = cells.partition("p", range(4), NEAR)
    loop["workload"] = {"kind": "loops", "count": 4, "endless": True}
    far = {**loop, "memory": FAR}
    first, second = (
        run_scenario(frames.Frozen(cells.frame(partition, name=name)))
        for name, partition in (("l-near", loop), ("l-far", far))
    )
    told = explain(second, None, first)
    assert told.measure.price_title(told.breakdown) == "us/loop"
    assert told.is_scaled
    assert "the work of" in told.paragraph
    assert "loops a second" in told.paragraph


def test_units_that_do_not_compare_are_not_scaled(runs: tuple[Run, Run]) -> None:
    loop = cells.partition("p", range(4), NEAR)
    loop["workload"] = {"kind": "loops", "count": 4, "endless": True}
    other = run_scenario(frames.Frozen(cells.frame(loop, name="loop")))
    told = explain(other, None, runs[0])
    assert told.factor == 1.0
    assert told.price is None
    assert "which do not compare" in told.paragraph


def test_work_ratio() -> None:
    def books(rate: float, *, closed: bool) -> Breakdown:
        return Breakdown("r", "p", {}, Work("transaction", rate, closed=closed))

    assert work_ratio(books(995, closed=False), books(1000, closed=False)) == 1.0
    assert work_ratio(books(995, closed=True), books(1000, closed=True)) == 0.995
    assert work_ratio(books(900, closed=False), books(1000, closed=False)) == 0.9
    assert work_ratio(Breakdown("r", "p", {}), books(1.0, closed=False)) is None


def test_work_follows_from_instructions_where_nothing_is_counted() -> None:
    partition = {"workload": {"kind": "users"}, "profile": {"instructions_per_unit": 2e6}}
    assert work_done(partition, 8e6, None) == Work("transaction", 4.0, False, True)
    assert work_done(partition, 8e6, 3.5) == Work("transaction", 3.5, True, True)
    assert work_done({**partition, "workload": {"kind": "idle"}}, 8e6, None) is None


def test_nothing_done_has_no_cycles(runs: tuple[Run, Run]) -> None:
    books = Breakdown("run", "p", {cause.name: 0.0 for cause in CAUSES})
    with pytest.raises(HomenodeError, match=r"explain its cores \(--by cores\)"):
        MEASURES["cpi"].values(books)
    with pytest.raises(NotFoundError, match="nothing is explained by cips; did you mean cpi"):
        explain(runs[0], by="cips")


SPENT = st.fixed_dictionaries({cause.name: st.floats(0.0, 50.0) for cause in CAUSES})


@given(SPENT, st.floats(0.1, 20.0), st.floats(0.0, 5.0))
def test_cycles_add_up_whatever_the_books(
    time: dict[str, float], cpi: float, core_cycles: float
) -> None:
    cycles = cycles_of(time, cpi, core_cycles)
    if cycles is None:
        assert not any(spent for cause, spent in time.items() if cause != "guest_idle")
        return
    assert math.fsum(cycles.values()) == pytest.approx(cpi)
    assert all(spent >= 0 for spent in cycles.values())
    assert cycles["guest_idle"] == 0.0


def test_threads_that_share_a_core_take_their_cycles_each() -> None:
    """Two threads on a core all the time: of its second each books half. 2e9 instructions of 1.0
    cycles with an infinite cache, at 4 GHz: 0.25 s of useful work is booked, at 1 s of core time;
    the two threads were there for 2 s, 4 cycles an instruction.
    """
    time = dict.fromkeys((cause.name for cause in CAUSES), 0.0)
    time |= {"useful": 0.25, "memory_local": 0.5, "smt": 0.25}
    cycles = cycles_of(time, 4.0, 1.0)
    assert cycles is not None
    assert (cycles["useful"], cycles["memory_local"], cycles["smt"]) == (1.0, 2.0, 1.0)


@given(SPENT, SPENT, st.sampled_from(["cores", "cpi"]), st.floats(0.2, 5.0))
def test_rows_add_up_whatever_the_books(
    mine: dict[str, float], theirs: dict[str, float], by: str, ratio: float
) -> None:
    """The whole table of two random partitions, through the same door as a run's."""
    told = explain(Fixed(mine, 100.0), None, Fixed(theirs, 100.0 * ratio), by="cores")
    add_up(told)
    if any(spent for cause, spent in mine.items() if cause != "guest_idle"):
        alone = explain(Fixed(mine, 100.0), by=by)
        add_up(alone)
        whole = math.fsum(mine.values()) if by == "cores" else 2.0
        assert alone.total == pytest.approx(whole, abs=0.6 * 10.0**-alone.digits)
        assert alone.frame()[by].sum() == pytest.approx(alone.total)


class Fixed(Run):
    """A run whose books are given."""

    def __init__(self, cores: dict[str, float], rate: float) -> None:
        translation = {"entries": 1000, "walk_ns": 10.0}
        spec = cells.frame(cells.partition("jbb", range(8), NEAR), translation=translation)
        super().__init__(
            Path(),
            {
                "spec.json": spec,
                "replications.json": [],
                "summary.json": {"run": "fixed", "partitions": {"jbb": {}}},
                "provenance.json": {},
                "details.json": {},
                "machine.json": {},
            },
        )
        self.fixed = Breakdown(
            "fixed", "jbb", cores, Work("transaction", rate, closed=True), 1.0, None, 2.0, 1.0, 4e9
        )
        self.metrics = Zeros()  # type: ignore[misc]

    def breakdown(self, partition: str | None = None) -> Breakdown:
        return self.fixed


class Zeros(dict):  # type: ignore[type-arg]
    """Metrics of a partition that has none: what an advice reads is nothing."""

    def __missing__(self, _: str) -> object:
        from homenode.simulate.kept import METRICS, Estimate

        return {name: Estimate(0.0) for name in METRICS}


def test_finite_and_infinite_cache_make_the_whole(runs: tuple[Run, Run]) -> None:
    metrics = runs[1].metrics["jbb"]
    cpi, finite, infinite = (metrics[n].mean or 0.0 for n in ("cpi", "efcpi", "eicpi"))
    assert finite + infinite == pytest.approx(cpi)
    rows = {row.cause: row.value for row in explain(runs[1], by="cpi").rows}
    told = math.fsum(value for cause, value in rows.items() if cause in FINITE_CACHE)
    assert told == pytest.approx(finite, abs=2e-3)


def test_two_guests_on_two_kinds_of_machine(runs: tuple[Run, Run]) -> None:
    """AIX on a shared pool against HP-UX on cores of its own, both ways."""
    shared = run_scenario(frames.near_and_far(1)[0])
    for by in ("cores", "cpi"):
        for told in (
            explain(shared, "one", runs[0], by=by),
            explain(runs[0], None, shared, "one", by=by),
        ):
            add_up(told)
            assert "They run on different machines" in told.paragraph
            labels = {row.label for row in told.rows}
            assert {"memory, local", "another cache, other node"} <= labels
