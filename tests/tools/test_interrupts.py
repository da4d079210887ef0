"""Interrupts of devices from a scenario to the tools, and what is refused of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from homenode.cli import call

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

from homenode.errors import ScenarioError
from homenode.model.scenario import Scenario

HOST = """
name = "%s"

[machine]
model = "intel-xeon-6240-2s"

[[partition]]
name = "web"
kvm = {}
processors = { mode = "shared", virtual = 4, pins = ["0", "1", "2", "3"] }
memory = "8 GiB"
guest = { os = "linux", daemons = { rate = "0/s" } }
interrupts = { %s }

[partition.workload]
kind = "transactions"
rate = "9000/s"
profile = { base = "oltp", instructions = 2e5 }

[run]
warmup = "500 ms"
duration = "1 s"
replications = 1
record_dispatches = true
"""
VPAR = """
name = "vpar"

[machine]
model = "hp-rx7640"

[[npartition]]
name = "npar0"
cells = ["cell0", "cell1"]
memory = "32 GiB"

[[partition]]
name = "orders"
processors = { mode = "dedicated", cores = 8 }
memory = "16 GiB"
io = "cell0"
guest = { os = "hp-ux" }
interrupts = { to = "0", instructions = 10000, soft_instructions = 30000 }

[partition.workload]
kind = "transactions"
rate = "2000/s"
bursts = 5
wait = "2 ms"
profile = { base = "oltp", instructions = 4e5 }

[run]
warmup = "500 ms"
duration = "1 s"
replications = 1
"""
Ask = Callable[..., str]
Rows = list[dict[str, Any]]


@pytest.fixture(scope="module", autouse=True)
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("interrupts")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        texts = {
            "one": HOST % ("one", 'to = "0", polls = false'),
            "apart": HOST % ("apart", 'to = "8", polls = false'),
            "spread": HOST
            % ("spread", 'to = "0", soft_to = "1-3", rate = "4000/s", polls = false'),
            "far": HOST % ("far", 'to = "8", on = "chip1", lines = 20, polls = false'),
            "polled": HOST % ("polled", 'to = "8"'),
            "late": HOST % ("late", 'to = "8", coalesce = "200 us"'),
            "few": HOST % ("few", 'to = "8", coalesce = "10 ms", coalesce_most = 3'),
            "vpar": VPAR,
        }
        for name, text in texts.items():
            Path(f"{name}.toml").write_text(text)
            assert call(["run", f"{name}.toml"]) == 0
        yield


def rows(ask: Ask, *words: str) -> Rows:
    found: Rows = json.loads(ask(*words, "--json"))
    return found


def by_cpu(ask: Ask, run: str, *words: str) -> dict[str, dict[str, float]]:
    return {row["CPU"]: row for row in rows(ask, "mpstat", "-r", run, "-P", "ALL", *words)}


def test_a_processor_shows_what_it_does_for_devices(ask: Ask) -> None:
    each = by_cpu(ask, "one")
    for row in each.values():
        assert sum(v for name, v in row.items() if name[0] == "%") == pytest.approx(100)
    assert each["0"]["%soft"] > each["0"]["%irq"] > 0.5
    assert each["1"]["%irq"] == each["1"]["%soft"] == 0
    sums = by_cpu(ask, "one", "-I", "SUM")
    assert sums["0"]["intr/s"] == sums["all"]["intr/s"] == pytest.approx(9000, rel=0.05)
    assert sums["1"]["intr/s"] == 0
    (vmstat,) = rows(ask, "vmstat", "-r", "one")
    assert vmstat["in"] == sums["all"]["intr/s"]
    (sar,) = rows(ask, "sar", "-r", "one", "-u", "ALL")
    assert sar["%soft"] == pytest.approx(each["all"]["%soft"])
    assert sar["%soft"] == pytest.approx(each["0"]["%soft"] / 72)
    (usual,) = rows(ask, "sar", "-r", "one")
    assert usual["%system"] == pytest.approx(sar["%sys"] + sar["%irq"] + sar["%soft"])
    document = json.loads(ask("mpstat", "-r", "one", "-I", "SUM", "-o", "JSON"))
    told = document["sysstat"]["hosts"][0]["statistics"][0]["sum-interrupts"]
    assert told == [{"cpu": "all", "intr": round(sums["all"]["intr/s"], 2)}]


def test_where_they_go_decides_who_waits_and_not_how_much_it_is(ask: Ask) -> None:
    beside, apart = by_cpu(ask, "one"), by_cpu(ask, "apart")
    for name in ("%irq", "%soft"):
        # The other thread of its core works: it takes as much longer as anything beside that.
        assert 1 < beside["0"][name] / apart["8"][name] < 1.6
    assert beside["all"]["%guest"] == pytest.approx(apart["all"]["%guest"], rel=0.05)
    assert apart["0"]["%irq"] == 0
    spread = by_cpu(ask, "spread")
    assert spread["0"]["%soft"] == 0 < spread["0"]["%irq"]
    assert {cpu for cpu, row in spread.items() if row["%soft"] > 0.1} == {"1", "2", "3"}
    assert by_cpu(ask, "spread", "-I", "SUM")["0"]["intr/s"] == pytest.approx(13_000, rel=0.05)
    assert by_cpu(ask, "far")["8"]["%soft"] > 1.1 * apart["8"]["%soft"]


def test_linux_polls_and_a_device_may_wait(ask: Ask) -> None:
    """9,000 come in a second, by chance; in 200 us another 1.8 do beside the first."""
    runs = ("apart", "polled", "late", "few")
    shown = {name: by_cpu(ask, name)["8"] for name in runs}
    counts = {name: by_cpu(ask, name, "-I", "SUM")["8"]["intr/s"] for name in runs}
    assert 0.9 * counts["apart"] < counts["polled"] < 0.99 * counts["apart"]
    assert counts["late"] == pytest.approx(counts["apart"] / 2.8, rel=0.1)
    assert counts["few"] == pytest.approx(counts["apart"] / 3, rel=0.05)
    for name in runs[1:]:
        each = shown[name]["%irq"] / counts[name]
        assert each == pytest.approx(shown["apart"]["%irq"] / counts["apart"], rel=0.05)
        assert shown[name]["%soft"] == pytest.approx(shown["apart"]["%soft"], rel=0.05)


def test_a_boot_processor_that_takes_all_of_them_is_the_busiest(ask: Ask) -> None:
    busy = {
        row["cpu"]: row["user_ns"] + row["sys_ns"]
        for row in rows(ask, "sql", "SELECT cpu, user_ns, sys_ns FROM cpu_intervals", "-r", "vpar")
    }
    assert busy[0] > 1.5 * max(ns for cpu, ns in busy.items() if cpu)
    shown = {row["cpu"]: row for row in rows(ask, "sar", "-r", "vpar", "-p", "orders", "-M")}
    assert shown["0"]["%sys"] > 2 * shown["0"]["%usr"]
    for row in shown.values():
        told = [row[name] for name in ("%usr", "%sys", "%wio", "%idle")]
        assert sum(map(float, told)) == pytest.approx(100)
    taken = rows(
        ask,
        "sql",
        "SELECT cpu, sum(interrupts) AS n FROM interrupt_intervals GROUP BY cpu",
        "-r",
        "vpar",
    )
    assert [row["cpu"] for row in taken if row["n"]] == [0]


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ('to = "72"', "processor 72 is not there, the machine has 72"),
        ('on = "node7"', "node"),
        ("lines = -1", "lines"),
        ('coalesce = "1 s"', "coalesce"),
        ("coalesce_most = 0", "coalesce_most"),
        ("coalesce_most = 3", "the device waits for no more; say how long with coalesce"),
        ('rate = "1 GB"', "rate"),
        ('cpu = "0"', "cpu"),
    ],
)
def test_what_cannot_be_is_refused_where_it_stands(told: str, said: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        Scenario.from_toml(HOST % ("wrong", told))
    assert ":13:" in str(refused.value)
    assert said in str(refused.value)


def test_who_has_none_says_so() -> None:
    xen = HOST % ("xen", "")
    xen = xen.replace('6240-2s"', '6240-2s"\npolicy = "credit2"').replace("kvm = {}\n", "")
    with pytest.raises(ScenarioError, match="another scheduler than Linux"):
        Scenario.from_toml(xen)


def test_a_kind_of_interrupts_is_refused(ask: Ask, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["mpstat", "-r", "one", "-I", "CPU"]) == 2
    assert "-I shows SUM, not CPU" in capsys.readouterr().err
