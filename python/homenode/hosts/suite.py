"""Suites: which cases of which adapters, how long and how often. One TOML a suite.

Those that come with homenode lie in `suites/`; a path to a file of one's own works as well.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from homenode.errors import HomenodeError, Where, hint, listed
from homenode.hosts.adapter import Adapter, Case
from homenode.hosts.adapters.registry import adapter
from homenode.hosts.errors import MeasureError
from homenode.model.shipped import shipped_folder

FOLDER = shipped_folder("measurements")
SCHEMA = 1
_TOP = {"schema", "name", "title", "defaults", "case"}
_DEFAULTS = {"repeats", "seconds", "warm_up"}
_ROW = {"adapter", "name", "load", "load_per_processor", "processors", "parameters", *_DEFAULTS}
_MOST_REPEATS = 1_000
MOST_SECONDS = 86_400.0
_NAME = re.compile(r"\w[\w.+-]{0,99}")
_NAME_RULE = "write up to 100 letters, digits, and . + - _ after the first: folders are named so"


@dataclass(frozen=True)
class Row:
    """A case with its adapter and how it is repeated."""

    adapter: Adapter
    case: Case
    repeats: int
    """Recorded repetitions of a system."""
    seconds: float
    """Asked length of a repetition [s]."""
    warm_up: bool
    """Whether an unrecorded repetition comes first."""
    processors: tuple[int, ...]
    """Numbers of logical processors to run it with; empty for all there are."""
    where: Where
    load_per_processor: int | None = None
    """Clients, threads or jobs for each logical processor, in place of a load of its own."""

    @property
    def id(self) -> str:
        """`adapter/case`."""
        return f"{self.adapter.name}/{self.case.name}"

    def on(self, processors: int) -> Row:
        """The same with the load of so many processors, and run with these alone.

        Raises `MeasureError` for a load that the adapter does not take.
        """
        if self.load_per_processor is None:
            return self
        given = {**self.case.parameters, "load": processors * self.load_per_processor}
        case = _case(self.adapter, self.case.name, given, self.where)
        return replace(self, case=case, processors=(processors,))


@dataclass(frozen=True)
class Suite:
    """All cases, in the order of the file."""

    name: str
    title: str
    rows: tuple[Row, ...]
    sha256: str
    """Of the file: equal sums are equal suites."""

    def only(self, wanted: Sequence[str]) -> tuple[Row, ...]:
        """Rows of these adapters or cases; all if none is named.

        Raises `MeasureError` for a name that matches nothing.
        """
        if not wanted:
            return self.rows
        names = {row.adapter.name for row in self.rows} | {row.id for row in self.rows}
        for name in wanted:
            if name not in names:
                adapters = sorted({row.adapter.name for row in self.rows})
                raise MeasureError(
                    f"suite {self.name} has no {name}{hint(name, names)}",
                    there=f"its adapters are {listed(adapters, 30)}",
                    next_step=f"`homenode measure list {self.name}` lists its cases",
                )
        return tuple(r for r in self.rows if r.adapter.name in wanted or r.id in wanted)

    def repeated(self, least: int, by: int) -> Suite:
        """Cases that are repeated less than `least` times are repeated `by` times."""
        rows = (replace(r, repeats=by) if r.repeats < least else r for r in self.rows)
        return replace(self, rows=tuple(rows))

    def sized(self, counts: Sequence[int], all_there_are: int) -> Suite:
        """A row for each number of processors, with the load of so many, where a case asks for a
        load a processor; `counts` take the place of the suite's own, if there are any.
        """
        rows: list[Row] = []
        for row in self.rows:
            if row.load_per_processor is None:
                rows.append(replace(row, processors=tuple(counts) or row.processors))
            else:
                sizes = tuple(counts) or row.processors or (all_there_are,)
                rows += [row.on(count) for count in sizes]
        return replace(self, rows=tuple(rows))

    @property
    def grows(self) -> bool:
        """Whether the load of a case goes by the number of processors."""
        return any(row.load_per_processor is not None for row in self.rows)


def names() -> list[str]:
    """Suites that come with homenode."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def load(name: str) -> Suite:
    """The suite of that name, or in that file.

    Raises `MeasureError` for one that is not there or whose file is wrong, with file and line.
    """
    path = FOLDER / f"{name}.toml" if name in names() else Path(name)
    if not path.is_file():
        raise MeasureError(
            f"there is no suite {name}{hint(name, [*names(), *_files_beside(path)])}",
            there=f"there are {listed(names())}",
            next_step="name one of these, or a TOML file of your own",
        )
    shown = path.name if path.parent == FOLDER else str(path)
    try:
        text = path.read_text(encoding="utf-8")
        data = tomllib.loads(text)
    except OSError as error:
        raise MeasureError(f"{path} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MeasureError(
            f"the suite is not TOML: {error}", where=Where(shown), next_step="correct it"
        ) from error
    return _suite(data, text, shown)


def _files_beside(path: Path) -> list[str]:
    """TOML files of the folder in which one was looked for."""
    try:
        return [str(path.with_name(file.name)) for file in path.parent.glob("*.toml")]
    except OSError:
        return []


def _suite(data: Mapping[str, Any], text: str, shown: str) -> Suite:
    whole = Where(shown)
    _known(data, _TOP, whole)
    if data.get("schema") != SCHEMA or isinstance(data["schema"], bool):
        raise MeasureError(
            f"the suite's schema is {data.get('schema')}",
            where=whole,
            next_step=f"this homenode reads `schema = {SCHEMA}`",
        )
    defaults = data.get("defaults", {})
    if not isinstance(defaults, dict):
        raise MeasureError(
            "defaults is not a table", where=whole, next_step="write [defaults] and keys below it"
        )
    for key in ("name", "title"):
        if not isinstance(data.get(key, ""), str):
            raise MeasureError(
                f"{key} = {data[key]!r} is no text", where=whole, next_step=f'write {key} = "..."'
            )
    if not _NAME.fullmatch(data.get("name") or "suite"):
        raise MeasureError(
            f"name = {data['name']!r} cannot name a file", where=whole, next_step=_NAME_RULE
        )
    _known(defaults, _DEFAULTS, whole)
    lines = [
        number
        for number, line in enumerate(text.splitlines(), start=1)
        if re.match(r"\s*\[\[\s*case\s*\]\]", line)
    ]
    tables = data.get("case", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise MeasureError(
            "case is no list of tables",
            where=whole,
            next_step="write [[case]] in front of each case, with its keys below it",
        )
    if not tables:
        raise MeasureError("the suite has no [[case]]", where=whole, next_step="write one")
    rows: list[Row] = []
    for index, table in enumerate(tables):
        where = Where(shown, lines[index] if index < len(lines) else None)
        row = _row({**defaults, **table}, where)
        if row.id in {other.id for other in rows}:
            raise MeasureError(
                f"{row.id} is there twice", where=where, next_step="name each case once"
            )
        rows.append(row)
    return Suite(
        name=str(data.get("name") or Path(shown).stem),
        title=str(data.get("title", "")),
        rows=tuple(rows),
        sha256=hashlib.sha256(text.encode()).hexdigest(),
    )


def _row(table: Mapping[str, Any], where: Where) -> Row:
    _known(table, _ROW, where)
    for key in ("adapter", "name"):
        if not isinstance(table.get(key), str) or not table[key]:
            raise MeasureError(
                f"a case has no {key}", where=where, next_step=f'write {key} = "..."'
            )
    if not _NAME.fullmatch(table["name"]):
        raise MeasureError(f"a case's name is {table['name']!r}", where=where, next_step=_NAME_RULE)
    parameters = table.get("parameters", {})
    if not isinstance(parameters, dict):
        raise MeasureError(
            "parameters is not a table", where=where, next_step="write parameters = { a = 1 }"
        )
    each = _load_per_processor(table, where)
    if "load" in table or each is not None:
        parameters = {"load": table.get("load", each), **parameters}
    try:
        made = adapter(table["adapter"])
    except HomenodeError as error:
        raise MeasureError(f"{where}: {error}") from error
    case = _case(made, table["name"], parameters, where)
    return Row(
        adapter=made,
        case=case,
        repeats=int(_number(table, "repeats", 3, 1, _MOST_REPEATS, where, whole=True)),
        seconds=_number(table, "seconds", 5.0, 0.001, MOST_SECONDS, where),
        warm_up=_yes_or_no(table, "warm_up", where),
        processors=_processors(table.get("processors", []), where),
        where=where,
        load_per_processor=each,
    )


def _case(made: Adapter, name: str, parameters: Mapping[str, Any], where: Where) -> Case:
    try:
        return made.case(name, parameters)
    except HomenodeError as error:
        raise MeasureError(f"{where}: {error}") from error


def _load_per_processor(table: Mapping[str, Any], where: Where) -> int | None:
    if "load_per_processor" not in table:
        return None
    parameters = table.get("parameters", {})
    if "load" in table or "load" in parameters:
        raise MeasureError(
            "a case has load and load_per_processor", where=where, next_step="write one of them"
        )
    return int(_number(table, "load_per_processor", 1, 1, 100_000, where, whole=True))


def _known(table: Mapping[str, Any], keys: set[str], where: Where) -> None:
    for key in table:
        if key not in keys:
            raise MeasureError(
                f"the suite's key {key} is not known{hint(key, keys)}",
                there=f"known are {listed(sorted(keys))}",
                where=where,
            )


def _number(
    table: Mapping[str, Any],
    key: str,
    default: float,
    least: float,
    most: float,
    where: Where,
    *,
    whole: bool = False,
) -> float:
    value = table.get(key, default)
    fits = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
    if not fits or not least <= value <= most:
        kind = "a whole number" if whole else "a number"
        raise MeasureError(
            f"{key} = {value!r} makes no sense",
            where=where,
            next_step=f"write {kind} from {least:g} to {most:g}",
        )
    return float(value)


def _yes_or_no(table: Mapping[str, Any], key: str, where: Where) -> bool:
    value = table.get(key, False)
    if not isinstance(value, bool):
        raise MeasureError(
            f"{key} = {value!r} makes no sense", where=where, next_step="write true or false"
        )
    return value


def _processors(value: object, where: Where) -> tuple[int, ...]:
    if not isinstance(value, list) or not all(
        isinstance(count, int) and not isinstance(count, bool) and count > 0 for count in value
    ):
        raise MeasureError(
            f"processors = {value!r} makes no sense",
            where=where,
            next_step="write numbers of logical processors, such as [1, 2, 4]",
        )
    return tuple(dict.fromkeys(value))
