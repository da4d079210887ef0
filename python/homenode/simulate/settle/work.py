"""`settled`: a scenario with the work that takes the cores it tells."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from homenode.errors import HomenodeError, ScenarioError
from homenode.model.document import Problems, parse_document
from homenode.model.document.positions import Path as Place
from homenode.model.scenario import Scenario
from homenode.model.scenario.played import Asked
from homenode.simulate.engine import load_engine
from homenode.simulate.settle import kept
from homenode.simulate.settle.reference import (
    Asking,
    Reference,
    as_stated,
    by_reference,
    elsewhere,
    named,
)
from homenode.simulate.settle.solve import Found, LongTransactionError, solve

S = TypeVar("S", bound=Scenario)
ShareFn = Callable[[float, float | None], None]
_RECENT: dict[str, kept.Rates] = {}
"""Found in this process, by fingerprint: points of a sweep ask for the same."""
_MOST_RECENT = 256


def is_open(scenario: Scenario) -> bool:
    """Whether some of its work is told by cores and not found yet."""
    return any(key not in scenario.resolved.found for key in scenario.resolved.asked)


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
    asked, found = scenario.resolved.asked, scenario.resolved.found
    wanted = {key: asked[key].cores for key in found}
    return kept.packed(wanted, found) if found else None


class _Finder:
    """Finds the work of one scenario."""

    def __init__(self, scenario: Scenario, tell: Callable[[float], None]) -> None:
        self.scenario = scenario
        self.tell = tell
        self.asked = scenario.resolved.asked
        self.spec = scenario.layout_spec()
        origin = scenario.origin
        self.origin: Scenario = scenario if origin is None else origin
        self.place = kept.beside(self.origin.source)

    def found(self) -> kept.Rates:
        """By who has it, its work step by step."""
        rates: kept.Rates = {}
        for key, one in self.asked.items():
            if one.work is not None:
                rates[key] = self._kept(key, one, one.work)
        for name, ones in by_reference(self.asked).items():
            rates |= self._stated(ones) if name is None else self._elsewhere(name, ones)
        return rates

    def _kept(self, key: str, one: Asked, work: str) -> tuple[float, ...]:
        """In a file, as the layout has it that this one was changed from."""
        before = self.origin.resolved.asked.get(key)
        stated = before if before is not None and self._is_same(key) else one
        try:
            rates = kept.read_work(self.scenario.folder / work, key, stated.cores)
        except HomenodeError as error:
            raise self._at(one, "work_file", error) from error
        return _in_steps(one, stated, rates)

    def _stated(self, ones: Asking) -> kept.Rates:
        """On the layout as stated: of a changed scenario the one that it was changed from."""
        if self.origin is self.scenario:
            return self._solved(as_stated(self.scenario), ones)
        before, held = self.origin.resolved.asked, _tables(self.origin)
        same = {key: one for key, one in ones.items() if key in before and self._is_same(key)}
        others = {key: one for key, one in ones.items() if key not in same and key in held}
        new = {key: one for key, one in ones.items() if key not in held}
        found = {key: self._model(key) for key in new}
        models = {key: model for key, model in found.items() if model in same}
        new = {key: one for key, one in new.items() if key not in models}
        rates = self._solved(as_stated(self.origin), same) if same else {}
        if others:
            on = "the layout as stated"
            rates |= self._solved(elsewhere(self.origin, others, self.spec, on), others)
        if new:
            rates |= self._solved(as_stated(self.scenario), new)
        return rates | {key: rates[model] for key, model in models.items()}

    def _is_same(self, key: str) -> bool:
        """Whether the same is told of the same kind of work. What a share comes to in cores may
        differ: it is that of the layout as stated.
        """
        name = key.partition("/")[0]
        one, other = self.origin.partition(name), self.scenario.partition(name)
        told = self.origin.resolved.asked[key].told
        return one.profile == other.profile and told == self.asked[key].told

    def _model(self, key: str) -> str | None:
        """One that the layout as stated has of the same table: copies all have the same work."""
        tables = _tables(self.origin)
        table = _tables(self.scenario)[key]
        same = [other for other, name in tables.items() if name == table]
        return next((one for one in same if one in self.origin.resolved.asked), None)

    def _elsewhere(self, name: str, ones: Asking) -> kept.Rates:
        """On what they name: together on another layout, each alone on a machine."""
        groups = [ones] if name.endswith(".toml") else [{key: one} for key, one in ones.items()]
        rates: kept.Rates = {}
        for group in groups:
            key, one = next(iter(group.items()))
            try:
                made = elsewhere(named(name, self.scenario, key), group, self.spec, name)
            except HomenodeError as error:
                raise self._at(one, "reference", error) from error
            rates |= self._solved(made, group)
        return rates

    def _solved(self, reference: Reference, ones: Asking) -> kept.Rates:
        """The work of these on a reference."""
        engine = load_engine()
        key = kept.fingerprint(reference.spec, reference.wanted, engine.ENGINE_VERSION)
        rates = _RECENT.get(key) or kept.recall(self.place, key, reference.wanted)
        if rates is None:
            found = self._looked_for(reference)
            self._refuse_missed(found, reference)
            rates = found.rates
            kept.remember(self.place, key, reference.wanted, rates, reference.on)
        while len(_RECENT) >= _MOST_RECENT:
            _RECENT.pop(next(iter(_RECENT)))
        _RECENT[key] = rates
        return {key: _in_steps(one, reference.asking[key], rates[key]) for key, one in ones.items()}

    def _looked_for(self, reference: Reference) -> Found:
        try:
            return solve(reference.spec, reference.wanted, self.tell)
        except LongTransactionError as error:
            raise self._refused(
                self._one(error.key),
                f"a transaction takes {error.seconds:.2g} s of a core or more",
                there="too long to tell by playing how many it takes",
                next_step='write shorter ones: profile = { base = "...", instructions = 2e8 }',
            ) from error

    def _refuse_missed(self, found: Found, reference: Reference) -> None:
        """Cores that no work takes there are a fault of the scenario."""
        spec = reference.spec
        count = len(spec["partitions"])
        shared = f"{count} partitions share" if count > 1 else "it has"
        for name, step in found.missed().items():
            asked, got = reference.wanted[name][step], found.used[name][step]
            if got >= asked:
                raise self._refused(
                    self._one(name),
                    f"{asked:g} cores are not met: {got:.2f} come out, which hangs on chance",
                    next_step="ask for less than all it has, or for shorter transactions",
                )
            own = f"on {reference.on} it takes {got:.2f} at most"
            raise self._refused(
                self._one(name),
                f"{asked:g} cores are more than it gets",
                there=f"{own}; {shared} its {spec['machine']['active_cores']} cores",
                next_step="ask for less, or give it more processors, entitlement or weight there",
            )

    def _one(self, key: str) -> Asked:
        """Who has it here; of one that only the reference has, the first of those here."""
        return self.asked.get(key, next(iter(self.asked.values())))

    def _at(self, one: Asked, key: str, error: HomenodeError) -> ScenarioError:
        """An error at a key of a workload."""
        return self._refused(one, None, key, there=error.problem, next_step=error.next_step)

    def _refused(
        self,
        one: Asked,
        problem: str | None,
        key: str | None = None,
        **facts: str | None,
    ) -> ScenarioError:
        document = parse_document(self.scenario.text, self.scenario.source, ScenarioError)
        problems = Problems(document, ScenarioError)
        place: Place = (*one.place, key) if key else one.place
        problems.add(place, problem, at_key=key is None, **facts)
        try:
            problems.raise_any()
        except ScenarioError as error:
            return error
        raise AssertionError("a problem was just added")


def _in_steps(one: Asked, found: Asked, rates: tuple[float, ...]) -> tuple[float, ...]:
    """Work that was found in other steps, in its own: by the time of day, and by name."""
    return tuple(rates[step] for step in found.steps_of(one.cuts, one.extras))


def _tables(scenario: Scenario) -> dict[str, str]:
    """Partitions, and virtual machines with theirs, each with the name of its table."""
    found = {}
    for one in scenario.partitions:
        found[one.name] = one.table.name
        found |= {f"{one.name}/{m.name}": f"{one.table.name}/{m.table.name}" for m in one.machines}
    return found
