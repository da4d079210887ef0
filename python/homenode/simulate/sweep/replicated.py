"""One replication of a whole run, as a worker gives it back: its summary, its interval tables."""

from __future__ import annotations

import base64
import json
import tempfile
import threading
from functools import partial
from pathlib import Path
from typing import Any

from homenode.errors import StoreError
from homenode.simulate.engine import load_engine, table_columns
from homenode.simulate.runner.interval_files import ReplicationWriter, part_path
from homenode.simulate.runner.job import Job
from homenode.simulate.runner.running import refused
from homenode.simulate.runner.simulate import simulate_each


def replicated(spec: str, index: int, stop: threading.Event) -> dict[str, Any] | None:
    """The record of a replication of a frozen layout; None if it was stopped. One that has no
    answer says why. Raises `StoreError` where there is no room for its tables.
    """
    engine, job = load_engine(), Job(json.loads(spec), "", (index,), "")
    columns = table_columns(engine)
    try:
        # They are written as they come: of a long run memory would not hold them.
        with tempfile.TemporaryDirectory(prefix="homenode-") as name:
            folder = Path(name)
            writer = partial(ReplicationWriter, folder, columns=columns)
            outcome = simulate_each(engine, job, writer, stop)
            if outcome.interrupted:
                stop.set()
                return None
            parts = {table: part_path(folder, table, index) for table in columns}
            tables = {table: _as_text(part) for table, part in parts.items() if part.exists()}
    except (engine.SpecError, engine.Runaway) as error:
        return {"refused": refused(job, error, engine), "summary": {}, "tables": {}}
    except OSError as error:
        raise StoreError(
            f"tables cannot be written into {tempfile.gettempdir()}: {error.strerror or error}",
            next_step="free some space, or name another folder with TMPDIR",
        ) from error
    return {"refused": "", "summary": outcome.summaries[index], "tables": tables}


def put_in_place(record: dict[str, Any], folder: Path, index: int) -> None:
    """The tables of a record as those of a replication in a folder."""
    for table, text in record["tables"].items():
        part_path(folder, table, index).write_bytes(base64.b85decode(text))


def _as_text(part: Path) -> str:
    return base64.b85encode(part.read_bytes()).decode()
