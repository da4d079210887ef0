"""`compare` two results, `compare_settings` of one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from homenode.errors import listed
from homenode.hosts.comparison.claim import refuse_senseless_claim
from homenode.hosts.comparison.comparison import Comparison
from homenode.hosts.comparison.notes import notes_of, same_session, sides_of, why_absent
from homenode.hosts.comparison.refuse import chosen, hosts_differ, refuse_differences
from homenode.hosts.errors import MeasureError
from homenode.hosts.reduce import Cell, Measured, Pair, cells_of, pair_of, systems_of

WITHIN, BETWEEN = "each system's own runs", "each system's own runs and two sessions of the first"


def compare(
    first: Measured,
    second: Measured,
    *,
    again: Measured | None = None,
    only: Sequence[str] = (),
    claim_pct: float | None = None,
) -> Comparison:
    """The second result against the first.

    `again` is a further result of the first's host, of another session: what it deviates from the
    first is a noise floor too. Raises `MeasureError` where versions or settings differ, naming
    them.
    """
    refuse_senseless_claim(claim_pct)
    a, b = (_only_system(result) for result in (first, second))
    mine, theirs = (_by_case(result) for result in (first, second))
    common = chosen([case for case in mine if case in theirs], only)
    if not common:
        raise MeasureError(
            "the two results have no case in common",
            there=f"{listed(mine)} and {listed(theirs)}",
            next_step="measure the same suite on both hosts",
        )
    refuse_differences(first, second, common)
    floors: Mapping[tuple[str, int, float], float] = {}
    if again is not None:
        floors = _floors_between(first, again, common)
    if a == b:
        a, b = _told_apart(a, first, second)
    pairs, missing = _pairs(mine, theirs, common, floors, paired=False)
    if not only:
        missing += _one_sided(mine, theirs, {a: first, b: second})
    return Comparison(
        first=a,
        second=b,
        pairs=_some(pairs, missing),
        paired=False,
        titles=_titles(first),
        floors_from=WITHIN if again is None else BETWEEN,
        claim_pct=claim_pct,
        hosts_differ=tuple(hosts_differ(first, second)),
        missing=tuple(missing),
        rejected={a: _rejections(first), b: _rejections(second)},
        notes=(*same_session(first, second), *notes_of({a: first, b: second}, common)),
    )


def compare_settings(
    result: Measured, *, only: Sequence[str] = (), claim_pct: float | None = None
) -> Comparison:
    """The second against the first of two systems that were measured in turn in one session."""
    refuse_senseless_claim(claim_pct)
    names = systems_of(result.records)
    if len(names) != 2:
        raise MeasureError(
            f"a comparison takes two systems: the result has runs of {listed(names) or 'none'}",
            there=_failure(result),
            next_step="measure two settings with `homenode measure ab`",
        )
    a, b = sorted(names)
    mine, theirs = _by_case(result, a), _by_case(result, b)
    common = chosen([case for case in mine if case in theirs], only)
    pairs, missing = _pairs(mine, theirs, common, {}, paired=True)
    if not only:
        missing += _one_sided(mine, theirs, {a: result, b: result})
    return Comparison(
        first=a,
        second=b,
        pairs=_some(pairs, missing),
        paired=True,
        titles=_titles(result),
        floors_from=WITHIN,
        claim_pct=claim_pct,
        missing=tuple(missing),
        rejected={name: _rejections(result, name) for name in (a, b)},
        sides=sides_of(result, (a, b)),
        notes=tuple(notes_of({a: result, b: result}, common)),
    )


Cells = Mapping[str, Sequence[Cell]]


def _by_case(result: Measured, system: str | None = None) -> dict[str, list[Cell]]:
    found: dict[str, list[Cell]] = {}
    for cell in cells_of(result.records):
        if system is None or cell.key.system == system:
            found.setdefault(cell.key.case, []).append(cell)
    return found


def _only_system(result: Measured) -> str:
    names = systems_of(result.records)
    if len(names) == 1:
        return names[0]
    raise MeasureError(
        f"a result of one system is compared with that of another: this one has "
        f"{listed(names) or 'no records'}",
        next_step="a result with two settings is a comparison already: `homenode measure show`",
    )


def _pairs(
    mine: Cells,
    theirs: Cells,
    cases: Iterable[str],
    floors: Mapping[tuple[str, int, float], float],
    *,
    paired: bool,
) -> tuple[list[Pair], list[str]]:
    """Pairs of all cells that have a partner, and the cases that have none."""
    pairs, missing = [], []
    for case in cases:
        partners = _partners(mine[case], theirs[case])
        if not partners:
            missing.append(f"{case}: measured with other processors or loads")
        for a, b in partners:
            if paired:
                both = bool({r.replicate for r in a.runs} & {r.replicate for r in b.runs})
            else:
                both = bool(a.runs and b.runs)
            if not both:
                missing.append(f"{case}: no run of both systems counts, all were rejected")
                continue
            key = (case, a.key.processors, a.key.load)
            pairs.append(pair_of(a, b, paired=paired, floor=floors.get(key)))
    return pairs, missing


def _partners(first: Sequence[Cell], second: Sequence[Cell]) -> list[tuple[Cell, Cell]]:
    """Cells with the same processors and load; the only ones of either system whatever theirs are,
    since two hosts may differ in their processors.
    """
    if len(first) == 1 and len(second) == 1:
        return [(first[0], second[0])]
    by_size = {(cell.key.processors, cell.key.load): cell for cell in second}
    return [
        (cell, by_size[size])
        for cell in first
        if (size := (cell.key.processors, cell.key.load)) in by_size
    ]


def _floors_between(
    first: Measured, again: Measured, cases: Iterable[str]
) -> dict[tuple[str, int, float], float]:
    """What two sessions of one host deviate by, cell by cell [ratio less one]."""
    others = hosts_differ(first, again)
    if others:
        raise MeasureError(
            f"the other session is of another host: {'; '.join(others[:4])}",
            next_step="give --again a second result of the host that is compared with",
        )
    mine, theirs = _by_case(first), _by_case(again)
    common = [case for case in cases if case in theirs]
    refuse_differences(first, again, common)
    pairs, _ = _pairs(mine, theirs, common, {}, paired=False)
    return {
        (p.first.key.case, p.first.key.processors, p.first.key.load): math.expm1(
            abs(math.log(p.speed.mean))
        )
        for p in pairs
    }


def _failure(result: Measured) -> str | None:
    """Why a side has no run, if the session says so."""
    for one in getattr(result, "failures", ()):
        return f"{one.get('case')} failed on {one.get('system')}: {one.get('why')}"
    return None


def _some(pairs: list[Pair], missing: Sequence[str]) -> tuple[Pair, ...]:
    if not pairs:
        raise MeasureError(
            "nothing can be compared",
            there="; ".join(missing[:4]),
            next_step="measure again on quieter hosts, with the same --processors",
        )
    return tuple(pairs)


def _told_apart(name: str, first: Measured, second: Measured) -> tuple[str, str]:
    """Names of two systems of one name: those of their files, where these differ."""
    stems = [path.stem if (path := getattr(one, "path", None)) else "" for one in (first, second)]
    if all(stems) and stems[0] != stems[1]:
        return stems[0], stems[1]
    return f"{name} (first)", f"{name} (second)"


def _one_sided(mine: Cells, theirs: Cells, results: Mapping[str, Measured]) -> list[str]:
    """Cases that only one of the two has, with what the other's session says of them."""
    found = []
    sides = list(results.items())
    for here, there, (has, _), (lacks, result) in (
        (mine, theirs, sides[0], sides[1]),
        (theirs, mine, sides[1], sides[0]),
    ):
        for case in here:
            if case not in there:
                reason = why_absent(result, lacks, case)
                found.append(f"{case}: only of {has}{f' ({lacks}: {reason})' if reason else ''}")
    return found


def _rejections(result: Measured, system: str | None = None) -> dict[str, int]:
    found: dict[str, int] = {}
    for record in result.records:
        if record.rejected is not None and system in (None, record.system):
            found[record.rejected] = found.get(record.rejected, 0) + 1
    return found


def _titles(result: Measured) -> dict[str, str]:
    return {case: str(about.get("title", "")) for case, about in result.cases.items()}
