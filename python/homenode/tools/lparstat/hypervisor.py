"""`lparstat -H`: number and time of each hypervisor call.

The model knows cede, confer and prod; all other calls are shown with zeros, for they belong to page
tables, devices and the tools themselves, whose calls are not counted (what one takes is known of
many). The time of a cede is the time away, as on real systems; shares of total time are shares of
the time of all logical processors.
"""

from __future__ import annotations

from typing import NamedTuple

from homenode.tools.configuration import SystemConfiguration
from homenode.tools.figures import percent
from homenode.tools.intervals import Sample
from homenode.tools.lparstat.figures import Called, calls_made, whole_ns
from homenode.tools.text_columns import DASHES


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


CALLS = _names("""
    remove read nclear_mod page_init clear_ref protect put_tce h_put_tce_indirect xirr eoi ipi
    cppr asr others cede enter migrate_dma put_rtce confer prod get_ppp set_ppp purr pic
    bulk_remove send_crq copy_rdma get_tce send_logical_lan add_logical_lan_buf h_remove_rtce
    h_ipoll h_stuff_tce h_get_mpp h_set_mpp h_get_mpp_x h_get_em_parms h_vpm_pstat
    h_hfi_start_interface h_hfi_stop_interface h_hfi_query_interface h_hfi_query_window
    h_hfi_open_window h_hfi_close_window h_hfi_dump_info h_hfi_adapter_attach
    h_hfi_modify_rcxt h_hfi_route_info h_cau_write_index h_cau_read_index
""")
"""Rows of every level, in the order of the tool."""
LATER_CALLS = _names("""
    h_nmmu_start h_nmmu_stop h_nmmu_allocate_resource h_nmmu_free_resource
    h_nmmu_modify_resource h_confer_adjunct h_adjunct_mode h_get_ppp_x h_cop_op h_stop_cop_op
    h_random h_enter_decomp h_remove_comp h_xirr_x h_get_perf_info h_block_remove
    h_get_24x7_cat_page h_get_24x7_data
""")
"""Rows that AIX 7.1 and later add."""

_NEVER = Called(0, 0, 0)
TITLE = "           Detailed information on Hypervisor Calls"
HEADINGS = (
    "Hypervisor        \t    Number of    %Total Time   %Hypervisor   Avg Call    Max Call",
    "  Call              \t      Calls         Spent      Time Spent    Time(ns)    Time(ns)",
)


class Call(NamedTuple):
    """One row; times in ns."""

    call: str
    calls: int
    total_pct: float
    hypervisor_pct: float
    avg_ns: float
    max_ns: float


def call_names(configuration: SystemConfiguration) -> list[str]:
    """Rows that a level of AIX shows, in its order."""
    return [*CALLS, *LATER_CALLS] if configuration.at_least(7, 1) else list(CALLS)


def hypervisor_calls(configuration: SystemConfiguration, sample: Sample) -> list[Call]:
    """All rows of one interval."""
    modelled = calls_made(sample.partition)
    spent_ns = sum(one.time_ns for one in modelled.values())
    rows = []
    for name in call_names(configuration):
        calls, time_ns, longest_ns = modelled.get(name, _NEVER)
        mean_ns = time_ns / calls if calls else 0.0
        rows.append(
            Call(
                name,
                calls,
                percent(time_ns, whole_ns(configuration, sample)),
                percent(time_ns, spent_ns),
                mean_ns,
                max(longest_ns, mean_ns),
            )
        )
    return rows


def lines(rows: list[Call]) -> list[str]:
    """The table without the configuration line."""
    return [TITLE, "", *HEADINGS, "", *map(_line, rows), DASHES]


def _line(row: Call) -> str:
    # A blank before each number, for those that are wider than their column must stay apart.
    return (
        f"{row.call:<24} {row.calls:>9} {row.total_pct:>14.1f} {row.hypervisor_pct:>13.1f}"
        f" {row.avg_ns:>10.0f} {row.max_ns:>11.0f}"
    )
