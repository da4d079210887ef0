//! Walks of translations in two dimensions: what a line from memory of a virtual machine waits for
//! beyond what it would without a hypervisor.
//!
//! Four levels of tables are four references. Under a hypervisor each of the guest's tables lies at
//! an address of the guest, to be translated first, and so does the page in the end: `(4 + 1)
//! (4 + 1) - 1 = 24`. Both shares of `spec::Walks` at 1 give these; processors keep most of what
//! lies above the last level.
//!
//! ```text
//! one dimension    last level + upper * levels above
//! two              the guest's, each with guest_tables * (one of the host's), + one of the host's
//! ```
//! Pages of 2 MiB and 1 GiB have a level less each, and tables so much smaller that they lie in
//! nearer caches. What is held is held by the smaller of both pages. Profiles were measured with
//! pages of 4 KiB and without a hypervisor: such walks are within their numbers, only what goes
//! beyond counts, and what larger pages would save there does not.

use crate::spec::{CacheScope, Machine, Partition, Processors, Virtualized, Walks};

const SMALL: f64 = 4096.0;
const LARGE: f64 = 2_097_152.0;
const HUGE: f64 = 1_073_741_824.0;

/// Length of an entry of a table [bytes].
const ENTRY: f64 = 8.0;

/// What a line from memory waits for its translation more than the profile knows [ns].
pub(super) fn beyond_ns(machine: &Machine, partition: &Partition) -> f64 {
    let (Some(walks), Some(by)) = (&machine.walks, virtualized(partition)) else {
        return 0.0;
    };
    let tables = Tables {
        machine,
        walks,
        data: partition.data_bytes as f64,
    };
    let (guest, host) = (page(partition.page_bytes), page(by.page_bytes));
    let virtual_ns = tables.missed(guest.min(host)) * tables.twice_ns(guest, host);
    let known_ns = tables.missed(SMALL) * tables.once_ns(SMALL);
    (virtual_ns - known_ns).max(0.0)
}

/// What it costs a partition to be a virtual machine; none = it is none.
pub(super) fn virtualized(partition: &Partition) -> Option<&Virtualized> {
    match &partition.processors {
        Processors::Shared { host, .. } => host.virtualized.as_deref(),
        Processors::Dedicated { .. } => None,
    }
}

/// Length of the largest page that the processor has and that is no longer [bytes].
fn page(bytes: u64) -> f64 {
    let fits = |size: &f64| *size <= bytes as f64;
    [HUGE, LARGE].into_iter().find(fits).unwrap_or(SMALL)
}

/// Levels of tables above that of the pages.
fn above(page: f64) -> f64 {
    match page {
        HUGE => 1.0,
        LARGE => 2.0,
        _ => 3.0,
    }
}

/// Tables of so much data.
struct Tables<'a> {
    machine: &'a Machine,
    walks: &'a Walks,
    data: f64,
}

impl Tables<'_> {
    /// Share of the lines from memory whose translation is not held.
    fn missed(&self, page: f64) -> f64 {
        let entries = match page {
            HUGE => self.walks.large_entries,
            _ => self.walks.entries,
        };
        (1.0 - f64::from(entries) * page / self.data).max(0.0)
    }

    /// A walk of tables for pages of that length [ns].
    fn once_ns(&self, page: f64) -> f64 {
        self.last_ns(page) + self.walks.upper * above(page) * self.kept_ns()
    }

    /// A walk of the guest's tables through the hypervisor's [ns].
    fn twice_ns(&self, guest: f64, host: f64) -> f64 {
        let walks = self.walks;
        let asked = 1.0 + walks.upper * above(guest);
        let each = (1.0 + walks.upper * above(host)) * self.kept_ns();
        self.once_ns(guest) + asked * walks.guest_tables * each + self.once_ns(host)
    }

    /// A reference to the last level: where its entries lie follows from how many they are [ns].
    fn last_ns(&self, page: f64) -> f64 {
        let bytes = self.data / page * ENTRY;
        let (mut inside, mut ns) = (0.0, 0.0);
        for cache in self.machine.caches.iter().skip(1) {
            let held = (self.walks.cache_share * cache.bytes as f64 / bytes).min(1.0);
            ns += (held - inside).max(0.0) * cache.latency_ns;
            inside = held.max(inside);
        }
        ns + (1.0 - inside) * self.machine.memory_ns.local
    }

    /// A reference to tables that are few: they lie in a core's own last cache [ns].
    fn kept_ns(&self) -> f64 {
        let caches = &self.machine.caches;
        let own = caches.iter().rev().find(|c| c.scope <= CacheScope::Core);
        own.map_or(self.machine.memory_ns.local, |cache| cache.latency_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All references at 10 ns, nothing held, nothing kept.
    fn plain(upper: f64, guest_tables: f64) -> (Machine, Walks) {
        let mut machine = crate::machine::parse_short("core:1").unwrap();
        machine.memory_ns.local = 10.0;
        for cache in &mut machine.caches {
            cache.latency_ns = 10.0;
        }
        let walks = Walks {
            entries: 1,
            large_entries: 1,
            upper,
            guest_tables,
            cache_share: 0.5,
        };
        (machine, walks)
    }

    fn references(upper: f64, guest_tables: f64, pages: (f64, f64)) -> (f64, f64) {
        let (machine, walks) = plain(upper, guest_tables);
        let tables = Tables {
            machine: &machine,
            walks: &walks,
            data: 1e12,
        };
        let (guest, host) = pages;
        (
            tables.once_ns(guest) / 10.0,
            tables.twice_ns(guest, host) / 10.0,
        )
    }

    #[test]
    fn whoever_keeps_nothing_makes_every_reference() {
        for (pages, once, twice) in [
            ((SMALL, SMALL), 4.0, 24.0),
            ((LARGE, SMALL), 3.0, 19.0),
            ((SMALL, LARGE), 4.0, 19.0),
            ((LARGE, LARGE), 3.0, 15.0),
            ((HUGE, HUGE), 2.0, 8.0),
        ] {
            let (one, two) = references(1.0, 1.0, pages);
            assert!((one - once).abs() < 1e-9 && (two - twice).abs() < 1e-9);
        }
    }

    #[test]
    fn whoever_keeps_all_but_the_last_makes_one_for_each_dimension() {
        assert_eq!(references(0.0, 0.0, (SMALL, SMALL)), (1.0, 2.0));
    }
}
