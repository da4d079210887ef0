"""Reading suites: one TOML a suite, checked with the place of every key.

Those that come with homenode lie in `data/measurements`; a path to a file of one's own works as
well.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from homenode.errors import HomenodeError, Where, hint, listed
from homenode.hosts.adapters.registry import adapter
from homenode.hosts.errors import MeasureError, MeasureFileError
from homenode.hosts.suite import Row, Suite, case_of
from homenode.model.document import Document, Form, Problems, Table, parse_document, validate
from homenode.model.document.read import read_text
from homenode.model.shipped import shipped_folder, shipped_names

KIND = "measurements"
MOST_SECONDS = 86_400.0

_Name = Annotated[
    str,
    Form(
        r"\w[\w.+-]{0,99}",
        "write up to 100 letters, digits, and . + - _ after the first: folders are named so",
    ),
]
_Repeats = Annotated[int, Field(ge=1, le=1_000)]
_Seconds = Annotated[float, Field(ge=0.001, le=MOST_SECONDS)]
_Parameter = str | int | float | bool
_Load = Annotated[int, Field(ge=1, le=100_000)]


class _Defaults(Table):
    """What cases take that do not say it themselves."""

    repeats: _Repeats = 3
    seconds: _Seconds = 5.0
    warm_up: bool = False


class _Case(Table):
    """A case: an adapter's load, how long and how often."""

    adapter: str = Field(min_length=1, description='write adapter = "sysbench"')
    name: _Name = Field(description='write name = "..."')
    load: _Parameter | None = None
    load_per_processor: _Load | None = None
    processors: list[Annotated[int, Field(ge=1)]] = Field(default_factory=list)
    parameters: dict[str, _Parameter] = Field(default_factory=dict)
    repeats: _Repeats | None = None
    seconds: _Seconds | None = None
    warm_up: bool | None = None

    @model_validator(mode="after")
    def _is_loaded_once(self) -> _Case:
        loads = self.load is not None or "load" in self.parameters
        if loads and self.load_per_processor is not None:
            there, step = "it has load and load_per_processor", "write one of them"
            raise PydanticCustomError("fact", "load", {"there": there, "next_step": step})
        return self

    def given(self) -> dict[str, _Parameter]:
        """What the adapter is given."""
        load = self.load_per_processor if self.load is None else self.load
        return self.parameters if load is None else {"load": load, **self.parameters}


class _SuiteFile(Table):
    """A suite as a whole."""

    schema_: int = Field(alias="schema", ge=1, le=1, description="write schema = 1")
    name: _Name | None = None
    title: str = ""
    defaults: _Defaults = Field(default_factory=_Defaults)
    case: list[_Case] = Field(
        min_length=1, description="write [[case]] in front of each case, with its keys below it"
    )


def names() -> list[str]:
    """Suites that come with homenode."""
    return shipped_names(KIND)


def load(name: str) -> Suite:
    """The suite of that name, or in that file.

    Raises `MeasureError` for one that is not there or whose file is wrong, with file and line.
    """
    own = name not in names()
    path = Path(name) if own else shipped_folder(KIND) / f"{name}.toml"
    if not path.is_file():
        raise MeasureError(
            f"there is no suite {name}{hint(name, [*names(), *_files_beside(path)])}",
            there=f"there are {listed(names())}",
            next_step="name one of these, or a TOML file of your own",
        )
    text = read_text(path, MeasureFileError)
    document = parse_document(text, str(path) if own else path.name, MeasureFileError)
    return _suite(validate(_SuiteFile, document, MeasureFileError), document)


def _files_beside(path: Path) -> list[str]:
    """TOML files of the folder in which one was looked for."""
    try:
        return [str(file) for file in path.parent.glob("*.toml")]
    except OSError:
        return []


def _suite(file: _SuiteFile, document: Document) -> Suite:
    problems = Problems(document, MeasureFileError)
    rows: list[Row] = []
    for index, case in enumerate(file.case):
        row = _row(case, file.defaults, document.where(("case", index), key=True))
        if row.id in {other.id for other in rows}:
            path = ("case", index, "name")
            problems.add(path, f"{row.id} is there twice", next_step="name each case once")
        rows.append(row)
    problems.raise_any()
    return Suite(
        name=file.name or Path(document.file).stem,
        title=file.title,
        rows=tuple(rows),
        sha256=hashlib.sha256(document.text.encode()).hexdigest(),
    )


def _row(case: _Case, defaults: _Defaults, where: Where) -> Row:
    try:
        made = adapter(case.adapter)
    except HomenodeError as error:
        raise MeasureError(f"{where}: {error}") from error
    return Row(
        adapter=made,
        case=case_of(made, case.name, case.given(), where),
        repeats=defaults.repeats if case.repeats is None else case.repeats,
        seconds=float(defaults.seconds if case.seconds is None else case.seconds),
        warm_up=defaults.warm_up if case.warm_up is None else case.warm_up,
        processors=tuple(dict.fromkeys(case.processors)),
        where=where,
        load_per_processor=case.load_per_processor,
    )
