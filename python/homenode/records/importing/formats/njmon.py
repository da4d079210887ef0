"""njmon: the JSON of AIX, Linux on Power and Linux on x86.

What is used of a shared-processor partition is `cpu_util.physical_consumed` of AIX or
`ppc64_lparcfg.physical_consumed` of Linux on Power; of cores of one's own,
`cpu_util.physical_busy`; of hosts, the busy part of `cpu_total`. Capacities stand in hundredths of
a core in `config`, but for `entitled_proc_capacity`; memory in megabytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from homenode.records.importing.facts import (
    Beside,
    Facts,
    PartitionFacts,
    Quantity,
    Series,
    SystemFacts,
    Told,
)
from homenode.records.importing.formats import lparcfg
from homenode.records.importing.opening.contents import Input
from homenode.records.importing.opening.sources import Notice
from homenode.records.importing.shared import columns
from homenode.records.importing.shared.forms import FileFormat
from homenode.records.importing.shared.recorded import (
    CLOCK,
    Clock,
    Recorded,
    clock_of,
    read_recording,
    tell_threads,
    timed,
)
from homenode.records.importing.shared.servers import NO_SERVER
from homenode.records.importing.shared.words import counted, named_after

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

_OWN = re.compile(
    rb'"timestamp"\s*:\s*\{\s*"(?:datetime|UTC)"\s*:[^{}]*"snapshot_(?:seconds|loop|maxloops)"'
)
_STATES = ("user", "sys", "wait", "idle")
_BUSY = ("user", "nice", "sys", "hardirq", "softirq")
"""Time of guests is in `user`."""
_LPARCFG = ("ppc64_lparcfg", "lparcfg")
_BESIDE: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "kernel": {
        "context_switches_per_s": ("pswitch",),
        "runnable_threads": ("run_queue",),
        "interrupts_per_s": ("devintrs",),
        "phint_per_s": ("phantintrs",),
    },
    "partition_type": {"vcsw_per_s": ("vol_virt_cswitch", "invol_virt_cswitch")},
    "stat_counters": {"context_switches_per_s": ("ctxt",)},
}
"""What sections tell beside use: each figure is the sum of these fields."""
_WANTED = (CLOCK, "cpu_util", "cpu_physical_total", "cpu_total", *_BESIDE, *_LPARCFG)
_MB = 1 << 20
_HALF = 0.0006
"""Half a unit of the third digit, which is the last that is printed, and a little."""

Section = Mapping[str, Any]


class NjmonFormat:
    """A recording of njmon, of one host or several."""

    name = "njmon"

    def recognises(self, head: bytes, name: str) -> bool:
        """See `FileFormat.recognises`."""
        del name
        return _OWN.search(head) is not None

    def read(self, source: Input, facts: Facts) -> None:
        """See `FileFormat.read`."""
        read_recording(source, facts, "njmon", _WANTED, "hosts", _Host)

    def write_tables(self, source: Input, folder: Path) -> list[Path]:
        """All sections as Parquet files in an empty folder."""
        return columns.write_tables(source, "njmon", folder)


class _Host:
    """The samples of one host."""

    def __init__(
        self, source: Input, facts: Facts, found: Recorded, index: int, host: dict[str, Any]
    ) -> None:
        self.source, self.facts, self.found, self.index = source, facts, found, index
        self.host: Section = host
        self.where = source.at(host["line"])
        self.config = self.section("config")
        self.lparcfg_name = next((it for it in _LPARCFG if self.section(it)), _LPARCFG[0])
        self.lparcfg = self.section(self.lparcfg_name)
        self.is_aix = bool(self.config)
        self.server = self._server()
        self.partition = facts.partition(self.server.key or None, self._name())

    def section(self, name: str) -> Section:
        """A section of the first sample; empty if it has none."""
        found = (self.host["first"] or {}).get(name)
        return found if isinstance(found, dict) else {}

    def _server(self) -> SystemFacts:
        power = self.is_aix or bool(self.lparcfg)
        serial = str(
            self.section("server").get("serial_no")
            or self.lparcfg.get("serial_number")
            or (self.section("identity").get("serial-number") if power else None)
            or ""
        )
        serial = serial.rsplit(",", 1)[-1].strip()
        if not power:
            return self.facts.system(self._name())
        return self.facts.system(serial or NO_SERVER)

    def _name(self) -> str:
        named = self.config.get("partitionname") or self.lparcfg.get("partition_name")
        return str(named or self.host["name"] or named_after(self.source.file))

    def give(self, of: PartitionFacts | SystemFacts, attribute: str, value: Any) -> None:
        """Tell an attribute, if there is a value."""
        if value is not None and value != "":
            self.facts.tell(of, attribute, Told(value, self.where))

    def tell(self) -> None:
        """Add what the first sample says of the partition and its server."""
        if self.is_aix:
            self._aix()
        elif self.lparcfg:
            self._lparcfg()
            self.give(self.partition, "logical", len(self.section("cpus")) or None)
        else:
            self._linux()
            return
        tell_threads(self.facts, self.partition, self.where)

    def _aix(self) -> None:
        kind, of, config = self.section("partition_type"), self.partition, self.config
        shared = _flag(kind, "shared_enabled")
        lpar = str(self.section("server").get("lpar_number_name", ""))
        number = re.match(r"\d+", lpar)
        self.give(of, "number", int(number[0]) if number else None)
        self.give(of, "os", "aix")
        if shared is not None:
            self.give(of, "mode", "shared" if shared else "dedicated")
        if shared is not False:
            self.give(of, "entitlement", _amount(config, "entitled_proc_capacity"))
            self.give(of, "capped", _flag(kind, "capped"))
            self.give(of, "weight", _whole(config, "cpucap_weightage"))
            pool = _whole(config, "processor_poolid")
            self.give(of, "pool", None if pool is None else str(pool))
        else:
            self.give(of, "donating", _flag(kind, "donate_enabled"))
        self.give(of, "virtual", _whole(config, "vcpus_online"))
        self.give(of, "logical", _whole(config, "lcpus"))
        self.give(of, "smt", _whole(config, "smtthreads"))
        self.give(of, "memory_bytes", _whole(config, "mem_online", _MB))
        self._limits()
        self._aix_server()

    def _limits(self) -> None:
        of = self.partition
        kinds = {"min": of.minimum, "max": of.maximum, "desired": of.desired}
        quantities = (
            ("entitlement", "cpucap", 0.01),
            ("virtual", "vcpus", 1.0),
            ("memory_bytes", "mem", float(_MB)),
        )
        for kind, limits in kinds.items():
            for quantity, name, unit in quantities:
                value = _amount(self.config, f"{name}_{kind}", unit)
                if value is not None:
                    limits.setdefault(quantity, Told(value, self.where))

    def _aix_server(self) -> None:
        of, config = self.server, self.config
        machine = str(self.section("server").get("machine_type", ""))
        self.give(of, "model", machine.rsplit(",", 1)[-1].strip())
        self.give(of, "architecture", "power")
        self.give(of, "hypervisor", "powervm")
        family = re.search(r"POWER\d+", str(config.get("processorModel", "")))
        self.give(of, "processor", family[0] if family else None)
        self.give(of, "clock_hz", _amount(config, "processorMHz", 1e6))
        self.give(of, "cores", _whole(config, "pcpu_online"))
        self.give(of, "installed_cores", _whole(config, "pcpu_max"))
        self.give(of, "pool_cores", _whole(config, "sharedpcpu"))

    def _lparcfg(self) -> None:
        """Linux on Power: `/proc/ppc64/lparcfg`, with the server's number if it is elsewhere."""
        fields = {"serial_number": self.server.key, **self.lparcfg}
        version = fields.pop("lparcfg_version", "1.9")
        lines = (f"{key}={value}\n" for key, value in fields.items())
        text = f"lparcfg {version}\n{''.join(lines)}"
        found = lparcfg.parsed(text.encode(), self.where)
        name = self.partition.name
        lparcfg.tell(found, self.facts, lambda _: self.where, name, self.source.file)

    def _linux(self) -> None:
        """A host; whether it is a virtual one the file does not say."""
        self.give(self.partition, "os", "linux")
        self.give(self.partition, "logical", len(self.section("cpus")) or None)
        first = next((one for one in self.section("cpuinfo").values() if isinstance(one, dict)), {})
        self.give(self.server, "processor", str(first.get("model_name", "")))
        clock = next((key for key in ("cpu_mhz", "mhz_clock") if key in first), "")
        self.give(self.server, "clock_hz", _amount(first, clock, 1e6))

    def series(self) -> tuple[str, int]:
        """Add what was used; what it is in words, and how many samples were left out."""
        name, notices = self.partition.name, self.facts.notices
        times = self.found.table(self.index, CLOCK)
        use = self._use()
        if times is None or use is None:
            return f"what {name} is; no samples", 0
        times, ahead_s = _one_zone(times)
        stamp = self.section("timestamp")
        interval = _amount(stamp, "snapshot_seconds")
        clock = clock_of(times, interval or None, None, notices, self.source)
        if clock is None:
            notices.append(
                Notice("one sample, of which no length is told, is left out", self.where)
            )
            return f"what {name} is; no samples", len(times)
        rows, quantity, note = use
        table, left = timed(clock, rows)
        if left:
            text = f"{left} samples of {name} have no cores: left out"
            notices.append(Notice(text, self.where))
        if table.is_empty():
            return f"what {name} is; no samples", left
        key = self.server.key or None
        file = self.source.file
        self.facts.series.append(Series(name, key, quantity, table, file, note, ahead_s))
        for section, figures in _beside(self.found, self.index, clock):
            self.facts.beside.append(Beside(name, key, figures, self.source.file, section))
        samples = counted(len(table), "sample")
        return f"{samples} of {clock.interval:g} s of partition {name}", left

    def _use(self) -> tuple[pl.DataFrame, Quantity, str] | None:
        """Rows of `snapshot`, `line`, `cores` and the states of processors."""
        mode = self.partition.mode
        shared = mode is None or mode.value == "shared"
        if self.is_aix:
            util = self.found.table(self.index, "cpu_util")
            if util is None or not {"physical_consumed", "physical_busy"} <= set(util.columns):
                return None
            states = self.found.table(self.index, "cpu_physical_total")
            if shared:
                return _aix_use(util, states), "physc", ""
            note = "physical_busy: user and sys of its cores"
            virtual = self.partition.virtual
            cores = None if virtual is None else float(virtual.value)
            return _own_use(util, states, cores), "used", note
        lparcfg = self.found.table(self.index, self.lparcfg_name)
        if shared and lparcfg is not None and "physical_consumed" in lparcfg.columns:
            return _column(lparcfg, "physical_consumed"), "physc", ""
        processors = len(self.section("cpus"))
        total = self.found.table(self.index, "cpu_total")
        if not processors or total is None:
            return None
        note = f"{', '.join(_BUSY)} of {processors} logical processors"
        return _busy(total, processors), "used", note


def _one_zone(times: pl.DataFrame) -> tuple[pl.DataFrame, float | None]:
    """Times of one zone, and how far that is ahead of UTC [s], where every sample tells it: as they
    were printed, or in UTC over a change of it.
    """
    import polars as pl

    told = times["ahead"]
    if told.null_count():
        return times, None
    if told.n_unique() == 1:
        return times, float(told[0])
    return times.with_columns(pl.col("time") - pl.col("ahead")), 0.0


def _beside(found: Recorded, index: int, clock: Clock) -> Iterator[tuple[str, pl.DataFrame]]:
    """Sections with what they tell beside use, all of it rates and lengths of their interval. The
    first sample has no interval before it and tells 0.
    """
    import polars as pl

    for section, figures in _BESIDE.items():
        table = found.table(index, section)
        if table is None:
            continue
        there = {name: told for name, told in figures.items() if {*told} <= {*table.columns}}
        sums = (
            pl.sum_horizontal(told, ignore_nulls=False).alias(name) for name, told in there.items()
        )
        rows = table.select("snapshot", *sums).filter(pl.any_horizontal(pl.exclude("snapshot") > 0))
        if len(rows):
            single = rows.unique("snapshot", keep="none")
            yield section, single.join(clock.table, on="snapshot", how="inner").sort("time")


def _column(table: pl.DataFrame, name: str) -> pl.DataFrame:
    import polars as pl

    return table.select("snapshot", "line", pl.col(name).alias("cores")).drop_nulls()


def _with_states(util: pl.DataFrame, states: pl.DataFrame | None) -> pl.DataFrame:
    """Cores consumed, and besides the percentages of the states if there are any."""
    found = util.select("snapshot", "line", "physical_consumed", "physical_busy")
    if states is None or not set(_STATES) <= set(states.columns):
        return found
    return found.join(states.select("snapshot", *_STATES), on="snapshot", how="left")


def _aix_use(util: pl.DataFrame, states: pl.DataFrame | None) -> pl.DataFrame:
    """Cores consumed, and the states, which are percentages of them."""
    import polars as pl

    found = _with_states(util, states)
    there = [name for name in _STATES if name in found.columns]
    of = pl.col("physical_consumed")
    shares = (pl.col(name) * of / 100 for name in there)
    return found.select("snapshot", "line", of.alias("cores"), *shares)


def _own_use(util: pl.DataFrame, states: pl.DataFrame | None, cores: float | None) -> pl.DataFrame:
    """Cores that were busy, of cores of one's own: by the states' percentages of all its cores,
    which have more digits, if `physical_busy` says the same, else by that.
    """
    import polars as pl

    found = _with_states(util, states)
    busy = pl.col("physical_busy").alias("cores")
    if cores is None or "user" not in found.columns:
        return found.select("snapshot", "line", busy)
    shares = (pl.col("user") + pl.col("sys")) * cores / 100
    agree = (shares - pl.col("physical_busy")).abs() <= _HALF + cores * _HALF / 100
    of = pl.when(agree).then(cores).otherwise(pl.col("physical_consumed"))
    return found.select(
        "snapshot",
        "line",
        pl.when(agree).then(shares).otherwise(busy).alias("cores"),
        *(pl.col(name) * of / 100 for name in _STATES),
    )


def _busy(total: pl.DataFrame, processors: int) -> pl.DataFrame:
    """Busy time over elapsed time."""
    import polars as pl

    busy = [name for name in _BUSY if name in total.columns]
    names = {"user": "user", "sys": "sys", "wait": "iowait", "idle": "idle"}
    there = {state: name for state, name in names.items() if name in total.columns}
    of = processors / 100
    return total.select(
        "snapshot",
        "line",
        (pl.sum_horizontal(busy) * of).alias("cores"),
        *((pl.col(name) * of).alias(state) for state, name in there.items()),
    )


def _amount(section: Section, name: str, unit: float = 1.0) -> float | None:
    value = section.get(name)
    sound = isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
    return float(value) * unit if sound and value is not None else None


def _whole(section: Section, name: str, unit: int = 1) -> int | None:
    value = _amount(section, name)
    return int(value) * unit if value is not None and value == int(value) else None


def _flag(section: Section, name: str) -> bool | None:
    value = _whole(section, name)
    return None if value not in (0, 1) else value == 1


FORMATS: tuple[FileFormat, ...] = (NjmonFormat(),)
