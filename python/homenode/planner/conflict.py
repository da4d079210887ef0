"""Where no layout keeps all rules: the fewest of them that already contradict each other."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from homenode.planner.advice import Answer, Named
from homenode.planner.exact import Exact
from homenode.planner.problem import Problem
from homenode.planner.rules import Rule
from homenode.planner.search import Search, nearly

_SMALL = 3
"""Sets up to which all are tried."""
_LOOKED_FOR = 40
"""Of them, how many layouts are looked for at most, where not every one was looked at."""
_ROUNDS = 2
_FEW = 50
"""Layouts that are looked at again where each is simulated."""


def conflict(search: Search, exact: Exact | None) -> list[Rule]:
    """The fewest wished rules of which no layout was found that keeps them all; empty where some
    layout keeps all. Of more than `_SMALL` one was found for all but any one of them.
    """
    wished = [at for at, rule in enumerate(search.rules) if rule.wished]
    if _is_kept(search, wished, exact):
        return []
    left = [*wished]
    for at in wished:
        less = [one for one in left if one != at]
        if not _is_kept(search, less, exact):
            left = less
    fewest = next(_fewer(search, wished, len(left), exact), left)
    return [search.rules[at] for at in fewest]


def _fewer(
    search: Search, wished: Sequence[int], than: int, exact: Exact | None
) -> Iterator[Sequence[int]]:
    """Sets of fewer rules than that of which no layout is found: of many nobody saw one, and so
    many are looked for.
    """
    open_ones = (one for one in _sets(wished) if len(one) < than and not _is_seen(search, one))
    most = None if search.proven else _LOOKED_FOR
    for chosen in itertools.islice(open_ones, most):
        if not _is_kept(search, chosen, exact):
            yield chosen


def is_freed(search: Search, unpinned: Problem, rules: Collection[Rule]) -> bool:
    """Whether a layout keeps these rules, and those of the machine, once nothing is pinned."""
    names = {rule.name for rule in rules}
    asked = [rule for rule in unpinned.rules if not rule.wished or rule.name in names]
    row = Exact(unpinned.space).layout(asked)[0]
    whole = unpinned.space.solver.whole
    again = Search(
        unpinned.space,
        unpinned.cost,
        asked,
        unpinned.goal,
        seed=search.seed,
        rounds=_ROUNDS,
        most=_FEW if whole else None,
    )
    return bool(again.run([] if row is None else [row]).kept.any())


def never_together(answers: Sequence[Answer]) -> tuple[Named, ...]:
    """The fewest rules, up to three, of which none of these layouts keeps all; none where one
    breaks nothing.
    """
    broken = [{*one.lacks} for one in answers]
    if not broken or not all(broken):
        return ()
    names = list(dict.fromkeys(named for one in answers for named in one.lacks))
    for size in range(1, _SMALL + 1):
        for chosen in itertools.combinations(names, size):
            if all(one & {*chosen} for one in broken):
                return chosen
    return ()


def _sets(wished: Collection[int]) -> Iterator[tuple[int, ...]]:
    """The small ones first."""
    for size in range(1, _SMALL + 1):
        yield from itertools.combinations(wished, size)


def _asked(search: Search, chosen: Collection[int]) -> list[int]:
    """These rules, and those of the machine."""
    return [at for at, rule in enumerate(search.rules) if not rule.wished or at in chosen]


def _is_seen(search: Search, chosen: Collection[int]) -> bool:
    """Whether a layout that was looked at keeps them."""
    return bool((~search.seen.broken[:, _asked(search, chosen)].any(axis=1)).any())


def _is_kept(search: Search, chosen: Collection[int], exact: Exact | None) -> bool:
    """Whether a layout keeps these rules, and those of the machine."""
    if _is_seen(search, chosen):
        return True
    if search.proven:
        return False
    asked, seen = _asked(search, chosen), search.seen
    rules = [search.rules[at] for at in asked]
    starts = [row[None, :] for row in nearly(seen, asked)]
    if exact is not None:
        row, disproved = exact.layout(rules)
        if disproved:
            return False
        starts += [] if row is None else [row]
    again = replace(
        search,
        rules=rules,
        rounds=_ROUNDS,
        seconds=None,
        most=_FEW if search.space.solver.whole else None,
        _parts=[],
        _excess=[],
        _places=[],
        _scores={},
    )
    return bool(again.run(starts).kept.any())
