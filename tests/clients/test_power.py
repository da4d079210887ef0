"""The real tools of Linux on Power read the exported tree: lparstat, vcpustat, ppc64_cpu, lscpu and
lstopo say what homenode says.
"""

from __future__ import annotations

import itertools
import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from programs import PowerProgram, Program
from undisturbed import LATEST_S, undisturbed

from homenode import Run
from homenode.records.exporting import ExportOptions, export
from homenode.tools import KeptRunView, Sample, from_spec, samples
from homenode.tools.lparstat import NAMES, normalised, utilisation
from homenode.tools.lparstat.information import information

PowerClient = Callable[[str], PowerProgram]
Client = Callable[[str], Program]
SECOND = 1_000_000_000

# Label of the real lparstat -i to that of AIX; what is not here only one of them has.
SAME_FACTS = {
    "Node Name": "Node Name",
    "Partition Name": "Partition Name",
    "Partition Number": "Partition Number",
    "Mode": "Mode",
    "Entitled Capacity": "Entitled Capacity",
    "Partition Group-ID": "Partition Group-ID",
    "Shared Pool ID": "Shared Pool ID",
    "Online Virtual CPUs": "Online Virtual CPUs",
    "Maximum Virtual CPUs": "Maximum Virtual CPUs",
    "Minimum Virtual CPUs": "Minimum Virtual CPUs",
    "Minimum Capacity": "Minimum Capacity",
    "Maximum Capacity": "Maximum Capacity",
    "Capacity Increment": "Capacity Increment",
    "Active Physical CPUs in system": "Active Physical CPUs in system",
    "Active CPUs in Pool": "Active CPUs in Pool",
    "Shared Physical CPUS in system": "Shared Physical CPUs in system",
    "Entitled Capacity of Pool": "Entitled Capacity of Pool",
    "Unallocated Weight": "Unallocated Weight",
    "Memory Mode": "Memory Mode",
    "Desired Variable Capacity Weight": "Desired Variable Capacity Weight",
}


def tree_of(run: Run, folder: Path, partition: str) -> Path:
    target = folder / partition
    export(run, "linux-power", target, ExportOptions(partition=partition))
    return target


def facts(text: str) -> dict[str, str]:
    pairs = (line.split(":", 1) for line in text.splitlines() if ":" in line)
    return {label.strip(): value.strip() for label, value in pairs}


def rows(text: str) -> list[dict[str, float]]:
    """Reports of lparstat by heading."""
    lines = text.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("%user"))
    names = lines[at].split()
    return [
        dict(zip(names, map(float, line.split()), strict=True)) for line in lines[at + 2 :] if line
    ]


def view_of(run: Run, partition: str) -> tuple[KeptRunView, object]:
    view = KeptRunView.of(run)
    return view, from_spec(run.spec, partition, view.details.get(partition))


def kept(run: Run, partition: str) -> list[Sample]:
    view, _ = view_of(run, partition)
    return samples(view, partition, view.interval_ns, None, ("partition", "cpu", "pool"))


@pytest.mark.parametrize("partition", ["front", "back", "lender", "keeper"])
def test_lparstat_i_agrees(
    busy: Run, power_client: PowerClient, tmp_path: Path, partition: str
) -> None:
    told = facts(power_client("lparstat").run(tree_of(busy, tmp_path, partition), "-i"))
    _, configuration = view_of(busy, partition)
    ours = dict(information(configuration))
    compared = {
        label: (value, ours[SAME_FACTS[label]])
        for label, value in told.items()
        if ours.get(SAME_FACTS.get(label, ""), "-") != "-"
    }
    assert len(compared) >= (19 if configuration.is_shared else 12)
    # `-i` knows of no lending.
    differ = {"Mode"} if partition == "lender" else set()
    assert {label for label, (theirs, own) in compared.items() if theirs != own} == differ
    assert told["Type"] == configuration.kind
    assert told["Online Memory"] == f"{configuration.mem_mb * 1024} kB"
    assert int(told["Maximum Memory"]) == configuration.mem_mb << 20


@pytest.mark.parametrize("partition", ["front", "back"])
def test_lparstat_since_the_start_agrees(
    busy: Run, power_client: PowerClient, tmp_path: Path, partition: str
) -> None:
    (told,) = rows(power_client("lparstat").run(tree_of(busy, tmp_path, partition)))
    view, configuration = view_of(busy, partition)
    (sample,) = samples(view, partition, None, None)
    check(told, configuration, sample)
    assert told["vcsw"] == sample.partition["vcsw"]
    assert told["phint"] == sample.partition["phint"] > 0
    assert told["app"] == pytest.approx(utilisation(configuration, sample).app, abs=0.02)


@pytest.mark.parametrize("partition", ["front", "back", "lender", "keeper"])
def test_the_configuration_line_agrees(
    busy: Run, power_client: PowerClient, tmp_path: Path, partition: str
) -> None:
    """In the form of earlier versions (`-l`), which counts logical processors as AIX does."""
    text = power_client("lparstat").run(tree_of(busy, tmp_path, partition), "-l")
    line = next(line for line in text.splitlines() if line.startswith("type="))
    told = dict(word.split("=") for word in line.replace(" MB", "MB").split())
    _, c = view_of(busy, partition)
    # Versions of the tool up to 1.3.10 know of no lending and call all dedicated ones capped.
    mode = told["mode"] if c.is_donating and told["mode"] == "Capped" else c.mode
    ours = {
        "type": c.kind,
        "mode": mode,
        "smt": str(c.smt),
        "lcpu": str(c.lcpu),
        "mem": f"{c.mem_mb}MB",
        "ent": f"{c.ent:.2f}",
    }
    assert told == ours | ({"psize": str(c.psize)} if c.is_shared else {})


def check(told: dict[str, float], configuration: object, sample: Sample) -> None:
    """What does not depend on the clock on the wall, to the digits that are printed.

    `%user` and the like are shares of the time of logical processors on Linux, where AIX has shares
    of capacity: they add up to `lbusy`, which is the same on both.
    """
    ours = utilisation(configuration, sample)
    assert told["physc"] == pytest.approx(ours.physc, abs=0.0051)
    # The tool divides the rounded physc by the entitlement.
    assert told["%entc"] == pytest.approx(ours.entc, abs=0.5 / configuration.ent + 0.01)
    # Time is counted in ticks of a hundredth of a second.
    ticks = sample.elapsed_ns / 1e7 * configuration.lcpu
    assert told["lbusy"] == pytest.approx(ours.lbusy, abs=100 / ticks + 0.011)
    assert told["%user"] + told["%sys"] == pytest.approx(told["lbusy"], abs=0.011)
    assert told["%user"] + told["%sys"] + told["%wait"] + told["%idle"] == pytest.approx(100, abs=1)
    assert told["%user"] / told["%sys"] == pytest.approx(ours.user / ours.sys, rel=0.05)
    assert set(told) - {"%user", "%sys", "%wait", "%idle"} <= set(NAMES.values())


def test_a_live_tree_ends_by_itself(
    busy: Run, homenode: Callable[..., CompletedProcess[str]], tmp_path: Path
) -> None:
    wanted = ("--as", "linux-power", "-p", "back", "--out", busy.path.parent)
    began = time.monotonic()
    live = homenode("export", busy.id, *wanted, "--live", "1 s", "-o", "live")
    assert live.returncode == 0, live.stderr
    assert time.monotonic() - began > 1.0
    export(busy, "linux-power", tmp_path / "at", ExportOptions(partition="back", at_ns=2 * SECOND))
    file = Path("proc/ppc64/lparcfg")
    assert (tmp_path / "live" / file).read_bytes() == (tmp_path / "at" / file).read_bytes()


def test_an_interval_of_lparstat_agrees(
    busy: Run, power_client: PowerClient, tmp_path: Path
) -> None:
    """Each report is that of the intervals between two steps of the tree; which ones, `vcsw` tells,
    because the tool prints it as a total.
    """
    lparstat = power_client("lparstat")
    told = rows(undisturbed(busy, "back", tmp_path, lambda tree: lparstat.run(tree, "1", "3"), 3))
    view, configuration = view_of(busy, "back")
    totals = list(itertools.accumulate(one.partition["vcsw"] for one in kept(busy, "back")))
    steps = [totals.index(int(row["vcsw"])) for row in told]
    assert len(steps) == 3
    assert steps == sorted(set(steps))
    phantoms = list(itertools.accumulate(one.partition["phint"] for one in kept(busy, "back")))
    assert [row["phint"] for row in told] == [phantoms[step] for step in steps]
    for before, step, row in zip(steps, steps[1:], told[1:], strict=False):
        sample = between(view, "back", before, step)
        check(row, configuration, sample)
        # The tool takes the elapsed time from the clock on the wall: a second, or more if late.
        app = utilisation(configuration, sample).app
        assert app / (1 + LATEST_S) * 0.99 <= row["app"] <= app * 1.01


def between(view: KeptRunView, partition: str, before: int, step: int) -> Sample:
    """What was counted after the kept interval `before` up to the end of `step`."""
    length = step - before
    parts = samples(view, partition, view.interval_ns, step + 1)[before + 1 :]
    assert len(parts) == length
    return Sample(
        end_ns=parts[-1].end_ns,
        elapsed_ns=sum(part.elapsed_ns for part in parts),
        partition=added(part.partition for part in parts),
        pool=added(part.pool for part in parts),
    )


def added(parts: Iterator[dict[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for part in parts:
        for name, value in part.items():
            total[name] = total.get(name, 0) + value
    return total


def test_lparstat_e_shows_what_was_charged(
    busy: Run, power_client: PowerClient, tmp_path: Path
) -> None:
    """`-E` takes PURR of each processor from files that it keeps open, against the clock on the
    wall.
    """
    lparstat = power_client("lparstat")
    text = undisturbed(busy, "back", tmp_path, lambda tree: lparstat.run(tree, "-E", "1", "2"), 2)
    told = [line.split() for line in text.splitlines() if re.match(r" *\d+\.\d\d +\d", line)]
    _, configuration = view_of(busy, "back")
    ours = [normalised(configuration, sample) for sample in kept(busy, "back")]
    used = [100 * (one.user + one.sys) / configuration.vps for one in ours]
    charged = [one.user + one.sys + one.wait + one.idle for one in ours]
    assert len(told) == 2
    for actual, idle, clock, scaled, _ in told:
        assert clock == "3.30GHz[100%]"
        assert actual == scaled
        assert min(used) / (1 + LATEST_S) <= float(actual) <= max(used) * 1.1
        # Versions of the tool differ in whether what was never dispatched is idle as well.
        whole = float(actual) + float(idle)
        least, most = (100 * one / configuration.vps for one in (min(charged), max(charged)))
        as_charged = least / (1 + LATEST_S) <= whole <= most * 1.1
        assert as_charged or whole == pytest.approx(100, abs=10)


def dispatches(run: Run, partition: str, until_ns: int) -> dict[int, list[int]]:
    """The numbers of vcpustat, row by row: the plain twin of what the export computes."""
    import polars as pl

    machine = run.spec["machine"]
    table = pl.read_parquet(run.path / "dispatches.parquet").filter(
        pl.col("partition") == run.partitions.index(partition)
    )
    found: dict[int, list[int]] = {}
    last: dict[int, int] = {}
    for row in table.sort("start_ns", maintain_order=True).iter_rows(named=True):
        vp, core = row["vp"], row["core"]
        was = last.get(vp, core)
        last[vp] = core
        if not 0 < row["start_ns"] <= until_ns:
            continue
        counts = found.setdefault(vp, [0] * 8)
        chip, old_chip = core // machine["cores_per_chip"], was // machine["cores_per_chip"]
        node, old_node = chip // machine["chips_per_node"], old_chip // machine["chips_per_node"]
        away = 1 if core == was else 2 if chip == old_chip else 3 if node == old_node else 4
        counts[0] += 1
        counts[away] += 1
        counts[5 + row["distance"]] += 1
    return found


def statistics(text: str) -> list[dict[int, list[int]]]:
    """Reports of vcpustat -n by virtual processor."""
    reports: list[dict[int, list[int]]] = []
    for line in text.splitlines():
        if line.startswith("cpu "):
            reports.append({})
        elif line.startswith("cpu"):
            name, *cells = line.replace("|", " ").split()
            reports[-1][int(name[3:]) // 4] = [int(cell) for cell in cells]
    return reports


def test_vcpustat_shows_every_dispatch(
    busy: Run, power_client: PowerClient, tmp_path: Path
) -> None:
    (told,) = statistics(power_client("vcpustat").run(tree_of(busy, tmp_path, "back")))
    ours = dispatches(busy, "back", busy.spec["duration_ns"])
    assert told == ours
    assert sum(counts[2] + counts[3] for counts in told.values()) > 0
    assert sum(counts[6] for counts in told.values()) > 0


def test_vcpustat_counts_from_when_it_asks(
    busy: Run, power_client: PowerClient, tmp_path: Path
) -> None:
    vcpustat = power_client("vcpustat")
    text = undisturbed(
        busy, "back", tmp_path, lambda tree: vcpustat.run(tree, "-n", "1", "2"), 2, let_go
    )
    reports = statistics(text)
    states = [dispatches(busy, "back", (step + 1) * SECOND) for step in range(7)]
    spans = {
        (before, step): {
            vp: [b - a for a, b in zip(earlier.get(vp, [0] * 8), counts, strict=True)]
            for vp, counts in states[step].items()
        }
        for (before, earlier), step in itertools.product(enumerate(states), range(7))
        if step > before
    }
    found = [next(span for span, counts in spans.items() if counts == one) for one in reports]
    assert len(found) == 2
    assert found[0][1] == found[1][0]


def let_go(tree: Path) -> None:
    """The tool switches the statistics off when it ends, and so does the tree."""
    deadline = time.monotonic() + 60
    while (tree / "proc/powerpc/vcpudispatch_stats").read_bytes() != b"off\n":
        assert time.monotonic() < deadline, "the tool switched the statistics off, the tree did not"
        time.sleep(0.05)


def test_vcpustat_is_told_that_nothing_was_recorded(
    busy: Run, power_client: PowerClient, tmp_path: Path
) -> None:
    tree = tree_of(busy, tmp_path, "back")
    (tree / "proc/powerpc/vcpudispatch_stats").write_text("off\n", encoding="utf-8")
    assert "not enabled" in power_client("vcpustat").run(tree)


@pytest.mark.parametrize(("partition", "shown"), [("front", "SMT=2"), ("back", "SMT=4")])
def test_ppc64_cpu_counts_threads(
    busy: Run, power_client: PowerClient, tmp_path: Path, partition: str, shown: str
) -> None:
    tree = tree_of(busy, tmp_path, partition)
    assert power_client("ppc64_cpu").run(tree, "--smt").strip() == shown


def lscpu(client: Client, tree: Path) -> dict[str, str]:
    answer = json.loads(client("lscpu").run("--sysroot", tree, "-J"))

    def flat(entries: list[dict[str, object]]) -> Iterator[tuple[str, str]]:
        for entry in entries:
            yield str(entry["field"]).rstrip(":"), str(entry.get("data"))
            yield from flat(entry.get("children", []))  # type: ignore[arg-type]

    return dict(flat(answer["lscpu"]))


def test_lscpu_sees_the_partition(busy: Run, client: Client, tmp_path: Path) -> None:
    told = lscpu(client, tree_of(busy, tmp_path, "front"))
    assert told["CPU(s)"] == "24"
    assert told["On-line CPU(s) list"] == "0,1,4,5,8,9,12,13,16,17,20,21"
    assert told["Thread(s) per core"] == "2"
    assert told["Core(s) per socket"] == "6"
    assert told["Hypervisor vendor"] == "pHyp"
    assert told["Model name"] == "POWER7 (architected), altivec supported"
    assert told["L3 cache"] == "24 MiB (6 instances)"
    assert told["NUMA node0 CPU(s)"] == "0,1,4,5,8,9,12,13,16,17,20,21"


def test_lstopo_sees_the_partition(busy: Run, client: Client, tmp_path: Path) -> None:
    tree = tree_of(busy, tmp_path, "back")
    told = client("lstopo-no-graphics").run("-i", tree, "--of", "console", "--no-io")
    assert told.startswith("Machine (8192MB total)")
    assert len(re.findall(r"\bCore L#", told)) == 8
    assert len(re.findall(r"\bPU L#", told)) == 32
    assert "NUMANode L#0 (P#0 6144MB)" in told
    assert "NUMANode L#1 (P#1 2048MB)" in told
    assert "L3 L#0 (4096KB) + L2 L#0 (256KB) + L1d L#0 (32KB)" in told
