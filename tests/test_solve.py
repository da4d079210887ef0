"""Solved layouts: laws that they keep, how near they are to runs, what they refuse."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

from homenode.errors import HomenodeError
from homenode.simulate.kept.metrics import METRICS
from homenode.simulate.scenario import Scenario
from homenode.simulate.solved.beside import beside
from homenode.simulate.solved.figures import SIMULATED_ONLY, Solved
from homenode.simulate.solved.sureness import AT_HOME, kind_of

HEAD = """\
name = "small"

[machine]
model = "{model}"
{more}

[run]
warmup = "1 s"
duration = "{seconds} s"
replications = 1
"""
PARTITION = """
[[partition]]
name = "{name}"
processors = {processors}
smt = {smt}
memory = "16 GiB"
guest = {guest}
workload = {workload}
"""
OPEN = '{{ kind = "transactions", rate = "{}/s", profile = "{}" }}'


def partition(
    workload: str = OPEN.format(200, "oltp"),
    name: str = "web",
    processors: str = '{ mode = "dedicated", cores = 2 }',
    smt: int = 1,
    guest: str = "{}",
) -> str:
    return PARTITION.format(
        name=name, processors=processors, smt=smt, guest=guest, workload=workload
    )


def layout(
    *partitions: str, model: str = "ibm-power-770", seconds: int = 5, more: str = ""
) -> Scenario:
    text = HEAD.format(model=model, more=more, seconds=seconds) + "".join(partitions)
    return Scenario.from_toml(text, "small.toml")


LINUX = '{ os = "linux" }'
SHARED = '{ mode = "shared", entitlement = 1.0, virtual = 4 }'


def test_books_add_up_to_the_cores_and_cores_of_pools_to_the_frame() -> None:
    solved = layout(partition(), partition(name="crm", processors=SHARED, smt=4)).solve()
    for name in solved.partitions:
        books = solved.breakdown(name).cores
        assert math.fsum(books.values()) == pytest.approx(solved.metric(name, "physc").mean)
    pool = solved.summary["machine"]["pools"]["DefaultPool"]
    shared = solved.metric("crm", "physc").mean
    assert (pool["physc"]["mean"], pool["cores"]) == (pytest.approx(shared), 62)
    assert pool["app"]["mean"] == pytest.approx(62 - (shared or 0.0))


def test_metrics_are_those_of_a_run_or_left_out_by_name() -> None:
    solved = layout(partition(smt=4)).solve()
    told = solved.metrics["web"]
    assert list(told) == list(METRICS)
    assert all(one.ci95 is None for one in told.values())
    lacking = [name for name, one in told.items() if one.reason == SIMULATED_ONLY]
    assert lacking == list(solved.left_out)
    assert {"response_ms_max", "user_pct", "ilcs_per_s"} < set(lacking)
    known = {"physc", "etr_per_s", "response_ms_mean", "response_ms_p95", "far_share"}
    known |= {"entc_pct", "cpi", "efcpi"}
    assert not known & set(lacking)
    assert told["cpi"].mean == pytest.approx(
        (told["eicpi"].mean or 0) + (told["efcpi"].mean or 0), rel=1e-9
    )
    # Of a Linux host alone: it makes no sense here, which is another thing.
    assert told["nvcsw_per_s"].mean is None
    assert "nvcsw_per_s" not in lacking


def test_one_queue_for_one_core_answers_as_the_closed_form() -> None:
    """M/M/1: the mean response is 1 / (mu - lambda)."""
    rate = 100.0
    scenario = layout(
        partition(OPEN.format(rate, "oltp"), processors='{ mode = "dedicated", cores = 1 }')
    )
    solved = scenario.solve()
    cores = solved.answer["partitions"][0]["busy_vps"]
    assert 0.2 < cores < 0.9
    expected_ms = 1e3 / (rate / cores - rate)
    assert solved.metric("web", "response_ms_mean").mean == pytest.approx(expected_ms, rel=0.01)


def test_percentiles_of_one_queue_are_those_of_an_exponential_time() -> None:
    """M/M/1: of a mean of 1, half stay under ln 2, 95 of 100 under ln 20, 99 under ln 100."""
    one = partition(OPEN.format(100, "oltp"), processors='{ mode = "dedicated", cores = 1 }')
    told = layout(one).solve().metrics["web"]
    mean = told["response_ms_mean"].mean
    for name, size in (("p50", 2), ("p95", 20), ("p99", 100)):
        assert told[f"response_ms_{name}"].mean == pytest.approx(mean * math.log(size), rel=1e-3)


@pytest.mark.parametrize("number", range(6))
def test_percentiles_are_near_those_of_a_run(number: int, tmp_path: Path) -> None:
    """Random work on random processors, of which others use some too."""
    dice = random.Random(f"percentiles {number}")
    cores = dice.choice([2, 4, 6])
    processors = dice.choice(
        [
            f'{{ mode = "dedicated", cores = {cores} }}',
            f'{{ mode = "shared", entitlement = {cores}.0, virtual = {cores} }}',
        ]
    )
    bursts, wait = dice.choice([1, 3, 8]), dice.choice([1, 5, 20])
    rate = cores * dice.choice([30, 60, 90])  # near the limit chance would need minutes
    work = OPEN.format(rate, "oltp").replace("}", f', bursts = {bursts}, wait = "{wait} ms" }}')
    scenario = layout(
        partition(work, processors=processors, smt=dice.choice([1, 2])),
        partition(name="beside", processors=SHARED, smt=2),
        seconds=20,
    )
    solved, run = scenario.solve(), scenario.run(out=tmp_path)
    for name, most in (("mean", 0.10), ("p50", 0.12), ("p95", 0.12), ("p99", 0.18)):
        pair = [one.metric("web", f"response_ms_{name}").mean for one in (solved, run)]
        assert pair[0] == pytest.approx(pair[1], rel=most), name


@pytest.mark.parametrize("kind", ["constant", "recorded"])
def test_percentiles_that_no_formula_tells_are_left_out(kind: str) -> None:
    works = {
        "constant": OPEN.format(100, "oltp").replace("}", ', burst_work = "constant" }'),
        "recorded": '{ kind = "cores", use = "0.5", profile = "oltp" }',
    }
    solved = layout(partition(works[kind])).solve()
    assert "response_ms_p95" in solved.left_out


@pytest.mark.parametrize(
    ("model", "workload"),
    [
        ("ibm-power-770", OPEN.format(150, "oltp")),
        ("ibm-power-e880", '{ kind = "warehouses", count = 2, profile = "specjbb" }'),
        ("ibm-power-795", '{ kind = "loops", count = 1, endless = true, profile = "compute" }'),
    ],
)
def test_a_quiet_partition_on_cores_of_its_own_is_as_simulated(
    model: str, workload: str, tmp_path: Path
) -> None:
    """For the same instructions: how many come is chance."""
    scenario = layout(partition(workload), model=model)
    solved, run = scenario.solve(), scenario.run(out=tmp_path)
    cores = [one.metric("web", "physc").mean or 0.0 for one in (solved, run)]
    done = [one.totals("web")[0]["instructions"] for one in (solved, run)]
    assert cores[0] / done[0] == pytest.approx(cores[1] / done[1], rel=0.02)
    row = beside(solved, run, ["physc"])[0]
    assert row.deviation == pytest.approx(cores[0] / cores[1] - 1.0)
    assert row.is_within is (abs(cores[0] - cores[1]) <= (row.simulated.ci95 or 0.0))


@pytest.mark.parametrize("processors", [SHARED, '{ mode = "dedicated", cores = 4 }'])
def test_more_work_takes_more_cores_and_longer(processors: str) -> None:
    def at(rate: int) -> tuple[float, float]:
        one = layout(partition(OPEN.format(rate, "oltp"), processors=processors)).solve()
        told = one.metrics["web"]
        return told["physc"].mean or 0.0, told["response_ms_mean"].mean or 0.0

    found = [at(rate) for rate in (50, 150, 300, 450)]
    assert found == sorted(found)
    assert len(set(found)) == 4
    assert [cores for cores, _ in found] == sorted(cores for cores, _ in found)


def test_whoever_is_away_from_a_full_home_is_less_sure() -> None:
    shared = '{ mode = "shared", entitlement = 1.5, virtual = 12 }'
    busy = [partition(OPEN.format(1_000, "oltp"), name, shared) for name in ("web", "crm", "erp")]
    crowded = layout(*(one + 'home = "drawer0"\n' for one in busy)).solve()
    alone = layout(partition(OPEN.format(400, "oltp"), "web", shared)).solve()
    kinds = [kind_of("PowerVM", one) for one in crowded.answer["partitions"]]
    assert AT_HOME not in kinds
    assert kind_of("PowerVM", alone.answer["partitions"][0]) == AT_HOME
    assert set(crowded.sureness) == {"web", "crm", "erp"}
    assert crowded.sureness["web"].cores > alone.sureness["web"].cores


def test_whoever_shares_a_crowded_chip_is_soon_on_another_home_chip_of_the_node() -> None:
    """Two virtual processors each, all at home on the first two chips of a drawer of four: in runs
    0.86, 0.56, 0.50 and 0.50 of the time are at home at 100, 300, 400 and 500 a second.
    """

    def at_home(rate: int) -> float:
        shared = '{ mode = "shared", entitlement = 1.0, virtual = 2 }'
        each = [
            partition(OPEN.format(rate, "oltp"), f"p{at}", shared) + 'home = "drawer0"\n'
            for at in range(24)
        ]
        solved = layout(*each, model="ibm-power-e880").solve()
        return math.fsum(one["by_distance"][0] for one in solved.answer["partitions"]) / 24

    few, some, many = at_home(100), at_home(300), [at_home(rate) for rate in (390, 400, 410)]
    assert 0.75 < few < 0.95
    assert 0.45 < some < 0.65
    assert max(many) - min(many) < 0.02
    assert many[1] == pytest.approx(0.5, abs=0.05)


def test_a_full_machine_of_one_home_comes_to_rest_soon() -> None:
    """Twenty partitions at home in one book of eight, 93 % of all cores at work: each step would
    take back the one before for ever, if it went as far.
    """
    twenty = """
[machine]
model = "ibm-power-795"
[[partition]]
name = "shop"
count = 20
processors = { mode = "shared", entitlement = 6.0, virtual = 12 }
smt = 2
memory = "40 GiB"
home = "book0"
workload = { kind = "users", count = 400, think = "200 ms", profile = "oltp" }
"""
    solved = Scenario.from_toml(twenty).solve()
    assert solved.answer["steps"] < 60
    cores = [one["cores"] for one in solved.answer["partitions"]]
    assert 235 < sum(cores) < 245
    assert max(cores) - min(cores) < 0.01 * min(cores)  # all are alike


def test_what_cannot_be_done_has_no_means() -> None:
    solved = layout(partition(OPEN.format(90000, "oltp"))).solve()
    assert solved.unsteady_reason("web") == "more work comes than it can do"
    told = solved.metrics["web"]
    assert told["physc"].mean == pytest.approx(2.0, rel=0.01)
    assert told["etr_per_s"].mean is None
    assert "no steady state" in (told["etr_per_s"].reason or "")


@pytest.mark.parametrize("limit", ["cap = 1.0", "defined_capacity = 1.0", 'group = "all"'])
def test_a_cap_of_prsm_holds_and_leaves_response_out(limit: str) -> None:
    processors = f'{{ mode = "shared", virtual = 4, weight = 100, {limit} }}'
    work = '{ kind = "warehouses", count = 3, profile = "java" }'
    limited = partition(work, processors=processors, guest=LINUX)
    more = '\n[[group]]\nname = "all"\ncap = 1.0\n' if "group" in limit else ""
    solved = layout(limited, more, model="ibm-z13").solve()
    assert solved.limited == ("web",)
    assert solved.metric("web", "physc").mean == pytest.approx(1.0, rel=0.01)
    assert "response_ms_mean" in solved.left_out


def test_cores_of_each_type_are_shared_out_by_themselves() -> None:
    work = '{ kind = "warehouses", count = 4, profile = "java" }'
    one = '{{ mode = "shared", virtual = 4, weight = {}, type = "{}" }}'
    wanted = {"a": (100, "cp", 1.0), "b": (300, "cp", 3.0), "c": (100, "ifl", 4.0)}
    parts = [
        partition(work, name, one.format(weight, core), guest=LINUX)
        for name, (weight, core, _) in wanted.items()
    ]
    solved = layout(*parts, model="ibm-z13", more="characterized = { cp = 4, ifl = 8 }").solve()
    for name, (_, _, cores) in wanted.items():
        assert solved.metric(name, "physc").mean == pytest.approx(cores, rel=0.01)


def test_of_work_told_in_cores_the_mean_is_solved_without_response() -> None:
    solved = layout(partition('{ kind = "cores", profile = "oltp", use = "1.2" }')).solve()
    assert solved.recorded == ("web",)
    assert solved.metric("web", "physc").mean == pytest.approx(1.2, rel=0.05)
    assert "response_ms_mean" in solved.left_out


def test_the_same_layout_is_solved_to_the_same_digits() -> None:
    scenario = layout(partition(), partition(name="crm", processors=SHARED, smt=4))
    assert scenario.solve().summary == scenario.solve().summary


LOCK = (
    '{{ base = "compute", lock_kind = "sleeping", lock_share = {}, lock_hold_instructions = 5000 }}'
)
LOCKING = f'{{{{ kind = "warehouses", count = 12, profile = {LOCK} }}}}'


def test_who_sleeps_for_a_lock_leaves_a_core_to_nobody() -> None:
    """Twelve threads of which one at a time has the lock: the rarer, the more of them work."""
    own = '{ mode = "dedicated", cores = 12 }'
    solved = [
        layout(partition(LOCKING.format(share), processors=own)).solve()
        for share in (0.3, 0.05, 0.001)
    ]
    cores = [one.metric("web", "physc").mean or 0.0 for one in solved]
    assert cores == sorted(cores)
    assert cores[0] < 6.0
    assert cores[2] == pytest.approx(12.0, rel=0.01)
    books = solved[0].breakdown("web").cores
    assert math.fsum(books.values()) == pytest.approx(cores[0])
    assert books["spin"] > 0.1


MEMBER = '{{ mode = "shared", virtual = 2, weight = 100, type = "{}", group = "all" }}'
CHANGE = '\n[[change]]\nat = "1 s"\npartition = "web"\nentitlement = 2.0\n'


@pytest.mark.parametrize(
    ("scenario", "what"),
    [
        (lambda: layout(partition(processors=SHARED), CHANGE), "changed during the run"),
        (
            lambda: layout(
                partition(processors=MEMBER.format("cp"), guest=LINUX),
                partition(name="crm", processors=MEMBER.format("ifl"), guest=LINUX),
                '\n[[group]]\nname = "all"\ncap = 1.0\n',
                model="ibm-z13",
                more="characterized = { cp = 4, ifl = 4 }",
            ),
            "partition web: a group with cores of several types",
        ),
        (
            lambda: layout(partition('{ kind = "loops", count = 2, profile = "compute" }')),
            "partition web: what becomes of loops that end",
        ),
        (lambda: Scenario.load("examples/zvm-paging.toml"), "partition zvm: paging of z/VM"),
    ],
)
def test_what_only_a_simulation_tells_is_refused(
    scenario: object, what: str, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    assert callable(scenario)
    with pytest.raises(HomenodeError, match=f"{what}.*is simulated only; `homenode run` does it"):
        scenario().solve()


@pytest.mark.parametrize("to", ['"0"', '"0-3"'])
def test_interrupts_take_cores_and_time_wherever_they_go(to: str) -> None:
    work = '{ kind = "transactions", rate = "400/s", bursts = 4, wait = "2 ms", profile = "oltp" }'
    four, found = '{ mode = "dedicated", cores = 4 }', []
    for more in ("", 'rate = "5000/s"', 'rate = "20000/s"'):
        told = f"interrupts = {{ to = {to}{more and ', '}{more} }}\n"
        solved = layout(partition(work, processors=four) + told).solve()
        cores = solved.metric("web", "physc").mean
        response = solved.metric("web", "response_ms_mean").mean
        assert cores is not None
        assert response is not None
        found.append((cores, response))
    assert found == sorted(found)


FULL_HOMES = """\
[machine]
model = "ibm-power-795"

[[partition]]
name = "short"
processors = { mode = "shared", entitlement = 4.8, virtual = 16 }
home = "book0"
smt = 1
memory = "16 GiB"
guest = { os = "aix", folding = false, throughput_mode = 1 }
[partition.workload]
kind = "transactions"
rate = "RATE/s"
profile = { base = "database-mix", instructions = 1e5 }

[[partition]]
name = "long"
processors = { mode = "shared", entitlement = 24.0, virtual = 30, weight = 200 }
home = "book0"
smt = 2
memory = "16 GiB"
guest = { os = "aix", folding = false }
[partition.workload]
kind = "transactions"
rate = "19754/s"
bursts = 20
wait = "5 ms"
profile = { base = "database-mix", instructions = 1e6 }
"""


@pytest.mark.parametrize("rate", ["70", "45000"], ids=["one balance", "two"])
def test_several_means_are_those_that_are_told_one_by_one(rate: str) -> None:
    _means_are_alike(Scenario.from_toml(FULL_HOMES.replace("RATE", rate)).solve())


def test_several_means_of_what_cannot_be_done_are_those_told_one_by_one() -> None:
    _means_are_alike(layout(partition(OPEN.format(90000, "oltp"))).solve())


def _means_are_alike(solved: Solved) -> None:
    for name in solved.partitions:
        told = [solved.metric(name, one).mean for one in METRICS]
        assert solved.means(name, [*METRICS]) == told


def test_of_two_balances_none_is_told() -> None:
    solved = Scenario.from_toml(FULL_HOMES.replace("RATE", "45000")).solve()
    least, most = solved.balances["long"]
    assert most > 1.1 * least
    figure = solved.metric("long", "physc")
    assert figure.mean is None
    assert "two balances" in str(figure.reason)
    # With little beside it, nobody finds that home full.
    alone = Scenario.from_toml(FULL_HOMES.replace("RATE", "70")).solve()
    assert not alone.balances
    assert alone.metric("long", "physc").mean


def several(count: int = 2) -> Scenario:
    """Orders beside threads of a batch, on a machine with room for all."""
    text = HEAD.format(model="ibm-power-770", more="", seconds=20)
    return Scenario.from_toml(
        text
        + f"""
[[partition]]
name = "shop"
processors = {{ mode = "shared", entitlement = 2.0, virtual = 6 }}
memory = "16 GiB"

[[partition.workload]]
name = "orders"
kind = "transactions"
rate = "300/s"
profile = "oltp"

[[partition.workload]]
name = "batch"
kind = "warehouses"
count = {count}
profile = {{ base = "compute", instructions = 8e8 }}

[[partition.workload]]
name = "spin"
kind = "loops"
count = 1
endless = true
profile = "compute"
"""
    )


def test_of_several_workloads_each_has_its_figures(tmp_path: Path) -> None:
    solved, run = several().solve(), several().run(out=tmp_path)
    found, simulated = solved.metrics["shop"], run.metrics["shop"]
    assert found["physc"].mean == pytest.approx(simulated["physc"].mean, rel=0.05)
    assert [*found.workloads] == ["orders", "batch", "spin"] == [*simulated.workloads]
    for name, own in found.workloads.items():
        theirs = simulated.workloads[name]
        assert own["physc"].mean == pytest.approx(theirs["physc"].mean, rel=0.1)
        for metric in ("etr_per_s", "response_ms_mean", "cpu_per_tx_us"):
            if theirs[metric].mean is None:
                assert own[metric].mean is None
            else:
                assert own[metric].mean == pytest.approx(theirs[metric].mean, rel=0.1)
    assert found.workloads["orders"]["response_ms_p95"].mean is not None
    # Loops have no transactions; all that has counts in the partition's.
    assert found.workloads["spin"]["etr_per_s"].mean in (None, 0.0)
    rates = [found.workloads[name]["etr_per_s"].mean or 0.0 for name in ("orders", "batch")]
    assert found["etr_per_s"].mean == pytest.approx(math.fsum(rates))


def test_advice_solves_layouts_of_several_workloads() -> None:
    from homenode.planner import advise
    from homenode.planner.problem import problem_of

    assert not problem_of(several(), {"free": ["home"]}).space.solver.simulates
    found = advise(several(), free=["virtual"], confirm=False, slower=1.0)
    assert found.solved > 4
    assert "simulated, not solved" not in found.told
