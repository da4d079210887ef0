"""Tools of Linux and of its hosts: what they show adds up, and each refuses what it cannot show."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from homenode.cli import call
from homenode.records.importing.assemble import AssembleOptions, assemble
from homenode.records.importing.front import read_paths
from systems import BUSY_HOST

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

EXAMPLES = Path(__file__).parents[2] / "examples"
KVM = BUSY_HOST % ("kvm", 800, 2)
POWER = """
name = "power"

[machine]
model = "ibm-power-770"
active_cores = 4

[[partition]]
name = "front"
processors = { mode = "shared", entitlement = 1.0, virtual = 2, capped = true }
smt = 2
memory = "4 GiB"
guest = { os = "linux", hostname = "front.example" }
workload = { kind = "transactions", rate = "200/s", profile = "oltp" }

[[partition]]
name = "aix"
processors = { mode = "shared", entitlement = 1.0, virtual = 2 }
memory = "4 GiB"
workload = { kind = "transactions", rate = "200/s", profile = "oltp" }

[run]
warmup = "500 ms"
duration = "2 s"
replications = 1
"""
Ask = Callable[..., str]
Rows = list[dict[str, Any]]


@pytest.fixture(scope="module", autouse=True)
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("linux")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, text in (("kvm", KVM), ("power", POWER)):
            (folder / f"{name}.toml").write_text(text)
            assert call(["run", f"{name}.toml"]) == 0
        for example in ("xen-credit2", "rx7640-two-vpars"):
            assert call(["run", str(EXAMPLES / f"{example}.toml"), "-n", "1"]) == 0
        yield


def rows(ask: Ask, *words: str) -> Rows:
    found: Rows = json.loads(ask(*words, "--json"))
    return found


def metric(ask: Ask, run: str, partition: str, name: str) -> float:
    question = f"SELECT mean FROM summary WHERE metric = '{name}' AND partition = '{partition}'"
    (row,) = rows(ask, "sql", question, "-r", run)
    return float(row["mean"])


@pytest.mark.parametrize("words", [["-r", "kvm"], ["-r", "kvm", "-p", "vm", "-P", "ALL"]])
def test_the_times_of_a_processor_add_up(words: list[str], ask: Ask) -> None:
    for row in rows(ask, "mpstat", *words, "1"):
        assert sum(value for name, value in row.items() if name[0] == "%") == pytest.approx(100)
        assert min(value for name, value in row.items() if name[0] == "%") >= 0


def test_a_host_tells_of_its_groups_what_they_used(ask: Ask) -> None:
    (host,) = rows(ask, "mpstat", "-r", "kvm")
    groups = {row["Command"]: row for row in rows(ask, "pidstat", "-r", "kvm")}
    for name, row in groups.items():
        assert row["%CPU"] == pytest.approx(100 * metric(ask, "kvm", name, "physc"))
    used = sum(row["%CPU"] for row in groups.values())
    assert 100 - host["%idle"] == pytest.approx(used / 4)  # two cores of two threads
    assert host["%guest"] == pytest.approx(groups["vm"]["%guest"] / 4)
    assert groups["batch"]["%guest"] == 0 < groups["batch"]["%usr"]


def test_a_host_s_processors_are_known_where_dispatches_are(ask: Ask) -> None:
    Path("told.toml").write_text(f"{KVM}record_dispatches = true\n".replace('"kvm"', '"told"'))
    ask("run", "told.toml")
    found = rows(ask, "mpstat", "-r", "told", "-P", "ALL", "1")
    for whole, *each in (found[:5], found[5:]):
        assert [row["CPU"] for row in (whole, *each)] == ["all", "0", "1", "2", "3"]
        for name in ("%usr", "%sys", "%guest", "%idle"):
            assert sum(row[name] for row in each) / 4 == pytest.approx(whole[name], abs=1e-6)
    assert len(ask("mpstat", "-r", "told", "-P", "0", "1").splitlines()) == 10


def test_a_guest_is_stolen_what_its_host_says(ask: Ask) -> None:
    (row,) = rows(ask, "mpstat", "-r", "kvm", "-p", "vm")
    assert row["%steal"] == pytest.approx(metric(ask, "kvm", "vm", "steal_pct"), abs=0.1)
    (front,) = rows(ask, "mpstat", "-r", "power", "-p", "front")
    assert front["%steal"] > 0  # it waits at its cap
    lines = ask("mpstat", "-r", "power", "-p", "front").splitlines()
    assert lines[0] == "Linux 0 (front.example) \t01/01/00 \t_ppc64le_\t(4 CPU)"


def test_tools_agree_with_each_other(ask: Ask) -> None:
    (mpstat,), (vmstat,) = (rows(ask, tool, "-r", "kvm") for tool in ("mpstat", "vmstat"))
    assert vmstat["us"] == pytest.approx(mpstat["%usr"] + mpstat["%guest"])
    (usual,) = rows(ask, "sar", "-r", "kvm")
    (every,) = rows(ask, "sar", "-r", "kvm", "-u", "ALL")
    assert usual["%user"] == pytest.approx(every["%usr"] + every["%guest"]) == vmstat["us"]
    (queue,) = rows(ask, "sar", "-r", "kvm", "-q")
    assert queue["runq-sz"] == pytest.approx(vmstat["r"])
    (switches,) = rows(ask, "sar", "-r", "kvm", "-w")
    assert switches["cswch/s"] == pytest.approx(vmstat["cs"])


def test_guests_of_kvm_are_domains(ask: Ask) -> None:
    (told,) = rows(ask, "domstats", "-r", "kvm")
    used = 2e9 * metric(ask, "kvm", "vm", "physc")
    assert told["cpu.time"] == pytest.approx(used)
    assert told["cpu.user"] + told["cpu.system"] == told["cpu.time"]
    assert sum(told[f"vcpu.{n}.time"] for n in range(3)) == pytest.approx(told["cpu.time"])
    assert told["balloon.current"] == 8 << 20
    assert "  vcpu.current=3\n" in ask("domstats", "-r", "kvm")
    first, last = rows(ask, "virt-top", "-r", "kvm", "1")
    assert last["TIME"] == pytest.approx(used / 1e9)
    assert first["%CPU"] + last["%CPU"] == pytest.approx(2 * 100 * used / 2e9 / 4)
    assert "   ID S RDRQ WRRQ RXBY TXBY %CPU %MEM   TIME    NAME" in ask("virt-top", "-r", "kvm")


BALLOONED = """
name = "ballooned"

[machine]
model = "intel-xeon-6240-2s"

[[partition]]
name = "db"
processors = { mode = "shared", virtual = 2 }
memory = "16 GiB"
kvm = { balloon = "7 GiB", swapped = "3 GiB" }
guest = { os = "linux", memory_used = "75 %" }
workload = { kind = "users", count = 20, think = "50 ms", profile = { base = "oltp", \
instructions = 5000000, working_set = "6 GiB", working_set_touches = 0.00001, why = "an index" } }

[[partition]]
name = "plain"
processors = { mode = "shared", virtual = 2 }
memory = "4 GiB"
kvm = {}
workload = { kind = "loops", count = 1, profile = "compute", endless = true }

[run]
warmup = "500 ms"
duration = "2 s"
replications = 1
"""


def test_memory_that_a_guest_has_not_got(ask: Ask, tmp_path: Path) -> None:
    """16 GiB, of which its balloon has left 9; 6 of these are on the host, and a quarter of what
    its work touches is away in the guest: 12.5 pages of 4 KiB a transaction.
    """
    Path("ballooned.toml").write_text(BALLOONED)
    ask("run", "ballooned.toml")
    told, plain = rows(ask, "domstats", "-r", "ballooned")
    assert told["balloon.current"] == 9 << 20
    assert told["balloon.maximum"] == 16 << 20
    assert told["balloon.rss"] == 6 << 20
    assert told["balloon.unused"] == 0
    done = 2 * metric(ask, "ballooned", "db", "etr_per_s")
    assert told["balloon.swap_in"] == pytest.approx(12.5 * 4 * done, abs=5)
    assert told["balloon.major_fault"] == pytest.approx(12.5 * done, abs=1)
    assert plain["balloon.current"] == plain["balloon.maximum"] == 4 << 20
    assert "balloon.rss" not in plain
    shares = {row["NAME"]: row["%MEM"] for row in rows(ask, "virt-top", "-r", "ballooned", "2")}
    assert shares == {"db": pytest.approx(100 * 9 / 13), "plain": pytest.approx(100 * 4 / 13)}
    there = {row["name"]: row for row in rows(ask, "numastat", "-r", "ballooned")}
    for name, mib in (("db", 6 << 10), ("plain", 4 << 10)):
        assert sum(v for k, v in there[name].items() if k[:4] == "Node") == pytest.approx(mib)


@pytest.mark.parametrize("form", ["domstats", "libvirt"])
def test_a_balloon_is_read_again(form: str, ask: Ask, tmp_path: Path) -> None:
    """What it has left is taken to be all in use; what is swapped out is told by neither form."""
    Path("ballooned.toml").write_text(BALLOONED.replace('"ballooned"', f'"again-{form}"'))
    ask("run", "ballooned.toml")
    if form == "domstats":
        (tmp_path / "host.txt").write_text(ask("domstats", "-r", f"again-{form}"))
    else:
        ask("export", f"again-{form}", "--as", "libvirt", "-o", str(tmp_path / "xml"))
    found = assemble(read_paths([tmp_path]), AssembleOptions(convert=False)).scenario
    db, plain = sorted(found.partitions, key=lambda one: one.name)
    assert db.table.kvm is not None
    assert plain.table.kvm is not None
    assert (db.memory_bytes >> 30, db.table.kvm.balloon) == (16, 7 << 30)
    assert db.table.kvm.swapped is None
    assert 0 <= (9 << 30) - db.touched_bytes < 1 << 20
    assert (plain.memory_bytes >> 30, plain.table.kvm.balloon) == (4, None)


def test_no_balloon_is_made_of_memory_that_is_assumed(ask: Ask, tmp_path: Path) -> None:
    """What is left is less than can be told in MiB: that a guest has 4 GiB then is a guess."""
    Path("ballooned.toml").write_text(BALLOONED.replace('"ballooned"', '"nothing-left"'))
    ask("run", "ballooned.toml")
    told = ask("domstats", "-r", "nothing-left")
    assert f"balloon.current={9 << 20}" in told
    (tmp_path / "host.txt").write_text(told.replace(f"={9 << 20}", "=512"))
    found = assemble(read_paths([tmp_path]), AssembleOptions(convert=False)).scenario
    db = min(found.partitions, key=lambda one: one.name)
    assert db.table.kvm is not None
    assert db.table.kvm.balloon is None


def test_domains_of_xen(ask: Ask) -> None:
    heavy, light, capped = rows(ask, "xentop", "-r", "xen-credit2")
    assert heavy["CPU(%)"] == pytest.approx(2 * light["CPU(%)"], rel=0.05)
    assert capped["CPU(%)"] == pytest.approx(50, abs=0.5)
    head, *lines = ask("xentop", "-r", "xen-credit2").splitlines()
    assert head.split()[:4] == ["NAME", "STATE", "CPU(sec)", "CPU(%)"]
    assert {len(line) for line in lines} == {len(head)}
    (in_it,) = rows(ask, "mpstat", "-r", "xen-credit2", "-p", "capped")
    assert in_it["%usr"] + in_it["%sys"] == pytest.approx(12.5, abs=0.2)  # half of one of four


def test_memory_lies_on_nodes(ask: Ask) -> None:
    told = rows(ask, "numastat", "-r", "kvm")
    assert [sum(v for k, v in row.items() if k[:4] == "Node") for row in told] == [8192, 4096]
    assert ask("numastat", "-r", "kvm").splitlines()[-1].split()[-1] == "12288"


def test_sar_of_hp_ux(ask: Ask) -> None:
    told = rows(ask, "sar", "-r", "rx7640-two-vpars", "-p", "shop", "-M")
    assert [row["cpu"] for row in told] == ["0", "1", "2", "3", "system"]
    assert sum(told[-1][name] for name in ("%usr", "%sys", "%wio", "%idle")) == pytest.approx(100)
    shown = ask("sar", "-r", "rx7640-two-vpars", "-p", "shop", "1", "2").splitlines()
    assert shown[3] == "00:00:00    %usr    %sys    %wio   %idle"
    assert shown[-1].startswith("Average ")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("mpstat -r kvm -P ALL", "record_dispatches = true"),
        ("mpstat -r kvm -p batch", "is a group of processes of the host"),
        ("mpstat -r kvm -p vm -P 7", "there are 0 to 2"),
        ("mpstat -r kvm -o XML", "-o knows JSON, not XML"),
        ("sar -r kvm -u -q", "exclude each other"),
        ("sar -r kvm -d", "memory, devices and networks are not modelled"),
        ("vmstat -r kvm 700", "were asked for"),
        ("domstats -r kvm -p batch", "guests are vm"),
        ("xentop -r kvm", "is of a host of Linux"),
        ("mpstat -r xen-credit2", "Xen dispatches the processors"),
        ("virt-top -r xen-credit2", "see `homenode xentop`"),
        ("pidstat -r power", "no Linux host"),
        ("lparstat -r power -p front", "are shown as AIX prints them"),
        ("mpstat -r power", "name one of front, aix"),
        ("mpstat -r rx7640-two-vpars -p shop", "runs HP-UX"),
        ("sar -r rx7640-two-vpars -p shop -u -q", "exclude each other"),
    ],
)
def test_what_cannot_be_shown_is_refused(
    words: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(words.split()) == 2
    assert told in capsys.readouterr().err
