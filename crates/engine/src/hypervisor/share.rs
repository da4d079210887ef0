//! What a partition may use in a window, by the rule that its hypervisor goes by.
//!
//! PowerVM spreads the entitlement evenly over the partition's virtual processors at each window.
//! What one of them does not take, because it is inactive or cedes before its slice ends, is lent
//! to its siblings first; what is left at the end of the window is lost. (lparcfg.5 of
//! powerpc-utils states these rules.)
//!
//! PR/SM lends nothing among siblings: each logical core has a slice of its own, by its
//! polarization, and what it leaves is there for all partitions by weight (`slices`, `limits.rs`).
//!
//! A dedicated partition has cores, and no share of anybody else's.

use super::average::RollingAverage;
use super::capacity::Capacity;
use super::pool::{PoolBudget, LEAST_LOAN_NS};
use crate::ids::{ChipId, GroupId, PoolId};
use crate::spec::{Partition, Policy, Processors};

/// Excess use with which a soft cap begins: more than any run makes of time by weight, so that all
/// others come first, and so little that nanoseconds still count beside it [ns].
const SOFT_CAP_AGE_NS: f64 = 1e17;

/// Least piece of a slice that is not just rounding [ns].
const LEAST_CUT_NS: u64 = 1_000;

/// Capacity of a partition: a cache line.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Share {
    /// Virtual processors.
    pub vps: u16,
    /// Those of them with work.
    pub active_vps: u32,
    /// Those with work, but without capacity until the next window.
    pub exhausted_vps: u16,
    /// Entitlement of a window [ns of core time].
    pub entitled_ns: u64,
    /// How it is spread and what becomes of the rest.
    pub rule: Rule,
}

/// How a partition's entitlement is spread over its virtual processors.
#[derive(Clone, Debug)]
pub enum Rule {
    /// Each has a core of its own.
    Own(OwnCores),
    /// All alike, and what one cedes is lent to its siblings: PowerVM.
    Lending(Lending),
    /// Each has its own slice: PR/SM.
    Slices(Box<Slices>),
}

/// Cores of one's own.
#[derive(Clone, Debug)]
pub struct OwnCores {
    /// Whether idle ones are lent to the pool now.
    pub donating: bool,
}

/// What entitles a partition to cores that it shares with others.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The pool whose limits count for it.
    pub pool: PoolId,
    /// Whether it may not use excess capacity (capped, or weight 0).
    pub capped: bool,
    /// Whether it uses excess capacity only while nobody else waits for it.
    pub soft_cap: bool,
    /// Weight for excess capacity.
    pub weight: f64,
    /// Excess time used, divided by the weight; grows while others wait [ns].
    pub excess_age: f64,
    /// Whether its pool keeps its entitlement free in this window: it had work at the start. Slices
    /// are always kept free, as far as they can still be used.
    pub promised: bool,
}

/// Even slices, lent among siblings.
#[derive(Clone, Debug)]
pub struct Lending {
    /// What it has of the pool.
    pub claim: Claim,
    /// Ceded entitlement not lent yet in this window [ns].
    pub ceded_ns: u64,
    /// Its home chips.
    pub home: Box<[ChipId]>,
}

/// A slice for each logical core, and limits on all of them.
#[derive(Clone, Debug)]
pub struct Slices {
    /// What it has of the pool.
    pub claim: Claim,
    /// Slice of each logical core in a window [ns].
    pub slices: Vec<u64>,
    /// What a core has to give in a window [ns].
    pub capacity_ns: u64,
    /// What is kept of their slices for logical cores without work, 0 for others [ns].
    pub kept: Vec<u64>,
    /// What initial capping still lets each logical core have in this window beyond the part of its
    /// slice that other limits allow [ns].
    pub beyond: Vec<u64>,
    /// Part of its slices that its limits allow in this window [0..1].
    pub scale: f64,
    /// Its own limit.
    pub limit: PoolBudget,
    /// Limit that always holds [cores].
    pub cap: Option<f64>,
    /// Limit of a long average.
    pub average: Option<RollingAverage>,
    /// Group that limits it together with others.
    pub group: Option<GroupId>,
}

impl Share {
    /// Reads a partition's processors.
    pub fn new(partition: &Partition, policy: Policy, window_ns: u64) -> Self {
        let vps = partition.processors.count();
        let entitled = |cores: f64| (cores * window_ns as f64).round() as u64;
        let (entitled_ns, rule) = match &partition.processors {
            Processors::Dedicated { donating, .. } => {
                let donating = *donating;
                (u64::from(vps) * window_ns, Rule::Own(OwnCores { donating }))
            }
            Processors::Shared { entitlement, .. } if policy == Policy::Prsm => (
                entitled(*entitlement),
                Rule::Slices(slices(partition, window_ns)),
            ),
            Processors::Shared { entitlement, .. } => {
                let lending = Lending {
                    claim: Claim::new(partition),
                    ceded_ns: 0,
                    home: home_chips(partition),
                };
                (entitled(*entitlement), Rule::Lending(lending))
            }
        };
        Self {
            vps,
            active_vps: 0,
            exhausted_vps: 0,
            entitled_ns,
            rule,
        }
    }

    /// Takes a partition's configuration that has changed. While a window is open, its virtual
    /// processors are those of before until [`Share::vps`] is set.
    pub fn reconfigure(&mut self, partition: &Partition, window_ns: u64) {
        if let (Rule::Lending(_), Processors::Shared { entitlement, .. }) =
            (&self.rule, &partition.processors)
        {
            self.entitled_ns = (entitlement * window_ns as f64).round() as u64;
        }
        if let Some(claim) = self.claim_mut() {
            claim.renew(partition);
        }
    }

    /// So many virtual processors are online from now on.
    pub fn set_vps(&mut self, vps: u16, window_ns: u64) {
        self.vps = vps;
        if self.is_dedicated() {
            self.entitled_ns = u64::from(vps) * window_ns;
        }
    }

    /// What it has of a pool; none with cores of its own.
    #[inline]
    pub fn claim(&self) -> Option<&Claim> {
        match &self.rule {
            Rule::Own(_) => None,
            Rule::Lending(lending) => Some(&lending.claim),
            Rule::Slices(slices) => Some(&slices.claim),
        }
    }

    /// The same, to change.
    #[inline]
    pub fn claim_mut(&mut self) -> Option<&mut Claim> {
        match &mut self.rule {
            Rule::Own(_) => None,
            Rule::Lending(lending) => Some(&mut lending.claim),
            Rule::Slices(slices) => Some(&mut slices.claim),
        }
    }

    /// Whether it has cores of its own.
    #[inline]
    pub fn is_dedicated(&self) -> bool {
        matches!(self.rule, Rule::Own(_))
    }

    /// Whether it lends idle cores of its own now.
    #[inline]
    pub fn donates(&self) -> bool {
        matches!(self.rule, Rule::Own(OwnCores { donating: true }))
    }

    /// Whether its virtual processors may use what others leave.
    #[inline]
    pub fn may_exceed(&self) -> bool {
        match &self.rule {
            Rule::Own(_) => false,
            Rule::Lending(of) => !of.claim.capped,
            Rule::Slices(of) => !of.claim.capped || of.scale < 1.0,
        }
    }

    /// What a virtual processor may still use of that in this window; no end of it without a cap
    /// [ns].
    #[inline]
    pub fn may_use_ns(&self, index: u16) -> u64 {
        match &self.rule {
            Rule::Slices(of) if of.claim.capped => of.beyond[usize::from(index)],
            _ if self.may_exceed() => u64::MAX,
            _ => 0,
        }
    }

    /// Excess time used, by weight; with cores of one's own there is none [ns].
    #[inline]
    pub fn excess_age(&self) -> f64 {
        self.claim().map_or(0.0, |claim| claim.excess_age)
    }

    /// Even slice of one virtual processor [ns].
    pub fn even_slice_ns(&self) -> u64 {
        self.entitled_ns / u64::from(self.vps)
    }

    /// Slice of a virtual processor in this window, by its index in the partition [ns].
    #[inline]
    pub fn slice_ns(&self, index: u16) -> u64 {
        match &self.rule {
            Rule::Slices(of) => of.slice_ns(index),
            Rule::Own(_) | Rule::Lending(_) => self.even_slice_ns(),
        }
    }

    /// Starts a window: each virtual processor with work takes its even slice, the rest is ceded.
    pub fn open_window(&mut self) {
        let active = u64::from(self.active_vps);
        let ceded_ns = self.entitled_ns - self.even_slice_ns() * active;
        match &mut self.rule {
            Rule::Lending(lending) => {
                lending.ceded_ns = ceded_ns;
                lending.claim.promised = active > 0;
            }
            Rule::Slices(_) | Rule::Own(_) => {}
        }
    }

    /// Takes back what an idle virtual processor leaves of its slice, with `left_ns` of the window
    /// to go; what of that was promised to it and is so no longer [ns].
    pub fn cede(&mut self, index: u16, slice_ns: u64, left_ns: u64) -> u64 {
        match &mut self.rule {
            Rule::Own(_) => 0,
            Rule::Lending(lending) => {
                lending.ceded_ns += slice_ns;
                0
            }
            Rule::Slices(slices) => {
                let kept = slice_ns.min(slices.due_ns(index, left_ns));
                slices.kept[usize::from(index)] = kept;
                slice_ns - kept
            }
        }
    }

    /// Lends ceded time to a virtual processor whose slice ended; 0 if there is none.
    pub fn lend(&mut self) -> u64 {
        let active = u64::from(self.active_vps.max(1));
        let Rule::Lending(lending) = &mut self.rule else {
            return 0;
        };
        let even = lending.ceded_ns / active;
        let loan = even.max(LEAST_LOAN_NS).min(lending.ceded_ns);
        lending.ceded_ns -= loan;
        loan
    }

    /// Gives back, to a virtual processor that wakes with `left_ns` of the window to go, what is
    /// left of its slice. Where nothing is lent, what it did not use while it was idle is not
    /// saved up: others could use it. That it was promised, and is no longer, comes second [ns].
    pub fn reclaim(&mut self, index: u16, left_ns: u64) -> (u64, u64) {
        let even = self.even_slice_ns();
        match &mut self.rule {
            Rule::Own(_) => (even, 0),
            Rule::Lending(lending) => {
                let slice = even.min(lending.ceded_ns);
                lending.ceded_ns -= slice;
                (slice, 0)
            }
            Rule::Slices(slices) => slices.reclaim(index, left_ns),
        }
    }
}

impl Claim {
    fn new(partition: &Partition) -> Self {
        let (pool, capped, weight, soft_cap) = match &partition.processors {
            Processors::Shared {
                pool,
                capped,
                weight,
                soft_cap,
                ..
            } => (*pool, *capped, *weight, *soft_cap),
            Processors::Dedicated { .. } => (0, true, 0, false),
        };
        Self {
            pool: PoolId::from(pool),
            capped: capped || weight == 0 && !soft_cap,
            soft_cap,
            weight: f64::from(weight),
            excess_age: if soft_cap { SOFT_CAP_AGE_NS } else { 0.0 },
            promised: false,
        }
    }

    /// What its partition's configuration has become; what was used before still counts.
    fn renew(&mut self, partition: &Partition) {
        let new = Self::new(partition);
        let excess_age = if new.soft_cap == self.soft_cap {
            self.excess_age
        } else {
            new.excess_age
        };
        *self = Self {
            excess_age,
            promised: self.promised,
            ..new
        };
    }

    /// Whether use on this account comes out of what its pool has not promised to others.
    #[inline]
    pub fn is_unpromised(&self, capacity: Capacity) -> bool {
        capacity == Capacity::Excess || !self.promised
    }
}

impl Lending {
    /// Whether a chip is one of its home chips.
    #[inline]
    pub fn is_home(&self, chip: ChipId) -> bool {
        self.home.contains(&chip)
    }
}

impl Slices {
    /// Slice of a logical core in this window [ns].
    #[inline]
    pub fn slice_ns(&self, index: u16) -> u64 {
        (self.slices[usize::from(index)] as f64 * self.scale) as u64
    }

    /// Whether it is below a limit of its own, or of a group.
    pub fn is_limited(&self) -> bool {
        self.group.is_some() || self.limit.maximum_ns.is_some()
    }

    /// What a logical core may have of its slice that has work from now on, with `left_ns` of the
    /// window to go [ns].
    fn due_ns(&self, index: u16, left_ns: u64) -> u64 {
        self.rest_of(self.slice_ns(index), left_ns)
    }

    /// The part of that which is left with `left_ns` of the window to go [ns].
    fn rest_of(&self, slice_ns: u64, left_ns: u64) -> u64 {
        let rest = left_ns as f64 / self.capacity_ns as f64;
        (slice_ns as f64 * rest) as u64
    }

    fn reclaim(&mut self, index: u16, left_ns: u64) -> (u64, u64) {
        let at = usize::from(index);
        let kept = std::mem::take(&mut self.kept[at]);
        let slice = kept.min(self.due_ns(index, left_ns));
        self.beyond[at] = self.beyond[at].min(self.rest_of(self.cut_ns(index), left_ns));
        (slice, kept - slice)
    }

    /// What other limits than initial capping take of a logical core's slice in this window, less
    /// than a dispatch lasts not counted [ns].
    pub fn cut_ns(&self, index: u16) -> u64 {
        let cut = self.slices[usize::from(index)] - self.slice_ns(index);
        if cut < LEAST_CUT_NS {
            0
        } else {
            cut
        }
    }

    /// What was kept for logical cores without work beyond what they may have with so much of the
    /// window to go is kept no longer [ns].
    pub fn give_up(&mut self, left_ns: u64) -> u64 {
        let mut unused = 0;
        for at in 0..self.kept.len() {
            let kept = self.kept[at].min(self.due_ns(at as u16, left_ns));
            unused += std::mem::replace(&mut self.kept[at], kept) - kept;
        }
        unused
    }
}

/// Slices as yet unknown: polarization sets them.
fn slices(partition: &Partition, window_ns: u64) -> Box<Slices> {
    let (cap, average, group) = match &partition.processors {
        Processors::Shared { prsm, .. } => (
            prsm.cap,
            prsm.defined_capacity.as_ref().map(RollingAverage::new),
            prsm.group.map(GroupId::from),
        ),
        Processors::Dedicated { .. } => (None, None, None),
    };
    let claim = Claim {
        promised: true,
        ..Claim::new(partition)
    };
    Box::new(Slices {
        claim,
        slices: Vec::new(),
        capacity_ns: window_ns,
        kept: Vec::new(),
        beyond: Vec::new(),
        scale: 1.0,
        limit: PoolBudget::unlimited(),
        cap,
        average,
        group,
    })
}

fn home_chips(partition: &Partition) -> Box<[ChipId]> {
    let mut chips: Vec<ChipId> = partition.home.iter().copied().map(ChipId::from).collect();
    chips.sort_unstable();
    chips.dedup();
    chips.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_a_cache_line() {
        assert_eq!(std::mem::size_of::<Share>(), 64);
    }

    fn share(entitled_ns: u64, vps: u16) -> Share {
        let claim = Claim {
            pool: PoolId::new(0),
            capped: false,
            soft_cap: false,
            weight: 128.0,
            excess_age: 0.0,
            promised: false,
        };
        Share {
            vps,
            active_vps: 0,
            exhausted_vps: 0,
            entitled_ns,
            rule: Rule::Lending(Lending {
                claim,
                ceded_ns: 0,
                home: Box::default(),
            }),
        }
    }

    fn ceded(share: &Share) -> u64 {
        match &share.rule {
            Rule::Lending(lending) => lending.ceded_ns,
            _ => 0,
        }
    }

    #[test]
    fn thirty_virtual_processors_with_three_cores_get_a_millisecond_each() {
        let mut share = share(30_000_000, 30);
        share.active_vps = 18;
        share.open_window();
        assert_eq!((share.slice_ns(0), ceded(&share)), (1_000_000, 12_000_000));
        // The first whose slice ends is lent an even part of what twelve siblings left.
        assert_eq!(share.lend(), 666_666);
        assert_eq!(share.reclaim(0, 0), (1_000_000, 0));
    }

    #[test]
    fn a_window_never_hands_out_more_than_the_entitlement() {
        let mut share = share(7_000_001, 3);
        share.active_vps = 2;
        share.open_window();
        let mut out = 2 * share.even_slice_ns();
        while ceded(&share) > 0 {
            out += share.lend();
        }
        assert_eq!(out, 7_000_001);
    }
}
