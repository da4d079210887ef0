"""Daemons of several threads, out of what their processes were recorded to use.

Which they are is known by name: those that write files out. nmon lists how many threads a process
has and its processor time in each interval, and leaves out processes that used next to nothing.
Both are counted as user and kernel time is, so that of the partition's work in a window the daemon
did the share that it has of that time; the rest comes as bursts, as ever.

No recording tells how many of the threads wake at a time nor how often. All of them is assumed, so
that what the last threads of a core get is the most that such a daemon can give them; and twenty
times in a window as it is played, so that a window's work is done within it. `syncd` has them wake
every 60 seconds at least (IBM, AIX Performance Tuning Guide, "Performance Implications of
sync/fsync"). In the recording of a POWER7 partition that has them the work of the threads of a core
is the same with wake-ups from 0.1 to 60 s apart, but more are unfolded the oftener they come.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from homenode.model.spec import Spec
from homenode.records.importing.assemble.beside import Told, Values, by_window
from homenode.records.importing.assemble.plan import Planned, PlannedGang
from homenode.records.importing.assemble.windows import Windows
from homenode.records.importing.facts import Facts, Quantity
from homenode.simulate.settle.probe import Probe, Rates

_LEAST_SHARE = 0.01
"""Of a partition's busy time, below which a daemon is one of those that every guest has."""
WAKE_UPS = 20
"""In a window as it is played."""
_MOST_SHARE = 0.9
"""Of a window's work that is a daemon's at most: the rest is looked for by playing."""


def set_gangs(
    facts: Facts, planned: Sequence[Planned], windows: Windows, beside: Mapping[str, Told]
) -> None:
    """Give each partition the daemons that were recorded of it."""
    for one in planned:
        states = beside[one.name].windows if one.name in beside else {}
        if one.recorded is None or not {"user_cores", "sys_cores"} <= set(states):
            continue
        both = zip(states["user_cores"], states["sys_cores"], strict=True)
        busy = [None if user is None or own is None else user + own for user, own in both]
        key = (one.facts.system, one.facts.name)
        for told in facts.gangs:
            if (told.system, told.partition) == key:
                shares = _shares(by_window(told.table, "cores", windows), busy)
                mean = _mean(shares, busy)
                if mean >= _LEAST_SHARE and told.threads.value > 1:
                    gang = PlannedGang(told.name, told.threads, told.report, shares)
                    one.gangs = (*one.gangs, gang)


def _shares(cores: Values, busy: Sequence[float | None]) -> tuple[float, ...]:
    return tuple(
        min(_MOST_SHARE, used / all_of) if used and all_of else 0.0
        for used, all_of in zip(cores, busy, strict=True)
    )


def _mean(shares: Sequence[float], busy: Sequence[float | None]) -> float:
    every = sum(one or 0.0 for one in busy)
    used = sum(share * (one or 0.0) for share, one in zip(shares, busy, strict=True))
    return used / every if every else 0.0


def split(
    one: Planned, rates: Sequence[float], windows: Sequence[int] | None = None
) -> tuple[list[float], list[list[float]]]:
    """Of the work of a partition's windows, all if none are named, what comes as bursts, and what
    each daemon does.
    """
    there = range(len(rates)) if windows is None else windows
    each = [
        [gang.shares[at] * rate for at, rate in zip(there, rates, strict=True)]
        for gang in one.gangs
    ]
    rest = [max(0.0, rate - sum(parts)) for rate, *parts in zip(rates, *each, strict=True)]
    return rest, each


def own_share(one: Planned) -> float:
    """Of a partition's work what comes as bursts, over all windows."""
    used = [sample.cores for sample in one.recorded.samples] if one.recorded is not None else []
    if not one.gangs or len(used) != len(one.gangs[0].shares):
        return 1.0
    rest, _ = split(one, used)
    return sum(rest) / sum(used)


class SplitProbe(Probe):
    """A scenario whose demand is replaced, the daemons' part and all: of as many steps as there are
    windows they do their share, of others nothing.
    """

    def __init__(
        self, spec: Spec, quantities: Mapping[str, Quantity], planned: Sequence[Planned]
    ) -> None:
        super().__init__(spec, quantities)
        self._planned = {one.name: one for one in planned if one.gangs}

    def _with(self, rates: Rates, step_ns: int, windows: Sequence[int] | None = None) -> Spec:
        bursts = dict(rates)
        work = {name: [[0.0] for _ in one.gangs] for name, one in self._planned.items()}
        for name, one in self._planned.items():
            known = windows is not None or len(rates.get(name, ())) == len(one.gangs[0].shares)
            if name in rates and known:
                bursts[name], work[name] = split(one, rates[name], windows)
        spec = super()._with(bursts, step_ns)
        for partition in spec["partitions"]:
            guest = partition["guest"]
            if partition["name"] in work and guest["os"] != "zvm":
                found = work[partition["name"]]
                guest["gangs"] = [
                    {**gang, "lengths_ns": [step_ns] * len(one), "instructions_per_s": one}
                    for gang, one in zip(guest["gangs"], found, strict=True)
                ]
        return spec
