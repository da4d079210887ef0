"""`[[advice]]` of study.toml: a layout that `homenode advise` is asked about as somebody would be
who has not read the publication, and `[[ranking]]`: which of some layouts comes out ahead.

The guideline of a publication is told as the changes that it asks for. That advice follows it says
little by itself; what the change saves, and that nothing is moved where a layout keeps the
guideline already, says more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from homenode.evidence.study import file
from homenode.model.estimate import Estimate, scaled
from homenode.planner import Advice, Change

FOLLOWS, RANK = "follows", "rank"
METRICS = (FOLLOWS, "saves_cores", "saves_pct")
"""Whether advice is what the guideline asks for (1 or 0), and what it saves, in cores and in
percent of those used now; 0 where nothing is advised.
"""
WORDS = ("less", "more", "other")
"""What a guideline may say in place of values: than now."""


@dataclass(frozen=True)
class Asked:
    """A layout that advice is asked for; what may change stands in its table `[advise]`."""

    name: str
    scenario: str
    overrides: Mapping[str, object]
    guideline: Mapping[str, tuple[object, ...]]
    """By path, the values that the guideline allows, or one of `WORDS`; empty where it asks for no
    change.
    """

    def value(self, advice: Advice, metric: str) -> Estimate:
        """A figure of the advice."""
        if metric == FOLLOWS:
            return Estimate(float(self.is_followed_by(advice)))
        now = advice.do_nothing.cores
        if now.mean is None:
            return now
        if not advice.best:
            return Estimate(0.0)
        saving = advice.best[0].saving_cores
        return scaled(saving, 100.0 / now.mean) if metric == "saves_pct" else saving

    def is_followed_by(self, advice: Advice) -> bool:
        """Whether each change of the guideline is made, or none where it asks for none."""
        made = {one.path: one for best in advice.best[:1] for one in best.changes}
        if not self.guideline:
            return not made
        asked = self.guideline.items()
        return all(path in made and _is_meant(made[path], able) for path, able in asked)


def _is_meant(change: Change, able: tuple[object, ...]) -> bool:
    """Whether a change goes where a guideline wants it to."""
    if able not in (("less",), ("more",)):
        return able == ("other",) or change.after in able
    before, after = float(str(change.before)), float(str(change.after))
    return after < before if able == ("less",) else after > before


@dataclass(frozen=True)
class Ranking:
    """Layouts (cases or ratios) in the order of one of their metrics."""

    of: tuple[str, ...]
    by: str
    least: bool
    """Whether the least is ahead."""

    def rank(self, name: str, figure: Callable[[str, str], Estimate]) -> Estimate:
        """The place of a layout, 1 for the one ahead; `figure` tells a metric of a case."""
        found = {one: figure(one, self.by) for one in self.of}
        values: dict[str, float] = {}
        for one, told in found.items():
            if told.mean is None:
                return Estimate(None, None, told.reason)
            values[one] = -told.mean if self.least else told.mean
        return Estimate(1.0 + sum(value > values[name] for value in values.values()))


def asked_of(told: file.Advice) -> Asked:
    """The table's meaning; a single value is a list of one."""
    guideline = {
        path: tuple(able) if isinstance(able, list) else (able,)
        for path, able in told.guideline.items()
    }
    return Asked(told.name, told.scenario, told.changes, guideline)
