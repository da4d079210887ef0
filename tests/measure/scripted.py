"""A bench that starts nothing: it notes what it is asked, and answers as told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from homenode.hosts.adapter import Finished
from homenode.hosts.errors import MeasureError


@dataclass(frozen=True)
class Answer:
    """What a program prints and how it ends."""

    stdout: bytes = b""
    stderr: bytes = b""
    code: int = 0


@dataclass(frozen=True)
class Call:
    """A program that the adapter ran or started."""

    argv: tuple[str, ...]
    role: str
    started: bool
    env: Mapping[str, str]
    user: str | None

    @property
    def program(self) -> str:
        return Path(self.argv[0]).name


@dataclass(frozen=True)
class ScriptedProcess:
    pid: int
    finished: Finished

    def alive(self) -> bool:
        return self.finished.code == 0

    def output(self) -> bytes:
        return self.finished.stdout + self.finished.stderr

    def wait(self, *, limit_s: float, good: Sequence[int] = (0,)) -> Finished:
        return self.finished


@dataclass
class ScriptedClock:
    """A clock that goes on only while it is waited for, from wherever a test lets it begin.

    What was recorded on some host began by that host's clock: a test that holds such figures
    against a clock begins it there. The clock of the host at hand says nothing about them.
    """

    shows_s: float = 100.0

    def now_s(self) -> float:
        return self.shows_s

    def wait_until(self, moment_s: float) -> None:
        self.shows_s = max(self.shows_s, moment_s)


@dataclass
class ScriptedBench:
    """`answers` by program; the last of several is given again and again."""

    base: Path
    answers: Mapping[str, Sequence[Answer]] = field(default_factory=dict)
    processors: Sequence[int] = (0, 1)
    clock: ScriptedClock = field(default_factory=ScriptedClock)
    reading_s: Sequence[float] = (0.0,)
    """What it takes to begin the accounts, by the clock, one time after the other [s]."""

    def __post_init__(self) -> None:
        self.folder, self.data, self.cache = (self.base / n for n in ("folder", "data", "cache"))
        for folder in (self.folder, self.data, self.cache):
            folder.mkdir(parents=True, exist_ok=True)
        self.calls: list[Call] = []
        self.marks: list[tuple[str, int]] = []
        """`measuring` and `measured`, with the number of calls before each."""
        self._port = 21_000

    def run(
        self,
        argv: Sequence[str],
        *,
        limit_s: float,
        role: str = "client",
        env: Mapping[str, str] | None = None,
        stdin: bytes | None = None,
        folder: Path | None = None,
        user: str | None = None,
        good: Sequence[int] = (0,),
    ) -> Finished:
        finished = self._noted(argv, role, env, user, started=False)
        if finished.code not in good:
            raise MeasureError(f"{argv[0]} ended with code {finished.code}")
        return finished

    def start(
        self,
        argv: Sequence[str],
        *,
        role: str = "server",
        env: Mapping[str, str] | None = None,
        folder: Path | None = None,
        user: str | None = None,
    ) -> ScriptedProcess:
        return ScriptedProcess(len(self.calls), self._noted(argv, role, env, user, started=True))

    def wait_for_port(self, port: int, *, limit_s: float, of: object = None) -> None:
        self.listening = port

    def free_port(self) -> int:
        self._port += 1
        return self._port

    def program(self, name: str) -> str:
        return f"/opt/{name}"

    def give(self, path: Path, user: str) -> None:
        assert path.exists()

    def measuring(self) -> None:
        before = sum(mark == "measuring" for mark, _ in self.marks)
        self.clock.shows_s += self.reading_s[min(before, len(self.reading_s) - 1)]
        self.marks.append(("measuring", len(self.calls)))

    def measured(self) -> None:
        self.marks.append(("measured", len(self.calls)))

    def timed(self) -> list[Call]:
        """What ran between the two marks."""
        assert [mark for mark, _ in self.marks] == ["measuring", "measured"]
        return self.calls[self.marks[0][1] : self.marks[1][1]]

    def _noted(
        self,
        argv: Sequence[str],
        role: str,
        env: Mapping[str, str] | None,
        user: str | None,
        *,
        started: bool,
    ) -> Finished:
        call = Call(tuple(argv), role, started, dict(env or {}), user)
        before = sum(earlier.program == call.program for earlier in self.calls)
        self.calls.append(call)
        answers = self.answers.get(call.program) or [Answer()]
        answer = answers[min(before, len(answers) - 1)]
        return Finished(call.argv, answer.code, answer.stdout, answer.stderr, 0.1)
