"""What each line of hyptop is computed from: partitions of the machine, or virtual machines of one
of them, counted up to the end of an iteration.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from homenode.model.spec import CpShareSpec, VirtualMachineSpec
from homenode.simulate.kept.totals import NS_PER_S
from homenode.tools.errors import ToolError
from homenode.tools.guestview import GuestView
from homenode.tools.hyptop.units import Value

_US = 1_000
TYPES = ("IFL", "CP", "UN")
"""Core types that the tool tells apart; all others are UN."""


@dataclass(frozen=True)
class System:
    """One line: its name and its values by letter of the field."""

    name: str
    values: Mapping[str, Value]


@dataclass(frozen=True)
class Span:
    """One iteration: from which time to which [ns]."""

    start: int
    end: int

    @property
    def seconds(self) -> float:
        """How long it is [s]."""
        return (self.end - self.start) / NS_PER_S


def spans(view: GuestView, delay_s: float | None, count: int | None) -> list[Span]:
    """The iterations asked for; without a delay one over the whole run, or equal parts of it.

    Raises `ToolError` for a delay that the kept intervals do not make.
    """
    total, step = int(view.spec["duration_ns"]), view.interval_ns
    length = (
        round(delay_s * NS_PER_S) if delay_s is not None else total // (count or 1) // step * step
    )
    if length < step or length % step or length > total:
        asked = f"{delay_s:g} s" if delay_s is not None else f"{count} iterations"
        raise ToolError(
            f"hyptop: {asked} cannot be shown",
            there=f"the run kept {total // step} intervals of {step / NS_PER_S:g} s",
            next_step=f"ask for a delay (-d) that is a multiple of {step / NS_PER_S:g}",
        )
    available = total // length
    if count is not None and count > available:
        raise ToolError(
            f"hyptop: {count} iterations of {length / NS_PER_S:g} s were asked for",
            there=f"the run holds {available}",
            next_step="ask for fewer or shorter ones, or simulate longer",
        )
    return [Span(n * length, (n + 1) * length) for n in range(count or available)]


def kinds_of(view: GuestView, partition: str) -> set[str]:
    """Core types of a partition, as far as the tool tells types apart."""
    return {kind if kind in TYPES else "UN" for kind in view.core_types(partition)}


def physical(view: GuestView) -> dict[str, int]:
    """Active cores by type, as far as the tool tells types apart."""
    found: dict[str, int] = {}
    for kind, count in view.cores_by_type.items():
        name = kind if kind in TYPES else "UN"
        found[name] = found.get(name, 0) + count
    return {kind: found[kind] for kind in TYPES if found.get(kind)}


def lpars(view: GuestView, span: Span, types: Sequence[str] = TYPES) -> list[System]:
    """Partitions of the machine; nothing is counted of those without a core of these types."""
    return [
        System(name, _lpar(view, name, span, counts=not kinds_of(view, name).isdisjoint(types)))
        for name in (str(one["name"]) for one in view.partitions)
    ]


def _lpar(view: GuestView, name: str, span: Span, *, counts: bool) -> dict[str, Value]:
    cores, threads = view.processors(name) * counts, view.smt(name)
    rows = view.rows("partition", name)
    cpus = view.rows("cpu", name)
    core = [_dispatched(part) * counts for part in _parts(rows, span)]
    managed = [part["hypervisor_ns"] * counts for part in _parts(rows, span)]
    thread = core if threads == 1 else [_threads(p) * counts for p in _parts(cpus, span)]
    gain = float(view.spec["machine"]["smt"]["gain"][min(threads, 2) - 1])
    busy, held, own = (_per_s(value[1], span) for value in (core, thread, managed))
    return {
        "#": cores,
        "T": cores * threads,
        "c": busy,
        "e": held,
        "S": _smt_us(busy, held, own, gain if threads == 2 else None),
        "m": own,
        "C": core[0] // _US,
        "E": thread[0] // _US,
        "M": managed[0] // _US,
        "o": span.end // _US if counts else 0,
    }


def _parts(rows: pl.DataFrame, span: Span) -> list[dict[str, int]]:
    """Counters from the start to the end of the iteration, and in it."""
    ends = pl.col("time_ns") <= span.end
    found = []
    for chosen in (rows.filter(ends), rows.filter(ends & (pl.col("time_ns") > span.start))):
        sums = chosen.sum().to_dicts()[0]
        found.append({name: int(value or 0) for name, value in sums.items()})
    return found


def _dispatched(counted: Mapping[str, int]) -> int:
    """Time that cores worked for the partition, without the hypervisor's own [ns]."""
    return max(counted["busy_ns"] - counted["hypervisor_ns"], 0)


def _threads(counted: Mapping[str, int]) -> int:
    """Time that threads were busy [ns]."""
    return counted.get("ticks_busy_ns", 0) or counted["user_ns"] + counted["sys_ns"]


def _per_s(ns: int, span: Span) -> int:
    """Microseconds a second."""
    return round(ns / _US / span.seconds)


def _smt_us(core: int, thread: int, managed: int, gain: float | None) -> int:
    """Real utilisation of cores with two threads: of the time that a core was held, the part with
    one thread busy uses as much as that thread can, which is 1/gain of the core.

    s390-tools, hyptop: ((2 core - thread) / gain + (thread - core) + management); the gain is the
    machine's.
    """
    if gain is None:
        return core + managed
    return round((2 * core - thread) / gain + (thread - core) + managed)


def guests(view: GuestView, partition: str, span: Span) -> list[System]:
    """Virtual machines of a partition with z/VM."""
    told = view.zvm(partition)["machines"]
    table = view.rows("virtual_machine", partition)
    by_number = {key[0]: rows for key, rows in table.group_by("virtual_machine")}
    return [
        System(str(one["name"]), _guest(one, by_number.get(number, table.clear()), span))
        for number, one in enumerate(told)
    ]


def _guest(machine: VirtualMachineSpec, rows: pl.DataFrame, span: Span) -> dict[str, Value]:
    total, recent = (
        part["guest_ns"] + part["chargeable_ns"] if part else 0 for part in _parts(rows, span)
    )
    most = machine["maximum"]
    return {
        "#": machine["cpus"],
        "O": machine["cpus"],
        "c": _per_s(recent, span),
        "C": total // _US,
        "o": span.end // _US,
        "u": None,
        "a": machine["memory_bytes"] >> 10,
        "r": _relative(machine["share"]),
        "x": 0 if most is None else _relative(most),
    }


def _relative(share: CpShareSpec) -> int:
    """The share as the tool tells it: 0 for one that is absolute."""
    return int(share.get("relative", 0))
