"""Reports of the Performance Toolkit: the excerpt of FCX108 DEVICE in "Eighty Logical Processors"
(IBM's z/VM performance report) character by character, the others by what they must add up to.
"""

from __future__ import annotations

import dataclasses
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import frames
import z_frames as z
from homenode.cli import call
from homenode.simulate.runner import run_scenario
from homenode.tools import ToolError, fcx
from homenode.tools.fcx.heading import narrow
from homenode.tools.guestview import GuestView, view_of

EXCERPT = """\
          <-- Device Descr. -->  Mdisk Pa- <-Rate/s-> <------- Time (msec) -------> Req. <Percent>
Run       Addr Type   Label/ID   Links ths  I/O Avoid Pend Disc Conn Serv Resp CUWt Qued Busy READ

AP1Z604G  PAGING                  ....  ..  180    .0 .147 .479 .229 .855 1.50 .000  .12   15   97
"""


@pytest.fixture
def view(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> GuestView:
    monkeypatch.chdir(tmp_path)
    z.install(monkeypatch)
    spec = z.frame(z.partition(), frames.partition("aix", 1), name="AP1Z604G")
    return view_of(run_scenario(frames.Frozen(spec)))


def rows(view: GuestView, report: str) -> list[dict[str, Any]]:
    return fcx.report(report).rows(view, "zvm", False)


def test_the_excerpt_comes_out_as_printed(view: GuestView) -> None:
    first, *rest = fcx.report("FCX108").render(view, "zvm", False).splitlines()
    assert "\n".join(rest) + "\n" == EXCERPT
    assert first.startswith("FCX108      CPU ....  SER .....  Interval 00:00:00 - 00:00:10    Perf")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1466, ".147"),
        (2.77, "2.77"),
        (9.996, "10.0"),
        (10.34, "10.3"),
        (179.6, " 180"),
        (0.0, ".000"),
        (12345.6, "12346"),
    ],
)
def test_a_column_holds_as_many_digits_as_fit(value: float, text: str) -> None:
    assert narrow(value) == text


@pytest.mark.parametrize(
    ("rate", "text"), [(180, " 180"), (89.4, "89.4"), (48.0, "48.0"), (43.4, "43.4")]
)
def test_rates_are_printed_as_in_the_excerpt(rate: float, text: str) -> None:
    assert narrow(rate, decimals=1) == text


def test_every_volume_by_itself(view: GuestView) -> None:
    lines = fcx.report("DEVICE").render(view, "zvm", True).splitlines()[4:]
    assert len(lines) == z.VOLUMES
    assert [line[10:16].strip() for line in (lines[0], lines[-1])] == ["0000", "00DF"]
    every = fcx.report("DEVICE").rows(view, "zvm", True)
    assert sum(row["io_per_s"] for row in every) == pytest.approx(z.VOLUMES * z.VOLUME_RATE)


def test_control_units_add_up_to_all_and_tell_the_read_hits(view: GuestView) -> None:
    *units, every = rows(view, "CTLUNIT")
    assert (len(units), every["Ctl Unit"]) == (16, "All")
    assert {one["Volumes"] for one in units} == {z.VOLUMES // 16}
    assert sum(one["I/O /s"] for one in units) == pytest.approx(z.VOLUMES * z.VOLUME_RATE)
    assert every["%Read"] == pytest.approx(100 * z.READS, abs=0.3)
    assert every["%Read hits"] == pytest.approx(100 * z.HITS, abs=0.3)
    # Reads that miss are the only requests that disconnect.
    misses = every["Misses /s"] * every["Disc msec/miss"]
    assert misses == pytest.approx(z.VOLUMES * z.VOLUME_RATE * z.DISC_MS)
    text = fcx.report("FCX176").render(view, "zvm", False)
    assert "layout of homenode" in text
    assert "writes find in a cache is not simulated" in text


def test_system_counts_what_the_volumes_do(view: GuestView) -> None:
    told = {row["operation"]: row["rate_per_s"] for row in rows(view, "system")}
    assert told["Real SSCH"] == z.VOLUMES * z.VOLUME_RATE
    assert told["Pages read"] + told["Pages written"] == z.PAGES
    text = fcx.report("FCX102").render(view, "zvm", False)
    assert text.count("Operation") == 2


def test_the_system_log_has_a_line_an_interval(view: GuestView) -> None:
    told = rows(view, "SYSSUMLG")
    assert [row["Interval End Time"] for row in told][-1] == "00:00:10"
    assert {round(row["Pct Busy"], 1) for row in told} == {65.5}
    assert {round(row["T/V Ratio"], 2) for row in told} == {1.59}
    assert {row["PGIN+PGOUT /s"] for row in told} == {z.PAGES}


def test_parking_is_told_with_the_busy_of_what_stays(view: GuestView) -> None:
    last = rows(view, "PUCFGLOG")[-1]
    assert (last["Online"], last["Unparking"]) == (16, "LARGE")
    assert last["Util/Unparked %"] == pytest.approx(last["Util %"] / z.UNPARKED)


def test_partitions_with_their_weights(view: GuestView) -> None:
    told = {row["Partition"]: row for row in rows(view, "LPAR")}
    assert (told["zvm"]["Weight"], told["aix"]["Weight"]) == ("DED", 128)
    assert told["zvm"]["%Busy"] == pytest.approx(1047.8696 / 16)


def test_locks_spin_a_share_of_busy(view: GuestView) -> None:
    told = {row["LockName"]: row for row in rows(view, "LOCKACT")}
    assert list(told)[:3] == ["scheduler", "dispatch vectors", "pages"]
    each = [row["Spin % of busy"] for name, row in told.items() if name != ">>Total>>"]
    assert told[">>Total>>"]["Spin % of busy"] == pytest.approx(sum(each))
    assert told["pages"]["Spin % of busy"] == pytest.approx(1, abs=1e-3)
    assert told["scheduler"]["AvgSpin usec"] is None


def test_the_log_of_locks_adds_up_to_the_sum_over_time(view: GuestView) -> None:
    told = rows(view, "LOCKLOG")
    total = [row["spin_busy_pct"] for row in told if row["lock"] == ">>Total>"]
    others = sum(row["spin_busy_pct"] for row in told if row["lock"] != ">>Total>")
    assert sum(total) == pytest.approx(others)
    (sums,) = (row for row in rows(view, "LOCKACT") if row["LockName"] == ">>Total>>")
    assert sums["Spin usec/s"] > 0
    assert sum(total) / len(total) == pytest.approx(sums["Spin usec/s"] / 1e4)


def test_what_virtual_machines_use_adds_up_to_the_partition(view: GuestView) -> None:
    told = rows(view, "USER")
    whole = view.total("partition", "zvm")
    used = sum(row["TCPU"] for row in told)
    assert used == pytest.approx((whole["guest_ns"] + whole["chargeable_ns"]) / z.SECOND, rel=1e-3)
    assert sum(row["VCPU"] for row in told) == pytest.approx(whole["guest_ns"] / z.SECOND, rel=1e-3)
    assert all(row["%CPU"] == pytest.approx(100 * row["TCPU"] / view.seconds) for row in told)


STATES = ("%RUN", "%CPU", "%PGW", "%OTH")


def test_what_virtual_machines_wait_for_fills_their_time(view: GuestView) -> None:
    for row in rows(view, "USTAT"):
        assert sum(row[name] for name in STATES) == pytest.approx(100)
    servers = [row for row in rows(view, "USTAT") if row["Userid"].startswith("SERVER")]
    assert servers[0]["%PGW"] == pytest.approx(z.PAGE_WAIT_MS * round(z.ETR) / 60 / 10, abs=0.01)


def test_states_add_up_as_they_are_printed(view: GuestView) -> None:
    text = fcx.report("USTAT").render(view, "zvm", False)
    printed = [line.split()[2:] for line in text.splitlines()[5:]]
    assert len(printed) > 1
    assert {sum(Decimal(cell) for cell in line) for line in printed} == {Decimal(100)}


def test_of_a_wait_that_began_before_the_run_counts_what_there_was_time_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)

    def lengthen(tables: dict[str, list[dict[str, int]]]) -> None:
        for row in tables["virtual_machine"]:
            row["page_wait_ns"] = 60 * z.SECOND

    z.install(monkeypatch, change=lengthen)
    spec = z.frame(z.partition(), name="AP1Z604G")
    waited = view_of(run_scenario(frames.Frozen(spec)))
    for row in rows(waited, "USTAT"):
        assert row["%PGW"] == pytest.approx(100 - row["%RUN"] - row["%CPU"], abs=0.01)
        assert 0 <= row["%OTH"] <= 0.01


def test_a_table_of_ours_says_so(view: GuestView) -> None:
    for one in fcx.REPORTS:
        text = one.render(view, "zvm", False)
        assert ("layout of homenode" in text) is not one.is_original
        assert text.startswith(one.number)


def test_physical_cores_split_their_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)

    def share(tables: dict[str, list[dict[str, int]]]) -> None:
        tables["partition"][1] |= {"busy_ns": 3 * z.SECOND, "hypervisor_ns": z.SECOND // 10}
        tables["pool"][0] |= {"busy_ns": 3 * z.SECOND, "management_ns": z.SECOND // 100}

    z.install(monkeypatch, change=share)
    spec = z.frame(z.partition(), frames.partition("aix", 1))
    told = rows(view_of(run_scenario(frames.Frozen(spec))), "PHYSLOG")[0]
    assert (told["%LgclP"], told["%Ovrhd"], told["%LPmgt"]) == pytest.approx((290.0, 10.0, 1.0))
    assert told["%Total"] == pytest.approx(301.0)


def test_physical_cores_are_told_only_where_some_are_shared(view: GuestView) -> None:
    own = [one for one in view.partitions if one["processors"]["mode"] == "dedicated"]
    alone = dataclasses.replace(view, spec={**view.spec, "partitions": own})
    with pytest.raises(ToolError, match=r"no partition of run .* shares cores: PHYSLOG tells"):
        rows(alone, "PHYSLOG")


def test_processors_have_the_numbers_of_their_cores(view: GuestView) -> None:
    """With multithreading on and one thread a core, odd numbers do not exist."""
    details = {"zvm": {"numbers": [*range(0, 32, 2)], "core_types": ["cp"] * 2 + ["ifl"] * 14}}
    told = rows(dataclasses.replace(view, details=details), "PRCLOG")
    assert [row["CPU"] for row in told[-2:]] == ["1C", "1E"]
    assert [row["Type"] for row in told[:3]] == ["CP", "CP", "IFL"]


def test_what_cannot_be_shown_is_refused(view: GuestView) -> None:
    assert fcx.report("108") is fcx.report("DEVICE")
    with pytest.raises(ToolError, match=r"no report DEVCE; did you mean DEVICE"):
        fcx.report("DEVCE")


def test_the_log_of_parking_is_no_topology_log() -> None:
    """The Toolkit's FCX287 is TOPOLOG, which is not made here."""
    assert not fcx.is_report("FCX287")
    there = ", ".join(f"{one.number} {one.name}" for one in fcx.REPORTS)
    with pytest.raises(ToolError, match=f"no report FCX287; there are {there}$"):
        fcx.report("FCX287")
    assert fcx.report("fcx299").name == "PUCFGLOG"


def test_from_the_command_line(view: GuestView, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["fcx", "latest"]) == 0
    assert "FCX108" in capsys.readouterr().out
    assert call(["fcx", "device"]) == 0
    assert capsys.readouterr().out.endswith(EXCERPT)
    assert call(["fcx", "FCX287"]) == 2
    assert "there is no report FCX287" in capsys.readouterr().err
    assert call(["fcx", "latest", "lpar", "--json"]) == 0
    in_order = capsys.readouterr().out
    assert [row["Partition"] for row in json.loads(in_order)] == ["zvm", "aix"]
    assert call(["fcx", "lpar", "latest", "--json"]) == 0
    assert capsys.readouterr().out == in_order
    assert call(["fcx", "-h"]) == 0
    assert "in either order" in capsys.readouterr().out
    for words in (["latest", "devcie"], ["devcie", "latest"]):
        assert call(["fcx", *words]) == 2
        assert "there is no report devcie; did you mean DEVICE?" in capsys.readouterr().err
    assert call(["fcx", "devcie", "nowhere"]) == 2
    neither = "neither devcie nor nowhere is a report, and neither is a run"
    assert neither in " ".join(capsys.readouterr().err.split())
    assert call(["fcx", "latest", "lpar", "-p", "aix"]) == 2
    assert "runs no z/VM: choose one with z/VM: -p zvm" in capsys.readouterr().err
    assert call(["fcx", "latest", "lpar", "-p", "aixx"]) == 2
    assert "has no partition aixx" in capsys.readouterr().err
    assert call(["lparstat", "-p", "zvm"]) == 2
    assert "homenode fcx" in capsys.readouterr().err
