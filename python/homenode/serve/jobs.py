"""Long work: each job is a child process with bounds, whose progress is told as it comes."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

from homenode.serve.errors import RefusedError, busy

_MOST_KEPT = 100
"""Jobs that have ended and are still told of."""
_MOST_S = 3600.0
_GRACE_S = 5.0
_BRIEF = frozenset({"shown"})
"""Kinds of jobs that take a second and wait for no longer one: twice as many at once."""
_LINE = 64 << 20
"""Bytes of a line of a child at most: pictures of a run are one."""
LOST = {"error": {"message": "the work was ended from outside", "next_step": "start it again"}}


@dataclass
class Job:
    """One piece of work."""

    id: str
    visitor: str
    kind: str
    state: tuple[str, dict[str, Any]] = ("progress", {"done": None, "says": "beginning"})
    """The latest event."""
    count: int = 0
    """Events so far."""
    early: dict[str, Any] | None = None
    """What is there of the result before its end."""
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    task: asyncio.Task[None] | None = None

    @property
    def ended(self) -> bool:
        """Whether nothing more comes."""
        return self.state[0] != "progress"

    async def tell(self, event: str, data: dict[str, Any]) -> None:
        """The next event."""
        async with self.changed:
            self.state, self.count = (event, data), self.count + 1
            self.changed.notify_all()

    async def events(self) -> AsyncIterator[tuple[int, str, dict[str, Any]]]:
        """What is now, then each change; who is slow misses some, never the last, nor what there
        is early.
        """
        seen, early = -1, False
        while True:
            async with self.changed:
                while self.count == seen:
                    await self.changed.wait()
                seen, (event, data) = self.count, self.state
            if self.early is not None and not early:
                early = True
                yield seen, "early", self.early
            yield seen, event, data
            if event != "progress":
                return


class Jobs:
    """All jobs of a server."""

    def __init__(self, most: int | None = None) -> None:
        self._most = most or max(2, os.cpu_count() or 1)
        self._all: dict[str, Job] = {}

    def of(self, number: str, visitor: str) -> Job:
        """A visitor's own job."""
        job = self._all.get(number)
        if job is None or job.visitor != visitor:
            raise RefusedError(404, f"there is no job {number}", next_step="start it again")
        return job

    def start(
        self,
        visitor: str,
        asked: dict[str, Any],
        ended: Callable[[dict[str, Any]], dict[str, Any]] = lambda result: result,
    ) -> Job:
        """Begin; `ended` turns the child's result, and what of it comes early, into what is
        told.
        """
        self._refuse_too_many(visitor, asked["kind"])
        job = Job(secrets.token_hex(8), visitor, asked["kind"])
        self._all[job.id] = job
        done = [one.id for one in self._all.values() if one.ended]
        for old in done[: max(0, len(done) - _MOST_KEPT)]:
            del self._all[old]
        job.task = asyncio.create_task(_worked(job, asked, ended))
        return job

    def _refuse_too_many(self, visitor: str, kind: str) -> None:
        brief = kind in _BRIEF
        running = [
            one for one in self._all.values() if not one.ended and (one.kind in _BRIEF) == brief
        ]
        own = sum(one.visitor == visitor and one.kind == kind for one in running)
        if own >= (self._most if brief else 1):
            raise RefusedError(
                429,
                "one of yours is at work already",
                next_step="wait for it or cancel it",
                after_s=2,
            )
        if len(running) >= self._most * (2 if brief else 1):
            raise busy(f"{len(running)} jobs are at work")

    async def result(self, job: Job) -> dict[str, Any]:
        """Of a job that is waited for. Raises `RefusedError` with its error."""
        async for _, event, data in job.events():
            if event == "done":
                found: dict[str, Any] = data["result"]
                return found
            if event not in ("progress", "early"):
                said = data.get("error", LOST["error"])
                raise RefusedError(400, said["message"], next_step=said.get("next_step"))
        raise AssertionError("a job ends")

    async def close(self) -> None:
        """Ends all."""
        for job in self._all.values():
            if job.task is not None:
                job.task.cancel()
        tasks = [job.task for job in self._all.values() if job.task is not None]
        await asyncio.gather(*tasks, return_exceptions=True)


async def cancel(job: Job) -> None:
    """End it, whatever it is at."""
    if job.task is not None and not job.ended:
        job.task.cancel()
        await asyncio.gather(job.task, return_exceptions=True)


async def _worked(
    job: Job, asked: dict[str, Any], ended: Callable[[dict[str, Any]], dict[str, Any]]
) -> None:
    pipe, child = asyncio.subprocess.PIPE, None
    try:
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "homenode.serve.child",
            stdin=pipe, stdout=pipe, limit=_LINE, start_new_session=True,
        )  # fmt: skip
        async with asyncio.timeout(_MOST_S):
            last = await _listened(job, child, asked, ended)
        if "result" in last:
            await job.tell("done", {"result": ended(last["result"])})
        else:
            await job.tell("failed", {"error": last["error"]})
    except TimeoutError:
        await job.tell("failed", {"error": {"message": f"it took more than {_MOST_S:g} s"}})
    except asyncio.CancelledError:
        await job.tell("cancelled", {})
    except (OSError, ValueError):  # no process to be had, or what it says is none of ours
        await job.tell("failed", dict(LOST))
    finally:
        if child is not None:
            await _end(child)


async def _listened(
    job: Job,
    child: asyncio.subprocess.Process,
    asked: dict[str, Any],
    ended: Callable[[dict[str, Any]], dict[str, Any]],
) -> dict[str, Any]:
    """The child's last line; progress is told."""
    if child.stdin is None or child.stdout is None:
        return dict(LOST)
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        child.stdin.write(json.dumps(asked).encode())
        await child.stdin.drain()
        child.stdin.close()
    async for line in child.stdout:
        told: dict[str, Any] = json.loads(line)
        if "early" in told:
            job.early = ended(told["early"])
            continue  # progress follows at once
        if "says" not in told:
            return told
        await job.tell("progress", {"done": told["progress"], "says": told["says"]})
    return dict(LOST)


async def _end(child: asyncio.subprocess.Process) -> None:
    if child.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            child.terminate()
        try:
            await asyncio.wait_for(child.wait(), _GRACE_S)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                child.kill()
            await child.wait()
