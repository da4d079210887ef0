"""The parts of a measurement on two hosts, each alone: clocks, messages, tokens, what an agent
answers, what a whole host counts.
"""

from __future__ import annotations

import dataclasses
import json
import os
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from peering import HOMENODE, working_in
from waiting import LIMIT_S, until

from homenode.cli.measure.peering import PEER_PORTS
from homenode.hosts.bench import PORTS
from homenode.hosts.errors import ConnectionLostError, MeasureError
from homenode.hosts.live import gate
from homenode.hosts.live.cgroups import gone
from homenode.hosts.live.hostwide import device_of, read_counts, since
from homenode.hosts.peer.clock import Clocks, Exchange, Reading, reading
from homenode.hosts.peer.messages import Channel
from homenode.hosts.peer.paired import PairedAccount, PairedSession
from homenode.hosts.peer.token import admit, introduce, made_token, read_token
from homenode.hosts.record import CpuTime, RunRecord
from homenode.hosts.reduce import cells_of
from homenode.hosts.reduce.two_hosts import two_hosts
from homenode.hosts.session import Options
from homenode.report.hosts.two_hosts import two_hosts_sentences

# Clocks

SECONDS = st.floats(0.0, 10.0)
WAYS = st.lists(st.tuples(SECONDS, SECONDS, SECONDS), min_size=1, max_size=8)


@given(st.floats(-1e6, 1e6), WAYS)
def test_the_offset_is_within_its_uncertainty(
    offset: float, ways: list[tuple[float, float, float]]
) -> None:
    """However long each way took, and however long the peer thought."""
    at, exchanges = 100.0, []
    for there, thought, back in ways:
        received = at + there + offset
        exchanges.append(Exchange(at, received, received + thought, at + there + thought + back))
        at += there + thought + back
    found = reading(exchanges)
    assert abs(found.offset_s - offset) <= found.uncertainty_s + 1e-6
    assert found.uncertainty_s <= min(there + back for there, _, back in ways) / 2 + 1e-6


def test_a_drift_is_found_and_taken_out() -> None:
    """A clock that is 5 s ahead and runs 20 parts in a million fast."""

    def theirs(ours: float) -> float:
        return 5.0 + ours * (1 + 20e-6)

    before, after = (Reading(at, theirs(at) - at, 1e-4) for at in (1000.0, 1100.0))
    clocks = Clocks(before, after)
    assert clocks.drift_ppm == pytest.approx(20.0)
    assert clocks.drift_uncertainty_ppm == pytest.approx(2.0)
    for at in (1000.0, 1050.0, 1100.0):
        assert clocks.ours(theirs(at)) == pytest.approx(at, abs=1e-6)


# Messages


@contextmanager
def channels(most: int = 1 << 16) -> Iterator[tuple[Channel, Channel, socket.socket]]:
    """Both ends, and the socket of the second."""
    one, other = socket.socketpair()
    with one, other:
        yield (
            Channel(one.fileno(), one.fileno(), most=most),
            Channel(other.fileno(), other.fileno(), most=most),
            other,
        )


def test_messages_arrive_whole() -> None:
    with channels() as (one, other, _):
        sent = [{"ask": "x", "text": "ä\n" * 1000}, {"ask": "y"}]
        for message in sent:
            one.send(message)
        assert [other.receive(limit_s=5.0) for _ in sent] == sent


@pytest.mark.parametrize(
    ("came", "said"),
    [
        (b"hello\n", "no message"),
        (b"[1]\n", "no message"),
        (b"\xff\xfe\n", "no message"),
        (b"[" * 50_000 + b"\n", "no message"),
        (b"x" * 70_000, "longer than"),
    ],
)
def test_what_is_no_message_is_told(came: bytes, said: str) -> None:
    with channels() as (one, _, other):
        other.sendall(came)
        with pytest.raises(ConnectionLostError, match=said):
            one.receive(limit_s=5.0)


def test_silence_and_an_end_are_told() -> None:
    with channels() as (one, _, other):
        with pytest.raises(ConnectionLostError, match="no answer"):
            one.receive(limit_s=0.01)
        other.close()
        with pytest.raises(ConnectionLostError, match="closed"):
            one.receive(limit_s=5.0)


# Tokens


@pytest.mark.parametrize(("theirs", "lets_in"), [(b"a" * 16, True), (b"b" * 16, False)])
def test_a_token_is_proved_and_never_sent(theirs: bytes, *, lets_in: bool) -> None:
    heard: list[bool] = []
    with channels() as (agent, client, _):
        admitting = threading.Thread(target=lambda: heard.append(admit(agent, b"a" * 16)))
        admitting.start()
        refused = nullcontext() if lets_in else pytest.raises(MeasureError, match="wrong")
        with refused:
            introduce(client, theirs)
        admitting.join()
    assert heard == [lets_in]


def test_an_agent_without_the_token_is_found_out() -> None:
    """It could only say yes to everybody."""
    with channels() as (agent, client, _):
        agent.send({"homenode-agent": 1, "number": "1"})
        agent.send({"proof": "0"})
        with pytest.raises(MeasureError, match="token is wrong"):
            introduce(client, b"a" * 16)


def test_a_token_is_drawn_once(tmp_path: Path) -> None:
    drawn = made_token(tmp_path / "t")
    assert len(drawn) >= 32
    assert made_token(tmp_path / "t") == read_token(tmp_path / "t") == drawn
    assert made_token(tmp_path / "other") != drawn
    with pytest.raises(MeasureError, match="cannot be read"):
        read_token(tmp_path / "none")


# What an agent answers


class Asking:
    """An agent over its standard streams, asked as no client of ours would."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            [*HOMENODE, "measure", "agent", "--folder", str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.greeting = self._line()

    def ask(self, name: str, **given: object) -> dict[str, Any]:
        assert self.process.stdin
        self.process.stdin.write(json.dumps({"ask": name, **given}).encode() + b"\n")
        self.process.stdin.flush()
        return self._line()

    def _line(self) -> dict[str, Any]:
        assert self.process.stdout
        found: dict[str, Any] = json.loads(self.process.stdout.readline())
        return found


@pytest.fixture
def asking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Asking]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "peer").mkdir()
    asked = Asking(tmp_path / "peer")
    yield asked
    assert asked.process.stdin
    assert asked.process.stdout
    asked.process.stdin.close()
    asked.process.wait(timeout=LIMIT_S)
    asked.process.stdout.close()


HELLO = {"anonymous": True, "address": "127.0.0.1", "ports": [21_000, 29_999]}
NAMED = {"processors": None, "setting": {}, "limit_s": 60.0, "adapter_name": "request", "case": "x"}


def test_an_agent_runs_cases_and_no_commands(asking: Asking) -> None:
    assert asking.greeting["homenode"] == 1
    assert asking.ask("hello", **HELLO)["answer"]["cpus"]
    begin = NAMED | {"parameters": {}}
    wrong: list[tuple[str, dict[str, object], str]] = [
        ("run", {"argv": ["id"]}, "is not asked for"),
        ("begin", begin | {"argv": ["id"]}, "argv"),
        ("begin", begin | {"adapter_name": "../x"}, "no adapter"),
        ("begin", begin | {"adapter_name": "fio"}, "one host only"),
        ("begin", begin | {"parameters": {"command": "id"}}, "command"),
        ("begin", begin | {"parameters": {"load": 1e9}}, "load"),
        ("begin", begin | {"limit_s": 1e9}, "allows up to"),
        ("begin", begin | {"limit_s": "long"}, "begin"),
        ("begin", begin | {"processors": 1_000_000}, "processors"),
        ("begin", begin | {"setting": {"weight": 0}}, "out of range"),
        ("begin", begin | {"setting": {"weight": "much"}}, "no setting"),
        ("begin", begin | {"setting": None}, "no setting"),
        ("check", {"setting": {"quota": -1.0}}, "quota"),
        ("hello", HELLO | {"address": "192.0.2.1"}, "no server can listen"),
        ("hello", HELLO | {"address": "::1"}, "IPv4"),
        ("hello", HELLO | {"address": None}, "--peer-address"),
        ("hello", HELLO | {"ports": [1, 2]}, "make no sense"),
        ("hello", HELLO | {"ports": [21_000]}, "hello"),
        ("measuring", {}, "nothing serves"),
        ("account", {}, "nothing serves"),
        ("reached", {}, "nothing was to be reached"),
    ]
    for name, given_words, said in wrong:
        answer = asking.ask(name, **given_words)
        assert said in answer.get("refused", ""), (name, given_words, answer)
    assert "Traceback" not in json.dumps(asking.ask("clock"))


def test_servers_end_by_themselves_when_their_client_falls_silent(
    asking: Asking, tmp_path: Path
) -> None:
    """The connection stays, and nobody speaks: a network that is gone looks like that."""
    asking.ask("hello", **HELLO)
    begun = asking.ask("begin", **(NAMED | {"limit_s": 1.0, "parameters": {}}))
    assert begun["answer"]["served"]["ports"]
    servers = working_in(tmp_path / "peer")
    assert servers
    until(lambda: all(map(gone, servers)), "the servers' end")
    assert asking.process.wait(timeout=LIMIT_S) == 0
    assert not list((tmp_path / "peer").iterdir())


def test_an_agent_by_hand_says_how_it_is_started(tmp_path: Path) -> None:
    """At a terminal nobody speaks its language."""
    ours, theirs = os.openpty()
    done = subprocess.run(
        [*HOMENODE, "measure", "agent"], stdin=theirs, capture_output=True, check=False
    )
    os.close(ours)
    os.close(theirs)
    assert done.returncode == 2
    assert b"--listen" in done.stderr


# What a whole host counts

STAT = """\
cpu  100 0 100 1000 0 20 30 0 0 0
cpu0 100 0 100 1000 0 20 30 0 0 0
intr 12345 1 2 3
ctxt 777
"""
SOFTIRQS = "      CPU0  CPU1\n NET_TX:  1  2\n NET_RX:  30  40\n RCU: 5 5\n"
SNMP = "Ip: A B\nIp: 1 2\nTcp: ActiveOpens OutSegs RetransSegs\nTcp: 1 500 7\n"
DEVICES = """\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop
    lo: 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9
  eth0: 1000 10 0 1 0 0 0 0 2000 20 0 2 0 0 0 0
  eth1: 5 5 0 5 0 0 0 0 5 5 0 5 0 0 0 0
"""


def test_counts_are_read_by_their_places(tmp_path: Path) -> None:
    (tmp_path / "net").mkdir()
    for name, text in {"stat": STAT, "softirqs": SOFTIRQS, "net/snmp": SNMP}.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "net" / "dev").write_text(DEVICES)
    ticks = os.sysconf("SC_CLK_TCK")
    found = read_counts("eth0", tmp_path)
    assert (found["irq_s"], found["softirq_s"]) == (20 / ticks, 30 / ticks)
    assert (found["interrupts"], found["switches"]) == (12345, 777)
    assert (found["net_rx_softirqs"], found["net_tx_softirqs"]) == (70, 3)
    assert (found["tcp_sent"], found["tcp_resent"]) == (500, 7)
    assert (found["rx_bytes"], found["tx_packets"], found["rx_dropped"]) == (1000, 20, 1)
    # Without a device all but loopback.
    assert read_counts(None, tmp_path)["tx_bytes"] == 2005


def test_counts_only_grow() -> None:
    before = read_counts("lo")
    with socket.create_server(("127.0.0.1", 0)) as server:
        with socket.create_connection(server.getsockname()) as client:
            client.sendall(b"x" * 1000)
        time.sleep(0.01)
    added = since(before, read_counts("lo"))
    assert added["tx_bytes"] >= 1000
    assert min(added.values()) >= 0.0


def test_a_device_is_known_by_its_address() -> None:
    assert device_of("127.0.0.1") == "lo"
    assert device_of("192.0.2.1") is None


# The gate


@pytest.mark.parametrize(("ours", "others"), [(False, True), (True, False)])
def test_interrupts_are_the_load_s_between_two_hosts(
    ours: bool, others: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second of a processor in interrupts, and nobody else."""
    busy, interrupts = iter((10.0, 11.0)), iter((3.0, 4.0))
    monkeypatch.setattr(gate, "not_idle", lambda: (next(busy), 0.0))
    monkeypatch.setattr(gate, "interrupts_s", lambda: next(interrupts))
    monkeypatch.setattr(gate, "kernel_threads_s", lambda: 0.0)
    monkeypatch.setattr(gate, "read_pairs", lambda _path: {})
    groups: Any = SimpleNamespace(machine_s=lambda: None)
    asked = gate.Gate(groups, lambda: 0.0)
    asked.interrupts_are_ours = ours
    quiet = asked.watch().done()
    assert (quiet.foreign > 0.0) is others


def test_either_host_may_break_the_gate() -> None:
    still = gate.Quiet(1.0, 0.5, 0.5, 0.0, 0.0, 0.0, 0)
    loud = dataclasses.replace(still, foreign=0.2)
    session: Any = SimpleNamespace(options=Options())

    def why(server: gate.Quiet, client: gate.Quiet) -> str | None:
        quiets = {"server": server, "client": client}
        used = (CpuTime(1.0), None, None, None, None, None, 1.0, loud, {})
        return PairedSession._why_not(session, PairedAccount(*used, quiets), 0.03)

    assert why(still, still) is None
    assert "server's host others used 20.0 %" in str(why(loud, still))
    assert "client's host others used 20.0 %" in str(why(still, loud))


# What is told of it


def shared(busy_s: float, **details: object) -> RunRecord:
    host = {"cpu_s": 1.0, "processors": 2, "host_processors": 4, "seconds": 10.0}
    host |= {"busy_s": busy_s, "tx_bytes": 50e6, "rx_bytes": 20e6}
    told = {"hosts": {"server": dict(host), "client": dict(host)}, **details}
    kind = ("s", "request/x", "transactions", "higher", 2, 1.0, 0, 0)
    return RunRecord(*kind, 1000.0, 10.0, 100.0, "transactions/s", details=told)


def test_figures_of_both_hosts_are_shares_and_quotients() -> None:
    clock = {"uncertainty_s": 1e-5, "server_begins_before_s": 2e-3, "server_ends_after_s": -4e-3}
    (found,) = two_hosts(cells_of([shared(8.0, clock=clock)]))
    server = found.sides["server"]
    assert server.busy == pytest.approx(0.05)
    assert server.host_busy == pytest.approx(0.2)
    assert server.each_us == pytest.approx(1000.0)
    assert server.host_each_us == pytest.approx(8000.0)
    assert (server.sent, server.received) == pytest.approx((5.0, 2.0))
    assert found.clock_us == pytest.approx(10.0)
    assert found.apart_ms == pytest.approx(4.0)
    assert not found.client_is_full


def test_a_client_that_is_full_is_said_to_be_the_limit() -> None:
    assert "client's limit" in " ".join(two_hosts_sentences(cells_of([shared(38.0)])))
    assert "client's limit" not in " ".join(two_hosts_sentences(cells_of([shared(30.0)])))


@pytest.mark.parametrize("hosts", [None, [], {"server": 3}, {"client": {"cpu_s": "much"}}])
def test_what_is_damaged_is_not_shown(hosts: object) -> None:
    run = shared(8.0)
    run.details["hosts"] = hosts
    (found,) = two_hosts(cells_of([run]))
    assert found.sides["client"].each_us is None
    assert two_hosts_sentences(cells_of([run]))


def test_ports_that_nobody_names_are_those_of_a_bench() -> None:
    first, last = map(int, PEER_PORTS.split("-"))
    assert range(first, last + 1) == PORTS
