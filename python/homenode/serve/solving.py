"""Layouts worked out in processes of their own, a bounded number at a time; of each visitor only
the latest counts, and who waits for first figures comes before who waits for details.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from homenode.serve.bounds import bound_memory
from homenode.serve.errors import RefusedError, busy

_MOST_WAITING = 200
"""Requests that wait; more are told to come again."""
_REST_S = 0.15
"""For what rests: how long nothing newer comes before it begins, where others are at work."""
_LONG_S = 3.0
"""Who has waited so long comes next (assumed, 1 to 5 s: as long as somebody looks on); before that,
who came last: where more is asked than can be done, he still looks at what he asked, and who came
before him asks for something newer soon.
"""
_MOST_S = 60.0
"""A layout that takes longer is given up."""
_MOST_RESIDENT = 512 << 20
"""Bytes that a worker holds; it begins with half of it, and V8, which draws, gives little back."""
_LOOK = 64
"""Calls between two looks at that."""
_MOST_TIMED = 1000
"""Files of which it is known how long they take."""


class _Place:
    """Somebody's place among those who wait."""

    def __init__(self, own: tuple[str, bool]) -> None:
        self.own = own
        """Whose it is, and whether it is urgent."""
        self.turn: asyncio.Future[None] | None = None

    def give_up(self) -> None:
        """Waits no longer: there is something newer."""
        if self.turn is not None and not self.turn.done():
            self.turn.set_exception(_superseded())


def _superseded() -> RefusedError:
    return RefusedError(409, "superseded by a later layout")


class _Turns:
    """So many at a time; those that are urgent first, in their order, then the latest of others."""

    def __init__(self, free: int) -> None:
        self._free = free
        self._urgent: deque[asyncio.Future[None]] = deque()
        self._others: deque[tuple[asyncio.Future[None], float]] = deque()
        """With the time since when they wait."""

    @property
    def leave_one(self) -> bool:
        """Whether one more leaves another free for who is urgent."""
        return self._free > 1

    @property
    def urgent(self) -> int:
        """How many come before who is urgent too; 0 also where nobody is at work."""
        return len(self._urgent) + (not self._free)

    @contextlib.asynccontextmanager
    async def mine(self, place: _Place | None) -> AsyncIterator[None]:
        """One turn, from when it comes."""
        if self._free:
            self._free -= 1
        else:
            turn = self._waiting(place)
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled() and turn.exception() is None:  # it had come
                    self._pass_on()
                raise
        try:
            yield
        finally:
            self._pass_on()

    def _waiting(self, place: _Place | None) -> asyncio.Future[None]:
        loop = asyncio.get_running_loop()
        turn = loop.create_future()
        if place is not None:
            place.turn = turn
        self._drop_done()
        if place is not None and place.own[1]:
            self._urgent.append(turn)
        else:
            self._others.append((turn, loop.time()))
        return turn

    def _pass_on(self) -> None:
        self._drop_done()
        if self._urgent:
            self._urgent.popleft().set_result(None)
        elif self._others:
            first = self._others[0][1]
            late = asyncio.get_running_loop().time() - first >= _LONG_S
            (self._others.popleft() if late else self._others.pop())[0].set_result(None)
        else:
            self._free += 1

    def _drop_done(self) -> None:
        """Those that gave up, where somebody could be handed a turn."""
        while self._urgent and self._urgent[0].done():
            self._urgent.popleft()
        while self._others and self._others[0][0].done():
            self._others.popleft()
        while self._others and self._others[-1][0].done():
            self._others.pop()


class Solving:
    """Calls of pure functions in worker processes."""

    def __init__(self, workers: int | None = None) -> None:
        self._workers = workers or max(1, min(os.cpu_count() or 1, 8))
        self._pool = self._made()
        self._turns = _Turns(self._workers)
        self._waiting = 0
        self._latest: dict[tuple[str, bool], _Place] = {}
        self._calls = 0
        self._took: dict[tuple[object, object], float] = {}
        self._warmed: Callable[[], None] | None = None

    def _made(self) -> ProcessPoolExecutor:
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(self._workers, context, initializer=_prepare)

    def warm(self, call: Callable[[], None]) -> None:
        """Starts all workers: the first who asks should not wait for them."""
        self._warmed = call
        for _ in range(self._workers):
            self._pool.submit(call)

    def took(self, call: Callable[..., Any], of: object) -> float:
        """Seconds that a call with this first word took last; without end where it never was."""
        return self._took.get((call, of), math.inf)

    def there_in(self, call: Callable[..., Any], of: object) -> float:
        """Seconds until it is answered if it is urgent: as many as come before it take as long."""
        return self.took(call, of) * (1 + self._turns.urgent / self._workers)

    async def latest(
        self,
        visitor: str,
        call: Callable[..., Any],
        *words: object,
        urgent: bool = False,
        rests: bool = False,
    ) -> Any:
        """The same, unless the visitor asks for something newer while it waits; what is urgent
        gives way only to what is urgent too. What `rests` begins at once only where a worker stays
        free beside it: whoever moves things about asks for something newer soon.
        """
        mine = _Place((visitor, urgent))
        keys = {mine.own, (visitor, False)}
        for key in keys:
            before = self._latest.get(key)
            if before is not None and before.own == key:
                before.give_up()
            self._latest[key] = mine

        def check() -> None:
            if self._latest.get(mine.own) is not mine:
                raise _superseded()

        try:
            return await self.done(call, *words, check=check, place=mine, rests=rests)
        finally:
            for key in keys:
                if self._latest.get(key) is mine:
                    del self._latest[key]

    async def done(
        self,
        call: Callable[..., Any],
        *words: object,
        check: Callable[[], None] = lambda: None,
        place: _Place | None = None,
        rests: bool = False,
    ) -> Any:
        """What a call answers. `check` may refuse it once its turn has come."""
        if self._waiting >= _MOST_WAITING:
            raise busy("many layouts are being worked out")
        self._waiting += 1
        try:
            if rests and not self._turns.leave_one:
                await asyncio.sleep(_REST_S)
                check()
            async with self._turns.mine(place):
                check()
                return await self._called(call, words)
        finally:
            self._waiting -= 1

    async def _called(self, call: Callable[..., Any], words: tuple[object, ...]) -> Any:
        pool = self._pool
        try:
            future = asyncio.get_running_loop().run_in_executor(pool, _timed, call, words)
            found, took = await asyncio.wait_for(asyncio.shield(future), _MOST_S)
        except TimeoutError as error:
            self._begin_anew(pool)
            raise RefusedError(503, f"the layout took more than {_MOST_S:g} s") from error
        except BrokenProcessPool as error:
            self._begin_anew(pool)
            raise busy("a worker was lost") from error
        if words and isinstance(words[0], str | Path):
            if len(self._took) >= _MOST_TIMED:
                self._took.clear()
            self._took[call, words[0]] = took
        self._calls += 1
        if self._calls % _LOOK == 0:
            self._replace_grown()
        return found

    def _replace_grown(self) -> None:
        """Others in place of workers that have grown too much; what these are at they end first."""
        if all(_resident(worker.pid) <= _MOST_RESIDENT for worker in _workers(self._pool)):
            return
        grown, self._pool = self._pool, self._made()
        if self._warmed is not None:
            self.warm(self._warmed)
        grown.shutdown(wait=False)

    def _begin_anew(self, broken: ProcessPoolExecutor) -> None:
        if self._pool is broken:
            self._pool = self._made()
            _end(broken)

    def close(self) -> None:
        """Ends all workers."""
        _end(self._pool)


def _workers(pool: ProcessPoolExecutor) -> list[BaseProcess]:
    return [*(getattr(pool, "_processes", None) or {}).values()]


def _resident(pid: int | None) -> int:
    """Bytes of memory that a process holds; 0 where that is not told."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    return 0


def _end(pool: ProcessPoolExecutor) -> None:
    workers = _workers(pool)
    pool.shutdown(wait=False, cancel_futures=True)
    for worker in workers:
        worker.terminate()


def _timed(call: Callable[..., Any], words: tuple[object, ...]) -> tuple[Any, float]:
    """What a call answers, and how long it took [s]."""
    begun = time.monotonic()
    return call(*words), time.monotonic() - begun


def _prepare() -> None:
    """Ctrl-C is for the server; memory is bounded; who is killed takes his workers with him."""
    bound_memory()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
