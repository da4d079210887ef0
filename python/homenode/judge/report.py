"""What a validation found, written and read as one JSON file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeGuard

from homenode.hosts.errors import MeasureError
from homenode.hosts.result import parsed
from homenode.judge.judge import Interval, Row, counts
from homenode.judge.scene import Alone
from homenode.judge.trial import Trial
from homenode.staging import write_whole

SCHEMA = 1
KIND = "homenode-validation"
_SIDES = ("measured", "simulated")


@dataclass(frozen=True)
class HostFacts:
    """The host as it was found."""

    processor: str
    release: str
    processors: tuple[int, ...]
    """Logical processors that were used."""
    threads_per_core: int
    nodes: int
    groups: str
    """Control groups: v1 or v2."""
    settings: Mapping[str, tuple[object, str]]
    """Kernel settings with their sources; times in ns."""
    unread: tuple[str, ...]
    notes: tuple[str, ...] = ()
    """What else was found that one should know."""


@dataclass(frozen=True)
class Again:
    """A row compared with that of an earlier validation of the same host."""

    key: str
    now: Interval
    then: Interval
    repeats: bool


@dataclass(frozen=True)
class Report:
    """A whole validation."""

    version: str
    started: str
    """UTC, ISO 8601."""
    host: HostFacts
    seconds: float
    """Length of an experiment [s]."""
    passes: int
    alone: Alone
    rows: Sequence[Row]
    trials: Sequence[Trial]
    not_shown: Sequence[str]
    """What this host cannot show, in sentences."""
    left_out: Sequence[str] = ()
    """What was not done, and why."""
    again: Sequence[Again] = ()
    interrupted: bool = False
    titles: Mapping[str, str] = field(default_factory=dict)
    """Of each experiment, in words."""

    @property
    def rejected(self) -> list[Trial]:
        """Trials that did not count."""
        return [trial for trial in self.trials if trial.rejected is not None]

    def as_json(self) -> dict[str, object]:
        """What `homenode measure validate --json` prints."""
        return {
            "schema": SCHEMA,
            "kind": KIND,
            "version": self.version,
            "started": self.started,
            "host": asdict(self.host),
            "seconds": self.seconds,
            "passes": self.passes,
            "alone": asdict(self.alone),
            "titles": dict(self.titles),
            "verdicts": dict(counts(self.rows)),
            "rows": [row.as_json() for row in self.rows],
            "again": [asdict(one) for one in self.again],
            "not_shown": list(self.not_shown),
            "left_out": list(self.left_out),
            "interrupted": self.interrupted,
            "trials": [asdict(trial) for trial in self.trials],
        }

    def save(self, path: Path) -> None:
        """Write it, whole or not at all."""
        text = json.dumps(self.as_json(), indent=1, ensure_ascii=False) + "\n"
        try:
            write_whole(path, text.encode())
        except OSError as error:
            raise MeasureError(
                f"{path} cannot be written: {error.strerror}", next_step="name another file with -o"
            ) from error


def load(path: Path) -> dict[str, Any]:
    """An earlier report as it was written.

    Raises `MeasureError` for a file that is none.
    """
    return _checked(parsed(path), path)


def _checked(told: object, path: Path) -> dict[str, Any]:
    if not is_report(told):
        raise MeasureError(
            f"{path} is no report of `homenode measure validate`",
            next_step="name a file that was written with -o",
        )
    if told.get("schema") != SCHEMA:
        raise MeasureError(f"{path} has schema {told.get('schema')}; this version reads {SCHEMA}")
    return told


def is_report(told: object) -> TypeGuard[dict[str, Any]]:
    """Whether what was parsed from a file says that it is a report."""
    return isinstance(told, dict) and told.get("kind") == KIND


def restored(data: object, path: Path) -> Report:
    """The report that was parsed from a file, to be printed again.

    Raises `MeasureError` for what is none, or is damaged.
    """
    from pydantic import TypeAdapter

    told = _checked(data, path)
    try:
        rows = [{**row, **{side: _told(row[side]) for side in _SIDES}} for row in told["rows"]]
        report: Report = TypeAdapter(Report).validate_python({**told, "rows": rows})
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise MeasureError(
            f"{path} is damaged: {str(error).splitlines()[0]}",
            next_step="copy it again from the host that made it",
        ) from error
    return report


def compare_again(rows: Sequence[Row], earlier: Mapping[str, Any]) -> list[Again]:
    """Rows that an earlier report has too: whether the two measured means lie within the two
    intervals together.

    Raises `MeasureError` for a report whose rows are not as written.
    """
    try:
        then = {
            f"{row['experiment']}:{row['group']}:{row['metric']}": row["measured"]
            for row in earlier["rows"]
        }
        return [
            _again(row.key, row.measured, _interval(told))
            for row in rows
            if row.measured is not None and (told := then.get(row.key)) is not None
        ]
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise MeasureError(f"the earlier report is damaged: {error}") from error


def _told(side: Mapping[str, Any] | None) -> Interval | None:
    return None if side is None else _interval(side)


def _interval(told: Mapping[str, Any]) -> Interval:
    half = told["ci95"]
    return Interval(float(told["mean"]), None if half is None else float(half), int(told["count"]))


def _again(key: str, now: Interval, then: Interval) -> Again:
    room = ((now.half or 0.0) ** 2 + (then.half or 0.0) ** 2) ** 0.5
    return Again(key, now, then, abs(now.mean - then.mean) <= room + 1e-9 * abs(then.mean))
