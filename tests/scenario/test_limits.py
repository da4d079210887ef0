"""Limits that only the engine knows: whoever crosses one is told the line, the key and the value as
written, before anything runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from homenode.errors import ScenarioError
from homenode.model.document import parse_document
from homenode.model.scenario import Scenario
from homenode.model.scenario.limits import place_of

RUN = '\n[run]\nduration = "1 s"\nreplications = 1\n'
LOOPS = '{ kind = "loops", count = 2, profile = "compute" }'


def power(
    machine: str = "",
    processors: str = '{ mode = "shared", entitlement = 2.0, virtual = 4 }',
    guest: str = '{ os = "aix" }',
    workload: str = LOOPS,
    model: str = "ibm-power-795",
) -> str:
    """A partition of PowerVM."""
    return f"""
[machine]
model = "{model}"
{machine}

[[partition]]
name = "db"
processors = {processors}
memory = "16 GiB"
guest = {guest}
workload = {workload}
{RUN}"""


def zvm(
    machine: str = "",
    cores: int = 8,
    profile: str = '"web-small"',
    switches: str = '[[partition.switch]]\nname = "lan"\nlayer = 2',
    clients: str = "count = 2",
    servers: str = "count = 2",
    more: str = "",
) -> str:
    """z/VM with clients and servers."""
    return f"""
[machine]
model = "ibm-z14"
{machine}

[[partition]]
name = "vm"
processors = {{ mode = "dedicated", cores = {cores}, type = "ifl" }}
memory = "256 GiB"
guest = {{ os = "zvm" }}
workload = {{ kind = "web", profile = {profile}, file = "8 KiB", files = 2 }}

{switches}

[[partition.virtual_machine]]
name = "client"
{clients}
memory = "16 MiB"
role = "client"
switch = "lan"

[[partition.virtual_machine]]
name = "server"
{servers}
memory = "16 MiB"
role = "server"
switch = "lan"

{more}
{RUN}"""


def host(
    machine: str = "",
    processors: str = '{ mode = "shared", virtual = 2 }',
    keys: str = "",
    workload: str = LOOPS,
    more: str = "",
) -> str:
    """A server whose threads Linux or Xen dispatches."""
    return f"""
[machine]
model = "intel-xeon-6240-2s"
{machine}

[[partition]]
name = "web"
processors = {processors}
memory = "1 MiB"
workload = {workload}
{keys}
{more}
{RUN}"""


def figure(key: str, value: str, table: str = "") -> str:
    """A number of the machine or of z/VM replaced for a reason."""
    return f'{table}\n{key} = {{ value = {value}, why = "tried" }}'


def profile(base: str = "compute", **numbers: str) -> str:
    told = ", ".join(f"{key} = {value}" for key, value in numbers.items())
    return f'{{ base = "{base}", why = "tried", {told} }}'


def loops(**numbers: str) -> str:
    return power(workload=f'{{ kind = "loops", count = 2, profile = {profile(**numbers)} }}')


def pairs(count: int = 1, exchanges: int = 1, work: str = '"compute"') -> str:
    return f'{{ kind = "pairs", count = {count}, exchanges = {exchanges}, profile = {work} }}'


XEN = 'policy = "credit2"\n'
MANY = (
    '\n[[partition]]\nname = "p{}"\ncount = 1024\nprocessors = {{ mode = "shared", virtual = 1 }}'
)
MANY += '\nmemory = "1 MiB"\nworkload = {{ kind = "idle" }}'
EIGHT_THREADS = """[machine.topology]
threads_per_core = { value = 8, why = "tried" }
[machine.smt]
gain = { value = [1, 1.3, 1.5, 1.6, 1.7, 1.7, 1.7, 1.7], why = "tried" }"""

CASES: dict[str, tuple[str, str, str]] = {
    # name: the scenario, the beginning of the line that is told, what is said of it
    "processors of z/VM": (
        zvm(figure("processors", "400", "[machine.zvm]"), cores=130),
        "processors =",
        "processors.cores = 130: number of logical processors is 130, it must be 1 to 128",
    ),
    "connections": (
        zvm(clients="count = 400", servers="count = 400"),
        "[[partition.switch]]",
        (
            "partition vm: switch lan: its clients and servers make 160000 connections, each client"
            " with each server on its switch, at most 65536 can be simulated; couple fewer of them"
            " to a switch"
        ),
    ),
    "virtual processors of virtual machines": (
        zvm(clients="count = 2000\ncpus = 64"),
        "[[partition.virtual_machine]]",
        "number of virtual processors of its machines is 128002, it must be 1 to 65536",
    ),
    "locks of a profile under z/VM": (
        zvm(profile=profile("web-small", lock_share='"1 %"')),
        "workload =",
        'workload.profile.lock_share = "1 %": it must be 0: z/VM states its locks apart',
    ),
    "work of a request": (
        zvm(profile=profile("web-small", instructions="7.0")),
        "workload =",
        "work of a client or server in ns is",
    ),
    "spinning of CP": (
        zvm(more=figure("delay", "0.5", "[partition.cp.locks]")),
        "delay =",
        "cp.locks.delay.value = 0.5: it must be 1 to 1e6",
    ),
    "stealing of CP": (
        zvm(more=figure("steal_near", "0.5", "[partition.cp.dispatcher]")),
        "steal_near =",
        "cp.dispatcher.steal_near.value = 0.5: it must be 1 to 1e6",
    ),
    "frames of guests": (
        zvm(
            more=figure("guest_frames", '"0 %"', "[partition.cp.paging]")
            + '\n[partition.paging]\nvolumes = 4\nsize = "8 TiB"'
        ),
        "guest_frames =",
        'cp.paging.guest_frames.value = "0 %": it must be above 0, at most 1',
    ),
    "control units of paging": (
        zvm(
            more='[partition.paging]\nvolumes = 1\ncontrol_units = 2\nsize = "8 TiB"',
        ),
        "control_units =",
        "paging.control_units = 2: it must be at most 1, one a volume",
    ),
    "partitions": (
        host(more="".join(MANY.format(number) for number in range(5))),
        "[[partition]]",
        "pools and partitions is 5121, it must be at most 4096",
    ),
    "logical processors of a partition": (
        power(EIGHT_THREADS, processors='{ mode = "shared", entitlement = 60.0, virtual = 600 }'),
        "processors =",
        "processors.virtual = 600: it must be 1 or more, 4096 logical processors at most",
    ),
    "cores of a partition": (
        power(
            "active_cores = 1024\n" + figure("nodes", "32", "[machine.topology]"),
            processors='{ mode = "dedicated", cores = 600 }',
        ),
        "processors =",
        "processors.cores = 600: number of dedicated cores is 600, it must be 1 to 512",
    ),
    "rate of a core": (
        power(figure("core_rate", "0.001")),
        "core_rate =",
        (
            "machine.core_rate.value = 0.001: machine ibm-power-795: core_rate is 0.001, it must be"
            " 0.01 to 100"
        ),
    ),
    "gain of threads": (
        power(figure("gain", "[1, 3, 5, 9]", "[machine.smt]")),
        "gain =",
        "smt.gain of 2 threads is 3, it must be 1 to 2",
    ),
    "distance of nodes": (
        power(figure("node_distance", str([[0.0001] * 8] * 8))),
        "node_distance =",
        "node_distance is 0.0001, it must be 0.001 to 1000",
    ),
    "daemons": (
        power(guest='{ os = "aix", daemons = { rate = "1e-9/s" } }'),
        "guest =",
        'guest.daemons.rate = "1e-9/s": it must be 0, or 1e-8 to 1e6',
    ),
    "cycles of an instruction": (
        loops(eicpi="1e-4"),
        "workload =",
        "workload.profile.eicpi = 1e-4: it must be 0.001 to 1000",
    ),
    "overlap": (
        loops(overlap='"100 %"'),
        "workload =",
        'workload.profile.overlap = "100 %": it must be 0 to 0.999',
    ),
    "share of a lock": (
        loops(lock_share='"100 %"'),
        "workload =",
        'workload.profile.lock_share = "100 %": it must be 0 to 0.999',
    ),
    "hold of a lock": (
        loops(lock_hold_instructions="0.5"),
        "workload =",
        "workload.profile.lock_hold_instructions = 0.5: it must be 1 to 1000000000000",
    ),
    "kind of a lock": (
        loops(lock_kind='"fair"'),
        "workload =",
        'workload.profile.lock_kind = "fair": there is kernel, queue, ticket, test-and-set',
    ),
    "switch of a lock": (
        loops(lock_switch_instructions="-1"),
        "workload =",
        "workload.profile.lock_switch_instructions = -1: at least 0.0 is possible",
    ),
    "data of two kinds": (
        loops(private_data='"60 %"', io_data='"60 %"'),
        "workload =",
        'workload.profile.private_data = "60 %": private_data + io_data is 1.2, it must be 0 to 1',
    ),
    "a working set that nobody touches": (
        loops(working_set='"8 MiB"'),
        "workload =",
        "working_set_touches is 0, it must be above 0 beside a working set",
    ),
    "touches of no working set": (
        loops(working_set_touches="0.01"),
        "workload =",
        "working_set_bytes is 0, it must be above 0 where its lines are touched",
    ),
    "buffers that nobody copies": (
        loops(buffers='"8 MiB"'),
        "workload =",
        "copied_bytes is 0, it must be above 0 beside buffers",
    ),
    "copies of no buffers": (
        loops(copied='"1 B"'),
        "workload =",
        "buffers_bytes is 0, it must be above 0 where something is copied",
    ),
    "work between two messages": (
        host(
            workload=pairs(exchanges=10_000, work=profile(instructions="5e3")),
        ),
        "workload =",
        "mean burst in ns is 0.03787500037875, it must be 1 or more",
    ),
    "processors of pairs": (
        host(processors='{ mode = "shared", virtual = 3 }', workload=pairs()),
        "processors =",
        "virtual = 3: number of virtual processors, two for each pair, is 3, it must be 2 to 2",
    ),
    "pairs beside daemons": (
        host(workload=pairs(), keys='guest = { os = "linux", daemons = { rate = "5/s" } }'),
        "guest =",
        'guest.daemons.rate = "5/s": pairs of processes beside a guest\'s daemons is not to be had',
    ),
    "gangs beside pairs": (
        host(
            workload=pairs(),
            keys=(
                'guest = { os = "linux", daemons = { rate = "0/s", gangs ='
                ' [{ name = "flush", threads = 2, work = "1 ms" }] } }'
            ),
        ),
        "guest =",
        "pairs of processes beside a guest's daemons is not to be had",
    ),
    "threads of programs": (
        power(workload='{ kind = "barriers", count = 100, threads = 4000, profile = "compute" }'),
        "workload =",
        "threads of all programs is 400000, it must be 1 to 100000",
    ),
    "scans of memory": (
        host(
            figure("scan_period_min", '"1 h"', "[machine.hypervisor.numa_balancing]"),
        ),
        "[machine.hypervisor.numa_balancing]",
        "scan_period_max is 1 min, it must be 1 h to 1 h",
    ),
    "shortest look of Xen": (
        host(XEN + figure("min_timer", '"20 ms"', "[machine.hypervisor]")),
        "min_timer =",
        'machine.hypervisor.min_timer.value = "20 ms": it must be 10 us to 10 ms',
    ),
    "longest look of Xen": (
        host(XEN + figure("max_timer", '"10 us"', "[machine.hypervisor]")),
        "max_timer =",
        'machine.hypervisor.max_timer.value = "10 us": it must be 500 us to 1 s',
    ),
    "resistance of Xen": (
        host(XEN + figure("migrate_resist", '"1 s"', "[machine.hypervisor]")),
        "migrate_resist =",
        'machine.hypervisor.migrate_resist.value = "1 s": it must be 0 ns to 10 ms',
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_limit_of_the_engine_is_told_where_it_was_crossed(name: str) -> None:
    text, line, words = CASES[name]
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_toml(text, "mine.toml")
    where = caught.value.where
    assert where is not None
    assert where.line is not None
    assert (where.file, where.column is not None) == ("mine.toml", True)
    assert text.splitlines()[where.line - 1].startswith(line), str(caught.value)
    assert words in str(caught.value)


def test_recorded_demand_that_is_too_long_is_told_at_its_file(tmp_path: Path) -> None:
    (tmp_path / "demand.csv").write_text("partition,seconds,instructions_per_s\ndb,2e8,1e9\n")
    workload = '{ kind = "trace", file = "demand.csv", profile = "compute" }'
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_toml(power(workload=workload), "mine.toml", tmp_path)
    assert 'workload.file = "demand.csv": length of a step is 200000000 s' in str(caught.value)


@pytest.mark.parametrize("make", [power, zvm, host])
def test_what_was_changed_was_sound(make: Callable[[], str]) -> None:
    assert Scenario.from_toml(make()).partitions


def pointers(value: object, at: str = "") -> Iterator[str]:
    """Every place of a spec."""
    yield at
    keyed = dict(enumerate(value)) if isinstance(value, list) else value
    for key, one in keyed.items() if isinstance(keyed, dict) else ():
        yield from pointers(one, f"{at}/{key}")


@pytest.mark.parametrize("make", [power, zvm, host])
def test_every_place_of_a_spec_leads_to_one_of_the_file(make: Callable[[], str]) -> None:
    scenario = Scenario.from_toml(make())
    document = parse_document(scenario.text, scenario.source, ScenarioError)
    paths = {one: place_of(one, scenario.resolved, document) for one in pointers(scenario.spec())}
    assert {path for path in paths.values() if path} <= set(document.positions.spots)
    lost = [one for one, path in paths.items() if one.startswith("/partitions/0") and not path]
    assert not lost


def test_of_a_sweep_the_points_are_looked_at_not_what_they_replace() -> None:
    axis = '\n[sweep]\n"partition.vm.processors.cores" = [8, 130]\n'
    text = zvm(figure("processors", "400", "[machine.zvm]"), cores=130) + axis
    points = Scenario.from_toml(text).expand()
    assert next(points).partitions[0].virtual == 8
    with pytest.raises(ScenarioError, match=r"processors\.cores = 130"):
        next(points)


def test_the_command_ends_with_the_line_before_anything_runs(
    tmp_path: Path, command: Callable[..., object]
) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(zvm(clients="count = 400", servers="count = 400"))
    ended = command("run", file)
    assert getattr(ended, "returncode", None) == 2
    assert f"{file}:13:3: partition vm: switch lan" in str(getattr(ended, "stderr", ""))
    assert not list(tmp_path.glob("runs/*"))
