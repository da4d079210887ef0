"""Where a command was started: signals, streams that fail, words that a shell left empty."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import standins
from homenode import cli
from homenode.cli import main, surroundings
from homenode.cli.surroundings import empty_word, lacking, refused
from homenode.simulate.runner import running, simulate

Capture = pytest.CaptureFixture[str]
ENDINGS = [(signal.SIGTERM, 143), (signal.SIGHUP, 129)]


@pytest.fixture
def restored(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """`main` changes what belongs to the whole process."""
    numbers = (*(number for number, _ in ENDINGS), signal.SIGINT, signal.SIGALRM)
    before = {number: signal.getsignal(number) for number in numbers}
    monkeypatch.setattr(sys, "stderr", sys.stderr)
    for number in before:
        signal.signal(number, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
    surroundings._asked.clear()


@pytest.mark.usefixtures("restored")
@pytest.mark.parametrize(("number", "code"), ENDINGS)
def test_a_request_to_end_keeps_what_had_finished(
    number: signal.Signals,
    code: int,
    fake: ModuleType,
    files: Callable[[str, str], Path],
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    files("apart.toml", standins.APART)
    fake.PAUSE_S = 0.02
    look_on = simulate._look_on

    def asked(futures: object, watch: object, _: object) -> None:
        def progress(share: float, _left: float | None) -> None:
            if share > 0.35:
                os.kill(os.getpid(), number)

        look_on(futures, watch, progress)  # type: ignore[arg-type]

    monkeypatch.setattr(simulate, "_look_on", asked)
    with pytest.raises(SystemExit) as ended:
        main(["run", "apart.toml", "-n", "4", "-j", "1"])
    out, err = capsys.readouterr()
    assert ended.value.code == code
    assert "physc" in out
    assert "interrupted: 1 of 4 replications had finished; kept as apart-" in err
    (kept,) = Path("runs").iterdir()
    assert kept.name.startswith("apart-")


@pytest.mark.usefixtures("restored")
def test_what_is_ignored_stays_ignored(capsys: Capture) -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with pytest.raises(SystemExit):
        main(["--version"])
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL


@pytest.mark.usefixtures("restored")
def test_no_signal_is_heard_while_what_finished_is_kept() -> None:
    surroundings.listen()
    with running._deaf():
        for number, _ in ENDINGS:
            os.kill(os.getpid(), number)
    assert surroundings.asked_to_end() is None
    assert signal.getsignal(signal.SIGTERM) not in (signal.SIG_IGN, signal.SIG_DFL)


def test_the_exit_code_stands_wherever_an_interrupt_fell(tmp_path: Path) -> None:
    """`dataclasses` runs code that is given as text, in which an interrupt may fall."""
    (tmp_path / "hit.py").write_text(
        "import homenode.cli as cli\n"
        "def call(arguments):\n"
        "    try: exec('raise KeyboardInterrupt')\n"
        "    except KeyboardInterrupt: return 130\n"
        "cli.call = call\n"
        "cli.main(['runs'])\n"
    )
    done = subprocess.run([sys.executable, "-m", "hit"], cwd=tmp_path, timeout=300, check=False)
    assert done.returncode == 130


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize(("words", "code"), [(["runs"], 0), (["explain", "nothing"], 2)])
def test_the_result_stands_where_remarks_cannot_be_written(
    words: list[str], code: int, tmp_path: Path
) -> None:
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = subprocess.run(
            [sys.executable, "-m", "homenode", *words],
            cwd=tmp_path,
            stderr=full,
            timeout=300,
            check=False,
        )
    assert done.returncode == code


def test_characters_that_cannot_be_shown_are_escaped(tmp_path: Path) -> None:
    script = "import sys; sys.argv[1:] = ['x']; import homenode.cli as cli\n"
    script += "def call(_): sys.stdout.write('1 ± 2 \\udcff\\n'); return 0\n"
    script += "cli.call = call; cli.main()"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, b"1 \\xb1 2 \\udcff\n")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["import", ""], "word 2 is empty"),
        (["run", "a.toml", "--out", ""], "the word after --out is empty"),
        (["run", "a.toml", "--out="], "the word after --out is empty"),
        (["export", "-o", "", "--as", "csv"], "the word after -o is empty"),
        ([""], "word 1 is empty"),
    ],
)
def test_empty_words_are_refused(words: list[str], told: str, capsys: Capture) -> None:
    assert cli.call(words) == 2
    assert capsys.readouterr().err.startswith(f"homenode: {told}; is a variable")


def test_a_list_of_no_names_says_something() -> None:
    assert empty_word(["calibrate", "run", "--free", "", "--know="]) is None


def test_what_the_system_refuses_is_told() -> None:
    for number, told in (
        (errno.ENOENT, "a: No such file or directory; was something deleted while it was read?"),
        (errno.EACCES, "a: Permission denied"),
        (errno.ENOTDIR, "a: Not a directory"),
    ):
        assert refused(OSError(number, os.strerror(number), "a")) == told
    assert refused(FileNotFoundError("no a")) == "no a; was something deleted while it was read?"
    assert refused(OSError(errno.EMFILE, "Too many open files")) == (
        "the system refuses: Too many open files"
    )
    assert refused(OSError(errno.EINVAL, "Invalid argument")) is None
    assert refused(FileNotFoundError(errno.ENOENT, "gone", cli.__file__)) is None


@pytest.mark.parametrize("count", ["10001", "99999999999999999999"])
def test_more_replications_than_a_scenario_can_have(
    count: str, files: Callable[[str, str], Path], fake: ModuleType, capsys: Capture
) -> None:
    files("apart.toml", standins.APART)
    told = f"{count} replications were asked for; there can be 1 to 10,000"
    for words in (["run", "apart.toml"], ["compare-machines", "ibm-z196", "ibm-zec12"]):
        assert cli.call([*words, "-n", count]) == 2
        assert told in capsys.readouterr().err
    assert not Path("runs").exists()


@pytest.mark.parametrize("place", [".", "/", "no/such/place.toml"])
def test_a_place_that_is_no_suite(place: str, capsys: Capture) -> None:
    assert cli.call(["measure", place]) == 2
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        ImportError("/a/b.so: failed to map segment from shared object"),
        RuntimeError("can't start new thread"),
        OSError("std::bad_alloc"),
    ],
)
def test_too_little_memory_is_told_in_any_library_s_words(error: BaseException) -> None:
    assert "too little memory" in str(lacking(error))


def test_what_polars_passes_over_in_silence_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: str) -> ModuleType:
        raise ImportError("_polars_runtime.abi3.so: failed to map segment from shared object")

    names: dict[str, Any] = {"__name__": "polars.frame"}
    exec("def used():\n    return PyDataFrame", names)
    with pytest.raises(NameError) as raised:
        names["used"]()
    assert "polars is not whole" in str(lacking(raised.value))
    monkeypatch.setattr("importlib.import_module", broken)
    assert "too little memory" in str(lacking(raised.value))


def test_other_errors_are_no_want_of_memory() -> None:
    assert lacking(NameError("name 'x' is not defined")) is None
    assert lacking(ValueError("no such thing")) is None


def test_a_signal_in_an_import_ends_the_command_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compiled libraries that are half loaded abort at an error that is not of their own."""
    (tmp_path / "slow.py").write_text(
        "import os, signal, time\n"
        "os.kill(os.getpid(), signal.SIGTERM)\n"
        "done = not time.sleep(0.1)\n"
    )
    asked = (
        "import sys, time; from homenode.cli import surroundings as s; s.listen()\n"
        "sys.path.insert(0, sys.argv[1])\n"
        "try:\n    import slow\n    time.sleep(60)\n"
        "except KeyboardInterrupt:\n    print(slow.done, s.asked_to_end())"
    )
    ended = subprocess.run(
        [sys.executable, "-c", asked, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert ended.stdout.split() == ["True", "143"]


@pytest.mark.usefixtures("restored")
def test_what_a_library_makes_of_a_signal_is_the_end_all_the_same(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    def asked(_: object) -> int:
        with contextlib.suppress(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
        raise RuntimeError("Query interrupted")

    monkeypatch.setattr(cli, "_command", asked)
    with pytest.raises(SystemExit) as ended:
        main(["mpstat"])
    assert ended.value.code == 143
    assert capsys.readouterr().err == "homenode: interrupted\n"


def test_a_word_in_another_encoding_is_told() -> None:
    error = UnicodeEncodeError("utf-8", "\udcff", 0, 1, "surrogates not allowed")
    told = surroundings.strange_word(error, ["sql", "select \udcff"])
    assert told is not None
    assert told.startswith("'select \\udcff' is not UTF-8")
    assert surroundings.strange_word(ValueError(), ["sql", "\udcff"]) is None
    assert surroundings.strange_word(error, ["sql", "select 1"]) is None
