"""What `study.toml` may say, table by table; what the tables mean together is checked in
`definition`. Documented in data/studies/README.md.

There are three kinds of study, told apart by one key: `[capability]` computes from capability
factors, `[comparison]` holds two machines against each other, and any other simulates scenarios.
Each kind has keys of its own.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from homenode.errors import StudyError
from homenode.model.document import (
    Document,
    Problems,
    Quantity,
    Table,
    read_document,
    validate,
)
from homenode.model.units import TIME

Text = Annotated[str, Field(min_length=1)]
Texts = Annotated[list[Text], Field(min_length=1)]
Count = Annotated[int, Field(ge=1, le=1_000_000)]


def _fact(there: str, next_step: str = "") -> PydanticCustomError:
    """What is wrong with a value, in words."""
    return PydanticCustomError("fact", "fact", {"there": there, "next_step": next_step})


def _two_bounds(bounds: list[float]) -> list[float]:
    """Refuse all but a range that can be searched on a logarithmic scale."""
    if len(bounds) != 2 or not 0 < bounds[0] < bounds[1]:
        raise _fact("bounds must be two rising numbers above 0")
    return bounds


def _rising_sizes(sizes: list[int]) -> list[int]:
    """Refuse all but sizes from the smallest on."""
    if len(sizes) < 2 or sizes != sorted(set(sizes)) or sizes[0] < 1:
        raise _fact("processors must be two or more rising numbers above 0")
    return sizes


class Case(Table):
    """`[[case]]`: a published situation and what is simulated for it."""

    name: Text = Field(description="rows of published.csv name it")
    scenario: Text = Field(description="name a file in scenarios/, or OTHER-STUDY/FILE")
    partition: Text | None = None
    interval: Annotated[int, Quantity(TIME, "1 ms", "1 d")] | None = None
    changes: dict[str, Any] = Field(default_factory=dict, alias="set")


class Series(Table):
    """`[[series]]`: one scenario in several sizes, each of which is a case."""

    name: Text = Field(description="its cases are called name-processors")
    scenario: Text = Field(description="name a file in scenarios/, or OTHER-STUDY/FILE")
    partition: Text | None = None
    processors: Annotated[list[int], AfterValidator(_rising_sizes)] = Field(
        description="write its sizes, such as processors = [16, 32]"
    )
    capability: Text = Field(description="name the machine whose curve it is held against")
    changes: dict[str, Any] = Field(default_factory=dict, alias="set")


class Ratio(Table):
    """`[[ratio]]`: the mean over some cases by the mean over others, or sum by sum."""

    name: Text = Field(description="rows of published.csv name it")
    of: Texts = Field(description="name the cases above the line")
    to: Texts = Field(description="name the cases below the line")
    totals: bool = Field(False, description="whether sums are divided in place of means")


class Advice(Table):
    """`[[advice]]`: a layout that `homenode advise` is asked about."""

    name: Text = Field(description="rows of published.csv name it")
    scenario: Text = Field(description="name a file in scenarios/, or OTHER-STUDY/FILE")
    changes: dict[str, Any] = Field(default_factory=dict, alias="set")
    guideline: dict[str, Any] = Field(
        default_factory=dict,
        description=(
            'by path, the value or values that the guideline asks for, or "less", "more", "other"'
            " than now; nothing for no change"
        ),
    )


class Ranking(Table):
    """`[[ranking]]`: layouts in the order of a metric."""

    of: Annotated[list[Text], Field(min_length=2)] = Field(
        description="name the cases or ratios that are put in order"
    )
    by: Text = Field(description="name the metric, such as etr_per_s")
    least: bool = Field(False, description="whether the least is ahead, not the most")


class Explain(Table):
    """`[[explain]]`: a case that is explained against another."""

    case: Text = Field(description="name the case that is explained")
    base: Text = Field(description="name the case it is explained against")


class Calibrate(Table):
    """`[[calibrate]]`: a parameter, and the rows it is fitted to."""

    name: Text = Field(description="the printed table calls it so")
    parameter: Text = Field(description="write its path in the frozen scenario")
    rows: Texts = Field(description='name calibration rows, such as "case:metric"')
    bounds: Annotated[list[float], AfterValidator(_two_bounds)] = Field(
        description="write what it lies between, such as bounds = [1e6, 1e9]"
    )
    unit: str = ""
    scenarios: list[Text] = Field(default_factory=list)


class Run(Table):
    """`[run]`: what replaces the scenarios' own."""

    replications: Count | None = None


class SuiteCase(Table):
    """`[[comparison.case]]`: the mean over some cases of the suite."""

    name: Text = Field(description="rows of published.csv name it")
    of: Texts = Field(description="name cases of the suite")
    base: Text | None = None


class NotModelled(Table):
    """`[[comparison.not_modelled]]`: rows that are shown and not counted."""

    rows: Texts = Field(description='name rows, such as "case:metric"')
    why: Text = Field(description="say what is missing")


class Comparison(Table):
    """`[comparison]`: a suite, and the machines it is simulated on."""

    suite: Text = Field(description="name the suite of workload classes")
    base: Text = Field(description="name the machine that is compared with")
    machine: Text = Field(description="name the machine that is compared")
    case: list[SuiteCase] = Field(default_factory=list)
    not_modelled: list[NotModelled] = Field(default_factory=list)


class Partitions(Table):
    """`[[capability.case]]`: so many partitions of so many processors each."""

    name: Text = Field(description="rows of published.csv name it")
    processors: int = Field(description="processors of a partition")
    partitions: Count = 1


class Predicted(Table):
    """`[[capability.prediction]]`: a machine whose factors are predicted."""

    name: Text = Field(description="its cases are called name-processors")
    machine: Text = Field(description="name the machine")
    profile: Text | None = None
    threads: Count = 1
    layout: Text | None = Field(None, description="a layout of the study's folder")


class Generation(Table):
    """`[[capability.generation]]`: what one predicted machine does in proportion to another."""

    name: Text = Field(description="rows of published.csv name it")
    older: Text = Field(description="name the prediction that counts as 1")
    newer: Text = Field(description="name the other prediction")
    older_processors: Count = 1
    newer_processors: Count = 1


class Capability(Table):
    """`[capability]`: a table of factors, and what is computed from it."""

    table: Text | None = Field(None, description="name the table of capability factors")
    base: int | None = Field(None, description="write the processors that ratios are told by")
    case: list[Partitions] = Field(default_factory=list)
    prediction: list[Predicted] = Field(default_factory=list)
    generation: list[Generation] = Field(default_factory=list)

    @model_validator(mode="after")
    def _says_something(self) -> Capability:
        """Cases need a table, and without either kind there is nothing to compute."""
        if self.case and self.table is None:
            raise _fact("table is missing", "name the table of capability factors")
        if self.table is not None and self.base is None:
            raise _fact("base is missing", "write the processors that ratios are told by")
        if not (self.case or self.prediction):
            raise _fact(
                "case is missing", "write [[capability.case]] and under it name and processors"
            )
        return self


class StudyFile(Table):
    """What every study says."""

    title: Text = Field(description="say in a line what is held against what")
    source: Text = Field(description="say where it was published")
    claim: Text = Field(description="say what was claimed, in a sentence")
    assumptions: list[Text] = Field(default_factory=list)
    calibrate: list[Calibrate] = Field(default_factory=list)


class OfScenarios(StudyFile):
    """A study that simulates scenarios."""

    run: Run = Field(default_factory=Run)
    case: list[Case] = Field(default_factory=list)
    series: list[Series] = Field(default_factory=list)
    ratio: list[Ratio] = Field(default_factory=list)
    advice: list[Advice] = Field(default_factory=list)
    ranking: list[Ranking] = Field(default_factory=list)
    explain: list[Explain] = Field(default_factory=list)

    @model_validator(mode="after")
    def _has_cases(self) -> OfScenarios:
        """Without one there is nothing to simulate."""
        if not self.case and not self.series and not self.advice:
            raise _fact("case is missing", "write [[case]] and under it name and scenario")
        return self


class OfMachines(StudyFile):
    """A study that holds two machines against each other."""

    run: Run = Field(default_factory=Run)
    comparison: Comparison


class OfFactors(StudyFile):
    """A study that computes from capability factors."""

    capability: Capability


AnyStudy = OfScenarios | OfMachines | OfFactors
Kind = TypeVar("Kind", bound=StudyFile)
_KEYS = {key for kind in (OfScenarios, OfMachines, OfFactors) for key in kind.model_fields}


def read_study_file(path: Path) -> tuple[AnyStudy, Document]:
    """The file and where everything stands in it; what is no study is refused."""
    document = read_document(path, StudyError)
    if "capability" in document.data:
        return _of_kind(OfFactors, "capability", document), document
    if "comparison" in document.data:
        return _of_kind(OfMachines, "comparison", document), document
    return validate(OfScenarios, document, StudyError), document


def _of_kind(kind: type[Kind], mark: str, document: Document) -> Kind:
    """The file as a kind of study that a table marks; tables of other kinds are refused."""
    problems = Problems(document, StudyError)
    for key in document.data:
        if key in _KEYS - set(kind.model_fields):
            problems.add_key(
                (key,), f"{key} does not stand beside [{mark}]", "leave one of them out"
            )
    problems.raise_any()
    return validate(kind, document, StudyError)
