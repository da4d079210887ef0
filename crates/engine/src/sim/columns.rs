//! Names of the result columns, in order. All values are integers; times are nanoseconds. Counters
//! are differences over the interval; gauges (named here) are readings at its end.

use crate::cost::{BOOK_COUNT, BOOK_NAMES, LINE_COUNT, LINE_NAMES};

/// Readings rather than counters.
pub const GAUGES: [&str; 18] = [
    "time_ns",
    "partition",
    "cpu",
    "vp",
    "pool",
    "cores",
    "tx_inside",
    "vps_unfolded",
    "cede_max_ns",
    "virtual_machine",
    "switch",
    "volume",
    "port",
    "place",
    "workload",
    "domain",
    "vps_at_home",
    "memory_bytes",
];

/// Columns of the partition table before its lines and books.
const PARTITION: [&str; 83] = [
    "time_ns",
    "partition",
    "busy_ns",
    "entitled_ns",
    "excess_ns",
    "donated_ns",
    "user_ns",
    "sys_ns",
    "wait_ns",
    "idle_ns",
    "suser_ns",
    "ssys_ns",
    "swait_ns",
    "sidle_ns",
    "ticks_user",
    "ticks_sys",
    "ticks_wait",
    "ticks_idle",
    "vcsw",
    "ilcs",
    "vlcs",
    "phint",
    "hypervisor_ns",
    "cede_calls",
    "cede_ns",
    "cede_max_ns",
    "confer_calls",
    "confer_ns",
    "prod_calls",
    "prod_ns",
    "dispatches",
    "home_ns",
    "near_ns",
    "far_ns",
    "home_disp",
    "near_disp",
    "far_disp",
    "evictions",
    "ready_ns",
    "runq_ns",
    "blocked_ns",
    "tx_arrived",
    "tx_done",
    "tx_inside",
    "response_ns",
    "instructions",
    "cycles",
    "context_switches",
    "interrupts",
    "syscalls",
    "vps_unfolded",
    "exhausted_ns",
    "guest_ns",
    "chargeable_ns",
    "system_ns",
    "unparked_ns",
    "pages_in",
    "pages_out",
    "page_reads",
    "page_writes",
    "spin_instructions",
    "thread_ns",
    "mt1_ns",
    "prorated_ns",
    "scheduler_locks",
    "scheduler_spin_ns",
    "vector_locks",
    "vector_spin_ns",
    "page_locks",
    "page_spin_ns",
    "nvcsw",
    "nivcsw",
    "host_migrations",
    "halt_poll_ns",
    "steal_ns",
    "quota_periods",
    "throttled_periods",
    "throttled_ns",
    "costop_ns",
    "charged_ns",
    "pause_exits",
    "directed_yields",
    "numa_moved_bytes",
];

/// Columns of the logical processor table.
pub const CPU: [&str; 26] = [
    "time_ns",
    "partition",
    "cpu",
    "vp",
    "user_ns",
    "sys_ns",
    "wait_ns",
    "idle_ns",
    "ticks_busy_ns",
    "ilcs",
    "vlcs",
    "cs",
    "ics",
    "runq_ns",
    "s0rd",
    "s1rd",
    "s2rd",
    "s3rd",
    "s4rd",
    "s5rd",
    "s3hrd",
    "s4hrd",
    "s5hrd",
    "migrations",
    "interrupts",
    "syscalls",
];

/// Columns of the pool table.
pub const POOL: [&str; 7] = [
    "time_ns",
    "pool",
    "cores",
    "busy_ns",
    "idle_ns",
    "entitled_ns",
    "management_ns",
];

/// Columns of the table of loads, of partitions that have several; core and thread time, of which
/// the guest's own threads have none.
pub const LOAD: [&str; 10] = [
    "time_ns",
    "partition",
    "workload",
    "busy_ns",
    "thread_ns",
    "instructions",
    "tx_arrived",
    "tx_done",
    "tx_inside",
    "response_ns",
];

/// Columns of the virtual machine table; guest's and chargeable time are of cores, which threads
/// share, thread time of logical processors.
pub const VIRTUAL_MACHINE: [&str; 12] = [
    "time_ns",
    "partition",
    "virtual_machine",
    "guest_ns",
    "chargeable_ns",
    "dispatches",
    "wait_ns",
    "page_wait_ns",
    "page_reads",
    "tx_done",
    "response_ns",
    "thread_ns",
];

/// Columns of the virtual switch table.
pub const SWITCH: [&str; 11] = [
    "time_ns",
    "partition",
    "switch",
    "frames",
    "bytes",
    "searches",
    "elements",
    "list_ns",
    "line_wait_ns",
    "locks",
    "lock_spin_ns",
];

/// Columns of the paging volume table.
pub const VOLUME: [&str; 12] = [
    "time_ns",
    "partition",
    "volume",
    "ios",
    "reads",
    "pages",
    "pend_ns",
    "disc_ns",
    "conn_ns",
    "queue_ns",
    "busy_ns",
    "cache_hits",
];

/// Columns of the fabric table: kind of port, its place (domain, chip or node), lines in its time
/// of one that is read, and what they waited.
pub const FABRIC: [&str; 6] = ["time_ns", "port", "place", "lines", "bytes", "wait_ns"];

/// Columns of the interrupt table: a processor of the host, or a logical one of the partition.
pub const INTERRUPT: [&str; 6] = [
    "time_ns",
    "partition",
    "cpu",
    "interrupts",
    "hard_ns",
    "soft_ns",
];

/// Columns of the home table: a memory domain as a virtual machine's home, and its memory there.
pub const HOME: [&str; 6] = [
    "time_ns",
    "partition",
    "domain",
    "vps_at_home",
    "home_changes",
    "memory_bytes",
];

/// Columns of the dispatch table.
pub const DISPATCH: [&str; 8] = [
    "start_ns",
    "end_ns",
    "partition",
    "vp",
    "core",
    "distance",
    "kind",
    "reason",
];

/// How many columns the partition table has.
pub const PARTITIONS: usize = PARTITION.len() + LINE_COUNT + BOOK_COUNT;

/// Columns of the partition table.
pub fn partition() -> Vec<String> {
    let lines = LINE_NAMES.iter().map(|source| format!("lines_{source}"));
    let books = BOOK_NAMES.iter().map(|book| format!("book_{book}"));
    PARTITION
        .iter()
        .map(|name| (*name).to_string())
        .chain(lines)
        .chain(books)
        .collect()
}
