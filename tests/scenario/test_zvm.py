"""z/VM in a scenario file: virtual machines for each switch, numbers of its Control Program, and
what the engine gets of it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from homenode import Scenario, ScenarioError
from homenode.model.catalog.control_program import control_program

FILE = Path(__file__).with_name("zvm.toml")


@pytest.fixture
def text() -> str:
    return FILE.read_text(encoding="utf-8")


def guest(scenario: Scenario) -> dict[str, Any]:
    found = scenario.spec()["partitions"][0]["guest"]
    assert isinstance(found, dict)
    return found


def test_machines_are_repeated_for_each_switch(text: str) -> None:
    spec = guest(Scenario.from_toml(text))
    assert [switch["name"] for switch in spec["switches"]] == ["tile1", "tile2"]
    machines = spec["machines"]
    assert [m["name"] for m in machines[:6]] == [f"client{n}" for n in range(1, 7)]
    assert [m["switch"] for m in machines[:6]] == [0, 0, 0, 1, 1, 1]
    assert [m["switch"] for m in machines[6:]] == [0] * 12 + [1] * 12
    assert {m["role"] for m in machines[6:]} == {"server"}
    assert machines[0]["share"] == {"absolute": 0.02}
    assert machines[-1]["share"] == {"relative": 100}
    assert machines[0]["memory_bytes"] == 1 << 30


def test_one_machine_keeps_its_name(text: str) -> None:
    alone = Scenario.from_toml(
        text.replace("layer = 2\ncount = 2", "layer = 3").replace("count = 3\n", "")
    )
    spec = guest(alone)
    assert spec["machines"][0]["name"] == "client"
    assert spec["switches"] == [{"name": "tile", "layer": "ip", "frame_bytes": 1492}]


def test_the_workload_is_in_base_units(text: str) -> None:
    spec = Scenario.from_toml(text).spec()["partitions"][0]
    assert spec["workload"] == {
        "kind": "web",
        "request_bytes": 300,
        "file_bytes": 8192,
        "files": 2,
        "client_share": 0.5,
        "think_ns": 0,
        "work": "exponential",
    }
    assert spec["smt"] == 1
    assert spec["processors"]["mode"] == "dedicated"


def test_settings_of_srm_reach_the_engine(text: str) -> None:
    own = 'unparking = "small", cpupad = 1.5, excessuse = "low", polarization = "horizontal"'
    changed = text.replace('unparking = "large", excessuse = "medium"', own)
    spec = guest(Scenario.from_toml(changed))
    found = {key: spec[key] for key in ("unparking", "cpupad", "excessuse", "vertical")}
    assert found == {"unparking": "small", "cpupad": 1.5, "excessuse": "low", "vertical": False}
    assert guest(Scenario.from_toml(text))["vertical"] is True


def test_daemons_of_all_machines_reach_the_engine(text: str) -> None:
    none = guest(Scenario.from_toml(text))
    assert none["daemon_rate_per_s"] == 0.0
    changed = text.replace(
        'unparking = "large"', 'daemons = { rate = "20/s", work = "90 us" }, unparking = "large"'
    )
    assert changed != text
    found = guest(Scenario.from_toml(changed))
    assert (found["daemon_rate_per_s"], found["daemon_ns"]) == (20.0, 90_000)
    with pytest.raises(ScenarioError, match=r'guest\.daemons\.rate = "1e-9/s": it must be 0, or'):
        Scenario.from_toml(changed.replace("20/s", "1e-9/s"))
    with pytest.raises(ScenarioError, match=r"guest\.daemons: unknown key \"gangs\""):
        Scenario.from_toml(changed.replace('rate = "20/s"', "gangs = []"))


def test_a_machine_with_work_of_its_own(text: str) -> None:
    own = 'workload = { kind = "transactions", rate = "200/s", answer = "8 KiB" }'
    added = (
        f'\n[[partition.virtual_machine]]\nname = "db"\nmemory = "1 GiB"\n{own}\nswitch = "tile"\n'
    )
    changed = text.replace(
        '\n[[partition]]\nname = "small"', f'{added}\n[[partition]]\nname = "small"'
    )
    *others, first, second = guest(Scenario.from_toml(changed))["machines"]
    assert (first["name"], second["name"], second["switch"]) == ("db1", "db2", 1)
    assert first["role"] == "work"
    profile = Scenario.from_toml(changed).spec()["partitions"][0]["profile"]
    assert first["work"] == {
        "rate_per_s": 200.0,
        "instructions": profile["instructions_per_unit"],
        "work": "exponential",
        "answer_bytes": 8192,
    }
    assert not any("work" in one for one in others)
    told = changed.replace("200/s", "2000000/s")
    with pytest.raises(ScenarioError, match=r"virtual_machine db\.workload\.rate"):
        Scenario.from_toml(told)
    own_count = changed.replace('rate = "200/s"', 'rate = "200/s", instructions = 1000')
    assert guest(Scenario.from_toml(own_count))["machines"][-1]["work"]["instructions"] == 1000


def test_a_limit_on_a_share(text: str) -> None:
    limited = text.replace(
        'share = { absolute = "2 %" }',
        'share = { absolute = "2 %" }\nlimit = { absolute = "5 %", hard = false }',
    )
    machine = guest(Scenario.from_toml(limited))["machines"][0]
    assert machine["maximum"] == {"absolute": 0.05}
    assert machine["limit_hard"] is False
    assert guest(Scenario.from_toml(text))["machines"][0]["maximum"] is None


def test_two_threads_of_each_core(text: str) -> None:
    scenario = Scenario.from_toml(text.replace('smt = "off"', 'smt = "smt-2"'))
    partition = scenario.partition("big")
    assert partition.logical_cpus == 32
    assert partition.mainframe is not None
    assert partition.mainframe.numbers[:2] == ((0, 1), (2, 3))
    one = Scenario.from_toml(text.replace('smt = "off"', 'smt = "smt-1"')).partition("big")
    assert one.logical_cpus == 16
    assert one.mainframe is not None
    assert one.mainframe.numbers[:2] == ((0,), (2,))


def test_mode_and_types_where_they_are_not_said(text: str) -> None:
    big = Scenario.from_toml(text).partition("big").mainframe
    assert big is not None
    assert (big.mode, set(big.types)) == ("linux-only", {"ifl"})
    mixed = Scenario.from_toml(
        text.replace('cores = 16, type = "ifl"', "types = { cp = 2, ifl = 14 }")
    ).partition("big")
    assert mixed.mainframe is not None
    assert mixed.virtual == 16
    assert (mixed.mainframe.mode, mixed.mainframe.types[:3]) == ("z/vm", ("cp", "cp", "ifl"))


def test_paging_space(text: str) -> None:
    paged = text.replace(
        'memory = "64 GiB"',
        'memory = "16 GiB"\npaging = { volumes = 224, control_units = 16, size = "8 TiB", '
        'mode = "command", aliases = 3 }',
    )
    paging = guest(Scenario.from_toml(paged))["paging"]
    shipped = control_program()
    assert (paging["volumes"], paging["control_units"], paging["aliases"]) == (224, 16, 3)
    assert (paging["transport"], paging["bytes"]) == (False, 8 << 40)
    assert paging["connect_ns"] == shipped.paging.connect.value
    assert paging["storage"]["cache_bytes"] == shipped.storage.cache.value
    assert guest(Scenario.from_toml(text))["paging"] is None


def test_channels_have_what_their_mode_takes(text: str) -> None:
    def channels(more: str) -> dict[str, Any]:
        volumes = f'paging = {{ volumes = 8, size = "8 TiB", {more} }}'
        paged = text.replace('memory = "64 GiB"', f'memory = "16 GiB"\n{volumes}')
        found = guest(Scenario.from_toml(paged))["paging"]
        names = ("paths", "exchange_ns", "link_page_ns")
        return {name: found[name] for name in names if name in found}

    shipped = control_program().paging
    assert channels('mode = "transport"') == {}
    assert channels('mode = "command", paths = 4') == {"paths": 4}
    assert channels("paths = 4") == {
        "paths": 4,
        "exchange_ns": shipped.exchange.value,
        "link_page_ns": shipped.link_page.value,
    }
    # What IBM measured: I/Os of a page in a second, and bytes in a second each way.
    assert 1e9 / shipped.exchange.value == pytest.approx(92_000, rel=0.01)
    assert 4096e9 / shipped.link_page.value == pytest.approx(800e6, rel=0.01)


def test_numbers_of_the_control_program_are_the_shipped_ones(text: str) -> None:
    spec, shipped = guest(Scenario.from_toml(text)), control_program()
    for part, found in (("paths", spec["paths"]), ("locks", spec["locks"])):
        table = getattr(shipped, part)
        assert found == {name: getattr(table, name).value for name in type(table).model_fields}


def test_a_number_is_replaced_for_a_reason(text: str) -> None:
    own = '[partition.cp.paths]\nframe = { value = 2500, why = "ours" }\n\n[[partition.switch]]'
    scenario = Scenario.from_toml(text.replace("[[partition.switch]]", own, 1))
    assert guest(scenario)["paths"]["frame"] == 2500
    mainframe = scenario.partition("big").mainframe
    assert mainframe is not None
    assert mainframe.zvm is not None
    figure = mainframe.zvm.control_program.paths.frame
    assert (figure.provenance, figure.reason) == ("stated", "ours")


def test_a_number_may_bring_its_own_provenance(text: str) -> None:
    own = (
        "[partition.cp.locks]\nhold = { value = 400, calibrated = 'row 1 of a study', "
        "range = [100, 900] }\n\n[[partition.switch]]"
    )
    scenario = Scenario.from_toml(text.replace("[[partition.switch]]", own, 1))
    assert guest(scenario)["locks"]["hold"] == 400


def test_numbers_and_counts_change_by_path(text: str) -> None:
    changed = Scenario.from_toml(text).with_(
        {
            "partition.big.cp.paths.frame": 2000,
            "partition.big.switch.tile.count": 1,
            "partition.big.virtual_machine.client.count": 5,
            "partition.big.processors.cores": 8,
        }
    )
    spec = guest(changed)
    assert spec["paths"]["frame"] == 2000
    assert len([m for m in spec["machines"] if m["role"] == "client"]) == 5
    assert changed.partition("big").virtual == 8


def test_the_limit_is_lifted_for_a_reason(text: str) -> None:
    many = text.replace("cores = 16", "cores = 95")
    with pytest.raises(ScenarioError, match="supports 80 logical processors"):
        Scenario.from_toml(many)
    lifted = '"ibm-z14"\nzvm.processors = { value = 95, why = "a module without the limit" }'
    assert Scenario.from_toml(many.replace('"ibm-z14"', lifted, 1)).partition("big").virtual == 95


def test_every_shipped_number_says_where_it_is_from() -> None:
    for name, figure in control_program().figures():
        assert figure.reason, name
        assert figure.provenance != "assumed" or figure.range is not None, name


def test_what_scaling_reads_is_not_simulated(text: str) -> None:
    scenario = Scenario.from_toml(text + '\n[scaling]\nby = "guests"\npartition = "big"\n')
    assert scenario.file.scaling is not None
    assert scenario.file.scaling.by == "guests"
    assert scenario.spec() == Scenario.from_toml(text).spec()


def test_rows_of_virtual_machines_count_for_the_size_of_results(text: str) -> None:
    partition = Scenario.from_toml(text).partition("big")
    assert partition.result_rows == 1 + 16 + 30 + 2
    long = text.replace('duration = "10 s"', 'duration = "5 d"\ninterval = "100 ms"')
    with pytest.raises(ScenarioError, match="rows of results"):
        Scenario.from_toml(long)
