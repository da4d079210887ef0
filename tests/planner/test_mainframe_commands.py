"""What brings a layout of z/VM about: complete, in order, and of the z/VM that changes."""

from __future__ import annotations

from pathlib import Path

from homenode.planner.commands import commands
from homenode.simulate.scenario import Scenario

ZVM = """
[[partition]]
name = "{name}"
processors = {{ mode = "dedicated", cores = 4, type = "ifl" }}
memory = "16 GiB"
guest = {{ os = "zvm", unparking = "{unparking}" }}
workload = {{ kind = "web", profile = "web-small", file = "8 KiB", files = 2 }}

[[partition.switch]]
name = "{name}"
count = {tiles}
layer = {layer}

[[partition.virtual_machine]]
name = "c"
count = {each}
memory = "1 GiB"
role = "client"
switch = "{name}"

[[partition.virtual_machine]]
name = "s"
count = {each}
memory = "1 GiB"
role = "server"
switch = "{name}"
"""
HEAD = """\
name = "two"

[machine]
model = "ibm-z14"

[run]
warmup = "1 ms"
duration = "2 ms"
replications = 1
"""


def layout(*, layer: int = 3, tiles: int = 2, unparking: str = "large", machines: int = 6) -> str:
    """Of two z/VMs the first one; the other one parks."""
    one = {"name": "one", "tiles": tiles, "each": machines // tiles}
    other = {"name": "two", "tiles": 1, "each": 1, "layer": 2, "unparking": "small"}
    first = ZVM.format(**one, layer=layer, unparking=unparking)
    return HEAD + first + ZVM.format(**other)


def between(before: str, after: str, out: Path) -> list[str]:
    runs = [
        Scenario.from_toml(text).run(out=out / str(at)) for at, text in enumerate((before, after))
    ]
    return [*commands(*runs, [])]


def test_a_switch_of_another_layer_is_made_anew_with_all_who_may_couple(tmp_path: Path) -> None:
    told = between(layout(layer=3), layout(layer=2), tmp_path)
    for tile in ("ONE1", "ONE2"):
        detach, define = f"DETACH VSWITCH {tile}", f"DEFINE VSWITCH {tile} ETHERNET RDEV NONE"
        assert told.index(define) == told.index(detach) + 1
        grants = [line for line in told if line.startswith(f"SET VSWITCH {tile} GRANT ")]
        assert len(grants) == 6
        assert told.index(grants[0]) > told.index(define)
    assert any("COUPLE 0600" in line for line in told)
    assert not any("TWO" in line for line in told)  # nothing of the other one changes


def test_each_machine_that_moves_is_told_its_switch(tmp_path: Path) -> None:
    """Others were on that switch before, by the same statement."""
    told = between(layout(tiles=2), layout(tiles=3), tmp_path)
    users = [told[at - 1].split()[1] for at, line in enumerate(told) if line.startswith(" NICDEF")]
    assert users == ["C3", "C5", "C6", "S3", "S5", "S6"]
    assert "DEFINE VSWITCH ONE3 IP RDEV NONE" in told
    assert not any(line.startswith("DETACH") for line in told)
    back = between(layout(tiles=3), layout(tiles=2), tmp_path)
    assert back[-1] == "DETACH VSWITCH ONE3"


def test_what_another_zvm_has_is_said_of_this_one_too(tmp_path: Path) -> None:
    told = between(layout(), layout(unparking="small"), tmp_path)
    assert [line for line in told if not line.startswith("*")] == ["SET SRM UNPARKING SMALL"]


def test_machines_that_are_no_more_are_named(tmp_path: Path) -> None:
    told = between(layout(), layout(machines=4), tmp_path)
    assert told[-1] == "* No longer needed: C5, C6, S5, S6"


def test_a_pool_that_is_there_is_set_and_a_new_one_defined(tmp_path: Path) -> None:
    pool = '[[partition.cpu_pool]]\nname = "{}"\ncapacity = {}\n\n'
    member, last = 'role = "client"\n', "[[partition.switch]]"
    before = layout().replace(last, pool.format("web", 2) + last, 1)
    before = before.replace(member, f'{member}cpu_pool = "web"\n', 1)
    after = before.replace("capacity = 2", "capacity = 3", 1)
    lines = between(before, after, tmp_path / "set")
    assert [line for line in lines if "POOL" in line] == ["SET CPUPOOL WEB CAPACITY 3.00 TYPE IFL"]
    lines = between(layout(), before, tmp_path / "new")
    assert [line for line in lines if line.startswith(("DEFINE CPU", "SCHEDULE"))] == [
        "DEFINE CPUPOOL WEB CAPACITY 2.00 TYPE IFL",
        *(f"SCHEDULE C{at} WEB" for at in range(1, 7)),
    ]
