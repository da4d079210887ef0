"""A session: all repetitions of a suite's cases on this host, in turns, each with fresh processes.

Ctrl-C, or a tool that dies, leaves what is finished; nothing that was started runs on.
"""

from __future__ import annotations

import contextlib
import math
import os
import shutil
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from homenode.errors import HomenodeError
from homenode.hosts import settings as sides
from homenode.hosts.adapter import Output
from homenode.hosts.bench import Account, HostBench, Place
from homenode.hosts.errors import ConnectionLostError, MeasureError
from homenode.hosts.live import Host
from homenode.hosts.live.cgroups import cpu_list
from homenode.hosts.live.cpus import pick
from homenode.hosts.live.gate import FOREIGN_LIMIT, STEAL_LIMIT
from homenode.hosts.live.network import Loopback
from homenode.hosts.live.packages import cache_of
from homenode.hosts.order import Turn, turns
from homenode.hosts.record import CpuTime, RunRecord
from homenode.hosts.requirements import Refusal, refusals
from homenode.hosts.result import RawOutputs, Result
from homenode.hosts.settings import System
from homenode.hosts.suite import Row, Suite
from homenode.staging import staging

PREPARE_LIMIT_S = 600.0
_ON_DISK = Path("/var/tmp")  # noqa: S108 - a folder of our own is made in it
"""Not `/tmp`, which is memory on many hosts."""
_FAILURES_OF_A_CELL = 2
"""A cell that has failed so often is left."""
_OVERHEAD_GUESS_S = 3.0
_HOPELESS_FROM = 20
"""Repetitions of which one at least must count, or a session ends."""
_LEAST_COVERED = 0.99
"""Of the measured time must be in the account; less means that counting began late."""
_MOST_BUSY = 1.05
"""Of what the processors can give in the measured time; more means that the account covers more
than the tool measured.
"""


@dataclass(frozen=True)
class Options:
    """What was asked of a session."""

    only: tuple[str, ...] = ()
    repeats: int | None = None
    """In place of the suite's."""
    seconds: float | None = None
    """In place of the suite's."""
    processors: tuple[int, ...] = ()
    """Numbers of logical processors of a scaling set; empty for the suite's own, or all."""
    foreign_limit: float | None = FOREIGN_LIMIT
    """Share of the host's processors that others may use; None counts everything."""
    steal_limit: float = STEAL_LIMIT
    """Share of their time that may be stolen."""
    wait_quiet_s: float = 10.0
    """How long to wait for a quiet host before each repetition."""
    retries: int = 1
    """How often a rejected repetition is repeated."""
    patience_s: float = 120.0
    """How long a session waits and repeats because of others, in all; then it takes what comes, so
    that it ends in time on a host that is never quiet.
    """
    seed: int = 1
    folder: Path | None = None
    """Where databases and files are made; the host's own place if not given."""


@dataclass
class Cell:
    """A case with a number of processors."""

    row: Row
    processors: int | None
    """None for all that a system has."""
    failures: int = 0
    prepared: set[str] = field(default_factory=set)
    seconds: list[float] = field(default_factory=list)
    """How long its repetitions took, everything in all."""

    @property
    def id(self) -> str:
        """`adapter/case`."""
        return self.row.id


Progress = Callable[[str, float, float | None], None]
"""Called with what is done now, the share that is done, and the seconds left."""


class Session:
    """Runs turns and fills a result."""

    def __init__(
        self,
        suite: Suite,
        systems: Sequence[System],
        options: Options,
        raw: RawOutputs,
        progress: Progress | None = None,
        keep: Callable[[Result], None] | None = None,
    ) -> None:
        self.options = options
        self._systems = {system.name: system for system in systems}
        self._raw = raw
        self._progress = progress or _say_nothing
        self._keep = keep or _keep_nothing
        self._order = 0
        self._patience_s = options.patience_s
        self._namespace: Loopback | None = None
        self.result = Result(
            suite={"name": suite.name, "title": suite.title, "sha256": suite.sha256},
            settings={},
            systems={system.name: system.as_json() for system in systems},
            cases={},
        )
        self._rows = suite.only(options.only)

    def run(self, host: Host, work: Path) -> Result:
        """Run all turns on a host, with a folder to work in.

        Raises `MeasureError` when nothing can be run at all; `KeyboardInterrupt` ends it early,
        with the result marked so.
        """
        self._host, self._work = host, work
        for system in self._systems.values():
            self._check(system)
        cells = self._cells()
        self._describe(cells)
        planned = [self._repeats(cell.row) for cell in cells]
        plan = list(turns(planned, list(self._systems), seed=self.options.seed))
        self.result.started = now()
        try:
            for number, turn in enumerate(plan):
                self._tell(cells, plan, number)
                cell = cells[turn.cell]
                if cell.failures < _FAILURES_OF_A_CELL:
                    self._turn(cell, self._systems[turn.system], turn)
                    self._keep(self.result)
                if self._is_hopeless():
                    break
        except KeyboardInterrupt:
            self.result.interrupted = True
        self.result.finished = now()
        return self.result

    # The plan

    def _check(self, system: System) -> None:
        """Raise `MeasureError` for a setting that the host cannot make."""
        self._host.groups.check(system.setting)
        refuse_absent(system, self._host.cpus)

    def _cells(self) -> list[Cell]:
        """The cases that this host can run; the others are noted with the reason."""
        found: list[Cell] = []
        refused: list[Refusal] = []
        for row in self._rows:
            refusal = self._refusal(row)
            if refusal is not None:
                refused.append(refusal)
                self.result.left_out.append({"case": row.id, "why": refusal.why})
                continue
            counts: tuple[int | None, ...] = self.options.processors or row.processors or (None,)
            if not self.options.processors and self._sides_have_cpus():
                # Sides that name processors are compared with these, not with a suite's number.
                counts = (None,)
            for count in counts:
                for system in self._systems.values():
                    if count is not None:
                        pick(count, self._cpus(system))
                found.append(Cell(row, count))
        named = [r for r in refused if r.case in self.options.only]
        if named or not found:
            first = (named or refused)[0]
            raise MeasureError(
                f"{first.case} cannot be run here: {first.why}",
                there=None if len(refused) == 1 else f"{len(refused)} cases cannot",
                next_step=first.next_step,
            )
        return found

    def _sides_have_cpus(self) -> bool:
        return any(system.setting.cpus is not None for system in self._systems.values())

    def _describe(self, cells: Sequence[Cell]) -> None:
        """What the result says beside the records."""
        host, options = self._host, self.options
        self.result.settings = {
            "repeats": options.repeats,
            "seconds": options.seconds,
            "processors": list(options.processors),
            "gate": _gate(options),
            "wait_quiet_s": options.wait_quiet_s,
            "patience_s": options.patience_s,
            "affinity": "cpuset" if "cpuset" in host.groups.can else "affinity",
            "cgroups": host.groups.kind,
            "seed": options.seed,
            "retries": options.retries,
        }
        for cell in cells:
            row = cell.row
            self.result.cases[row.id] = {
                "adapter": row.adapter.name,
                "title": row.case.title,
                "metric": row.case.metric,
                "unit": row.case.unit,
                "better": row.case.better,
                "load": row.case.load,
                "seconds": self._seconds(row),
                "repeats": self._repeats(row),
                "warm_up": row.warm_up,
                "load_per_processor": row.load_per_processor,
                "parameters": dict(row.case.parameters),
            }

    def _repeats(self, row: Row) -> int:
        return self.options.repeats or row.repeats

    def _seconds(self, row: Row) -> float:
        return self.options.seconds or row.seconds

    def _limit_s(self, row: Row) -> float:
        """The adapter's limit, on top of the time that was asked for."""
        return row.adapter.limit_s + self._seconds(row)

    def _tell(self, cells: Sequence[Cell], plan: Sequence[Turn], number: int) -> None:
        """Say what comes, how much is done, and how long the rest will take."""
        weights = [self._guess(cells[turn.cell]) for turn in plan]
        whole = sum(weights)
        left = sum(weights[number:])
        turn = plan[number]
        cell = cells[turn.cell]
        share = 1.0 - left / whole if whole else 1.0
        self._progress(f"{cell.id} ({turn.replicate + 1})", share, left)

    def _is_hopeless(self) -> bool:
        """Whether the gate has thrown out all of so many repetitions: nothing will count then."""
        records = self.result.records
        found = len(records) >= _HOPELESS_FROM and not self.result.used()
        if found:
            self.result.stopped = (
                f"the gate has thrown out each of the first {len(records)} repetitions: "
                f"{records[-1].rejected}"
            )
        return found

    def _guess(self, cell: Cell) -> float:
        if cell.failures >= _FAILURES_OF_A_CELL:
            return 0.0
        if cell.seconds:
            return sum(cell.seconds) / len(cell.seconds)
        return self._seconds(cell.row) + _OVERHEAD_GUESS_S

    # A turn

    def _turn(self, cell: Cell, system: System, turn: Turn) -> None:
        """One repetition, repeated if others disturbed it."""
        began = time.monotonic()
        try:
            if system.switch is not None:
                sides.call(system.switch)
            self._prepare(cell, system)
            for attempt in range(self.options.retries + 1):
                again = time.monotonic()
                record = self._repetition(cell, system, turn, attempt)
                self.result.records.append(record)
                if attempt:
                    self._patience_s -= time.monotonic() - again
                if record.rejected is None or self._patience_s <= 0:
                    break
        except ConnectionLostError:
            raise
        except Exception as error:  # noqa: BLE001 - hours of others' work must not be lost by it
            cell.failures += 1
            self.result.failures.append(
                {
                    "case": cell.id,
                    "system": system.name,
                    "processors": self._count(cell, system),
                    "replicate": turn.replicate,
                    "why": why(error),
                }
            )
        finally:
            if system.back is not None:
                sides.call(system.back)
        cell.seconds.append(time.monotonic() - began)

    def _prepare(self, cell: Cell, system: System) -> None:
        """Once a case, number of processors and system: data, the tool's version, a warm-up."""
        if system.name in cell.prepared:
            return
        name = f"prepare-{cell.id}-{self._count(cell, system)}-{system.name}"
        with self._bench(cell, system, name, PREPARE_LIMIT_S) as bench:
            row = cell.row
            if row.adapter.name not in self.result.versions:
                self.result.versions[row.adapter.name] = row.adapter.version(bench)
            row.adapter.prepare(row.case, bench)
        if row.warm_up:
            with self._bench(cell, system, f"warm-up-{name}", self._limit_s(row)) as bench:
                row.adapter.measure(row.case, bench, seconds=self._seconds(row))
        cell.prepared.add(system.name)

    def _repetition(self, cell: Cell, system: System, turn: Turn, attempt: int) -> RunRecord:
        """Wait for quiet, measure, judge."""
        limit = self.options.foreign_limit
        if limit is not None:
            self._wait_quiet(limit)
        name = f"{cell.id}-{self._count(cell, system)}-{system.name}-{turn.replicate}" + (
            f"-again{attempt}" if attempt else ""
        )
        output, account, count = self._measured(cell, system, name)
        record = make_record(
            cell, system, turn, output, account, order=self._order, processors=count
        )
        self._order += 1
        if limit is not None:
            record = replace(record, rejected=self._why_not(account, limit))
        return record

    def _measured(self, cell: Cell, system: System, name: str) -> tuple[Output, Account, int]:
        """One repetition; with it the number of processors that it had."""
        row = cell.row
        with self._bench(cell, system, name, self._limit_s(row)) as bench:
            output = row.adapter.measure(row.case, bench, seconds=self._seconds(row))
            return output, bench.account(), len(bench.processors)

    def _why_not(self, account: Account, limit: float) -> str | None:
        """Why a repetition does not count."""
        return account.quiet.reason(limit, self.options.steal_limit)

    def _refusal(self, row: Row) -> Refusal | None:
        """Why a case cannot run."""
        return refusals(row, self._work)

    def _cpus(self, system: System) -> tuple[int, ...]:
        return system.setting.cpus or self._host.cpus

    def _count(self, cell: Cell, system: System) -> int:
        """Logical processors of a repetition."""
        return cell.processors or len(self._cpus(system))

    def _wait_quiet(self, limit: float) -> None:
        """Wait for others to end what they do, as long as there is patience."""
        if self._patience_s <= 0:
            return
        began = time.monotonic()
        longest = min(self.options.wait_quiet_s, self._patience_s)
        if not self._host.gate.wait_quiet(
            longest, foreign_limit=limit, steal_limit=self.options.steal_limit
        ):
            self._patience_s -= time.monotonic() - began

    @contextlib.contextmanager
    def _bench(self, cell: Cell, system: System, name: str, limit_s: float) -> Iterator[HostBench]:
        """A bench for one repetition, torn down after it whatever happens."""
        host = self._host
        cpus = pick(self._count(cell, system), self._cpus(system))
        setting = replace(system.setting, cpus=cpus if "cpuset" in host.groups.can else None)
        plain = name.replace("/", "-")
        folder = made_folder(self._work / "runs" / plain)
        data = made_folder(
            self._work / "data" / f"{cell.id.replace('/', '-')}-{len(cpus)}-{system.name}"
        )
        needs_net = cell.row.adapter.requires(cell.row.case).network_namespace
        group = host.group(plain, setting)
        bench = HostBench(
            host=host,
            group=group,
            place=Place(folder, data, cache_of(cell.row.adapter.name), self._raw.folder(plain)),
            processors=cpus,
            deadline=time.monotonic() + limit_s,
            namespace=self._net() if needs_net else None,
            affinity=None if setting.cpus is not None else cpus,
            env=system.env,
        )
        with removed(bench, folder):
            yield bench

    def _net(self) -> Loopback:
        """One namespace for all: nothing of one repetition is left for the next."""
        if self._namespace is None:
            self._namespace = self._host.namespace()
        return self._namespace


@contextlib.contextmanager
def removed(bench: HostBench, folder: Path) -> Iterator[None]:
    """End all that runs on a bench, and remove its folder, whatever happens."""
    try:
        yield
    finally:
        bench.tidy()
        shutil.rmtree(folder, ignore_errors=True)


def make_record(
    cell: Cell,
    system: System,
    turn: Turn,
    output: Output,
    account: Account,
    *,
    order: int,
    processors: int,
) -> RunRecord:
    """What the tool told and what we counted, in one record.

    Raises `MeasureError` for figures that make no sense.
    """
    figures = {"work": output.work, "seconds": output.seconds, "score": output.score}
    figures |= {f"latency {name}": value for name, value in output.latency_ms.items()}
    figures |= {f"second {number}": value for number, value in enumerate(output.series)}
    wrong = [name for name, value in figures.items() if not math.isfinite(value) or value < 0]
    if wrong or output.seconds <= 0:
        raise MeasureError(
            f"{cell.id} gives figures that make no sense: "
            + ", ".join(f"{name} {figures[name]}" for name in wrong or ["seconds"]),
            next_step="see the raw outputs beside the result",
        )
    case = cell.row.case
    details = {**output.details, **account.details}
    cpu: CpuTime | None = account.cpu
    if account.cpu.total > _MOST_BUSY * output.seconds * processors:
        cpu = None
        details["cpu_unknown"] = (
            f"{account.cpu.total:.3g} CPU seconds were counted in {account.seconds:.3g} s, "
            f"the tool measured {output.seconds:.3g} s of them"
        )
    elif account.seconds < _LEAST_COVERED * output.seconds:
        cpu = None
        details["cpu_unknown"] = (
            f"CPU seconds were counted in {account.seconds:.3g} s of the "
            f"{output.seconds:.3g} s that the tool measured"
        )
    return RunRecord(
        system=system.name,
        case=cell.id,
        metric=case.metric,
        better=case.better,
        processors=processors,
        load=case.load,
        replicate=turn.replicate,
        order=order,
        work=output.work,
        seconds=output.seconds,
        score=output.score,
        unit=case.unit,
        cpu=cpu,
        latency_ms=dict(output.latency_ms),
        switches=account.switches,
        run_delay_s=account.run_delay_s,
        throttled_s=account.throttled_s,
        instructions=account.instructions,
        cycles=account.cycles,
        series=list(output.series),
        foreign=account.quiet.foreign,
        steal=account.quiet.steal,
        details=_plain(details),
    )


def _gate(options: Options) -> dict[str, float | None]:
    """Its limits, that on stolen time where it is not the usual one."""
    others: dict[str, float | None] = {"foreign_limit": options.foreign_limit}
    usual = options.foreign_limit is None or options.steal_limit == STEAL_LIMIT
    return others if usual else {**others, "steal_limit": options.steal_limit}


def _plain(value: Any) -> Any:
    """Only what JSON can hold: figures that are not finite become None."""
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool | None) else str(value)


@contextlib.contextmanager
def work_folder(where: Path | None) -> Iterator[Path]:
    """A folder to work in, removed afterwards; others may pass through it, so that a server that
    refuses to be root finds its data.
    """
    place = where or (_ON_DISK if _ON_DISK.is_dir() else Path(tempfile.gettempdir()))
    with contextlib.ExitStack() as stack:
        try:
            # Its place is there: one that was mistyped is not made.
            made = stack.enter_context(staging(place.resolve(strict=True)))
            # One in it is the session's alone: a name in the other is the lock's.
            folder = made_folder(made / "work")
        except OSError as error:
            raise MeasureError(
                f"no folder can be made in {place}: {error.strerror}",
                next_step="give another place with --folder",
            ) from error
        yield folder


def refuse_absent(system: System, cpus: Sequence[int]) -> None:
    """Raise for a system that names processors which are not among these."""
    absent = sorted(set(system.setting.cpus or ()) - set(cpus))
    if absent:
        raise MeasureError(
            f"system {system.name} asks for processors {cpu_list(absent)}",
            there=f"there may be used {cpu_list(cpus)}",
            next_step="name some of these",
        )


def made_folder(folder: Path) -> Path:
    """A folder that others may pass through, like the one it is in."""
    folder.mkdir(parents=True, exist_ok=True)
    for each in (folder, folder.parent):
        each.chmod(0o711)
    return folder


def why(error: BaseException) -> str:
    """What went wrong, for the result; anything but our own errors is named by its kind."""
    if isinstance(error, HomenodeError):
        return str(error)
    if os.environ.get("HOMENODE_DEBUG"):
        traceback.print_exception(error)
    return f"{type(error).__name__}: {error}"


def _say_nothing(_doing: str, _share: float, _left: float | None) -> None:
    """Progress that nobody looks at."""


def _keep_nothing(_result: Result) -> None:
    """A session whose results are only wanted at its end."""


def now() -> str:
    """The time, with its zone."""
    return datetime.now().astimezone().isoformat(timespec="seconds")
