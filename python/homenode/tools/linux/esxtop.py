r"""`esxtop`: the virtual machines of an ESXi host, interval by interval.

`esxtop [ -p NAME ] [ -m | -b ] [ -d Seconds ] [ -n Count ]`; `-m` shows the memory panel, as the
key `m` of the tool does, `-b` writes the CSV of batch mode, without `-d` the report is of all that
was kept. Of memory is told what a machine was given, which is all mapped, and what its work
touches; nothing is reclaimed here. On hosts with several memory nodes it is told where a machine is
at home (`NHN`), how often that changed since the start of what was kept (`NMIG`), and how much of
its memory is on other nodes and on those (`NRMEM`, `NLMEM`, `N%L`, by node `GST_ND0` and on): what
nobody touches lies as what is touched. Resource pools have rows of their own, the sums of all
machines in them, however deep; `-p` leaves them out. Percentages are of one processor and sums over
a machine's virtual processors, which are all of its worlds here. As in the tool `%RDY` holds
`%MLMTD` and not `%CSTP`, and `%USED` is what is charged: less than `%RUN` beside a busy thread of
the core. The kernel's own time, overlaps and swapping are not modelled.

Source: VMware, "vSphere Monitoring and Performance", CPU panel; "Interpreting esxtop Statistics".
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from homenode.model.spec import shared_of
from homenode.tools.errors import ToolError
from homenode.tools.intervals import Sample
from homenode.tools.linux.homes import Home, homes, in_batch_mode
from homenode.tools.linux.layout import clock
from homenode.tools.linux.readings import FULL
from homenode.tools.linux.system import FIRST_PID, Group, LinuxSystem, refuse_foreign
from homenode.tools.text_columns import page
from homenode.tools.usage import Grammar, Request, parse

GRAMMAR = Grammar(
    tool="esxtop",
    synopsis="[ -m | -b ] [ -d seconds ] [ -n count ]",
    flags="bdmn",
    valued="dn",
    combine=True,
    takes_interval=False,
)
_SPOKEN = Grammar(tool="esxtop", synopsis=GRAMMAR.synopsis, flags="")
_USUAL_DELAY = "5"
NOT_MODELLED = ("%SYS", "%VMWAIT", "%OVRLP", "%SWPWT")
_COUNTERS = {
    "%USED": "% Used", "%RUN": "% Run", "%SYS": "% System", "%WAIT": "% Wait",
    "%VMWAIT": "% VmWait", "%RDY": "% Ready", "%IDLE": "% Idle", "%OVRLP": "% Overlap",
    "%CSTP": "% CoStop", "%MLMTD": "% Max Limited", "%SWPWT": "% Swap Wait",
}  # fmt: skip
"""The columns of the screen, and their names in batch mode."""
RECLAIMED = ("MCTLSZ", "SWCUR", "SWTGT")
"""Memory that a balloon holds or the host has swapped out: none."""
_MEMORY = {
    "MEMSZ": "Memory Size MBytes", "GRANT": "Memory Granted Size MBytes", "TCHD": "Touched MBytes",
}  # fmt: skip
"""The columns of the memory panel, and their names in batch mode."""
_MIB = 1 << 20
_DAY = "01/01/2000"
"""Simulated time has no date; clocks begin at midnight of a day that means nothing."""


@dataclass(frozen=True)
class _Machine:
    """A virtual machine over an interval."""

    group: Group
    sample: Sample
    home: Home | None = None
    """None on a host with a single memory node."""

    @property
    def gid(self) -> int:
        """The number of its group."""
        return self.group.pid

    @property
    def name(self) -> str:
        """As the host calls it."""
        return self.group.name

    @property
    def worlds(self) -> int:
        """Its virtual processors."""
        return self.group.virtual

    def figures(self) -> dict[str, float]:
        """Its columns [% of one processor]."""
        counted = self.sample.partition
        run, costop = self._percent(counted["busy_ns"]), self._percent(counted["costop_ns"])
        ready = max(self._percent(counted["ready_ns"]) - costop, 0.0)
        wait = max(FULL * self.group.virtual - run - ready - costop, 0.0)
        return dict.fromkeys(_COUNTERS, 0.0) | {
            "%USED": self._percent(counted["charged_ns"]),
            "%RUN": run,
            "%WAIT": wait,
            "%RDY": ready,
            "%IDLE": wait,
            "%CSTP": costop,
            "%MLMTD": self._percent(counted["throttled_ns"]),
        }

    def memory(self) -> dict[str, float]:
        """Its columns of the memory panel [MB]."""
        given = self.group.memory_bytes / _MIB
        touched = self.group.spec["data_bytes"] / _MIB
        return {"MEMSZ": given, "GRANT": given, "TCHD": touched} | dict.fromkeys(RECLAIMED, 0.0)

    def places(self) -> dict[str, float | str]:
        """Its columns of home nodes, where there are several nodes."""
        return {} if self.home is None else self.home.figures()

    def by_processor(self) -> list[float]:
        """What each of its virtual processors ran; the hypervisor's part is spread as its own."""
        own = [cpu["user_ns"] + cpu["sys_ns"] for cpu in self.sample.cpus]
        part = self._percent(self.sample.partition["busy_ns"]) / (sum(own) or 1)
        return [part * one for one in own]

    def _percent(self, time_ns: int) -> float:
        return FULL * time_ns / self.sample.elapsed_ns


@dataclass(frozen=True)
class _Pool:
    """A resource pool over an interval: all machines in it, however deep."""

    gid: int
    name: str
    machines: list[_Machine]

    @property
    def worlds(self) -> int:
        """Virtual processors in it."""
        return sum(one.worlds for one in self.machines)

    def figures(self) -> dict[str, float]:
        """The columns of its machines, summed up [% of one processor]."""
        return _summed(dict.fromkeys(_COUNTERS, 0.0), [one.figures() for one in self.machines])

    def memory(self) -> dict[str, float]:
        """The same of the memory panel [MB]."""
        none = dict.fromkeys((*_MEMORY, *RECLAIMED), 0.0)
        return _summed(none, [one.memory() for one in self.machines])

    def places(self) -> dict[str, float | str]:
        """A pool is at home nowhere."""
        return {}


def _summed(none: dict[str, float], rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {name: sum((row[name] for row in rows), zero) for name, zero in none.items()}


@dataclass(frozen=True)
class _Moment:
    """All that is shown of an interval."""

    pools: list[_Pool]
    machines: list[_Machine]

    @property
    def end_ns(self) -> int:
        """When it ends."""
        return self.machines[0].sample.end_ns

    @property
    def entities(self) -> list[_Pool | _Machine]:
        """A row each: pools, as they stand in the scenario, before machines."""
        return [*self.pools, *self.machines]

    @classmethod
    def of(cls, system: LinuxSystem, machines: list[_Machine], *, pooled: bool) -> Self:
        """The machines of an interval, and if asked for the pools that they are in."""
        pools = system.run.spec.get("resource_pools", []) if pooled else []
        inside: list[list[_Machine]] = [[] for _ in pools]
        for machine in machines if pools else []:
            at = _pool_of(machine.group)
            while at is not None:
                inside[at].append(machine)
                at = pools[at]["parent"]
        first = FIRST_PID + len(system.groups)
        return cls(
            [_Pool(first + at, pool["name"], inside[at]) for at, pool in enumerate(pools)],
            machines,
        )


def _pool_of(group: Group) -> int | None:
    """Index of the pool that a machine stands right in."""
    shared = shared_of(group.spec)
    host = None if shared is None else shared.get("host")
    claim = None if host is None else host.get("machine")
    return None if claim is None else claim.get("pool")


def render(system: LinuxSystem, argv: Sequence[str]) -> str:
    """What the tool would print."""
    request, moments = _moments(system, argv)
    if "b" in request.flags:
        return _batch(system, moments)
    screen = _memory_screen if "m" in request.flags else _screen
    return page([line for moment in moments for line in screen(system, moment)])


def rows(system: LinuxSystem, argv: Sequence[str]) -> list[dict[str, object]]:
    """The same as unrounded numbers, a dict a row and interval."""
    request, moments = _moments(system, argv)
    return [
        {
            "time_s": moment.end_ns / 1e9,
            "GID": one.gid,
            "NAME": one.name,
            "NWLD": one.worlds,
            **({**one.memory(), **one.places()} if "m" in request.flags else one.figures()),
        }
        for moment in moments
        for one in moment.entities
    ]


def _moments(system: LinuxSystem, argv: Sequence[str]) -> tuple[Request, list[_Moment]]:
    if not system.is_esxi:
        refuse_foreign(system, GRAMMAR.tool)
        raise ToolError(
            f"esxtop: run {system.run.id} is of a host of Linux",
            next_step="see `homenode virt-top` for its guests, `homenode pidstat` for all groups",
        )
    request = parse(GRAMMAR, argv)
    if {"b", "m"} <= request.flags.keys():
        raise GRAMMAR.refuse("-b has all panels: leave -m out")
    length = _length(request)
    shown = [one for one in system.groups if request.partition in (None, one.name)]
    asked = (length.interval_ns, length.count)
    by_group = [system.samples(one.name, *asked, "partition", "cpu") for one in shown]
    pooled = request.partition is None
    at_home = homes(system, [sample.end_ns for sample in by_group[0]])
    machines = (
        [
            _Machine(group, sample, at_home.get((group.index, sample.end_ns)))
            for group, sample in zip(shown, parts, strict=True)
        ]
        for parts in zip(*by_group, strict=True)
    )
    return request, [_Moment.of(system, part, pooled=pooled) for part in machines]


def _length(request: Request) -> Request:
    """Interval and count, which the tool takes as flags; a count alone is of its usual delay."""
    spoken = []
    if request.flags.keys() & {"d", "n"}:
        spoken = [request.flags.get("d", _USUAL_DELAY)]
    return parse(_SPOKEN, [*spoken, *filter(None, [request.flags.get("n")])])


def _screen(system: LinuxSystem, moment: _Moment) -> Iterator[str]:
    figures = [one.figures() for one in moment.machines]
    load, used, util = (
        sum(one[name] for one in figures for name in names) / FULL / system.cpus
        for names in (("%RUN", "%RDY"), ("%USED",), ("%RUN",))
    )
    yield f"{_counts(moment)}; CPU load average: {load:.2f}"
    yield f"PCPU USED(%): AVG: {FULL * used:.1f}"
    yield f"PCPU UTIL(%): AVG: {FULL * util:.1f}"
    yield ""
    yield from _table(moment, [one.figures() for one in moment.entities])
    yield ""


def _counts(moment: _Moment) -> str:
    worlds = sum(one.worlds for one in moment.machines)
    there = f"{worlds} worlds, {len(moment.machines)} VMs, {worlds} vCPUs"
    return f"{clock(moment.end_ns)}, {there}"


def _memory_screen(_: LinuxSystem, moment: _Moment) -> Iterator[str]:
    """The memory panel; how much memory a host has is not kept with a run."""
    yield _counts(moment)
    yield ""
    yield from _table(moment, [{**one.memory(), **one.places()} for one in moment.entities])
    yield ""


def _table(moment: _Moment, figures: Sequence[Mapping[str, float | str]]) -> Iterator[str]:
    """A line a pool and a virtual machine, below the names of the columns; `-` where it has none of
    one.
    """
    entities = moment.entities
    names, width = list(figures[-1]), max(16, *(len(one.name) for one in entities))
    each = max(7, *(len(_cell(told.get(name))) for told in figures for name in names))
    heads = " ".join(f"{name:>{each}}" for name in names)
    yield f"{'GID':>8} {'NAME':{width}} {'NWLD':>4} {heads}"
    for one, told in zip(entities, figures, strict=True):
        cells = " ".join(f"{_cell(told.get(name)):>{each}}" for name in names)
        yield f"{one.gid:8d} {one.name:{width}} {one.worlds:4d} {cells}"


def _cell(value: float | str | None) -> str:
    if value is None:
        return "-"
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def _batch(system: LinuxSystem, moments: Sequence[_Moment]) -> str:
    """Batch mode: a heading of counters, a line an interval. What single processors of the host did
    is not kept: their cells are blank, and their number is how many there are.
    """
    told = io.StringIO()
    write = csv.writer(told, quoting=csv.QUOTE_ALL, lineterminator="\n")
    host = rf"\\{system.name}"
    names = [name for name, _ in _cells(system, moments[0])]
    write.writerow(["(PDH-CSV 4.0) (UTC)(0)", *(rf"{host}\{name}" for name in names)])
    for moment in moments:
        time = f"{_DAY} {clock(moment.end_ns)}"
        values = (value for _, value in _cells(system, moment))
        cells = ("" if value is None else _cell(value) for value in values)
        write.writerow([time, *cells])
    return told.getvalue()


def _cells(system: LinuxSystem, moment: _Moment) -> Iterator[tuple[str, float | str | None]]:
    threads = system.run.spec["machine"]["hypervisor"].get("siblings", 1)
    counters = ("% Util Time", *(["% Core Util Time"] if threads > 1 else []))
    for cpu in range(system.cpus):
        yield from ((rf"Physical Cpu({cpu})\{name}", None) for name in counters)
    busy = sum(one.figures()["%RUN"] for one in moment.machines)
    yield r"Physical Cpu(_Total)\% Util Time", busy / system.cpus
    for one in moment.entities:
        group = f"{one.gid}:{one.name}"
        yield rf"Group Cpu({group})\Members in Cpu Group", float(one.worlds)
        told = one.figures()
        for name, counter in _COUNTERS.items():
            yield rf"Group Cpu({group})\{counter}", told[name]
        yield from _worlds(one, group)
        if isinstance(one, _Machine):
            memory = one.memory()
            for name, counter in _MEMORY.items():
                yield rf"Group Memory({group})\{counter}", memory[name]
            for name, value in one.places().items():
                yield rf"Group Memory({group})\{in_batch_mode(name)}", value


def _worlds(one: _Pool | _Machine, group: str) -> Iterator[tuple[str, float]]:
    """What each virtual processor of a machine ran; a pool has none of its own."""
    for number, run in enumerate(one.by_processor() if isinstance(one, _Machine) else []):
        world = f"{group}:{one.gid}{number:03d}:vmx-vcpu-{number}:{one.name}"
        yield rf"Vcpu({world})\% Run", run
