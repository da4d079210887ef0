"""Where no layout keeps all rules: the fewest that contradict each other, by name and line."""

from __future__ import annotations

import itertools
import json
import random
import threading
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import layouts
import numpy as np
import pytest

from homenode.model.estimate import Estimate
from homenode.planner import advise
from homenode.planner import conflict as conflicts
from homenode.planner.advice import Answer, Named
from homenode.planner.budget import Budget
from homenode.planner.conflict import _Finding, never_together, smallest
from homenode.planner.cost import Solved
from homenode.planner.exact import Exact
from homenode.planner.front import Asked, advised
from homenode.planner.rules import Rule
from homenode.planner.search import Search
from homenode.planner.solver import Floats
from homenode.report.advice import advice_lines
from homenode.simulate.scenario import Scenario

PAIRS = [["lpar1", "lpar2"], ["lpar1", "lpar3"], ["lpar2", "lpar3"]]


def impossible(*, without: int | None = None) -> Scenario:
    """Three that are to be apart by one change, where two must move; perhaps without a rule."""
    aparts = [pair for at, pair in enumerate(PAIRS) if at != without]
    changes = "" if without == len(PAIRS) else "changes = 1\n"
    more = 'headroom = "5 %"\n'
    return layouts.scenario(
        *(layouts.partition(f"lpar{n}", rate=100) for n in (1, 2, 3)),
        advise=f'free = ["home"]\nslower = "100 %"\n{changes}apart = {aparts}\n{more}'.replace(
            "'", '"'
        ),
    )


@pytest.mark.parametrize("every", [0, 5000])
def test_the_set_is_the_smallest(every: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in ("search", "conflict"):
        monkeypatch.setattr(f"homenode.planner.{place}.EVERY", every)
    told = impossible()
    found = advise(told, confirm=False)
    assert found.verdict == "no layout keeps all rules"
    assert "no proof" not in found.told
    names = {one.rule for one in found.conflict}
    assert names == {"at most 1 change", *(f"{', '.join(pair)} apart" for pair in PAIRS)}
    lines = told.text.splitlines()
    for one in found.conflict:
        assert one.where is not None
        assert one.where.line is not None
        assert lines[one.where.line - 1].startswith(("changes", "apart"))
    assert {one["line"] for one in found.as_json()["conflict"]} == {
        one.where.line for one in found.conflict if one.where
    }


def test_one_rule_that_nothing_keeps_comes_before_four_that_contradict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for place in ("search", "conflict"):
        monkeypatch.setattr(f"homenode.planner.{place}.EVERY", 0)
    told = impossible().with_({"advise.headroom": "99 %"})
    found = advise(told, confirm=False)
    assert [one.rule for one in found.conflict] == ["headroom of 99 %"]


@pytest.mark.parametrize("without", range(len(PAIRS) + 1))
def test_dropping_any_one_of_them_makes_it_possible(without: int) -> None:
    found = advise(impossible(without=without), confirm=False)
    assert not found.conflict
    assert found.best


def test_one_rule_that_nothing_keeps_is_told_once() -> None:
    """Two apart, and no home may change."""
    told = layouts.crowded('apart = [["lpar1", "lpar2"]]\nheadroom = "1 %"')
    found = advise(told, free=["virtual"], confirm=False)
    assert [one.rule for one in found.conflict] == ["lpar1, lpar2 apart"]
    assert found.told.startswith("No layout keeps lpar1, lpar2 apart (")
    assert "\n".join(advice_lines(found)).count("lpar1, lpar2 apart") == 1


def test_another_machine_may_have_room_for_who_is_apart() -> None:
    told = layouts.crowded('apart = [["lpar1", "lpar2", "lpar3", "lpar4"]]\nfree = ["machine"]')
    assert told.file.advise is not None


def test_a_limit_that_no_layout_keeps_is_named() -> None:
    told = layouts.crowded('[[advise.limit]]\npartition = "lpar2"\nresponse = "2 us"')
    found = advise(told, free=["home"], confirm=False)
    (one,) = found.conflict
    assert "lpar2" in one.rule
    assert one.where is not None
    assert one.where.line == len(told.text.splitlines())


def test_the_exact_solver_agrees_with_going_through_all() -> None:
    """It keeps the linear rules with the fewest changes, and keeps them as the rules do."""
    for count in range(1, 4):
        for pairs in itertools.combinations(PAIRS, count):
            told = layouts.scenario(
                *(layouts.partition(f"lpar{n}", rate=100) for n in (1, 2, 3)),
                advise=f'free = ["home"]\nslower = "100 %"\napart = {[*pairs]}'.replace("'", '"'),
            )
            problem = layouts.problem(told)
            row, disproved = Exact(problem.space).layout(problem.rules)
            assert row is not None
            assert not disproved
            assert not problem.broken(row).any()
            search = Search(problem.space, problem.cost, problem.rules, problem.goal)
            seen = search.run()
            assert (row > 0).sum() == seen.changes[seen.kept].min()


def test_entitlements_of_the_exact_solver_fit_the_machine() -> None:
    """46 of 48 cores are entitled; one drawer lost leaves 32."""
    told = layouts.scenario(
        layouts.partition("lpar1", entitlement=23, virtual=24, rate=100),
        layouts.partition("lpar2", "drawer1", entitlement=23, virtual=24, rate=100),
        advise='free = ["entitlement"]\nnode_lost = true\nslower = "1000 %"',
    )
    problem = layouts.problem(told)
    row, _ = Exact(problem.space).layout(problem.rules)
    assert row is not None
    changed = problem.space.applied(row[0])
    assert sum(one.entitlement for one in changed.partitions) <= 32
    assert not problem.broken(row).any()


def test_pins_belong_to_the_set_only_where_they_forbid_it() -> None:
    """Two in one drawer that are to be apart, both pinned; a third is free, and no matter."""
    told = layouts.crowded(
        'free = ["home"]\napart = [["lpar1", "lpar2"]]\npinned = ["lpar1", "lpar2"]'
    )
    found = advise(told, confirm=False)
    assert [one.rule for one in found.conflict] == [
        "lpar1, lpar2 apart",
        "pinned: nothing of lpar1 changes",
        "pinned: nothing of lpar2 changes",
    ]
    lines = told.text.splitlines()
    for one in found.conflict[1:]:
        assert one.where is not None
        assert lines[(one.where.line or 0) - 1].startswith("pinned")
    other = layouts.crowded('free = ["virtual"]\napart = [["lpar1", "lpar2"]]\npinned = ["lpar4"]')
    (one,) = advise(other, confirm=False).conflict
    assert one.rule.endswith("apart")


def test_pins_are_in_the_way_of_spaces_that_are_gone_through_too() -> None:
    told = layouts.scenario(
        *(layouts.partition(f"lpar{n}", rate=100) for n in (1, 2, 3)),
        advise='free = ["home"]\napart = [["lpar1", "lpar2"]]\npinned = ["lpar1", "lpar2"]',
    )
    found = advise(told, confirm=False)
    assert [one.rule for one in found.conflict] == [
        "lpar1, lpar2 apart",
        "pinned: nothing of lpar1 changes",
        "pinned: nothing of lpar2 changes",
    ]
    assert "no proof" not in found.told


def test_of_many_pins_only_those_that_are_in_the_way_belong_to_the_set() -> None:
    """The first may move, and the second is pinned: one of the other two has to."""
    told = layouts.crowded(
        'free = ["home"]\nchanges = 2\napart = [["lpar1", "lpar2"], ["lpar3", "lpar4"]]\n'
        'pinned = ["lpar2", "lpar3", "lpar4"]'
    )
    names = [one.rule for one in advise(told, confirm=False).conflict]
    assert names == [
        "lpar3, lpar4 apart",
        "pinned: nothing of lpar3 changes",
        "pinned: nothing of lpar4 changes",
    ]


def pairs_apart(count: int) -> Scenario:
    """So many pairs in one drawer, each to be apart, by one change too few; and other wishes."""
    names = [f"lpar{at}" for at in range(1, 2 * count + 1)]
    apart = json.dumps([names[at : at + 2] for at in range(0, len(names), 2)])
    return layouts.scenario(
        *(layouts.partition(name, rate=40, virtual=4) for name in names),
        advise=f'free = ["home"]\nslower = "100 %"\nheadroom = "5 %"\napart = {apart}\n'
        f"changes = {count - 1}",
    )


@pytest.mark.parametrize("count", [3, 4])
def test_four_and_five_rules_contradict_each_other(count: int) -> None:
    """Of spaces that are too large to go through."""
    told = pairs_apart(count)
    found = advise(told, confirm=False)
    names = [one.rule for one in found.conflict]
    assert len(names) == count + 1
    assert sum(one.endswith("apart") for one in names) == count
    assert names[0] == f"at most {count - 1} changes"
    assert "no proof" not in found.told
    more = told.with_({"advise.changes": count})
    assert not advise(more, confirm=False).conflict


def test_a_set_of_five_is_told_though_a_search_meets_one_of_six_first() -> None:
    """Four that are all to be apart on three drawers are six rules; five others are fewer."""
    told = pairs_apart(4)
    names = ["lpar1", "lpar3", "lpar5", "lpar7"]
    assert told.file.advise is not None
    every = [*told.file.advise.apart, *map(list, itertools.combinations(names, 2))]
    found = advise(told.with_({"advise.apart": every}), confirm=False)
    assert len(found.conflict) == 5
    six = advise(told.with_({"advise.apart": every, "advise.changes": 8}), confirm=False)
    assert {one.rule for one in six.conflict} == {
        f"{one}, {other} apart" for one, other in itertools.combinations(names, 2)
    }


@pytest.mark.parametrize("seed", range(40))
def test_the_smallest_that_has_one_of_each(seed: int) -> None:
    """Against all sets of up to five, and of some more."""
    dice = random.Random(seed)
    every = range(dice.randint(3, 10))
    sets = {
        frozenset(dice.sample(every, dice.randint(1, min(4, len(every)))))
        for _ in range(dice.randint(0, 14))
    }
    sizes = range(len(every) + 1)
    least = next(
        size
        for size in sizes
        if any(all(one & {*some} for one in sets) for some in itertools.combinations(every, size))
    )
    found = smallest(sets)
    assert found is not None
    assert len(found) == least
    assert all(one & {*found} for one in sets)
    assert smallest({*sets, frozenset[int]()}) is None


@pytest.mark.parametrize("steps", [None, 100])
def test_where_the_smallest_takes_too_long_none_can_be_left_out(
    steps: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The smallest that has one of each of 3,000 sets of six takes more than twenty seconds."""
    if steps is not None:
        monkeypatch.setattr(conflicts, "_STEPS", steps)
    dice = random.Random(3)
    sets = {frozenset(dice.sample(range(30), 6)) for _ in range(3_000)}
    found = smallest(sets)
    assert found is not None
    assert all(one & {*found} for one in sets)
    for at in found:
        assert not all(one & ({*found} - {at}) for one in sets)


@pytest.mark.parametrize("bound", ["_STEPS", "_LOOKED_FOR", None])
def test_a_set_that_may_not_be_the_smallest_is_told_as_one(
    bound: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if bound is not None:
        monkeypatch.setattr(conflicts, bound, 0)
    found = advise(impossible(), confirm=False)
    assert len(found.conflict) > 1
    assert ("Fewer may contradict each other too" in found.told) == (bound is not None)


def test_a_layout_that_keeps_all_rules_counts_in_the_last_round_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(conflicts, "_LOOKED_FOR", 1)
    problem = layouts.problem(impossible())
    search = Search(problem.space, problem.cost, problem.rules, problem.goal)

    class Found(_Finding):
        def _is_kept(self, chosen: Collection[int]) -> bool:
            assert chosen
            self.sets.add(frozenset())
            return True

    finding = Found(search, None, proven=False)
    finding.sets = {frozenset(finding.wished[:2])}
    assert not finding.fewest()


def random_rules(dice: random.Random) -> Scenario:
    """Three partitions in one drawer of three, and rules of which some contradict each other."""
    names = ["lpar1", "lpar2", "lpar3"]
    apart = dice.sample([*itertools.combinations(names, 2), tuple(names)], dice.randint(1, 3))
    lines = [
        'free = ["home"]',
        f"changes = {dice.choice([1, 1, 2])}",
        f'headroom = "{dice.choice([10, 68, 74])} %"',
        f'slower = "{dice.choice([20, 100])} %"',
        f"apart = {json.dumps(apart)}",
        f'[[advise.limit]]\npartition = "{dice.choice(names)}"',
        f'response = "{dice.choice([5, 6, 7, 20])} ms"',
    ]
    rates = [dice.choice([100, 400, 600]) for _ in names]
    parts = [layouts.partition(name, rate=rate) for name, rate in zip(names, rates, strict=True)]
    return layouts.scenario(*parts, advise="\n".join(lines))


@pytest.mark.parametrize("seed", range(12))
def test_no_smaller_set_contradicts_itself(seed: int) -> None:
    """Against going through all layouts and all sets of rules."""
    told = random_rules(random.Random(seed))
    problem = layouts.problem(told)
    values = [range(1 + len(one.values)) for one in problem.space.variables]
    rows = np.array([*itertools.product(*values)], dtype=problem.space.now().dtype)
    broken = problem.broken(rows) > 0
    sound = problem.solved(rows).sound
    rules = problem.rules
    machine = [at for at, rule in enumerate(rules) if not rule.wished]
    able = sound & ~broken[:, machine].any(axis=1)
    wished = [at for at, rule in enumerate(rules) if rule.wished]
    sizes = (
        size
        for size in range(len(wished) + 1)
        for some in itertools.combinations(wished, size)
        if not (able & ~broken[:, [*some]].any(axis=1)).any()
    )
    fewest = next(sizes, None)
    found = advise(told, confirm=False, rounds=0)
    if fewest is None:
        assert not found.conflict
        return
    names = [one.rule for one in found.conflict]
    assert len(names) == fewest, names
    chosen = [at for at in wished if rules[at].name in names]
    assert len(chosen) == fewest
    assert not (able & ~broken[:, chosen].any(axis=1)).any()


LICENSED = """
[[partition]]
name = "app"
processors = { mode = "shared", entitlement = 2.0, virtual = 8 }
memory = "32 GiB"
home = "drawer1"
workload = { kind = "transactions", rate = "300/s", bursts = 4, profile = "oltp" }

[[partition]]
name = "own"
processors = { mode = "dedicated", cores = 4 }
memory = "16 GiB"
home = "drawer2"
workload = { kind = "transactions", rate = "200/s", bursts = 4, profile = "oltp" }
"""
OWNED = """
free = ["virtual", "cores"]
slower = "{slower}"

[[advise.licence]]
product = "mq"
partitions = ["app", "own"]
cost = 1000
currency = "EUR"
owned = 6
"""


def test_what_mends_one_rule_may_break_another_on_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first rule is nearly kept where the second one is broken a little, and from there every
    single step is a step back; both hold where two values change at once.
    """
    monkeypatch.setattr("homenode.planner.search.EVERY", 0)
    problem = layouts.problem(layouts.scenario(LICENSED), free=["virtual", "cores"])
    virtual, cores = problem.space.variables
    four, six = (1 + virtual.values.index(count) for count in (4, 6))
    two = 1 + cores.values.index(2)

    def first(told: Solved) -> Floats:
        here = (told.rows == [four, two]).all(axis=1) | (told.rows[:, 0] == six)
        return np.where(here, 0.0, 1.0)

    def second(told: Solved) -> Floats:
        return np.where(told.rows[:, 0] == six, 0.1, 0.0)

    rules = [Rule("first", first), Rule("second", second)]
    search = Search(problem.space, problem.cost, rules, problem.goal, rounds=0)
    seen = search.run()
    assert seen.rows[seen.kept].tolist() == [[four, two]]


@pytest.mark.parametrize("every", [0, 5000])
def test_a_set_is_no_set_where_a_layout_keeps_it(
    every: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With `app` at four and `own` at two only the response of `own` is too long."""
    monkeypatch.setattr("homenode.planner.search.EVERY", every)
    told = layouts.scenario(LICENSED, advise=OWNED.format(slower="10 %"))
    found = {one.rule for one in advise(told, confirm=False).conflict}
    assert found == {
        "response of app at most 10 % longer",
        "response of own at most 10 % longer",
        "6 licences of mq",
    }


def looked_for(monkeypatch: pytest.MonkeyPatch, do: Callable[[], None]) -> None:
    """Does something as soon as rules that contradict each other are looked for."""
    monkeypatch.setattr("homenode.planner.search.EVERY", 0)

    def first(*told: Any) -> tuple[int, ...] | None:
        do()
        return smallest(*told)

    monkeypatch.setattr(conflicts, "smallest", first)


@pytest.mark.parametrize("by_event", [True, False])
def test_who_interrupts_while_rules_are_looked_for_is_told_of_none(
    by_event: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was not looked for to the end may be there."""
    stop = threading.Event()

    def interrupted() -> None:
        if not by_event:
            raise KeyboardInterrupt
        stop.set()

    looked_for(monkeypatch, interrupted)
    told = layouts.scenario(LICENSED, advise=OWNED.format(slower="10 %"))
    found = advise(told, confirm=False, stop=stop)
    assert found.stopped
    assert not found.conflict
    assert "It was interrupted" in found.told
    assert "keeps" not in found.told


def test_that_the_time_is_over_while_rules_are_looked_for_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [0.0]

    def late() -> None:
        now[0] = 100.0

    looked_for(monkeypatch, late)
    told = layouts.scenario(LICENSED, advise=OWNED.format(slower="10 %"))
    asked = Asked(budget=Budget(50.0, lambda: now[0]))
    found = advised(layouts.problem(told), asked, None)
    assert found.conflict
    assert found.late
    assert "no proof. The time was over" in found.told


def test_what_simulations_never_keep_together_is_the_smallest_such_set() -> None:
    rules = {name: Named(name, None) for name in "abcd"}

    def broken(names: str) -> Answer:
        lacks = tuple(rules[name] for name in names)
        nothing = Estimate(None)
        return Answer((), nothing, None, nothing, 0.0, lacks=lacks)

    three = [broken(names) for names in ("ab", "bc", "ad", "cd")]
    found = never_together(three)
    assert len(found) == 2
    assert all({*found} & {*one.lacks} for one in three)
    assert never_together([broken("cab"), broken("bd")]) == (rules["b"],)
    assert never_together([broken("a"), broken("")]) == ()
    assert never_together([]) == ()
    four = [broken(one) for one in "abcd"]
    assert never_together(four) == tuple(rules.values())


CAPPED_POOL = (
    layouts.HEAD
    + """
[[pool]]
name = "wide"
maximum = 12

[[pool]]
name = "small"
maximum = 4
"""
)


def pooled() -> Scenario:
    """Two databases in a pool of twelve cores, which would do with four, but for their waits."""
    both = (
        layouts.partition(f"db{n}", rate=200, more=', pool = "wide"', home="drawer0")
        for n in (1, 2)
    )
    licence = """
[[advise.licence]]
product = "database"
partitions = ["db1", "db2"]
cost = 1000
currency = "EUR"
"""
    other = layouts.partition("app", rate=300, home="drawer1")
    advised = f'goal = "money"\nfree = ["pool"]\n{licence}'
    return layouts.scenario(*both, other, advise=advised, head=CAPPED_POOL)


def test_what_a_simulation_refuses_for_several_rules_names_all_of_them(tmp_path: Path) -> None:
    # Of as many replications that neither is longer by chance.
    found = advise(pooled(), out=tmp_path, replications=8)
    assert not found.best
    (one,) = [one for one in found.refused if one.also]
    assert {named.rule for named in (one.rule, *one.also)} == {
        f"response of db{n} at most 10 % longer" for n in (1, 2)
    }
    assert str(one).count("% longer") == 4  # each rule, and by how much
    told = one.as_json()
    assert [told["constraint"], *(named["constraint"] for named in told["also"])] == [
        one.rule.rule,
        one.also[0].rule,
    ]
    assert "saves 8,000.00 EUR, but breaks" in found.told
    assert found.as_json()["conflict"] == []  # the layout as it is keeps all


def test_a_response_that_is_not_solved_is_not_told() -> None:
    alone = advise(pooled(), confirm=False)
    (best, *_) = alone.best
    assert best.unknown == ("db1", "db2")
    assert best.response_ms.mean is None
    assert "It does not know how long db1, db2 would answer." in alone.told
    assert best.as_json()["responses_not_solved"] == ["db1", "db2"]
