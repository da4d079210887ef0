"""z/VM solved without events: laws that hold exactly, and figures beside a simulation."""

from __future__ import annotations

from pathlib import Path

import pytest

from homenode.errors import HomenodeError
from homenode.planner import advise
from homenode.simulate.runner import run_scenario
from homenode.simulate.scenario import Scenario
from homenode.simulate.solved.figures import Solved
from homenode.simulate.solved.solve import solve_scenario

FRAME = """\
name = "frame"

[machine]
model = "ibm-z15"
characterized = {{ ifl = 14 }}

[[partition]]
name = "zvm"
processors = {{ {processors} }}
guest = {{ os = "zvm"{guest} }}
memory = "256 GiB"
workload = {{ kind = "idle", profile = "oltp" }}

[run]
warmup = "1 s"
duration = "3 s"
replications = 3
"""
MACHINE = """
[[partition.virtual_machine]]
name = "{name}"
count = {count}
cpus = {cpus}
memory = "2 GiB"
share = {{ relative = {share} }}
{does}
"""
LOOPS = """
[[partition]]
name = "loops"
processors = {{ mode = "shared", virtual = {0}, weight = 100 }}
guest = {{ os = "linux" }}
memory = "8 GiB"
workload = {{ kind = "loops", count = {0}, endless = true, profile = "compute" }}
"""
EIGHT = 'mode = "dedicated", cores = 8'
SHARED = 'mode = "shared", virtual = 8, weight = 100'
FREE = """
[partition.cp.paths]
dispatch = { value = 0, why = "free" }
scan = { value = 0, why = "free" }
signal = { value = 0, why = "free" }
interruption = { value = 0, why = "free" }
[partition.cp.locks]
dispatch = { value = 0, why = "free" }
"""
"""A Control Program that costs nothing."""
EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def opened(rate: float) -> str:
    return f'workload = {{ kind = "transactions", rate = "{rate}/s" }}'


def vm(does: str, name: str = "db", count: int = 4, cpus: int = 2, share: int = 100) -> str:
    return MACHINE.format(name=name, count=count, cpus=cpus, share=share, does=does)


def told(*machines: str, processors: str = EIGHT, guest: str = "") -> Scenario:
    return Scenario.from_toml(FRAME.format(processors=processors, guest=guest) + "".join(machines))


def solved(*machines: str, processors: str = EIGHT, guest: str = "") -> Solved:
    return solve_scenario(told(*machines, processors=processors, guest=guest))


def figure(of: Solved, name: str) -> float:
    mean = of.metric("zvm", name).mean
    assert mean is not None
    return mean


def test_one_virtual_processor_alone_is_the_queue_of_textbooks() -> None:
    for rate in (100, 250, 400):
        one = solved(FREE, vm(opened(rate), count=1, cpus=1), guest=', polarization = "horizontal"')
        service_ms = 1e3 * figure(one, "physc") / rate
        closed_form = service_ms / (1 - rate * service_ms / 1e3)
        assert figure(one, "response_ms_mean") == pytest.approx(closed_form, rel=0.01)


@pytest.mark.parametrize("processors", [EIGHT, SHARED])
def test_more_to_do_takes_more_and_waits_longer(processors: str) -> None:
    found = [solved(vm(opened(rate)), processors=processors) for rate in (50, 200, 500, 700)]
    for name in ("physc", "etr_per_s"):
        values = [figure(one, name) for one in found]
        assert values == sorted(values)
    waits = [figure(one, "response_ms_mean") for one in found[1:]]
    assert waits == sorted(waits)


def test_owners_and_books_add_up_to_the_cores() -> None:
    one = solved(vm(opened(300)), vm('role = "loop"', name="burn", count=1))
    (of,) = one.answer["partitions"]
    assert of["zvm"] is not None
    assert sum(of["zvm"]["owners"]) == pytest.approx(of["cores"])
    assert sum(of["books"].values()) == pytest.approx(of["cores"], rel=1e-6)


def test_one_signal_is_paid_however_many_processors_idle() -> None:
    def chargeable(cores: int, signal: int) -> float:
        price = f'[partition.cp.paths]\nsignal = {{ value = {signal}, why = "a price" }}\n'
        processors = f'mode = "dedicated", cores = {cores}'
        (of,) = solved(price, vm(opened(100)), processors=processors).answer["partitions"]
        assert of["zvm"] is not None
        return of["zvm"]["owners"][1]

    paid = [chargeable(cores, 10_000) - chargeable(cores, 1000) for cores in (4, 8, 14)]
    assert paid[0] > 0
    # What an instruction costs hardly changes with the cores that others idle on.
    assert paid == pytest.approx([paid[0]] * 3, rel=0.05)


def test_a_higher_share_never_loses() -> None:
    burn = vm('role = "loop"', name="burn", count=8)
    rates = []
    for share in (50, 100, 200, 400, 800):
        (of,) = solved(vm(opened(800), share=share), burn).answer["partitions"]
        rates.append(of["throughput"])
    assert rates == sorted(rates)
    assert rates[0] < 0.5 * rates[-1]


def test_more_than_it_can_has_no_steady_state() -> None:
    one = solved(vm(opened(2000)))
    assert one.metric("zvm", "etr_per_s").mean is None
    assert figure(one, "physc") == pytest.approx(8.0)
    assert solved(vm(opened(300))).metric("zvm", "etr_per_s").mean is not None


@pytest.mark.parametrize("processors", [EIGHT, SHARED])
def test_large_never_has_fewer_unparked_than_small(processors: str) -> None:
    for rate in (50, 200, 500):
        large, medium, small = (
            figure(
                solved(vm(opened(rate)), processors=processors, guest=f', unparking = "{word}"'),
                "unparked",
            )
            for word in ("large", "medium", "small")
        )
        assert large >= medium >= small
    small = [
        figure(solved(vm(opened(rate)), guest=', unparking = "small"'), "unparked")
        for rate in (20, 200, 400, 600)
    ]
    assert small == sorted(small)
    assert small[0] < small[-1]


def test_order_and_names_of_machines_do_not_matter() -> None:
    one, other = vm(opened(100), name="a"), vm(opened(400), name="b", count=2)
    ways = [solved(one, other), solved(other, one)]
    cores = [figure(of, "physc") for of in ways]
    assert cores[0] == pytest.approx(cores[1], rel=1e-6)


def test_it_comes_out_as_simulated(tmp_path: Path) -> None:
    users = 'workload = { kind = "users", count = 10, think = "1 s" }'
    both = told(vm(opened(300)), vm(users, name="desk", count=6, cpus=1))
    one, run = solve_scenario(both), run_scenario(both, out=tmp_path)
    for name, apart in (("physc", 0.05), ("cpi", 0.01), ("chargeable_busy_per_tx", 0.05)):
        simulated = run.metric("zvm", name).mean
        assert simulated is not None
        assert figure(one, name) == pytest.approx(simulated, rel=apart)


def test_vertical_high_logical_cores_are_as_good_as_dedicated_ones_and_horizontal_ones_wait() -> (
    None
):
    """Half of fourteen cores, beside loops that want all of them."""
    users = 'workload = { kind = "users", count = 4, think = "1 ms", instructions = 1000000 }'
    clients = vm(users, count=8)
    half = 'mode = "shared", virtual = 10, weight = 100'
    vertical, horizontal = (
        solved(clients, LOOPS.format(10), processors=half, guest=f', polarization = "{way}"')
        for way in ("vertical", "horizontal")
    )
    owned = solved(clients, LOOPS.format(7), processors='mode = "dedicated", cores = 7')
    done = [figure(of, "etr_per_s") for of in (owned, vertical, horizontal)]
    assert done[1] == pytest.approx(done[0], rel=0.02)
    assert done[2] < 0.95 * done[1]
    assert figure(vertical, "steal_pct") == pytest.approx(0.0, abs=0.1)
    # How near horizontal ones are was not compared.
    assert "zvm" not in horizontal.sureness
    assert "zvm" in owned.sureness


def test_tiles_are_cheaper_than_one_large_switch() -> None:
    tiled, one = (
        solve_scenario(Scenario.load(EXAMPLES / f"zvm-{name}.toml"))
        for name in ("tiled", "monolith")
    )
    assert figure(tiled, "cpu_per_tx_us") < figure(one, "cpu_per_tx_us")
    assert figure(tiled, "etr_per_s") > figure(one, "etr_per_s")


def test_what_only_events_tell_is_named() -> None:
    with pytest.raises(HomenodeError, match=r"partition zvm: paging of z/VM is simulated only"):
        solve_scenario(Scenario.load(EXAMPLES / "zvm-paging.toml"))
    tiled = (EXAMPLES / "zvm-tiled.toml").read_text(encoding="utf-8")
    asks = tiled.replace('os = "zvm"', 'os = "zvm", daemons = { rate = "20/s" }')
    with pytest.raises(HomenodeError, match=r"work of virtual machines' daemons is simulated only"):
        solve_scenario(Scenario.from_toml(asks))


def test_advice_on_parking_solves_each_layout(tmp_path: Path) -> None:
    found = advise(told(vm(opened(100))), free=["unparking"], out=tmp_path)
    assert "simulated, not solved" not in found.told
