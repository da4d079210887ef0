//! A pool's limit by window, and what is reserved of it.

use crate::spec::Pool;

/// Least piece of ceded time that is lent at once [ns]; smaller pieces would only cost switches.
/// Assumed, between 50 and 500 us.
pub const LEAST_LOAN_NS: u64 = 200_000;

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
    /// Left of its reserve and of what partitions without work are entitled to: the excess that its
    /// own partitions come first for (level 0) [ns].
    pub own_ns: u64,
    /// Used in this window [ns].
    pub used_ns: u64,
    /// The part of that which was excess [ns].
    pub excess_ns: u64,
    /// Sum of its partitions' entitlements in a window, plus the reserve [ns].
    pub entitled_ns: u64,
    /// What those of earlier windows were more, or less, all together [ns].
    pub entitled_before_ns: i64,
    /// The part of that which partitions with work have in this window [ns].
    pub promised_ns: u64,
    /// Its virtual processors with work.
    pub active_vps: u32,
    /// Whether some who wanted more waited for it in this window.
    pub held_back: bool,
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
            own_ns: 0,
            used_ns: 0,
            excess_ns: 0,
            entitled_ns: 0,
            entitled_before_ns: 0,
            promised_ns: 0,
            active_vps: 0,
            held_back: false,
        }
    }

    /// Sets or lifts the limit of the window that starts [ns].
    pub fn limit_to(&mut self, maximum_ns: Option<u64>) {
        self.maximum_ns = maximum_ns;
        self.left_ns = u64::MAX;
        self.left_unpromised_ns = u64::MAX;
    }

    /// What is left for use of either kind to one for which so much is kept [ns].
    #[inline]
    pub fn left_for(&self, unpromised: bool, kept_ns: u64) -> u64 {
        if unpromised {
            let left = self.left_unpromised_ns.saturating_add(kept_ns);
            self.left_ns.min(left)
        } else {
            self.left_ns
        }
    }

    /// Starts a window; `promised_ns` is the entitlement of its partitions that have work.
    pub fn open_window(&mut self, promised_ns: u64, active_vps: u32) {
        (self.used_ns, self.excess_ns, self.held_back) = (0, 0, false);
        self.active_vps = active_vps;
        if let Some(maximum) = self.maximum_ns {
            self.left_ns = maximum;
            self.left_unpromised_ns = maximum.saturating_sub(promised_ns);
        }
    }

    /// So much of what was promised is there for excess use.
    #[inline]
    pub fn release(&mut self, unused_ns: u64) {
        if self.maximum_ns.is_some() {
            self.left_unpromised_ns += unused_ns;
        }
    }

    /// Whether hardly anything is left for excess use.
    pub fn is_used_up(&self) -> bool {
        self.maximum_ns.is_some() && self.left_unpromised_ns < LEAST_LOAN_NS
    }

    /// Reserves a piece of what the pool itself is entitled to, as far as there is any.
    pub fn reserve_own(&mut self, wanted_ns: u64) -> u64 {
        let even = self.own_ns / u64::from(self.active_vps.max(1));
        let grant = even.max(LEAST_LOAN_NS).min(self.own_ns).min(wanted_ns);
        self.own_ns -= grant;
        grant
    }

    /// Excess that came out of what the pool itself is entitled to, in the window that ends [ns].
    pub fn own_excess_ns(&self) -> u64 {
        let as_entitled = self.used_ns - self.excess_ns;
        let unused = self.entitled_ns.saturating_sub(as_entitled);
        unused.min(self.excess_ns)
    }

    /// Keeps so much of what is not promised for one partition, as far as there is any; what was
    /// kept for it beyond that is kept no longer.
    pub fn keep(&mut self, kept_ns: &mut u64, wanted_ns: u64) {
        self.left_unpromised_ns += *kept_ns;
        *kept_ns = wanted_ns.min(self.left_unpromised_ns);
        self.left_unpromised_ns -= *kept_ns;
    }

    /// Reserves time for a stretch on a core, first of what is kept for who asks; 0 if the limit is
    /// reached.
    pub fn reserve(&mut self, wanted_ns: u64, unpromised: bool, kept_ns: &mut u64) -> u64 {
        if self.maximum_ns.is_none() {
            return wanted_ns;
        }
        let left = self.left_for(unpromised, *kept_ns);
        let even = left / u64::from(self.active_vps.max(1));
        let even = even.max(LEAST_LOAN_NS).max(*kept_ns);
        let grant = even.min(left).min(wanted_ns);
        self.left_ns -= grant;
        if unpromised {
            let kept = grant.min(*kept_ns);
            *kept_ns -= kept;
            self.left_unpromised_ns -= grant - kept;
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

impl PoolBudget {
    /// A group's budget: its cap in a window in which a core has `capacity_ns`.
    pub fn of_group(cap: f64, capacity_ns: u64) -> Self {
        Self {
            maximum_ns: Some((cap * capacity_ns as f64) as u64),
            ..Self::unlimited()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            match pool.reserve(5_000_000, true, &mut 0) {
                0 => break,
                grant => excess += grant,
            }
        }
        assert_eq!(excess, 6_000_000);
        assert_eq!(pool.reserve(9_000_000, false, &mut 0), 2_000_000);
        pool.give_back(500_000, true);
        assert_eq!(pool.left_unpromised_ns, 500_000);
    }
}
