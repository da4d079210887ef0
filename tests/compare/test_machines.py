"""Machines held against each other with the compiled engine, on short cases."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

from homenode.errors import NotFoundError, SuiteError
from homenode.evidence.compare import MachineComparison, compare_machines, load_suite
from homenode.report.comparisons import comparison_lines

SHORT = """\
name = "short"
title = "a suite for tests"

[run]
warmup = "20 ms"
duration = "100 ms"
replications = 2

[[class]]
name = "busy"
title = "closed and busy"
source = "made up"
memory = "4 GiB"
profile = { base = "file-server", lock_share = "4 %" }
workload = { kind = "warehouses" }
loads = { what = "processes", values = [16, 32] }

[[class.case]]
name = "busy-4"
title = "four processors"
cores = 4

[[class.case]]
name = "busy-16"
title = "sixteen processors"
cores = 16

[[class]]
name = "waits"
title = "mostly waiting"
source = "made up"
cores = 4
memory = "4 GiB"
profile = "disk-io"
workload = { kind = "users", think = "10 ms", burst_work = "constant", count = 32 }

[[class.case]]
name = "waits"
title = "waits"

[[class]]
name = "beside"
title = "guests beside each other"
source = "made up"
memory = "4 GiB"

[[class.case]]
name = "beside"
title = "two guests"

[[class.case.partition]]
name = "first"
cores = 2
profile = "file-server"
workload = { kind = "transactions", rate = "8000/s" }

[[class.case.partition]]
name = "second"
cores = 1
profile = "network-stack"
workload = { kind = "transactions", rate = "4000/s" }
"""


@pytest.fixture(scope="module")
def suite_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("suite") / "short.toml"
    path.write_text(SHORT, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def compared(suite_path: Path) -> MachineComparison:
    return compare_machines("ibm-z196", "ibm-zec12", suite_path)


def test_a_busy_closed_load_saves_one_less_the_inverse_of_its_ratio(
    compared: MachineComparison,
) -> None:
    for name in ("busy-4", "busy-16"):
        case = compared.case(name)
        assert case is not None
        assert case.ratio is not None
        assert case.ratio > 1.1
        assert case.saving_pct.mean == pytest.approx(100 * (1 - 1 / case.ratio), abs=0.5)


def test_causes_add_up_and_the_lock_shows_with_many_processors(
    compared: MachineComparison,
) -> None:
    spins = []
    for case in compared.cases:
        assert sum(case.saving_by_cause.values()) == pytest.approx(case.saving_pct.mean, abs=0.5)
        spins.append(case.pairs[-1].base.us_by_cause.get("spin", 0.0))
    assert spins[1] > 2 * spins[0] > 0


def test_who_waits_gains_nothing_and_saves_all_the_same(compared: MachineComparison) -> None:
    case = compared.case("waits")
    assert case is not None
    assert case.gain_pct.mean == pytest.approx(0, abs=2)
    assert case.saving_pct.mean is not None
    assert case.saving_pct.mean > 10


def test_in_a_closed_load_responses_shorten_with_throughput(compared: MachineComparison) -> None:
    """Little's law: as many threads inside at a higher rate are there for less time."""
    case = compared.case("busy-4")
    assert case is not None
    assert case.ratio is not None
    assert case.response_saving_pct == pytest.approx(100 * (1 - 1 / case.ratio), abs=1)


def test_guests_beside_each_other_are_told_together_and_apart(
    compared: MachineComparison,
) -> None:
    case = compared.case("beside")
    assert case is not None
    assert set(case.guests) == {"first", "second"}
    whole = case.pairs[0].base
    parts = [pair.base for pair in case.guests.values()]
    assert whole.units_per_s == pytest.approx(sum(p.units_per_s for p in parts))
    cpu = sum(p.units_per_s * p.us_per_unit for p in parts)
    assert whole.units_per_s * whole.us_per_unit == pytest.approx(cpu)


def test_a_machine_against_itself_changes_nothing(suite_path: Path) -> None:
    same = compare_machines("ibm-z13", "ibm-z13", suite_path, only=["busy-4", "waits"])
    assert [case.case.name for case in same.cases] == ["busy-4", "waits"]
    for case in same.cases:
        assert case.ratio == 1.0
        assert case.saving_pct.mean == 0.0


def test_the_same_on_one_thread_and_two(suite_path: Path, compared: MachineComparison) -> None:
    again = compare_machines("ibm-z196", "ibm-zec12", suite_path, jobs=1)
    assert json.dumps(again.as_json()) == json.dumps(compared.as_json())


def test_progress_grows_to_the_end(suite_path: Path) -> None:
    shares: list[float] = []
    compare_machines(
        "ibm-z196",
        "ibm-zec12",
        suite_path,
        only=["busy"],
        progress=lambda share, _left: shares.append(share),
    )
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_an_interrupt_leaves_what_was_complete(suite_path: Path) -> None:
    def press(_share: float, _left: float | None) -> None:
        raise KeyboardInterrupt

    long = load_suite(suite_path)
    timing = long.run.model_copy(update={"duration": 20_000_000_000})
    long = long.model_copy(update={"run": timing})
    stopped = compare_machines("ibm-z196", "ibm-zec12", long, progress=press)
    assert stopped.interrupted
    assert len(stopped.cases) < 4


def test_a_case_without_room_is_left_out_and_told(suite_path: Path) -> None:
    result = compare_machines("ibm-p5-570", "ibm-zec12", suite_path, only=["busy"])
    assert [case.case.name for case in result.cases] == ["busy-4"]
    assert result.left_out == {"busy-16": "it needs 16 cores, ibm-p5-570 has 12"}


def test_a_walk_needs_a_machine_that_says_how_it_streams() -> None:
    result = compare_machines("hp-rx8640", "ibm-zec12", only=["memory-read-l1"])
    assert result.cases == ()
    assert result.left_out["memory-read-l1"].startswith("how hp-rx8640 streams")


def test_a_machine_of_cells_is_left_out_and_told(suite_path: Path) -> None:
    result = compare_machines("hp-rx8640", "ibm-zec12", suite_path, only=["waits"])
    assert result.cases == ()
    why = "hp-rx8640 is divided into nPartitions, which a suite does not lay out"
    assert result.left_out == {"waits": why}
    assert f"left out: waits: {why}" in comparison_lines(result)


def test_a_core_without_a_stated_rate_is_told(
    suite_path: Path, compared: MachineComparison
) -> None:
    unrated = "intel-xeon-6140-2s"
    result = compare_machines(unrated, "ibm-zec12", suite_path, only=["busy-4"])
    assert result.as_json()["without_core_rate"] == [unrated]
    lines = comparison_lines(result)
    assert any(f"no core_rate is stated for {unrated}" in line for line in lines)
    assert compared.unrated == ()
    assert not any("core_rate" in line for line in comparison_lines(compared))


@pytest.mark.parametrize(
    ("base", "machine", "told", "ratio"),
    [
        ("ibm-z196", "ibm-zec12", [1202.0, 1514.0], "1.26"),
        ("ibm-zec12", "ibm-z10", [1514.0, None], None),
    ],
)
def test_what_the_maker_publishes_of_a_processor_stands_beside_it(
    suite_path: Path, base: str, machine: str, told: list[float | None], ratio: str | None
) -> None:
    result = compare_machines(base, machine, suite_path, only=["busy-4"])
    assert result.as_json()["pci"] == told
    lines = [line for line in comparison_lines(result) if "(PCI)" in line]
    assert len(lines) == (ratio is not None)
    assert all(f", {ratio} in the mean" in line for line in lines)


def test_machines_of_two_instruction_sets_are_no_ratio_for_a_program(
    suite_path: Path, compared: MachineComparison
) -> None:
    result = compare_machines("ibm-power-795", "ibm-zec12", suite_path, only=["busy-4"])
    assert result.as_json()["instruction_sets"] == ["POWER", "z/Architecture"]
    text = "instructions of POWER and of z/Architecture count as the same work"
    assert any(text in line for line in comparison_lines(result))
    assert not any("count as the same work" in line for line in comparison_lines(compared))


def test_what_is_unknown_names_the_nearest(suite_path: Path, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"ibm-z197.*did you mean ibm-z196"):
        compare_machines("ibm-z197", "ibm-zec12", suite_path)
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(SHORT.replace('"disk-io"', '"disk-ioo"'), encoding="utf-8")
    with pytest.raises(SuiteError, match="case waits of suite short cannot be simulated on"):
        compare_machines("ibm-z196", "ibm-zec12", wrong, only=["waits"])


def test_the_command(command: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    asked = ("compare-machines", "ibm-z196", "ibm-zec12", "--only", "integer-suite")
    told = command(*asked)
    assert told.returncode == 0, told.stderr
    assert "integer-suite" in told.stdout
    assert "core: instructions as if the caches were infinite" in told.stdout
    answer = json.loads(command(*asked, "--json").stdout)
    assert (answer["suite"], answer["base"], answer["machine"]) == ("linux", *asked[1:3])
    [case] = answer["classes"][0]["cases"]
    assert case["throughput_gain_pct"]["mean"] == pytest.approx(28, abs=6)
    unknown = command("compare-machines", "ibm-z196", "ibm-zec12", "--only", "integr-suite")
    assert unknown.returncode == 2
    assert "did you mean integer-suite?" in unknown.stderr
    assert "Traceback" not in unknown.stderr
