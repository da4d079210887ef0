"""Where a session's result goes: refused before the start if it cannot be kept, never lost after.

From the first finished repetition on a file of its own holds all that is finished; it goes only
when the result is in its place. Nothing that is not a result of ours is overwritten or removed.
"""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

from homenode.hosts.anonymous import Names
from homenode.hosts.errors import MeasureError
from homenode.hosts.result import (
    KIND,
    RawOutputs,
    Result,
    is_collecting,
    is_raw,
    load,
    raw_folder,
    save,
    staged_raw,
)

_UNFINISHED = re.compile(r"\.(?P<stem>.+)\.unfinished\.(?P<session>[0-9a-f]+)\.json")
_LEAST_ROOM_BYTES = 65_536
"""Of the smallest result, with some of its raw outputs."""
_STAGED = re.compile(r"\.(?P<stem>.+)\.raw\.(?P<session>[0-9a-f]+)")


class Keeper:
    """The file of one session, its unfinished form, and the folder of raw outputs."""

    def __init__(self, path: Path, *, anonymous: bool = False) -> None:
        check_place(path)
        self.path = path
        self._anonymous = anonymous
        self.recovered = recover(path.parent)
        """Results of sessions that were killed, found beside it."""
        self.raw = RawOutputs(raw_folder(path))
        self._unfinished = _unfinished(path, self.raw.session)

    def so_far(self, result: Result) -> None:
        """Keep what is finished."""
        save(result, self._unfinished)

    def drop(self) -> None:
        """Nothing is worth keeping."""
        self.raw.drop()
        self._unfinished.unlink(missing_ok=True)

    def finish(self, result: Result) -> tuple[Path, Path]:
        """Put the result and its raw outputs in place; the two places.

        Raises `MeasureError` when that fails; what is finished then lies elsewhere, as it says.
        """
        try:
            if self._anonymous:
                _forget_names(result, self.raw.staged)
            save(result, self.path)
        except Exception as error:
            raise MeasureError(
                f"the result could not be put in place: {error}",
                there=f"it is kept in {self._elsewhere(result)}, raw outputs in {self.raw.staged}",
            ) from error
        # Before the raw outputs leave their place, by which others see that this session lives.
        self._unfinished.unlink(missing_ok=True)
        try:
            raw = self.raw.keep()
        except Exception as error:
            raise MeasureError(
                f"the raw outputs could not be put in place: {error}",
                there=f"they lie in {self.raw.staged}; the result is kept in {self.path}",
            ) from error
        return self.path, raw

    def _elsewhere(self, result: Result) -> Path:
        """A copy where there is room; else what was kept last beside the place."""
        with contextlib.suppress(OSError, MeasureError):
            return save(result, Path(tempfile.mkdtemp(prefix="homenode-kept-")) / self.path.name)
        return self._unfinished


def _forget_names(result: Result, raw: Path) -> None:
    """Tools print names of the host and of its people, in outputs, failures and versions; a path or
    a command that was given may have them too.
    """
    names = Names.here()
    if raw.is_dir():
        names.folder(raw)
    result.versions = names.value(result.versions)
    result.systems = names.value(result.systems)
    for case in result.cases.values():
        case |= {key: names.value(case[key]) for key in ("title", "parameters") if key in case}
    for told in (*result.failures, *result.left_out):
        told["why"] = names.value(told["why"])
    result.records = [
        replace(one, rejected=names.value(one.rejected), details=names.value(one.details))
        for one in result.records
    ]


def check_file(path: Path, kind: str) -> None:
    """Before the long part: whether a file can be written there, over nothing that is not ours.

    Raises `MeasureError` if not.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Some places take no files though they look as if, such as those of the kernel, and a full
        # disk takes empty ones.
        with tempfile.TemporaryFile(dir=path.parent) as file:
            file.write(bytes(_LEAST_ROOM_BYTES))
            file.flush()
    except OSError as error:
        raise MeasureError(
            f"nothing can be written to {path.parent}: {error.strerror}",
            next_step="give another place with -o",
        ) from error
    if path.is_dir() or path.suffix != ".json":
        raise MeasureError(
            f"{path} is no name for a result", next_step="give a file that ends in .json"
        )
    if path.exists() and not _is_kind(path, kind):
        raise MeasureError(
            f"{path} is there and is no result of homenode's",
            next_step="it stays untouched: give another name with -o",
        )


def check_place(path: Path) -> None:
    """The same for a result and the folder of its raw outputs."""
    check_file(path, KIND)
    raw = raw_folder(path)
    if (raw.exists() or raw.is_symlink()) and not is_raw(raw):
        raise MeasureError(
            f"{raw} is there and was not made by homenode; raw outputs would go there",
            next_step="it stays untouched: give another name with -o",
        )


def _is_kind(path: Path, kind: str) -> bool:
    try:
        data = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(data, dict) and data.get("kind") == kind


def recover(folder: Path) -> list[Path]:
    """Give what sessions that were killed had finished a name of its own; remove their rest."""
    found = []
    for path in sorted(folder.iterdir()):
        match = _UNFINISHED.fullmatch(path.name)
        if match is None or not _is_kind(path, KIND):
            continue
        staged = staged_raw(folder / f"{match['stem']}.raw", match["session"])
        place = folder / f"{match['stem']}-recovered-{match['session']}.json"
        if is_collecting(staged) or place.exists() or raw_folder(place).exists():
            continue
        with contextlib.suppress(OSError):
            _forget_as_asked(path, staged)
            path.rename(place)
            found.append(place)
            if is_raw(staged):
                staged.rename(raw_folder(place))
    for path in sorted(folder.iterdir()):
        match = _STAGED.fullmatch(path.name)
        kept = match and _unfinished(folder / f"{match['stem']}.json", match["session"]).exists()
        if match and not kept and is_raw(path) and not is_collecting(path):
            shutil.rmtree(path, ignore_errors=True)
    return found


def _unfinished(path: Path, session: str) -> Path:
    """Where what a session has finished is kept until its result is in place."""
    return path.with_name(f".{path.stem}.unfinished.{session}.json")


def _forget_as_asked(path: Path, raw: Path) -> None:
    """A session that was to keep no names and was killed has not taken them out yet."""
    with contextlib.suppress(MeasureError):
        result = load(path)
        if result.environment.get("anonymous"):
            _forget_names(result, raw)
            save(result, path)
