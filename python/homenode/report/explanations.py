"""An explanation as a table."""

from __future__ import annotations

from rich.markup import escape
from rich.table import Table

from homenode.report.numbers import number, signed
from homenode.report.runs import plain_table
from homenode.results.explain import Explanation


def explanation_table(explanation: Explanation) -> Table:
    """Cores by cause, with a total that is the sum of what is printed."""
    return _alone(explanation) if explanation.base is None else _difference(explanation)


def _alone(explanation: Explanation) -> Table:
    books = explanation.breakdown
    table = plain_table("cause", "cores", "share", "us/tx", title=_title(explanation))
    for row in explanation.rows:
        share = f"{100 * row.share:.1f} %"
        table.add_row(row.label, number(row.cores), share, number(row.per_transaction_us, 1))
    per_tx = books.total / books.transactions_per_s * 1e6 if books.transactions_per_s else None
    table.add_section()
    table.add_row(
        "total", number(explanation.total), "100.0 %" if books.total else "-", number(per_tx, 1)
    )
    return table


def _difference(explanation: Explanation) -> Table:
    names = _columns(explanation)
    table = plain_table("cause", *names, "difference", "us/tx", title=_title(explanation))
    for row in explanation.rows:
        table.add_row(
            row.label,
            number(row.base_cores),
            number(row.cores),
            signed(row.difference),
            number(row.per_transaction_us, 1),
        )
    table.add_section()
    total = [
        number(explanation.base_total),
        number(explanation.total),
        signed(explanation.difference),
    ]
    table.add_row("total", *total, "")
    return table


def _title(explanation: Explanation) -> str:
    books, base = explanation.breakdown, explanation.base
    text = f"Where the cores of {books.partition} went ({books.run})"
    if base is not None:
        text += f", against {base.partition} ({base.run})"
    return text


def _columns(explanation: Explanation) -> tuple[str, str]:
    books, base = explanation.breakdown, explanation.base
    if base is None or base.partition != books.partition:
        return escape(base.partition if base else ""), escape(books.partition)
    return f"{escape(base.partition)} base", escape(books.partition)
