"""The result file: one JSON, readable on any other host, beside a folder with the raw outputs."""

from __future__ import annotations

import dataclasses
import json
import math
import secrets
import shutil
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from homenode.errors import suggestion
from homenode.hosts.errors import MeasureError
from homenode.hosts.record import RunRecord
from homenode.staging import hold, is_held, staging, write_whole

SCHEMA = 1
KIND = "homenode-measurement"
_MARK = ".homenode-raw"
"""File that says that a folder of raw outputs is ours, to be replaced."""
_MOST_BYTES = 256 << 20
_MOST_PROCESSORS = 1 << 20


@dataclass
class Result:
    """A session: what was asked, where, and each repetition."""

    suite: dict[str, object]
    """`name`, `title`, `sha256` of its file."""
    settings: dict[str, object]
    """What was asked: seed, gate, affinity, processors, ..."""
    systems: dict[str, dict[str, object]]
    """By name, the host's or `a` and `b`: what was set for it."""
    cases: dict[str, dict[str, object]]
    """By `adapter/case`: title, metric, unit, better, load, seconds, repeats, parameters."""
    versions: dict[str, str] = field(default_factory=dict)
    """Of the tools, by adapter."""
    environment: dict[str, object] = field(default_factory=dict)
    records: list[RunRecord] = field(default_factory=list)
    left_out: list[dict[str, object]] = field(default_factory=list)
    """`case` and `why`: not started, for a tool, disk or memory that is missing."""
    failures: list[dict[str, object]] = field(default_factory=list)
    """`case`, `system`, `replicate` and `why`: started, and failed."""
    started: str = ""
    finished: str = ""
    """ISO 8601 with zone."""
    interrupted: bool = False
    stopped: str = ""
    """Why it ended before all was done, if it did so by itself."""
    schema: int = SCHEMA
    kind: str = KIND
    path: Path | None = None
    """File it was read from or kept in."""

    def used(self) -> list[RunRecord]:
        """Records that count."""
        return [record for record in self.records if record.rejected is None]

    def as_json(self) -> dict[str, object]:
        """What the file holds."""
        fields = dataclasses.asdict(self)
        del fields["path"]
        return {"schema": fields.pop("schema"), "kind": fields.pop("kind"), **fields}


def load(path: str | Path) -> Result:
    """Read a result file.

    Raises `MeasureError` for what is not there, not ours, damaged or of a later form.
    """
    return restored(parsed(path), Path(path))


def parsed(path: str | Path) -> object:
    """What a file of ours holds, of whichever kind.

    Raises `MeasureError` for what is not there, too long or no JSON.
    """
    path = Path(path)
    try:
        text = bounded(path)
    except OSError as error:
        near = [file.name for file in path.parent.glob("*.json")] if path.parent.is_dir() else []
        raise MeasureError(
            f"{path} cannot be read: {error.strerror}",
            next_step=suggestion(
                path.name, near, "give the FILE.json that `homenode measure` kept"
            ),
        ) from error
    try:
        data: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MeasureError(
            f"{path} is not JSON: {error}",
            next_step="give the FILE.json that `homenode measure` kept",
        ) from error
    return data


def restored(data: object, path: Path) -> Result:
    """The result that was parsed from a file.

    Raises `MeasureError` for what is not ours, damaged or of a later form.
    """
    if not isinstance(data, dict) or data.get("kind") != KIND:
        raise MeasureError(
            f"{path} holds no measurement",
            there="its `kind` is not " + KIND,
            next_step="give the FILE.json that `homenode measure` kept",
        )
    if data.get("schema") != SCHEMA:
        raise MeasureError(
            f"{path} has form {data.get('schema')}, this homenode reads form {SCHEMA}",
            next_step="read it with the version that kept it",
        )
    return _checked(data, path)


def bounded(path: Path) -> bytes:
    """What is in a file of ours. Raises `MeasureError` for one that is far too long, as a device
    is that has no end, and `OSError`.
    """
    with path.open("rb") as file:
        data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise MeasureError(
            f"{path} is larger than {_MOST_BYTES >> 20} MiB, which no file of homenode's is",
            next_step="is it the right one?",
        )
    return data


def _checked(data: dict[str, object], path: Path) -> Result:
    from pydantic import TypeAdapter, ValidationError

    try:
        # Numbers in place of texts and the like mean damage; nothing is converted.
        result: Result = TypeAdapter(Result).validate_python(data | {"path": path})
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise MeasureError(
            f"{path} is damaged: {place}: {first['msg']}",
            next_step="copy it again from the host that made it",
        ) from error
    for number, record in enumerate(result.records):
        wrong = _senseless(record)
        if wrong:
            raise MeasureError(
                f"{path} is damaged: records.{number}.{wrong} makes no sense",
                next_step="copy it again from the host that made it",
            )
    return result


def _senseless(record: RunRecord) -> str | None:
    """The name of a figure that no repetition can have."""
    if not 1 <= record.processors <= _MOST_PROCESSORS:
        return "processors"
    if record.seconds <= 0:
        return "seconds"
    for name, value in dataclasses.asdict(record).items():
        if not _finite(value):
            return name
    return None


def _finite(value: object) -> bool:
    if isinstance(value, dict):
        return all(map(_finite, value.values()))
    if isinstance(value, list | tuple):
        return all(map(_finite, value))
    return not isinstance(value, float) or math.isfinite(value)


def save(result: Result, path: str | Path) -> Path:
    """Write the file whole or not at all."""
    path = Path(path)
    text = json.dumps(result.as_json(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    # Half a character pair of a tool's output cannot be written but as JSON's own escape.
    data = text.encode("utf-8", "backslashreplace")
    try:
        write_whole(path, data)
    except OSError as error:
        raise MeasureError(
            f"{path} cannot be written: {error.strerror}",
            next_step="give another place with -o, or free some space",
        ) from error
    result.path = path
    return path


def raw_folder(path: Path) -> Path:
    """Where the raw outputs of a result file lie."""
    return path.with_name(f"{path.stem}.raw")


def is_raw(folder: Path) -> bool:
    """Whether a folder is one of ours, or empty."""
    try:
        if folder.is_symlink() or not folder.is_dir():
            return False
        return (folder / _MARK).is_file() or not any(folder.iterdir())
    except FileNotFoundError:
        return False  # another session put it in place, or away, meanwhile


def staged_raw(place: Path, session: str) -> Path:
    """Where a session collects what goes to a folder of raw outputs."""
    return place.with_name(f".{place.name}.{session}")


def is_collecting(staged: Path) -> bool:
    """Whether the session that collects there lives, or that cannot be told."""
    return is_held(staged / _MARK)


class RawOutputs:
    """Raw outputs of a session, collected aside and put in place with the result."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._let_go: Callable[[], object] = lambda: None
        self.session = secrets.token_hex(8)
        """Tells what this session stages from what others do."""
        self.staged = staged_raw(place, self.session)
        try:
            # It gets its name when it is held: between the two, who tidies up would take it for
            # one that a killed session left.
            with staging(place.parent) as aside:
                draft = aside / "new"
                draft.mkdir()
                mark = draft / _MARK
                mark.write_text("raw outputs of a homenode measurement\n")
                # Says that this session lives, wherever one looks from.
                self._let_go = weakref.finalize(self, hold(mark).close)
                draft.rename(self.staged)
        except OSError as error:
            self.drop()
            raise MeasureError(
                f"{self.staged} cannot be written: {error.strerror}",
                next_step="give another place with -o, or free some space",
            ) from error

    def folder(self, name: str) -> Path:
        """A folder for one repetition."""
        folder = self.staged / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def keep(self) -> Path:
        """Put all in place; an older folder of ours of that name is replaced.

        Raises `MeasureError` for a folder that is not ours.
        """
        with staging(self._place.parent) as aside:
            if self._place.exists():
                if not is_raw(self._place):
                    raise MeasureError(f"{self._place} was not made by homenode")
                self._place.rename(aside / "old")
            self.staged.rename(self._place)
        self._let_go()
        return self._place

    def drop(self) -> None:
        """Throw all away."""
        shutil.rmtree(self.staged, ignore_errors=True)
        self._let_go()


def record_json(record: RunRecord) -> Mapping[str, object]:
    """A record as the file holds it."""
    return dataclasses.asdict(record)
