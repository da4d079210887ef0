"""A suite on a host and in its virtual machines: whose process is which, what it took when, and
the table of it. Agents on this machine stand in for guests; what is started is ended by its id.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from made_records import result, runs
from peering import HOMENODE, agent, suite, working_in
from waiting import LIMIT_S, until

from homenode.hosts.errors import MeasureError
from homenode.hosts.live.cgroups import gone
from homenode.hosts.live.machines import Used, Watched, helpers_of, process_of, used
from homenode.hosts.peer.guests import Guest, systems_of
from homenode.hosts.peer.transport import Way
from homenode.hosts.record import RunRecord
from homenode.hosts.reduce import cells_of
from homenode.hosts.reduce.guests import guests_of
from homenode.hosts.result import load
from homenode.report.hosts import sentences, tables

Command = Callable[..., subprocess.CompletedProcess[str]]
STAT = (
    "{pid} (qemu (x) system) S 1 1 1 0 -1 0 0 0 0 0 {user} {system} 0 0 20 0 4 0 1 1 1 "
    "0 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 {guest} 0 0 0 0 0 0 0 0 0\n"
)


def process(proc: Path, pid: int, words: list[str], name: str = "qemu", **times: int) -> None:
    """One as `/proc` tells it, times in ticks."""
    folder = proc / str(pid)
    folder.mkdir(parents=True)
    (folder / "cmdline").write_text("\0".join(words) + "\0")
    (folder / "comm").write_text(name + "\n")
    given = {"user": 0, "system": 0, "guest": 0, **times}
    (folder / "stat").write_text(STAT.format(pid=pid, **given))


def test_a_machine_is_found_by_the_name_that_its_hypervisor_gives_it(tmp_path: Path) -> None:
    process(tmp_path, 10, ["qemu-system-x86_64", "-name", "guest=db1,debug-threads=on", "-m", "1"])
    process(tmp_path, 11, ["qemu-system-x86_64", "-name", "db2"])
    process(tmp_path, 12, ["vi", "db3"])
    assert [process_of(f"db{n}", tmp_path) for n in (1, 2, 3)] == [10, 11, None]


def test_who_started_a_machine_is_not_taken_for_it(tmp_path: Path) -> None:
    words = ["qemu-system-x86_64", "-name", "db1"]
    process(tmp_path, 10, ["sudo", *words], "sudo", user=1)
    process(tmp_path, 11, words, user=900)
    process(tmp_path, 12, ["find", "/", *words[1:]], "find", system=5)
    assert process_of("db1", tmp_path) == 11


def test_what_a_machine_takes_has_its_helpers_and_its_time_in_the_guest(tmp_path: Path) -> None:
    process(tmp_path, 10, ["qemu"], user=900, system=100, guest=800)
    process(tmp_path, 20, [], "vhost-10", system=50)
    process(tmp_path, 21, [], "vhost-100", system=70)
    assert helpers_of(10, tmp_path) == (20,)
    found = used((10, 20), tmp_path)
    assert found is not None
    assert found.total_s / found.in_guest_s == pytest.approx(1050 / 800)
    assert used((10, 99), tmp_path) is None


def test_any_stretch_of_the_watched_time_can_be_asked_for(tmp_path: Path) -> None:
    watched = Watched({}, tmp_path)
    watched._read["db"] = [Used(0.0, 5.0, 1.0), Used(1.0, 6.0, 1.5), Used(2.0, 9.0, 3.5)]
    assert watched.between("db", 0.5, 1.5) == pytest.approx((2.0, 1.25))
    assert watched.between("db", 0.0, 1.0) == pytest.approx((1.0, 0.5))
    # Beyond what was read nothing is known, nor of machines that nobody watched.
    assert watched.between("db", 1.5, 2.5) is None
    assert watched.between("web", 0.0, 1.0) is None


def record(run: RunRecord, real_s: float | None, virtual_s: float, beside: float) -> RunRecord:
    guest = {"real_s": real_s, "in_guest_s": None, "virtual_s": virtual_s, "beside_share": beside}
    return replace(run, details={"guest": guest})


def test_real_over_virtual_by_guest_and_in_all() -> None:
    """Two guests that do a third of the host's work each, at 3 and at 1 s of its time for 2 s that
    they count.
    """
    alone = runs([300.0, 300.0], system="host")
    one = [record(run, 3.0, 2.0, 1.0) for run in runs([100.0, 100.0], system="g1")]
    two = [record(run, 1.0, 2.0, 0.8) for run in runs([100.0, 100.0], system="g2")]
    made = result([*alone, *one, *two])
    (found,) = guests_of(cells_of(made.records))
    figures = {guest.name: guest for guest in (*found.guests, found.together)}
    assert figures.keys() == {"g1", "g2", "all"}
    assert figures["g1"].of_the_host == pytest.approx(1 / 3)
    assert figures["all"].of_the_host == pytest.approx(2 / 3)
    shares = [figures[name].real_over_virtual for name in ("g1", "g2", "all")]
    assert shares == pytest.approx([1.5, 0.5, 1.0])
    work = one[0].work
    assert figures["all"].real_us == pytest.approx(1e6 * 4.0 / (2 * work))
    assert any(table.title == "Real over virtual" for table in tables(made))
    said = " ".join(sentences(made))
    assert "g2: less than 90 %" in said
    assert "is not known" not in said


def test_a_guest_whose_process_is_not_found_is_named() -> None:
    inside = [record(run, None, 2.0, 1.0) for run in runs([100.0], system="g1")]
    made = result([*runs([300.0], system="host"), *inside])
    (found,) = guests_of(cells_of(made.records))
    assert found.guests[0].real_over_virtual is None
    assert "Real time of g1 is not known" in " ".join(sentences(made))


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("host", "g1"), "cannot be named"),
        (("g1", "g1"), "cannot be named"),
        (("g1", " g1"), "cannot be named"),
        (("guests",), "cannot be named"),
        (("g" * 61,), "write up to 60 letters"),
    ],
)
def test_guests_can_be_told_apart(names: tuple[str, ...], said: str) -> None:
    with pytest.raises(MeasureError, match=said):
        systems_of([Guest(name, Way("x")) for name in names])


def test_a_case_runs_on_the_host_and_in_all_guests(command: Command, tmp_path: Path) -> None:
    """Agents here in place of guests; for one of them a process of its name that takes time."""
    shared = suite(tmp_path, parameters="load = 1", repeats=2, seconds=0.5)
    words = []
    with ExitStack() as here:
        for name in ("g1", "g2"):
            folder = tmp_path / name
            folder.mkdir()
            (folder / "token").write_text("held-by-both" * 4)
            (folder / "token").chmod(0o600)
            words.append(f"--guest={name}={here.enter_context(agent(folder)).place}")
        burn = [sys.executable, "-c", "while True: pass", "-name", "guest=g2"]
        machine = subprocess.Popen(burn)
        here.callback(machine.wait)
        here.callback(machine.kill)
        given = [*words, "--token-file", tmp_path / "g1" / "token", "--gate", "off"]
        done = command("measure", "guests", shared, *given, "-o", tmp_path / "r.json", "--json")
    assert done.returncode == 0, done.stderr
    made = load(tmp_path / "r.json")
    assert [run.system for run in made.records].count("host") == 2
    inside = [run for run in made.records if run.system == "g2"]
    assert len(inside) == 2
    for run in inside:
        told = run.details["guest"]
        assert isinstance(told, dict)
        assert told["real_s"] > 0.0
        assert told["virtual_s"] > 0.0
        assert 0.0 <= told["beside_share"] <= 1.0
    assert made.settings["guests"] == ["g1", "g2"]
    assert [made.systems[name]["process_found"] for name in ("g1", "g2")] == [False, True]
    (shown,) = json.loads(done.stdout)["guests"]
    assert [one["name"] for one in shown["guests"]] == ["g1", "g2"]
    assert shown["guests"][1]["real_over_virtual"] > 0.0
    assert shown["together"]["real_us"] is None
    assert list((tmp_path / "r.raw").glob("*g2-0-0*"))


def test_ctrl_c_ends_the_host_s_session_and_the_guests_repetitions(tmp_path: Path) -> None:
    with agent(tmp_path) as there:
        shared = suite(tmp_path, parameters="load = 1", seconds=600.0)
        given = [f"--guest=g1={there.place}", "--token-file", str(there.token), "--gate", "off"]
        words = [*HOMENODE, "measure", "guests", str(shared), *given, "--seed", "3"]
        process = subprocess.Popen([*words, "-o", str(tmp_path / "r.json")], stderr=subprocess.PIPE)
        # Whoever has the first turn works for ten minutes: the guest, with this seed.
        until(lambda: bool(working_in(there.folder)), "a repetition in the guest")
        inside = working_in(there.folder)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=LIMIT_S)
        assert process.returncode == 130
        assert b"Traceback" not in said
        until(lambda: all(map(gone, inside)), "the end of what ran in the guest")
        until(lambda: not list(there.folder.iterdir()), "the end of its folder")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--guest", "g1"], "names no guest"),
        (["--guest", "=x"], "names no guest"),
        (["--guest", "host=x"], "cannot be named 'host'"),
        (["--guest", "g=x", "--ssh", "no-such-ssh"], "cannot be started"),
        ([], "--guest"),
    ],
)
def test_words_that_name_no_guest(
    words: list[str], said: str, command: Command, tmp_path: Path
) -> None:
    done = command("measure", "guests", suite(tmp_path), *words)
    assert done.returncode == 2
    assert said in done.stderr
