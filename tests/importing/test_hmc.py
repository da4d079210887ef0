"""Rows and metrics of a Hardware Management Console as facts and recorded use."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

pytest.importorskip("homenode._engine", reason="the compiled engine is not installed")

from homenode.records.importing.assemble import AssembleOptions, assemble
from homenode.records.importing.facts import Facts
from homenode.records.importing.front import read_paths

FRAME = """\
name=frame9,type_model=9119-FHB,serial_num=0278A1B2C,state=Operating,sys_time=11/10/2020 09:00:00
configurable_sys_proc_units=48.0,curr_avail_sys_proc_units=9.8,installed_sys_proc_units=64.0
configurable_pool_proc_units=40.0,curr_avail_pool_proc_units=9.8
configurable_sys_mem=1048576,curr_avail_sys_mem=20480,installed_sys_mem=1048576
name=web7,lpar_id=12,lpar_env=aixlinux,state=Running,os_version=AIX 7.1 7100-05-07-2038
name=old1,lpar_id=14,lpar_env=aixlinux,state=Not Activated,os_version=Unknown
lpar_name=web7,lpar_id=12,curr_shared_proc_pool_id=2,curr_shared_proc_pool_name=web,\
curr_proc_mode=shared,curr_min_proc_units=0.1,curr_proc_units=0.8,curr_max_proc_units=4.0,\
curr_min_procs=1,curr_procs=3,curr_max_procs=6,curr_sharing_mode=uncap,curr_uncap_weight=64
lpar_name=vios1,lpar_id=1,curr_proc_mode=ded,curr_procs=2,curr_sharing_mode=share_idle_procs
lpar_name=old1,lpar_id=14,curr_proc_mode=shared,curr_proc_units=0.5,curr_procs=1
lpar_name=web7,lpar_id=12,curr_min_mem=4096,curr_mem=12288,curr_max_mem=16384
name=web,shared_proc_pool_id=2,max_pool_proc_units=4.0,"lpar_names=web7,web8"
name=normal,lpar_name=web7,lpar_id=12,desired_mem=12288,desired_proc_units=0.9,desired_procs=3
lpar_name=web7,lpar_id=12,curr_lpar_score=87
"""


def imported(folder: Path, name: str, text: str) -> Facts:
    path = folder / name
    path.write_text(text)
    return read_paths([path])


def test_a_frame_with_its_partitions(tmp_path: Path) -> None:
    facts = imported(tmp_path, "frame.txt", FRAME)
    system = facts.systems["0278A1B2C"]
    told = {name: getattr(system, name).value for name in
            ("model", "cores", "installed_cores", "pool_cores", "memory_bytes")}  # fmt: skip
    assert told == {
        "model": "9119-FHB", "cores": 48, "installed_cores": 64, "pool_cores": 40,
        "memory_bytes": 1 << 40,
    }  # fmt: skip
    assert list(facts.partitions) == [("0278A1B2C", "web7"), ("0278A1B2C", "vios1")]
    web, vios = facts.partitions.values()
    told = {name: getattr(web, name).value for name in
            ("mode", "capped", "entitlement", "virtual", "weight", "pool", "pool_maximum",
             "memory_bytes", "number", "os")}  # fmt: skip
    assert told == {
        "mode": "shared", "capped": False, "entitlement": 0.8, "virtual": 3, "weight": 64,
        "pool": "2", "pool_maximum": 4.0, "memory_bytes": 12288 << 20, "number": 12, "os": "aix",
    }  # fmt: skip
    assert web.minimum["memory_bytes"].value == 4096 << 20
    assert web.desired["entitlement"].value == 0.9
    assert vios.mode is not None
    assert vios.mode.value == "dedicated"
    assert vios.donating is not None
    assert vios.donating.value is True
    texts = [notice.text for notice in facts.notices]
    assert "not running, so left out: old1" in texts
    assert [n.where.line for n in facts.notices if "old1" in n.text and n.where] == [6]
    assert any("affinity score of web7, of 100: curr_lpar_score 87" in text for text in texts)


def sample(minute: int, cycles: int, capped: int, uncapped: int) -> str:
    when = f"12/12/2013 16:{minute:02}:00"
    return (
        f"time={when},event_type=sample,resource_type=lpar,sys_time={when},time_cycles={cycles},"
        "lpar_name=web7,lpar_id=12,curr_proc_mode=shared,curr_proc_units=0.8,curr_procs=3,"
        "curr_sharing_mode=uncap,curr_uncap_weight=64,curr_mem=12288,entitled_cycles=7,"
        f"capped_cycles={capped},uncapped_cycles={uncapped},idle_cycles=1\n"
    )


def test_counters_of_lslparutil_become_cores(tmp_path: Path) -> None:
    rows = [sample(20, 1000, 100, 0), sample(25, 3000, 1100, 500), sample(30, 5000, 1200, 500)]
    event = "time=12/12/2013 16:22:00,event_type=state_change,resource_type=lpar,lpar_name=web7\n"
    facts = imported(tmp_path, "util.txt", "".join(reversed(rows)) + event)
    (series,) = facts.series
    assert series.quantity == "physc"
    # (1000 + 500) of 2000 cycles, then 100 of 2000.
    assert series.table["cores"].to_list() == [0.75, 0.05]
    assert series.table["seconds"].to_list() == [300.0, 300.0]
    assert series.table["time"][0].isoformat() == "2013-12-12T16:25:00"
    assert series.table["memory"].to_list() == [float(12288 << 20)] * 2
    (partition,) = facts.partitions.values()
    assert partition.entitlement is not None
    assert partition.entitlement.value == 0.8


def test_a_partition_that_was_started_anew_loses_one_sample(tmp_path: Path) -> None:
    rows = [sample(20, 1000, 900, 0), sample(25, 3000, 100, 0), sample(30, 5000, 300, 0)]
    facts = imported(tmp_path, "util.txt", "".join(rows))
    assert facts.series[0].table["cores"].to_list() == [0.1]
    assert facts.took[0].dropped == 1
    assert any("counters go back" in notice.text for notice in facts.notices)


def document(samples: list[tuple[int, float]], mode: str = "uncap") -> dict[str, Any]:
    def one(second: int, cores: float) -> dict[str, Any]:
        processor = {
            "poolId": 2, "weight": 64, "mode": mode, "currentVirtualProcessors": [3.0],
            "entitledProcUnits": [0.8], "utilizedProcUnits": [0.0, cores],
        }  # fmt: skip
        stamp = f"2020-11-10T09:00:{second:02}+0100"
        server = {"totalProcUnits": [0.0, 20.0], "configurableProcUnits": [0.0, 16.0]}
        return {
            "sampleInfo": {"timeStamp": stamp},
            "serverUtil": {"processor": server},
            "lparsUtil": [
                {"id": 12, "name": "web7", "state": "Running", "osType": "AIX",
                 "memory": {"logicalMem": [0.0, 4096.0]}, "processor": processor}
            ],
        }  # fmt: skip

    info = {
        "metricType": "Processed", "frequency": 30, "mtms": "9009-42A*78A1B2C", "name": "frame9",
        "metricArrayOrder": ["MIN", "AVG"],
    }  # fmt: skip
    return {"systemUtil": {"utilInfo": info, "utilSamples": [one(*pair) for pair in samples]}}


def test_processed_metrics_become_cores(tmp_path: Path) -> None:
    facts = imported(tmp_path, "pcm.json", json.dumps(document([(0, 0.25), (30, 0.5)])))
    (series,) = facts.series
    assert series.quantity == "physc"
    assert series.table["cores"].to_list() == [0.25, 0.5]
    assert series.table["seconds"].to_list() == [30.0, 30.0]
    assert (f"{series.table['time'][0]:%H:%M}", series.ahead_s) == ("09:00", 3600.0)
    ((key, partition),) = facts.partitions.items()
    assert key == ("78A1B2C", "web7")
    assert partition.entitlement is not None
    assert partition.entitlement.value == 0.8
    assert partition.memory_bytes is not None
    assert partition.memory_bytes.value == 4096 << 20
    system = facts.systems["78A1B2C"]
    assert system.model is not None
    assert system.model.value == "9009-42A"
    assert system.cores is not None
    assert system.cores.value == 16


def test_dedicated_partitions_are_used_not_dispatched(tmp_path: Path) -> None:
    text = json.dumps(document([(0, 0.25)], mode="keep_idle_procs"))
    facts = imported(tmp_path, "pcm.json", text)
    assert facts.series[0].quantity == "used"


def test_metrics_that_are_cut_off_keep_whole_samples(tmp_path: Path) -> None:
    text = json.dumps(document([(0, 0.25), (30, 0.5)]), indent=1)
    facts = imported(tmp_path, "pcm.json", text[: text.rfind("utilizedProcUnits")])
    assert facts.series[0].table["cores"].to_list() == [0.25]
    assert facts.took[0].dropped == 1
    assert any("cut off" in notice.text for notice in facts.notices)


def test_raw_metrics_are_left_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "raw.json"
    path.write_text(json.dumps(document([(0, 0.25)])).replace("Processed", "Raw"))
    facts = read_paths([path])
    assert facts.took == []
    assert "processed metrics" in facts.left[0].why


def test_the_state_of_a_partition_holds_for_all_files(tmp_path: Path) -> None:
    # A command a file, as they are saved; only one of them tells the state.
    for number, line in enumerate(FRAME.splitlines(keepends=True)):
        (tmp_path / f"{9 - number % 10}-{number}.txt").write_text(line)
    old = sample(1, 100, 1, 1).replace("web7", "old1") + sample(2, 200, 2, 2).replace(
        "web7", "old1"
    )
    (tmp_path / "use.txt").write_text(old)
    facts = read_paths([tmp_path])
    assert {name for _, name in facts.partitions} == {"web7", "vios1"}
    assert not facts.series
    assert "not running, so left out: old1" in [notice.text for notice in facts.notices]


@pytest.mark.parametrize(
    ("model", "level", "threads"),
    [
        ("9119-FHB", "AIX 7.1", 4),
        ("9117-MMA", "AIX 6.1", 2),
        ("9119-MHE", "AIX 7.2", 4),
        ("9119-MHE", "Linux/SLES", 8),
        ("9080-HEX", "AIX 7.3", 8),
    ],
)
def test_threads_are_those_a_system_starts_with(
    tmp_path: Path, model: str, level: str, threads: int
) -> None:
    frame = FRAME.replace("9119-FHB", model).replace("AIX 7.1 7100-05-07-2038", level)
    facts = imported(tmp_path, "frame.txt", frame)
    made = assemble(facts, AssembleOptions(convert=False))
    web = made.text.split('name = "web7"')[1].split("[[partition]]")[0]
    assert f"smt = {threads}  # assumed: as its system starts on this generation" in web
    said = [one.text for one in made.notices if "threads a core" in one.text]
    assert any("web7" in text and f"; {threads}, as their system" in text for text in said)


def test_listings_that_name_no_server_are_of_the_only_one(tmp_path: Path) -> None:
    # A command a file, profiles before what runs; its use is told by the server's own metrics.
    listings = FRAME.replace("0278A1B2C", "78A1B2C").splitlines(keepends=True)
    for number, line in enumerate(reversed(listings)):
        (tmp_path / f"{number:02}.txt").write_text(line)
    (tmp_path / "pcm.json").write_text(json.dumps(document([(0, 0.25), (30, 0.5)])))
    facts = read_paths([tmp_path])
    assert set(facts.partitions) == {("78A1B2C", "web7"), ("78A1B2C", "vios1")}
    web = facts.partitions["78A1B2C", "web7"]
    assert web.entitlement is not None
    assert web.entitlement.value == 0.8
    assert web.pool_maximum is not None
    assert list(facts.systems) == ["78A1B2C"]
    made = assemble(facts, AssembleOptions(convert=False))
    assert [one.name for one in made.scenario.partitions] == ["web7", "vios1"]
    assert made.text.count('kind = "trace"') == 1


SEEDS = Path(__file__).resolve().parents[2] / "fuzz" / "seeds" / "hmc_rows"


def test_a_session_names_servers_and_values_by_its_commands() -> None:
    facts = read_paths([SEEDS / "session.txt"])
    assert [(key, name) for key, name in facts.partitions] == [("78A1B2C", "db2")]
    db2 = facts.partitions["78A1B2C", "db2"]
    assert db2.entitlement is not None
    assert (db2.entitlement.value, db2.entitlement.where.line) == (1.5, 11)
    (series,) = facts.series
    # Cells 4 and 5 of the two last rows, as awk -F, takes them.
    cells = [
        [float(cell) for cell in line.split(",")[2:5]]
        for line in (SEEDS / "session.txt").read_text().splitlines()[12:14]
    ]
    passed, *used = (late - early for late, early in zip(*cells, strict=True))
    assert series.table["cores"].to_list() == pytest.approx([sum(used) / passed])
    assert facts.took[0].dropped == 0
    assert "not running" in str(facts.notices[0])


def test_several_servers_of_one_session_stay_apart(tmp_path: Path) -> None:
    rows = (
        "hscroot@hmc1:~> lssyscfg -r sys -F name,type_model,serial_num\n"
        "a,9080-HEX,1111111\nb,9040-MR9,2222222\n"
        "hscroot@hmc1:~> lssyscfg -r lpar -m a\nname=x,lpar_id=1,lpar_env=aixlinux\n"
        "hscroot@hmc1:~> lssyscfg -r lpar -m 9040-MR9*2222222 -F name,lpar_id\nx,2\n"
    )
    facts = imported(tmp_path, "session.log", rows)
    numbers = {key: of.number.value for key, of in facts.partitions.items() if of.number}
    assert numbers == {("1111111", "x"): 1, ("2222222", "x"): 2}


def test_values_without_names(tmp_path: Path) -> None:
    (series,) = read_paths([SEEDS / "lslparutil-bare.txt"]).series
    assert series.table["cores"].to_list() == [0.25, 0.5]
    facts = imported(tmp_path, "a.txt", "06/01/2026 10:00:00,db2,12345678,1234567\n")
    assert "the list behind -F" in facts.left[0].why
    assert facts.left[0].line == 1


FEED = SEEDS.parent / "xml" / "hmc-feed.xml"


def test_feeds_of_the_rest_interface() -> None:
    facts = read_paths([FEED])
    texts = {
        element.tag.rpartition("}")[2]: element.text
        for element in ET.parse(FEED).getroot().iter()
        if element.tag.endswith(("ProcessorUnits", "ProcessingUnits", "SerialNumber", "Model"))
    }
    (serial,) = (key for key in facts.systems if key)
    server, db2 = facts.systems[serial], facts.partitions[serial, "db2prod"]
    assert server.cores is not None
    assert server.model is not None
    assert db2.entitlement is not None
    assert (serial, server.model.value[5:]) == (texts["SerialNumber"], texts["Model"])
    assert str(server.cores.value) == texts["ConfigurableSystemProcessorUnits"]
    assert str(db2.entitlement.value) == texts["CurrentProcessingUnits"]
    assert db2.maximum["memory_bytes"].value == 131072 << 20
    line = FEED.read_text().splitlines()[db2.entitlement.where.line or 0]
    assert "AssociatedManagedSystem" in line
    vios = facts.partitions[serial, "vios1"]
    assert vios.mode is not None
    assert vios.donating is not None
    assert (vios.mode.value, vios.donating.value) == ("dedicated", True)
    assert list(facts.partitions) == [(serial, "db2prod"), (serial, "vios1")]


def test_feeds_in_files_of_their_own_find_their_server(tmp_path: Path) -> None:
    text = FEED.read_text()
    entries = text.split("    <entry>")
    for number, entry in enumerate(entries[1:]):
        body = entry.removesuffix("</feed>\n")
        (tmp_path / f"{9 - number}.xml").write_text(f"{entries[0]}    <entry>{body}</feed>")
    assert list(read_paths([tmp_path]).partitions) == [
        ("78A1B2C", "vios1"),
        ("78A1B2C", "db2prod"),
    ]
