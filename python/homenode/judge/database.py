"""PostgreSQL with its clients as a load: a small database in memory, read only, one transaction
after the other by every client. Server and clients are in the same control group.

A client and its server process take turns: each request wakes the server, each answer the client.
Where the two lie on different processors that costs more than a switch, so the trial that is alone
and calibrates runs on one processor, and what a wake-up on another one costs is measured beside it
by itself. The cluster is made once; each group of a trial works on a copy of its own.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from homenode.hosts.adapters import sysbench
from homenode.hosts.adapters.postgres import Cluster
from homenode.hosts.adapters.sysbench import Sysbench
from homenode.hosts.bench import HostBench, Place
from homenode.hosts.live.packages import find
from homenode.judge import wakeups
from homenode.judge.experiments import Experiment, Group
from homenode.judge.loads import Database
from homenode.judge.trial import Figures, Trial, groups_of, of_time_to_be_had

if TYPE_CHECKING:
    from homenode.hosts.adapter import Case
    from homenode.hosts.bench import HostBench
    from homenode.hosts.live import Host

NEEDED = ("sysbench", "postgres", "initdb", "pg_ctl", "psql", "pg_isready")
_TABLES: dict[str, str | int | float] = {"tables": 4, "rows": 10_000, "hits": "high"}
_WARM_UP_S = 1
_LIMIT_S = 300.0
_END_S = 30.0


def missing() -> list[str]:
    """Programs that are not on this host."""
    return [name for name in NEEDED if find(name) is None]


def lacking(processors: int) -> list[str]:
    """What is said where the databases cannot be had on so many processors; else nothing."""
    if processors < 2:
        return ["the databases: what wakes another processor is measured on two"]
    programs = missing()
    return [f"the databases: {', '.join(programs)} not on this host"] if programs else []


@dataclass(frozen=True)
class Databases:
    """Trials with databases; `folder` holds the loaded cluster."""

    host: Host
    processors: Sequence[int]
    folder: Path

    def prepare(self, experiment: Experiment) -> None:
        """Make and load the cluster once.

        Raises `MeasureError` where PostgreSQL or sysbench refuses.
        """
        if (self.folder / "postgres").exists():
            return
        with ExitStack() as stack:
            # Half a cluster is none: the next one that asks begins anew.
            half_made = stack.enter_context(ExitStack())
            half_made.callback(shutil.rmtree, self.folder / "postgres", ignore_errors=True)
            plain = Experiment("database-load", "", (Group("load", experiment.groups[0].load),))
            control = stack.enter_context(groups_of(self.host, plain, self.processors))[0]
            bench = self._bench(control, self.folder, self.folder)
            case = _case(experiment.groups[0])
            Sysbench().prepare(case, bench)
            half_made.pop_all()

    def run(self, experiment: Experiment, seconds: float, folder: Path) -> Trial:
        """Run an experiment once."""
        whole = max(1, round(seconds))
        with groups_of(self.host, experiment, self.processors) as made:
            benches = [
                self._bench(control, self.folder, folder / group.name)
                for group, control in zip(experiment.groups, made, strict=True)
            ]
            clusters = []
            for group, bench in zip(experiment.groups, benches, strict=True):
                cluster = _cluster(bench).copied(bench.folder / "postgres")
                cluster.start(_server(group))
                cluster.ask(_WARM)
                clusters.append(cluster)
            self._ask(experiment, benches, clusters, _WARM_UP_S)
            watch = self.host.gate.watch()
            before, began = [one.usage() for one in made], time.monotonic()
            told, clients_s = self._ask(experiment, benches, clusters, whole)
            after, lasted = [one.usage() for one in made], time.monotonic() - began
            quiet = watch.done()
            for cluster in clusters:
                cluster.stop()
        used = [b.since(a).total_s for a, b in zip(before, after, strict=True)]
        figures, totals = _figures(experiment, told, used, lasted)
        if experiment.calibrates:
            wake = wakeups.measure(self.host, self.processors, folder / "wake-ups")
            alone = {"client_s": clients_s[0], "interrupt_s": wake.interrupt_s}
            totals["a"].update(alone, idle_s=wake.idle_s)
        figures = {name: of_time_to_be_had(one, quiet.steal) for name, one in figures.items()}
        return Trial(experiment.name, figures, quiet.foreign, quiet.steal, totals)

    def _bench(self, control: Any, data: Path, folder: Path) -> HostBench:
        folder.mkdir(parents=True, exist_ok=True)
        raw = folder / "raw"
        raw.mkdir(exist_ok=True)
        place = Place(folder=folder, data=data, cache=folder, raw=raw)
        return HostBench(self.host, control, place, self.processors, time.monotonic() + _LIMIT_S)

    def _ask(
        self,
        experiment: Experiment,
        benches: Sequence[HostBench],
        clusters: Sequence[Cluster],
        seconds: int,
    ) -> tuple[list[bytes], list[float]]:
        """What the clients of all groups print, which ask at the same time, and the processor time
        that each group's took [s].
        """
        started = []
        for group, bench, cluster in zip(experiment.groups, benches, clusters, strict=True):
            argv = _client(group, cluster, seconds)
            environment = {**cluster.environment(), "HOMENODE_OLTP": "oltp_read_only"}
            started.append(bench.start(argv, role="client", env=environment))
        limit = seconds + _END_S
        told = [one.wait(limit_s=limit, good=(0,)).stdout for one in started]
        ends = [one.process.wait(limit_s=limit) for one in started]
        return told, [end.user_s + end.system_s for end in ends]


_WARM = (
    "select sum(pg_prewarm(oid)) from pg_class"
    " where relkind in ('r', 'i') and relname ~ '^(sbtest|k_)'"
)


def _case(group: Group) -> Case:
    clients = group.load.clients if isinstance(group.load, Database) else 1
    return Sysbench().case("validate", {**_TABLES, "mode": "read-only", "load": clients})


def _cluster(bench: HostBench) -> Cluster:
    return Cluster.there(bench, bench.data / "postgres")


def _server(group: Group) -> dict[str, str]:
    clients = group.load.clients if isinstance(group.load, Database) else 1
    return {
        "shared_buffers": "64MB",
        "max_connections": str(clients + 10),
        "autovacuum": "off",
        "checkpoint_timeout": "1h",
    }


def _client(group: Group, cluster: Cluster, seconds: int) -> list[str]:
    clients = group.load.clients if isinstance(group.load, Database) else 1
    script = Path(sysbench.__file__).with_name("oltp.lua")
    argv = ["sysbench", str(script), *cluster.address()]
    argv += [f"--tables={_TABLES['tables']}", f"--table-size={_TABLES['rows']}"]
    argv += [f"--threads={clients}", f"--time={seconds}", "--events=0"]
    return [*argv, "--percentile=95", "--rand-type=uniform", "--rand-seed=1", "run"]


def _figures(
    experiment: Experiment, told: Sequence[bytes], used: Sequence[float], seconds: float
) -> tuple[Mapping[str, Figures], dict[str, Figures]]:
    figures: dict[str, Figures] = {}
    totals: dict[str, Figures] = {}
    for group, text, cpu_s in zip(experiment.groups, told, used, strict=True):
        output = Sysbench().parse(_case(group), text)
        figures[group.name] = {
            "share_pct": 100.0 * cpu_s / sum(used),
            "cpus": cpu_s / seconds,
            "done_per_s": output.work / output.seconds,
            "cpu_us_each": 1e6 * cpu_s / output.work,
        }
        totals[group.name] = {"cpu_s": cpu_s, "done": output.work, "elapsed_s": seconds}
    return figures, totals
