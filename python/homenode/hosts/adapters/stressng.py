"""stress-ng in mixes: several kinds of work side by side, as ReAim's workfiles mix them.

Operations of different kinds do not add. So each kind's are divided by what a processor of the host
that the suite was made on did of it in a second: the sum is in seconds of that processor, and one
of them is a `job`. The divisors only weigh the kinds against each other; they are assumed, the same
everywhere, and drop out of every ratio of two hosts whose kinds change alike.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from homenode.hosts.adapter import Bench, Case, Need, Output, Parameters, Requirements
from homenode.hosts.adapters.given import Given
from homenode.hosts.adapters.reading import positive, quoted, unreadable
from homenode.hosts.errors import MeasureError

_MIB = 1 << 20


@dataclass(frozen=True)
class _Kind:
    """A kind of work."""

    per_second: float
    """Operations in a second of a processor; assumed, see above [1/s]."""
    options: tuple[str, ...] = ()


# Measured once on one virtual processor of an EPYC of family 26, two digits kept.
_KINDS = {
    "bsearch": _Kind(200.0),
    "cpu": _Kind(1500.0, ("--cpu-method", "int64")),
    "dentry": _Kind(19_000.0),
    "fp": _Kind(230.0),
    "hdd": _Kind(29_000.0, ("--hdd-bytes", "8M")),
    "matrix": _Kind(4000.0, ("--matrix-size", "128")),
    "msg": _Kind(930_000.0),
    "qsort": _Kind(300.0, ("--qsort-size", "16384")),
    "rename": _Kind(9600.0),
    "seek": _Kind(140_000.0),
    "shm-sysv": _Kind(3500.0, ("--shm-sysv-bytes", "1M")),
}
_MIXES = {
    "fserver": ("hdd", "seek", "dentry", "rename"),
    "new-db": ("seek", "msg", "shm-sysv", "qsort"),
    "compute": ("cpu", "fp", "matrix", "bsearch", "qsort"),
}
_ABOUT = {
    "fserver": "files written, read, sought, named and renamed",
    "new-db": "random input and output, messages, shared memory, sorting",
    "compute": "integers, floating point, matrices, searching, sorting",
}


class StressNg:
    """Mixes of work."""

    name = "stressng"
    title = "mixes of files, interprocess communication and computing"
    stands_for = "ReAim's workfiles fserver, new-db and compute: jobs per minute"
    limit_s = 180.0

    def requires(self, case: Case) -> Requirements:
        """The program; a file of 8 MiB a worker."""
        workers = int(case.load) * len(_MIXES[str(case.parameters["mix"])])
        return Requirements(
            needs=(Need("stress-ng", "stress-ng"),),
            disk_bytes=16 * _MIB * workers,
            memory_bytes=16 * _MIB * workers,
        )

    def case(self, name: str, parameters: Parameters) -> Case:
        """`mix` fserver, new-db or compute (the case's name if left out); `load` workers of each of
        its kinds.
        """
        given = Given(self.name, name, parameters)
        mix = given.choice("mix", tuple(_MIXES), name if name in _MIXES else "")
        workers = given.count("load", 1, least=1, most=4096)
        given.no_others()
        return Case(
            name=name,
            title=f"{_ABOUT[mix]}; {workers} worker{'s' * (workers > 1)} of each",
            metric="jobs",
            unit="jobs/min",
            better="higher",
            parameters=given.taken,
            load=float(workers),
        )

    def prepare(self, case: Case, bench: Bench) -> None:
        """Nothing is needed."""

    def measure(self, case: Case, bench: Bench, *, seconds: float) -> Output:
        """All kinds of the mix side by side for so many whole seconds, at least one."""
        report = bench.folder / "report.yaml"
        length = max(1, round(seconds))
        argv = ["stress-ng", "--no-rand-seed", "--metrics", "--temp-path", str(bench.folder)]
        argv += ["--timeout", f"{length}s", "--yaml", str(report)]
        for kind in _MIXES[str(case.parameters["mix"])]:
            argv += [f"--{kind}", str(case.parameters["load"]), *_KINDS[kind].options]
        bench.measuring()
        done = bench.run(argv, limit_s=length + 60.0)
        bench.measured()
        try:
            text = report.read_bytes()
        except OSError as error:
            raise MeasureError(
                "stress-ng wrote no report", there=quoted(done.stderr or done.stdout)
            ) from error
        return self.parse(case, text)

    def parse(self, case: Case, text: bytes) -> Output:
        """Its YAML report: a row of figures for each kind."""
        rows = _rows(text)
        mix = _MIXES[str(case.parameters["mix"])]
        if missing := [kind for kind in mix if kind not in rows]:
            raise unreadable(self.name, f"it tells nothing of {', '.join(missing)}", text)
        operations = {kind: positive(self.name, rows[kind], "bogo-ops") for kind in mix}
        seconds = max(positive(self.name, rows[kind], "wall-clock-time") for kind in mix)
        jobs = sum(operations[kind] / _KINDS[kind].per_second for kind in mix)
        details: dict[str, object] = {f"{kind}_ops": operations[kind] for kind in mix}
        for kind in mix:
            row = rows[kind]
            details[f"{kind}_cpu_s"] = row.get("user-time", 0.0) + row.get("system-time", 0.0)
        return Output(work=jobs, seconds=seconds, score=jobs / seconds * 60.0, details=details)

    def version(self, bench: Bench) -> str:
        """Such as `stress-ng, version 0.15.06`."""
        said = bench.run(["stress-ng", "--version"], limit_s=10.0).stdout.decode("utf-8", "replace")
        return said.partition("(")[0].strip()


def _rows(text: bytes) -> Mapping[str, Mapping[str, float]]:
    """Figures by kind of the section `metrics`.

    Of YAML only what this tool writes is read: indented `key: value`, a row beginning with a dash.
    """
    rows: dict[str, dict[str, float]] = {}
    row: dict[str, float] | None = None
    section = ""
    for line in text.decode("utf-8", "replace").splitlines():
        if found := re.fullmatch(r"([\w-]+):\s*", line):
            section, row = found[1], None
        elif section != "metrics":
            continue
        elif found := re.fullmatch(r"\s+- stressor: (\S+)", line):
            row = rows.setdefault(found[1], {})
        elif row is not None and (found := re.fullmatch(r"\s+([\w-]+): ([\d.]+)", line)):
            # Cut short, a number of several dots can be left.
            row[found[1]] = float(found[2]) if found[2].count(".") <= 1 else 0.0
    return rows
