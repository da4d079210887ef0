//! Processor time that a limit leaves: it fills at the limit's rate, and who begins a slice has it
//! set aside.

/// Minor time slices for which who is limited can save up what the limit is worth: assumed, between
/// 1 and 100.
const SAVED_SLICES: f64 = 10.0;

/// Minor time slices that are saved when one that has used up its limit may run again: assumed, 0.1
/// to 1.
pub const LET_GO_SLICES: f64 = 0.5;

/// Minor time slices that who comes back from a limit can claim for the time before: assumed,
/// between 0 and 10.
pub const CLAIMED_SLICES: f64 = 3.0;

/// What a limit leaves.
#[derive(Clone, Debug)]
pub struct Budget {
    /// Most processors' time in a nanosecond; infinite without a limit.
    pub rate: f64,
    /// What is left now [ns].
    left_ns: f64,
    /// What of that is set aside for processors that began a further slice [ns].
    pledged_ns: f64,
    /// When that was worked out [ns].
    at: u64,
}

impl Budget {
    /// Of a limit at so many processors; nothing is saved yet.
    pub const fn new(rate: f64) -> Self {
        Self {
            rate,
            left_ns: 0.0,
            pledged_ns: 0.0,
            at: 0,
        }
    }

    /// With all that can be saved, in slices of this length.
    pub fn full(rate: f64, slice_ns: f64) -> Self {
        Self {
            left_ns: saved_ns(rate, slice_ns),
            ..Self::new(rate)
        }
    }

    /// Brings it up to date: it fills at the rate of the limit, up to what can be saved. What was
    /// set aside for who used it is paid from that.
    pub fn spend(&mut self, now: u64, used_ns: f64, own_ns: &mut f64, slice_ns: f64) {
        self.refill(now, saved_ns(self.rate, slice_ns));
        self.left_ns -= used_ns;
        let paid = used_ns.min(*own_ns);
        *own_ns -= paid;
        self.pledged_ns -= paid;
    }

    fn refill(&mut self, now: u64, saved_ns: f64) {
        let earned = (now - self.at) as f64 * self.rate;
        self.at = now;
        self.left_ns = (self.left_ns + earned).min(saved_ns);
    }

    /// Sets the time of a slice aside for one who has so much of it set aside already.
    pub fn pledge(&mut self, own_ns: &mut f64, slice_ns: f64) {
        self.pledged_ns += slice_ns - std::mem::replace(own_ns, slice_ns);
    }

    /// What was set aside for one and is not used is anybody's.
    pub fn forgo(&mut self, own_ns: &mut f64) {
        self.pledged_ns -= std::mem::take(own_ns);
    }

    /// Whether nothing is left for whom nothing is set aside.
    pub fn is_over(&mut self, now: u64) -> bool {
        if self.rate.is_infinite() {
            return false;
        }
        self.refill(now, f64::INFINITY);
        self.free_ns() <= 0.0
    }

    /// Whether nothing is left for one for whom so much is set aside.
    #[inline]
    pub fn is_over_for(&mut self, now: u64, own_ns: f64) -> bool {
        self.is_over(now) && self.free_ns() + own_ns <= 0.0
    }

    /// What is left for whom nothing is set aside [ns].
    pub fn free_ns(&self) -> f64 {
        self.left_ns - self.pledged_ns
    }

    /// How long until there is enough of a slice to let one go [ns].
    pub fn wait_ns(&self, slice_ns: f64) -> u64 {
        let half = LET_GO_SLICES * slice_ns;
        ((half - self.free_ns()) / self.rate).clamp(1.0, 1e15) as u64
    }
}

/// What can be saved. The least that lets one go can be in any case, or a small limit never has it.
fn saved_ns(rate: f64, slice_ns: f64) -> f64 {
    (SAVED_SLICES * rate).max(LET_GO_SLICES) * slice_ns
}
