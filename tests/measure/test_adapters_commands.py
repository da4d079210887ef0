"""What the adapters start, in which order, and what of it is counted; without the tools."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from scripted import Answer, ScriptedBench, ScriptedClock

from homenode.hosts.adapter import Finished, Output
from homenode.hosts.adapters.integer.programs import PROGRAMS
from homenode.hosts.adapters.jmh import archives
from homenode.hosts.adapters.registry import adapter
from homenode.hosts.errors import MeasureError

SAMPLES = Path(__file__).parent / "samples"
Given = dict[str, str | int | float | bool]


def recorded(tool: str, file: str) -> bytes:
    return (SAMPLES / tool / file).read_bytes()


def python() -> str:
    import sys

    return Path(sys.executable).name


LOADING_S = 0.42
"""What a kernel's process is given to load, and its accounts to be read."""


def bench_of_kernels(
    tmp_path: Path, text: bytes, late_s: Sequence[float] = (0.0,)
) -> ScriptedBench:
    """By its clock the kernel begins so much later than it should, one figure for each run."""
    told = json.loads(text)
    runs = [told | {"start_ns": told["start_ns"] + int(late * 1e9)} for late in late_s]
    answers = {python(): [Answer(json.dumps(run).encode()) for run in runs]}
    clock = ScriptedClock(told["start_ns"] / 1e9 - LOADING_S)
    return ScriptedBench(tmp_path, answers, clock=clock)


def getpid(bench: ScriptedBench) -> Output:
    one = adapter("kernels")
    return one.measure(one.case("getpid", {}), bench, seconds=0.05)


def words(call: Sequence[str]) -> list[str]:
    return list(call)


def test_a_kernel_is_loaded_before_the_accounts_begin(tmp_path: Path) -> None:
    bench = bench_of_kernels(tmp_path, recorded("kernels", "context-4.json"))
    one = adapter("kernels")
    case = one.case("ring", {"kernel": "context", "load": 4})
    one.measure(case, bench, seconds=0.05)
    (call,) = bench.calls
    assert call.argv[1:4] == ("-m", "homenode.hosts.kernels", "context")
    # It measures the pipe alone first, and itself begins the ring at its start.
    told = json.loads(call.argv[4])
    assert told.pop("start_ns") > 0
    assert told == {"seconds": 0.05, "processes": 4}
    assert bench.marks == [("measuring", 1), ("measured", 1)]


def test_buffers_are_made_before_the_accounts_begin(tmp_path: Path) -> None:
    bench = bench_of_kernels(tmp_path, recorded("kernels", "copy-1m-2.json"))
    one = adapter("kernels")
    given: Given = {"kernel": "memory", "operation": "copy", "bytes": 1 << 20, "load": 2}
    one.measure(one.case("copy", given), bench, seconds=0.05)
    (call,) = bench.calls
    told = json.loads(call.argv[4])
    assert told.pop("start_ns") > 0
    assert told == {
        "seconds": 0.05,
        "operation": "copy",
        "bytes": 1 << 20,
        "offset": 0,
        "pages": "small",
        "threads": 2,
    }
    assert len(call.argv) == 5


@pytest.mark.parametrize("up_s", [1.0, 60.0, 1e9])
def test_how_long_a_host_has_been_up_says_nothing(tmp_path: Path, up_s: float) -> None:
    """A kernel that begins in time is run once, whatever its host's clock shows."""
    told = json.loads(recorded("kernels", "getpid.json")) | {"start_ns": int(up_s * 1e9)}
    bench = bench_of_kernels(tmp_path, json.dumps(told).encode())
    getpid(bench)
    (call,) = bench.calls
    assert int(call.argv[-1]) == pytest.approx(told["start_ns"], abs=1000)
    assert bench.clock.now_s() < up_s


def test_a_kernel_that_begins_late_is_run_again_with_more_time(tmp_path: Path) -> None:
    bench = bench_of_kernels(tmp_path, recorded("kernels", "getpid.json"), [0.2, 5.0, 1.0])
    began_s = bench.clock.now_s()
    getpid(bench)
    starts = [int(call.argv[-1]) / 1e9 - began_s for call in bench.calls]
    # Four times as long to get ready, then sixteen times, and to read the accounts before it.
    assert starts == pytest.approx([0.42, 0.4 + 1.6 + 0.08, 0.4 + 1.6 + 6.4 + 0.32])
    assert [mark for mark, _ in bench.marks] == ["measuring", "measured"] * 3


def test_a_kernel_that_is_always_late_counts_nothing_of_its_loading(tmp_path: Path) -> None:
    """It was ready and waited for a processor, so what it tells is taken."""
    text = recorded("kernels", "getpid.json")
    bench = bench_of_kernels(tmp_path, text, [1000.0])
    assert getpid(bench).score == json.loads(text)["ns"]
    assert len(bench.calls) == 3


def test_accounts_that_take_long_to_read_begin_sooner_the_next_time(tmp_path: Path) -> None:
    """On a busy host the runner waits for its turn."""
    bench = bench_of_kernels(tmp_path, recorded("kernels", "getpid.json"))
    bench.reading_s = [0.7]
    began_s = bench.clock.now_s()
    getpid(bench)
    starts = [int(call.argv[-1]) / 1e9 - began_s for call in bench.calls]
    assert starts == pytest.approx([0.42, 0.4 + 0.7 + 1.6 + 1.4])


def test_accounts_that_always_begin_after_the_kernel_are_refused(tmp_path: Path) -> None:
    bench = bench_of_kernels(tmp_path, recorded("kernels", "getpid.json"))
    bench.reading_s = [0.5, 5.0, 50.0]
    with pytest.raises(MeasureError, match=r"accounts of getpid began 40 s after it"):
        getpid(bench)
    assert len(bench.calls) == 3


def test_tbench_starts_its_server_first_and_counts_from_the_client_on(tmp_path: Path) -> None:
    answers = {"tbench": [Answer(recorded("tbench", "loopback-2.txt"))]}
    bench = ScriptedBench(tmp_path, answers)
    one = adapter("tbench")
    one.measure(one.case("x", {"load": 2}), bench, seconds=1.0)
    assert [call.program for call in bench.calls] == ["tbench_srv", "tbench"]
    assert bench.listening == 7003
    assert words(bench.calls[1].argv) == ["tbench", "-t", "2", "2", "127.0.0.1"]
    assert bench.marks == [("measuring", 2), ("measured", 2)]


def test_dbench_leaves_nothing_in_memory(tmp_path: Path) -> None:
    bench = ScriptedBench(tmp_path, {"dbench": [Answer(recorded("dbench", "disk-2.txt"))]})
    one = adapter("dbench")
    one.measure(one.case("x", {"load": 2, "on": "memory"}), bench, seconds=0.1)
    (call,) = bench.calls
    assert call.argv[:3] == ("dbench", "-t", "2")
    folder = Path(call.argv[4])
    assert folder.parent == Path("/dev/shm")
    assert not folder.exists()


def test_a_mix_runs_all_its_kinds_at_once(tmp_path: Path) -> None:
    bench = ScriptedBench(tmp_path)
    (bench.folder / "report.yaml").write_bytes(recorded("stressng", "compute-2.yaml"))
    one = adapter("stressng")
    one.measure(one.case("compute", {"load": 2}), bench, seconds=2.2)
    (call,) = bench.timed()
    for kind in ("--cpu", "--fp", "--matrix", "--bsearch", "--qsort"):
        assert call.argv[call.argv.index(kind) + 1] == "2"
    assert call.argv[call.argv.index("--timeout") + 1] == "2s"


def test_a_mix_without_a_report_is_no_measurement(tmp_path: Path) -> None:
    bench = ScriptedBench(tmp_path, {"stress-ng": [Answer(b"", b"aborted")]})
    one = adapter("stressng")
    with pytest.raises(MeasureError, match="aborted"):
        one.measure(one.case("compute", {}), bench, seconds=1.0)


def test_hackbench_over_pipes(tmp_path: Path) -> None:
    bench = ScriptedBench(tmp_path, {"hackbench": [Answer(recorded("hackbench", "sockets-2.txt"))]})
    one = adapter("hackbench")
    case = one.case("x", {"load": 2, "loops": 200, "over": "pipes"})
    one.measure(case, bench, seconds=1.0)
    (call,) = bench.timed()
    assert words(call.argv) == ["hackbench", "-g", "2", "-l", "200", "-p"]


def test_a_program_s_product_is_summed_without_its_remarks(tmp_path: Path) -> None:
    sums = []
    for number, remark in enumerate(("# today\n", "# another day\n")):
        base = tmp_path / str(number)
        base.mkdir()
        bench = ScriptedBench(base)
        (bench.folder / "product").write_text(f"{remark}s1 - 12.5\n")
        one = adapter("integer")
        output = one.measure(one.case("hmmsearch", {}), bench, seconds=1.0)
        assert output.score == pytest.approx(0.1)
        sums.append(output.details["product_sha256"])
    assert sums[0] == sums[1]


def test_a_program_that_writes_nothing_is_no_measurement(tmp_path: Path) -> None:
    one = adapter("integer")
    with pytest.raises(MeasureError, match="made nothing"):
        one.measure(one.case("gcc", {}), ScriptedBench(tmp_path), seconds=1.0)


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in {"perl", "stockfish"}])
def test_every_program_reads_only_inputs_that_were_made(name: str, tmp_path: Path) -> None:
    program = PROGRAMS[name]
    program.make(tmp_path, {"gcc": 5, "minisat": 20}.get(name, 30))
    made = {str(path) for path in tmp_path.iterdir()}
    if program.ready is not None:
        made |= {word for word in program.ready(tmp_path) if word.startswith(str(tmp_path))}
    used = [word for word in program.command(tmp_path, Path("/product")) if str(tmp_path) in word]
    assert used
    assert made.issuperset(used)


class Warming(ScriptedBench):
    """A virtual machine that warms up for two looks."""

    looks = 0

    def start(self, *arguments: object, **more: object) -> object:  # type: ignore[override]
        started = super().start(*arguments, **more)  # type: ignore[arg-type]
        texts = (b"# Warmup Iteration   1:", b"# Warmup Iteration   1: 5\nIteration   1:")

        class Printing:
            pid = started.pid

            def alive(_) -> bool:  # noqa: N805
                return True

            def output(_) -> bytes:  # noqa: N805
                self.looks += 1
                return texts[self.looks > 2]

            def wait(_, *, limit_s: float, good: Sequence[int] = (0,)) -> Finished:  # noqa: N805
                return replace(started.finished)

        return Printing()


def jmh_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "fetched", lambda cache: True)


def test_java_counts_from_the_end_of_its_warm_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jmh_there(monkeypatch)
    bench = Warming(tmp_path)
    one = adapter("jmh")
    case = one.case("warehouses", {"load": 2, "warm_up_s": 2.0})
    one.prepare(case, bench)
    (compiler,) = bench.calls
    assert compiler.program == "javac"
    (bench.folder / "report.json").write_bytes(recorded("jmh", "two-warehouses.json"))
    one.measure(case, bench, seconds=2.0)
    java = bench.calls[1].argv
    assert java[java.index("-w") + 1] == "1000ms"
    assert java[java.index("-r") + 1] == "500ms"
    assert java[java.index("-t") + 1] == "2"
    assert bench.looks == 3
    # What was compiled is kept under a name that says of what, and not compiled again.
    one.prepare(case, bench)
    assert len(bench.calls) == 2


def test_java_without_its_archives_says_what_brings_them(tmp_path: Path) -> None:
    one = adapter("jmh")
    with pytest.raises(MeasureError, match="tools --install"):
        one.prepare(one.case("x", {}), ScriptedBench(tmp_path))


def test_archives_with_another_content_are_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def other(coordinates: str, folder: Path) -> None:
        _, name, version = coordinates.split(":")
        (folder / f"{name}-{version}.jar").write_bytes(b"something else")

    monkeypatch.setattr(archives, "_copy", other)
    monkeypatch.setattr(archives.shutil, "which", lambda name: f"/opt/{name}")
    with pytest.raises(MeasureError, match="not what it was"):
        archives.fetch(tmp_path)
    assert not list(tmp_path.iterdir())
    assert not archives.fetched(tmp_path)


def test_archives_without_maven_name_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives.shutil, "which", lambda name: None)
    with pytest.raises(MeasureError, match="apt-get install maven"):
        archives.fetch(tmp_path)
