"""Sessions with a tool of our own: real processes, groups where the host has them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import fake_adapter
import pytest
from able import needs_groups_that_can, own_processors
from fake_adapter import SPIN, row, write_suite
from waiting import LIMIT_S, until

from homenode.hosts import session
from homenode.hosts.errors import MeasureError
from homenode.hosts.live import gate, host
from homenode.hosts.live.cgroups import gone
from homenode.hosts.run_suite import Kept, run_suite
from homenode.hosts.session import Options
from homenode.hosts.settings import System, parse

LOOSE = Options(foreign_limit=None)
LISTEN = (
    "import socket, sys\ns = socket.create_server(('127.0.0.1', int(sys.argv[1])))\n"
    "while True: s.accept()"
)


@pytest.fixture(autouse=True)
def fake(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    disk = tmp_path_factory.mktemp("disk")
    monkeypatch.setattr(session, "_ON_DISK", disk)
    fake_adapter.register(monkeypatch)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    yield
    assert not list(disk.iterdir())


def measure(tmp_path: Path, *rows: str, options: Options = LOOSE) -> Kept:
    suite = write_suite(tmp_path, *rows)
    return run_suite(str(suite), options=options, out=tmp_path / "r.json")


def test_a_session_leaves_a_record_a_repetition(tmp_path: Path) -> None:
    kept = measure(tmp_path, row("one", "print(10)"), row("two", "print(20)"))
    records = kept.result.records
    assert not kept.result.failures
    assert [(r.case, r.replicate, r.order) for r in records] == [
        ("fake/one", 0, 0),
        ("fake/two", 0, 1),
        ("fake/two", 1, 2),
        ("fake/one", 1, 3),
    ]
    assert all(r.rejected is None and r.cpu is not None for r in records)
    assert kept.result.versions["fake"].startswith("Python 3")
    assert kept.result.finished >= kept.result.started
    names = {file.name for file in tmp_path.iterdir()}
    assert names == {"r.json", "r.raw", "fakes.toml", "cache"}
    raw = (kept.raw / f"fake-one-{records[0].processors}-host-0").iterdir()
    assert "10\n" in [file.read_text() for file in raw]


def test_processor_time_is_what_was_used(tmp_path: Path) -> None:
    """The tool spins for 0.3 CPU seconds, and says what it had used in all near its end."""
    note = tmp_path / "used"
    code = f"{SPIN.format(0.3)}\nopen({str(note)!r}, 'w').write(str(time.process_time()))"
    (record,) = measure(tmp_path, row("spin", code, "repeats = 1")).result.records
    assert record.cpu is not None
    told = float(note.read_text())
    assert told >= 0.3
    # What comes before it is in its group, or a tick that is not charged yet; its end on top.
    assert told - 0.03 <= record.cpu.total <= told + 0.25
    if record.cpu.user is not None and record.cpu.system is not None:
        assert record.cpu.user + record.cpu.system == pytest.approx(record.cpu.total, rel=0.01)


def test_servers_have_an_account_of_their_own_and_do_not_survive(tmp_path: Path) -> None:
    server = LISTEN.replace("s = ", "import os; open('/proc/self/comm').read(); s = ")
    kept = measure(tmp_path, row("served", SPIN.format(0.1), "repeats = 1", server=server))
    (record,) = kept.result.records
    assert record.cpu is not None
    if "roles" in kept.result.environment["cgroups"]["can"]:
        assert set(record.cpu.by_role) == {"server", "client"}
        assert record.cpu.by_role["client"] > 0.09 > record.cpu.by_role["server"]
        assert sum(record.cpu.by_role.values()) == pytest.approx(record.cpu.total, rel=0.05)


def test_a_process_that_runs_away_is_ended(tmp_path: Path) -> None:
    """It leaves its parent, its session and its process group."""
    note = tmp_path / "pid"
    away = (
        "import os, sys, time\n"
        "if os.fork(): print(1); sys.exit()\n"
        "os.setsid()\n"
        f"if os.fork(): os._exit(0)\nopen({str(note)!r}, 'w').write(str(os.getpid()))\n"
        "time.sleep(60)"
    )
    client = f"import os, time\nwhile not os.path.exists({str(note)!r}): time.sleep(.01)\nprint(1)"
    code = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {away!r}])\n{client}"
    measure(tmp_path, row("away", code, "repeats = 1"))
    assert gone(int(note.read_text()))


@pytest.mark.parametrize("kind", ["v1", "v2", "none"])
def test_nothing_runs_on_with_any_kind_of_groups(tmp_path: Path, kind: str) -> None:
    from homenode.hosts.live import Host

    note = tmp_path / "pid"
    code = (
        "import os, time; os.setsid() if os.fork() == 0 else os._exit(0)\n"
        f"open({str(note)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    )
    with Host.open(prefer=kind) as opened:
        if opened.groups.kind != kind:
            pytest.skip(f"this host has no control groups of {kind} for us")
        group = opened.group("a")
        opened.start([sys.executable, "-c", code], group=group).wait(limit_s=LIMIT_S)
        until(lambda: note.exists() and note.read_text(), "the id of the one that left")
        opened.end(group)
        assert gone(int(note.read_text()))


def test_a_tool_that_dies_leaves_the_others(tmp_path: Path) -> None:
    dies = "import sys; sys.stderr.write('no such engine'); sys.exit(3)"
    kept = measure(tmp_path, row("dies", dies, "repeats = 5"), row("lives", "print(1)"))
    assert [r.case for r in kept.result.records] == ["fake/lives"] * 2
    # Left after two failures.
    assert [f["replicate"] for f in kept.result.failures] == [0, 1]
    assert "ended with code 3" in kept.result.failures[0]["why"]
    assert "it printed: no such engine" in kept.result.failures[0]["why"]


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("print('garbage')", "printed no number"),
        ("pass", "printed no number"),
        ("print('nan')", "make no sense"),
        ("print(-5)", "make no sense"),
        ("import os; os.kill(os.getpid(), 9)", "signal 9"),
    ],
)
def test_what_tools_do_wrong_is_told(tmp_path: Path, code: str, why: str) -> None:
    with pytest.raises(MeasureError, match=why):
        measure(tmp_path, row("wrong", code, "repeats = 1"))
    assert not (tmp_path / "r.json").exists()
    # What the tool said is all there is to go by.
    assert [path.name[:9] for path in tmp_path.glob("*.raw")] == ["r-failed-"]
    assert not list(tmp_path.glob(".r*"))


def test_a_tool_that_is_late_is_ended(tmp_path: Path) -> None:
    with pytest.raises(MeasureError, match=r"did not end within 0\.5 s"):
        measure(tmp_path, row("late", "import time; time.sleep(60)", "repeats = 1", limit=0.5))


def test_a_server_that_dies_is_told_at_once(tmp_path: Path) -> None:
    """It is not waited for until the port's own limit, which has other words."""
    server = "import sys; sys.exit('the port is taken')"
    with pytest.raises(MeasureError, match=r"before it listened.*the port is taken"):
        measure(tmp_path, row("dead", "print(1)", "repeats = 1", server=server))


def test_what_is_missing_is_left_out_with_its_package(tmp_path: Path) -> None:
    kept = measure(
        tmp_path,
        row("tool", "print(1)", needs="no-such-tool"),
        row("plug", "print(1)", needs="no-such-tool", plug_in=True),
        row("disk", "print(1)", disk_bytes=1 << 60),
        row("memory", "print(1)", memory_bytes=1 << 60),
        row("fine", "print(1)"),
    )
    why = {left["case"]: left["why"] for left in kept.result.left_out}
    assert "apt-get install --no-install-recommends no-such-tool-package" in why["fake/tool"]
    assert why["fake/plug"].startswith("optional plug-in")
    assert "1073741824.0 GiB of disk" in why["fake/disk"]
    assert "of memory" in why["fake/memory"]
    assert {r.case for r in kept.result.records} == {"fake/fine"}


def test_a_case_that_was_named_must_be_there(tmp_path: Path) -> None:
    rows = (row("tool", "print(1)", needs="no-such-tool"), row("fine", "print(1)"))
    options = Options(only=("fake/tool",), foreign_limit=None)
    with pytest.raises(
        MeasureError, match=r"fake/tool cannot be run here: no-such-tool is missing"
    ):
        measure(tmp_path, *rows, options=options)
    assert not list(tmp_path.glob("*.json"))


def test_disturbed_repetitions_are_repeated_and_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shares = iter([0.5, 0.0, 0.5, 0.5])

    class Disturbed(gate.Watch):
        def done(self) -> gate.Quiet:
            return gate.Quiet(1.0, 1.0, 0.0, 0.0, next(shares), 0.0, 0)

    monkeypatch.setattr(gate.Gate, "wait_quiet", lambda *_, **__: True)
    monkeypatch.setattr(gate.Gate, "watch", lambda self: Disturbed(self._now))
    kept = measure(
        tmp_path,
        row("one", "print(1)"),
        options=Options(foreign_limit=0.03, retries=1),
    )
    assert [(r.replicate, r.rejected is not None) for r in kept.result.records] == [
        (0, True),
        (0, False),
        (1, True),
        (1, True),
    ]
    assert kept.result.records[0].rejected == "others used 50.0 % of the host (limit 3 %)"
    assert len(kept.result.used()) == 1


def test_a_session_of_which_nothing_counts_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After twenty repetitions that the gate has thrown out it says why and does no more."""

    class Stolen(gate.Watch):
        def done(self) -> gate.Quiet:
            return gate.Quiet(1.0, 1.0, 0.0, 0.0, 0.0, 0.04, 0)

    monkeypatch.setattr(gate.Gate, "wait_quiet", lambda *_, **__: True)
    monkeypatch.setattr(gate.Gate, "watch", lambda self: Stolen(self._now))
    many = Options(repeats=24, retries=0)
    result = measure(tmp_path, row("one", "print(1)"), options=many).result
    assert len(result.records) == 20
    assert result.stopped == (
        "the gate has thrown out each of the first 20 repetitions: "
        "the host's hypervisor stole 4.0 % (limit 1 %)"
    )
    more = Options(repeats=24, retries=0, steal_limit=0.05)
    result = measure(tmp_path, row("one", "print(1)"), options=more).result
    assert len(result.used()) == 24
    assert result.settings["gate"] == {"foreign_limit": 0.03, "steal_limit": 0.05}


def test_patience_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a host that is never quiet a session waits so long in all, then takes what comes."""

    class Disturbed(gate.Watch):
        def done(self) -> gate.Quiet:
            return gate.Quiet(1.0, 1.0, 0.0, 0.0, 0.5, 0.0, 0)

    waited: list[float] = []

    def wait(_self: object, limit_s: float, **_: object) -> bool:
        waited.append(limit_s)
        time.sleep(limit_s)
        return False

    monkeypatch.setattr(gate.Gate, "wait_quiet", wait)
    monkeypatch.setattr(gate.Gate, "watch", lambda self: Disturbed(self._now))
    kept = measure(
        tmp_path,
        row("one", "print(1)", "repeats = 8"),
        options=Options(wait_quiet_s=0.2, patience_s=0.5, retries=1),
    )
    # Each wait is as long as the patience that is left, and patience goes on all that it costs.
    assert waited[0] == 0.2
    assert sum(waited) <= 0.5 + 1e-6
    assert {r.rejected is not None for r in kept.result.records} == {True}
    assert {r.replicate for r in kept.result.records} == set(range(8))
    assert len(kept.result.records) < 16


def test_an_account_that_covers_more_than_was_measured_is_not_used(tmp_path: Path) -> None:
    (record,) = measure(
        tmp_path, row("loose", SPIN.format(0.2), "repeats = 1", loose=True)
    ).result.records
    assert record.cpu is None
    assert "the tool measured 0.001 s" in record.details["cpu_unknown"]


def test_an_account_that_began_late_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured = fake_adapter.Fake.measure

    def longer(*given: object, **named: object) -> object:
        output = measured(*given, **named)  # type: ignore[arg-type]
        return replace(output, seconds=output.seconds * 1000)

    monkeypatch.setattr(fake_adapter.Fake, "measure", longer)
    (record,) = measure(tmp_path, row("late", SPIN.format(0.2), "repeats = 1")).result.records
    assert record.cpu is None
    assert "that the tool measured" in record.details["cpu_unknown"]


def test_a_suites_number_of_processors_gives_way_to_the_sides_own(tmp_path: Path) -> None:
    needs_groups_that_can("cpuset")
    cpu = own_processors()[0]
    suite = str(write_suite(tmp_path, row("one", "print(1)", "processors = [900]")))
    kept = run_suite(suite, [parse("a", f"cpus={cpu}")], LOOSE, out=tmp_path / "r.json")
    assert {r.processors for r in kept.result.records} == {1}


def test_the_command_lies_beside_its_outputs(tmp_path: Path) -> None:
    kept = measure(tmp_path, row("one", "print(1 + 1)", "repeats = 1"))
    (record,) = kept.result.records
    folder = kept.raw / f"fake-one-{record.processors}-host-0"
    (command,) = folder.glob("*.cmd")
    done = subprocess.run(["/bin/sh", command], capture_output=True, check=True)
    assert done.stdout == b"2\n"


def test_two_settings_in_turns(tmp_path: Path) -> None:
    code = "import os; print(int(os.environ.get('SIDE', 5)))"
    suite = write_suite(tmp_path, row("one", code), defaults="repeats = 4\nseconds = 0.1")
    switch = f"""switch='echo x >> "{tmp_path}/switched"'"""
    systems = [parse("a", "env=SIDE=1"), parse("b", switch)]
    kept = run_suite(str(suite), systems, LOOSE, out=tmp_path / "ab.json")
    by_system = {s: [r for r in kept.result.records if r.system == s] for s in "ab"}
    assert {r.work for r in by_system["a"]} == {1.0}
    assert {r.work for r in by_system["b"]} == {5.0}
    assert [r.replicate for r in by_system["b"]] == [0, 1, 2, 3]
    order = "".join(r.system for r in sorted(kept.result.records, key=lambda r: r.order))
    assert order[:4] in {"abba", "baab"}
    assert (tmp_path / "switched").read_text().count("x") == 4
    assert kept.result.systems["a"]["env"] == {"SIDE": "1"}


def test_a_quota_is_held_and_told(tmp_path: Path) -> None:
    needs_groups_that_can("quota")
    suite = write_suite(tmp_path, row("spin", SPIN.format(0.5), "repeats = 1"))
    systems = [parse("a", "quota=0.25 period=20ms")]
    (record,) = run_suite(str(suite), systems, LOOSE, out=tmp_path / "r.json").result.records
    # Half a second of work at a quarter of a processor.
    assert record.seconds > 1.5
    assert record.cpu is not None
    assert record.throttled_s is not None
    lasted = float(str(record.details["account_seconds"]))
    # Periods are not aligned with the account: one more than fit in.
    assert record.cpu.total <= 0.25 * (lasted + 0.02) * 1.15
    # A group that others keep from its processor does not come to its quota.
    if record.cpu.total > 0.9 * 0.25 * lasted:
        assert record.throttled_s > 0
        assert record.details["throttled_periods"] > 0


def test_a_scaling_set_allows_so_many_processors(tmp_path: Path) -> None:
    code = "import os; print(len(os.sched_getaffinity(0)))"
    most = len(own_processors())
    counts = tuple({1, most})
    kept = measure(
        tmp_path, row("scale", code), options=Options(processors=counts, foreign_limit=None)
    )
    assert {(r.processors, r.work) for r in kept.result.records} == {(n, float(n)) for n in counts}
    with pytest.raises(MeasureError, match=f"{most + 1} logical processors are asked"):
        measure(tmp_path, row("scale", code), options=Options(processors=(most + 1,)))


def test_sides_of_different_size_use_their_own_processors(tmp_path: Path) -> None:
    cpus = own_processors()
    if len(cpus) < 2:
        pytest.skip("this host has one processor: two sides cannot differ in it")
    needs_groups_that_can("cpuset")
    code = "import os; print(len(os.sched_getaffinity(0)))"
    suite = write_suite(tmp_path, row("one", code), defaults="repeats = 1\nseconds = 0.1")
    systems = [parse("a", f"cpus={cpus[0]}"), parse("b", f"cpus={cpus[0]},{cpus[1]}")]
    kept = run_suite(str(suite), systems, LOOSE, out=tmp_path / "ab.json")
    assert {(r.system, r.processors, r.work) for r in kept.result.records} == {
        ("a", 1, 1.0),
        ("b", 2, 2.0),
    }


def test_a_namespace_has_only_loopback(tmp_path: Path) -> None:
    code = (
        "import socket; names = [n for _, n in socket.if_nameindex()]; assert names == ['lo']\n"
        "socket.create_connection(('127.0.0.1', 21000)).close(); print(1)"
    )
    try:
        kept = measure(tmp_path, row("net", code, "repeats = 1", server=LISTEN, net=True))
    except MeasureError as error:
        if "no network namespace" in str(error):
            pytest.skip(str(error))
        raise
    assert len(kept.result.records) == 1


def test_warm_up_leaves_no_record(tmp_path: Path) -> None:
    note = tmp_path / "count"
    code = f"open({str(note)!r}, 'a').write('x'); print(1)"
    kept = measure(tmp_path, row("one", code, "warm_up = true"))
    assert len(kept.result.records) == 2
    assert note.read_text() == "xxx"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_ctrl_c_keeps_what_is_finished(tmp_path: Path, number: signal.Signals) -> None:
    """As a user meets it: a command line of its own, and a signal in the third repetition."""
    note = tmp_path / "count"
    code = (
        f"import os, time; open({str(note)!r}, 'a').write('x')\n"
        f"time.sleep(600 if os.path.getsize({str(note)!r}) > 2 else 0); print(1)"
    )
    suite = write_suite(tmp_path, row("one", code, "repeats = 9"))
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from homenode.hosts.adapters import registry\n"
        "registry.ADAPTERS['fake'] = 'fake_adapter:Fake'\n"
        "from homenode.cli import call\n"
        f"sys.exit(call(['measure', {str(suite)!r}, '--gate', 'off', '-o', 'r.json']))"
    )
    here = str(Path(__file__).parent)
    with subprocess.Popen(
        [sys.executable, "-c", script, here],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as running:
        try:
            until(
                lambda: running.poll() is not None or (note.exists() and note.stat().st_size == 3),
                "the third repetition",
            )
            running.send_signal(number)
            _, told = running.communicate(timeout=LIMIT_S)
        finally:
            running.kill()
    assert running.returncode == 128 + number
    assert "interrupted: 2 repetitions, kept in r.json" in told
    data = json.loads((tmp_path / "r.json").read_text())
    assert data["interrupted"]
    assert len(data["records"]) == 2
    assert not list(tmp_path.glob(".r*"))


def test_systems_are_refused_before_anything_starts(tmp_path: Path) -> None:
    needs_groups_that_can("cpuset")
    suite = write_suite(tmp_path, row("one", "print(1)"))
    few = host.allowed()
    system = System("a", setting=parse("a", f"cpus={few[0]}").setting)
    options = Options(processors=(len(few) + 1,), foreign_limit=None)
    with pytest.raises(MeasureError, match="logical processors are asked"):
        run_suite(str(suite), [system], options, out=tmp_path / "r.json")
    with pytest.raises(MeasureError, match="system b asks for processors 900-901"):
        run_suite(str(suite), [parse("b", "cpus=900,901")], LOOSE, out=tmp_path / "r.json")


def test_another_kind_of_file_is_refused_before_anything_starts(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, row("one", "print(1)"))
    with pytest.raises(MeasureError, match=r"ends in \.json"):
        run_suite(str(suite), out=tmp_path / "r.txt")


def test_a_fault_of_an_adapter_costs_its_case_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parse = fake_adapter.Fake.parse

    def faulty(self: fake_adapter.Fake, case: object, text: bytes) -> object:
        if b"bad" in text:
            raise KeyError("iops")
        return parse(self, case, text)  # type: ignore[arg-type]

    monkeypatch.setattr(fake_adapter.Fake, "parse", faulty)
    kept = measure(tmp_path, row("bad", "print('bad')"), row("good", "print(1)"))
    assert [f["why"] for f in kept.result.failures] == ["KeyError: 'iops'"] * 2
    assert [r.case for r in kept.result.records] == ["fake/good"] * 2
