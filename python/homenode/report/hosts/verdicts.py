"""What a comparison says, in sentences: the answer first, then what makes it doubtful."""

from __future__ import annotations

import math

from homenode.errors import HomenodeError, listed
from homenode.hosts.comparison import Claim, Comparison
from homenode.hosts.comparison.claim import claim_of
from homenode.hosts.reduce import Pair
from homenode.hosts.reduce.pair import MATCHED_POINTS
from homenode.hosts.statistics import ALPHA
from homenode.report.hosts.words import between, counted, deviation, percent, reasons


def comparison_sentences(found: Comparison) -> list[str]:
    """The answer, the claim, cases that are open or doubtful, how to read the tables."""
    lines = [*_side_lines(found), _answer(found)]
    if found.claim is not None:
        lines += _claim_lines(found, found.claim)
    lines += _spread_lines(found)
    lines += _undecided_lines(found)
    lines += _chance_line(found)
    lines += _doubts(found)
    lines += _session_lines(found)
    return [*lines, *_how_to_read(found)]


def _side_lines(found: Comparison) -> list[str]:
    """What the sides were set to; of equal ones, that there is nothing to find."""
    if not found.sides:
        return []
    if found.sides_alike:
        words = next(iter(found.sides.values()))
        how = f" ({words})" if words else ""
        return [f"Both sides were set alike{how}: what differs is noise, a deviation is none."]
    each = (f"{name}: {words or 'nothing set'}" for name, words in found.sides.items())
    return ["; ".join(each) + "."]


def _answer(found: Comparison) -> str:
    mean = found.speed
    over = f" on average over {counted(len(found.pairs), 'case')}" if len(found.pairs) > 1 else ""
    change = 100.0 * (mean.mean - 1.0)
    more = "more" if change >= 0.0 else "less"
    text = f"{found.second} does {abs(change):.1f} % {more} work in the same time{over}"
    facts = []
    if mean.low is not None:
        facts.append(f"95 % interval {between(mean.low, mean.high)} %")
    if found.floor is not None:
        facts.append(f"noise floor {percent(found.floor)} %")
    return f"{text} ({', '.join(facts)})." if facts else f"{text}."


def _claim_lines(found: Comparison, claim: Claim) -> list[str]:
    pct = f"{claim.pct:g} %"
    lines = {
        "holds": f"At least {pct} faster: yes, the whole interval lies above.",
        "does not hold": f"At least {pct} faster: no, the whole interval lies below.",
        "undecided": f"At least {pct} faster: undecided, {pct} lies within what these runs leave "
        "open.",
    }
    result = [lines[claim.verdict]]
    for pair, one in found.claims():
        if one.verdict == "undecided":
            result += _runs_line(pair, claim.pct)
    return result[:6]


def _runs_line(pair: Pair, pct: float) -> list[str]:
    """How many runs would tell the measured ratio from the claimed one."""
    away = pair.speed.mean / (1.0 + pct / 100.0) - 1.0
    kind = "pairs" if pair.speed.paired else "runs of each"
    try:
        runs = pair.runs_for(away)
    except HomenodeError:
        runs = None
    if runs is None:
        return [f"  {pair.first.key.case}: no number of runs would tell it at this noise."]
    bare = claim_of(pct, pair.speed.mean, pair.speed.low, pair.speed.high, None)
    if bare.verdict != "undecided":
        return [f"  {pair.first.key.case}: the noise floor, not chance, leaves it open."]
    runs = max(runs, pair.speed.first_runs + 1)
    return [f"  {pair.first.key.case}: about {runs} {kind} would decide it."]


def _spread_lines(found: Comparison) -> list[str]:
    """Whether the cases agree with each other."""
    sized = [p for p in found.pairs if p.speed.low is not None and p.speed.high is not None]
    if len(sized) < 2:
        return []
    least = min(sized, key=lambda p: p.speed.high or math.inf)
    most = max(sized, key=lambda p: p.speed.low or 0.0)
    if (least.speed.high or 0.0) >= (most.speed.low or 0.0):
        return []
    line = (
        f"The cases differ by more than chance, from {least.deviation_pct:+.1f} % "
        f"({least.first.key.case}) to {most.deviation_pct:+.1f} % ({most.first.key.case}): look at "
        "the one that your work is like, a mean stands for none of them."
    )
    return [line]


def _undecided_lines(found: Comparison) -> list[str]:
    open_ = [pair for pair in found.pairs if pair.verdict == "undecided"]
    if not open_:
        return []
    names = listed([pair.first.key.case for pair in open_], 6)
    few = [pair for pair in open_ if pair.speed.p is None]
    line = f"Undecided, faster or slower: {names}."
    if few:
        line += " " + (
            "It takes 6 pairs at least, whatever the difference."
            if few[0].speed.paired
            else "It takes 4 runs of each at least, whatever the difference."
        )
    return [line]


def _chance_line(found: Comparison) -> list[str]:
    """How many of so many cases are called by chance alone, and which may be such."""
    lines = []
    if found.false_calls >= 1.0:
        lines.append(
            f"Of {found.tested} cases that are alike, up to {found.false_calls:.0f} would be "
            "called faster or slower by chance."
        )
    marked = sum(found.lone)
    if marked:
        verb = "is" if marked == 1 else "are"
        lines.append(
            f"* {counted(marked, 'case')} of {found.tested} {verb} decided alone, but not at a "
            f"risk of {100 * ALPHA:.0f} % for all of them together (Holm): more runs would tell."
        )
    return lines


def _doubts(found: Comparison) -> list[str]:
    lines = []
    for pair in found.pairs:
        case = pair.first.key.case
        if not pair.speed.agrees:
            lines.append(
                f"{case}: ranks and interval disagree: it is near the edge, or some runs lie far "
                f"out; the median of all ratios is {deviation(pair.speed.hodges_lehmann)} %."
            )
        if pair.contradicts and pair.implied_use is not None and pair.used is not None:
            lines.append(
                f"{case}: deviation and saving imply {pair.implied_use:.2f} times the processors "
                f"in use, measured are {pair.used:.2f}: its score is not the rate of its work "
                f"({deviation(pair.work)} %)."
            )
        if pair.same_path is False:
            lines.append(
                f"{case}: a unit takes another number of instructions on either: another build or "
                "another path, not a faster processor alone."
            )
        if pair.same_work is False:
            lines.append(
                f"{case}: what its runs made is not the same: other versions of the program, or "
                "other work; see the details of the records."
            )
        if pair.first.key.processors != pair.second.key.processors:
            lines.append(
                f"{case}: {pair.first.key.processors} and {pair.second.key.processors} processors: "
                "hosts are compared, not processors."
            )
    unknown = [p.first.key.case for p in found.pairs if p.first.unknown_cpu or p.second.unknown_cpu]
    if unknown:
        lines.append(
            f"Not compared by processor time: {listed(unknown, 6)}: that of some runs is not known."
        )
    unmatched = [p.first.key.case for p in found.pairs if p.cpu is not None and not p.matched]
    if unmatched:
        lines.append(
            f"Not compared by processor time (in brackets): {listed(unmatched, 6)}: busy differs "
            f"by more than {MATCHED_POINTS:.0f} points, and what a unit costs depends on it; "
            "measure at another load, or at a given rate."
        )
    return lines


def _session_lines(found: Comparison) -> list[str]:
    lines = list(found.notes)
    for name, why in (found.rejected or {}).items():
        if why:
            lines.append(f"Rejected of {name}: {reasons(why)}.")
    dropped = sum(pair.dropped for pair in found.pairs)
    if dropped:
        verb = "was" if dropped == 1 else "were"
        lines.append(f"{counted(dropped, 'run')} without a partner {verb} left out.")
    if found.missing:
        lines.append(f"Not compared: {listed(found.missing, 6)}.")
    if found.hosts_differ:
        lines.append(f"The hosts differ in {'; '.join(found.hosts_differ)}.")
    return lines


def _how_to_read(found: Comparison) -> list[str]:
    order = "paired runs in turn" if found.paired else "independent runs"
    how = (
        f"deviation: {order}, interval by t on logarithms, verdict by ranks at 5 %; floor: what a "
        f"host deviates from itself, by {found.floors_from}."
    )
    lines = [how]
    if any(pair.cpu is not None for pair in found.pairs):
        lines.append(
            "use, implied: (1 + deviation) (1 - saving), the ratio of the processors in use that "
            "the pair of figures asserts."
        )
    if not found.paired:
        lines.append(
            "Two hosts cannot be measured in turn: a second session of the first one (--again) "
            "shows what a session alone changes."
            if "two sessions" not in found.floors_from
            else "The floor holds what a second session of the first host changed."
        )
    return lines
