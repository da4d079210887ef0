"""What a change of the layout does to the two LPARs on a book of `p795-lpar-affinity`: the table of
docs/background/what-if-p795.md, and which way each change must go.

The work and the machine are the study's; nothing is fitted here. Each variant names what it is held
against, a direction for each figure, and the mechanism that it follows from.
"""

from __future__ import annotations

import copy
import math
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from homenode import Run, Scenario, load_study, run_scenario
from homenode.model.document.write import to_toml
from homenode.report.study_pages import filled

PAGE: Final = Path(__file__).resolve().parents[1] / "background" / "what-if-p795.md"
FIGURES: Final[dict[str, str]] = {
    "physc": "cores",
    "etr_per_s": "tx/s",
    "cpu_per_tx_us": "core-us/tx",
    "response_ms_mean": "response ms",
    "ilcs_per_s": "ilcs/s",
    "home_share": "home",
}
"""What is told of an LPAR, and its heading."""
SURE: Final = 0.02
"""Relative change from which on a figure went up or down; within it, it stayed."""

Layout = dict[str, Any]
Change = Callable[[Layout], None]


@dataclass(frozen=True)
class Variant:
    """A layout beside another, and what must come of it."""

    name: str
    change: Change
    against: str = "as it is"
    goes: tuple[tuple[str, str], ...] = ()
    """Figure and `up`, `down` or `same`."""
    why: str = ""


def _processors(layout: Layout) -> Iterator[Layout]:
    yield from (one["processors"] for one in layout["partition"])


def virtual(count: int, entitlement: float = 3.0) -> Change:
    """So many virtual processors and so much entitlement for each LPAR."""

    def change(layout: Layout) -> None:
        for processors in _processors(layout):
            processors.update(virtual=count, entitlement=entitlement)

    return change


def guest(smt: int, mode: int) -> Change:
    """Threads of a virtual processor, and how many of them are loaded before the next."""

    def change(layout: Layout) -> None:
        for one in layout["partition"]:
            one["smt"] = smt
            one["guest"]["throughput_mode"] = mode

    return change


def load(rate: int, *, apart: bool = False) -> Change:
    """So many transactions a second for each LPAR, on the same book or on two."""

    def change(layout: Layout) -> None:
        for one in layout["partition"]:
            one["workload"]["rate"] = f"{rate}/s"
        if apart:
            other_book(layout)

    return change


def other_book(layout: Layout) -> None:
    """The second LPAR has its home on another book."""
    layout["partition"][1]["home"] = "book7"


def dedicated(layout: Layout) -> None:
    """A book of cores of its own for each."""
    other_book(layout)
    for one in layout["partition"]:
        one["processors"] = {"mode": "dedicated", "cores": 24}


def neighbour(book: str, rate: int = 1400) -> Change:
    """A third LPAR like the two."""

    def change(layout: Layout) -> None:
        third = copy.deepcopy(layout["partition"][0])
        third.update(name="lpar5", number=5, home=book)
        third["workload"]["rate"] = f"{rate}/s"
        layout["partition"].append(third)

    return change


def nothing(_: Layout) -> None:
    """As it is."""


VARIANTS: Final = (
    Variant("as it is", nothing),
    Variant(
        "15 virtual processors", virtual(15), "as it is",
        (("physc", "down"), ("response_ms_mean", "up"), ("home_share", "up")),
        "the work asks for more than 15 cores and may use no more, so a backlog grows; twice 15 fit"
        " on the 32 cores of the book",
    ),
    Variant(
        "20 virtual processors", virtual(20), "as it is",
        (("physc", "down"), ("cpu_per_tx_us", "down"), ("ilcs_per_s", "down")),
        "fewer stand in each other's way, each with longer slices: less is thrown out",
    ),
    Variant(
        "25 virtual processors", virtual(25), "20 virtual processors", (("cpu_per_tx_us", "up"),),
        "more run at a time than the book has cores, and what runs elsewhere costs more",
    ),
    Variant(
        "40, entitled to 4", virtual(40, 4.0), "as it is", (("etr_per_s", "same"),),
        "no more work comes: more virtual processors than are needed bring nothing",
    ),
    Variant(
        "60, entitled to 6", virtual(60, 6.0), "entitlement 6",
        (("etr_per_s", "same"), ("ilcs_per_s", "up")),
        "the same, with slices half as long",
    ),
    Variant(
        "entitlement 6", virtual(30, 6.0), "as it is",
        (("ilcs_per_s", "down"), ("cpu_per_tx_us", "same")),
        "slices are twice as long, so less is thrown out; but 42 cores of work fit on a book of 32"
        " as little as before",
    ),
    Variant(
        "entitlement 12", virtual(30, 12.0), "entitlement 6",
        (("ilcs_per_s", "down"), ("cpu_per_tx_us", "same")),
        "the same again",
    ),
    Variant(
        "entitlement 1.5 on 15", virtual(15, 1.5), "15 virtual processors",
        (("ilcs_per_s", "same"), ("physc", "same")),
        "each is on a core all the time, however short its slice",
    ),
    Variant(
        "other book", other_book, "as it is",
        (
            ("physc", "down"), ("cpu_per_tx_us", "down"), ("home_share", "up"),
            ("ilcs_per_s", "down"),
        ),
        "each has a book to itself: nobody is thrown out by the other, all memory is local",
    ),
    Variant(
        "dedicated, other book", dedicated, "other book",
        (("ilcs_per_s", "down"), ("home_share", "same")),
        "nobody takes a dedicated core away",
    ),
    Variant(
        "mode 0", guest(2, 0), "as it is", (("physc", "up"), ("cpu_per_tx_us", "up")),
        "first threads of all virtual processors come first: more cores, less done by each",
    ),
    Variant(
        "SMT off", guest(1, 1), "as it is", (("physc", "up"), ("response_ms_mean", "up")),
        "a core does without what a second thread adds, and 30 of them are not enough",
    ),
    Variant(
        "SMT4, mode 4", guest(4, 4), "as it is",
        (("physc", "down"), ("cpu_per_tx_us", "down"), ("home_share", "up")),
        "four threads of a core do more than two, so fewer cores are asked for and more of them are"
        " on the book",
    ),
    Variant(
        "half the load", load(700), "as it is", (("cpu_per_tx_us", "down"), ("home_share", "up")),
        "both fit on the book: next to nobody runs elsewhere",
    ),
    Variant(
        "half, other book", load(700, apart=True), "half the load",
        (("cpu_per_tx_us", "down"), ("etr_per_s", "same")),
        "what is left of the loss: bursts that come together, and caches in common",
    ),
    Variant(
        "three quarters of the load", load(1050), "half the load",
        (("cpu_per_tx_us", "up"), ("home_share", "down")),
        "more overflows, costs more elsewhere, and so asks for more cores in turn",
    ),
    Variant(
        "three quarters, other book", load(1050, apart=True), "three quarters of the load",
        (("cpu_per_tx_us", "down"),),
        "the loss from sharing grew with the load",
    ),
    Variant(
        "twice the load", load(2800), "as it is", (("physc", "up"), ("response_ms_mean", "up")),
        "all virtual processors are full, and a backlog grows",
    ),
    Variant(
        "third LPAR, other book", neighbour("book1"), "as it is",
        (("cpu_per_tx_us", "same"), ("etr_per_s", "same")),
        "it has a book of its own and takes neither core nor cache of theirs",
    ),
    Variant(
        "third LPAR, same book", neighbour("book5"), "as it is",
        (("cpu_per_tx_us", "up"), ("home_share", "down")),
        "three share the book's cores: more of each runs elsewhere",
    ),
    Variant(
        "third LPAR, same book, quiet", neighbour("book5", 14), "as it is",
        (("etr_per_s", "same"), ("cpu_per_tx_us", "same")),
        "who does little takes little",
    ),
)  # fmt: skip
"""What is varied, in the order of the page."""


def layout_of(variant: Variant) -> str:
    """A variant as the text of a scenario."""
    frame = load_study("p795-lpar-affinity").folder / "scenarios" / "frame2.toml"
    layout = tomllib.loads(Path(frame).read_text(encoding="utf-8"))
    layout["run"] = {"warmup": "4 s", "duration": "10 s", "replications": 1, "seed": 1}
    variant.change(layout)
    return to_toml(layout)


def figures_of(run: Run) -> dict[str, float]:
    """Means over the two LPARs; without end what a growing backlog leaves without a mean."""

    def mean(name: str) -> float:
        known = [run.metric(lpar, name).mean for lpar in ("lpar3", "lpar4")]
        return sum(math.inf if one is None else one for one in known) / len(known)

    return {name: mean(name) for name in FIGURES}


def simulated() -> dict[str, dict[str, float]]:
    """Figures of each variant."""
    with tempfile.TemporaryDirectory(prefix="homenode-what-if-") as folder:
        return {
            one.name: figures_of(
                run_scenario(Scenario.from_toml(layout_of(one), f"{index}.toml"), out=folder)
            )
            for index, one in enumerate(VARIANTS)
        }


def went(figures: dict[str, dict[str, float]], variant: Variant, figure: str) -> str:
    """Which way a figure went."""
    before, after = figures[variant.against][figure], figures[variant.name][figure]
    if before == after or abs(after - before) <= SURE * abs(before):
        return "same"
    return "up" if after > before else "down"


def table(figures: dict[str, dict[str, float]]) -> str:
    """Figures of all variants, and which way each had to go."""
    head = ["layout", *FIGURES.values()]
    rows = [head, ["---"] * len(head)]
    rows += [[one.name, *map(_told, FIGURES, figures[one.name].values())] for one in VARIANTS]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([*lines, "", *(_reason(one) for one in VARIANTS if one.goes)])


def _told(figure: str, value: float) -> str:
    if math.isinf(value):
        return "backlog"
    if figure == "home_share":
        return f"{100 * value:.0f} %"
    return f"{value:,.2f}" if figure == "physc" else f"{value:,.0f}"


def _reason(one: Variant) -> str:
    goes = ", ".join(f"{FIGURES[figure]} {way}" for figure, way in one.goes)
    return f"- **{one.name}** against {one.against}: {goes}; {one.why}."


def page() -> str:
    """The page with the table as it comes out now."""
    return filled(PAGE.read_text(encoding="utf-8"), "what-if", table(simulated()))
