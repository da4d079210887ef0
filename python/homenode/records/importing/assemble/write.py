"""The files of a scenario: its text, every value with where it comes from, and the table of demand
beside it, with the rates that a run is played with.
"""

from __future__ import annotations

import datetime as dt
import io
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from math import floor, log10
from statistics import median
from typing import TYPE_CHECKING

from homenode.model.document.write import toml_value
from homenode.model.units import TIME
from homenode.records.importing.assemble.beside import Values
from homenode.records.importing.assemble.gangs import WAKE_UPS, split
from homenode.records.importing.assemble.hardware import ChosenMachine
from homenode.records.importing.assemble.plan import MB, Line, Planned, PlannedGang, pool_of
from homenode.records.importing.assemble.windows import Windows
from homenode.records.importing.shared.words import counted

if TYPE_CHECKING:
    import polars as pl

DEMAND_FILE = "demand.parquet"
WARMUP = "10 s"
_WIDTH = 100


def scenario_text(
    name: str | None,
    machine: ChosenMachine,
    planned: Sequence[Planned],
    windows: Windows | None,
    step_ns: int,
    profile: str,
    told: Sequence[str],
    files: Sequence[str],
    npartitions: Sequence[Sequence[Line]] = (),
) -> str:
    """A scenario file; `told` are lines on how far its demand is from what was recorded.

    With `npartitions` it is of a server of cells; listings of one say nothing of how long to run.
    """
    lines = [
        *_wrapped(f"Imported from {', '.join(files)}."),
        "# Behind each value stands the line it was read from, or what was assumed.",
        *(text for line_ in told for text in _wrapped(line_)),
        "",
        *([] if name is None else [f"name = {toml_value(name)}", ""]),
        *_machine(machine, planned),
    ]
    for table in npartitions:
        lines += ["", "[[npartition]]", *_lines(table)]
    for pool in _pools(planned):
        lines += ["", *pool]
    for one in planned:
        lines += ["", *_partition(one, step_ns, profile)]
    if windows is not None or not npartitions:
        lines += ["", *_run(windows, step_ns)]
    return "\n".join(lines) + "\n"


def _line(key: str, value: object, origin: str) -> str:
    """A key with its value; where it comes from stands above it if the line would be long."""
    text, comment = f"{key} = {toml_value(value)}", f"# {_plain(origin)}"
    whole = f"{text}  {comment}"
    return whole if len(whole) <= _WIDTH else f"{comment}\n{text}"


def _plain(text: str) -> str:
    """A text that fits a comment."""
    return "".join(c if c.isprintable() else "?" for c in text)


def _wrapped(text: str) -> Iterator[str]:
    """A comment in lines of a hundred characters."""
    for part in textwrap.wrap(_plain(text), 98, break_long_words=False, break_on_hyphens=False):
        yield f"# {part}"


def _machine(machine: ChosenMachine, planned: Sequence[Planned]) -> Iterator[str]:
    key, value = machine.reference
    yield "[machine]"
    yield _line(key, value, machine.reason)
    if machine.active_cores != machine.description.active_cores:
        yield _line("active_cores", machine.active_cores, machine.active_reason)
    used, told = _types(planned), machine.types
    if len(used | told) > 1:
        types = {kind: used.get(kind, 0) for kind in sorted(used | told)}
        origin = "assumed: as many of each type as are used at least"
        if told and all(told[kind].value >= types[kind] for kind in used if kind in told):
            types |= {kind: one.value for kind, one in told.items()}
            origin = ", ".join(str(one.where) for one in told.values())
        yield _line("characterized", types, origin)
    for dotted, (number, origin) in machine.overrides.items():
        yield _line(dotted, number, origin)


def _types(planned: Sequence[Planned]) -> dict[str, int]:
    """Cores by type on a mainframe: the dedicated ones and those of the largest shared one."""
    found: dict[str, list[int]] = {}
    for one in planned:
        kind = one.processors.get("type")
        if kind is not None:
            own, largest = found.setdefault(str(kind.value), [0, 0])
            if one.shared:
                found[str(kind.value)][1] = max(largest, one.virtual)
            else:
                found[str(kind.value)][0] = own + one.virtual
    return {kind: own + largest for kind, (own, largest) in sorted(found.items())}


def _pools(planned: Sequence[Planned]) -> Iterator[list[str]]:
    seen: set[str] = set()
    for one in planned:
        name = one.processors.get("pool")
        if name is None or str(name.value) in seen:
            continue
        seen.add(str(name.value))
        lines = ["[[pool]]", _line("name", name.value, name.origin)]
        told = one.facts.pool
        if told is not None and told.value.strip().isdigit() and pool_of(one.facts):
            number = int(told.value)
            if 0 < number < 64:
                lines.append(_line("number", number, str(told.where)))
        most = one.facts.pool_maximum
        if most is not None:
            lines.append(_line("maximum", most.value, str(most.where)))
        yield lines


def _partition(one: Planned, step_ns: int, profile: str) -> Iterator[str]:
    facts = one.facts
    yield "[[partition]]"
    yield _line("name", one.name, one.name_origin)
    if facts.number is not None:
        yield _line("number", facts.number.value, str(facts.number.where))
    yield from _lines(one.more)
    origins = together([value.origin for value in one.processors.values()])
    values: dict[str, object] = {key: value.value for key, value in one.processors.items()}
    if one.pins:
        values["pins"] = list(one.pins)
    yield _line("processors", values, origins)
    if one.smt is not None:
        yield _line("smt", one.smt.value, one.smt.origin)
    yield from _memory(one)
    if one.home:
        yield _line("home", list(one.home), one.home_origin)
    if one.kvm is not None:
        yield _line("kvm", one.kvm.value, one.kvm.origin)
    yield from _guest(one, step_ns)
    if one.machines:
        yield from _machines(one, profile)
    elif one.workload is not None:
        yield _line("workload", one.workload.value, one.workload.origin)
    elif one.recorded is None:
        yield _line("workload", {"kind": "idle"}, "nothing tells what it used")
    else:
        yield from _recorded(one, step_ns, profile)
    if not one.machines:
        yield from _bounds(one)


def _guest(one: Planned, step_ns: int) -> Iterator[str]:
    """The guest, with the daemons that were recorded of it."""
    daemons: dict[str, object] = {"rate": "0/s"} if one.is_quiet else {}
    origin = one.guest.origin
    if one.is_quiet:
        origin = f"{origin}; so little was recorded that its daemons are part of it"
    if one.gangs:
        step = TIME.format(step_ns)
        daemons["gangs"] = [
            {
                "name": gang.name,
                "threads": gang.threads.value,
                "every": TIME.format(step_ns // WAKE_UPS),
                "file": DEMAND_FILE,
                "series": _series(one, gang),
                "step": step,
            }
            for gang in one.gangs
        ]
    for gang in one.gangs:
        told = f"{gang.name}: {gang.threads.value} threads ({gang.threads.where}), of the work of a"
        told += f" window as much as of its busy time ({gang.report}); that all wake at once, and"
        yield from _wrapped(f"{told} how often, is assumed")
    used = {} if one.memory_used is None else {"memory_used": one.memory_used}
    settings = {key: value.value for key, value in one.inside}
    guest = {"os": one.guest.value, **settings, **used, **({"daemons": daemons} if daemons else {})}
    origin = together([origin, *(value.origin for _, value in one.inside)])
    yield _line("guest", guest, origin)


def _machines(one: Planned, profile: str) -> Iterator[str]:
    """The virtual machines of a z/VM, with the profile that all of them have."""
    workload = {"kind": "idle", "profile": profile}
    yield _line("workload", workload, "its virtual machines work; the profile is assumed")
    for machine in one.machines:
        yield ""
        yield "[[partition.virtual_machine]]"
        yield from _lines(machine)


def _series(one: Planned, gang: PlannedGang) -> str:
    """What a daemon's work is called in the table of demand."""
    return f"{one.name}/{gang.name}"


def _recorded(one: Planned, step_ns: int, profile: str) -> Iterator[str]:
    """The workload that plays what was recorded."""
    workload: dict[str, object] = {"kind": "trace", "file": DEMAND_FILE}
    workload["step"] = TIME.format(step_ns)
    if one.bursts is None:
        workload["profile"] = profile
        origin = "recorded cores as work; the profile and its bursts are assumed"
        yield _line("workload", workload, origin)
        return
    length = one.bursts.instructions
    whole = round(length, 3 - floor(log10(length))) if length >= 1.0 else 1
    workload["profile"] = {"base": profile, "instructions": int(whole)}
    yield "# recorded cores as work; the profile is assumed, but for its bursts:"
    yield from _wrapped(one.bursts.switched.sentence)
    yield f"workload = {toml_value(workload)}"


def _lines(table: Sequence[Line]) -> Iterator[str]:
    return (_line(key, value.value, value.origin) for key, value in table)


def _memory(one: Planned) -> Iterator[str]:
    """One value, or parts: in a line if they are told together, else a line each."""
    if not one.parts:
        yield _line("memory", size(one.memory.value), one.memory.origin)
        return
    parts = [
        {"size": size(part.size), "on": part.place, **({"use": "floating"} if part.floats else {})}
        for part in one.parts
    ]
    origins = [part.origin for part in one.parts]
    if len(set(origins)) == 1:
        yield _line("memory", parts, origins[0])
        return
    yield "memory = ["
    for part, origin in zip(parts, origins, strict=True):
        yield f"  {toml_value(part)},  # {_plain(origin)}"
    yield "]"


def together(origins: Sequence[str]) -> str:
    """Several origins as one: lines of one file side by side."""
    found: dict[str, list[str]] = {}
    for origin in dict.fromkeys(origins):
        file, colon, number = origin.rpartition(":")
        if colon and number.isdigit():
            found.setdefault(file, []).append(number)
        else:
            found.setdefault(origin, [])
    parts = [
        f"{file}:{', '.join(sorted(lines, key=int))}" if lines else file
        for file, lines in found.items()
    ]
    return "; ".join(parts)


def _bounds(one: Planned) -> Iterator[str]:
    """Minimum, maximum and desired values, for `lparstat -i`."""
    count = "virtual" if one.shared else "cores"
    has = {count: one.virtual, "memory": _total(one)}
    if "entitlement" in one.processors:
        has["entitlement"] = one.processors["entitlement"].value  # type: ignore[assignment]
    for which in ("minimum", "maximum", "desired"):
        told: Mapping[str, object] = getattr(one.facts, which)
        found: dict[str, object] = {}
        origins: list[str] = []
        for key, number in getattr(one.facts, which).items():
            name = {"virtual": count, "memory_bytes": "memory"}.get(key, key)
            if name not in has or not _in_order(which, number.value, float(has[name])):
                continue
            whole = int(number.value)
            found[name] = {"memory": size(whole), count: whole}.get(name, number.value)
            origins.append(str(number.where))
        if found and told:
            yield _line(which, found, together(origins))


def _in_order(which: str, value: float, has: float) -> bool:
    """Whether a bound is one that the scenario takes."""
    if value <= 0:
        return False
    return {"minimum": value <= has, "maximum": value >= has}.get(which, True)


def _total(one: Planned) -> int:
    return sum(part.size for part in one.parts) or one.memory.value


def _run(windows: Windows | None, step_ns: int) -> Iterator[str]:
    yield "[run]"
    if windows is None:
        yield 'duration = "60 s"'
        yield "replications = 1"
        return
    step = TIME.format(step_ns)
    duration = TIME.format(step_ns * windows.count)
    yield f"warmup = {toml_value(WARMUP)}"
    yield _line("duration", duration, _played(windows, step_ns))
    yield _line("interval", step, "a window")
    yield "replications = 1"


def _played(windows: Windows, step_ns: int) -> str:
    """How many windows of which recorded length, and how long each is played if not for that."""
    usual_ns = round(median(windows.seconds) * 1000) * 1_000_000
    recorded = f"{counted(windows.count, 'window')} of {TIME.format(usual_ns)}"
    if usual_ns == step_ns:
        return recorded
    each = "" if windows.count == 1 else "each "
    return f"{recorded}, {each}played for {TIME.format(step_ns)}"


def size(amount: int) -> str:
    """Bytes as a size, in whole GiB or MiB."""
    whole, rest = divmod(amount, 1 << 30)
    return f"{whole} GiB" if not rest else f"{max(1, round(amount / MB))} MiB"


def demand_table(
    planned: Sequence[Planned],
    windows: Windows,
    rates: Mapping[str, Sequence[float]],
    beside: Mapping[str, Mapping[str, Values]],
) -> pl.DataFrame:
    """A row a window and partition: `partition`, `step`, `time` (end of the window), `seconds`
    (recorded), `cores` (as recorded), `folded`, `instructions_per_s` (the work), `quantity` (what
    the cores are, as `Series` says), and what was recorded `beside`, by partition and column. A
    daemon of several threads has rows of its own, with its work alone.
    """
    import polars as pl

    ends = [windows.begin + dt.timedelta(seconds=end) for end in windows.ends]
    parts = []
    for one in planned:
        if one.recorded is None:
            continue
        told = windows.partitions[one.recorded.partition]
        rest, gangs = split(one, rates[one.name])
        part = {
            "step": list(range(windows.count)),
            "time": ends,
            "seconds": list(windows.seconds),
            "cores": [window.cores for window in told],
            "folded": [window.folded for window in told],
            "instructions_per_s": rest,
        }
        schema: dict[str, pl.DataType | type[pl.DataType]] = {
            "step": pl.Int64,
            "time": pl.Datetime("us"),
            "seconds": pl.Float64,
            "cores": pl.Float64,
            "folded": pl.Float64,
            "instructions_per_s": pl.Float64,
        }
        frame = pl.DataFrame(part, schema=schema)
        name = pl.lit(one.name).alias("partition")
        quantity = pl.lit(one.recorded.quantity).alias("quantity")
        more = [
            pl.Series(column, list(values), dtype=pl.Float64)
            for column, values in beside.get(one.name, {}).items()
        ]
        parts.append(frame.select(name, pl.all(), quantity, *more))
        for gang, of_gang in zip(one.gangs, gangs, strict=True):
            work = pl.Series("instructions_per_s", of_gang, dtype=pl.Float64)
            series = pl.lit(_series(one, gang)).alias("partition")
            parts.append(frame.select(series, "step", "time", "seconds", work))
    return pl.concat(parts, how="diagonal")


def packed(table: pl.DataFrame) -> bytes:
    """The table as Parquet: the same bytes for the same table."""
    buffer = io.BytesIO()
    table.write_parquet(buffer, compression="zstd", statistics=False)
    return buffer.getvalue()
