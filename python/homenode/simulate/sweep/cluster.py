"""A crew on a Ray cluster. Ray finds the machines and brings batches there; what is done twice or
got lost is ours to see, so it repeats nothing by itself.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import threading
import time
from collections.abc import Iterator
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from homenode.errors import HomenodeError
from homenode.simulate.sweep.order import AnyOrder, Batch, Order, Reply, RunsOrder
from homenode.simulate.sweep.worker import Worker, refusal, reply_to, worker_of

_PORT = 10_001
"""Of Ray's clients, where none is told."""
_KNOCK_S = 10.0
_JOINS = 3
"""A head starts a process for each who comes. On a busy machine one in some does not come up, and
Ray does not start another.
"""
_LOOK_S = 0.5
_SILENCE_S = 30.0
"""Without an answer for so long it is asked whether anybody is left."""
_STORE_BYTES = 80_000_000
"""Of a cluster that is started here: replies are small."""


class Cluster:
    """Workers of a Ray cluster: that at an address, else that of this machine, else a new one."""

    def __init__(self, order: AnyOrder, address: str | None, jobs: int | None, left: int) -> None:
        self._ray = _ray()
        where = self._join(address)
        cores = int(self._ray.cluster_resources().get("CPU", 0))
        if not cores:
            raise HomenodeError(
                f"the cluster at {where} has no processors", next_step="start a worker node there"
            )
        cores = min(cores, jobs or cores)
        self.size = min(cores, left)
        self.name = f"{self.size} workers of {where}"
        order = order.elsewhere(max(1, cores // self.size))
        self._told = self._ray.put((type(order).__name__, vars(order)))
        self._work = self._ray.remote(max_retries=0, num_cpus=order.threads)(_work)
        self._build = order.build
        self._out: dict[Any, Batch] = {}
        self._heard = time.monotonic()

    def send(self, batch: Batch) -> None:
        """See `Crew`."""
        with self._reached():
            self._out[self._work.remote(self._build, self._told, batch)] = batch

    def replies(self) -> Iterator[tuple[Batch, Reply | None]]:
        """See `Crew`."""
        errors = self._ray.exceptions
        with self._reached():
            ready, _ = self._ray.wait(list(self._out), timeout=_LOOK_S)
            if not ready:
                self._look_around()
            for ref in ready:
                self._heard = time.monotonic()
                batch = self._out.pop(ref)
                try:
                    yield batch, self._ray.get(ref)
                except errors.RayTaskError as error:
                    raise HomenodeError(
                        f"a worker of {self.name} failed: {error.cause}",
                        next_step="install the same homenode on all machines of the cluster",
                    ) from error
                except errors.RayError:
                    yield batch, None

    @contextlib.contextmanager
    def _reached(self) -> Iterator[None]:
        """What Ray raises once nobody is there: its own error, or that of the calls below it."""
        try:
            yield
        except (ConnectionError, self._ray.exceptions.RaySystemError) as error:
            raise _gone(self.name, error) from error
        except Exception as error:
            if type(error).__module__.partition(".")[0] != "grpc":
                raise
            raise _gone(self.name, "it does not answer") from error

    def stop(self) -> None:
        """See `Crew`."""
        for ref in self._out:
            self._ray.cancel(ref)

    def close(self) -> None:
        """See `Crew`."""
        self._ray.shutdown()

    def _join(self, address: str | None) -> str:
        """The cluster's name."""
        if address is not None:
            _knock(address)
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
        try:
            self._init(address or "auto", quiet)
        except (OSError, ValueError, RuntimeError, self._ray.exceptions.RayError) as error:
            if address is not None:
                raise _not_there(address, error) from error
            self._ray.init(include_dashboard=False, object_store_memory=_STORE_BYTES, **quiet)
            return "a cluster of this machine alone"
        return address or "the cluster of this machine"

    def _init(self, address: str, quiet: dict[str, Any]) -> None:
        for left in reversed(range(_JOINS)):
            try:
                self._ray.init(address=address, **quiet)
            except ConnectionAbortedError:
                self._ray.shutdown()
                if not left:
                    raise
            else:
                return

    def _look_around(self) -> None:
        """Nobody has answered for a while: batches may be long, or nobody may be left."""
        if time.monotonic() - self._heard < _SILENCE_S:
            return
        self._heard = time.monotonic()
        if not self._ray.cluster_resources().get("CPU", 0):
            raise _gone(self.name, "it has no processors left")


def _knock(address: str) -> None:
    """Whether anybody is there at all, which Ray takes half a minute to find out. Raises
    `HomenodeError`.
    """
    place = urlsplit(address)
    try:
        with socket.create_connection((place.hostname or "", place.port or _PORT), _KNOCK_S):
            pass
    except (OSError, ValueError) as error:
        raise _not_there(address, error) from error


def _not_there(address: str, why: BaseException) -> HomenodeError:
    if isinstance(why, ConnectionAbortedError):
        *_, reason = str(why).strip().splitlines() or [""]
        return HomenodeError(
            f"the cluster at {address} answers, but lets nobody in: {reason}",
            there=f"it was asked {_JOINS} times",
            next_step="look into its logs, which lie on its head, or start it anew",
        )
    reason = getattr(why, "strerror", None) or str(why).partition("\n")[0]
    return HomenodeError(
        f"there is no cluster at {address}: {reason}",
        next_step=f"start one with `ray start --head --ray-client-server-port={_PORT}`",
    )


def _gone(name: str, why: object) -> HomenodeError:
    return HomenodeError(
        f"{name}: the cluster is gone ({str(why).splitlines()[0]})",
        next_step="what is committed stays: give the same command again, with or without --on",
    )


def _ray() -> ModuleType:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is told to anybody
    try:
        import ray
    except ImportError as error:
        raise HomenodeError(
            "Ray is not installed", next_step="pip install 'homenode[cluster]', or leave out --on"
        ) from error
    return ray


def _work(engine: str, told: tuple[str, dict[str, Any]], batch: Batch) -> Reply:
    """A batch, by a worker of the cluster. Engines are compared before anything else is read."""
    refused = refusal(engine)
    if refused:
        return refused
    kind, said = told
    order: AnyOrder = RunsOrder(**said) if kind == RunsOrder.__name__ else Order(**said)
    return reply_to(_worker(order), batch, threading.Event())


def _worker(order: AnyOrder) -> Worker:
    """Of the last order: a process of the cluster works on one sweep for long."""
    if order.id not in _HELD:
        _HELD.clear()
        _HELD[order.id] = worker_of(order)
    return _HELD[order.id]


_HELD: dict[str, Worker] = {}
