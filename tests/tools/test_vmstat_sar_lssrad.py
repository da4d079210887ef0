"""vmstat, sar and lssrad: figures by hand, layouts as documented."""

from __future__ import annotations

import pytest
from counted import SECOND, cpu, dedicated, partition, sample, shared, view

from homenode.tools import Sample, Srad, UsageError, lssrad, sar, vmstat

THREE_LOOPS = partition(
    busy_ns=2 * SECOND, user_ns=1.9375 * SECOND, idle_ns=0.0625 * SECOND, runq_ns=3 * SECOND,
    interrupts=1, context_switches=175, blocked_ns=0.4 * SECOND,
)  # fmt: skip


def test_vmstat_is_a_line_of_rates_and_shares() -> None:
    run = view(shared(level="5.3"), [sample(THREE_LOOPS)])
    assert vmstat.render(run, ["1", "1"]) == (
        "\n"
        "System configuration: lcpu=4 mem=2048MB ent=1.00\n"
        "\n"
        "kthr    memory              page              faults              cpu          \n"
        "----- ----------- ------------------------ ------------ -----------------------\n"
        " r  b   avm   fre  re  pi  po  fr   sr  cy  in   sy  cs us sy id wa    pc    ec\n"
        " 3  0     0     0   0   0   0   0    0   0   1    0 175 97  0  3  0  2.00 200.0\n"
    )


def test_vmstat_counts_are_per_second() -> None:
    (row,) = vmstat.rows(view(shared(), [sample(THREE_LOOPS), sample(THREE_LOOPS)]), ["2", "1"])
    assert (row["in"], row["cs"], row["r"]) == (1.0, 175.0, 3.0)
    assert row["b"] == 0  # what waits here waits for something, not for a disk
    assert row["us"] == pytest.approx(96.875)


def test_vmstat_of_dedicated_cores_has_no_pc() -> None:
    lines = vmstat.render(view(dedicated(), [sample()]), []).splitlines()
    assert lines[1] == "System configuration: lcpu=16 mem=4096MB"
    assert lines[4] == "----- ----------- ------------------------ ------------ -----------"
    assert lines[5] == " r  b   avm   fre  re  pi  po  fr   sr  cy  in   sy  cs us sy id wa"
    assert lines[6].split()[-4:] == ["0", "0", "100", "0"]


def busy(user: float) -> Sample:
    counted = partition(busy_ns=user * SECOND, user_ns=user * SECOND)
    return sample(counted, [cpu(0, user_ns=user * SECOND), cpu(1)])


def test_sar_shows_each_processor_and_then_averages() -> None:
    run = view(shared(vps=1, level="5.3"), [busy(1.0), busy(0.5)])
    assert sar.render(run, ["-P", "ALL", "1", "2"]) == (
        "\n"
        "AIX testpar 3 5 000000000000    01/01/00\n"
        "\n"
        "System configuration: lcpu=2 ent=1.00 mode=Uncapped \n"
        "\n"
        "00:00:00 cpu    %usr    %sys    %wio   %idle   physc   %entc\n"
        "00:00:01  0      100       0       0       0    1.00   100.0\n"
        "          1        0       0       0     100    0.00     0.0\n"
        "          -      100       0       0       0    1.00   100.0\n"
        "00:00:02  0      100       0       0       0    0.50    50.0\n"
        "          1        0       0       0     100    0.00     0.0\n"
        "          -       50       0       0      50    0.50    50.0\n"
        "\n"
        "Average   0      100       0       0       0    0.75    75.0\n"
        "          1        0       0       0     100    0.00     0.0\n"
        "          -       75       0       0      25    0.75    75.0\n"
    )


def test_sar_names_the_unused_entitlement_on_later_levels() -> None:
    lines = sar.render(view(shared(vps=1), [busy(0.5)]), ["-P", "ALL", "1"]).splitlines()
    assert lines[-2] == "          U        -       -       0      50    0.50    50.0"
    assert not any(line.startswith("Average") for line in lines)


def test_sar_without_processors_and_with_chosen_ones() -> None:
    run = view(shared(vps=1), [busy(0.5)])
    lines = sar.render(run, ["-u", "1"]).splitlines()
    assert lines[5:] == [
        "00:00:00    %usr    %sys    %wio   %idle   physc   %entc",
        "00:00:01      50       0       0      50    0.50    50.0",
    ]
    assert [row["cpu"] for row in sar.rows(run, ["-P", "1", "1"])] == ["1"]
    with pytest.raises(UsageError, match="no such processor: 7"):
        sar.render(run, ["-P7"])


def test_lssrad_lists_nodes_and_chips_as_recorded() -> None:
    srads = (
        Srad(0, 0, 38260.19, tuple(range(28))),
        Srad(1, 1, 3219.5, ()),
        Srad(1, 2, 0.0, (28, 29, 31)),
    )
    text = lssrad.render(view(shared(srads=srads), [sample()]), ["-av"])
    assert text == (
        "REF1   SRAD        MEM      CPU\n"
        "0\n"
        "          0   38260.19      0-27\n"
        "1\n"
        "          1    3219.50     \n"
        "          2       0.00      28-29 31\n"
    )
    assert lssrad.rows(view(shared(srads=srads), [sample()]), ["-a", "-v"])[2] == {
        "REF1": 1, "SRAD": 2, "MEM": 0.0, "CPU": [28, 29, 31],
    }  # fmt: skip
    with pytest.raises(UsageError, match="too many operands"):
        lssrad.render(view(shared(), [sample()]), ["-av", "1"])


def test_ranges_join_neighbours() -> None:
    assert lssrad.ranges([0, 1, 2, 4, 6, 7]) == ["0-2", "4", "6-7"]
    assert lssrad.ranges([]) == []
