//! A domain's cap: a budget of processor time a period, taken in portions by its units, which are
//! parked while there is none.

use super::ids::VpId;

/// What a capped domain has left of its period.
#[derive(Clone, Debug)]
pub struct Budget {
    /// Budget of a period [ns].
    pub total_ns: i64,
    /// Left of it and not taken by a unit; below zero where units ran over [ns].
    pub left_ns: i64,
    /// Portion that a unit takes at a time [ns].
    pub portion_ns: i64,
    /// When the next budget comes [ns].
    pub next_at: u64,
    /// Units that wait for it.
    pub parked: Vec<VpId>,
    period_ns: u64,
}

impl Budget {
    /// A cap of so many processors for a domain of `units`; a portion is an even part, so that each
    /// unit has its turn, but at least the shortest time that Xen lets anybody run.
    pub fn new(cap_cores: f64, period_ns: u64, units: usize, min_timer_ns: u64) -> Self {
        let total = (cap_cores * period_ns as f64).round() as i64;
        Self {
            total_ns: total,
            left_ns: total,
            portion_ns: (total / units.max(1) as i64).max(min_timer_ns as i64),
            next_at: period_ns,
            parked: Vec::new(),
            period_ns,
        }
    }

    /// A unit that has `own` left (below zero if it ran over) asks for a portion: what it has then,
    /// 0 if it must be parked.
    pub fn take(&mut self, own: i64) -> i64 {
        self.left_ns += own;
        let portion = self.left_ns.clamp(0, self.portion_ns);
        self.left_ns -= portion;
        portion
    }

    /// A unit that stops running gives back what it has left; whether who waits may then try again.
    pub fn give_back(&mut self, own: i64) -> bool {
        self.left_ns += own;
        self.left_ns > 0
    }

    /// The next period's budget has come; whether who waits may try again. One that ran over a
    /// whole budget waits for another.
    pub fn replenish(&mut self, now: u64) -> bool {
        while self.next_at <= now {
            self.next_at += self.period_ns;
            self.left_ns += self.total_ns;
        }
        self.left_ns = self.left_ns.min(self.total_ns);
        self.left_ns > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    fn half_a_core() -> Budget {
        Budget::new(0.5, 10_000_000, 2, 500_000)
    }

    #[test]
    fn units_take_even_portions_until_nothing_is_left() {
        let mut budget = half_a_core();
        assert_eq!(budget.take(0), 5 * MS / 2);
        assert_eq!(budget.take(0), 5 * MS / 2);
        assert_eq!(budget.take(-MS), 0);
        assert_eq!(budget.left_ns, -MS);
    }

    #[test]
    fn what_was_run_over_is_missing_in_the_next_period() {
        let mut budget = half_a_core();
        budget.left_ns = -MS;
        assert!(budget.replenish(10_000_000));
        assert_eq!((budget.left_ns, budget.next_at), (4 * MS, 20_000_000));
        budget.left_ns = -6 * MS;
        assert!(!budget.replenish(20_000_000));
    }

    #[test]
    fn nothing_is_saved_up_beyond_a_period() {
        let mut budget = half_a_core();
        budget.replenish(10_000_000);
        assert_eq!(budget.left_ns, 5 * MS);
    }

    #[test]
    fn a_small_cap_is_handed_out_in_whole_shortest_times() {
        let mut budget = Budget::new(0.1, 10_000_000, 8, 500_000);
        assert_eq!(budget.take(0), MS / 2);
        assert!(budget.give_back(MS / 4));
        assert_eq!(budget.left_ns, 3 * MS / 4);
    }
}
