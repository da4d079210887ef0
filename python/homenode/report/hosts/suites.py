"""Suites of measurements and their tools, as tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from homenode.model.numbers import duration
from homenode.report.hosts.words import counted

if TYPE_CHECKING:
    from rich.table import Table

    from homenode.hosts.adapter import Adapter
    from homenode.hosts.adapters.described import Parameter
    from homenode.hosts.suite import Suite
    from homenode.hosts.tools import Wanted


def suite_row(suite: Suite) -> dict[str, object]:
    """What a list shows of a suite."""
    adapters = {row.adapter.name for row in suite.rows}
    return {
        "name": suite.name,
        "title": suite.title,
        "cases": len(suite.rows),
        "adapters": len(adapters),
    }


def suites_table(rows: Iterable[Mapping[str, object]]) -> Table:
    """What there is to measure; a row as `suite_row` makes it."""
    from rich.table import Table

    table = Table(title="Suites")
    table.add_column("suite", no_wrap=True)
    table.add_column("cases", justify="right")
    table.add_column("adapters", justify="right")
    table.add_column("what it is")
    for row in rows:
        table.add_row(*(str(row[key]) for key in ("name", "cases", "adapters", "title")))
    return table


def cases_table(suite: Suite) -> Table:
    """The cases of a suite."""
    from rich.table import Table

    table = Table(title=f"{suite.name}: {suite.title}")
    for name in ("case", "what it is", "stands for"):
        table.add_column(name, no_wrap=name == "case")
    for name in ("repeats", "s each"):
        table.add_column(name, justify="right")
    table.add_column("unit", no_wrap=True)
    for row in suite.rows:
        table.add_row(
            row.id,
            row.case.title,
            row.adapter.stands_for,
            str(row.repeats),
            f"{row.seconds:g}",
            f"{row.case.unit} ({row.case.better} is better)",
        )
    return table


def cases_sentence(suite: Suite) -> str:
    """How long it takes at least."""
    sizes = [max(1, len(row.processors)) for row in suite.rows]
    count = sum(row.repeats * n for row, n in zip(suite.rows, sizes, strict=True))
    seconds = sum(row.repeats * n * row.seconds for row, n in zip(suite.rows, sizes, strict=True))
    return (
        f"{counted(len(suite.rows), 'case')}, {counted(count, 'repetition')}: "
        f"{duration(seconds)} are asked for; "
        "preparing, starting and waiting for a quiet host come on top, and cases whose work is "
        "fixed take as long as they take."
    )


def cases_json(suite: Suite) -> dict[str, object]:
    """The same for programs."""
    return {
        "suite": suite.name,
        "title": suite.title,
        "cases": [
            {
                "case": row.id,
                "title": row.case.title,
                "stands_for": row.adapter.stands_for,
                "metric": row.case.metric,
                "unit": row.case.unit,
                "better": row.case.better,
                "load": row.case.load,
                "load_per_processor": row.load_per_processor,
                "processors": list(row.processors),
                "warm_up": row.warm_up,
                "repeats": row.repeats,
                "seconds": row.seconds,
                "parameters": dict(row.case.parameters),
            }
            for row in suite.rows
        ],
    }


def tools_table(wanted: Sequence[Wanted]) -> Table:
    """Which tools are here."""
    from rich.table import Table

    table = Table(title="Tools")
    for name in ("adapter", "program", "here", "package", "from"):
        table.add_column(name, no_wrap=True)
    for one in wanted:
        here = "yes" if one.there else "no, optional" if one.need.plug_in else "no"
        table.add_row(one.adapter.name, one.need.program, here, one.need.package, one.need.source)
    return table


def tools_json(wanted: Sequence[Wanted]) -> list[dict[str, object]]:
    """The same for programs."""
    return [
        {
            "adapter": one.adapter.name,
            "program": one.need.program,
            "there": one.there,
            "package": one.need.package,
            "source": one.need.source,
            "plug_in": one.need.plug_in,
            "cases": list(one.cases),
        }
        for one in wanted
    ]


def adapters_table(adapters: Sequence[Adapter]) -> Table:
    """What a suite of one's own may be made of."""
    from rich.table import Table

    table = Table(title="Adapters")
    table.add_column("adapter", no_wrap=True)
    table.add_column("what it is")
    table.add_column("stands for")
    for one in adapters:
        table.add_row(one.name, one.title, one.stands_for)
    return table


def parameters_table(adapter: Adapter, parameters: Sequence[Parameter]) -> Table:
    """What a case of an adapter takes."""
    from rich.table import Table

    table = Table(title=f"{adapter.name}: {adapter.title}")
    for name in ("parameter", "default", "takes", "only where"):
        table.add_column(name, no_wrap=name != "takes")
    for one in parameters:
        table.add_row(one.name, _default(one.default), one.takes, one.only_where)
    return table


def _default(value: object) -> str:
    if value is None:
        return "the case's name"
    return str(value).lower() if isinstance(value, bool) else str(value)


def adapter_json(adapter: Adapter, parameters: Sequence[Parameter]) -> dict[str, object]:
    """The same for programs."""
    return {
        "adapter": adapter.name,
        "title": adapter.title,
        "stands_for": adapter.stands_for,
        "parameters": [one.as_json() for one in parameters],
    }
