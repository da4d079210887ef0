//! What running as a virtual machine costs, under KVM and under Xen alike, and what of a processor
//! that hangs on.

use serde::{Deserialize, Serialize};

/// What a hypervisor costs a virtual machine while it runs. Exits that end in the host's scheduler
/// are another matter (`Kvm::exit_ns`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Virtualized {
    /// Pages with which the hypervisor maps the machine's memory [bytes].
    pub page_bytes: u64,
    /// Out of the guest, something small done by the hypervisor, and back [ns].
    pub exit_ns: u64,
    /// Such exits for each of the guest's clock ticks on a processor at work: its timer fires, and
    /// is set anew.
    pub timer_exits: u32,
    /// Whether the processor delivers interrupts, and takes their end, without an exit.
    pub posted_interrupts: bool,
}

impl Virtualized {
    /// Largest pages that a kernel makes of smaller ones by itself [bytes].
    const LARGEST_TRANSPARENT: u64 = 2 << 20;

    /// Whether its memory is of reserved large pages, which NUMA balancing never moves
    /// (`is_vm_hugetlb_page` in `task_numa_work`).
    pub fn has_reserved_pages(&self) -> bool {
        self.page_bytes > Self::LARGEST_TRANSPARENT
    }

    /// Exits for an answer of a device: the guest asks, and is interrupted; without posted
    /// interrupts one to deliver it and one for its end.
    pub fn io_exits(&self) -> f64 {
        if self.posted_interrupts {
            1.0
        } else {
            3.0
        }
    }
}

/// How a processor walks the tables of translations, for memory of a virtual machine those of the
/// guest and those of the hypervisor, each reference to the former through all of the latter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Walks {
    /// Pages of up to 2 MiB whose translations a core holds.
    pub entries: u32,
    /// The same of 1 GiB.
    pub large_entries: u32,
    /// Share of the references above the last level that the walker has not kept [0..1].
    pub upper: f64,
    /// Share of the references to the guest's tables for which it must ask where they lie [0..1].
    pub guest_tables: f64,
    /// Share of each cache that tables may take [0..1].
    pub cache_share: f64,
}
