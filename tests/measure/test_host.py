"""The host at hand: processes, accounts, gate, environment, packages."""

from __future__ import annotations

import json
import os
import platform
import socket
import struct
import sys
import time
from pathlib import Path

import pytest
from waiting import LIMIT_S, until

from homenode.hosts.adapter import Need
from homenode.hosts.errors import MeasureError
from homenode.hosts.live import Ended, Host, Setting, gate, packages, taskstats
from homenode.hosts.live.counters import Counters
from homenode.hosts.live.cpus import pick
from homenode.hosts.live.environment import capture
from homenode.hosts.live.gate import Quiet, kernel_threads_s, not_idle
from homenode.hosts.live.guard import MARK
from homenode.hosts.live.network import listening, taken, wait_for_port
from homenode.hosts.live.processes import told
from homenode.hosts.live.tasks import account_of

SLEEPS = "import time\nfor _ in range(50): time.sleep(.001)"
FEWER_SLEEPS = 40
"""Switches of 50 sleeps: a process kept from its processor long enough finds its sleep over before
it began, and gives nothing up."""
SPIN = """\
import resource, subprocess, sys, threading, time
def spin(clock):
    t = clock() + .2
    while clock() < t: pass
def told():
    of = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    used, gave_way = sum(o.ru_utime + o.ru_stime for o in of), sum(o.ru_nvcsw for o in of)
    print(used, gave_way, flush=True)
"""
"""Parts of programs: 0.2 s of processor time; what a process says of itself and its children."""
ITS_END_S = 0.25
"""Processor time of an interpreter that goes, and of a group's account that lags by a tick."""
ONE_CLOCK = 0.999
"""Clocks of the kernel for processor time and for time that passes differ by less."""
LOOPS = ["/bin/sh", "-c", "while :; do :; done"]


@pytest.fixture(params=["v1", "v2", "none"])
def kinds(request: pytest.FixtureRequest) -> Host:
    """The host by each kind of control groups that it lets us have."""
    with Host.open(prefer=request.param) as opened:
        if opened.groups.kind != request.param:
            pytest.skip(f"this host has no control groups of {request.param} for us")
        yield opened  # type: ignore[misc]


def own_account(out: Path) -> tuple[float, int]:
    """What a process said of itself: processor time [s] and voluntary switches."""
    used, gave_way = out.read_text().split()
    return float(used), int(gave_way)


def test_an_ended_process_leaves_its_account(kinds: Host, tmp_path: Path) -> None:
    group = kinds.group("a")
    code = f"{SPIN}spin(time.process_time); told()"
    before = time.monotonic()
    process = kinds.start([sys.executable, "-c", code], group=group, stdout=tmp_path / "out")
    ended = process.wait(limit_s=LIMIT_S)
    passed = time.monotonic() - before
    assert ended.code == 0
    told, _ = own_account(tmp_path / "out")
    used = ended.user_s + ended.system_s
    assert told >= 0.2 * ONE_CLOCK
    assert told * ONE_CLOCK <= used <= told + ITS_END_S
    # Of one thread, the scheduler's own account and the sampled one agree within a few ticks.
    assert ended.run_s == pytest.approx(used, abs=0.05)
    # A thread cannot have run longer than the time in which its whole life lies.
    assert told * ONE_CLOCK <= ended.seconds <= passed
    if kinds.groups.kind != "none":
        assert group.usage().total_s == pytest.approx(ended.run_s, abs=0.1)


def test_switches_of_threads_and_children_are_counted(kinds: Host, tmp_path: Path) -> None:
    """Two children of two threads each, held against what they say of themselves."""
    child = (
        "import threading, time\n"
        "def work():\n    for _ in range(50): time.sleep(.001)\n"
        "more = threading.Thread(target=work); more.start(); work(); more.join()"
    )
    parent = (
        f"{SPIN}c = [sys.executable, '-c', {child!r}]\n"
        "[p.wait() for p in [subprocess.Popen(c), subprocess.Popen(c)]]\ntold()"
    )
    group, out = kinds.group("a"), tmp_path / "out"
    kinds.start([sys.executable, "-c", parent], group=group, stdout=out).wait(limit_s=LIMIT_S)
    totals = kinds.totals(group)
    if totals.complete:
        assert totals.tasks == 5
    used, gave_way = own_account(out)
    # Every sleep of each thread is one, and the last moments of each are told by one side only.
    assert totals.voluntary >= 4 * FEWER_SLEEPS
    assert totals.voluntary == pytest.approx(gave_way, abs=25)
    assert used * ONE_CLOCK - 0.01 <= totals.run_s <= used + ITS_END_S


def test_without_exit_records_the_account_is_what_was_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A user who may not listen: switches come from waiting, run delay is not complete."""
    monkeypatch.setattr(taskstats.ExitRecords, "open", classmethod(lambda *_: None))
    with Host.open() as opened:
        group = opened.group("a")
        opened.start([sys.executable, "-c", SLEEPS], group=group).wait(limit_s=LIMIT_S)
        totals = opened.totals(group)
        assert not totals.complete
        assert totals.voluntary >= FEWER_SLEEPS


def test_without_exit_records_the_time_of_the_ended_is_known(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A server that lives on, with a thread and a child that have ended, and a client that has."""
    monkeypatch.setattr(taskstats.ExitRecords, "open", classmethod(lambda *_: None))
    child = f"{SPIN}spin(time.thread_time)"
    server = (
        f"{SPIN}thread = threading.Thread(target=spin, args=[time.thread_time])\n"
        "thread.start(); thread.join()\n"
        f"subprocess.run([sys.executable, '-c', {child!r}])\n"
        "told(); time.sleep(600)"
    )
    out = tmp_path / "out"
    with Host.open(prefer="none") as opened:
        group = opened.group("a")
        opened.start([sys.executable, "-c", server], group=group, stdout=out)
        client = opened.start([sys.executable, "-c", child], group=group).wait(limit_s=LIMIT_S)
        until(lambda: out.read_text().endswith("\n"), "a server that has done its part")
        totals = opened.totals(group)
    used = own_account(out)[0] + client.user_s + client.system_s
    assert used >= 0.6 * ONE_CLOCK
    # Read in ticks of the kernel, four figures of the server's.
    assert used - 0.05 <= totals.run_s <= used + ITS_END_S


def test_a_late_process_is_told_and_ended(tmp_path: Path) -> None:
    with Host.open() as opened:
        process = opened.start(
            [sys.executable, "-uc", "print('still loading'); import time; time.sleep(600)"],
            stdout=tmp_path / "out",
        )
        until(lambda: process.output().endswith(b"\n"), "its first words")
        with pytest.raises(MeasureError, match=r"within 0\.1 s: it printed: still loading"):
            process.wait(limit_s=0.1)
        assert process.alive()
    assert process.ended is not None
    assert process.ended.code < 0


def test_programs_see_a_plain_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "x")
    (tmp_path / "in").write_bytes(b"fed")
    with Host.open() as opened:
        process = opened.start(
            ["/bin/sh", "-c", "env | sort; cat"],
            env={"OWN": "1"},
            stdin=tmp_path / "in",
            stdout=tmp_path / "out",
        )
        process.wait(limit_s=LIMIT_S)
    words = (tmp_path / "out").read_text().splitlines()
    names = {word.partition("=")[0] for word in words[:-1]}
    of_a_shell = {"PWD", "_", "SHLVL", "OLDPWD"}
    assert names - of_a_shell == {"PATH", "LC_ALL", "TZ", "OWN", MARK}
    assert words[-1] == "fed"


def test_ctrl_c_of_the_terminal_does_not_reach_the_tools(tmp_path: Path) -> None:
    with Host.open() as opened:
        process = opened.start(["/bin/sh", "-c", "ps -o sid= -p $$"], stdout=tmp_path / "out")
        process.wait(limit_s=LIMIT_S)
    assert int((tmp_path / "out").read_text()) not in (0, os.getsid(0))


def test_weights_divide_a_processor() -> None:
    """Two groups on one processor; the host's own load does not move their ratio."""
    with Host.open() as opened:
        if not {"weight", "cpuset"} <= opened.groups.can:
            pytest.skip(f"weights cannot be set on this host: {opened.groups.why_not}")
        cpu = (opened.cpus[0],)
        groups = [
            opened.group(name, Setting(weight=weight, cpus=cpu))
            for name, weight in (("heavy", 400), ("light", 100))
        ]
        for group in groups:
            opened.start(LOOPS, group=group)

        def used() -> list[float]:
            return [group.usage().total_s for group in groups]

        until(lambda: min(used()) > 0.05, "both have begun")
        before = used()
        # Not for a time: what the host leaves them decides how much there is to be divided.
        until(lambda: sum(used()) - sum(before) > 1.0, "a second of processor time for both")
        heavy, light = (now - first for now, first in zip(used(), before, strict=True))
    assert heavy / (heavy + light) == pytest.approx(0.8, abs=0.06)


def test_a_live_quota_is_held() -> None:
    with Host.open() as opened:
        if "quota" not in opened.groups.can:
            pytest.skip(f"no quota can be set on this host: {opened.groups.why_not}")
        group = opened.group("a", Setting(quota=0.2, period_us=20_000))
        before = time.monotonic()
        opened.start(LOOPS, group=group)
        # On a host that gives it less than its quota there is nothing to hold back, for a while.
        until(lambda: group.usage().throttled_periods > 0, "a period in which it was held back")
        until(lambda: group.usage().total_s > 0.3, "0.3 s of processor time")
        used = group.usage()
        passed = time.monotonic() - before
    # Periods are not aligned with the start: one more than fit in.
    assert used.total_s <= 0.2 * (passed + 0.02) * 1.15


def _attribute(kind: int, data: bytes) -> bytes:
    return struct.pack("HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)


def _message(version: int = 14) -> bytes:
    record = bytearray(432)
    struct.pack_into("H", record, 0, version)
    struct.pack_into("QQ", record, 16, 7, 1_500_000)
    struct.pack_into("Q", record, 72, 62_000_000)
    struct.pack_into("II", record, 128, 102, 50)
    struct.pack_into("QQ", record, 272, 11, 12)
    struct.pack_into("I", record, 368, 101)
    pid = _attribute(1, struct.pack("I", 102))
    of_task = _attribute(4, pid + _attribute(3, bytes(record)))
    of_process = _attribute(5, _attribute(2, struct.pack("I", 101)) + _attribute(3, bytes(432)))
    body = bytes(4) + of_task + of_process
    return struct.pack("IHHII", 16 + len(body), 31, 0, 0, 0) + body


def test_a_record_of_an_ended_thread() -> None:
    """Made by hand from the documented layout; the record of the whole process is left out."""
    (found,) = taskstats._exits(_message())
    assert found == taskstats.Exit(
        tid=102,
        pid=101,
        parent=50,
        run_ns=62_000_000,
        delay_ns=1_500_000,
        slices=7,
        voluntary=11,
        involuntary=12,
    )


@pytest.mark.parametrize("cut", [0, 10, 19, 24, 40, 300])
def test_cut_records_are_no_records(cut: int) -> None:
    assert list(taskstats._exits(_message()[:cut])) == []


def test_old_records_do_not_tell_the_process() -> None:
    assert list(taskstats._exits(_message(version=11))) == []


def test_an_account_of_a_task(tmp_path: Path) -> None:
    (tmp_path / "status").write_text(
        "Name:\tx\nvoluntary_ctxt_switches:\t12\nnonvoluntary_ctxt_switches:\t3\n"
    )
    (tmp_path / "schedstat").write_text("1000 200 15\n")
    account = account_of(tmp_path)
    assert account is not None
    assert vars(account) == {
        "run": 1000,
        "delay": 200,
        "slices": 15,
        "voluntary": 12,
        "involuntary": 3,
    }
    assert account_of(tmp_path / "gone") is None


@pytest.mark.parametrize(
    ("foreign", "steal", "swapped", "reason"),
    [
        (0.0, 0.0, 0, None),
        (0.03, 0.01, 0, None),
        (0.31, 0.0, 0, "others used 31.0 % of the host (limit 3 %)"),
        (0.0, 0.02, 0, "the host's hypervisor stole 2.0 % (limit 1 %)"),
        (0.0, 0.0, 5, "the host swapped 5 pages"),
    ],
)
def test_why_a_run_does_not_count(
    foreign: float, steal: float, swapped: int, reason: str | None
) -> None:
    assert Quiet(1.0, 1.0, 1.0, 0.0, foreign, steal, swapped).reason(0.03) == reason


def test_foreign_time_is_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten seconds of four processors: 20 s busy, of which 12 ours and 2 the kernel's."""
    moments = iter(
        [
            gate._Moment(100.0, 1000.0, 5.0, 70.0, 9.0, 3),
            gate._Moment(110.0, 1020.0, 5.4, 82.0, 11.0, 4),
        ]
    )
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    quiet = gate.Watch(lambda: next(moments)).done()
    assert quiet.foreign == pytest.approx(6.0 / 40.0)
    assert quiet.steal == pytest.approx(0.4 / 40.0)
    assert (quiet.busy_s, quiet.own_s, quiet.kernel_s) == (20.0, 12.0, 2.0)
    assert quiet.swapped_pages == 1


def test_a_loop_of_ours_is_our_own() -> None:
    with Host.open() as opened:
        watch = opened.gate.watch()
        itself = time.process_time()
        group = opened.group("a")
        loop = opened.start(LOOPS, group=group)
        until(lambda: opened.totals(group).run_s > 0.3, "0.3 s of processor time")
        least = opened.totals(group).run_s
        quiet = watch.done()
        most = opened.totals(group).run_s + time.process_time() - itself
        loop.end(patience_s=0)
    # An account may be a tick behind, and what the test itself did is ours too.
    assert least - 0.05 <= quiet.own_s <= most + 0.05


def test_time_that_is_not_idle(tmp_path: Path) -> None:
    ticks = os.sysconf("SC_CLK_TCK")
    idle, waiting, stolen = 100 * ticks, 50 * ticks, 3 * ticks
    (tmp_path / "stat").write_text(f"cpu 1 2 3 {idle} {waiting} 4 5 {stolen} 0 0\ncpu0 1\n")
    before = time.clock_gettime(time.CLOCK_BOOTTIME)
    busy, steal = not_idle(tmp_path / "stat")
    after = time.clock_gettime(time.CLOCK_BOOTTIME)
    assert steal == 3.0
    assert before <= (busy + 153.0) / (os.cpu_count() or 1) <= after


def test_threads_of_the_kernel_work_for_all(tmp_path: Path) -> None:
    for pid, parent, run in ((3, 2, 5_000_000_000), (4, 1, 7_000_000_000), (5, 2, 1_000_000_000)):
        (tmp_path / str(pid)).mkdir()
        (tmp_path / str(pid) / "stat").write_text(f"{pid} (k (x) y) S {parent} 0 0")
        (tmp_path / str(pid) / "schedstat").write_text(f"{run} 1 1\n")
    (tmp_path / "self").mkdir()
    assert kernel_threads_s(tmp_path) == 6.0


@pytest.mark.parametrize(
    ("count", "taken"), [(1, (0,)), (2, (0, 1)), (3, (0, 1, 2)), (4, (0, 1, 2, 3))]
)
def test_cores_are_taken_before_their_threads(count: int, taken: tuple[int, ...]) -> None:
    neighbours = {0: (0, 2), 1: (1, 3), 2: (0, 2), 3: (1, 3)}
    assert pick(count, (0, 1, 2, 3), neighbours) == taken
    side_by_side = {0: (0, 1), 1: (0, 1), 2: (2, 3), 3: (2, 3)}
    assert pick(2, (0, 1, 2, 3), side_by_side) == (0, 2)
    assert pick(1, (1, 3), neighbours) == (1,)
    with pytest.raises(MeasureError, match="this process may use 4"):
        pick(5, (0, 1, 2, 3), neighbours)


def test_who_listens() -> None:
    """A socket that has a port and does not listen yet: nobody else can listen on it."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        port = server.getsockname()[1]
        assert not listening(port)
        server.listen()
        assert listening(port)


def test_an_environment_is_plain_json_and_says_its_sources() -> None:
    found = capture()
    assert json.loads(json.dumps(found)) == found
    assert found["host"] == platform.node()
    assert found["processors"]["allowed"] == sorted(os.sched_getaffinity(0))
    for value in found["scheduler"].values():
        assert value["source"]
    major, minor = found["scheduler"]["kernel"]["value"]
    assert platform.release().startswith(f"{major}.{minor}")


def test_an_anonymous_environment_names_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "node", lambda: "payroll-db-7")
    uname = platform.uname()._replace(node="payroll-db-7", release="6.1.0-acme-payroll")
    monkeypatch.setattr(platform, "uname", lambda: uname)
    assert "payroll" in json.dumps(capture())
    text = json.dumps(capture(anonymous=True))
    assert "payroll" not in text
    assert "acme" not in text
    assert '"release": "6.1.0"' in text


def test_programs_beside_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for version in ("9", "15", "13"):
        folder = tmp_path / version / "bin"
        folder.mkdir(parents=True)
        program = folder / "a-server"
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    monkeypatch.setattr(packages, "BESIDE_THE_PATH", (f"{tmp_path}/*/bin",))
    assert packages.find("a-server") == str(tmp_path / "15" / "bin" / "a-server")
    assert packages.find("no-such-server") is None


def test_remedies_are_lines_for_a_shell() -> None:
    needs = [
        Need("fio", "fio"),
        Need("wrk", "wrk"),
        Need("fio", "fio"),
        Need("tpchgen-cli", "tpchgen-cli", source="pypi", version="2.0.0"),
        Need("jmh", "jmh-core", source="maven"),
    ]
    assert packages.remedy(needs) == (
        "apt-get install --no-install-recommends fio wrk; pip install tpchgen-cli==2.0.0; "
        "homenode measure tools --install"
    )


def test_installing_takes_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    called: list[object] = []
    monkeypatch.setattr(packages, "_call", lambda *words: called.append(words))
    with pytest.raises(MeasureError, match=r"takes root: run: apt-get install .* fio"):
        packages.install([(object(), Need("fio", "fio"))])  # type: ignore[list-item]
    assert not called


def test_what_installing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    called: list[list[str]] = []
    monkeypatch.setattr(packages, "_call", lambda argv, _env: called.append(argv))
    wanted = [(object(), Need("a", "b")), (object(), Need("c", "d"))]
    done = packages.install(wanted)  # type: ignore[arg-type]
    assert called == [["apt-get", "install", "-y", "--no-install-recommends", "b", "d"]]
    assert done == ["installed b, d"]


def test_shared_counters_are_stretched_to_the_whole_time() -> None:
    """Two processes; the counter of one ran for half of its time only."""
    counters = Counters()
    counters._works = True
    writers = []
    for name, value, enabled, running in (
        ("instructions", 1000, 80, 40),
        ("instructions", 500, 60, 60),
        ("cycles", 10, 60, 0),
    ):
        reader, writer = os.pipe()
        os.write(writer, struct.pack("QQQ", value, enabled, running))
        counters._open.append((name, reader))
        writers.append(writer)
    assert counters.read() == {"instructions": 2500.0, "cycles": 0.0}
    for writer in writers:
        os.close(writer)
    # Nothing more to read: a count that is lost is no count.
    assert counters.read() is None
    counters.close()


def test_hosts_without_counters_tell_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("homenode.hosts.live.counters._perf_event_open", lambda *_: None)
    counters = Counters()
    counters.follow(os.getpid())
    assert counters.read() is None
    counters.close()


def test_one_that_will_not_end_does_not_keep_the_rest() -> None:
    opened = Host.open(prefer="none")
    first, stuck, last = (opened.start(["/bin/sh", "-c", "sleep 60"]) for _ in range(3))

    def refuse(**_: object) -> Ended:
        raise MeasureError("process 1 does not end")

    end, stuck.end = stuck.end, refuse  # type: ignore[method-assign]
    with pytest.raises(MeasureError, match="does not end"):
        opened.close()
    assert first.ended is not None
    assert last.ended is not None
    end()


def test_the_end_of_an_output_is_told() -> None:
    assert told(b"") == "it printed nothing"
    assert told(b"a\n b\xff") == "it printed: a b\N{REPLACEMENT CHARACTER}"
    assert told(b"x" * 5000).startswith("it printed: ...xxx")
    assert len(told(b"x" * 5000)) < 700


def test_a_port_that_somebody_else_listens_on_is_no_sign_of_ours() -> None:
    """Two sessions at once: the own server died because the other's took its port."""
    with Host.open(prefer="none") as opened, socket.create_server(("127.0.0.1", 0)) as other:
        server = opened.start([sys.executable, "-c", "raise SystemExit('address in use')"])
        until(lambda: not server.alive(), "the end of the own server")
        with pytest.raises(MeasureError, match="something else listens"):
            wait_for_port(other.getsockname()[1], limit_s=LIMIT_S, pid="self", of=server)


def test_a_port_whose_connections_wait_for_their_end_is_taken() -> None:
    """Who was asked and closed first keeps the port for a minute, though nobody listens there."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)):
            accepted, _ = server.accept()
            accepted.close()
    assert not listening(port)
    assert taken(port)
