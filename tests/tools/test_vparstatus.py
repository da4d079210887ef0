"""vparstatus and parstatus of a layout: what is shown, and that it is read back."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from cells import NO_MONITOR, TWO_CELLS
from homenode import _engine, load_scenario
from homenode.errors import NotFoundError
from homenode.model.scenario import Scenario
from homenode.model.scenario.placed import Resolved
from homenode.tools import ToolError, parstatus, vparstatus


def resolved(text: str = TWO_CELLS) -> Resolved:
    return Scenario.from_toml(text).resolved


DETAILS = """\
[Virtual Partition Details]
Name:         jbb
State:        Up
Attributes:   Dynamic,Autoboot,Nosearch
Kernel Path:  /stand/vmunix
Boot Opts:

[CPU Details]
Min/Max:  2/16
User assigned [Path]:
Boot processor [Path]:  0.10
Monitor assigned [Path]:  0.11
                          0.12
                          0.13
                          1.10
                          1.11
                          1.12
                          1.13
Non-cell-specific:
  User assigned [Count]:  1
  Monitor assigned [Count]:  1
Cell-specific [Count]:  Cell ID/Count
                           0      2
                           1      4

[IO Details]
   1.0

[Memory Details]
ILM, user-assigned [Base  /Range]:
                   (bytes) (MB)
ILM, monitor-assigned [Base  /Range]:
                      (bytes) (MB)
ILM Total (MB):  8192  (Floating 4096)

ILM Granularity (MB):  1024

CLM, user-assigned [CellID  Base  /Range]:
                            (bytes) (MB)
CLM, monitor-assigned [CellID  Base  /Range]:
                               (bytes) (MB)
CLM (CellID  MB):  1  24576

CLM Granularity (MB):  1024

"""

MACHINE = (
    "jbb:Up:Dynamic,Autoboot,Nosearch:/stand/vmunix::"
    "2/16;;0.10;0.11,0.12,0.13,1.10,1.11,1.12,1.13;;1;1;0 2,1 4:1.0:"
    ";8192;;;8192;1024;;;1 24576;1024;;;4096;;;::N\n"
    "sap:Up:Dynamic,Autoboot,Nosearch:/stand/vmunix::"
    "1/12;;0.14;0.15,0.16,0.17,1.14,1.15,1.16,1.17;;0;8;::"
    ";8192;;;8192;1024;;;0 24576;1024::N\n"
)

SUMMARY_ROWS = [
    "jbb                            Up    Dyn,Auto   /stand/vmunix",
    "jbb                              2/ 16    8    1   0/     0     8192   0/     0    24576",
]

CELLS = """\
[Cell]
                        CPU     Memory                                Use
                        OK/     (GB)                          Core    On
Hardware   Actual       Deconf/ OK/                           Cell    Next Par
Location   Usage        Max     Deconf    Connected To        Capable Boot Num
========== ============ ======= ========= =================== ======= ==== ===
cab0,cell0 Active Core  8/0/8   32.0/ 0.0 cab0,bay0,chassis0  yes     yes  0
cab0,cell1 Active Base  8/0/8   32.0/ 0.0 cab0,bay0,chassis1  yes     yes  0

Notes: * = Cell has no interleaved memory.
"""


def test_vparstatus_v_shows_a_partition_in_full() -> None:
    assert vparstatus.render(resolved(), "v", ["jbb"]) == DETAILS


def test_vparstatus_m_is_a_line_a_partition() -> None:
    assert vparstatus.render(resolved(), "M") == MACHINE


def test_the_summary_has_two_lines_a_partition() -> None:
    shown = vparstatus.render(resolved()).splitlines()
    assert [line for line in shown if line.startswith("jbb")] == SUMMARY_ROWS


def test_parstatus_c_shows_the_cells() -> None:
    assert parstatus.render(resolved()) == CELLS


def test_memory_is_shown_in_whole_granules() -> None:
    for partition in vparstatus.told(resolved()):
        memory = partition["memory"]
        kinds: list[tuple[vparstatus.Megabytes, int]] = [
            (memory["interleaved"], memory["interleaved"]["granule"])
        ]
        kinds += [(part, memory["local"]["granule"]) for part in memory["local"]["by_cell"]]
        for size, granule in kinds:
            assert size["megabytes"] % granule == 0
            assert size["floating"] % granule == 0


def test_records_of_cells_and_partitions_are_read_again() -> None:
    shown = parstatus.records(resolved())
    assert shown.splitlines() == [
        "cell:cab0,cell0:Active Core:8/0/8:32.0/0.0:cab0,bay0,chassis0:yes:yes:0",
        "cell:cab0,cell1:Active Base:8/0/8:32.0/0.0:cab0,bay0,chassis1:yes:yes:0",
        "partition:0:Active:2:2:cab0,cell0:oak",
    ]
    reading = json.loads(_engine.parse_parstatus(shown))
    assert reading["remarks"] == []
    given = parstatus.listing(resolved(), parstatus.SECTIONS)
    assert reading["cells"] == given["cells"]
    assert reading["partitions"] == given["partitions"]
    absent = parstatus.records(resolved(NO_MONITOR), (parstatus.CELLS,)).splitlines()[0]
    assert absent == "cell:cab0,cell0:Absent:-:-:-:-:-:-"


def test_a_cell_of_no_npartition_is_absent() -> None:
    rows = parstatus.render(resolved(NO_MONITOR)).splitlines()
    cells = [row for row in rows if row.startswith("cab")]
    assert cells == [
        "cab0,cell0 Absent       -       -         -                   -       -    -",
        "cab0,cell1 Active Core  8/0/8   32.0/ 0.0 cab0,bay0,chassis1  yes     yes  0",
    ]


def test_all_local_cells_have_a_star() -> None:
    text = TWO_CELLS.replace('clm = "24 GiB"', 'clm = ["32 GiB", "0 B"]')
    text = text.replace('on = "cell1" }', 'on = "cell0" }').replace('"24 GiB", on', '"12 GiB", on')
    first, second = parstatus.listing(resolved(text))["cells"]
    assert (first["interleaves"], second["interleaves"]) == (False, True)


def test_parstatus_tells_the_server_the_partitions_and_the_local_memory() -> None:
    shown = parstatus.render(resolved(), parstatus.SECTIONS)
    assert "        Original Product Name : HP Integrity rx7640\n" in shown
    assert " 0  Active         2      2     cab0,cell0 oak\n" in shown
    (cell,) = parstatus.listing(resolved(), (parstatus.DETAILS,), 1)["details"]
    assert (cell["location"], cell["allocated"]) == ("cab0,cell1", 24.0)


def test_what_is_shown_is_read_again() -> None:
    for form in ("", "v", "M"):
        reading = json.loads(_engine.parse_vparstatus(vparstatus.render(resolved(), form)))
        assert reading["remarks"] == []
        given = vparstatus.listing(resolved(), form)
        for key in ("partitions", "rows"):
            assert reading.get(key) == given.get(key)
    everything = (*parstatus.SECTIONS, parstatus.DETAILS)
    reading = json.loads(_engine.parse_parstatus(parstatus.render(resolved(), everything)))
    assert reading["remarks"] == []
    given = parstatus.listing(resolved(), everything)
    assert {key: reading[key] for key in given} == given


def test_a_machine_without_cells_is_refused(root: Path) -> None:
    power = load_scenario(root / "examples" / "p795-shared-book.toml").resolved
    with pytest.raises(ToolError) as caught:
        vparstatus.render(power)
    assert str(caught.value) == (
        "vparstatus: IBM Power 795 (9119-FHB) has no cells, so it runs no virtual partitions: "
        "lparstat and lssrad show a layout of it"
    )
    with pytest.raises(ToolError, match=r"^parstatus: .* is not made of cells: lparstat and"):
        parstatus.render(power)


def test_no_monitor_no_listing() -> None:
    with pytest.raises(ToolError) as caught:
        vparstatus.listing(resolved(NO_MONITOR))
    assert str(caught.value) == (
        "vparstatus: no monitor of virtual partitions runs (vpars = false): "
        "`homenode parstatus -C` shows the cells"
    )


def test_unknown_names_and_cells_are_refused() -> None:
    with pytest.raises(NotFoundError) as caught:
        vparstatus.listing(resolved(), "v", ["jbc"])
    assert str(caught.value) == ("vparstatus: there is no virtual partition jbc; did you mean jbb?")
    with pytest.raises(ToolError) as refused:
        parstatus.listing(resolved(NO_MONITOR), (parstatus.DETAILS,), 0)
    assert str(refused.value) == "parstatus: cell 0 is absent: there are 1"
