"""Figures of z/VM partitions: laws that hold among the published columns, on frames that count what
one published run counted.

Laws: cycles of a transaction by its processor time are the clock; busy is guest, chargeable and
system time; T/V is total by guest time; a share of busy by the external throughput is the time of a
transaction; CPI is EICPI and EFCPI; service, response and busy of a paging volume. The internal
throughput follows from busy as published, to 0.1 %: "Eighty Logical Processors", Table 4.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import frames
import z_frames as z
from homenode.errors import DamagedRunError, NotFoundError
from homenode.simulate.kept import METRICS
from homenode.simulate.kept.query import query
from homenode.simulate.kept.totals import Shape, Totals
from homenode.simulate.kept.zvm_metrics import METRICS as OF_ZVM
from homenode.simulate.kept.zvm_metrics import internal_rate
from homenode.simulate.run import Run
from homenode.simulate.runner import run_scenario

pytestmark = pytest.mark.usefixtures("here")

SHAPE = Shape("zvm", 19.0, 19, 1, False, 1.2, runs_guests=True)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, here: Path) -> Run:
    z.install(monkeypatch)
    spec = z.frame(z.partition(), {**frames.partition("aix", 1)})
    return run_scenario(frames.Frozen(spec))


def value(run: Run, name: str) -> float:
    mean = run.metrics["zvm"][name].mean
    assert mean is not None, name
    return mean


@pytest.mark.parametrize(
    ("etr", "busy", "itr"),
    [(82817.32, 95.4, 86810.6), (155433.48, 95.6, 162587.3), (271351.24, 99.9, 271622.9)],
)
def test_internal_throughput_is_computed_from_busy_as_it_is_printed(
    etr: float, busy: float, itr: float
) -> None:
    for off in (-0.04, 0.0, 0.04):
        spent = (busy + off) / 100 * 19 * 100 * z.SECOND
        counted = {"tx_done": etr * 100, "busy_ns": spent, "guest_ns": spent}
        assert internal_rate(Totals(SHAPE, 100.0, counted)) == pytest.approx(itr, abs=0.05)


def test_other_partitions_are_not_rounded() -> None:
    shape = Shape("linux", 19.0, 19, 1, False)
    counted = {"tx_done": 1000.0, "busy_ns": 0.95444 * 19 * z.SECOND}
    exact = METRICS["itr_per_s"].formula(Totals(shape, 1.0, counted))
    assert exact == pytest.approx(1000.0 / 0.95444)


def test_busy_is_guest_and_control_program(run: Run) -> None:
    parts = [value(run, f"{name}_busy_pct") for name in ("guest", "chargeable", "system")]
    assert sum(parts) == pytest.approx(value(run, "total_busy_pct"), rel=1e-12)
    assert value(run, "total_busy_pct") == pytest.approx(1047.8696, abs=1e-3)
    assert value(run, "busy_pct") == pytest.approx(1047.8696 / z.PROCESSORS, abs=1e-3)
    assert value(run, "tv_ratio") == pytest.approx(sum(parts) / parts[0], rel=1e-12)
    assert round(value(run, "tv_ratio"), 2) == 1.59


def test_a_transaction_costs_its_share_of_busy(run: Run) -> None:
    printed = {"guest": 0.1999, "chargeable": 0.0900, "system": 0.0281, "cp": 0.1181}
    for name, figure in printed.items():
        assert value(run, f"{name}_busy_per_tx") == pytest.approx(figure, abs=1e-4)
    each = value(run, "guest_busy_per_tx") + value(run, "cp_busy_per_tx")
    assert each * 1e4 == pytest.approx(value(run, "cpu_per_tx_us"), rel=1e-12)


def test_the_clock_follows_from_cycles_and_time_of_a_transaction(run: Run) -> None:
    cycles = value(run, "cpi") * value(run, "instructions_per_tx")
    clock_mhz = cycles / value(run, "cpu_per_tx_us")
    assert clock_mhz == pytest.approx(z.CLOCK_HZ / 1e6, rel=1e-9)


def test_cpi_is_its_two_parts(run: Run) -> None:
    cpi, eicpi, efcpi = (value(run, name) for name in ("cpi", "eicpi", "efcpi"))
    assert eicpi + efcpi == pytest.approx(cpi, rel=1e-12)
    assert eicpi / cpi == pytest.approx(z.EICPI / z.CPI, rel=1e-6)
    assert value(run, "cores_list") > 0


def test_spinning_lengthens_the_path_not_the_core_part() -> None:
    """Twice the work's instructions again in a loop of the same rate: EICPI stays."""
    work = {"busy_ns": 3e9, "cycles": 3e9, "instructions": 1e9, "tx_done": 10.0}
    work |= {"book_useful": 1e9, "book_memory_local": 2e9}
    spun = {**work, "instructions": 2e9, "spin_instructions": 1e9, "cycles": 4e9}
    spun |= {"book_spin": 1e9, "busy_ns": 4e9}
    shape = Shape("zvm", 4.0, 4, 1, False, 1.0, runs_guests=True)

    def told(counted: dict[str, float], name: str) -> float | None:
        return METRICS[name].formula(Totals(shape, 1.0, counted))

    assert told(work, "eicpi") == told(spun, "eicpi") == 1.0
    assert (told(work, "instructions_per_tx"), told(spun, "instructions_per_tx")) == (1e8, 2e8)
    assert told(spun, "spin_instructions_per_tx") == 1e8
    assert told(spun, "efcpi") == 1.0


def test_two_threads_of_a_core_are_each_busy() -> None:
    """Three of four cores busy, two of these with both threads: five of eight logical ones."""
    shape = Shape("zvm", 4.0, 4, 2, False, 1.0, runs_guests=True)
    counted = {"guest_ns": 2e9, "chargeable_ns": 0.6e9, "system_ns": 0.4e9, "thread_ns": 5e9}
    totals = Totals(shape, 1.0, {**counted, "busy_ns": 3e9, "unparked_ns": 4e9, "tx_done": 100.0})
    told = {name: METRICS[name].formula(totals) for name in ("busy_pct", "unparked_busy_pct")}
    assert told == pytest.approx({"busy_pct": 62.5, "unparked_busy_pct": 62.5})
    parts = [METRICS[f"{n}_busy_pct"].formula(totals) for n in ("guest", "chargeable", "system")]
    assert sum(part or 0.0 for part in parts) == pytest.approx(500.0)
    assert METRICS["tv_ratio"].formula(totals) == pytest.approx(1.5)
    assert METRICS["cpu_per_tx_us"].formula(totals) == pytest.approx(3e4)


def test_parked_cores_are_free_for_others(run: Run) -> None:
    assert value(run, "unparked") == pytest.approx(13.4)
    assert value(run, "freed_cores") == pytest.approx(2.6)
    busy = value(run, "total_busy_pct") / value(run, "unparked")
    assert value(run, "unparked_busy_pct") == pytest.approx(busy)


def test_dispatch_wait_is_told_for_clients_and_servers_apart(run: Run) -> None:
    assert value(run, "client_wait_us") == pytest.approx(z.CLIENT_WAIT_US)
    assert value(run, "server_wait_us") == pytest.approx(z.SERVER_WAIT_US)


def test_the_paging_volume_obeys_its_laws(run: Run) -> None:
    parts = sum(value(run, f"volume_{name}_ms") for name in ("pend", "disc", "conn"))
    rate, qued = value(run, "volume_io_per_s"), value(run, "volume_qued")
    assert value(run, "volume_serv_ms") == pytest.approx(parts, rel=1e-12)
    assert value(run, "volume_resp_ms") == pytest.approx(parts + 1e3 * qued / rate, rel=1e-12)
    assert value(run, "volume_busy_pct") == pytest.approx(rate * parts / 10, rel=1e-12)
    assert (round(rate), round(value(run, "volume_busy_pct"))) == (180, 15)
    assert value(run, "volume_read_pct") == pytest.approx(97, abs=0.5)
    assert value(run, "read_hit_pct") == pytest.approx(96, abs=0.5)
    assert value(run, "paging_per_s") == z.PAGES
    transactions = value(run, "etr_per_s")
    assert value(run, "pages_per_tx") == pytest.approx(z.PAGES / transactions, rel=1e-12)
    assert value(run, "page_wait_ms") == pytest.approx(z.PAGE_WAIT_MS)


def test_where_no_zvm_runs_there_are_no_such_figures(run: Run) -> None:
    assert {run.metrics["aix"][metric.name].mean for metric in OF_ZVM} == {None}


def test_a_single_replication_has_intervals(run: Run) -> None:
    assert run.metrics["zvm"]["client_wait_us"].ci95 == pytest.approx(0.0, abs=1e-9)
    assert run.metrics["zvm"]["volume_disc_ms"].ci95 == pytest.approx(0.0, abs=1e-9)


def test_tables_of_guests_are_kept_with_names(run: Run) -> None:
    rows = run.intervals("virtual_machine")
    assert rows.height == z.SECONDS * 65
    assert rows.columns[-2:] == ["partition_index", "virtual_machine_index"]
    assert rows["virtual_machine"].unique().sort().to_list()[:2] == ["CLIENT01", "CLIENT02"]
    assert run.intervals("switch")["switch"].unique().to_list() == ["TILE1"]
    assert run.intervals("volume")["volume"].max() == z.VOLUMES - 1


def test_sql_knows_them(run: Run) -> None:
    waits = query(
        "select virtual_machine, sum(wait_ns) / sum(dispatches) as ns "
        "from virtual_machine_intervals where virtual_machine like 'CLIENT%' group by all"
    )
    assert waits.height == 5
    assert waits["ns"].to_list() == pytest.approx([360.0] * 5)
    assert query("select distinct switch, partition from switch_intervals").rows() == [
        ("TILE1", "zvm")
    ]
    ios = query("select sum(ios) as ios from volume_intervals")["ios"].to_list()
    assert ios == [z.VOLUMES * z.VOLUME_RATE * z.SECONDS]


def test_without_zvm_there_are_no_such_tables(monkeypatch: pytest.MonkeyPatch, here: Path) -> None:
    z.install(monkeypatch)
    run = run_scenario(frames.Frozen(z.frame(frames.partition("aix", 1))))
    assert not (run.path / "intervals" / "volume.parquet").exists()
    with pytest.raises(NotFoundError, match=r"has no virtual machine: only a partition with z/VM"):
        run.intervals("virtual_machine")
    assert query("select * from volume_intervals").is_empty()


def test_a_lost_table_is_seen(run: Run) -> None:
    (run.path / "intervals" / "volume.parquet").unlink()
    with pytest.raises(DamagedRunError, match=r"volume\.parquet is missing"):
        Run.load(run.path)


def test_a_run_of_an_earlier_version_is_refused_with_the_command_that_repeats_it(
    monkeypatch: pytest.MonkeyPatch, here: Path
) -> None:
    engine = z.Engine()
    names = [name for name in engine.columns["PARTITION_COLUMNS"] if name != "book_list"]

    def forget(tables: dict[str, list[dict[str, int]]]) -> None:
        for row in tables["partition"]:
            row.pop("book_list")

    columns = engine.columns | {"PARTITION_COLUMNS": names}
    z.install(monkeypatch, change=forget, columns=columns)
    with pytest.raises(DamagedRunError, match=r"simulate it again: homenode run .*scenario\.toml"):
        run_scenario(frames.Frozen(z.frame()))


def test_every_row_counts_once(run: Run) -> None:
    """The partition's guest time is that of its virtual machines, up to what does not divide."""
    rows = run.intervals("virtual_machine").select(pl.col("guest_ns").sum()).item()
    of_partition = run.intervals().filter(pl.col("partition") == "zvm")["guest_ns"].sum()
    assert of_partition - 65 * z.SECONDS < rows <= of_partition
