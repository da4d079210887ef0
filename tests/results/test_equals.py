"""Partitions of a host that are alike and do not fit its processors evenly: said in the result."""

from __future__ import annotations

from pathlib import Path

import pytest

from homenode import Scenario
from homenode.report.equals import equals_lines

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

HOST = """\
[machine]
model = "intel-xeon-6140-2s"
policy = "linux"
sockets = 1
cores_per_socket = 4

[[partition]]
name = "vm"
count = {count}
processors = {{ mode = "shared", virtual = 2 }}
memory = "1 GiB"
workload = {{ kind = "warehouses", count = 2, profile = "oltp" }}

[[partition]]
name = "other"
processors = {{ mode = "shared", virtual = 1 }}
memory = "1 GiB"
workload = {{ kind = "idle" }}

[run]
duration = "1 s"
replications = 2
"""


@pytest.mark.parametrize(("count", "apart"), [(2, False), (3, True)])
def test_equals_that_share_cores_unevenly_are_named(
    tmp_path: Path, count: int, apart: bool
) -> None:
    """Two of two fill the four cores; of three, two work beside each other on two of them."""
    file = tmp_path / "host.toml"
    file.write_text(HOST.format(count=count))
    told = equals_lines(Scenario.load(file).run(out=tmp_path / "runs"))
    if not apart:
        assert told == []
        return
    (line,) = told
    assert line.startswith("vm1, vm2 and vm3 are alike and got ")
    assert "do not fit the processors evenly" in line


def test_equals_that_wait_for_a_processor_most_of_the_time_have_work(tmp_path: Path) -> None:
    file = tmp_path / "host.toml"
    file.write_text(HOST.format(count=9).replace('"linux"', '"esxi"'))
    run = Scenario.load(file).run(out=tmp_path / "runs")
    assert run.metric("vm1", "physc").mean < 1.0
    (line,) = equals_lines(run)
    assert line.startswith("vm1 to vm9 (9) are alike and got ")


def test_equals_that_are_seldom_busy_differ_by_chance(tmp_path: Path) -> None:
    file = tmp_path / "host.toml"
    busy = 'kind = "warehouses", count = 2'
    open_ = 'kind = "transactions", rate = "30/s"'
    file.write_text(HOST.format(count=3).replace(busy, open_))
    run = Scenario.load(file).run(out=tmp_path / "runs")
    each = [run.metrics[name]["etr_per_s"].mean for name in ("vm1", "vm2", "vm3")]
    assert max(each) > 1.05 * min(each)
    assert equals_lines(run) == []


def test_equals_whose_memory_is_elsewhere_are_told_what_that_costs(tmp_path: Path) -> None:
    """Both on one socket, the memory of the second beside the other one; nobody moves it."""
    file = tmp_path / "host.toml"
    still = '\n[machine.hypervisor.numa_balancing]\nenabled = { value = false, why = "off" }\n'
    text = HOST.format(count=1).replace("sockets = 1", "sockets = 2\nthreads = 1")
    text = text.replace("cores_per_socket = 4\n", "cores_per_socket = 4\n" + still)
    text = text.replace("virtual = 2", 'virtual = 2, cpuset = "0-3"')
    start, end = text.index("[[partition]]"), text.index('[[partition]]\nname = "other"')
    of = [
        text[start:end].replace('"vm"\ncount = 1\n', f'"vm{at + 1}"\nhome = "chip{at}"\n')
        for at in range(2)
    ]
    file.write_text(text[:start] + "".join(of) + text[end:])
    (line,) = equals_lines(Scenario.load(file).run(out=tmp_path / "runs"))
    assert "vm1 and vm2 are alike and got" in line
    assert "memory beside other processors than their own, so that a transaction takes" in line
    assert "do not fit" not in line
