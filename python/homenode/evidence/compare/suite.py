"""Suites: classes of work to be held against each other on two machines. A suite is one TOML file;
`suites/linux.toml` is shipped, one's own is given by its path. Documented in
docs/guides/compare-machines.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from homenode.errors import HomenodeError, NotFoundError, SuiteError, hint, listed, nearest
from homenode.evidence.compare.walk import check_walk
from homenode.model.catalog.figure import CatalogName
from homenode.model.catalog.names import is_path
from homenode.model.document import (
    Document,
    Quantity,
    Table,
    read_document,
    shipped_document,
    validate,
)
from homenode.model.shipped import shipped_names
from homenode.model.units import TIME

Cores = Annotated[int, Field(ge=1, le=4096)]
Load = Annotated[int, Field(ge=1, le=100_000)]
_TIME = Quantity(TIME, "0 ns", "1 d")
_DURATION = Quantity(TIME, "1 ms", "1 d")
_WITHOUT_COUNT = ("transactions", "idle")
"""Kinds of work that are not so many of something."""


class Timing(Table):
    """How long and how often a case is simulated."""

    warmup: Annotated[int, _TIME] = Field(50_000_000, description="time before anything is counted")
    duration: Annotated[int, _DURATION] = Field(500_000_000, description="time that is counted")
    replications: Annotated[int, Field(ge=1, le=1000)] = Field(2, description="how often")
    seed: Annotated[int, Field(ge=0, lt=2**64)] = Field(1, description="seed of all chance")


class CaseTiming(Table):
    """What of the timing a class or case has of its own."""

    warmup: Annotated[int, _TIME] | None = Field(None, description="in place of the suite's")
    duration: Annotated[int, _DURATION] | None = Field(None, description="in place of the suite's")


class Loads(Table):
    """The number of processes, users or connections, varied."""

    what: str = Field(min_length=1, description="what is counted, such as processes")
    values: Annotated[list[Load], Field(min_length=1, max_length=64)] = Field(
        description="how many of them, a simulation each"
    )
    each: Load = Field(1, description="threads that each of them stands for")


class GuestPart(Table):
    """One of several guests that run beside each other in a case."""

    name: CatalogName = Field(description="a name of its own")
    cores: Cores = Field(description="processors of its own")
    profile: str | dict[str, object] = Field(description="as in a scenario")
    workload: dict[str, object] | None = Field(
        None, description="as in a scenario, without the profile"
    )
    virtual_machine: dict[str, object] | None = Field(
        None,
        description="virtual machines of z/VM that do the work, in place of workload: as in a"
        " scenario, without name and switch",
    )

    @model_validator(mode="after")
    def _works_in_one_way(self) -> GuestPart:
        """The guest does the work, or virtual machines of it do."""
        if (self.workload is None) == (self.virtual_machine is None):
            said = "neither" if self.workload is None else "both"
            there = f"a guest has a workload or virtual machines, this one has {said}"
            step = "give it one of them"
            raise PydanticCustomError("fact", "workload", {"there": there, "next_step": step})
        return self


class Case(Table):
    """One situation; what it leaves out is its class's."""

    name: CatalogName = Field(description="unique in the suite")
    title: str = Field(min_length=1, description="what is done")
    cores: Cores | None = Field(None, description="processors")
    profile: str | dict[str, object] | None = Field(None, description="as in a scenario")
    workload: dict[str, object] | None = Field(
        None, description="as in a scenario, without the profile"
    )
    loads: Loads | None = Field(None, description="values of the workload's count")
    walk: dict[str, object] | None = Field(None, description="a pattern of memory accesses")
    run: CaseTiming = Field(default_factory=CaseTiming, description="its own timing")
    partition: list[GuestPart] = Field(default_factory=list, description="several guests at a time")


class WorkClass(Table):
    """A class of work: cases that belong together, with what they have in common."""

    name: CatalogName = Field(description="what --only takes")
    title: str = Field(min_length=1, description="one line")
    source: str = Field(min_length=3, description="where the configuration is from")
    unit: str = Field("", description="what throughput counts")
    measure: Literal["simulation", "walk"] = Field(
        "simulation", description="whether a guest is simulated, or a walk through memory computed"
    )
    not_modelled: str | None = Field(None, description="what decides and is left out")
    memory: str = Field("4 GiB", description="memory of a guest, with its unit")
    memory_used: str = Field("100 %", description="share of it that the work touches all the time")
    cores: Cores | None = Field(None, description="processors of its cases")
    profile: str | dict[str, object] | None = Field(None, description="profile of its cases")
    workload: dict[str, object] | None = Field(None, description="workload of its cases")
    loads: Loads | None = Field(None, description="loads of its cases")
    run: CaseTiming = Field(default_factory=CaseTiming, description="timing of its cases")
    case: Annotated[list[Case], Field(min_length=1)] = Field(
        description="write [[class.case]] and under it name and title"
    )

    @model_validator(mode="after")
    def _cases_are_whole(self) -> WorkClass:
        """Every case has all that its measure needs."""
        for case in self.case:
            missing = _missing(self, case)
            if missing:
                there = f"case {case.name} has no {listed(missing)}, and its class has none either"
                raise PydanticCustomError(
                    "fact", "case", {"there": there, "next_step": "give one of them"}
                )
            _check_loads(self, case)
        return self


def _missing(group: WorkClass, case: Case) -> list[str]:
    if group.measure == "walk":
        return [] if case.walk is not None else ["walk"]
    if case.partition:
        return []
    names = ("cores", "profile", "workload")
    return [n for n in names if getattr(case, n) is None and getattr(group, n) is None]


def _check_loads(group: WorkClass, case: Case) -> None:
    """Loads are values of `count`, which not every kind of work has."""
    kind = (case.workload or group.workload or {}).get("kind")
    if (case.loads or group.loads) is None or case.partition or kind not in _WITHOUT_COUNT:
        return
    there = f"case {case.name} has loads, but its workload of kind {kind} has no count to vary"
    step = "take users, loops or warehouses, or leave out loads"
    raise PydanticCustomError("fact", "case", {"there": there, "next_step": step})


class Suite(Table):
    """A suite as its file has it."""

    name: CatalogName = Field(description="lower case, as the file is called")
    title: str = Field(min_length=1, description="one line")
    run: Timing = Field(default_factory=Timing, description="timing of all cases")
    classes: Annotated[list[WorkClass], Field(min_length=1, alias="class")] = Field(
        description="write [[class]] and under it name, title and source"
    )

    @model_validator(mode="after")
    def _names_are_unique(self) -> Suite:
        """A name stands for one thing."""
        for what, names in (("class", self.class_names), ("case", self.case_names)):
            doubled = sorted({name for name in names if names.count(name) > 1})
            if doubled:
                there = f"two are called {doubled[0]}"
                step = "give each a name of its own"
                raise PydanticCustomError("fact", what, {"there": there, "next_step": step})
        return self

    @property
    def class_names(self) -> list[str]:
        """Names of the classes, in the file's order."""
        return [group.name for group in self.classes]

    @property
    def case_names(self) -> list[str]:
        """Names of the cases, in the file's order."""
        return [case.name for group in self.classes for case in group.case]

    def chosen(self, only: Sequence[str]) -> list[tuple[WorkClass, list[Case]]]:
        """Classes with their cases; with `only`, of the classes and cases that it names."""
        if not only:
            return [(group, list(group.case)) for group in self.classes]
        known = [*self.class_names, *self.case_names]
        for name in only:
            if name not in known:
                raise NotFoundError(
                    f'suite {self.name} has no class or case called "{name}"{hint(name, known)}',
                    asked=name,
                    next_step=f"its classes are {listed(self.class_names, 20)}",
                )
        picked = (
            (group, [case for case in group.case if group.name in only or case.name in only])
            for group in self.classes
        )
        return [(group, cases) for group, cases in picked if cases]

    def loads(self, group: WorkClass, case: Case) -> Loads | None:
        """The loads of a case, its own or its class's."""
        return case.loads or group.loads

    def timing(self, group: WorkClass, case: Case) -> Timing:
        """The timing of a case: its own, else its class's, else the suite's."""
        own = {
            name: value
            for part in (group.run, case.run)
            for name in ("warmup", "duration")
            if (value := getattr(part, name)) is not None
        }
        return self.run.model_copy(update=own)


def list_suites() -> list[str]:
    """Names of the shipped suites."""
    return shipped_names("suites")


def load_suite(name_or_path: str | Path) -> Suite:
    """A shipped suite by name, or one from a file (anything with `/` in it or ending in
    `.toml`); whatever is wrong with it raises a `HomenodeError` that says where.
    """
    document = _document(name_or_path)
    suite = validate(Suite, document, SuiteError)
    _check_walks(suite)
    return suite


def _document(name_or_path: str | Path) -> Document:
    if is_path(name_or_path):
        return read_document(Path(name_or_path), SuiteError)
    name = str(name_or_path)
    if name not in list_suites():
        raise NotFoundError(
            f"there is no suite {name}{nearest(name, list_suites())}",
            asked=name,
            next_step="for one of your own write --suite mine.toml",
        )
    return shipped_document("suites", name, SuiteError)


def _check_walks(suite: Suite) -> None:
    for group in suite.classes:
        for case in group.case:
            if group.measure != "walk" or case.walk is None:
                continue
            try:
                check_walk(case.walk)
            except HomenodeError as error:
                raise SuiteError(f"case {case.name} of suite {suite.name}: {error}") from error
