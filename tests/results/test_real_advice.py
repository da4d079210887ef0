"""Advice with the compiled engine: what is foretold comes true when the layout is simulated."""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

import cell_frames as cells
import frames
from homenode.simulate.explain.advice import page_advice, worth_telling
from homenode.simulate.explain.explanation import explain
from homenode.simulate.explain.moves import beside_io, moves
from homenode.simulate.explain.pricing import Outcome, Pricing
from homenode.simulate.explain.situation import Situation
from homenode.simulate.kept import CAUSES
from homenode.simulate.run import Run
from homenode.simulate.runner import run_scenario
from homenode.simulate.scenario import Scenario

pytestmark = pytest.mark.usefixtures("here")

LAYOUTS = {
    "near": (range(8), (cells.part(24, 0), cells.part(8, 0, 1))),
    "far": (range(8), (cells.part(24, 1), cells.part(8, 0, 1))),
    "split": ([*range(4), *range(8, 12)], (cells.part(32, 0, 1),)),
}


def simulated(name: str) -> Run:
    cores, memory = LAYOUTS[name]
    frame = cells.frame(cells.partition("jbb", cores, memory), name=name)
    return run_scenario(frames.Frozen(frame))


def outcomes(run: Run) -> Iterator[Outcome]:
    pricing = Pricing.of(run)
    assert pricing is not None
    at = Situation(run, "jbb")
    yield from pricing.outcomes(at.index, moves(at))


def throughput(run: Run) -> float:
    return run.metrics["jbb"]["etr_per_s"].mean or math.nan


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_price_of_the_run_is_what_it_paid(name: str, here: Path) -> None:
    run = simulated(name)
    pricing = Pricing.of(run)
    assert pricing is not None
    assert pricing.now is not None
    paid = (run.metrics["jbb"]["cpi"].mean or math.nan) / 4.0
    assert pricing.now[0] == pytest.approx(paid, rel=0.01)


@pytest.mark.parametrize("name", LAYOUTS)
def test_what_is_foretold_comes_true(name: str, here: Path) -> None:
    """Each layout is simulated: the same cores then do as much more as was said."""
    run = simulated(name)
    count = 0
    for outcome in outcomes(run):
        count += 1
        frame = {**copy.deepcopy(outcome.move.spec), "name": f"{name}-{count}"}
        after = run_scenario(frames.Frozen(frame))
        gained = throughput(after) / throughput(run)
        assert gained == pytest.approx(outcome.now / outcome.then, rel=0.01), outcome.move.text
    assert count >= 1


def test_cores_far_from_their_memory_are_told_to_move(here: Path) -> None:
    near, far = simulated("near"), simulated("far")
    told = worth_telling(list(outcomes(far)))
    assert told[0].move.text == "its 8 cores on node 1, where 88 % of its memory lies"
    ratio = throughput(far) / throughput(near)
    assert told[0].then / told[0].now == pytest.approx(ratio, rel=0.01)
    text = explain(far, None, near).paragraph
    assert "With its 8 cores on node 1" in text


def test_with_interleaved_memory_and_a_directory_the_place_of_cores_does_not_matter(
    here: Path,
) -> None:
    cores, memory = LAYOUTS["split"]
    partition = cells.partition("jbb", cores, memory)
    run = run_scenario(frames.Frozen(cells.frame(partition, coherence="home")))
    moved = [outcome for outcome in outcomes(run) if outcome.move.kind == "cores"]
    assert moved
    assert all(abs(outcome.saving) < 1e-3 for outcome in moved)
    assert worth_telling(moved) == []


CELLS = """
[machine]
model = "hp-rx7640"

[[npartition]]
name = "npar0"
cells = ["cell0", "cell1"]
memory = "32 GiB"
ilm_granule = "{granule}"
clm_granule = "{granule}"
{partitions}
[run]
warmup = "200 ms"
duration = "2 s"
replications = 1
"""
HALVES = """
[[partition]]
name = "{name}"
processors = {{ mode = "dedicated", cores = 8, cells = {{ {cells} }} }}
io = "{io}"
memory = [{{ size = "32 GiB", on = "interleaved" }}]
guest = {{ os = "hp-ux", memory_used = "75 %" }}
workload = {{ kind = "warehouses", count = 16, profile = {profile} }}
"""
SPLIT = "cell0 = 4, cell1 = 4"


def cell_run(name: str, *partitions: tuple[str, str, str, str], granule: str = "1 GiB") -> Run:
    tables = "".join(
        HALVES.format(name=who, cells=where, io=io, profile=profile)
        for who, where, io, profile in partitions
    )
    text = CELLS.format(partitions=tables, granule=granule)
    return Scenario.from_toml(f'name = "{name}"\n{text}').run()


def test_two_that_share_both_cells_are_told_to_have_one_each_with_its_memory(here: Path) -> None:
    """Cells full of two partitions: each has room for a whole one only if the other makes it."""
    profile = '"specjbb"'
    run = cell_run("halves", ("jbb", SPLIT, "cell1", profile), ("other", SPLIT, "cell0", profile))
    told = worth_telling(list(outcomes(run)))
    best = told[-1]
    assert best.move.kind == "both"
    assert best.move.text.endswith("that of other beside its cores")
    assert best.saving == pytest.approx(0.065, abs=0.015)
    assert "in exchange with other" in explain(run, "jbb").paragraph
    frame = {**copy.deepcopy(best.move.spec), "name": "wholes"}
    after = run_scenario(frames.Frozen(frame))
    for name in ("jbb", "other"):
        gained = (after.metrics[name]["etr_per_s"].mean or 0.0) / (
            run.metrics[name]["etr_per_s"].mean or math.nan
        )
        now, then = (best.now, best.then) if name == "jbb" else best.others[name]
        assert gained == pytest.approx(now / then, rel=0.01)


def test_a_little_base_memory_beside_cores_and_io_is_priced(here: Path) -> None:
    profile = '{ base = "sap-sd", io_data = "10 %", miss_m0 = 0.1 }'
    run = cell_run("io", ("jbb", "cell0 = 8", "cell0", profile))
    text = explain(run, "jbb").paragraph
    assert "no memory of its own on cell 0, where its I/O hangs and 8 of its cores are" in text
    assert "4 GiB of base memory there, for the kernel's structures of I/O" in text
    found = beside_io(Situation(run, "jbb"))
    assert found is not None
    pricing = Pricing.of(run)
    assert pricing is not None
    (foretold,) = pricing.outcomes(0, [found[0]])
    assert foretold.saving > 0.005
    after = run_scenario(frames.Frozen({**copy.deepcopy(found[0].spec), "name": "beside"}))
    gained = throughput(after) / throughput(run)
    assert gained == pytest.approx(foretold.now / foretold.then, rel=0.01)
    # Whose I/O hangs where it has no core has nothing of it.
    away = cell_run("away", ("jbb", "cell0 = 8", "cell1", profile))
    assert "base memory" not in explain(away, "jbb").paragraph


def test_a_granule_that_limits_pages_is_named(here: Path) -> None:
    run = cell_run("small", ("jbb", "cell0 = 8", "cell0", '"specjbb"'), granule="128 MiB")
    told = page_advice(Situation(run, "jbb"))
    assert "With pages of 256 MiB and granules as large (128 MiB now)" in told
    large = cell_run("large", ("jbb", "cell0 = 8", "cell0", '"specjbb"'), granule="1 GiB")
    assert "granule" not in page_advice(Situation(large, "jbb"))


def test_two_generations_by_cores_and_by_cycles(here: Path) -> None:
    """The newer one does the same with fewer cores; both tables add up to what was measured."""
    runs = {}
    for name in ("ibm-z196", "ibm-zec12"):
        runs[name] = Scenario.from_toml(
            f"""
            name = "java-{name}"
            [machine]
            model = "{name}"
            [[partition]]
            name = "java"
            processors = {{ mode = "dedicated", cores = 8 }}
            memory = "32 GiB"
            guest = {{ os = "linux" }}
            workload = {{ kind = "warehouses", count = 8, profile = "java" }}
            [run]
            warmup = "200 ms"
            duration = "500 ms"
            replications = 1
            """
        ).run()
    old, new = runs.values()
    told = explain(new, None, old)
    assert told.difference is not None
    assert told.difference < 0
    assert "ibm-zec12 with 5.5 GHz, ibm-z196 with 5.2 GHz" in told.paragraph
    assert {row.label for row in told.rows} >= {"L4 cache", "memory, same book"}
    cycles = explain(new, None, old, by="cpi")
    assert cycles.total == pytest.approx(new.metrics["java"]["cpi"].mean, abs=5e-4)
    nest = new.metrics["java"]
    shares = [nest[name].mean or 0.0 for name in ("l2p", "l3p", "l4lp", "l4rp", "memp")]
    assert math.fsum(shares) == pytest.approx(100.0)
    assert new.workload_category["java"] in {"LOW", "AVERAGE", "HIGH"}


def test_every_book_of_the_engine_has_a_label() -> None:
    from homenode import _engine

    assert [cause.name for cause in CAUSES] == list(_engine.BOOKS)


VIRTUAL = """
[machine]
model = "intel-xeon-6240-2s"
[machine.hypervisor.numa_balancing]
enabled = { value = false, why = "as in one node" }
[[partition]]
name = "vm"
processors = { mode = "shared", virtual = 4 }
kvm = { page = "4 KiB" }
memory = "16 GiB"
guest = { os = "linux" }
workload = { kind = "loops", count = 4, endless = true, profile = "oltp" }
[run]
warmup = "100 ms"
duration = "400 ms"
"""


def test_larger_pages_of_a_virtual_machine_are_priced(tmp_path: Path) -> None:
    """The walk in two dimensions is named, and what larger pages save comes out simulated."""
    run = run_scenario(Scenario.from_toml(VIRTUAL), out=tmp_path / "runs")
    told = page_advice(Situation(run, "vm"))
    assert told.startswith("A virtual machine's addresses are translated twice: 16 GiB of data")
    saved = re.search(r"With pages of 2 MiB of host and guest, .* \(([0-9.]+) % less\)", told)
    assert saved is not None
    larger = {"partition.vm.kvm.page": "2 MiB", "partition.vm.guest.page": "2 MiB"}
    after = run_scenario(Scenario.from_toml(VIRTUAL).with_(larger), out=tmp_path / "runs")
    cpis = [(one.metrics["vm"]["cpi"].mean or math.nan) for one in (run, after)]
    assert 100 * (1 - cpis[1] / cpis[0]) == pytest.approx(float(saved[1]), abs=1.0)
