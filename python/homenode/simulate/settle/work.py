"""`settled`: a scenario with the work that takes the cores it tells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from homenode.errors import HomenodeError, ScenarioError
from homenode.model.document import Problems, parse_document
from homenode.model.document.positions import Path as Place
from homenode.model.scenario import PlacedPartition, Scenario
from homenode.simulate.engine import load_engine
from homenode.simulate.settle import kept
from homenode.simulate.settle.reference import (
    Reference,
    as_stated,
    by_reference,
    elsewhere,
    named,
)
from homenode.simulate.settle.solve import Found, solve

S = TypeVar("S", bound=Scenario)
ShareFn = Callable[[float, float | None], None]
_RECENT: dict[str, kept.Rates] = {}
"""Found in this process, by fingerprint: points of a sweep ask for the same."""
_MOST_RECENT = 256


def is_open(scenario: Scenario) -> bool:
    """Whether some of its work is told by cores and not found yet."""
    return any(one.asked is not None and one.demand is None for one in scenario.partitions)


def settled(scenario: S, progress: ShareFn | None = None) -> S:
    """The scenario with its work found, or read where it was kept; itself if nothing is open.

    Raises `ScenarioError` at the place of what no work can take.
    """
    if not is_open(scenario):
        return scenario

    def tell(share: float) -> None:
        if progress is not None:
            progress(share, None)

    return scenario.playing(_Finder(scenario, tell).found())


def work_of(scenario: Scenario) -> bytes | None:
    """The work of a settled scenario as a file; None if none of it was found."""
    found = [one for one in scenario.partitions if one.asked is not None and one.demand is not None]
    wanted = {one.name: one.asked.cores for one in found if one.asked is not None}
    rates = {one.name: one.demand.instructions_per_s for one in found if one.demand is not None}
    return kept.packed(wanted, rates) if found else None


class _Finder:
    """Finds the work of one scenario."""

    def __init__(self, scenario: Scenario, tell: Callable[[float], None]) -> None:
        self.scenario = scenario
        self.tell = tell
        self.spec = scenario.layout_spec()
        origin = scenario.origin
        self.origin: Scenario = scenario if origin is None else origin
        self.place = kept.beside(self.origin.source)

    def found(self) -> kept.Rates:
        """By partition, its work step by step."""
        rates: kept.Rates = {}
        for one in self.scenario.partitions:
            if one.asked is not None and one.asked.work is not None:
                rates[one.name] = self._kept(one, one.asked.work)
        for name, ones in by_reference(self.scenario.partitions).items():
            rates |= self._stated(ones) if name is None else self._elsewhere(name, ones)
        return rates

    def _kept(self, one: PlacedPartition, work: str) -> tuple[float, ...]:
        cores = () if one.asked is None else one.asked.cores
        try:
            return kept.read_work(self.scenario.folder / work, one.name, cores)
        except HomenodeError as error:
            raise self._at(one, "work", error) from error

    def _stated(self, ones: Sequence[PlacedPartition]) -> kept.Rates:
        """On the layout as stated: of a changed scenario the one that it was changed from."""
        if self.origin is self.scenario:
            return self._solved(as_stated(self.scenario), ones)
        before = {one.name: one for one in self.origin.partitions}
        same = [one for one in ones if _is_same(before.get(one.name), one)]
        others = [one for one in ones if one not in same and one.name in before]
        new = [one for one in ones if one.name not in before]
        rates = self._solved(as_stated(self.origin), same) if same else {}
        if others:
            on = "the layout as stated"
            rates |= self._solved(elsewhere(self.origin, others, self.spec, on), others)
        if new:
            rates |= self._solved(as_stated(self.scenario), new)
        return rates

    def _elsewhere(self, name: str, ones: Sequence[PlacedPartition]) -> kept.Rates:
        """On what they name: together on another layout, each alone on a machine."""
        groups = [list(ones)] if name.endswith(".toml") else [[one] for one in ones]
        rates: kept.Rates = {}
        for group in groups:
            try:
                reference = named(name, self.scenario, group[0])
                made = elsewhere(reference, group, self.spec, name)
            except HomenodeError as error:
                raise self._at(group[0], "reference", error) from error
            rates |= self._solved(made, group)
        return rates

    def _solved(self, reference: Reference, ones: Sequence[PlacedPartition]) -> kept.Rates:
        """The work of these partitions on a reference."""
        engine = load_engine()
        key = kept.fingerprint(reference.spec, reference.wanted, engine.ENGINE_VERSION)
        rates = _RECENT.get(key) or kept.recall(self.place, key)
        if rates is None:
            found = solve(reference.spec, reference.wanted, self.tell)
            self._refuse_missed(found, reference)
            rates = found.rates
            kept.remember(self.place, key, reference.wanted, rates, reference.on)
        while len(_RECENT) >= _MOST_RECENT:
            _RECENT.pop(next(iter(_RECENT)))
        _RECENT[key] = rates
        steps = {one.name: len(one.asked.cores) for one in ones if one.asked is not None}
        return {one.name: rates[one.name][: steps[one.name]] for one in ones}

    def _refuse_missed(self, found: Found, reference: Reference) -> None:
        """Cores that no work takes there are a fault of the scenario."""
        tables = {one.name: one for one in self.scenario.partitions}
        spec = reference.spec
        shared = f"{len(spec['partitions'])} partitions share"
        for name, step in found.missed().items():
            asked, got = reference.wanted[name][step], found.used[name][step]
            own = f"on {reference.on} it takes {got:.2f} at most"
            raise self._refused(
                tables.get(name, self.scenario.partitions[0]),
                f"{asked:g} cores are more than it gets",
                there=f"{own}; {shared} its {spec['machine']['active_cores']} cores",
                next_step="ask for less, or give it more processors, entitlement or weight there",
            )

    def _at(self, one: PlacedPartition, key: str, error: HomenodeError) -> ScenarioError:
        """An error at a key of a partition's workload."""
        return self._refused(one, None, key, there=error.problem, next_step=error.next_step)

    def _refused(
        self,
        one: PlacedPartition,
        problem: str | None,
        key: str | None = None,
        **facts: str | None,
    ) -> ScenarioError:
        document = parse_document(self.scenario.text, self.scenario.source, ScenarioError)
        problems = Problems(document, ScenarioError)
        place: Place = ("partition", one.row, "workload", *([key] if key else []))
        problems.add(place, problem, at_key=key is None, **facts)
        try:
            problems.raise_any()
        except ScenarioError as error:
            return error
        raise AssertionError("a problem was just added")


def _is_same(before: PlacedPartition | None, now: PlacedPartition) -> bool:
    """Whether the same is asked of the same kind of work."""
    if before is None or before.asked is None or now.asked is None:
        return False
    return before.asked.cores == now.asked.cores and before.profile == now.profile
