"""A run as njmon would have recorded it: JSON lines, one object a snapshot, one file a partition.

Sections and names are those of njmon for AIX (as its published source has them), for what the model
knows; numbers have three digits behind the point, as there. Linux partitions have `os_release`,
`cpuinfo` and `cpu_total` of njmon for Linux. njmon counts time in whole seconds.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from homenode.records.exporting.errors import ExportError
from homenode.records.exporting.frames import Frames, each_partition, whole_seconds
from homenode.records.exporting.lparcfg import LPARCFG_VERSION, lparcfg_lines, on_power
from homenode.records.exporting.options import ExportOptions
from homenode.records.exporting.registry import Exporter, Kind
from homenode.records.exporting.ticks import tick_shares
from homenode.simulate.kept.totals import NS_PER_S
from homenode.tools import Sample, SystemConfiguration
from homenode.tools.figures import FULL, charged_ns, consumed_pct, cores, percent
from homenode.tools.lparstat import utilisation
from homenode.tools.vmstat import figures as vmstat_figures
from homenode.version import program_version

if TYPE_CHECKING:
    from homenode.simulate.run import Run

Section = dict[str, object]

_STATES = ("user", "sys", "wait", "idle")
_DIGITS = 3
_HUNDREDTHS = 100
_HZ_PER_MHZ = 1e6


@dataclass(frozen=True)
class Njmon:
    """One file a partition."""

    name: str = "njmon"
    title: str = "njmon recordings (JSON lines), a file a partition (AIX, Linux)"
    kind: Kind = "each"
    suffix: str = ".njmon.json"
    takes: Collection[str] = ("partition", "replication", "interval_ns", "start")

    def write(self, run: Run, target: Path, options: ExportOptions) -> list[Path]:
        """See `Exporter.write`."""
        frames = Frames.of(run, options)
        interval_ns = whole_seconds(run, options, "njmon")
        systems = {name: _system(run, name) for name in options.partitions(run)}
        files = []
        for name, path in each_partition(target, options, systems, self.suffix):
            told = frames.configurations[name]
            samples = frames.samples(name, interval_ns, cpus=True)
            with path.open("w", encoding="utf-8", newline="\n") as file:
                for number, sample in enumerate(samples, start=1):
                    head = _head(run, told, options, sample, number, len(samples))
                    body = _aix(told, sample) if systems[name] == "aix" else _linux(told, sample)
                    if systems[name] == "linux" and on_power(run):
                        body["ppc64_lparcfg"] = _lparcfg(run, name, sample)
                    file.write(json.dumps({**head, **body}) + "\n")
            files.append(path)
        return sorted(files)


def _system(run: Run, name: str) -> str:
    system = str(run.partition_spec(name)["guest"]["os"])
    if system not in ("aix", "linux"):
        raise ExportError(
            f"partition {name} of run {run.id} runs {system}, for which there is no njmon",
            next_step="name another partition with -p, or write --as csv",
        )
    return system


def _head(
    run: Run,
    told: SystemConfiguration,
    options: ExportOptions,
    sample: Sample,
    number: int,
    count: int,
) -> Section:
    """When and by whom. The server's serial number is the id of the run."""
    host = told.node_name or told.name
    moment = (options.begins + timedelta(microseconds=sample.end_ns // 1000)).isoformat()[:19]
    return {
        "timestamp": {
            "datetime": moment,
            "UTC": moment,
            "snapshot_seconds": sample.elapsed_ns // NS_PER_S,
            "snapshot_maxloops": count,
            "snapshot_loop": number,
        },
        "identity": {
            "hostname": host,
            "fullhostname": host,
            "njmon_command": f"homenode export {run.id} --as njmon -p {told.name}",
            "njmon_version": f"homenode {program_version()}",
            "username": "homenode",
        },
        "server": {
            "serial_no": run.id,
            "lpar_number_name": f"{told.number} {told.name}",
            "machine_type": f"IBM,{run.machine_facts.get('model', run.spec['machine']['name'])}",
            "uname_node": host,
        },
    }


def _aix(told: SystemConfiguration, sample: Sample) -> Section:
    told = sample.during(told)
    version, _, release = told.level.partition(".")
    return {
        "config": {**_config(told), "OSname": "AIX", "OSversion": f"{version}.{release}"},
        "partition_type": _partition_type(told, sample),
        **({"processor_pool": _pool(told)} if told.is_shared else {}),
        "cpu_util": _util(told, sample),
        "cpu_details": {
            "cpus_active": told.lcpu,
            "cpus_configured": told.lcpu,
            "mhz": _rounded(told.clock_hz / _HZ_PER_MHZ),
        },
        "kernel": _kernel(told, sample),
        "cpu_logical_total": _of(
            [sample.partition[f"ticks_{state}"] for state in _STATES],
            sum(sample.partition[f"ticks_{state}"] for state in _STATES),
        ),
        "cpu_physical_total": _of(
            [sample.partition[f"{state}_ns"] for state in _STATES], charged_ns(sample.partition)
        ),
        "cpu_logical": {
            f"cpu{cpu['cpu']}": dict(
                zip(_STATES, map(_rounded, tick_shares(cpu, sample.elapsed_ns)), strict=True)
            )
            for cpu in sample.cpus
        },
        "cpu_physical": {
            f"cpu{cpu['cpu']}": _of([cpu[f"{state}_ns"] for state in _STATES], sample.elapsed_ns)
            for cpu in sample.cpus
        },
    }


def _config(told: SystemConfiguration) -> Section:
    """Capacities in hundredths of a core, memory in MB, as perfstat has them."""
    found: Section = {
        "partitionname": told.name,
        "nodename": told.node_name or told.name,
        "processorMHz": _rounded(told.clock_hz / _HZ_PER_MHZ),
        "pcpu_max": told.system_cores,
        "pcpu_online": told.active_cores,
        "lcpus": told.lcpu,
        "smtthreads": told.smt,
    }
    groups = (
        ("cpucap", told.capacity, told.ent, _HUNDREDTHS),
        ("vcpus", told.processors, told.vps, 1),
        ("mem", told.memory, told.mem_mb, 1),
    )
    for name, limits, online, scale in groups:
        low, high, desired = (
            (limits.minimum, limits.maximum, limits.desired) if limits else (online,) * 3
        )
        for bound, value in (("min", low), ("max", high), ("desired", desired), ("online", online)):
            found[f"{name}_{bound}"] = round(scale * value)
    found["cpucap_weightage"] = told.weight if told.is_shared and told.mode == "Uncapped" else 0
    found["entitled_proc_capacity"] = _rounded(told.ent)
    if told.is_shared:
        found["processor_poolid"] = told.pool
        found["activecpusinpool"] = told.psize
        found["sharedpcpu"] = told.shared_cores
        found["maxpoolcap"] = round(_HUNDREDTHS * told.pool_maximum)
        found["entpoolcap"] = round(_HUNDREDTHS * told.pool_entitled)
    return found


def _partition_type(told: SystemConfiguration, sample: Sample) -> Section:
    """Its switches are those of virtual processors, which are not told apart in a run: as many of
    them are against their will as of the switches of logical CPUs.
    """
    counted = sample.partition
    switches = counted["vcsw"] * NS_PER_S / sample.elapsed_ns
    logical = counted["ilcs"] + counted["vlcs"]
    forced = switches * counted["ilcs"] / logical if logical else 0.0
    return {
        "smt_capable": 1,
        "smt_enabled": int(told.smt > 1),
        "lpar_capable": 1,
        "lpar_enabled": 1,
        "shared_capable": 1,
        "shared_enabled": int(told.is_shared),
        "capped": int(told.mode != "Uncapped"),
        "pool_util_authority": int(told.pool_authority),
        "donate_enabled": int(told.is_donating),
        "invol_virt_cswitch": _rounded(forced),
        "vol_virt_cswitch": _rounded(switches - forced),
    }


def _pool(told: SystemConfiguration) -> Section:
    """Whole cores, as njmon has them: it cuts the rest off."""
    return {
        "pool_id": told.pool,
        "max_capacity": int(told.pool_maximum),
        "entitled_capacity": int(told.pool_entitled),
        "phys_cpus_pool": told.psize,
    }


def _util(told: SystemConfiguration, sample: Sample) -> Section:
    figures = utilisation(told, sample)
    busy = sample.partition["user_ns"] + sample.partition["sys_ns"]
    mhz = told.clock_hz / _HZ_PER_MHZ
    return {
        "user_pct": _rounded(figures.user),
        "kern_pct": _rounded(figures.sys),
        "idle_pct": _rounded(figures.idle),
        "wait_pct": _rounded(figures.wait),
        "physical_busy": _rounded(cores(busy, sample.elapsed_ns)),
        "physical_consumed": _rounded(figures.physc),
        "idle_donated_pct": _rounded(figures.idon),
        "busy_donated_pct": 0.0,
        "idle_stolen_pct": 0.0,
        "busy_stolen_pct": 0.0,
        "entitlement": _rounded(told.ent),
        "entitlement_pct": _rounded(
            consumed_pct(told, sample.partition["busy_ns"], sample.elapsed_ns)
        ),
        "freq_pct": _rounded(figures.nsp),
        "nominal_mhz": _rounded(mhz),
        "current_mhz": _rounded(mhz * figures.nsp / FULL),
    }


def _kernel(told: SystemConfiguration, sample: Sample) -> Section:
    figures = vmstat_figures(told, sample)
    return {
        "pswitch": _rounded(float(figures["cs"] or 0)),
        "devintrs": _rounded(float(figures["in"] or 0)),
        "phantintrs": _rounded(sample.partition["phint"] * NS_PER_S / sample.elapsed_ns),
        "run_queue": _rounded(float(figures["r"] or 0)),
    }


def _linux(told: SystemConfiguration, sample: Sample) -> Section:
    ticks = [sample.partition[f"ticks_{state}"] for state in ("user", "sys", "wait", "idle")]
    mhz = _rounded(told.clock_hz / _HZ_PER_MHZ)
    return {
        "os_release": {"name": "Linux"},
        "cpuinfo": {f"proc{number}": {"mhz_clock": mhz} for number in range(told.lcpu)},
        "cpu_total": _linux_states([percent(part, sum(ticks)) for part in ticks]),
        "cpus": {
            f"cpu{cpu['cpu']}": _linux_states(tick_shares(cpu, sample.elapsed_ns))
            for cpu in sample.cpus
        },
    }


def _lparcfg(run: Run, name: str, sample: Sample) -> Section:
    """`/proc/ppc64/lparcfg` with what njmon makes of it."""
    found: Section = {"lparcfg_version": LPARCFG_VERSION}
    for key, text in lparcfg_lines(run, name, sample).items():
        bare = text.removesuffix(" bytes")
        found[key] = int(bare) if bare.isdigit() else bare
    found["physical_consumed"] = _rounded(cores(sample.partition["busy_ns"], sample.elapsed_ns))
    return found


def _linux_states(usage: Sequence[float]) -> Section:
    user, sys, wait, idle = map(_rounded, usage)
    return {"user": user, "nice": 0.0, "sys": sys, "idle": idle, "iowait": wait}


def _of(parts: list[int], whole: int) -> dict[str, float]:
    """The four states in percent of a whole."""
    return {
        state: _rounded(percent(part, whole)) for state, part in zip(_STATES, parts, strict=True)
    }


def _rounded(value: float) -> float:
    return round(float(value), _DIGITS)


EXPORTER: Exporter = Njmon()
