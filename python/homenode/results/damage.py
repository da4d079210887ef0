"""Reading a run folder that may be damaged: which file, what is wrong with it, what to do."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from homenode.errors import DamagedRunError

_NEXT = "run the scenario again, or delete the folder"


def read_files(folder: Path, names: Sequence[str], tables: Iterable[Path]) -> dict[str, Any]:
    """The JSON files of a run folder by name, after a look at its tables."""
    if not folder.is_dir():
        raise DamagedRunError(f"{folder} is not a run folder")
    files = {name: _read_json(folder / name) for name in names}
    for table in tables:
        _check_table(table)
    return files


def _read_json(path: Path) -> Any:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise DamagedRunError(f"{path} is missing; {_NEXT}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise DamagedRunError(f"{path} cannot be read ({error}); {_NEXT}") from error
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise DamagedRunError(f"{path} is damaged: {error.msg} at {where}; {_NEXT}") from error


def _check_table(path: Path) -> None:
    """Open the footer only: a truncated or foreign file shows there."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        pq.read_metadata(path)
    except FileNotFoundError:
        raise DamagedRunError(f"{path} is missing; {_NEXT}") from None
    except (OSError, pa.ArrowException) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise DamagedRunError(f"{path} is damaged: {reason}; {_NEXT}") from error
