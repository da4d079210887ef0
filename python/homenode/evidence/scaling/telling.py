"""The verdict on a scaling set in sentences, every number of them computed from the runs."""

from __future__ import annotations

from homenode.errors import listed
from homenode.evidence.scaling.capability import BETWEEN, PREDICTED
from homenode.evidence.scaling.causes import Growth, growth
from homenode.evidence.scaling.scaled import Scaled, Size
from homenode.model.scaling_curve import FRACTION, Step
from homenode.model.spec import ZvmSpec, zvm_of

_WORTH = 0.1
"""Share of the growth from which on a kind of time is named."""
_MOST = 3
_UNBOUND_PCT = 80.0
"""Busy below which processors are not what bounds throughput."""
_PHRASES = {
    "instructions": "instructions themselves",
    "caches": "the caches beyond the first",
    "shared lines": "lines that other processors changed",
    "memory": "memory",
    "switch list": "searching the switch's list",
    "spin": "spinning on locks",
    "hypervisor": "the hypervisor's own time",
    "threads": "threads sharing a core",
}


def tell(result: Scaled) -> list[str]:
    """Verdict, what grows, what bounds throughput, how sure."""
    lines = [_verdict(result), *_growth_lines(result), *_later_lines(result)]
    return [*lines, *_throughput_lines(result), *_caveats(result)]


def _verdict(result: Scaled) -> str:
    bend = result.bend
    if bend is None:
        least = min(result.steps, key=lambda step: step.fraction)
        return (
            "Gradual roll-off, no inflection: every step brings at least "
            f"{100 * FRACTION:.0f} % of what the capability curve offers; the least is "
            f"{100 * least.fraction:.0f} %, {_between(least)}."
        )
    before = [step for step in result.steps if step.end.processors <= bend.start.processors]
    text = (
        f"Inflection {_between(bend)}: {_brings(bend)} "
        f"(below {100 * FRACTION:.0f} % is an inflection)"
    )
    if before:
        lowest = min(step.fraction for step in before)
        text += f"; before it no step brings less than {100 * lowest:.0f} %"
    return f"{text}."


def _brings(step: Step) -> str:
    """What a step adds, beside what is offered; a fall is called one."""
    offers = f"where the capability curve offers {step.offered:.2f}"
    if step.gain < 0.0:
        return f"the step takes {-step.gain:.2f} of ITR ratio away {offers}"
    return (
        f"the step brings {step.gain:.2f} of ITR ratio {offers}, {100 * step.fraction:.0f} % of it"
    )


def _later_lines(result: Scaled) -> list[str]:
    """The worst of the steps after the bend that fall behind further than it did, and what grows
    there: that may be something else.
    """
    bend = result.bend
    if bend is None:
        return []
    worse = [
        step
        for step in result.steps
        if step.start.processors >= bend.end.processors and step.fraction < bend.fraction
    ]
    if not worse:
        return []
    worst = min(worse, key=lambda step: step.fraction)
    text = f"It gets worse {_between(worst)}: {_brings(worst)}."
    found = result.growth(worst)
    return [f"{text} Of what grows there, {_shares(found)}." if found[0].more_us > 0.0 else text]


def _between(step: Step) -> str:
    return f"from {step.start.processors} to {step.end.processors} processors"


def _growth_lines(result: Scaled) -> list[str]:
    """What grows in the step that bends, else over the whole set; with what it was one step
    before.
    """
    first, last = result.sizes[0], result.sizes[-1]
    step = result.bend
    if step is not None:
        first, last = result.size(step.start.processors), result.size(step.end.processors)
        found = result.growth(step)
    else:
        found = growth(first.costs, last.costs)
    from_us, to_us = first.costs.total_us, last.costs.total_us
    if to_us <= from_us:
        text = (
            f"A transaction takes {from_us:.1f} us of processor time with {first.processors} "
            f"processors and {to_us:.1f} with {last.processors}: nothing grows."
        )
        return [text]
    text = (
        f"With {last.processors} processors a transaction takes {to_us - from_us:.1f} us more "
        f"processor time than with {first.processors} ({from_us:.1f} to {to_us:.1f}). Of what "
        f"grows, {_shares(found)}."
    )
    return [text, *_earlier(result, step, found[0]), *_list_lines(result, last, found)]


def _shares(found: list[Growth]) -> str:
    named = [g for g in found if g.share >= _WORTH][:_MOST]
    told = [
        f"{100 * g.share:.0f} % is {_PHRASES[g.kind]} ({g.before_us:.1f} to {g.after_us:.1f} us)"
        for g in named
    ]
    return listed(told)


def _earlier(result: Scaled, step: Step | None, largest: Growth) -> list[str]:
    """What the largest growth was in the step before."""
    before = None
    if step is not None:
        before = next((s for s in result.steps if s.end is step.start), None)
    if before is None:
        return []
    was = next(g for g in result.growth(before) if g.kind == largest.kind)
    phrase = _PHRASES[largest.kind]
    text = (
        f"{phrase[0].upper()}{phrase[1:]}: {was.more_us:+.1f} us {_between(before)}, "
        f"{largest.more_us:+.1f} us in this step."
    )
    return [text]


def _list_lines(result: Scaled, last: Size, found: list[Growth]) -> list[str]:
    """What stands behind a list that grows: its length, and what would remove it."""
    share = next(g.share for g in found if g.kind == "switch list")
    lengths = list_lengths(zvm_of(last.run.partition_spec(result.partition)))
    if share < _WORTH or not lengths:
        return []
    text = (
        f"With {last.processors} processors the longest list of a layer-3 switch has "
        f"{max(lengths.values())} control blocks, and each search passes half of them on average; "
        "every block that another processor found since has been changed there and must be "
        "fetched, one after the other. Several switches with a part of the guests each shorten "
        "the list; a layer-2 switch has none."
    )
    return [text]


def list_lengths(zvm: ZvmSpec | None) -> dict[str, int]:
    """Control blocks on the list of each layer-3 switch: one for each machine coupled to it."""
    if zvm is None:
        return {}
    coupled = [machine["switch"] for machine in zvm.get("machines", [])]
    return {
        str(switch["name"]): coupled.count(index)
        for index, switch in enumerate(zvm.get("switches", []))
        if switch["layer"] == "ip"
    }


def _throughput_lines(result: Scaled) -> list[str]:
    """Whether throughput follows, and if it does not, what holds it."""
    first, last = result.sizes[0], result.sizes[-1]
    rates = [size.metric(result.partition, "etr_per_s") or 0.0 for size in (first, last)]
    busy = last.metric(result.partition, "busy_pct") or 0.0
    times, larger = rates[1] / rates[0], last.processors / first.processors
    text = (
        f"Throughput grows {times:.2f} times with {larger:.2f} times the processors, which are "
        f"{busy:.1f} % busy in the largest run"
    )
    if busy >= _UNBOUND_PCT:
        return [f"{text}."]
    waiting = last.costs.servers_waiting
    if waiting is None:
        return [f"{text}: something else than processors bounds it."]
    device = last.metric(result.partition, "volume_resp_ms") or 0.0
    before = first.metric(result.partition, "volume_resp_ms") or 0.0
    text += (
        f": paging bounds it. There a server waits for page reads {min(100.0, 100 * waiting):.0f} "
        f"% of the time; a read takes {device:.1f} ms, {before:.1f} in the smallest run."
    )
    return [text]


def _caveats(result: Scaled) -> list[str]:
    hows = {size.processors: size.capability_from for size in result.sizes}
    lines = []
    between = [str(n) for n, how in hows.items() if how == BETWEEN]
    if between:
        lines.append(
            f"The capability of {listed(between)} processors is on the line between the table's "
            "points."
        )
    predicted = [str(n) for n, how in hows.items() if how == PREDICTED]
    if predicted:
        lines.append(
            f"The capability of {listed(predicted)} processors is predicted from the machine's "
            "topology: no table has it."
        )
    low = [
        size
        for size in result.sizes
        if (size.metric(result.partition, "busy_pct") or 0.0) < _UNBOUND_PCT
    ]
    if low:
        lines.append(
            f"With {listed([str(size.processors) for size in low])} processors they are less than "
            f"{_UNBOUND_PCT:.0f} % busy: ITR is a little high there, since processors work more "
            f"efficiently when less busy.{_too_good(low)}"
        )
    return lines


def _too_good(low: list[Size]) -> str:
    """That sizes with idle processors do better than the capability curve is the model's lack of
    what idle processors cost, as far as published runs tell.
    """
    above = [size for size in low if size.itr_ratio > size.capability_ratio]
    if not above:
        return ""
    most = max(above, key=lambda size: size.itr_ratio / size.capability_ratio)
    return (
        f" That it grows more than the machine's capability ({most.itr_ratio:.2f} for "
        f"{most.capability_ratio:.2f} with {most.processors}) is not to be relied on: published "
        "runs of such work stay below it (study zvm-80-memory-rich)."
    )
