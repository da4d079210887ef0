"""What an explanation and the tables of a run say of z/VM and PR/SM."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import frames
import z_frames as z
from homenode.cli.output import show
from homenode.report.runs import run_tables
from homenode.simulate.explain.explanation import explain
from homenode.simulate.run import Run
from homenode.simulate.runner import run_scenario

pytestmark = pytest.mark.usefixtures("here")

Tables = dict[str, list[dict[str, int]]]


def kept(monkeypatch: pytest.MonkeyPatch, change: Any, **guest: Any) -> Run:
    """A run whose counters a test changes."""
    z.install(monkeypatch, change=change)
    spec = z.frame(z.partition(guest={**z.guest(), **guest}))
    return run_scenario(frames.Frozen(spec))


def as_list(tables: Tables) -> None:
    """Two cores wait for lines of a switch's list, 90 of 180 blocks a search."""
    tables["partition"][0]["book_list"] += 2 * z.SECOND
    tables["partition"][0]["book_useful"] -= 2 * z.SECOND
    tables["switch"][0] |= {"searches": 1000, "elements": 32_500, "list_ns": 2 * z.SECOND}


def test_the_list_of_a_layer_3_switch_is_explained(
    monkeypatch: pytest.MonkeyPatch, here: Path
) -> None:
    run = kept(monkeypatch, as_list, switches=[{"name": "LAN", "layer": "ip", "frame_bytes": 8192}])
    told = explain(run)
    assert {row.label for row in told.rows} >= {"searching a switch's list", "spinning on locks"}
    assert "the largest part is searching a switch's list: 2.3" in told.paragraph
    assert (
        "searches the list of its layer-3 switch, 1,000 times a second, and passes 32.5 control "
        "blocks each time (up to 65 virtual machines a switch)" in told.paragraph
    )
    assert "A layer-2 switch has a table and no list" in told.paragraph


def test_where_no_list_is_searched_there_is_no_such_row(
    monkeypatch: pytest.MonkeyPatch, here: Path
) -> None:
    def without(tables: Tables) -> None:
        tables["partition"][0]["book_memory_local"] += tables["partition"][0]["book_list"]
        tables["partition"][0]["book_list"] = 0

    assert "list" not in {row.cause for row in explain(kept(monkeypatch, without)).rows}


def spinning(tables: Tables) -> None:
    row = tables["partition"][0]
    row |= {"book_list": 0, "book_spin": row["book_spin"] + row["book_list"]}


@pytest.mark.parametrize(
    ("unparking", "advice"),
    [
        ("large", 'unparking = "small" parks what the load does not need'),
        ("small", "several smaller partitions, and several switches, have locks of their own"),
    ],
)
def test_spinning_is_told_as_a_longer_path(
    monkeypatch: pytest.MonkeyPatch, here: Path, unparking: str, advice: str
) -> None:
    text = explain(kept(monkeypatch, spinning, unparking=unparking)).paragraph
    assert "Its 13.4 unparked processors wait for formal spin locks" in text
    assert "110,580 of the 5,528,982 instructions of a transaction" in text
    assert advice in text
    # Who is told to park is told what to look at.
    told = "Compare ETR, response times and dispatch waits before and after"
    assert (told in text) == ("unparking" in advice)


def test_nothing_is_parked_for_want_of_work_where_all_are_busy(
    monkeypatch: pytest.MonkeyPatch, here: Path
) -> None:
    def busy(tables: Tables) -> None:
        spinning(tables)
        tables["partition"][0]["unparked_ns"] = 11 * z.SECOND

    assert 'unparking = "small"' not in explain(kept(monkeypatch, busy)).paragraph


def test_waiting_for_pages_is_time_and_no_core(monkeypatch: pytest.MonkeyPatch, here: Path) -> None:
    run = kept(monkeypatch, lambda _tables: None)
    told = explain(run)
    assert "waits 15.00 ms for pages. That is time, not cores" in told.paragraph
    assert "211,000 pages a second" in told.paragraph
    assert "a request takes 1.50 ms, of it 0.65 ms queueing before them" in told.paragraph
    assert told.total == pytest.approx(10.48)


def test_two_runs_compare_what_they_wait(monkeypatch: pytest.MonkeyPatch, here: Path) -> None:
    one = kept(monkeypatch, lambda _tables: None)

    def faster(tables: Tables) -> None:
        for row in tables["virtual_machine"]:
            row["page_wait_ns"] //= 3

    z.install(monkeypatch, change=faster)
    other = run_scenario(frames.Frozen(z.frame(z.partition(), name="faster")))
    text = explain(one, base=other).paragraph
    assert "waits 15.00 ms for pages against 5.00 ms; that is time, not cores" in text


def test_two_runs_compare_what_their_processors_wait_for(
    monkeypatch: pytest.MonkeyPatch, here: Path
) -> None:
    one = kept(monkeypatch, lambda _tables: None)

    def of_servers_as_long(times: int) -> Run:
        def longer(tables: Tables) -> None:
            for row in tables["virtual_machine"]:
                row["wait_ns"] *= times if row["page_wait_ns"] else 1

        z.install(monkeypatch, change=longer)
        return run_scenario(frames.Frozen(z.frame(z.partition(), name=f"waits{times}")))

    mine, as_long = (one.metrics["zvm"]["server_wait_us"].mean, of_servers_as_long(1))
    assert mine is not None
    text = explain(of_servers_as_long(4), base=one).paragraph
    told = f"wait for dispatch: of servers {4 * mine:,.2f} us against {mine:,.2f}. ETR and response"
    assert told in text
    assert "wait for dispatch" not in explain(as_long, base=one).paragraph


def test_without_paging_nothing_is_said_of_it(monkeypatch: pytest.MonkeyPatch, here: Path) -> None:
    def memory_rich(tables: Tables) -> None:
        del tables["volume"]

    run = kept(monkeypatch, memory_rich, paging=None)
    assert run.metrics["zvm"]["page_wait_ms"].mean is None
    assert "pages" not in explain(run).paragraph


def shown(run: Run, capsys: pytest.CaptureFixture[str]) -> str:
    show(*run_tables(run))
    return capsys.readouterr().out


def test_the_tables_of_a_run(
    monkeypatch: pytest.MonkeyPatch, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = shown(kept(monkeypatch, lambda _tables: None), capsys)
    for title in ("z/VM", "z/VM, a transaction", "Virtual switches", "Paging volumes"):
        assert f"\n{title}" in text
    assert "PR/SM" not in text  # one dedicated partition: there is nothing to divide
    rows = [line.split() for line in text.splitlines()]
    assert ["zvm", "0.1999", "0.0900", "0.0281", "0.1181"] in [
        [name, *(f"{float(cell):.4f}" for cell in cells[:4])]
        for name, *cells in (row for row in rows if len(row) > 11 and row[0] == "zvm")
        if cells[0].startswith("0.1")
    ]
    assert any(row[:4] == ["TILE1", "zvm", "2", "65"] for row in rows)


def test_partitions_by_weight(
    monkeypatch: pytest.MonkeyPatch, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def share(tables: Tables) -> None:
        tables["partition"][0] |= {"busy_ns": 3 * z.SECOND, "hypervisor_ns": z.SECOND // 10}
        tables["pool"][0] |= {"management_ns": z.SECOND // 100}

    z.install(monkeypatch, change=share)
    one = frames.partition("one", 1)
    one["processors"] |= {"entitlement": 2.5, "prsm": {"cap": 4.0, "group": 0}, "capped": True}
    spec = z.frame(one, z.partition()) | {"groups": [{"name": "g1", "cap": 5.0}]}
    text = shown(run_scenario(frames.Frozen(spec)), capsys)
    rows = [line.split() for line in text.partition("\nPR/SM\n")[2].splitlines()[1:4]]
    assert rows[0][:6] == ["one", "16", "IFL", "128", "2.50", "horizontal"]
    assert rows[0][-7:] == ["0.1000", "weight,", "4", "cores,", "group", "g1", "5"]
    assert rows[1][3:6] == ["dedicated", "16.00", "16/0/0"]
    assert rows[2][:3] == ["PHYSICAL", "64", "DefaultPool"]
    assert rows[2][-2] == "0.0100"
