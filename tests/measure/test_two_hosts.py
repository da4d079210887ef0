"""A measurement on two hosts, for real: the peer is this machine, by an agent or by a stand-in for
ssh; and what is left of it when either side is killed.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import socket
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from able import own_processors
from live import LACKS
from peering import HOMENODE, Agent, agent, peer_command, stand_in, suite, working_in
from waiting import LIMIT_S, until

from homenode.hosts.adapters.registry import adapter
from homenode.hosts.comparison import compare
from homenode.hosts.comparison.refuse import hosts_differ
from homenode.hosts.errors import MeasureError
from homenode.hosts.live.cgroups import gone
from homenode.hosts.live.packages import missing
from homenode.hosts.result import Result, load

Command = Callable[..., subprocess.CompletedProcess[str]]
TOOLS = [
    ("iperf3", 'direction = "read", load = 2'),
    ("sockperf", "load = 2"),
    ("apache", "load = 4, tiles = 2"),
    ("pgbench", 'load = 2, scale = 1, mode = "tpcb-like"'),
    ("sysbench", "load = 2, rows = 1000, tables = 1"),
    ("netperf", ""),
]


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def measured(command: Command, folder: Path, *words: str | Path) -> Result:
    done = command("measure", "run", *words, "-o", folder / "r.json")
    if done.returncode and (lack := LACKS.search(done.stderr)):
        pytest.skip(f"not measured live: {lack[0][:300]}")
    assert done.returncode == 0, done.stderr
    return load(folder / "r.json")


def number(told: object, *path: str) -> float:
    for key in path:
        assert isinstance(told, dict)
        told = told[key]
    assert isinstance(told, int | float)
    return float(told)


def test_both_hosts_are_accounted_for_the_same_time(command: Command, tmp_path: Path) -> None:
    given = "load = 2, request = 200, response = 1000"
    with agent(tmp_path) as there:
        shared = suite(tmp_path, parameters=given, repeats=2)
        done = command("measure", shared, *there.arguments, "-o", tmp_path / "r.json", "--json")
        assert done.returncode == 0, done.stderr
        shown = json.loads(done.stdout)
    result = load(tmp_path / "r.json")
    assert not result.failures
    assert len(result.records) == 2
    for run in result.records:
        assert run.cpu is not None
        # What counts is the servers' account; the clients' stands beside it.
        assert run.cpu.total == number(run.details, "hosts", "server", "cpu_s")
        clock = run.details["clock"]
        for side in ("server", "client"):
            assert number(run.details, "hosts", side, "cpu_s") > 0.0
            assert number(run.details, "hosts", side, "seconds") >= run.seconds
            # Loopback is the device between the two: all that was asked and answered went over it.
            least = run.work * (200 + 1000)
            assert number(run.details, "hosts", side, "tx_bytes") >= least
        # It is one clock: the offset that was found is 0, as well as its uncertainty says.
        assert abs(number(clock, "offset_s")) <= number(clock, "uncertainty_s")
        assert number(clock, "server_begins_before_s") >= -2 * number(clock, "uncertainty_s")
        assert number(clock, "server_ends_after_s") >= -2 * number(clock, "uncertainty_s")
    assert result.environment["client"]
    (both,) = shown["hosts"]
    assert set(both["sides"]) == {"server", "client"}
    raw = {folder.name for folder in (tmp_path / "r.raw").iterdir()}
    assert any(name.endswith("-peer") for name in raw)
    text = command("measure", "show", tmp_path / "r.json").stdout
    assert "Both hosts" in text
    assert "their clients ran on" in text
    assert compare(result, result).pairs[0].verdict == "undecided"


@pytest.mark.parametrize(("name", "given"), TOOLS)
def test_each_tool_serves_a_peer(name: str, given: str, command: Command, tmp_path: Path) -> None:
    one = adapter(name)
    if absent := missing(one.requires(one.case("x", {})).needs, one):
        pytest.skip(f"not measured live: {absent[0].program} is not here")
    with agent(tmp_path) as there:
        shared = suite(tmp_path, name, given, seconds=1.0)
        result = measured(command, tmp_path, shared, *there.arguments)
    (run,) = result.records
    assert run.work > 0.0
    assert number(run.details, "hosts", "client", "cpu_s") > 0.0
    assert result.versions[name]


def test_two_settings_of_the_servers_in_turns(command: Command, tmp_path: Path) -> None:
    cpus = own_processors()
    sides = ["--a", f"cpus={cpus[0]}", "--b", f"cpus={cpus[0]},{cpus[-1]}", "--repeats", "1"]
    with agent(tmp_path) as there:
        words = ["measure", "ab", suite(tmp_path), *there.arguments, "-o", tmp_path / "r.json"]
        assert command(*words, *sides).returncode == 0
        for wrong, said in (
            ("env=A=b", "asks for variables"),
            ("cpus=4000", "asks for processors"),
        ):
            done = command(*words, "--a", wrong, "--repeats", "1")
            assert done.returncode == 2
            assert said in done.stderr
    runs = load(tmp_path / "r.json").records
    assert {(one.system, one.processors) for one in runs} == {
        ("a", 1),
        ("b", len({cpus[0], cpus[-1]})),
    }


def test_one_host_and_two_do_not_compare(command: Command, tmp_path: Path) -> None:
    shared = suite(tmp_path)
    alone = measured(command, tmp_path, shared, "--gate", "off")
    with agent(tmp_path) as there:
        together = measured(command, tmp_path, shared, *there.arguments)
    with pytest.raises(MeasureError, match="hosts: not told and 2"):
        compare(alone, together)


def test_what_runs_on_one_host_is_left_out(command: Command, tmp_path: Path) -> None:
    with agent(tmp_path) as there:
        done = command("measure", suite(tmp_path, "hackbench", "load = 1"), *there.arguments)
    assert done.returncode == 2
    assert "one host only" in done.stderr


def test_ssh_starts_the_agent(command: Command, tmp_path: Path) -> None:
    """Whatever the login prints before."""
    ssh = stand_in(tmp_path, 'print("Welcome!\\n{\\"day\\": 1}", flush=True)')
    words = ["--peer", "server", "--ssh", ssh, "--peer-command", peer_command(), "--gate", "off"]
    result = measured(command, tmp_path, suite(tmp_path), *words)
    assert len(result.records) == 1
    # Where databases and files are made is the peer's affair.
    elsewhere = command("measure", suite(tmp_path), *words, "--folder", tmp_path / "none")
    assert "no folder can be made" in elsewhere.stderr


REFUSED = [
    ('print("Permission denied (publickey).", file=sys.stderr); sys.exit(255)', "accept your key"),
    ('print("ssh: Could not resolve hostname", file=sys.stderr); sys.exit(255)', "no host of that"),
    ('print("ssh: connect to host: timed out", file=sys.stderr); sys.exit(255)', "cannot be reach"),
    ('print("Host key verification failed.", file=sys.stderr); sys.exit(255)', "not known"),
    ('words[-1] = "no-such-homenode measure agent"', "is no"),
    ('print(\'{"homenode": 1, "version": "0.0.1"}\', flush=True)', "homenode 0.0.1, this host"),
    ('print("This account is closed."); sys.exit(1)', "began no session"),
]


@pytest.mark.parametrize(("before", "said"), REFUSED)
def test_what_ssh_says_is_understood(
    before: str, said: str, command: Command, tmp_path: Path
) -> None:
    words = ["--peer", "server", "--ssh", stand_in(tmp_path, before), "--gate", "off"]
    words += ["--peer-command", peer_command()]
    done = command("measure", suite(tmp_path), *words, "-o", tmp_path / "r.json")
    assert done.returncode == 2
    assert said in done.stderr
    assert not list(tmp_path.glob("r.*"))


def test_only_who_holds_the_token_is_let_in(command: Command, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong"
    wrong.write_text("another token of some length")
    with agent(tmp_path) as there:
        words = ["measure", suite(tmp_path), "--peer", there.place, "--token-file", wrong]
        assert "others may read" in command(*words).stderr
        wrong.chmod(0o600)
        done = command(*words)
        assert done.returncode == 2
        assert "the token is wrong" in done.stderr
        assert "refused" in there.log.read_text()
        wrong.write_text("short")
        assert "too short" in command(*words).stderr
        # It still serves those who hold it.
        measured(command, tmp_path, suite(tmp_path), *there.arguments)


def test_nothing_that_is_sent_ends_a_listener(command: Command, tmp_path: Path) -> None:
    with agent(tmp_path) as there:
        address, port = there.place.split(":")
        for sent in (b"", b"GET / HTTP/1.0\r\n\r\n", b'{"proof": "\\ud800"}\n', b"[]\n", b"\xff\n"):
            with socket.create_connection((address, int(port))) as connected:
                connected.sendall(sent)
                connected.shutdown(socket.SHUT_WR)
                while connected.recv(1 << 16):
                    pass
        assert there.log.read_text().count("refused") == 5
        measured(command, tmp_path, suite(tmp_path), *there.arguments)


def test_names_of_the_peer_are_left_out(command: Command, tmp_path: Path) -> None:
    with agent(tmp_path) as there:
        result = measured(command, tmp_path, suite(tmp_path), *there.arguments, "--anonymous")
    assert result.environment["anonymous"] is True
    assert "host" not in result.environment
    assert there.place.partition(":")[0] not in (tmp_path / "r.json").read_text()


def test_other_clients_are_told_beside_a_comparison(command: Command, tmp_path: Path) -> None:
    with agent(tmp_path) as there:
        first = measured(command, tmp_path, suite(tmp_path), *there.arguments)
    client = first.environment["client"]
    assert isinstance(client, dict)
    other = replace(
        first, environment=first.environment | {"client": client | {"clock": "a sundial"}}
    )
    assert not [one for one in hosts_differ(first, first) if "client" in one]
    (told,) = [one for one in hosts_differ(first, other) if "client" in one]
    assert told.startswith("the client's clock")
    assert "a sundial" in told


def test_a_gate_cannot_tell_the_two_sides_of_one_machine(command: Command, tmp_path: Path) -> None:
    with agent(tmp_path) as there:
        words = ["--peer", there.place, "--token-file", there.token]
        done = command("measure", suite(tmp_path), *words)
    assert done.returncode == 2
    assert "this very machine" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--token-file", "t"], "there is no peer"),
        (["--peer", "x", "--token-file", "t"], "names no agent"),
        (["--peer", "-oProxyCommand=x"], "names no host"),
        (["--peer", "x", "--peer-ports", "80-90"], "makes no sense"),
        (["--peer", "x", "--ssh", "no-such-ssh"], "cannot be started"),
        (["--peer", "x", "--ssh", '"'], "--ssh"),
        (["--peer", "x:1", "--token-file", "t", "--folder", "f"], "a folder of its own"),
    ],
)
def test_words_that_name_no_peer(
    words: list[str], said: str, command: Command, tmp_path: Path
) -> None:
    done = command("measure", suite(tmp_path), *words)
    assert done.returncode == 2
    assert said in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--listen", "127.0.0.1:0"], "takes a token"),
        (["--listen", "nowhere", "--token-file", "t"], "names no place"),
        (["--listen", "192.0.2.1:7411", "--token-file", "t"], "nothing can listen"),
        (["--listen", "127.0.0.1:0", "--token-file", "no/folder/t"], "cannot be written"),
    ],
)
def test_an_agent_that_cannot_listen(
    words: list[str], said: str, command: Command, tmp_path: Path
) -> None:
    done = command("measure", "agent", *words)
    assert done.returncode == 2
    assert said in done.stderr


# Ends


def client(
    folder: Path, there: Agent, *, repeats: int = 2, seconds: float = 600.0
) -> subprocess.Popen[bytes]:
    """One in the middle of a repetition."""
    shared = suite(folder, repeats=repeats, seconds=seconds)
    words = ["measure", str(shared), *there.arguments, "-o", str(folder / "r.json")]
    with (folder / "client.log").open("wb") as log:
        process = subprocess.Popen(
            [*HOMENODE, *words], stdout=log, stderr=log, start_new_session=True
        )
    until(lambda: working_in(there.folder) or process.poll() is not None, "a server")
    return process


def test_a_client_that_is_killed_leaves_no_server(command: Command, tmp_path: Path) -> None:
    with agent(tmp_path) as there:
        process = client(tmp_path, there)
        servers = working_in(there.folder)
        assert servers
        process.kill()
        process.wait()
        until(lambda: all(map(gone, servers)), "the servers' end")
        until(lambda: not list(there.folder.iterdir()), "the end of their folder")
        # The next client is served.
        measured(command, tmp_path, suite(tmp_path), *there.arguments)


def test_an_agent_that_is_killed_ends_the_client(command: Command, tmp_path: Path) -> None:
    with agent(tmp_path) as there:
        process = client(tmp_path, there, repeats=500, seconds=0.5)
        until(lambda: list(tmp_path.glob(".r.unfinished.*")), "a repetition that is finished")
        servers = working_in(there.folder)
        (session,) = children(there.process.pid)
        os.kill(session, signal.SIGKILL)
        until(lambda: all(map(gone, servers)), "the servers' end")
        assert process.wait(timeout=LIMIT_S) == 2
        said = (tmp_path / "client.log").read_text()
        assert "the peer" in said
        assert "is lost" in said
        assert "Traceback" not in said
        # What was finished is kept, and says that it is not all.
        kept = load(tmp_path / "r.json")
        assert kept.interrupted
        assert kept.records
        # The next session removes the folder that this one had no time for.
        measured(command, tmp_path, suite(tmp_path), *there.arguments)


def test_ctrl_c_ends_both_sides(tmp_path: Path) -> None:
    with agent(tmp_path) as there:
        process = client(tmp_path, there)
        servers = working_in(there.folder)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=LIMIT_S) == 130
        until(lambda: all(map(gone, servers)), "the servers' end")
        assert "Traceback" not in (tmp_path / "client.log").read_text()


def test_an_agent_that_is_asked_to_end_ends_its_session(tmp_path: Path) -> None:
    with agent(tmp_path) as there:
        process = client(tmp_path, there)
        servers = working_in(there.folder)
    assert all(map(gone, servers))
    assert process.wait(timeout=LIMIT_S) == 2


def test_a_second_client_is_turned_away(command: Command, tmp_path: Path) -> None:
    with agent(tmp_path) as there:
        process = client(tmp_path, there)
        (tmp_path / "second").mkdir()
        done = command("measure", suite(tmp_path / "second"), *there.arguments)
        assert done.returncode == 2
        assert "serves another client" in done.stderr
        process.send_signal(signal.SIGINT)
        process.wait(timeout=LIMIT_S)


def children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


# Two hosts of their own network

PAIR = """\
set -e
ip link set lo up
unshare -n sleep 900 & there=$!
while [ "$(readlink /proc/$there/ns/net)" = "$(readlink /proc/self/ns/net)" ]; do sleep 0.02; done
ip link add here type veth peer name there netns $there
ip addr add 10.77.0.1/30 dev here; ip link set here up
nsenter -t $there -n sh -ec 'ip link set lo up; ip addr add 10.77.0.2/30 dev there
ip link set there up; ip addr add 10.99.0.1/32 dev lo'
echo ready $there; read _ || true; kill $there
"""
"""A network of two namespaces with a pair of devices between them; the second has an address more
that the first has no way to.
"""


def test_two_network_namespaces(tmp_path: Path) -> None:
    as_root = [] if os.geteuid() == 0 else ["--map-root-user"]
    holder = subprocess.Popen(
        ["unshare", *as_root, "-n", "sh", "-c", PAIR],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert holder.stdin
    assert holder.stdout
    assert holder.stderr
    try:
        line = holder.stdout.readline().split()
        if line[:1] != ["ready"]:
            pytest.skip(f"no pair of namespaces here: {holder.stderr.read()[-300:]}")
        into = ["nsenter", *([] if os.geteuid() == 0 else ["-U", "--preserve-credentials"]), "-n"]
        with agent(tmp_path, address="10.77.0.2", enter=[*into, "-t", line[1]]) as there:
            words = [*into, "-t", str(holder.pid), *HOMENODE, "measure"]
            words += [str(suite(tmp_path)), *there.arguments, "-o", str(tmp_path / "r.json")]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            blocked = [*words, "--peer-address", "10.99.0.1"]
            unreached = subprocess.run(blocked, capture_output=True, text=True, check=False)
    finally:
        holder.communicate("\n", timeout=LIMIT_S)
    (run,) = load(tmp_path / "r.json").records
    # What one device sent the other received, but for what was under way at either end.
    sent = number(run.details, "hosts", "server", "tx_packets")
    received = number(run.details, "hosts", "client", "rx_packets")
    assert received == pytest.approx(sent, rel=0.05)
    assert sent >= run.work
    assert unreached.returncode == 2
    assert "cannot be reached from here" in unreached.stderr
    assert shlex.join(["--peer-ports"]) in unreached.stderr
