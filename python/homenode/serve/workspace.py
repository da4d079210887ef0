"""Where layouts lie: examples, kept runs, and what visitors brought, which only they see."""

from __future__ import annotations

import asyncio
import contextlib
import re
import secrets
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from homenode.errors import NotFoundError
from homenode.serve.errors import RefusedError
from homenode.serve.examples import example_path
from homenode.simulate.kept.kept_run import KeptRun
from homenode.staging import staging

MOST_BYTES = 64 << 20
"""Of a recording."""
MOST_OF_SCENARIO = 4 << 20
MOST_S = 300
"""That a file may take to come."""
MOST_FILES = 200
"""Of a batch of recordings."""
MOST_COUNT = 1000
"""Files that a visitor may bring."""
MOST_OF_VISITOR = 512 << 20
MOST_OF_ALL = 4 << 30
"""Bytes that visitors brought."""
_NAME = re.compile(r"[^A-Za-z0-9._-]")
_RUN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,199}")
_LONGEST = 80
SCENARIO = "scenario.toml"


@dataclass
class Brought:
    """What a visitor brought."""

    scenarios: dict[str, Path] = field(default_factory=dict)
    batches: dict[str, Path] = field(default_factory=dict)
    count: int = 0
    bytes: int = 0


class Workspace:
    """Folders of a server: `out` keeps runs; all else goes with the server."""

    def __init__(self, out: str | Path) -> None:
        self.out = Path(out).absolute()
        self._held = contextlib.ExitStack()
        # What a server left that was killed goes when the next one begins.
        self._home = self._held.enter_context(staging(Path(tempfile.gettempdir())))
        self._home.chmod(0o700)
        self._brought: dict[str, Brought] = {}
        self.opened: dict[str, Path] = {}
        """Scenarios that the server was started with, for everybody."""

    def close(self) -> None:
        """Everything that was brought goes."""
        self._held.close()

    def of(self, visitor: str) -> Brought:
        """What this visitor brought."""
        return self._brought.setdefault(visitor, Brought())

    def scenarios(self, visitor: str) -> dict[str, Path]:
        """What this visitor may open by id."""
        mine = self._brought.get(visitor)
        return {**self.opened, **(mine.scenarios if mine else {})}

    def path(self, visitor: str, base: object) -> str:
        """The scenario file of a reference, such as `example:frame`. Raises `RefusedError`."""
        kind, _, name = str(base).partition(":")
        if kind == "example":
            return str(example_path(name))
        if kind == "run":
            return str(self._run(name) / SCENARIO)
        found = self.scenarios(visitor).get(name)
        if kind != "scenario" or found is None:
            raise RefusedError(
                404,
                f"there is no layout {base} any more",
                next_step="open it again: what is brought here goes when the server ends",
            )
        folder = found.parent
        # A layout that takes another's place while somebody reads it is one or the other.
        return str((folder.resolve() if folder.is_symlink() else folder) / found.name)

    def _run(self, name: str) -> Path:
        if not _RUN.fullmatch(name):
            raise RefusedError(404, "there is no such run")
        try:
            return KeptRun.load(name, self.out).path
        except NotFoundError as error:  # which says where runs lie here
            raise RefusedError(404, f"there is no run {name}") from error

    def new_folder(self, visitor: str) -> Path:
        """A folder of the visitor's that is not there yet; its name is its id."""
        home = self._home / visitor
        home.mkdir(exist_ok=True)
        return home / secrets.token_hex(6)

    def keep(self, visitor: str, folder: Path) -> str:
        """A scenario that was made in such a folder."""
        self.of(visitor).scenarios[folder.name] = folder / SCENARIO
        return folder.name

    async def scenario(
        self,
        visitor: str,
        body: AsyncIterator[bytes],
        check: Callable[[str], Awaitable[object]],
    ) -> str:
        """A scenario file that is brought; `check` raises `HomenodeError` for what is wrong."""
        folder = self.new_folder(visitor)
        folder.mkdir()
        try:
            await self._written(visitor, folder / SCENARIO, body, MOST_OF_SCENARIO)
            await check(str(folder / SCENARIO))
        except BaseException:
            shutil.rmtree(folder)
            raise
        return self.keep(visitor, folder)

    async def recording(
        self, visitor: str, batch: str | None, name: str, body: AsyncIterator[bytes]
    ) -> str:
        """A recording of a batch; the first makes it."""
        mine = self.of(visitor)
        if batch is None:
            folder = self.new_folder(visitor)
            folder.mkdir()
            mine.batches[folder.name] = folder
        else:
            folder = self.batch(visitor, batch)
        there = sum(1 for _ in folder.iterdir())
        if there >= MOST_FILES:
            raise RefusedError(413, f"more than {MOST_FILES} files", next_step="bring an archive")
        safe = _NAME.sub("_", name)[-_LONGEST:].lstrip(".") or "recording"
        target = folder / safe
        if target.exists():
            target = folder / f"{there}-{safe}"
        await self._written(visitor, target, body, MOST_BYTES)
        return folder.name

    def batch(self, visitor: str, name: object) -> Path:
        """The folder of a batch."""
        found = self.of(visitor).batches.get(str(name))
        if found is None:
            raise RefusedError(404, "there are no such recordings", next_step="bring them again")
        return found

    async def _written(
        self, visitor: str, path: Path, body: AsyncIterator[bytes], most: int
    ) -> None:
        mine, size = self.of(visitor), 0
        mine.count += 1
        try:
            async with asyncio.timeout(MOST_S):
                with path.open("wb") as file:
                    async for part in body:
                        size += len(part)
                        mine.bytes += len(part)
                        self._check(mine, size, most)
                        file.write(part)
        except BaseException as error:
            path.unlink(missing_ok=True)
            mine.bytes -= size
            if isinstance(error, TimeoutError):
                raise RefusedError(408, f"the file took more than {MOST_S} s to come") from error
            raise

    def _check(self, mine: Brought, size: int, most: int) -> None:
        if size > most:
            step = "bring a shorter one, or use the command line"
            raise RefusedError(413, f"a file has more than {most >> 20} MiB", next_step=step)
        everybody = sum(one.bytes for one in self._brought.values())
        if mine.count > MOST_COUNT or mine.bytes > MOST_OF_VISITOR or everybody > MOST_OF_ALL:
            raise RefusedError(413, "there is no room for more", next_step="restart the server")
