"""virsh domstats, looked at again and again; recordings of hyptop of older and newer levels."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

pytest.importorskip("homenode._engine", reason="the compiled engine is not installed")

from homenode.records.importing.assemble import AssembleOptions, assemble
from homenode.records.importing.facts import Facts
from homenode.records.importing.front import read_paths

LOOKS = Path(__file__).resolve().parent / "samples" / "domstats" / "looks.txt"
SEEDS = Path(__file__).resolve().parents[2] / "fuzz" / "seeds"


def imported(tmp_path: Path, text: str) -> Facts:
    (tmp_path / "looks.txt").write_text(text)
    return read_paths([tmp_path / "looks.txt"])


def test_use_is_what_virtual_processors_ran_between_looks() -> None:
    facts = read_paths([LOOKS])
    assert [one.partition for one in facts.series] == ["db1", "web1"]
    for series in facts.series:
        # As awk would sum them: vcpu.N.time beneath each line of the domain.
        parts = LOOKS.read_text().split(f"Domain: '{series.partition}'")[1:]
        totals = [
            sum(map(int, re.findall(r"vcpu\.\d+\.time=(\d+)", part.split("Domain:")[0])))
            for part in parts
        ]
        used = [(late - early) / 1e10 for early, late in pairwise(totals)]
        assert series.table["cores"].to_list() == pytest.approx(used)
        assert series.table["seconds"].to_list() == [10.0, 10.0]
    db1 = facts.partitions[None, "db1"]
    assert db1.virtual is not None
    assert db1.memory_bytes is not None
    assert (db1.virtual.value, db1.memory_bytes.value) == (2, 8 << 30)
    assert db1.maximum["virtual"].value == 4.0
    assert "left out: old" in str(facts.notices[0])
    made = assemble(facts, AssembleOptions(convert=False))
    assert "xeon" in made.scenario.machine.name


def test_xml_of_the_same_domain_counts_beside(tmp_path: Path) -> None:
    xml = "<domain type='kvm'><name>db1</name><vcpu>2</vcpu><cputune><shares>2048</shares>"
    (tmp_path / "db1.xml").write_text(f"{xml}</cputune></domain>")
    (tmp_path / "looks.txt").write_bytes(LOOKS.read_bytes())
    db1 = read_paths([tmp_path]).partitions[None, "db1"]
    assert db1.weight is not None
    assert db1.hypervisor is not None
    assert (db1.weight.value, db1.hypervisor.value) == (2048, "kvm")


@pytest.mark.parametrize(
    "stamp",
    [
        "2026-06-01T12:00:%02d+02:00",
        "Mon Jun  1 10:00:%02d UTC 2026",
        "Mon 1 Jun 10:00:%02d CEST 2026",
    ],
)
def test_times_as_date_prints_them(tmp_path: Path, stamp: str) -> None:
    text = LOOKS.read_text()
    for number in range(3):
        text = text.replace(str(1_780_308_000 + 10 * number), stamp % (10 * number))
    facts = imported(tmp_path, text)
    assert facts.series[0].table["cores"].to_list() == pytest.approx([1.2, 0.15])


@pytest.mark.parametrize("current", ["", "  balloon.current=0\n"])
def test_without_a_usable_balloon_its_most_is_the_memory(tmp_path: Path, current: str) -> None:
    text = re.sub(r" +balloon\.current=.*\n", current, LOOKS.read_text())
    facts = imported(tmp_path, text)
    db1 = facts.partitions[None, "db1"]
    assert db1.memory_bytes is not None
    assert db1.memory_bytes.value == 16 << 30
    told = [str(one) for one in facts.notices if "db1: no balloon.current" in str(one)]
    assert len(told) == 1
    # Where somebody else tells the memory, nothing is assumed.
    xml = "<domain type='kvm'><name>db1</name><memory unit='GiB'>6</memory></domain>"
    (tmp_path / "db1.xml").write_text(xml)
    both = read_paths([tmp_path])
    memory = both.partitions[None, "db1"].memory_bytes
    assert memory is not None
    assert memory.value == 6 << 30


def test_looks_without_times_tell_no_use(tmp_path: Path) -> None:
    facts = imported(tmp_path, re.sub(r"^1780\d+$", "", LOOKS.read_text(), flags=re.MULTILINE))
    assert not facts.series
    (told,) = (one for one in facts.notices if "date +%s" in one.text)
    assert told.where is not None
    once = imported(tmp_path, LOOKS.read_text().split("1780308010")[0])
    assert any("take several" in one.text for one in once.notices)


def test_a_domain_that_was_started_anew_costs_a_sample(tmp_path: Path) -> None:
    text = LOOKS.read_text().replace("vcpu.1.time=344360000000", "vcpu.1.time=44360000000")
    facts = imported(tmp_path, text)
    assert facts.took[0].dropped == 1
    assert facts.series[0].table.height == 1


@pytest.mark.parametrize(
    ("name", "cores"), [("older", [0.5476, 1.5476]), ("newer", [2.825, 2.005])]
)
def test_levels_of_hyptop(name: str, cores: list[float]) -> None:
    facts = read_paths([SEEDS / "hyptop" / f"{name}.txt"])
    assert facts.series[0].table["cores"].to_list() == pytest.approx(cores)
    assert facts.took[0].dropped == 0
    system = facts.systems[name]
    assert system.hypervisor is not None
    assert (system.hypervisor.value, len(facts.series)) == ("pr/sm", 2)
    assert system.types["ifl"].value == (18 if name == "older" else 159)
