"""The host at hand: processes, accounts, gate, environment, packages."""

from __future__ import annotations

import json
import os
import platform
import socket
import struct
import sys
import tempfile
import time
from pathlib import Path

import pytest

from homenode.measure.adapter import Need
from homenode.measure.errors import MeasureError
from homenode.measure.host import Ended, Host, Setting, gate, packages, taskstats
from homenode.measure.host.counters import Counters
from homenode.measure.host.cpus import pick
from homenode.measure.host.environment import capture
from homenode.measure.host.gate import Quiet, kernel_threads_s, not_idle
from homenode.measure.host.network import listening
from homenode.measure.host.processes import told
from homenode.measure.host.tasks import account_of

SLEEPS = "import time\nfor _ in range(50): time.sleep(.001)"
SPINS = "import time\nt = time.process_time() + .2\nwhile time.process_time() < t: pass"


@pytest.fixture(params=["v1", "v2", "none"])
def kinds(request: pytest.FixtureRequest) -> Host:
    """The host by each kind of control groups that it lets us have."""
    with Host.open(prefer=request.param) as opened:
        if opened.groups.kind != request.param:
            pytest.skip(f"this host has no control groups of {request.param} for us")
        yield opened  # type: ignore[misc]


def test_an_ended_process_leaves_its_account(kinds: Host) -> None:
    group = kinds.group("a")
    process = kinds.start([sys.executable, "-c", SPINS], group=group)
    ended = process.wait(limit_s=30)
    assert ended.code == 0
    assert 0.2 <= ended.user_s + ended.system_s <= 0.5
    # Of one thread, the scheduler's own account and the sampled one agree within a few ticks.
    assert ended.run_s == pytest.approx(ended.user_s + ended.system_s, abs=0.05)
    assert ended.seconds >= ended.run_s
    if kinds.groups.kind != "none":
        assert group.usage().total_s == pytest.approx(ended.run_s, abs=0.05)


def test_switches_of_threads_and_children_are_counted(kinds: Host) -> None:
    """Two children of two threads each: every sleep is a voluntary switch."""
    child = (
        "import threading, time\n"
        "def work():\n    for _ in range(50): time.sleep(.001)\n"
        "more = threading.Thread(target=work); more.start(); work(); more.join()"
    )
    parent = (
        f"import subprocess, sys\nc = [sys.executable, '-c', {child!r}]\n"
        "[p.wait() for p in [subprocess.Popen(c), subprocess.Popen(c)]]"
    )
    group = kinds.group("a")
    kinds.start([sys.executable, "-c", parent], group=group).wait(limit_s=30)
    totals = kinds.totals(group)
    if totals.complete:
        assert totals.tasks == 5
    assert 200 <= totals.voluntary < 400
    assert totals.run_s > 0.02


def test_without_exit_records_the_account_is_what_was_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A user who may not listen: switches come from waiting, run delay is not complete."""
    monkeypatch.setattr(taskstats.ExitRecords, "open", classmethod(lambda *_: None))
    with Host.open() as opened:
        group = opened.group("a")
        opened.start([sys.executable, "-c", SLEEPS], group=group).wait(limit_s=30)
        totals = opened.totals(group)
        assert not totals.complete
        assert totals.voluntary >= 50


def test_without_exit_records_the_time_of_the_ended_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A server that lives on, with a thread and a child that have ended, and a client that has."""
    monkeypatch.setattr(taskstats.ExitRecords, "open", classmethod(lambda *_: None))
    spin = (
        "import time\ndef spin():\n    t = time.thread_time() + .2\n"
        "    while time.thread_time() < t: pass\n"
    )
    child = f"{spin}spin()"
    server = (
        f"{spin}import subprocess, sys, threading\n"
        "thread = threading.Thread(target=spin); thread.start(); thread.join()\n"
        f"subprocess.run([sys.executable, '-c', {child!r}])\n"
        "print('done', flush=True); time.sleep(60)"
    )
    with Host.open(prefer="none") as opened, tempfile.TemporaryDirectory() as name:
        out = Path(name, "out")
        group = opened.group("a")
        opened.start([sys.executable, "-c", server], group=group, stdout=out)
        opened.start([sys.executable, "-c", child], group=group).wait(limit_s=30)
        until = time.monotonic() + 30
        while b"done" not in out.read_bytes() and time.monotonic() < until:
            time.sleep(0.02)
        totals = opened.totals(group)
    assert 0.6 <= totals.run_s <= 1.0


def test_a_late_process_is_told_and_ended(tmp_path: Path) -> None:
    with Host.open() as opened:
        process = opened.start(
            [sys.executable, "-uc", "print('still loading'); import time; time.sleep(60)"],
            stdout=tmp_path / "out",
        )
        with pytest.raises(MeasureError, match=r"within 1 s: it printed: still loading"):
            process.wait(limit_s=1.0)
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
        process.wait(limit_s=10)
    words = (tmp_path / "out").read_text().splitlines()
    names = {word.partition("=")[0] for word in words[:-1]}
    assert names - {"PWD", "_", "SHLVL", "OLDPWD"} == {"PATH", "LC_ALL", "TZ", "OWN"}
    assert words[-1] == "fed"


def test_ctrl_c_of_the_terminal_does_not_reach_the_tools(tmp_path: Path) -> None:
    with Host.open() as opened:
        process = opened.start(["/bin/sh", "-c", "ps -o sid= -p $$"], stdout=tmp_path / "out")
        process.wait(limit_s=10)
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
            opened.start(["/bin/sh", "-c", "while :; do :; done"], group=group)
        time.sleep(0.2)
        before = [group.usage() for group in groups]
        time.sleep(2.0)
        heavy, light = (
            group.usage().since(first).total_s for group, first in zip(groups, before, strict=True)
        )
    assert heavy / (heavy + light) == pytest.approx(0.8, abs=0.06)


def test_a_live_quota_is_held() -> None:
    with Host.open() as opened:
        if "quota" not in opened.groups.can:
            pytest.skip(f"no quota can be set on this host: {opened.groups.why_not}")
        group = opened.group("a", Setting(quota=0.2, period_us=20_000))
        opened.start(["/bin/sh", "-c", "while :; do :; done"], group=group)
        time.sleep(2.0)
        used = group.usage()
    assert used.total_s <= 0.2 * 2.0 * 1.15
    assert used.throttled_periods > 0


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
    monkeypatch.setattr(gate, "_now", lambda _: next(moments))
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    quiet = gate.Watch(object()).done()  # type: ignore[arg-type]
    assert quiet.foreign == pytest.approx(6.0 / 40.0)
    assert quiet.steal == pytest.approx(0.4 / 40.0)
    assert (quiet.busy_s, quiet.own_s, quiet.kernel_s) == (20.0, 12.0, 2.0)
    assert quiet.swapped_pages == 1


def test_a_loop_of_ours_is_our_own() -> None:
    with Host.open() as opened:
        watch = opened.gate.watch()
        group = opened.group("a")
        loop = opened.start(["/bin/sh", "-c", "while :; do :; done"], group=group)
        time.sleep(1.0)
        quiet = watch.done()
        used = opened.totals(group).run_s
        loop.end(patience_s=0)
    assert used > 0.1
    assert used * 0.9 <= quiet.own_s <= used * 1.1 + 0.2


def test_time_that_is_not_idle(tmp_path: Path) -> None:
    ticks = os.sysconf("SC_CLK_TCK")
    up = time.clock_gettime(time.CLOCK_BOOTTIME) * (os.cpu_count() or 1)
    idle, waiting, stolen = 100 * ticks, 50 * ticks, 3 * ticks
    (tmp_path / "stat").write_text(f"cpu 1 2 3 {idle} {waiting} 4 5 {stolen} 0 0\ncpu0 1\n")
    busy, steal = not_idle(tmp_path / "stat")
    assert steal == 3.0
    assert busy == pytest.approx(up - 153.0, abs=0.5)


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
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert listening(port)
    assert not listening(port)


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
    monkeypatch.setattr("homenode.measure.host.counters._perf_event_open", lambda *_: None)
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
    import socket

    from homenode.measure.host.network import wait_for_port

    with Host.open(prefer="none") as opened, socket.create_server(("127.0.0.1", 0)) as other:
        server = opened.start([sys.executable, "-c", "raise SystemExit('address in use')"])
        while server.alive():
            time.sleep(0.01)
        with pytest.raises(MeasureError, match="something else listens"):
            wait_for_port(other.getsockname()[1], limit_s=5, pid="self", of=server)
