"""What grows with the processors, and which sizes cannot be made."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from homenode.errors import HomenodeError
from homenode.evidence.scaling.sizes import base_of, rising

DATA: dict[str, Any] = {
    "scaling": {"by": "tiles"},
    "partition": [
        {
            "name": "zvm",
            "processors": {"mode": "dedicated", "cores": 16, "type": "ifl"},
            "memory": "256 GiB",
            "guest": {"os": "zvm"},
            "switch": [{"name": "tile", "layer": 2, "count": 2}],
            "virtual_machine": [
                {"name": "client", "count": 5, "switch": "tile"},
                {"name": "server", "count": 60, "switch": "tile"},
                {"name": "monitor", "switch": "tile"},
            ],
        },
        {"name": "other", "guest": {"os": "linux"}, "memory": "4 GiB"},
    ],
}


class Told:
    """Stands in for a scenario: its data, and what was asked to change."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = copy.deepcopy(data)

    def with_(self, changes: dict[str, Any], *, why: str) -> Told:
        assert why
        return Told({**self.data, "changes": changes})


def told(**scaling: str) -> Any:
    return Told({**DATA, "scaling": scaling})


def zvm(**changes: Any) -> Any:
    data = copy.deepcopy(DATA)
    data["partition"][0].update(changes)
    return Told(data)


def test_by_tiles_the_switches_grow() -> None:
    assert base_of(told(by="tiles")).changes(40) == {
        "partition.zvm.processors.cores": 40,
        "partition.zvm.memory": "655360 MiB",
        "partition.zvm.switch.tile.count": 5,
    }


def test_by_guests_the_machines_grow_and_one_stays_one() -> None:
    changes = base_of(told(by="guests")).changes(24)
    assert changes == {
        "partition.zvm.processors.cores": 24,
        "partition.zvm.memory": "393216 MiB",
        "partition.zvm.virtual_machine.client.count": 8,
        "partition.zvm.virtual_machine.server.count": 90,
        "partition.zvm.virtual_machine.monitor.count": 2,
    }
    assert base_of(told(by="guests")).changes(4)["partition.zvm.virtual_machine.monitor.count"] == 1


def test_tiles_are_the_usual_way_and_its_own_size_changes_nothing() -> None:
    base = base_of(Told({**DATA, "scaling": {}}))
    assert base.by == "tiles"
    assert base.changes(16) == {}
    scenario = told(by="tiles")
    assert base_of(scenario).scaled(16) is scenario


def test_two_threads_of_a_core_count_as_two_processors() -> None:
    base = base_of(zvm(guest={"os": "zvm", "smt": "smt-2"}))
    assert base.processors == 32
    assert base.changes(64)["partition.zvm.processors.cores"] == 32
    with pytest.raises(HomenodeError, match="each core has 2; name multiples of 2"):
        base.changes(33)


def test_a_partition_without_processors_is_refused() -> None:
    with pytest.raises(HomenodeError, match=r"of 0 logical processors.*name sizes of 1 or more"):
        base_of(zvm()).changes(0)


def test_shared_processors_grow_too() -> None:
    shared = {"mode": "shared", "virtual": 8, "weight": 100, "type": "ifl"}
    assert base_of(zvm(processors=shared)).changes(16)["partition.zvm.processors.virtual"] == 16


def test_half_a_tile_is_refused_with_what_fits() -> None:
    with pytest.raises(HomenodeError) as error:
        base_of(told(by="tiles")).changes(20)
    assert "20 processors make 2.50 tiles of switch tile" in str(error.value)
    assert "sizes such as 8, 16, 24, 32" in str(error.value)


@pytest.mark.parametrize(
    ("scenario", "message"),
    [
        (told(partition="other"), "names partition other, which runs no z/VM"),
        (told(partition="zwm"), "did you mean zvm"),
        (Told({"partition": DATA["partition"][1:]}), "no partition with z/VM"),
        (Told({"partition": [DATA["partition"][0]] * 2}), "2 partitions with z/VM"),
        (zvm(memory=[{"size": "1 GiB"}]), "told piece by piece"),
        (zvm(processors={"mode": "dedicated", "types": {"cp": 2, "ifl": 2}}), "type by type"),
    ],
)
def test_what_cannot_be_scaled_is_refused(scenario: Any, message: str) -> None:
    with pytest.raises(HomenodeError, match=message):
        base_of(scenario)


def test_sizes_rise_and_one_alone_is_no_set() -> None:
    assert rising([32, 16, 32]) == [16, 32]
    with pytest.raises(HomenodeError, match="two sizes or more"):
        rising([16, 16])
