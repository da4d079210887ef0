"""What stands before the first snapshot: who recorded what (`AAA`), the partition (`BBBL`), what
the system's own commands say (`BBBP`).

The server's serial number is the id of the run: it tells that files belong to one server. Commands
that count since the system was started (`lparstat -H`, `mpstat -d`) tell the whole measured time.
"""

from __future__ import annotations

from collections.abc import Iterator

from homenode.records.exporting.nmon.recording import Recording, date_of
from homenode.tools import Limits, lparstat, lssrad, mpstat
from homenode.version import program_version

_NOTES = (
    "Warning - use the UNIX sort command to order this file before loading into a spreadsheet",
    "The First Column is simply to get the output sorted in the right order",
    "The T0001-T9999 column is a snapshot number. The ZZZZ rows give the time of each",
)
_TUNABLES = "NAME                      CUR    DEF    BOOT   MIN    MAX    UNIT           TYPE"
_RULE = "n" + "-" * 79


def _who(recording: Recording) -> Iterator[str]:
    yield "AAA,progname,homenode"
    yield f"AAA,command,homenode export {recording.run.id} --as nmon -p {recording.partition}"
    yield f"AAA,version,{program_version()}"


def _when(recording: Recording) -> Iterator[str]:
    begins = recording.begins
    yield f"AAA,runname,{recording.run.name}"
    yield f"AAA,time,{begins:%H:%M:%S}"
    yield f"AAA,date,{date_of(begins)}"
    yield f"AAA,interval,{recording.seconds}"
    yield f"AAA,snapshots,{len(recording.samples)}"


def _notes() -> Iterator[str]:
    """What nmon says of its own layout."""
    for number, note in enumerate(_NOTES):
        yield f"AAA,note{number}, {note}"


def aix(recording: Recording) -> Iterator[str]:
    """`AAA` and `BBBL` of AIX."""
    told = recording.told
    most = told.processors.maximum if told.processors else told.vps
    yield from _who(recording)
    yield "AAA,build,AIX"
    yield f"AAA,host,{recording.host}"
    yield "AAA,user,homenode"
    yield f"AAA,AIX,{told.level}"
    yield from _when(recording)
    yield f"AAA,cpus,{most * told.smt:.0f},{told.lcpu}"
    yield f"AAA,SerialNumber,{recording.run.id}"
    yield f"AAA,LPARNumberName,{told.number},{told.name}"
    model = recording.run.machine_facts.get("model")
    if model:
        yield f"AAA,MachineType,IBM,{model}"
    yield f"AAA,NodeName,{recording.host}"
    yield from _notes()
    for number, (label, value) in enumerate(_partition(recording), start=1):
        yield f"BBBL,{number:02d},{label},{value}"


def _partition(recording: Recording) -> Iterator[tuple[str, object]]:
    told = recording.told
    virtual = told.processors or _only(told.vps)
    capacity = told.capacity or _only(told.ent)
    memory = told.memory or _only(told.mem_mb)
    yield "lparno", told.number
    yield "lparname", told.name
    yield "CPU in sys", told.active_cores
    yield "Virtual CPU", told.vps
    yield "Logical CPU", told.lcpu
    yield "smt threads", told.smt
    yield "capped", int(told.mode != "Uncapped")
    yield "min Virtual", f"{virtual.minimum:.0f}"
    yield "max Virtual", f"{virtual.maximum:.0f}"
    yield "min Logical", f"{virtual.minimum:.0f}"
    yield "max Logical", f"{virtual.maximum * told.smt:.0f}"
    yield "min Capacity", f"{capacity.minimum:.2f}"
    yield "max Capacity", f"{capacity.maximum:.2f}"
    yield "Entitled Capacity", f"{told.ent:.2f}"
    yield "min Memory MB", f"{memory.minimum:.0f}"
    yield "max Memory MB", f"{memory.maximum:.0f}"
    yield "online Memory", told.mem_mb
    if told.is_shared:
        yield "Pool CPU", told.psize
        yield "Weight", told.weight if told.mode == "Uncapped" else 0
        yield "pool id", told.pool
    yield "Flags", _flags(recording)


def _only(online: float) -> Limits:
    """Limits of which nothing is told."""
    return Limits(online, online, online)


def _flags(recording: Recording) -> str:
    told = recording.told
    kind = "Shared" if told.is_shared else "Dedicated"
    capped = "UnCapped" if told.mode == "Uncapped" else "Capped"
    donating = "Donating" if told.is_donating else "Not-Donating"
    smt = "SMT " if told.smt > 1 else ""
    return f"LPARed {smt}{kind} {capped} {donating}."


def reports(recording: Recording) -> Iterator[str]:
    """`BBBP`: what the commands of AIX print."""
    view = recording.frames
    chosen = ["-p", recording.partition]
    texts = {
        "lparstat -i": lparstat.render(view, [*chosen, "-i"]),
        "lparstat -H": lparstat.render(view, [*chosen, "-H"]),
        "mpstat -d": mpstat.render(view, [*chosen, "-d"]),
        "lssrad": lssrad.render(view, [*chosen, "-av"]),
        "schedo -F -L": _tunables(recording),
    }
    number = 0
    for command, text in texts.items():
        yield f"BBBP,{number:03d},{command}"
        number += 1
        for line in text.splitlines():
            yield f'BBBP,{number:03d},{command},"{line}"'
            number += 1


def _tunables(recording: Recording) -> str:
    """The tunables that the model has, with the value in force; other columns are not known."""
    guest = recording.guest
    delay = guest["snooze_delay_ns"]
    rows = [
        ("smt_snooze_delay", -1 if delay is None else round(delay / 1000), "microsecs"),
        ("vpm_fold_threshold", round(guest["fold_threshold_pct"]), "percent"),
        ("vpm_throughput_mode", guest["throughput_mode"], "level"),
        ("vpm_xvcpus", guest["xvcpus"], "processors"),
    ]
    lines = [_TUNABLES, "     DEPENDENCIES", _RULE]
    for name, value, unit in rows:
        lines += [f"{name:<26}{value:<7}{'-':<7}{'-':<7}{'-':<7}{'-':<7}{unit:<18}D", _RULE]
    return "\n".join(lines)


def linux(recording: Recording) -> Iterator[str]:
    """`AAA` of Linux."""
    told = recording.told
    yield from _who(recording)
    yield f"AAA,host,{recording.host}"
    yield "AAA,user,homenode"
    yield "AAA,OS,Linux"
    yield from _when(recording)
    yield f"AAA,cpus,{told.lcpu}"
    yield "AAA,proc_stat_variables,8"
    yield from _notes()
