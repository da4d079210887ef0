"""sar -P ALL: processor utilisation by logical processor, interval by interval, then the averages.

`sar [ -u ] [ -P { ALL | cpu, ... } ] [ Interval [ Number ] ]`. The clock of the run starts at
midnight of a day that means nothing. The row `-` is the partition, `U` its unused entitlement
(not before AIX 6.1).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from homenode.tools.changed import announced, first_line
from homenode.tools.configuration import SystemConfiguration
from homenode.tools.figures import Shares, charged_ns, consumed_pct, cores, partition_shares, shares
from homenode.tools.intervals import Counters, Sample, samples
from homenode.tools.text_columns import Column, Value, columns, heading, page, row
from homenode.tools.usage import Grammar, Request, parse
from homenode.tools.view import RunView

__all__ = ["GRAMMAR", "Line", "average", "render", "report", "rows"]

_NOT_PROCESSOR = "only the processor report (-u) is modelled"
GRAMMAR = Grammar(
    tool="sar",
    synopsis="[ -u ] [ -P { ALL | cpu [,cpu] ... } ] [ Interval [ Number ] ]",
    flags="uP",
    valued="P",
    combine=True,
    absent={
        **dict.fromkeys("AabcdkmqrvwyM", _NOT_PROCESSOR),
        **dict.fromkeys("efiosx", "it reads or writes the system's own activity file"),
        "O": "use --json to sort and filter",
        "@": "workload partitions are not modelled",
        "X": "use --json for output that programs read",
    },
)
EVERY = "ALL"
_SYSTEM, _UNUSED = "-", "U"
_DAY = "01/01/00"
_MACHINE = "000000000000"
_TIME_WIDTH = 8
_NAMES = ("cpu", "vp")
"""Of a row of counters, what says whose they are."""
_BASE = (*columns("%usr %sys %wio %idle", 7), Column("physc", 7, 2))
_ENTC = Column("%entc", 7, 1)


@dataclass(frozen=True)
class Line:
    """One row: a logical processor, the partition (`-`) or its unused entitlement (`U`)."""

    cpu: str
    values: dict[str, Value]


def report(configuration: SystemConfiguration, sample: Sample) -> list[Line]:
    """All rows of one interval."""
    elapsed_ns = sample.elapsed_ns
    lines = [
        Line(str(cpu["cpu"]), _values(configuration, _own(cpu), charged_ns(cpu), elapsed_ns))
        for cpu in sample.cpus
        if configuration.has(cpu)
    ]
    counted = sample.partition
    lines += _unused(configuration, counted, elapsed_ns)
    usage = partition_shares(configuration, counted, elapsed_ns)
    lines.append(Line(_SYSTEM, _values(configuration, usage, counted["busy_ns"], elapsed_ns)))
    return lines


def _own(cpu: Counters) -> Shares:
    """Shares of the time that a logical processor was charged itself."""
    return shares(cpu, charged_ns(cpu))


def _values(
    configuration: SystemConfiguration, usage: Shares, core_ns: int, elapsed_ns: int
) -> dict[str, Value]:
    return {
        **dict(zip(("%usr", "%sys", "%wio", "%idle"), usage, strict=True)),
        "physc": cores(core_ns, elapsed_ns),
        "%entc": consumed_pct(configuration, core_ns, elapsed_ns),
    }


def _unused(
    configuration: SystemConfiguration, counted: Counters, elapsed_ns: int
) -> Iterator[Line]:
    unused_ns = configuration.ent * elapsed_ns - counted["busy_ns"]
    if not configuration.is_shared or not configuration.at_least(6, 1) or unused_ns <= 0:
        return
    unused_pct = 100 * unused_ns / (configuration.ent * elapsed_ns)
    values: dict[str, Value] = {"%usr": None, "%sys": None, "%wio": 0.0, "%idle": unused_pct}
    yield Line(_UNUSED, {**values, "physc": unused_ns / elapsed_ns, "%entc": unused_pct})


def average(reports: Sequence[Sample]) -> Sample:
    """All intervals as one: averages are taken over counters, not over rounded percentages."""
    cpus: dict[int, dict[str, int]] = {}
    for sample in reports:
        for cpu in sample.cpus:
            known = cpus.setdefault(cpu["cpu"], {name: cpu[name] for name in _NAMES})
            _add(known, cpu)
    partition: dict[str, int] = {}
    for sample in reports:
        _add(partition, sample.partition)
    elapsed_ns = sum(sample.elapsed_ns for sample in reports)
    return Sample(reports[-1].end_ns, elapsed_ns, partition, tuple(cpus.values()))


def _add(total: dict[str, int], counted: Counters) -> None:
    for name, value in counted.items():
        if name not in _NAMES:
            total[name] = total.get(name, 0) + value


def render(view: RunView, argv: Sequence[str]) -> str:
    """What the tool would print."""
    request, configuration, reports = _asked(view, argv)
    shown = [*_BASE, *([_ENTC] if configuration.is_shared else [])]
    by_cpu = "P" in request.flags
    first = first_line(configuration, request, reports, _configuration_line)
    lines = ["", _system_line(configuration), "", first, ""]
    headings = f"{' cpu ' if by_cpu else ' '}{heading(shown)}"
    lines.append(f"{_clock(reports[0].start_ns):<{_TIME_WIDTH}}{headings}")
    for sample, then, notice in announced(configuration, reports, first, _configuration_line):
        if notice:
            lines += [*notice, f"{_clock(sample.start_ns):<{_TIME_WIDTH}}{headings}"]
        lines += _stanza(_clock(sample.end_ns), _chosen(request, then, sample), shown)
    if len(reports) > 1:
        mean = average(reports)
        then = mean.during(configuration)
        lines += ["", *_stanza("Average", _chosen(request, then, mean), shown)]
    return page(lines)


def _stanza(label: str, chosen: list[Line], shown: Sequence[Column]) -> list[str]:
    lines = []
    for line in chosen:
        name = "" if line.cpu == EVERY else f" {line.cpu:>2} "
        lines.append(f"{label:<{_TIME_WIDTH}}{name} {row(shown, line.values)}")
        label = ""
    return lines


def rows(view: RunView, argv: Sequence[str]) -> list[dict[str, object]]:
    """The same as unrounded numbers, a dict a line; averages are left to the reader."""
    request, configuration, reports = _asked(view, argv)
    return [
        {"time_s": sample.end_ns / 1e9, "cpu": line.cpu, **line.values}
        for sample in reports
        for line in _chosen(request, sample.during(configuration), sample)
    ]


def _asked(view: RunView, argv: Sequence[str]) -> tuple[Request, SystemConfiguration, list[Sample]]:
    request = parse(GRAMMAR, argv)
    configuration = view.partition(request.partition)
    asked = request.flags.get("P", EVERY)
    known = [str(cpu) for cpu in range(configuration.cpu_rows)]
    if asked != EVERY and not set(asked.split(",")) <= set(known):
        raise GRAMMAR.refuse(f"no such processor: {asked} (there are 0 to {len(known) - 1})")
    reports = samples(
        view, configuration.name, request.interval_ns, request.count, ("partition", "cpu")
    )
    return request, configuration, reports


def _chosen(request: Request, configuration: SystemConfiguration, sample: Sample) -> list[Line]:
    """Without -P the partition only; with single processors those only, without `U` and `-`."""
    lines = report(configuration, sample)
    asked = request.flags.get("P")
    if asked is None:
        return [Line(EVERY, line.values) for line in lines if line.cpu == _SYSTEM]
    wanted = set(asked.split(","))
    return lines if asked == EVERY else [line for line in lines if line.cpu in wanted]


def _system_line(configuration: SystemConfiguration) -> str:
    """System, host, release and version, machine id, day."""
    version, _, release = configuration.level.partition(".")
    host = configuration.node_name or configuration.name
    return f"AIX {host} {release.partition('.')[0] or 0} {version} {_MACHINE}    {_DAY}"


def _configuration_line(configuration: SystemConfiguration) -> str:
    c = configuration
    ent = f"ent={c.ent:.2f} " if c.is_shared else " "
    return f"System configuration: lcpu={c.lcpu} {ent}mode={c.mode} "


def _clock(time_ns: int) -> str:
    seconds = time_ns // 1_000_000_000
    return f"{seconds // 3600 % 24:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
