"""hyptop, metrics of exporters, and inventories of RVTools."""

from __future__ import annotations

import io
import json
import zipfile
from datetime import datetime
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from homenode.records.importing.assemble import AssembleOptions, assemble
from homenode.records.importing.facts import Facts, PartitionFacts, SystemFacts
from homenode.records.importing.front import read_paths
from homenode.records.importing.opening.sources import ListingError
from homenode.tools.hyptop import columns, structured
from homenode.tools.hyptop.systems import System

TABLE = """\
23:59:55 | cpu-t: IFL(18)                                             ?=help
system #core #The   core  mgm  Core+ online
(str)    (#)  (#)    (%)  (%)   (hm)  (dhm)
LINUX1    10   20 461.14 0.86 1547:41 11:05:59
LINUX2     4    8  99.26    -  99:13 11:05:59
          14   28 560.40 0.86 1646:54 11:05:59
-------------------------------------------------------------------------------
00:00:05 | cpu-t: IFL(18)                                             ?=help
system #core #The   core  mgm  Core+ online
(str)    (#)  (#)   (ms)  (%)   (hm)  (dhm)
LINUX1    10   20 4000.00 0.00 1547:41 11:05:59
"""
SCRAPE = """\
# HELP zhmc_cpc_ifl_processor_count Number of active IFL processors
# TYPE zhmc_cpc_ifl_processor_count gauge
zhmc_cpc_ifl_processor_count{cpc="LAB"} 12.0
zhmc_cpc_cp_processor_count{cpc="LAB"} 2.0
zhmc_cpc_total_memory_mib{cpc="LAB"} 1024.0
zhmc_adapter_usage_ratio{adapter="OSM1",cpc="LAB"} 0.0
zhmc_partition_ifl_processor_count{cpc="LAB",partition="LNX1"} 4.0
zhmc_partition_cp_processor_count{cpc="LAB",partition="LNX1"} 1.0
zhmc_partition_ifl_current_processing_weight{cpc="LAB",partition="LNX1"} 300.0
zhmc_partition_ifl_initial_processing_weight_is_capped{cpc="LAB",partition="LNX1"} 1.0
zhmc_partition_processor_mode_int{cpc="LAB",partition="LNX1"} 0.0
zhmc_partition_ifl_processor_usage_ratio{cpc="LAB",partition="LNX1"} 0.25
zhmc_partition_initial_memory_mib{cpc="LAB",partition="LNX1"} 512.0
zhmc_partition_processor_usage_ratio{cpc="LAB",partition="OFF"} 0.0
zhmc_partition_cp_processor_count{cpc="LAB",partition="STOP"} 2.0
zhmc_partition_cp_current_processing_weight{cpc="LAB",partition="STOP"} 1.0
zhmc_partition_processor_usage_ratio{cpc="LAB",partition="STOP"} 0.0
zhmc_partition_lpar_status_int{cpc="LAB",partition="STOP"} 2.0
zhmc_partition_lpar_status_int{cpc="LAB",partition="LNX1"} 0.0
"""
VINFO = [
    ("VM", "Powerstate", "Template", "CPUs", "Memory", "Host", "OS according to the VMware Tools"),
    ("db1", "poweredOn", "False", "4", "16,384", "esx1", "Red Hat Enterprise Linux 8"),
    ("web1", "poweredOn", "False", "2", "8192", "esx1", "Microsoft Windows Server 2019"),
    ("old", "poweredOff", "False", "2", "8192", "esx1", ""),
    ("tmpl", "poweredOff", "True", "2", "8192", "esx1", ""),
]
VCPU = [
    ("VM", "Powerstate", "Template", "CPUs", "Sockets", "Overall", "Shares", "Limit", "Host"),
    ("db1", "poweredOn", "False", "4", "1", "4788", "4000", "-1", "esx1"),
    ("web1", "poweredOn", "False", "2", "1", "239.4", "2000", "1000", "esx1"),
]
VHOST = [
    ("Host", "Datacenter", "Cluster", "CPU Model", "Speed", "HT Active", "# CPU", "# Cores"),
    ("esx1", "D", "C", "A processor", "2394", "True", "2", "40"),
]
SHEETS = {"vInfo": VINFO, "vCPU": VCPU, "vHost": VHOST}


def read(tmp_path: Path, files: dict[str, bytes | str]) -> Facts:
    for name, data in files.items():
        (tmp_path / name).write_bytes(data.encode() if isinstance(data, str) else data)
    return read_paths([tmp_path])


def told(of: PartitionFacts | SystemFacts) -> dict[str, Any]:
    """Values of facts, by attribute."""
    return {name: fact.value for name, fact in vars(of).items() if hasattr(fact, "where")}


def test_the_table_of_hyptop(tmp_path: Path) -> None:
    facts = read(tmp_path, {"lab.txt": TABLE})
    first, second = facts.series
    assert (first.partition, first.system, first.quantity) == ("LINUX1", "lab", "physc")
    assert first.table["cores"].to_list() == pytest.approx([4.62, 4.0])
    assert first.table["time"].to_list() == [
        datetime.fromisoformat("1970-01-01 23:59:55"),
        datetime.fromisoformat("1970-01-02 00:00:05"),
    ]
    assert first.table["line"].to_list() == [4, 11]
    assert second.table["cores"].to_list() == [0.9926]
    assert told(facts.partition("lab", "LINUX1")) == {
        "virtual": 10,
        "smt": 2,
        "core_type": "ifl",
    }
    assert told(facts.system("lab")) == {
        "architecture": "s390x",
        "hypervisor": "pr/sm",
        "cores": 18,
    }


@pytest.mark.parametrize("form", structured.FORMATS)
def test_formats_for_programs(form: str, tmp_path: Path) -> None:
    def system(name: str, busy: int) -> System:
        values = {one.letter: 0 for one in columns.LPAR} | {"#": 4, "T": 8, "c": busy, "m": 10_000}
        return System(name, values)

    looks = [
        structured.Iteration(1, "00:00:10", {"IFL": 8}, [system("a", 1_500_000), system("b", 0)]),
        structured.Iteration(2, "00:00:20", {"IFL": 8}, [system("a", 250_000)]),
    ]
    meta = {"api_level": 1, "host": "lnx", "time": "2024-03-01T08:00:00+01:00"}
    text = structured.render(form, meta, looks, list(columns.LPAR))
    facts = read(tmp_path, {"recorded": text})
    first, second = facts.series
    assert [one.partition for one in facts.series] == ["a", "b"]
    assert first.table["cores"].to_list() == pytest.approx([1.51, 0.26])
    assert second.table["cores"].to_list() == pytest.approx([0.01])
    assert first.table["time"][1] == datetime.fromisoformat("2024-03-01 00:00:20")
    # One look of two: it is as long as those of the others.
    assert second.table["seconds"].to_list() == [10.0]
    known = told(facts.partition("lnx", "a"))
    assert (known["virtual"], known["smt"]) == (4, 2)
    assert facts.notices == []


def test_units_that_were_asked_for(tmp_path: Path) -> None:
    look = {"iteration": 1, "time": "08:00:00", "systems": [{"system": "a", "core": 250.0}]}
    meta = {"host": "lnx", "tool_invocation": "hyptop -b -f o,c:ms --format json"}
    facts = read(tmp_path, {"a.json": json.dumps({"meta": meta, "hyptop": [look]})})
    assert facts.series[0].table["cores"].to_list() == [0.25]


def test_virtual_machines_under_zvm(tmp_path: Path) -> None:
    machine = {"system": "CLIENT01", "#cpu": 4, "cpu": 14.69, "memmax": 4.0, "wcur": 100}
    look = {"iteration": 1, "time": "2024-03-01 08:00:00", "systems": [machine]}
    facts = read(tmp_path, {"zvm.json": json.dumps({"hyptop": [look]})})
    assert facts.series[0].table["cores"].to_list() == pytest.approx([0.1469])
    assert told(facts.partition("zvm", "CLIENT01")) == {
        "virtual": 4,
        "weight": 100,
        "memory_bytes": 4 << 30,
    }
    assert told(facts.system("zvm"))["hypervisor"] == "z/vm"


def test_a_scrape_of_a_console(tmp_path: Path) -> None:
    facts = read(tmp_path, {"lab.prom": SCRAPE})
    assert told(facts.system("LAB")) == {
        "cores": 14,
        "memory_bytes": 1 << 30,
        "architecture": "s390x",
        "hypervisor": "pr/sm",
    }
    assert told(facts.partition("LAB", "LNX1")) == {
        "virtual": 4,
        "core_type": "ifl",
        "weight": 300,
        "capped": True,
        "mode": "shared",
        "memory_bytes": 512 << 20,
    }
    (series,) = facts.series
    assert (series.table["cores"].to_list(), series.table["seconds"].to_list()) == ([1.0], [15.0])
    texts = [notice.text for notice in facts.notices]
    assert any("LNX1 has 1 cp besides" in text for text in texts)
    assert any("the scrape tells no time" in text for text in texts)


def test_what_a_console_counts_is_no_assumption_and_what_stopped_is_left(tmp_path: Path) -> None:
    facts = read(tmp_path, {"lab.prom": SCRAPE})
    assert {name for _, name in facts.partitions} == {"LNX1"}
    texts = [notice.text for notice in facts.notices]
    assert "not running, so left out: STOP" in texts
    head = assemble(facts, AssembleOptions(convert=False)).text.split("[[partition]]")[0]
    where = f"{tmp_path / 'lab.prom'}:4, {tmp_path / 'lab.prom'}:3"
    # Each figure with the lines that tell it.
    for line in ("active_cores = 14", "characterized = { cp = 2, ifl = 12 }"):
        assert f"{line}  # {where}" in head or f"# {where}\n{line}\n" in head


def test_metrics_with_moments_are_a_series(tmp_path: Path) -> None:
    use = 'zhmc_partition_ifl_processor_usage_ratio{cpc="LAB",partition="LNX1"}'
    rows = [f"{use} 0.{number} 17000000{number}0" for number in range(1, 5)]
    facts = read(tmp_path, {"lab.om": SCRAPE.replace(f"{use} 0.25", "\n".join(rows)) + "# EOF\n"})
    (series,) = facts.series
    assert series.table["cores"].to_list() == pytest.approx([0.4, 0.8, 1.2, 1.6])
    assert set(series.table["seconds"]) == {10.0}


def test_metrics_of_others_are_left(tmp_path: Path) -> None:
    text = "# TYPE node_load1 gauge\nnode_load1 0.5\n"
    (left,) = read(tmp_path, {"node.prom": text}).left
    assert left.why.startswith("its 1 metrics are of no exporter that is known")


def as_csv(rows: list[tuple[str, ...]], delimiter: str) -> str:
    quoted = (delimiter.join(f'"{cell}"' for cell in row) for row in rows)
    return "\r\n".join(quoted) + "\r\n"


def as_workbook() -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.active)  # type: ignore[arg-type]
    for name, rows in SHEETS.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append([float(cell) if cell.lstrip("-").isdigit() else cell for cell in row])
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


@pytest.mark.parametrize("form", ["xlsx", "comma", "semicolon"])
def test_inventories(form: str, tmp_path: Path) -> None:
    delimiter = ";" if form == "semicolon" else ","
    files: dict[str, bytes | str] = {
        f"RVTools_tab{name}.csv": as_csv(rows, delimiter) for name, rows in SHEETS.items()
    }
    facts = read(tmp_path, {"all.xlsx": as_workbook()} if form == "xlsx" else files)
    assert {one.partition: one.table["cores"].to_list() for one in facts.series} == {
        "db1": [2.0],
        "web1": pytest.approx([0.1]),
    }
    assert set(facts.partitions) == {("esx1", "db1"), ("esx1", "web1")}
    assert told(facts.partition("esx1", "web1")) == {
        "virtual": 2,
        "memory_bytes": 8 << 30,
        "weight": 2000,
        "os": "windows",
        "mode": "shared",
        "capped": True,
    }
    assert told(facts.partition("esx1", "db1"))["memory_bytes"] == 16 << 30
    assert told(facts.system("esx1")) == {
        "hypervisor": "vmware",
        "architecture": "x86_64",
        "processor": "A processor",
        "clock_hz": 2394e6,
        "cores": 40,
        "chips": 2,
        "threads_per_core": 2,
    }
    texts = [notice.text for notice in facts.notices]
    assert "left out: virtual machines, templates: 1" in texts
    assert "left out: virtual machines, not switched on: 1" in texts
    assert facts.left == []


def test_a_workbook_of_something_else_is_left(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["what", "is", "this"])  # type: ignore[union-attr]
    out = io.BytesIO()
    book.save(out)
    (left,) = read(tmp_path, {"a.xlsx": out.getvalue()}).left
    assert left.why.startswith("none of its sheets is known; they are Sheet")
    (tmp_path / "a.xlsx").write_bytes(out.getvalue()[:-100])
    (left,) = read_paths([tmp_path]).left
    assert left.why.startswith("it is no sound workbook: ")


def test_a_workbook_whose_extent_is_wrong_is_read_whole(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in [["time", "name", "cores"], *([f"x{n}", "a", 1] for n in range(2))]:
        book.active.append(row)  # type: ignore[union-attr]
    for minute in range(3):
        moment = datetime.fromisoformat(f"2024-03-01 08:0{minute}")
        book.active.append([moment, "a", 1.5])  # type: ignore[union-attr]
    out, wrong = io.BytesIO(), io.BytesIO()
    book.save(out)
    with zipfile.ZipFile(out) as old, zipfile.ZipFile(wrong, "w") as new:
        for name in old.namelist():
            part = old.read(name).replace(b'<dimension ref="A1:C6"', b'<dimension ref="A1"')
            new.writestr(name, part)
    facts = read(tmp_path, {"a.xlsx": wrong.getvalue()})
    assert facts.series[0].table["cores"].to_list() == [1.5] * 3
    assert facts.took[0].dropped == 2


def test_one_sample_alone_is_said_to_be_of_assumed_length(tmp_path: Path) -> None:
    facts = read(tmp_path, {"one.csv": "timestamp,name,cpu\n2024-03-01 10:00:00,vm1,1.0\n"})
    (note,) = [one for one in facts.notices if "300 s are assumed" in one.text]
    assert note.where is not None
    assert note.where.line == 2


def test_resource_pools_of_an_inventory_are_named(tmp_path: Path) -> None:
    pools = ("Resource pool", "/D/C/Resources", "/D/C/Resources/prod/web", "", "")
    vinfo = [(*row, pool) for row, pool in zip(VINFO, pools, strict=True)]
    facts = read(tmp_path, {"vInfo.csv": as_csv(vinfo, ","), "vHost.csv": as_csv(VHOST, ",")})
    texts = [notice.text for notice in facts.notices if "resource pools" in notice.text]
    assert len(texts) == 1
    assert texts[0].startswith("1 virtual machine is in resource pools")
    assert "prod/web" in texts[0]


def test_machines_on_a_host_that_no_sheet_tells_are_guests_of_vsphere(tmp_path: Path) -> None:
    stray = ("mail1", "poweredOn", "False", "2", "4096", "esx7", "Ubuntu Linux")
    used = ("mail1", "poweredOn", "False", "2", "1", "500", "2000", "-1", "esx7")
    sheets = {
        "vInfo.csv": as_csv([*VINFO, stray], ","),
        "vCPU.csv": as_csv([*VCPU, used], ","),
        "vHost.csv": as_csv(VHOST, ","),
    }
    facts = read(tmp_path, sheets)
    texts = [notice.text for notice in facts.notices]
    told_of = "no sheet tells of host esx7: 1 virtual machines run on it; use of 1 in MHz"
    assert any(text.startswith(told_of) for text in texts), texts
    assert told(facts.system("esx7")) == {"hypervisor": "vmware", "architecture": "x86_64"}
    with pytest.raises(ListingError, match="2 servers: esx1, esx7"):
        assemble(facts, AssembleOptions(convert=False))
    with pytest.raises(ListingError, match="there is esx1, esx7"):
        assemble(facts, AssembleOptions(convert=False, system="esx9"))
    made = assemble(facts, AssembleOptions(convert=False, system="esx7"))
    # As the guest of an x86 server, not as cores of a Power one.
    assert made.scenario.machine.name in ("intel-xeon-6240-2s", "amd-epyc-7742-2s")
    assert 'policy = "esxi"  # a host of vmware' in made.text
    assert "kvm" not in made.text
