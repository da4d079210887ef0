"""Clients at their gates: none goes before all are there, and one that dies is named."""

from __future__ import annotations

import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from waiting import LIMIT_S

from homenode.hosts.adapter import Finished
from homenode.hosts.adapters.gate import Gate, let_go
from homenode.hosts.errors import MeasureError


@dataclass
class Client:
    """A real process, as the bench would start it."""

    process: subprocess.Popen[bytes]

    @property
    def pid(self) -> int:
        return self.process.pid

    def alive(self) -> bool:
        return self.process.poll() is None

    def output(self) -> bytes:
        return self.process.communicate()[1]

    def wait(self, *, limit_s: float, good: object = (0,)) -> Finished:
        out, err = self.process.communicate(timeout=limit_s)
        return Finished((), self.process.returncode, out, err, 0.0)


def started(argv: list[str]) -> Client:
    return Client(subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE))


def test_all_go_together_and_keep_their_arguments(tmp_path: Path) -> None:
    gates = [Gate.made(tmp_path / f"gate {number}") for number in range(3)]
    words = ["sh", "-c", 'date +%s%N; printf "%s|" "$@"', "x", "a b", "$HOME", "c'd"]
    clients, held = [], []
    for gate in gates:
        clients.append(started(gate.before(words)))
        held.append(gate.reached(clients[-1]))
    time.sleep(0.1)
    assert all(client.alive() for client in clients)
    before = time.time_ns()
    let_go(held)
    for client in clients:
        when, arguments = client.wait(limit_s=LIMIT_S).stdout.decode().split("\n")
        assert int(when) >= before
        assert arguments == "a b|$HOME|c'd|"


def test_a_client_that_dies_on_its_way_is_quoted(tmp_path: Path) -> None:
    gate = Gate.made(tmp_path / "gate")
    client = started(["sh", "-c", "echo no such thing >&2; exit 3"])
    with pytest.raises(MeasureError, match="no such thing"):
        gate.reached(client)
