"""What was found, kept beside the scenario, so that it is looked for once.

`NAME.work.json` lies beside `NAME.toml` and holds, by a fingerprint of all that decides it (the
frozen reference, what is wanted, the engine), the work of every partition. It may be deleted: what
is not there is found again, with the same result. A run folder keeps the work of its own scenario
in the same form, and a scenario may name such a file (`work_file = "FILE"`).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from homenode.errors import ScenarioError, listed
from homenode.model.document.read import need_file
from homenode.model.spec import Spec
from homenode.simulate.settle.solve import Cores
from homenode.staging import write_whole

SUFFIX = ".work.json"
_FORM = 1
"""Of the file, and of how work is found."""
_MOST = 64
"""References of a file that are kept, the latest."""
_MOST_PER_S = 1e15
"""As in a table of demand [instructions/s]."""
_STEP = "name a file that homenode wrote, or leave work_file out"
Rates = dict[str, tuple[float, ...]]


def fingerprint(spec: Spec, wanted: Cores, engine_version: str) -> str:
    """Of all that decides what is found."""
    facts = [_FORM, engine_version, spec, {name: list(cores) for name, cores in wanted.items()}]
    text = json.dumps(facts, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def beside(source: str) -> Path | None:
    """Where the work of a scenario is kept; None if that is no file of its own."""
    path = Path(source)
    return path.with_name(f"{path.stem}{SUFFIX}") if path.is_file() else None


def recall(path: Path | None, key: str, wanted: Cores) -> Rates | None:
    """What was found before, if it was and is sound."""
    for entry in _entries(path):
        if entry.get("key") == key:
            with contextlib.suppress(KeyError, TypeError, ValueError, AttributeError):
                rates = _rates(entry)
                lengths = {name: len(one) for name, one in rates.items()}
                if lengths == {name: len(cores) for name, cores in wanted.items()}:
                    return rates
    return None


def remember(path: Path | None, key: str, wanted: Cores, rates: Rates, on: str) -> None:
    """Keep what was found; where nothing can be written, it is found again another time."""
    if path is None:
        return
    entries = [one for one in _entries(path) if one.get("key") != key][-_MOST + 1 :]
    entries.append({"key": key, "on": on, "partitions": _written(wanted, rates)})
    with contextlib.suppress(OSError):
        write_whole(path, _text(entries))


def packed(wanted: Cores, rates: Mapping[str, Sequence[float]]) -> bytes:
    """A file that holds the work of one scenario."""
    return _text([{"key": "", "on": "", "partitions": _written(wanted, rates)}])


def read_work(path: Path, name: str, cores: Sequence[float]) -> tuple[float, ...]:
    """The work of a partition that a file keeps for these cores.

    Raises `NotFoundError` where there is no file, `ScenarioError` where it says something else.
    """
    need_file(path, _STEP)
    entries = _entries(path)
    if not entries:
        raise ScenarioError(f"{path} holds no work", next_step=_STEP)
    there: Any = entries[-1].get("partitions")
    if not isinstance(there, dict) or name not in there:
        told = f"it has that of {listed(there)}" if isinstance(there, dict) else None
        raise ScenarioError(f"{path} has no work of {name}", there=told, next_step=_STEP)
    try:
        kept, rates = list(map(float, there[name]["cores"])), _rates(entries[-1])[name]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ScenarioError(f"{path} is damaged", next_step=_STEP) from error
    if kept != list(cores) or len(rates) != len(kept):
        told = listed([f"{one:g}" for one in kept[:4]])
        problem = f"{path} keeps the work of {name} for {told} cores, others are asked for"
        raise ScenarioError(problem, next_step="leave work_file out, and it is found anew")
    return rates


def _entries(path: Path | None) -> list[dict[str, Any]]:
    """What a file holds; nothing where it can't be read."""
    if path is None:
        return []
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return []
    entries = data.get("found") if isinstance(data, dict) and data.get("form") == _FORM else None
    return [one for one in entries if isinstance(one, dict)] if isinstance(entries, list) else []


def _rates(entry: Mapping[str, Any]) -> Rates:
    """Raises `ValueError` for what can't be played."""
    found = {
        name: tuple(float(rate) for rate in one["instructions_per_s"])
        for name, one in entry["partitions"].items()
    }
    if not all(0.0 <= rate <= _MOST_PER_S for rates in found.values() for rate in rates):
        raise ValueError("a rate that cannot be played")
    return found


def _written(wanted: Cores, rates: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    return {
        name: {"cores": list(cores), "instructions_per_s": list(rates[name])}
        for name, cores in wanted.items()
    }


def _text(entries: Sequence[Mapping[str, Any]]) -> bytes:
    return (json.dumps({"form": _FORM, "found": entries}, indent=1) + "\n").encode()
