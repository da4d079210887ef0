"""lparstat: figures against values computed by hand, text against recorded layouts."""

from __future__ import annotations

import pytest
from counted import SECOND, dedicated, partition, sample, shared, view

from homenode.tools import Limits, UsageError, lparstat
from homenode.tools.lparstat import hypervisor

# GROUP2 of the micro-partitioning article: two loops on two cores, the idle sibling keeps 1/16.
TWO_LOOPS = partition(
    busy_ns=2 * SECOND, user_ns=1.874 * SECOND, sys_ns=0.001 * SECOND, idle_ns=0.125 * SECOND,
    ticks_user=2 * SECOND, ticks_idle=2 * SECOND, vcsw=135, phint=7,
)  # fmt: skip


def test_percentages_relate_to_what_was_consumed_above_the_entitlement() -> None:
    figures = lparstat.utilisation(shared(), sample(TWO_LOOPS))
    assert figures.user == pytest.approx(93.7)
    assert figures.sys == pytest.approx(0.05)
    assert figures.idle == pytest.approx(6.25)
    assert (figures.physc, figures.entc, figures.lbusy) == (2.0, 200.0, 50.0)
    assert (figures.vcsw, figures.phint) == (135, 7)


def test_percentages_relate_to_the_entitlement_below_it() -> None:
    counted = partition(
        busy_ns=0.30 * SECOND, user_ns=0.10 * SECOND, sys_ns=0.05 * SECOND, wait_ns=0.05 * SECOND,
        idle_ns=0.10 * SECOND,
    )  # fmt: skip
    figures = lparstat.utilisation(shared(ent=0.5), sample(counted))
    assert figures.user == pytest.approx(20.0)
    assert figures.sys == pytest.approx(10.0)
    assert figures.wait == pytest.approx(10.0)
    # 0.10 cores of idle threads and 0.20 cores of entitlement that nobody used
    assert figures.idle == pytest.approx(60.0)
    assert figures.entc == pytest.approx(60.0)


def test_a_dedicated_partition_relates_to_its_cores() -> None:
    counted = partition(
        busy_ns=0.07 * SECOND, donated_ns=1.93 * SECOND, user_ns=0.002 * SECOND,
        sys_ns=0.004 * SECOND, idle_ns=1.994 * SECOND, vcsw=12,
    )  # fmt: skip
    figures = lparstat.utilisation(dedicated(mode="Donating"), sample(counted))
    assert (figures.user, figures.sys) == pytest.approx((0.1, 0.2))
    assert figures.idle == pytest.approx(99.7)
    assert figures.physc == pytest.approx(0.07)
    assert figures.idon == pytest.approx(96.5)


def test_the_pool_s_unused_cores_are_app() -> None:
    figures = lparstat.utilisation(shared(), sample(TWO_LOOPS, idle_ns=7 * SECOND))
    assert figures.app == 7.0


def test_speed_columns_follow_from_the_two_registers() -> None:
    faster = {"suser_ns": 1.49 * SECOND, "user_ns": SECOND, "busy_ns": SECOND}
    figures = lparstat.utilisation(shared(), sample(partition(**faster)))
    assert figures.nsp == pytest.approx(149.0)
    assert figures.utcyc == pytest.approx(100 * 0.49 / 1.49)


def test_both_tables_of_the_hypervisor_have_one_account() -> None:
    counted = partition(busy_ns=SECOND, hypervisor_ns=0.0001 * SECOND, cede_calls=3,
                        cede_ns=0.9 * SECOND, cede_max_ns=0.4 * SECOND, prod_calls=2,
                        prod_ns=2_000, confer_calls=1, confer_ns=1_000)  # fmt: skip
    figures = lparstat.utilisation(shared(), sample(counted))
    table = lparstat.hypervisor_calls(shared(), sample(counted))
    # 0.9 s away of the second of each of four logical processors.
    assert figures.hypv == pytest.approx(22.5, abs=0.001)
    assert figures.hypv == pytest.approx(sum(row.total_pct for row in table))
    assert figures.hcalls == sum(row.calls for row in table) == 6


def test_nothing_elapsed_is_all_idle() -> None:
    figures = lparstat.utilisation(shared(), sample(partition(), elapsed_ns=0))
    assert figures.idle == 100.0
    assert (figures.physc, figures.entc, figures.lbusy, figures.app) == (0, 0, 0, 0)


def test_a_shared_partition_as_recorded_on_aix_7_1() -> None:
    configuration = shared(smt=4, vps=1, ent=0.5, mem_mb=47104, psize=60, pool_authority=True)
    counted = partition(
        busy_ns=0.2225 * SECOND, user_ns=0.0565 * SECOND, sys_ns=0.075 * SECOND,
        idle_ns=0.091 * SECOND, ticks_user=6.1 * SECOND, ticks_idle=93.9 * SECOND, vcsw=919,
        suser_ns=0.0565 * SECOND, ssys_ns=0.075 * SECOND, sidle_ns=0.09414 * SECOND,
    )  # fmt: skip
    run = view(configuration, [sample(counted, idle_ns=int(45.26 * SECOND))])
    assert lparstat.render(run, ["1", "1"]) == (
        "\n"
        "System configuration: type=Shared mode=Uncapped smt=4 lcpu=4 mem=47104MB psize=60 "
        "ent=0.50 \n"
        "\n"
        "%user  %sys  %wait  %idle physc %entc  lbusy   app  vcsw phint  %nsp  %utcyc\n"
        "----- ----- ------ ------ ----- ----- ------   --- ----- ----- -----  ------\n"
        " 11.3  15.0    0.0   73.7  0.22  44.5    6.1 45.26   919     0   101   1.39 \n"
    )


def test_a_donating_partition_as_recorded_on_aix_7_2_with_a_wide_number() -> None:
    counted = partition(
        busy_ns=0.07 * SECOND, user_ns=0.002 * SECOND, sys_ns=0.004 * SECOND,
        idle_ns=1.994 * SECOND, suser_ns=0.646 * SECOND, vcsw=1014627468,
    )  # fmt: skip
    run = view(dedicated(mode="Donating"), [sample(counted)])
    lines = lparstat.render(run, []).splitlines()
    assert lines[1] == "System configuration: type=Dedicated mode=Donating smt=8 lcpu=16 mem=4096MB"
    assert lines[3:5] == [
        "%user  %sys  %wait  %idle physc  vcsw   %nsp  %utcyc",
        "----- ----- ------ ------ ----- ----- ----- ------",
    ]
    assert lines[5] == "  0.1   0.2    0.0   99.7  0.07 1014627468   132  24.36"


@pytest.mark.parametrize(
    ("level", "smt", "word"),
    [("5.3", 2, "On"), ("5.3", 1, "Off"), ("6.1", 2, "On"), ("7.1", 4, "4"), ("7.3", 8, "8")],
)
def test_the_word_for_threads(level: str, smt: int, word: str) -> None:
    run = view(shared(level=level, smt=smt), [sample()])
    assert f" smt={word} lcpu={2 * smt} " in lparstat.render(run, [])


def test_the_level_decides_the_columns() -> None:
    old = lparstat.render(view(shared(level="5.3"), [sample()]), [])
    assert "%user  %sys  %wait  %idle physc %entc  lbusy  vcsw phint\n" in old
    capped = lparstat.render(view(dedicated(level="6.1"), [sample()]), [])
    assert "%user  %sys  %wait  %idle\n----- ----- ------ ------\n" in capped


def test_h_and_d_add_their_columns() -> None:
    run = view(shared(level="5.3"), [sample(TWO_LOOPS)])
    assert lparstat.render(run, ["-h"]).splitlines()[3].endswith("phint %hypv hcalls")
    assert lparstat.render(run, ["-d"]).splitlines()[3].endswith("%idon %bdon %istol %bstol")


def test_normalised_states_add_up_to_the_entitlement() -> None:
    counted = partition(busy_ns=0.03 * SECOND, user_ns=0.008 * SECOND, sys_ns=0.012 * SECOND,
                        idle_ns=0.01 * SECOND)  # fmt: skip
    run = view(shared(ent=0.2, level="7.2", mem_mb=7936), [sample(counted)])
    assert lparstat.render(run, ["-E"]) == (
        "\n"
        "System configuration: type=Shared mode=Uncapped smt=On lcpu=4 mem=7936MB ent=0.20 "
        "Power=Disabled\n"
        "\n"
        "Physical Processor Utilisation:\n"
        "\n"
        " --------Actual--------              ------Normalised------\n"
        " user   sys  wait  idle      freq    user   sys  wait  idle\n"
        " ----  ----  ----  ----   ---------  ----  ----  ----  ----\n"
        "0.008 0.012 0.000 0.180 3.6GHz[100%] 0.008 0.012 0.000 0.180\n"
    )


def test_the_hypervisor_table_has_the_recorded_rows() -> None:
    counted = partition(cede_calls=125, cede_ns=125 * 109_873, cede_max_ns=1_591_250,
                        prod_calls=76, prod_ns=76 * 1_020)  # fmt: skip
    run = view(shared(smt=4, vps=7), [sample(counted)])
    lines = lparstat.render(run, ["-H"]).splitlines()
    assert (
        "cede                           125            0.0          99.4     109873     1591250"
        in lines
    )
    assert (
        "prod                            76            0.0           0.6       1020        1020"
        in lines
    )
    assert (
        "h_nmmu_allocate_resource         0            0.0           0.0          0           0"
        in lines
    )
    assert lines[-1] == "-" * 80


def test_table_10_of_the_article() -> None:
    configuration = shared(
        level="5.3", node_name="test", number=6, weight=250, system_cores=12, active_cores=12,
        processors=Limits(1, 10, 2), memory=Limits(1536, 2560, 2048),
        capacity=Limits(0.8, 1.2, 1.0),
    )  # fmt: skip
    text = lparstat.render(view(configuration, [sample()]), ["-i"])
    facts = [line.split(": ", 1) for line in text.splitlines()]
    assert [(label.rstrip(), value) for label, value in facts] == [
        ("Node Name", "test"), ("Partition Name", "testpar"), ("Partition Number", "6"),
        ("Type", "Shared-SMT"), ("Mode", "Uncapped"), ("Entitled Capacity", "1.00"),
        ("Partition Group-ID", "32774"), ("Shared Pool ID", "0"), ("Online Virtual CPUs", "2"),
        ("Maximum Virtual CPUs", "10"), ("Minimum Virtual CPUs", "1"),
        ("Online Memory", "2048 MB"), ("Maximum Memory", "2560 MB"), ("Minimum Memory", "1536 MB"),
        ("Variable Capacity Weight", "250"), ("Minimum Capacity", "0.80"),
        ("Maximum Capacity", "1.20"), ("Capacity Increment", "0.01"),
        ("Maximum Physical CPUs in system", "12"), ("Active Physical CPUs in system", "12"),
        ("Active CPUs in Pool", "9"), ("Unallocated Capacity", "0.00"),
        ("Physical CPU Percentage", "50.00%"),
    ]  # fmt: skip


def test_facts_of_the_manual_that_no_level_prints_are_in_json() -> None:
    # A virtual processor of 0.15 cores runs 1.5 ms of each 10 ms: first in one, last in the next.
    entitled = shared(ent=0.30, vps=2, window_ns=10_000_000, vp_minimum=0.10)
    run = view(entitled, [sample()])
    (facts,) = lparstat.rows(run, ["-i"])
    assert facts["Maximum Dispatch Latency"] == "17000000"
    assert facts["Minimum Virtual Processor Required Capacity"] == "0.10"
    text = lparstat.render(run, ["-i"])
    assert "Latency" not in text
    assert "Required" not in text
    (alone,) = lparstat.rows(view(dedicated(), [sample()]), ["-i"])
    assert "Maximum Dispatch Latency" not in alone
    whole = shared(ent=2.0, vps=2, window_ns=10_000_000)
    assert whole.dispatch_latency_ns == 0, "a whole core is never away"


def test_nothing_is_unallocated_within_a_group_of_one() -> None:
    # Recorded with 14.00 of 16.00, 14.90 of 16.00 and 1.30 of 2.00 cores of the pool entitled.
    configuration = shared(pool_maximum=16.0, pool_entitled=14.0)
    (facts,) = lparstat.rows(view(configuration, [sample()]), ["-i"])
    assert (facts["Unallocated Capacity"], facts["Unallocated Weight"]) == ("0.00", "0")


def test_a_listing_takes_no_interval() -> None:
    with pytest.raises(UsageError, match="cannot be used with -i"):
        lparstat.render(view(shared(), [sample()]), ["-i", "1"])


def test_rows_are_unrounded_under_the_tool_s_headings() -> None:
    run = view(shared(level="5.3"), [sample(TWO_LOOPS)])
    (row,) = lparstat.rows(run, ["1", "1"])
    assert list(row) == ["time_s", "%user", "%sys", "%wait", "%idle", "physc", "%entc", "lbusy",
                         "vcsw", "phint"]  # fmt: skip
    assert row["%sys"] == pytest.approx(0.05)
    assert lparstat.rows(run, ["-i"])[0]["Mode"] == "Uncapped"
    assert {call["call"] for call in lparstat.rows(run, ["-H"]) if call["calls"]} == set()
    assert lparstat.rows(run, ["-E"])[0]["user"] == pytest.approx(1.874)


def test_numbers_wider_than_their_column_stay_apart() -> None:
    row = hypervisor.Call("cede", 412_361, 22.7, 100.0, 57_545_716.0, 3_510_579_921_748.0)
    assert hypervisor.lines([row])[-2].split()[1:] == [
        "412361", "22.7", "100.0", "57545716", "3510579921748",
    ]  # fmt: skip
