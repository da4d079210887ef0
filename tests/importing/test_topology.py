"""Topologies: the recorded hosts give the recorded text, byte for byte; facts are told with their
place; what is damaged is left out and named.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner

from homenode.cli.app import app
from homenode.records.importing import AssembleOptions, import_paths
from homenode.records.importing.facts import Facts
from homenode.records.importing.front import read_paths
from homenode.records.importing.hosts import hosts
from homenode.records.importing.opening.sources import ListingError

RECORDED = Path(__file__).resolve().parents[3] / "shared" / "captures"
CONSOLES = ("128ia64-17n4s2c", "20s390-2g6s4c", "256ppc-8n8s4t")

CPUS = 8
SUMMARY = """\
Architecture:           ppc64le
CPU(s):                 8
  On-line CPU(s) list:  0-7
Model name:             POWER9 (architected), altivec supported
  Thread(s) per core:   4
  Core(s) per socket:   1
  Socket(s):            2
  CPU max MHz:          3800.0000
Virtualization features:
  Hypervisor vendor:    pHyp
Caches (sum of all):
  L1d:                  64 KiB (2 instances)
NUMA:
  NUMA node(s):         2
  NUMA node0 CPU(s):    0-3
  NUMA node1 CPU(s):    4-7
"""


def recorded(name: str) -> Path:
    """A recording, or a loud skip."""
    path = RECORDED / name
    if not path.exists():
        pytest.skip(f"the recording {name} is not here: {RECORDED} is kept apart from the project")
    return path


def host_files(threads: int = 2) -> dict[str, str]:
    """A made-up bare host of two packages: 8 processors, so many to a core."""
    files = {"proc/hwloc-nofile-info": "HostName: lab1\nArchitecture: x86_64\n"}
    for cpu in range(CPUS):
        first, package = cpu // threads * threads, cpu // 4
        topology = f"sys/devices/system/cpu/cpu{cpu}/topology"
        files[f"{topology}/core_id"] = f"{first}\n"
        files[f"{topology}/physical_package_id"] = f"{package}\n"
        files[f"{topology}/thread_siblings_list"] = f"{first}-{first + threads - 1}\n"
        files[f"{topology}/core_siblings_list"] = f"{package * 4}-{package * 4 + 3}\n"
    for node in range(2):
        folder = f"sys/devices/system/node/node{node}"
        files[f"{folder}/cpulist"] = f"{node * 4}-{node * 4 + 3}\n"
        files[f"{folder}/meminfo"] = f"Node {node} MemTotal: 2097152 kB\n"
        files[f"{folder}/distance"] = "10 21\n" if node == 0 else "21 10\n"
    return files


def folder_of(files: Mapping[str, str], place: Path) -> Path:
    """Files in a folder."""
    for name, text in files.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return place


def facts_of(text: str, tmp_path: Path, name: str = "host.txt") -> Facts:
    """What a file says."""
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read_paths([path])


@pytest.mark.parametrize("name", CONSOLES)
def test_recorded_hosts_are_printed_as_lstopo_printed_them(name: str) -> None:
    """Byte for byte, from the archive as it was recorded."""
    archive, text = recorded(f"hwloc/{name}.tar.bz2"), recorded(f"hwloc/{name}.console")
    answer = CliRunner().invoke(app, ["topology", str(archive)])
    assert answer.exit_code == 0
    assert answer.stdout == text.read_text(encoding="utf-8")


def test_recorded_xml_of_version_3_is_read() -> None:
    """All of its objects and all four matrices."""
    (host,) = hosts([recorded("hwloc/16amd64-4distances.xml")])
    assert host.loaded.dropped == 0
    assert host.loaded.in_words() == (
        "2 Group, 8 Package, 16 L2, 16 L1d, 16 L1i, 16 Core, 16 PU, 8 NUMANode"
    )
    assert [matrix["of"] for matrix in host.loaded.host["topology"]["distances"]] == [
        "NUMANode",
        "Package",
        "PU",
        "Core",
    ]


def test_recorded_lscpu_tells_the_same_cores_as_the_dump_it_was_made_of() -> None:
    """The first table of the text against the files."""
    (dump,) = hosts([recorded("lscpu/s390-lpar.tar.gz")])
    (text,) = hosts([recorded("lscpu/s390-lpar.expected")])

    def cores(host: object) -> set[str]:
        lines = host.loaded.console().splitlines()  # type: ignore[attr-defined]
        return {line.strip().split("(")[1] for line in lines if " PU L#" in line}

    assert cores(dump) == cores(text)
    assert len(cores(dump)) == 17
    assert "3 processors not represented in topology: 0x000000c1" in dump.loaded.console()


def test_recorded_guests_are_told_as_partitions() -> None:
    """With the name, the processors and the machine that their dumps say."""
    facts = read_paths([recorded("lscpu/ppc64-POWER7-64cpu.tar.gz")])
    partition = facts.partitions["gcc", "gcc"]
    assert partition.virtual is not None
    assert partition.smt is not None
    assert (partition.virtual.value, partition.smt.value) == (16, 4)
    system = facts.systems["gcc"]
    assert system.model is not None
    assert system.model.value == "8231-E2B"
    assert facts.topologies[0].virtual


def test_a_dump_of_a_bare_host_is_a_topology_of_hardware(tmp_path: Path) -> None:
    """With memory, distances and its place; the host is a partition on all its cores."""
    facts = read_paths([folder_of(host_files(), tmp_path / "host")])
    (topology,) = facts.topologies
    assert not topology.virtual
    assert topology.system == "lab1"
    assert topology.distances == ((10.0, 21.0), (21.0, 10.0))
    partition = facts.partitions["lab1", "lab1"]
    assert partition.mode is not None
    assert partition.virtual is not None
    assert (partition.mode.value, partition.virtual.value) == ("dedicated", 4)
    assert {node: told.value for node, told in partition.memory_by_node.items()} == {
        0: 2 << 30,
        1: 2 << 30,
    }
    (took,) = facts.took
    assert took.what == "2 Package, 4 Core, 8 PU, 2 NUMANode"


def test_hosts_without_names_are_partitions_only_if_nothing_else_names_one(tmp_path: Path) -> None:
    """For they may be those that the other recordings are of."""
    alone = facts_of(SUMMARY, tmp_path, "web7.txt")
    assert list(alone.partitions) == [("web7", "web7")]
    folder = folder_of(host_files(), tmp_path / "host")
    both = read_paths([tmp_path / "web7.txt", folder])
    assert list(both.partitions) == [("lab1", "lab1")]
    assert len(both.topologies) == 2


def test_the_same_host_in_a_folder_and_in_an_archive(tmp_path: Path) -> None:
    """Prints the same."""
    folder = folder_of(host_files(), tmp_path / "host")
    archive = tmp_path / "host.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(folder, "host")
    (one,), (other,) = hosts([folder]), hosts([archive])
    assert one.loaded.console() == other.loaded.console()


def test_damaged_files_of_a_dump_are_named(tmp_path: Path) -> None:
    """The path, and what they would have said."""
    files = host_files()
    damaged = "sys/devices/system/cpu/cpu0/topology/core_siblings_list"
    files[damaged] = "0-3,x\n"
    facts = read_paths([folder_of(files, tmp_path / "host")])
    assert facts.took[0].dropped == 1
    assert any("cpu0/topology" in str(notice) for notice in facts.notices)


def test_a_dump_without_processors_is_left_with_a_reason(tmp_path: Path) -> None:
    """Not a crash, and what to do."""
    folder = folder_of({"proc/cpuinfo": "nothing\n"}, tmp_path / "host")
    facts = read_paths([folder])
    assert facts.took == []
    assert "no processors" in facts.left[0].why


def test_lscpu_is_read_as_text_of_new_versions(tmp_path: Path) -> None:
    """Indented, with headings and caches without the word."""
    facts = facts_of(SUMMARY, tmp_path)
    (topology,) = facts.topologies
    assert topology.virtual
    assert facts.took[0].what == (
        "2 Package, 2 L1d, 2 Core, 8 PU, 2 NUMANode, as a guest of PowerVM sees it"
    )
    sizes = [one.attributes["size"] for one in topology.root.walk() if one.kind == "L1d"]
    assert sizes == [32 << 10, 32 << 10]


def test_a_cut_off_summary_says_so(tmp_path: Path) -> None:
    """A number at its end may be shorter than it was."""
    facts = facts_of(SUMMARY[:-2], tmp_path)
    assert any("cut off" in notice.text for notice in facts.notices)


def test_other_xml_is_no_topology(tmp_path: Path) -> None:
    """Also if it speaks of one."""
    facts = facts_of("<html><topology/></html>", tmp_path, "page.xml")
    assert facts.took == []
    assert "no format" in facts.left[0].why


def test_a_summary_without_a_tree_cannot_be_printed(tmp_path: Path) -> None:
    """The message says which numbers do not fit."""
    path = tmp_path / "lscpu.txt"
    path.write_text(SUMMARY.replace("Socket(s):            2", "Socket(s):            3"))
    answer = CliRunner().invoke(app, ["topology", str(path)])
    assert isinstance(answer.exception, ListingError)
    assert "3 x 1 x 4" in str(answer.exception)


def test_nothing_to_print_names_what_was_given(tmp_path: Path) -> None:
    """And what could be given."""
    path = tmp_path / "note.txt"
    path.write_text("hello\n")
    answer = CliRunner().invoke(app, ["topology", str(path)])
    assert isinstance(answer.exception, ListingError)
    assert "note.txt" in str(answer.exception)
    assert "hwloc XML" in str(answer.exception)


def test_xml_of_a_dump_is_read_back_the_same(tmp_path: Path) -> None:
    """`--xml`, then the text again."""
    folder = folder_of(host_files(), tmp_path / "host")
    answer = CliRunner().invoke(app, ["topology", str(folder), "--xml"])
    path = tmp_path / "host.xml"
    path.write_text(answer.stdout, encoding="utf-8")
    (one,), (other,) = hosts([folder]), hosts([path])
    tree = [line for line in one.loaded.console().splitlines() if "Topology infos" not in line]
    back = other.loaded.console().splitlines()
    assert back[1:] == tree[1:]


def test_recognition_does_not_go_back_over_comments(tmp_path: Path) -> None:
    """A text of nothing but comments is answered at once."""
    text = "<!-- a --> " * 5000 + "<b/>"
    facts = facts_of(text, tmp_path, "comments.xml")
    assert facts.took == []


def test_a_damaged_archive_gives_the_host_that_is_in_it(tmp_path: Path) -> None:
    """The members before the damage."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        for name, text in host_files().items():
            member = tarfile.TarInfo(f"host/{name}")
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text.encode()))
    path = tmp_path / "cut.tar"
    path.write_bytes(stream.getvalue()[:-9000])
    facts = read_paths([path])
    assert facts.took
    assert facts.topologies


def test_a_host_whose_hypervisor_nothing_tells_says_so() -> None:
    seed = Path(__file__).resolve().parents[2] / "fuzz" / "seeds" / "lscpu" / "parsable.txt"
    text = import_paths([seed], AssembleOptions(convert=False)).text
    assert "kvm = {}  # assumed: no hypervisor is told" in text
    assert "None" not in text


def test_cores_of_several_kinds_are_a_host() -> None:
    seed = Path(__file__).resolve().parents[2] / "fuzz" / "seeds" / "lscpu" / "kinds.txt"
    made = import_paths([seed], AssembleOptions(convert=False))
    assert made.scenario.machine.cores == 8


def test_a_dump_whose_firmware_is_a_hypervisor_s_is_a_guest(tmp_path: Path) -> None:
    # Flags of the processor say so only where proc/cpuinfo is whole.
    files = host_files() | {
        "sys/class/dmi/id/sys_vendor": "QEMU",
        "sys/class/dmi/id/product_name": "Standard PC (Q35 + ICH9, 2009)",
    }
    facts = read_paths([folder_of(files, tmp_path / "guest")])
    (topology,) = facts.topologies
    assert topology.virtual
    (system,) = facts.systems.values()
    assert system.hypervisor is not None
    assert system.hypervisor.value == "qemu"
    assert "as a guest of QEMU sees it" in facts.took[0].what


CPUINFO = Path(__file__).resolve().parent / "samples" / "cpuinfo"


@pytest.mark.parametrize(
    ("name", "architecture", "shape"),
    [
        ("x86", "x86_64", (2, 4, 8)),
        ("power", "power", (0, 0, 16)),
        ("z", "s390x", (2, 4, 8)),
        ("arm", "aarch64", (0, 0, 4)),
    ],
)
def test_cpuinfo_alone_is_a_host(name: str, architecture: str, shape: tuple[int, int, int]) -> None:
    facts = read_paths([CPUINFO / name])
    every = list(facts.topologies[0].root.walk())
    kinds = ("Package", "Core", "PU")
    assert tuple(sum(one.kind == kind for one in every) for kind in kinds) == shape
    told = facts.systems[name].architecture
    assert told is not None
    assert told.value == architecture
    said = any("threads of one core" in one.text for one in facts.notices)
    assert said == (shape[1] == 0)
    # As awk counts them: '/^processor[ \t]*:/', and on Z the numbers of processors.
    lines = (CPUINFO / name).read_text().splitlines()
    starts = ("cpu number",) if name == "z" else ("processor\t:",)
    assert sum(line.startswith(starts) for line in lines) == shape[2]


def test_cpuinfo_makes_a_machine_of_its_own() -> None:
    made = import_paths([CPUINFO / "x86"])
    assert 'file = "machine.toml"' in made.text
    assert made.scenario.machine.threads_per_core == 2
