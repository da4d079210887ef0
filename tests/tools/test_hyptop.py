"""hyptop: its layout, units, choice of fields and formats for programs."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import math
from pathlib import Path

import pytest

import frames
import z_frames as z
from homenode.cli import call
from homenode.simulate.runner import run_scenario
from homenode.tools import ToolError, UsageError, hyptop
from homenode.tools.guestview import GuestView, view_of
from homenode.tools.hyptop import Request, units

LPARS = """\
00:00:10 | cpu-t: IFL(64)                                                 ?=help
system #core    core   mgm Core+ Mgm+  online
(str)    (#)     (%)   (%)  (hm) (hm)   (dhm)
zvm       16 1047.87  0.00  0:01 0:00 0:00:00
other     16  290.00 10.00  0:00 0:00 0:00:00
          32 1337.87 10.00  0:02 0:00 0:00:00
"""
GUESTS = """\
00:00:05 | cpu-t: UN(16)                                                  ?=help
system   #cpu   cpu Cpu+  online memuse memmax wcur
(str)     (#)   (%) (hm)   (dhm)  (GiB)  (GiB)  (#)
CLIENT01    4 14.69 0:00 0:00:00      -   4.00  100
SERVER60    1 14.69 0:00 0:00:00      -   5.00  100
            5 29.39 0:00 0:00:00      -   9.00  100
-------------------------------------------------------------------------------
"""


@pytest.fixture
def view(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> GuestView:
    monkeypatch.chdir(tmp_path)

    def share(tables: dict[str, list[dict[str, int]]]) -> None:
        tables["partition"][1] |= {"busy_ns": 3 * z.SECOND, "hypervisor_ns": z.SECOND // 10}

    z.install(monkeypatch, change=share)
    other = {**frames.partition("other", 1), "smt": 1}
    return view_of(run_scenario(frames.Frozen(z.frame(z.partition(), other))))


def test_partitions_of_the_machine(view: GuestView) -> None:
    assert hyptop.render(view, Request()) == LPARS


def test_virtual_machines_of_a_partition(view: GuestView) -> None:
    request = Request(partition="zvm", systems=("CLIENT01", "SERVER60"), batch=True, delay_s=5.0)
    assert hyptop.render(view, request).startswith(GUESTS)
    assert hyptop.render(view, request).count("cpu-t:") == 2


@pytest.mark.parametrize(
    ("family", "unit", "value", "text"),
    [
        (units.RATE, "%", 4_611_400, "461.14"),
        (units.RATE, "ms", 4_611_400, "4611.40"),
        (units.TIME, "hm", (1547 * 60 + 41) * 60_000_000, "1547:41"),
        (units.TIME, "dhm", ((11 * 24 + 5) * 60 + 59) * 60_000_000, "11:05:59"),
        (units.TIME, "m", 90_000_000, "2"),
        (units.MEMORY, "GiB", 5 << 20, "5.00"),
        (units.COUNT, "#", 413, "413"),
    ],
)
def test_units(family: dict[str, object], unit: str, value: int, text: str) -> None:
    assert units.shown(value, unit, family) == text  # type: ignore[arg-type]


def test_fields_are_chosen_with_their_unit(view: GuestView) -> None:
    text = hyptop.render(view, Request(fields="o:s,c:ms"))
    assert text.splitlines()[1:4] == [
        "system     core online",
        "(str)      (ms)    (s)",
        "zvm    10478.70  10.00",
    ]


def test_sorting_and_turning_it_round(view: GuestView) -> None:
    def order(*sort: str) -> list[str]:
        lines = hyptop.render(view, Request(sort=sort)).splitlines()[3:5]
        return [line.split()[0] for line in lines]

    assert order("m") == ["other", "zvm"]
    assert order("m", "m") == ["zvm", "other"]
    assert order("y") == ["other", "zvm"]


def test_threads_of_cores_are_told_where_there_are_several(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With two threads: (2 core - thread) / gain + (thread - core) + management."""
    monkeypatch.chdir(tmp_path)

    def count(tables: dict[str, list[dict[str, int]]]) -> None:
        tables["partition"][0] |= {"busy_ns": 10 * z.SECOND, "hypervisor_ns": 0}
        for row in tables["cpu"]:
            row["ticks_busy_ns"] = 15 * z.SECOND // 32

    z.install(monkeypatch, change=count)
    run = run_scenario(frames.Frozen(z.frame(frames.partition("two", 1))))
    text = hyptop.render(view_of(run), Request(fields="c,e,S,T")).splitlines()
    assert text[1].split() == ["system", "#The", "core", "the", "Smt"]
    gain = run.spec["machine"]["smt"]["gain"][1]
    real = 100 * ((2 * 10 - 15) / gain + (15 - 10))
    assert [float(word) for word in text[3].split()[2:]] == pytest.approx(
        [1000.0, 1500.0, real], abs=0.01
    )
    assert not math.isclose(real, 1000.0)


def test_formats_for_programs_say_the_same(view: GuestView) -> None:
    whole = json.loads(hyptop.render(view, Request(form="json")))
    (look,) = whole["hyptop"]
    assert [one["system"] for one in look["systems"]] == ["zvm", "other"]
    assert look["systems"][0]["core"] == 1047.87
    assert look["systems"][0]["core+"] == "0:01"
    assert look["summary"]["#core"] == 32
    lines = hyptop.render(view, Request(form="jsonl")).splitlines()
    assert [json.loads(line) for line in lines] == [{"meta": whole["meta"]}, look]
    sequence = hyptop.render(view, Request(form="json-seq"))
    assert sequence.replace("\x1e", "").splitlines() == lines
    table = [*csv.DictReader(io.StringIO(hyptop.render(view, Request(form="csv"))))]
    assert [row["system"] for row in table] == ["zvm", "other", ""]
    assert table[0]["core"] == "1047.87"
    pairs = dict(
        line.split("=", 1) for line in hyptop.render(view, Request(form="pairs")).splitlines()
    )
    assert pairs["hyptop[0].iteration.systems[1].entry.mgm"] == "10.0"
    assert pairs["hyptop[0].iteration.summary.#core"] == "32"


def test_what_is_not_known_is_left_out(view: GuestView) -> None:
    request = Request(partition="zvm", form="json")
    (look,) = json.loads(hyptop.render(view, request))["hyptop"]
    assert "memuse" not in look["systems"][0]
    table = csv.DictReader(io.StringIO(hyptop.render(view, Request(partition="zvm", form="csv"))))
    assert next(table)["memuse"] == ""


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (Request(fields="z"), 'Unknown field "z"'),
        (Request(fields="c:parsec"), 'Invalid unit "parsec" for field "c": there are us ms % s'),
        (Request(sort=("q",)), 'Sort field "q" is not available'),
        (Request(systems=("zwm",)), "no system zwm; did you mean zvm"),
        (Request(types=("gp",)), 'Invalid CPU type "gp": there are IFL CP UN'),
        (Request(form="xml"), 'Unknown format "xml"'),
    ],
)
def test_what_the_tool_refuses(view: GuestView, request_: Request, message: str) -> None:
    with pytest.raises(UsageError) as refusal:
        hyptop.render(view, request_)
    assert message in str(refusal.value)


@pytest.mark.parametrize(
    "request_", [Request(delay_s=0.3), Request(delay_s=4.0, iterations=3), Request(iterations=11)]
)
def test_iterations_that_the_run_does_not_hold(view: GuestView, request_: Request) -> None:
    with pytest.raises(ToolError, match=r"the run (kept|holds)"):
        hyptop.render(view, request_)


def test_a_machine_of_another_kind_is_refused(view: GuestView) -> None:
    machine = {**view.spec["machine"], "name": "ibm-power-795"}
    machine["hypervisor"] = {**machine["hypervisor"], "policy": "phyp"}
    other = dataclasses.replace(view, spec={**view.spec, "machine": machine})
    with pytest.raises(ToolError, match="is of ibm-power-795: hyptop runs on IBM Z"):
        hyptop.render(other, Request())


def test_from_the_command_line(view: GuestView, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["hyptop"]) == 0
    assert capsys.readouterr().out == LPARS
    assert call(["hyptop", "-b", "-n", "2", "-d", "5", "-S", "m", "-S", "m", "-f", "c"]) == 0
    assert capsys.readouterr().out.count("cpu-t") == 2
    assert call(["hyptop", "-p", "other"]) == 2
    assert "runs no z/VM" in capsys.readouterr().err
