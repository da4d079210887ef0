//! Capacity by window: a partition's entitlement and its lending among siblings, and a pool's
//! limit.
//!
//! The entitlement is spread evenly over the partition's virtual processors at each window. What
//! one of them does not take, because it is inactive or cedes before its slice ends, is lent to its
//! siblings first; what is left at the end of the window is lost. (lparcfg.5 of powerpc-utils
//! states these rules.)
//!
//! PR/SM lends nothing among siblings: each logical core has a slice of its own, by its
//! polarization, and what it leaves is there for all partitions by weight (`slices`, `limits.rs`).

use super::average::RollingAverage;
use super::ids::{Capacity, VpId};
use crate::spec::{Partition, Pool, Processors};

/// Least piece of ceded time that is lent at once [ns]; smaller pieces would only cost switches.
/// Assumed, between 50 and 500 us.
const LEAST_LOAN_NS: u64 = 200_000;

/// Capacity of a partition.
#[derive(Clone, Debug)]
pub struct Share {
    /// First virtual processor.
    pub first_vp: VpId,
    /// Virtual processors.
    pub vps: u16,
    /// Dedicated cores; empty for a shared partition.
    pub cores: Vec<u16>,
    /// Whether a dedicated partition lends idle cores now.
    pub donating: bool,
    /// Entitlement of a window [ns of core time].
    pub entitled_ns: u64,
    /// Whether it may not use excess capacity (capped, or weight 0).
    pub capped: bool,
    /// Weight for excess capacity.
    pub weight: f64,
    /// Index of the pool whose limits count for it.
    pub pool: u16,
    /// Ceded entitlement not lent yet in this window [ns].
    pub ceded_ns: u64,
    /// Virtual processors with work.
    pub active_vps: u32,
    /// Whether its pool keeps its entitlement free in this window: it had work at the start.
    pub promised: bool,
    /// Excess time used, divided by the weight; grows while others wait [ns].
    pub excess_age: f64,
    /// Its home chips.
    pub home: Vec<u16>,
    /// Slice of each virtual processor in a window [ns]; empty = all alike, and what one cedes is
    /// lent to its siblings.
    pub slices: Vec<u64>,
    /// What a core has to give in a window, where nothing is lent [ns].
    pub capacity_ns: u64,
    /// What inactive virtual processors have left of their slices, where nothing is lent [ns].
    pub kept: Vec<u64>,
    /// Part of its slices that its limits allow in this window [0..1].
    pub scale: f64,
    /// Its own limit.
    pub limit: PoolBudget,
    /// Limit that always holds [cores].
    pub cap: Option<f64>,
    /// Limit of a long average.
    pub average: Option<RollingAverage>,
    /// Group that limits it together with others.
    pub group: Option<u16>,
    /// Whether it had to wait for a core in this window, with PR/SM.
    pub waited: bool,
}

impl Share {
    /// Reads a partition's processors.
    pub fn new(partition: &Partition, first_vp: VpId, vps: u16, window_ns: u64) -> Self {
        let mut share = Self {
            first_vp,
            vps,
            cores: Vec::new(),
            donating: false,
            entitled_ns: 0,
            capped: true,
            weight: 0.0,
            pool: 0,
            ceded_ns: 0,
            active_vps: 0,
            promised: false,
            excess_age: 0.0,
            home: home_chips(partition),
            slices: Vec::new(),
            capacity_ns: window_ns,
            kept: Vec::new(),
            scale: 1.0,
            limit: PoolBudget::unlimited(),
            cap: None,
            average: None,
            group: None,
            waited: false,
        };
        match &partition.processors {
            Processors::Shared {
                entitlement,
                capped,
                weight,
                pool,
                prsm,
                ..
            } => {
                share.entitled_ns = (entitlement * window_ns as f64).round() as u64;
                share.capped = *capped || *weight == 0;
                share.weight = f64::from(*weight);
                share.pool = *pool;
                share.cap = prsm.cap;
                share.average = prsm.defined_capacity.as_ref().map(RollingAverage::new);
                share.group = prsm.group;
            }
            Processors::Dedicated {
                cores, donating, ..
            } => {
                share.cores = cores.clone();
                share.donating = *donating;
                share.entitled_ns = cores.len() as u64 * window_ns;
            }
        }
        share
    }

    /// Whether use on this account comes out of what its pool has not promised to others.
    #[inline]
    pub fn is_unpromised(&self, capacity: Capacity) -> bool {
        capacity == Capacity::Excess || !self.promised
    }

    /// Whether a chip is one of its home chips.
    #[inline]
    pub fn is_home(&self, chip: u16) -> bool {
        self.home.contains(&chip)
    }

    /// Whether it has cores of its own.
    pub fn is_dedicated(&self) -> bool {
        !self.cores.is_empty()
    }

    /// Even slice of one virtual processor [ns].
    pub fn even_slice_ns(&self) -> u64 {
        self.entitled_ns / u64::from(self.vps)
    }

    /// Whether what one virtual processor cedes goes to its siblings first.
    #[inline]
    pub fn lends(&self) -> bool {
        self.slices.is_empty()
    }

    /// Slice of a virtual processor in this window, by its index in the partition [ns].
    #[inline]
    pub fn slice_ns(&self, index: u16) -> u64 {
        match self.slices.get(usize::from(index)) {
            Some(slice) => (*slice as f64 * self.scale) as u64,
            None => self.even_slice_ns(),
        }
    }

    /// Starts a window in which `active` virtual processors have work: each takes its even slice,
    /// the rest is ceded.
    pub fn open_window(&mut self, active: u32) -> u64 {
        let slice = self.even_slice_ns();
        self.active_vps = active;
        self.ceded_ns = self.entitled_ns - slice * u64::from(active);
        slice
    }

    /// Takes back what an idle virtual processor leaves of its slice.
    pub fn cede(&mut self, index: u16, slice_ns: u64) {
        if self.lends() {
            self.ceded_ns += slice_ns;
        } else {
            self.kept[usize::from(index)] = slice_ns;
        }
    }

    /// Lends ceded time to a virtual processor whose slice ended; 0 if there is none.
    pub fn lend(&mut self) -> u64 {
        let even = self.ceded_ns / u64::from(self.active_vps.max(1));
        let loan = even.max(LEAST_LOAN_NS).min(self.ceded_ns);
        self.ceded_ns -= loan;
        loan
    }

    /// Gives back, to a virtual processor that wakes with `left_ns` of the window to go, what is
    /// left of its slice. Where nothing is lent, what it did not use while it was idle is not
    /// saved up: others could use it.
    pub fn reclaim(&mut self, index: u16, left_ns: u64) -> u64 {
        if !self.lends() {
            let kept = std::mem::take(&mut self.kept[usize::from(index)]);
            let rest = left_ns as f64 / self.capacity_ns as f64;
            let due = (self.slice_ns(index) as f64 * rest) as u64;
            return kept.min(due);
        }
        let slice = self.even_slice_ns().min(self.ceded_ns);
        self.ceded_ns -= slice;
        slice
    }
}

fn home_chips(partition: &Partition) -> Vec<u16> {
    let mut chips = partition.home.clone();
    chips.sort_unstable();
    chips.dedup();
    chips
}

/// Capacity of a pool in a window.
#[derive(Clone, Debug)]
pub struct PoolBudget {
    /// Limit of a window [ns]; none = unlimited.
    pub maximum_ns: Option<u64>,
    /// Reserve of a window [ns].
    pub reserved_ns: u64,
    /// Left of the limit in this window, reservations taken off [ns].
    pub left_ns: u64,
    /// Left for excess use in this window, reservations taken off [ns].
    pub left_unpromised_ns: u64,
    /// Used in this window [ns].
    pub used_ns: u64,
    /// Sum of its partitions' entitlements in a window, plus the reserve [ns].
    pub entitled_ns: u64,
    /// Its virtual processors with work.
    pub active_vps: u32,
}

impl PoolBudget {
    /// Reads a pool.
    pub fn new(pool: &Pool, window_ns: u64) -> Self {
        Self {
            maximum_ns: pool
                .maximum
                .map(|cores| (cores * window_ns as f64).round() as u64),
            reserved_ns: (pool.reserved * window_ns as f64).round() as u64,
            ..Self::unlimited()
        }
    }

    /// A budget without a limit.
    pub fn unlimited() -> Self {
        Self {
            maximum_ns: None,
            reserved_ns: 0,
            left_ns: u64::MAX,
            left_unpromised_ns: u64::MAX,
            used_ns: 0,
            entitled_ns: 0,
            active_vps: 0,
        }
    }

    /// Sets or lifts the limit of the window that starts [ns].
    pub fn limit_to(&mut self, maximum_ns: Option<u64>) {
        self.maximum_ns = maximum_ns;
        self.left_ns = u64::MAX;
        self.left_unpromised_ns = u64::MAX;
    }

    /// What is left for use of either kind [ns].
    #[inline]
    pub fn left_for(&self, unpromised: bool) -> u64 {
        if unpromised {
            self.left_ns.min(self.left_unpromised_ns)
        } else {
            self.left_ns
        }
    }

    /// Starts a window; `promised_ns` is the entitlement of its partitions that have work.
    pub fn open_window(&mut self, promised_ns: u64, active_vps: u32) {
        self.used_ns = 0;
        self.active_vps = active_vps;
        if let Some(maximum) = self.maximum_ns {
            self.left_ns = maximum;
            self.left_unpromised_ns = maximum.saturating_sub(promised_ns);
        }
    }

    /// Whether part of its entitled capacity is unused, so that its partitions' excess goes first
    /// (level 0).
    pub fn has_own_excess(&self) -> bool {
        self.used_ns < self.entitled_ns
    }

    /// Reserves time for a stretch on a core; 0 if the limit is reached.
    pub fn reserve(&mut self, wanted_ns: u64, unpromised: bool) -> u64 {
        if self.maximum_ns.is_none() {
            return wanted_ns;
        }
        let left = self.left_for(unpromised);
        let even = left / u64::from(self.active_vps.max(1));
        let grant = even.max(LEAST_LOAN_NS).min(left).min(wanted_ns);
        self.left_ns -= grant;
        if unpromised {
            self.left_unpromised_ns -= grant;
        }
        grant
    }

    /// Returns what was reserved and not used.
    pub fn give_back(&mut self, unused_ns: u64, unpromised: bool) {
        if self.maximum_ns.is_some() {
            self.left_ns += unused_ns;
            if unpromised {
                self.left_unpromised_ns += unused_ns;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(entitled_ns: u64, vps: u16) -> Share {
        Share {
            first_vp: 0,
            vps,
            cores: vec![],
            donating: false,
            entitled_ns,
            capped: false,
            weight: 128.0,
            pool: 0,
            ceded_ns: 0,
            active_vps: 0,
            promised: false,
            excess_age: 0.0,
            home: vec![],
            slices: vec![],
            capacity_ns: 1,
            kept: vec![],
            scale: 1.0,
            limit: PoolBudget::unlimited(),
            cap: None,
            average: None,
            group: None,
            waited: false,
        }
    }

    #[test]
    fn thirty_virtual_processors_with_three_cores_get_a_millisecond_each() {
        let mut share = share(30_000_000, 30);
        assert_eq!(share.open_window(18), 1_000_000);
        assert_eq!(share.ceded_ns, 12_000_000);
        // The first whose slice ends is lent an even part of what twelve siblings left.
        assert_eq!(share.lend(), 666_666);
        assert_eq!(share.reclaim(0, 0), 1_000_000);
    }

    #[test]
    fn a_window_never_hands_out_more_than_the_entitlement() {
        let mut share = share(7_000_001, 3);
        let mut out = 2 * share.open_window(2);
        while share.ceded_ns > 0 {
            out += share.lend();
        }
        assert_eq!(out, 7_000_001);
    }

    #[test]
    fn a_limited_pool_reserves_no_more_than_it_has() {
        let mut pool = PoolBudget::new(
            &Pool {
                name: "p".into(),
                maximum: Some(1.0),
                reserved: 0.0,
                cores: None,
            },
            10_000_000,
        );
        pool.open_window(4_000_000, 2);
        let mut excess = 0;
        loop {
            match pool.reserve(5_000_000, true) {
                0 => break,
                grant => excess += grant,
            }
        }
        assert_eq!(excess, 6_000_000);
        assert_eq!(pool.reserve(9_000_000, false), 2_000_000);
        pool.give_back(500_000, true);
        assert_eq!(pool.left_unpromised_ns, 500_000);
    }
}
