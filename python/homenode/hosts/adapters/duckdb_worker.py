"""A process that asks a DuckDB database ten questions; started by the adapter, alone in its run.

`load FOLDER DATABASE` makes the database of the generated files. `ask JSON` says `ready` by a file
of that name, waits for a file `go`, asks, and prints one line of JSON. It imports nothing of
homenode, so that only DuckDB is measured.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

TABLES = ("customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier")
_HEAD = re.compile(r"^-- ([0-9]+) (.+)$", re.MULTILINE)
_PATIENCE_S = 60.0


def questions(text: str) -> list[tuple[str, str]]:
    """Titles and statements of a file of questions."""
    heads = list(_HEAD.finditer(text))
    ends = [head.start() for head in heads[1:]] + [len(text)]
    return [
        (f"{head[1]} {head[2]}", text[head.end() : end].strip())
        for head, end in zip(heads, ends, strict=True)
    ]


def load(folder: Path, database: Path) -> None:
    """The eight tables, from Parquet into a database file."""
    import duckdb

    with duckdb.connect(str(database)) as connection:
        for table in TABLES:
            file = str(folder / f"{table}.parquet").replace("'", "''")
            connection.execute(f"create table {table} as from read_parquet('{file}')")
        connection.execute("checkpoint")


def asked(connection: Any, pairs: list[tuple[str, str]]) -> tuple[list[float], str]:
    """Seconds of each question, and a digest of all answers."""
    seconds, digest = [], hashlib.sha256()
    for _, statement in pairs:
        start = time.perf_counter()
        rows = connection.execute(statement).fetchall()
        seconds.append(time.perf_counter() - start)
        digest.update(repr(rows).encode())
    return seconds, digest.hexdigest()


def passes(
    one: Callable[[], tuple[list[float], str]], seconds: float
) -> tuple[list[list[float]], list[str], float]:
    """Passes over all questions until the time is over, one at least."""
    start = time.perf_counter()
    times, answers = [], []
    while True:
        took, answer = one()
        times.append(took)
        answers.append(answer)
        elapsed = time.perf_counter() - start
        if elapsed >= seconds:
            return times, answers, elapsed


def ask(order: dict[str, Any]) -> dict[str, Any]:
    """A warm run: a pass unmeasured, then passes. A cold one: opening and one pass, with the file
    out of the page cache.
    """
    import duckdb

    pairs = questions(Path(order["questions"]).read_text(encoding="utf-8"))
    settings = {"threads": order["threads"]}
    cold = bool(order["cold"])
    if cold:
        _forget(order["database"])
        _wait_for_go()
        start = time.perf_counter()
        with duckdb.connect(order["database"], read_only=True, config=settings) as connection:
            took, answer = asked(connection, pairs)
        times, answers, elapsed = [took], [answer], time.perf_counter() - start
    else:
        with duckdb.connect(order["database"], read_only=True, config=settings) as connection:
            _, first = asked(connection, pairs)
            _wait_for_go()
            times, answers, elapsed = passes(lambda: asked(connection, pairs), order["seconds"])
            answers.append(first)
    return {
        "passes": len(times),
        "seconds": elapsed,
        "by_question_s": {
            title: sum(took[i] for took in times) / len(times) for i, (title, _) in enumerate(pairs)
        },
        "by_asking_s": [one for took in times for one in took],
        "by_pass_s": [sum(took) for took in times],
        "answers": sorted(set(answers)),
    }


def _forget(database: str) -> None:
    """Ask the kernel to drop the file's pages; no root is needed for one's own clean pages."""
    descriptor = os.open(database, os.O_RDONLY)
    try:
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)


def _wait_for_go() -> None:
    """Tell that all is ready, and wait until the time is taken."""
    Path("ready").touch()
    until = time.monotonic() + _PATIENCE_S
    while not Path("go").exists():
        if time.monotonic() > until:
            sys.exit("nobody said go")
        time.sleep(0.002)


if __name__ == "__main__":
    if sys.argv[1] == "load":
        load(Path(sys.argv[2]), Path(sys.argv[3]))
    else:
        sys.stdout.write(json.dumps(ask(json.loads(sys.argv[2]))) + "\n")
