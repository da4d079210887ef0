"""What kind of statement a text of SQL is, as the database itself reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from homenode.errors import HomenodeError

if TYPE_CHECKING:
    import duckdb

_QUESTIONS = ("PIVOT", "UNPIVOT", "SELECT", "FROM", "WITH", "VALUES", "TABLE", "(")
"""How a question begins that the database reads as several statements, as it does where it has to
look for the columns of a PIVOT first.
"""


def refuse_writing(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    """Let one statement pass that only reads; what EXPLAIN explains is looked at too, for with
    ANALYZE it runs. Raises `HomenodeError`, or what the database says of a text it cannot read.
    """
    kinds = _kinds(connection, sql)
    if len(kinds) != 1:
        raise HomenodeError(f"the query has {len(kinds)} statements; ask one question at a time")
    _refuse(connection, kinds[0], sql)


def _refuse(connection: duckdb.DuckDBPyConnection, kind: str, sql: str) -> None:
    words = _words(sql)
    first = words[0][0].upper()
    if first == "EXPLAIN":
        body = _explained(connection, sql, words)
        _refuse(connection, *body)
    elif not (kind == "SELECT" or (kind == "MULTI" and first in _QUESTIONS)):
        shown = first if kind == "MULTI" else kind.replace("_", " ")
        raise HomenodeError(
            f"the query is of the kind {shown}; only questions (SELECT) are answered"
        )


def _kinds(connection: duckdb.DuckDBPyConnection, sql: str) -> list[str]:
    try:
        return [one.type.name for one in connection.extract_statements(sql)]
    except ValueError as error:  # a kind that this release of the client has no name for
        raise HomenodeError("the query is no question; only SELECT is answered") from error


def _words(sql: str) -> list[tuple[str, int]]:
    """Words and signs of a statement without its comments, each with the byte it begins at."""
    import duckdb

    data = sql.encode()
    tokens = duckdb.tokenize(sql)
    ends = [start for start, _ in tokens[1:]] + [len(data)]
    return [
        (data[start:end].decode(errors="replace").strip(), start)
        for (start, kind), end in zip(tokens, ends, strict=True)
        if kind != duckdb.token_type.comment
    ]


def _explained(
    connection: duckdb.DuckDBPyConnection, sql: str, words: list[tuple[str, int]]
) -> tuple[str, str]:
    """Kind and text of what an EXPLAIN explains."""
    import duckdb

    rest = words[1:]
    while rest and rest[0][0].upper() in ("ANALYZE", "VERBOSE"):
        rest = rest[1:]
    if rest and rest[0][0] == "(":
        # Options such as (ANALYZE, FORMAT JSON), or a question in brackets.
        closed = next((at for at, (word, _) in enumerate(rest) if word == ")"), len(rest) - 1)
        candidates = [rest, rest[closed + 1 :]]
    else:
        candidates = [rest]
    for one in candidates:
        text = sql.encode()[one[0][1] :].decode() if one else ""
        try:
            kinds = _kinds(connection, text)
        except duckdb.Error:
            continue
        if len(kinds) == 1:
            return kinds[0], text
    raise HomenodeError("the query explains no question; only SELECT is answered")
