"""mpstat: figures of logical processors, rows of the recorded layouts."""

from __future__ import annotations

import pytest
from counted import SECOND, cpu, dedicated, partition, sample, shared, view

from homenode.tools import Sample, mpstat

D_HEADING = (
    "cpu     cs    ics  bound     rq   push S3pull  S3grd  S0rd  S1rd  S2rd  S3rd  S4rd  S5rd   "
    "ilcs   vlcs S3hrd S4hrd S5hrd"
)


def two_loops() -> Sample:
    """GROUP2 of the micro-partitioning article: each core has a busy and an idle thread."""
    cpus = [
        cpu(0, 0, idle_ns=0.0625 * SECOND, ilcs=10, vlcs=20),
        cpu(1, 0, user_ns=0.9375 * SECOND, runq_ns=SECOND, s0rd=97, s3rd=2, s5rd=1, s3hrd=9,
            s5hrd=1),
        cpu(2, 1, idle_ns=0.0625 * SECOND),
        cpu(3, 1, user_ns=0.9375 * SECOND, runq_ns=SECOND, cs=6, ics=4, migrations=3),
    ]  # fmt: skip
    counted = partition(busy_ns=2 * SECOND, user_ns=1.875 * SECOND, idle_ns=0.125 * SECOND, phint=7)
    return sample(counted, cpus)


def test_a_processor_relates_to_its_own_time_and_all_to_the_capacity() -> None:
    rows = {row["cpu"]: row for row in mpstat.report(shared(), two_loops())}
    assert list(rows) == ["0", "1", "2", "3", "ALL"]
    assert (rows["1"]["us"], rows["1"]["id"]) == (100.0, 0.0)
    assert (rows["0"]["us"], rows["0"]["id"]) == (0.0, 100.0)
    assert rows["1"]["pc"] == pytest.approx(0.9375)
    assert rows["1"]["%ec"] == pytest.approx(93.75)
    assert (rows["ALL"]["us"], rows["ALL"]["id"]) == (93.75, 6.25)
    assert (rows["ALL"]["pc"], rows["ALL"]["%ec"]) == (2.0, 200.0)


def test_redispatches_are_percentages_of_counts() -> None:
    rows = {row["cpu"]: row for row in mpstat.report(shared(), two_loops())}
    assert [rows["1"][f"S{distance}rd"] for distance in range(6)] == [97, 0, 0, 2, 0, 1]
    assert [rows["1"][f"S{distance}hrd"] for distance in (3, 4, 5)] == [90, 0, 10]
    assert rows["1"]["lpa"] == 99.0
    assert rows["0"]["S0rd"] is None
    assert rows["ALL"]["S0rd"] == 97.0
    assert (rows["0"]["lcs"], rows["ALL"]["ilcs"], rows["ALL"]["vlcs"]) == (30, 10, 20)
    assert (rows["ALL"]["rq"], rows["ALL"]["mig"], rows["ALL"]["ics"]) == (2.0, 3, 4)


def test_unused_entitlement_has_a_row_of_its_own() -> None:
    configuration = shared(ent=1.0, vps=1, level="7.2")
    counted = partition(
        busy_ns=0.02 * SECOND, user_ns=0.01 * SECOND, idle_ns=0.01 * SECOND, interrupts=182
    )
    cpus = [
        cpu(0, user_ns=0.01 * SECOND, idle_ns=0.01 * SECOND, ilcs=5, vlcs=180, cs=336, ics=102,
            interrupts=182, s0rd=3),
        cpu(1, ilcs=0, vlcs=12),
    ]  # fmt: skip
    text = mpstat.render(view(configuration, [sample(counted, cpus)]), ["1", "1"])
    assert text == (
        "\n"
        "System configuration: lcpu=2 ent=1.0 mode=Uncapped\n"
        "\n"
        "cpu  min  maj  mpc  int   cs  ics   rq  mig lpa sysc us sy wa id   pc  %ec  lcs\n"
        "  0    0    0    0  182  336  102    0    0 100    0 50  0  0 50 0.02  2.0  185\n"
        "  1    0    0    0    0    0    0    0    0   -    0  0  0  0 100 0.00  0.0   12\n"
        "  U    -    -    -    -    -    -    -    -   -    -  -  -  0 98 0.98 98.0    -\n"
        "ALL    0    0    0  182  336  102    0    0 100    0  1  0  0 99 0.02  2.0  197\n"
    )


def test_d_has_the_recorded_heading_and_row() -> None:
    configuration = shared(smt=4, vps=7, ent=1.3)
    cpus = [cpu(0, cs=2820821380, ics=537803893, s0rd=977, s1rd=7, s3rd=16, ilcs=46361281,
                vlcs=1538788150, s3hrd=991, s5hrd=9)]  # fmt: skip
    lines = mpstat.render(view(configuration, [sample(partition(), cpus)]), ["-d"]).splitlines()
    assert lines[1] == "System configuration: lcpu=28 ent=1.3 mode=Uncapped "
    assert lines[3] == D_HEADING + "  %nsp"
    assert lines[4] == (
        "  0 2820821380 537803893      0      0      0      0      0  97.7   0.7   0.0   1.6   0.0"
        "   0.0 46361281 1538788150  99.1   0.0   0.9   100"
    )
    assert lines[5].startswith("ALL 2820821380 ")


def test_a_is_the_wide_table() -> None:
    lines = mpstat.render(view(shared(), [two_loops()]), ["-a"]).splitlines()
    assert len(lines[3].split()) == 35
    assert len(lines[4].split()) == 35
    assert mpstat.rows(view(shared(), [two_loops()]), ["-a"])[-1]["ph"] == 7
    capped = mpstat.render(view(dedicated(), [two_loops()]), ["-a"]).splitlines()[3]
    assert "    pc   ilcs   vlcs  istol  bstol S3hrd S4hrd S5hrd" in capped


def test_a_dedicated_partition_shows_no_entitlement() -> None:
    lines = mpstat.render(view(dedicated(level="6.1"), [two_loops()]), []).splitlines()
    assert lines[1] == "System configuration: lcpu=16 mode=Capped "
    assert lines[3] == ("cpu  min  maj  mpc  int   cs  ics   rq  mig lpa sysc us sy wa id   pc")


def test_s_puts_threads_beneath_their_processor() -> None:
    text = mpstat.render(view(shared(level="5.3"), [two_loops()]), ["-s"])
    assert [line.split() for line in text.splitlines()[3:]] == [
        ["Proc0", "Proc1"],
        ["100.00%", "100.00%"],
        ["cpu0", "cpu1", "cpu2", "cpu3"],
        ["6.25%", "93.75%", "6.25%", "93.75%"],
    ]
    later = mpstat.render(view(shared(level="7.1"), [two_loops()]), ["-s"])
    assert later.splitlines()[3].split() == ["Proc0", "Proc2"]
    first, second = mpstat.rows(view(shared(), [two_loops()]), ["-s"])
    assert (first["consumed_pct"], second["cpu3"]) == (100.0, 93.75)


def test_many_processors_are_shown_in_blocks() -> None:
    cpus = [cpu(number, number // 4) for number in range(28)]
    run = view(shared(smt=4, vps=7), [sample(partition(), cpus)])
    lines = mpstat.render(run, ["-s"]).splitlines()[3:]
    assert max(map(len, lines)) <= 80
    assert sum(line.count("Proc") for line in lines) == 7
    assert sum(line.count("cpu") for line in lines) == 28


def test_reports_are_parted_by_a_line() -> None:
    text = mpstat.render(view(shared(), [two_loops()] * 3), ["1", "3"])
    assert text.splitlines().count("-" * 80) == 2
    assert len(mpstat.rows(view(shared(), [two_loops()] * 3), ["1", "3"])) == 15
