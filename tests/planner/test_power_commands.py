"""What a Power server's console is told, and what it can only be asked for."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import layouts

from homenode.planner import Change, advise
from homenode.planner.commands import commands
from homenode.planner.reasons import told_change


def test_places_of_memory_are_asked_of_the_optimizer(tmp_path: Path) -> None:
    """No command of a Power server names them; back it takes no memory away from its cores."""
    parts = '[{ size = "8 GiB" }, { size = "8 GiB", on = "drawer2" }]'
    text = layouts.partition("a").replace('memory = "16 GiB"', f"memory = {parts}")
    now, path = layouts.scenario(text), "partition.a.memory.1.on"
    runs = [one.run(out=tmp_path) for one in (now, now.with_({path: "drawer0"}))]
    places = ["drawer2", "drawer0"]
    there = commands(*runs, [Change("a", "memory", path, *places, "")])
    change = Change("a", "memory", path, *reversed(places), "")
    back = commands(*reversed(runs), [change], back=True)
    assert "# a: memory of drawer2 to drawer0" in there
    assert 'optmem -m "$SYSTEM" -o start -t affinity -p a' in there
    assert "# a: memory of drawer0 to drawer2" in back
    assert any("will not undo this" in line for line in back)
    assert all(line.startswith("#") for line in back)


def test_homes_are_not_taken_apart_again(tmp_path: Path) -> None:
    """What brought partitions together knows no way back; what can be commanded has one."""
    told = layouts.crowded(rate=600)
    (best, *_) = advise(told, free=["home"], out=tmp_path, best=1).best
    assert any(line.startswith("optmem") for line in best.commands)
    assert best.back
    assert all(line.startswith("#") for line in best.back)


def test_headings_of_an_export_are_no_commands(tmp_path: Path) -> None:
    pools = layouts.partition("a", more=', pool = "small"')
    now = layouts.scenario(pools, head=layouts.POOLS)
    path = "partition.a.processors.pool"
    one, other = (s.run(out=tmp_path) for s in (now, now.with_({path: "DefaultPool"})))
    lines = commands(other, one, [Change("a", "pool", path, "DefaultPool", "small", "")])
    assert any("shared_proc_pool_name=small" in line for line in lines)
    assert not any(line.startswith("# Shared") or "In the partitions" in line for line in lines)


def test_a_tenth_of_a_core_is_no_single_core() -> None:
    change = Change("a", "entitlement", "partition.a.processors.entitlement", 40, 8.1, "")
    assert told_change(change) == "a entitled to 8.1 cores (40)"
    assert told_change(dataclasses.replace(change, after=1)) == "a entitled to 1 core (40)"


def test_parts_are_told_where_they_are_created(tmp_path: Path) -> None:
    """Not once more by paths, and not on the way back, where they are gone."""
    told = layouts.scenario(layouts.partition("big", rate=2600, entitlement=8, virtual=24))
    (best,) = advise(told, free=["split", "home"], out=tmp_path, best=1).best
    assert "split" in {one.word for one in best.changes}
    lines = [*best.commands, *best.back]
    assert any(line.startswith("mksyscfg") and "name=big1" in line for line in lines)
    assert not any(line.startswith("# partition.") for line in lines)
