"""Machines of cells: what stands in the file arrives in the engine's input at its place."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from homenode import Scenario, _engine, load_scenario
from homenode.model.catalog import machine
from homenode.model.scenario.cellular.memory import GrantedMemory
from homenode.model.scenario.cellular.paths import core_at, path_of
from homenode.model.scenario.places import PlaceError

CELLS = Path(__file__).with_name("cells.toml").read_text(encoding="utf-8")
GIB, MIB = 2**30, 2**20
RX8640 = machine("hp-rx8640")


def changed(*pairs: tuple[str, str]) -> Scenario:
    text = CELLS
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new, 1)
    return Scenario.from_toml(text, "s.toml")


def test_cores_by_cell_by_path_and_by_count() -> None:
    scenario = changed()
    _engine.check(scenario.spec_json())
    shop, books, alone = scenario.partitions
    assert shop.in_cells is not None
    assert shop.in_cells.cores.by_path == (1,)
    assert shop.in_cells.cores.by_cell == {1: (8, 9, 10, 11, 12, 13)}
    # The rest: the second core of the processor of which it has the first already.
    assert shop.in_cells.cores.by_count == (0,)
    assert books.cores == (2, 3)
    assert alone.cores == tuple(range(24, 32))
    assert scenario.spec()["partitions"][0]["processors"] == {
        "mode": "dedicated",
        "cores": [0, 1, 8, 9, 10, 11, 12, 13],
        "donating": False,
        "donate_threshold_pct": 80.0,
    }
    assert [p["home"] for p in scenario.spec()["partitions"]] == [
        [0, 4, 5, 6],
        [1],
        [12, 13, 14, 15],
    ]


def test_the_boot_processor_is_the_one_named_else_one_by_path_else_the_first() -> None:
    def boots(scenario: Scenario) -> list[str]:
        found = [p.in_cells.cores.boot for p in scenario.partitions if p.in_cells]
        return [path_of(core, scenario.machine) for core in found]

    assert boots(changed()) == ["0.11", "0.12", "3.10"]
    named = changed(('paths = ["0.11"] }', 'paths = ["0.11"], boot = "1/12" }'))
    assert boots(named) == ["1.12", "0.12", "3.10"]


def test_paths_in_each_spelling() -> None:
    assert [path_of(core, RX8640) for core in (0, 7, 8, 31)] == ["0.10", "0.17", "1.10", "3.17"]
    for text in ("1.12", "1/12", "1/122", "1.122"):
        assert core_at(text, RX8640) == 10
    for core in range(RX8640.cores):
        assert core_at(path_of(core, RX8640), RX8640) == core
    for wrong in ("4.10", "0.18", "0.09", "0/128", "0/119"):
        with pytest.raises(PlaceError):
            core_at(wrong, RX8640)


def test_cells_that_give_more_have_the_rest_of_the_interleaved_memory() -> None:
    """4 of 8 and 12 of 20 GiB are interleaved: 8 GiB over both cells, 8 on the second alone."""
    scenario = changed(
        (
            'memory = "32 GiB"\nclm = "24 GiB"',
            'memory = ["8 GiB", "20 GiB"]\nclm = ["4 GiB", "8 GiB"]',
        ),
        ('size = "20 GiB", on = "cell1"', 'size = "8 GiB", on = "cell1"'),
    )
    shop, books, _ = scenario.spec()["partitions"]
    assert shop["memory"] == [
        {"domains": [1], "bytes": 8 * GIB - 64 * MIB},
        {"domains": [0, 1], "bytes": 8 * GIB - 32 * MIB},
    ]
    assert books["memory"] == [{"domains": [1], "bytes": 4 * GIB - 32 * MIB}]


def test_memory_lies_where_it_was_asked_and_interleaved_over_all_cells() -> None:
    shop, books, alone = changed().spec()["partitions"]
    # 32 MiB of its interleaved memory are the firmware's image of the virtual partition.
    assert shop["memory"] == [
        {"domains": [1], "bytes": 20 * GIB},
        {"domains": [0, 1], "bytes": 8 * GIB - 32 * MIB},
    ]
    assert books["memory"] == [{"domains": [0, 1], "bytes": 4 * GIB - 32 * MIB}]
    # All memory of its cell but what the cell's firmware takes.
    assert alone["memory"] == [{"domains": [3], "bytes": 16 * GIB - 64 * MIB}]
    assert [p["io_domain"] for p in (shop, books, alone)] == [1, None, None]
    assert [p["memory_policy"] for p in (shop, books)] == ["local-first", "interleaved"]
    assert books["data_bytes"] == (4 * GIB - 32 * MIB) // 2


def test_memory_that_firmware_and_monitor_take_as_in_the_example_of_the_guide() -> None:
    """Two cells of 4 GiB, half of each cell-local, all of it in two virtual partitions: the first
    sees 4064 MB, the second 3424.
    """
    memory = (
        'memory = [{ size = "1 GiB", on = "cell0" }, { size = "1 GiB", on = "cell1" },'
        ' { size = "2 GiB", on = "interleaved" }]\nguest = { os = "hp-ux" }\n'
        'workload = { kind = "idle" }\n'
    )
    one = '[[partition]]\nname = "{}"\nprocessors = {{ mode = "dedicated", cores = 4 }}\n' + (
        memory.replace("{", "{{").replace("}", "}}")
    )
    text = (
        '[machine]\nmodel = "hp-rx7640"\n[[npartition]]\nname = "npar0"\n'
        'cells = ["cell0", "cell1"]\nmemory = "4 GiB"\nclm = "2 GiB"\n'
        + one.format("vpar1")
        + one.format("vpar2")
    )
    seen = [p.memory_bytes // MIB for p in Scenario.from_toml(text).partitions]
    assert seen == [4064, 3424]


def test_requests_are_rounded_up_to_granules() -> None:
    scenario = changed(('size = "20 GiB"', 'size = "19.5 GiB"'), ('"8 GiB"', '"7.25 GiB"'))
    where = scenario.partition("shop").in_cells
    assert where is not None
    assert where.memory == (
        GrantedMemory(1, True, 39 * GIB // 2, 20 * GIB, 20 * GIB),
        GrantedMemory(None, True, 29 * GIB // 4, 8 * GIB, 8 * GIB - 32 * MIB),
    )
    # Without virtual partitions there are no granules.
    odd = changed(('memory = "16 GiB"\nguest', 'memory = "15.75 GiB"\nguest'))
    assert odd.partition("alone").memory_bytes == 63 * GIB // 4


def test_the_last_partition_pays_for_the_monitor() -> None:
    """Nothing is left over: 16 GiB interleaved, less 512 MiB for monitor and its dump."""
    scenario = changed(('size = "8 GiB"', 'size = "12 GiB"'))
    shop, books, _ = scenario.partitions
    assert shop.memory_bytes == 32 * GIB - 32 * MIB
    assert books.memory_bytes == 4 * GIB - 512 * MIB - 32 * MIB


def test_pages_end_at_granules_and_at_what_the_processor_has() -> None:
    def pages(*pairs: tuple[str, str]) -> list[int]:
        return [p["page_bytes"] for p in changed(*pairs).spec()["partitions"]]

    assert pages() == [GIB, 65_536, GIB]
    # Itanium has pages of 64 and 256 MiB, none of 128.
    small = ('ilm_granule = "1024 MiB"', 'ilm_granule = "128 MiB"')
    assert pages(small)[0] == 64 * MIB
    large = [('lm_granule = "1024 MiB"', 'lm_granule = "4096 MiB"')] * 2
    assert pages(*large) == [GIB, 65_536, GIB]
    ceiling = ('guest = { os = "hp-ux" }', 'guest = { os = "hp-ux", page = "200 KiB" }')
    assert pages(ceiling)[0] == 65_536


def test_only_virtual_partitions_pay_for_the_monitor() -> None:
    shares = [p["hypervisor_share"] for p in changed().spec()["partitions"]]
    monitor = RX8640.hypervisor
    assert shares == [monitor.monitor_share.value, monitor.monitor_share.value, 0.0]


def test_floating_memory_lies_like_base_memory() -> None:
    whole = '[{ size = "20 GiB", on = "cell1" }'
    halves = whole.replace("20", "10") + ', { size = "10 GiB", on = "cell1", use = "floating" }'
    assert changed((whole, halves)).spec()["partitions"] == changed().spec()["partitions"]


def test_hpux_leaves_second_threads_off() -> None:
    shop, books, _ = changed().partitions
    assert (shop.smt, books.smt) == (1, 2)
    assert (
        changed(('os = "hp-ux" }\nworkload', 'os = "hp-ux" }\nsmt = 2\nworkload')).partitions[0].smt
        == 2
    )


def test_guests_and_warehouses_arrive() -> None:
    shop, books, _ = changed().spec()["partitions"]
    assert shop["guest"]["os"] == "hpux"
    assert shop["guest"]["timeslice_ns"] == 100_000_000
    assert books["guest"]["os"] == "linux"
    assert set(books["guest"]) == {
        "os",
        "tick_ns",
        "tick_cost_ns",
        "timeslice_ns",
        "rebalance_ns",
        "daemon_rate_per_s",
        "daemon_ns",
        "packing",
    }
    assert shop["workload"] == {"kind": "warehouses", "count": 16}


def test_memory_and_clm_may_differ_by_cell() -> None:
    scenario = changed(
        (
            'memory = "32 GiB"\nclm = "24 GiB"',
            'memory = ["8 GiB", "32 GiB"]\nclm = ["0 B", "24 GiB"]',
        )
    )
    npartition = scenario.resolved.npartitions[0]
    assert [(c.index, c.memory, c.local) for c in npartition.cells] == [
        (0, 8 * GIB, 0),
        (1, 32 * GIB, 24 * GIB),
    ]
    assert npartition.interleaved == 16 * GIB
    # A cell that keeps all of its memory gives nothing to the interleaved.
    kept = scenario.with_(
        {
            "npartition.npar0.clm": ["0 B", "32 GiB"],
            "partition.books.memory": "2 GiB",
            "partition.shop.memory": [{"size": "20 GiB", "on": "cell1"}, {"size": "6 GiB"}],
        }
    )
    assert kept.spec()["partitions"][0]["memory"][1]["domains"] == [0]


def test_a_sweep_may_change_an_npartition() -> None:
    text = CELLS + '[sweep]\n"npartition.npar0.ilm_granule" = ["128 MiB", "1024 MiB"]\n'
    points = list(Scenario.from_toml(text).expand())
    assert [p.partitions[0].page_bytes for p in points] == [64 * MIB, GIB]


def test_a_scenario_of_cells_reads_back(tmp_path: Path) -> None:
    path = tmp_path / "cells.toml"
    path.write_text(changed().to_toml(), encoding="utf-8")
    assert load_scenario(path).spec() == changed().spec()


@pytest.mark.parametrize("name", ["hp-rx7640", "hp-rx8640", "hp-superdome-sx2000"])
def test_every_cellular_machine_runs_a_partition_on_all_of_a_cell(name: str) -> None:
    text = (
        f'[machine]\nmodel = "{name}"\n[[npartition]]\nname = "n"\ncells = ["cell1"]\n'
        'memory = "16 GiB"\n[[partition]]\nname = "p"\nmemory = "8 GiB"\n'
        'processors = { mode = "dedicated", cores = 8 }\nguest = { os = "hp-ux" }\n'
        'workload = { kind = "idle" }\n'
    )
    scenario = Scenario.from_toml(text)
    _engine.check(scenario.spec_json())
    assert scenario.partitions[0].cores == tuple(range(8, 16))
    assert dataclasses.replace(scenario.partitions[0], name="q").virtual == 8


def test_figures_of_optional_tables_may_be_replaced() -> None:
    scenario = changed().with_(
        {
            "machine.hypervisor.monitor_share": 0.02,
            "machine.translation.walk": "40 ns",
            "machine.platform.minimum_memory": "2 GiB",
            "machine.core_rate": 1.25,
        },
        why="a test",
    )
    spec = scenario.spec()
    assert spec["partitions"][0]["hypervisor_share"] == 0.02
    assert spec["machine"]["translation"]["walk_ns"] == 40.0
    assert spec["machine"]["core_rate"] == 1.25
    assert scenario.machine.platform is not None
    assert scenario.machine.platform.minimum_memory.reason == "a test"
