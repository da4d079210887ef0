"""A cluster's head that lets nobody in at first: it is asked again, and told as such in the end."""

from __future__ import annotations

import socket
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from homenode.errors import HomenodeError
from homenode.model.scenario import Scenario
from homenode.simulate.sweep import cluster
from homenode.simulate.sweep.order import order_of

_SAID = """Initialization failure from server:
Traceback (most recent call last):
RuntimeError: Proxy failed to Connect to backend!
"""


class _Head:
    """What stands for Ray: it refuses so often, then lets in."""

    def __init__(self, refusals: int) -> None:
        self.refusals = refusals
        self.asked = 0
        self.exceptions = types.SimpleNamespace(RayError=KeyError)

    def init(self, **_said: Any) -> None:
        self.asked += 1
        if self.asked <= self.refusals:
            raise ConnectionAbortedError(_SAID)

    def shutdown(self) -> None:
        """Nothing is held."""

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 2.0}

    def put(self, told: object) -> object:
        return told

    def remote(self, **_said: Any) -> Any:
        return lambda function: function


@pytest.fixture
def address() -> Iterator[str]:
    """Where somebody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"ray://127.0.0.1:{server.getsockname()[1]}"


def _joined(head: _Head, address: str, path: Path, patch: pytest.MonkeyPatch) -> cluster.Cluster:
    patch.setattr(cluster, "_ray", lambda: head)
    order = order_of(Scenario.load(path), None, None)
    return cluster.Cluster(order, address, None, 8)


def test_a_head_that_fails_twice_is_asked_a_third_time(
    address: str, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = _Head(2)
    assert _joined(head, address, small, monkeypatch).size == 2
    assert head.asked == 3


def test_a_head_that_lets_nobody_in_is_told_from_none(
    address: str, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(HomenodeError) as raised:
        _joined(_Head(99), address, small, monkeypatch)
    said = str(raised.value)
    assert f"the cluster at {address} answers, but lets nobody in" in said
    assert "Proxy failed to Connect to backend!" in said
