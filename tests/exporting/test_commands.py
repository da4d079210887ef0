"""Commands that would bring a layout about, and libvirt's domains."""

from __future__ import annotations

import shlex
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from homenode import Run
from homenode.records.exporting import ExportError, ExportOptions, export, text
from homenode.records.exporting.hmc import created
from homenode.records.exporting.vpars import changed
from homenode.simulate.scenario import Scenario

ALIKE = """
[machine]
model = "ibm-z14"

[[partition]]
name = "zvm"
processors = { mode = "dedicated", cores = 2, type = "ifl" }
memory = "16 GiB"
guest = { os = "zvm" }
workload = { kind = "web", profile = "web-small", file = "8 KiB", files = 2, think = "1 ms" }

[[partition.switch]]
name = "web"
layer = 2

[[partition.virtual_machine]]
name = "web"
memory = "1 GiB"
role = "client"
switch = "web"

[[partition.virtual_machine]]
name = "Web"
memory = "1 GiB"
role = "server"
switch = "web"

[run]
warmup = "10 ms"
duration = "20 ms"
replications = 1
"""


def domain(run: Run, folder: Path, partition: str) -> ET.Element:
    file = folder / f"{partition}.xml"
    export(run, "libvirt", file, ExportOptions(partition=partition))
    return ET.parse(file).getroot()


def profiles(told: str) -> dict[str, dict[str, str]]:
    """Attributes by partition of all chsyscfg commands."""
    found = {}
    for line in told.splitlines():
        words = shlex.split(line)
        if words[:1] == ["chsyscfg"]:
            pairs = dict(pair.split("=", 1) for pair in words[words.index("-i") + 1].split(","))
            found[pairs["lpar_name"]] = pairs
    return found


def test_hmc_profiles_hold_what_was_simulated(kept: Run) -> None:
    told = profiles(text(kept, "hmc"))
    assert list(told) == kept.partitions
    shop = told["shop"]
    assert shop["proc_mode"] == "shared"
    assert shop["sharing_mode"] == "uncap"
    assert shop["uncap_weight"] == "200"
    assert shop["desired_proc_units"] == "1.30"
    assert shop["desired_procs"] == "4"
    assert shop["desired_mem"] == "16384"
    night = told["night"]
    assert night["sharing_mode"] == "cap"
    assert night["shared_proc_pool_name"] == "development"
    assert "uncap_weight" not in night
    database = told["database"]
    assert database["proc_mode"] == "ded"
    assert database["sharing_mode"] == "share_idle_procs_active"
    assert database["desired_procs"] == "2"
    assert not [name for name in database if "units" in name or "pool" in name]


def test_hmc_profiles_that_are_there_keep_the_limits_that_are_not_told(kept: Run) -> None:
    for attributes in profiles(text(kept, "hmc")).values():
        assert not [name for name in attributes if name.startswith(("min_", "max_"))]
    # A first profile has to have all three.
    line = next(created(kept, ["shop"]))
    words = shlex.split(line)
    told = dict(pair.split("=", 1) for pair in words[words.index("-i") + 1].split(","))
    assert [told[f"{word}_procs"] for word in ("min", "desired", "max")] == ["4", "4", "4"]
    assert [told[f"{word}_mem"] for word in ("min", "desired", "max")] == ["16384"] * 3
    assert told["max_proc_units"] == "1.30"


def test_hmc_pools_and_optimizer(kept: Run) -> None:
    told = text(kept, "hmc")
    assert 'new_name=development,max_pool_proc_units=4.00,reserved_pool_proc_units=0.00"' in told
    assert 'optmem -m "$SYSTEM" -o start -t affinity -p database,shop,night,web' in told
    assert "# web: ppc64_cpu --smt=4" in told
    activated = [line for line in told.splitlines() if line.startswith("chsysstate")]
    assert [shlex.split(line)[8] for line in activated] == ["database", "shop", "web", "night"]


def test_hmc_text_is_sound_shell(kept: Run, tmp_path: Path) -> None:
    """Every word of it is understood by a shell: the commands are only replaced by echo."""
    script = tmp_path / "layout.sh"
    names = ("chsyscfg", "chhwres", "chsysstate", "optmem", "lsmemopt")
    stand_ins = "".join(f'{name}() {{ echo "{name}"; }}\n' for name in names)
    script.write_text(stand_ins + text(kept, "hmc"), encoding="utf-8")
    done = subprocess.run(["sh", "-eu", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split().count("chsyscfg") == 4


def test_hmc_takes_one_partition(kept: Run) -> None:
    told = text(kept, "hmc", ExportOptions(partition="web"))
    assert list(profiles(told)) == ["web"]
    assert "procpool" not in told


def test_vpars_by_cell(kept_hp: Run) -> None:
    told = [line for line in text(kept_hp, "vpars").splitlines() if line.startswith("vpar")]
    assert told[0] == (
        "vparmodify -p shop -m cpu:::1:8 -a cell:0:cpu::4 -a mem::4096:base "
        "-a cell:0:mem::12288:base -a cell:0:mem::8192:floating -a io:0.0"
    )
    assert "-a cell:1:cpu::4" in told[1]


def test_vpars_names_the_granules_once(kept_hp: Run) -> None:
    """They are set when the database is made, with the first partition, and in the firmware."""
    lines = [line for line in text(kept_hp, "vpars").splitlines() if "vparcreate -p" in line]
    assert lines[0].endswith("vparcreate -p shop -g ILM:1024:y -g CLM:1024:y")
    assert len(lines) == 2
    assert " -g " not in lines[1]


def test_vpars_take_away_before_they_add(kept_hp: Run, tmp_path: Path) -> None:
    """Memory of `orders` moves to its cores: what is added forth is taken away back."""
    memory = [{"size": "24 GiB", "on": "cell1"}, {"size": "8 GiB", "on": "interleaved"}]
    base = Scenario.load(kept_hp.path / "scenario.toml")
    other = base.with_({"partition.orders.memory": memory}).run(out=tmp_path)
    forth, back = [*changed(kept_hp, other)], [*changed(other, kept_hp)]
    assert [line.split()[2] for line in forth[1:]] == ["orders", "orders"]
    assert "must be down" in forth[0]
    for first, second in (forth[1:], back[1:]):
        assert set(first.split()[3::2]) == {"-d"}
        assert set(second.split()[3::2]) == {"-a"}
    assert forth[1] == back[2].replace("-a ", "-d ")
    assert forth[2] == back[1].replace("-d ", "-a ")
    assert "cell:1:mem::" in forth[2]
    assert not any("-a io" in line or "cpu" in line for line in forth)
    assert [*changed(other, other)] == []
    own = {"mode": "dedicated", "cores": 4, "paths": ["1.10", "1.11"]}
    by_path = base.with_({"partition.orders.processors": own}).run(out=tmp_path)
    with pytest.raises(ExportError, match="asked for by path"):
        [*changed(kept_hp, by_path)]


def test_zvm_commands_and_directory(kept_z: Run) -> None:
    told = text(kept_z, "zvm").splitlines()
    for line in (
        "*   processing weight 300, not capped",
        "*   group guests, absolute cap 8.00 cores together",
        "SET SRM POLARIZATION VERTICAL",
        "SET SRM UNPARKING MEDIUM",
        "SET SRM CPUPAD TYPE IFL 100%",
        "DEFINE VSWITCH LAN ETHERNET RDEV NONE",
        "SET VSWITCH LAN GRANT SERVER6",
        "SET SHARE SERVER6 RELATIVE 100",
        "USER CLIENT2 AUTOONLY 1G 1G G",
        " NICDEF 0600 TYPE QDIO LAN SYSTEM LAN",
    ):
        assert line in told, line
    assert sum(line.startswith("USER ") for line in told) == 8


def test_zvm_of_a_partition_with_linux_is_its_profile(kept_z: Run) -> None:
    told = text(kept_z, "zvm", ExportOptions(partition="trial")).splitlines()
    assert "*   absolute cap 4.00 cores" in told
    assert all(line.startswith("*") or not line for line in told)


def test_domain_of_a_shared_partition(kept: Run, tmp_path: Path) -> None:
    root = domain(kept, tmp_path, "shop")
    assert root.findtext("vcpu") == "16"
    assert root.findtext("cputune/shares") == "130"
    assert root.find("cputune/global_quota") is None
    assert root.findtext("memory") == str(16 << 20)
    assert sum(int(cell.get("memory", 0)) for cell in root.iterfind("cpu/numa/cell")) == 16 << 20
    home = kept.partition_spec("shop")["home"]
    threads = {pin.get("cpuset") for pin in root.iterfind("cputune/vcpupin")}
    assert threads == {f"{32 * home[0]}-{32 * home[0] + 31}"}


def test_domain_of_a_capped_partition_has_a_quota(kept: Run, tmp_path: Path) -> None:
    root = domain(kept, tmp_path, "night")
    period, quota = (root.findtext(f"cputune/global_{name}") for name in ("period", "quota"))
    assert (period, quota) == ("100000", "100000"), "half a core of two threads"


def test_domain_of_dedicated_cores_is_pinned(kept: Run, tmp_path: Path) -> None:
    root = domain(kept, tmp_path, "database")
    cores = kept.partition_spec("database")["processors"]["cores"]
    smt = kept.partition_spec("database")["smt"]
    pins = [pin.get("cpuset") for pin in root.iterfind("cputune/vcpupin")]
    assert pins == [str(4 * core + thread) for core in cores for thread in range(smt)]
    assert {node.get("mode") for node in root.iterfind("numatune/memnode")} == {"strict"}


def test_domain_of_a_mainframe_has_no_nodes_nor_threads(kept_z: Run, tmp_path: Path) -> None:
    """KVM on IBM Z takes a domain with either for an error."""
    spec = kept_z.partition_spec("trial")
    assert spec["smt"] == 2
    root = domain(kept_z, tmp_path, "trial")
    shape = root.find("cpu/topology")
    assert shape is not None
    assert (shape.get("cores"), shape.get("threads")) == (root.findtext("vcpu"), "1")
    assert len(root.findall("cputune/vcpupin")) == 16
    assert root.find("cpu/numa") is None
    assert root.find("numatune/memnode") is None
    assert root.find("numatune/memory") is not None


def test_zvm_refuses_names_that_are_one_to_it(simulated: Callable[[str], Run]) -> None:
    run = simulated(ALIKE)
    with pytest.raises(ExportError, match="cannot tell web from Web"):
        text(run, "zvm")


def test_text_without_room_for_it_is_told(kept: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere")
    with pytest.raises(ExportError, match="no temporary file can be written"):
        text(kept, "hmc")


def test_forms_refuse_other_machines(kept: Run, kept_z: Run, kept_hp: Run, tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="no HMC partitions"):
        text(kept_z, "hmc")
    with pytest.raises(ExportError, match="holds no virtual partitions"):
        text(kept, "vpars")
    with pytest.raises(ExportError, match="no IBM Z"):
        text(kept_hp, "zvm")
    with pytest.raises(ExportError, match="KVM does not run on"):
        export(kept_hp, "libvirt", tmp_path / "domains")
    with pytest.raises(ExportError, match="runs z/VM"):
        export(kept_z, "libvirt", tmp_path / "domains")
    assert not (tmp_path / "domains").exists()
