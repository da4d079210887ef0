"""A profile whose lock is one of the kernel's has that of its guest's, on its platform."""

from __future__ import annotations

import pytest

from homenode.model.scenario import Scenario

CELLS = """model = "hp-rx7640"
[[npartition]]
name = "npar0"
cells = ["cell0", "cell1"]
memory = "16 GiB"
"""
XEON, POWER, Z14 = 'model = "intel-xeon-6140-2s"', 'model = "ibm-power-795"', 'model = "ibm-z14"'
SHARED = '{ mode = "shared", virtual = 4 }'
ENTITLED = '{ mode = "shared", virtual = 4, entitlement = 2 }'
WEIGHED = '{ mode = "shared", virtual = 4, weight = 50 }'
DEDICATED = '{ mode = "dedicated", cores = 4 }'


def _told(machine: str, processors: str, more: str = "", guest: str = '{ os = "linux" }') -> str:
    scenario = Scenario.from_toml(
        f"""
        name = "locks"
        [machine]
        {machine}
        [[partition]]
        name = "a"
        memory = "8 GiB"
        processors = {processors}
        guest = {guest}
        workload = {{ kind = "loops", count = 4, endless = true, profile = "file-server" }}
        {more}
        [run]
        duration = "1 s"
        """
    )
    return scenario.spec()["partitions"][0]["profile"].get("lock_kind", "queue")


@pytest.mark.parametrize(
    ("machine", "processors", "more", "kind"),
    [
        (POWER, DEDICATED, "", "queue"),
        (POWER, ENTITLED, "", "test-and-set"),
        (Z14, DEDICATED, "", "queue"),
        (Z14, WEIGHED, "", "test-and-set"),
        (CELLS, DEDICATED, "", "ticket"),
        (XEON, SHARED, "kvm = {}", "queue"),
        (XEON, SHARED, "", "queue"),
        (
            XEON,
            SHARED,
            "kvm = { paravirtual_locks = false }",
            "test-and-set",
        ),
        (
            XEON + '\npolicy = "esxi"',
            SHARED,
            "",
            "test-and-set",
        ),
        (
            XEON + '\npolicy = "credit2"',
            SHARED,
            "",
            "queue",
        ),
    ],
)
def test_a_kernel_has_the_lock_of_its_platform(
    machine: str, processors: str, more: str, kind: str
) -> None:
    assert _told(machine, processors, more) == kind


def test_aix_has_none_that_goes_round_in_order() -> None:
    assert _told(POWER, DEDICATED, guest="{}") == "test-and-set"


def test_what_a_guest_says_of_its_kernel_counts() -> None:
    guest = '{ os = "linux", spin_lock = "ticket" }'
    assert _told(POWER, DEDICATED, guest=guest) == "ticket"
