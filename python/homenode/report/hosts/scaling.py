"""A measured scaling set as a table and in sentences."""

from __future__ import annotations

from rich.markup import escape
from rich.table import Table

from homenode.hosts.reduce import ScalingSet, Size
from homenode.hosts.reduce.pair import MATCHED_POINTS
from homenode.hosts.statistics import Usl
from homenode.model.numbers import NOTHING, number, significant
from homenode.model.scaling_curve import FRACTION
from homenode.report.hosts.responses import response_mean, tail
from homenode.report.hosts.words import percent
from homenode.report.tables import plain_table


def scaling_table(found: ScalingSet) -> Table:
    """A column a size, as `homenode scaling` has them."""
    table = plain_table(
        "processors",
        *(str(size.processors) for size in found.sizes),
        title=f"{escape(found.case)} on {escape(found.system)} in {len(found.sizes)} sizes",
    )
    rows = {
        "ETR": [_middle(size.etr) for size in found.sizes],
        "ITR": [_middle(size.itr) for size in found.sizes],
        "processor busy %": [percent(size.cell.busy) for size in found.sizes],
        "us of processor time a unit": [
            NOTHING if size.cpu_per_unit_us is None else significant(size.cpu_per_unit_us)
            for size in found.sizes
        ],
        "response, mean [ms]": [response_mean(size.cell) for size in found.sizes],
        "response, tail [ms]": [tail(size.cell) for size in found.sizes],
        "ITR ratio": [_ratio(size) for size in found.sizes],
        "  95 % interval": [_interval(size) for size in found.sizes],
        "reference ratio": [number(size.capability_ratio) for size in found.sizes],
        "worth of a processor": [number(worth, 3) for worth in found.empirical()],
    }
    for label, cells in rows.items():
        table.add_row(label, *cells)
    table.add_row(
        "of the reference's gain",
        NOTHING,
        *(
            f"[bold red]{100 * step.fraction:.0f} %[/]"
            if step.bends
            else f"{100 * step.fraction:.0f} %"
            for step in found.steps
        ),
    )
    return table


def _middle(found: object) -> str:
    mean = getattr(found, "mean", None)
    return NOTHING if mean is None else significant(mean)


def _ratio(size: Size) -> str:
    return "1.00" if size.itr_ratio is None else number(size.itr_ratio.mean)


def _interval(size: Size) -> str:
    ratio = size.itr_ratio
    if ratio is None or ratio.low is None or ratio.high is None:
        return NOTHING
    return f"{ratio.low:.2f}..{ratio.high:.2f}"


def scaling_sentences(found: ScalingSet) -> list[str]:
    """Verdict on the shape, the law, and what makes it doubtful."""
    lines = [_verdict(found)]
    if found.usl is not None:
        lines.append(_law(found, found.usl))
    if found.sqrt_law is not None and found.usl is not None:
        worst = [max(abs(one) for one in law.residuals) for law in (found.usl, found.sqrt_law)]
        if worst[1] < worst[0]:
            lines.append(
                f"{found.case}: the square-root law follows the sizes closer (within "
                f"{100 * worst[1]:.1f} %, the scalability law within {100 * worst[0]:.1f} %): "
                "they lose early and then flatten, as capability tables do."
            )
    if found.unmatched:
        shares = [percent(size.cell.busy, 0) for size in found.sizes]
        lines.append(
            f"{found.case}: its sizes were {', '.join(shares)} % busy, further apart than "
            f"{MATCHED_POINTS:.0f} points: their ITR compares only roughly."
        )
    if found.starts_alone:
        lines.append(
            f"{found.case}: with 1 processor client and server take turns, and nothing of them "
            "overlaps: larger sizes look better than they are. Start the set at 2."
        )
    return lines


def _verdict(found: ScalingSet) -> str:
    start = f"{found.case} on {found.system}, against {found.reference}"
    if found.verdict == "undecided":
        least = min(found.steps, key=lambda step: step.fraction)
        return (
            f"{start}: undecided, gradual or with an inflection: the step from "
            f"{least.start.processors} to {least.end.processors} processors brings "
            f"{100 * least.fraction:.0f} % of what it should, and chance leaves both open; more "
            "runs would tell."
        )
    if found.bend is not None:
        step = found.bend
        return (
            f"{start}: inflection from {step.start.processors} to {step.end.processors} "
            f"processors, which bring {100 * step.fraction:.0f} % of what they should."
        )
    least = min(found.steps, key=lambda step: step.fraction)
    return (
        f"{start}: gradual roll-off, no inflection: every step brings at least "
        f"{100 * FRACTION:.0f} % of what it should; the least is {100 * least.fraction:.0f} %, "
        f"from {least.start.processors} to {least.end.processors} processors."
    )


def _law(found: ScalingSet, law: Usl) -> str:
    start = f"{found.case}, universal scalability law: contention {law.alpha.value:.4f}"
    if law.saturated:
        return (
            f"{start}, coherence {law.beta.value:.2g}; {law.sizes} sizes for 3 parameters: any "
            "curve would fit, so neither is to be relied on (6 sizes are the least)."
        )
    if law.alpha.low is None:
        return f"{start}, coherence {law.beta.value:.2g}; how sure they are cannot be told."
    text = f"{start} ({law.alpha.low:.4f} to {law.alpha.high:.4f})"
    if not law.beta.above_zero:
        return f"{text}; coherence cannot be told from 0, and so no size is the best."
    text += f", coherence {law.beta.value:.2g} ({law.beta.low:.2g} to {law.beta.high:.2g})"
    return f"{text}: most throughput with {law.peak:.0f} processors."
