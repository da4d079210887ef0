//! What virtual machines are due: by their shares, no less than is reserved, no more than they can
//! use.
//!
//! Resource pools stand beside virtual machines, or in other pools, as one of them: what a pool is
//! due is divided among those in it by their shares, and so on. It can use no more than its limit
//! and than those in it; reserved is what it says, or more where those in it have reserved more.

use super::parts::NORMAL;
use crate::spec::{Partition, Processors, ResourcePool, Spec};

/// What a virtual machine or a resource pool may have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Claim {
    pub(super) shares: f64,
    /// Cores that it gets in any case, if it can use them.
    pub(super) reserved: f64,
    /// The most that it can use.
    pub(super) most: f64,
}

impl Claim {
    /// What it gets at a rate of cores for a share.
    pub(super) fn at(&self, rate: f64) -> f64 {
        (self.shares * rate).clamp(self.reserved.min(self.most), self.most)
    }

    /// The same at the rate of a whole host, where 0 leaves each what it can use.
    pub(super) fn due(&self, rate: f64) -> f64 {
        if rate > 0.0 {
            self.at(rate)
        } else {
            self.most
        }
    }

    /// Shares that count: as given, or as many more as what is reserved asks for where what is
    /// wanted is more than there is.
    fn counts(&self, rate: f64) -> f64 {
        if rate > 0.0 {
            self.shares.max(self.reserved / rate)
        } else {
            self.shares
        }
    }
}

/// Cores for a share at which all that there is is given out; 0 if all get what they want.
pub(super) fn rate(cores: f64, claims: &[Claim]) -> f64 {
    let given = |rate: f64| claims.iter().map(|claim| claim.at(rate)).sum::<f64>();
    if claims.iter().map(|claim| claim.most).sum::<f64>() <= cores {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, cores);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if given(middle) > cores {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

/// A rate is found to as many bits as a number has.
const HALVINGS: usize = 64;

/// What comes of a virtual machine's claim.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Part {
    /// Cores that it is due.
    pub(super) due: f64,
    /// Shares with which it would be due as much if there were no pools.
    pub(super) counts: f64,
}

impl Part {
    /// So many shares, but no less than a little of its own: who is due nothing may still run on
    /// cores that are left over.
    pub(super) fn counting(&self, shares: f64) -> f64 {
        shares.max(LEAST_WORTH * self.counts)
    }
}

/// Divides cores among virtual machines, of each of which is told in which pool it is; pools stand
/// after those in which they are.
pub(super) fn divide(
    cores: f64,
    pools: &[ResourcePool],
    machines: &[(Option<u16>, Claim)],
) -> Vec<Part> {
    divide_among(None, cores, pools, machines)
}

/// The same of cores that one pool has, among those in it; all others get nothing.
pub(super) fn divide_in(
    pool: usize,
    cores: f64,
    pools: &[ResourcePool],
    machines: &[(Option<u16>, Claim)],
) -> Vec<Part> {
    divide_among(Some(pool), cores, pools, machines)
}

/// What each has for sure if it wants it: what is reserved for it, or its part of what its pools
/// have reserved [cores].
pub(super) fn sure(pools: &[ResourcePool], machines: &[(Option<u16>, Claim)]) -> Vec<f64> {
    let claims = pool_claims(pools, machines);
    let all = within(None, pools, &claims, machines);
    let reserved = all.iter().map(|(_, claim)| claim.reserved.min(claim.most));
    let reserved: f64 = reserved.sum();
    if reserved <= 0.0 {
        return vec![0.0; machines.len()];
    }
    let parts = divide(reserved, pools, machines);
    parts.iter().map(|part| part.due).collect()
}

/// Whether all have what they can use and their pools may.
pub(super) fn has_room(
    cores: f64,
    pools: &[ResourcePool],
    machines: &[(Option<u16>, Claim)],
) -> bool {
    let claims = pool_claims(pools, machines);
    let all: Vec<Claim> = within(None, pools, &claims, machines)
        .into_iter()
        .map(|(_, claim)| claim)
        .collect();
    rate(cores, &all) <= 0.0
}

/// What pools claim for themselves and all in them.
fn pool_claims(pools: &[ResourcePool], machines: &[(Option<u16>, Claim)]) -> Vec<Claim> {
    let mut claims: Vec<Claim> = pools.iter().map(own_claim).collect();
    for at in (0..pools.len()).rev() {
        let inside = within(Some(at), pools, &claims, machines);
        let sum = |of: fn(&Claim) -> f64| inside.iter().map(|(_, claim)| of(claim)).sum::<f64>();
        let claim = &mut claims[at];
        claim.reserved = claim.reserved.max(sum(|claim| claim.reserved));
        claim.most = claim.most.min(sum(|claim| claim.most));
    }
    claims
}

fn divide_among(
    parent: Option<usize>,
    cores: f64,
    pools: &[ResourcePool],
    machines: &[(Option<u16>, Claim)],
) -> Vec<Part> {
    let claims = pool_claims(pools, machines);
    let mut parts = vec![Part::default(); machines.len()];
    let all = Level {
        pools,
        claims: &claims,
        machines,
    };
    all.divide(parent, cores, None, &mut parts);
    parts
}

fn own_claim(pool: &ResourcePool) -> Claim {
    Claim {
        shares: f64::from(pool.shares),
        reserved: pool.reservation,
        most: pool.limit.unwrap_or(f64::MAX),
    }
}

/// A pool or a virtual machine, by index.
#[derive(Clone, Copy, Debug)]
enum One {
    Pool(usize),
    Machine(usize),
}

/// All that stand right in a pool, or in none.
fn within(
    parent: Option<usize>,
    pools: &[ResourcePool],
    claims: &[Claim],
    machines: &[(Option<u16>, Claim)],
) -> Vec<(One, Claim)> {
    let is_here = |of: Option<u16>| of.map(usize::from) == parent;
    let pools = (0..pools.len()).filter(|at| is_here(pools[*at].parent));
    let pools = pools.map(|at| (One::Pool(at), claims[at]));
    let machines = machines.iter().enumerate();
    let machines = machines.filter(|(_, (pool, _))| is_here(*pool));
    pools
        .chain(machines.map(|(at, (_, claim))| (One::Machine(at), *claim)))
        .collect()
}

/// What is divided, level by level.
struct Level<'a> {
    pools: &'a [ResourcePool],
    claims: &'a [Claim],
    machines: &'a [(Option<u16>, Claim)],
}

/// Part of what a share counts elsewhere that one in a pool counts at least. Assumed, 1e-4 to 1e-2.
const LEAST_WORTH: f64 = 1e-3;

/// A pool as seen from outside: what its shares count there, and cores for such a share.
#[derive(Clone, Copy, Debug)]
struct Outside {
    counts: f64,
    rate: f64,
}

impl Level<'_> {
    fn divide(&self, parent: Option<usize>, cores: f64, outside: Option<Outside>, to: &mut [Part]) {
        let inside = within(parent, self.pools, self.claims, self.machines);
        let claims: Vec<Claim> = inside.iter().map(|(_, claim)| *claim).collect();
        let rate = rate(cores, &claims);
        // Where all that a pool gets is reserved inside it, nothing is left for its shares; what
        // counts there is then little, but not nothing, or whoever runs on cores that are left over
        // would never come to an end of it.
        let counted = match outside {
            Some(outside) if rate > 0.0 => rate.max(LEAST_WORTH * outside.rate),
            _ => rate,
        };
        let all: f64 = claims.iter().map(|claim| claim.counts(counted)).sum();
        // What a share in here is worth outside: as many cores, or where either level gives all
        // what they want, its part of the pool's.
        let worth = match outside {
            None => 1.0,
            Some(outside) if rate > 0.0 && outside.rate > 0.0 => counted / outside.rate,
            Some(outside) => outside.counts / all,
        };
        let outer = outside.map_or(rate, |outside| outside.rate);
        for (one, claim) in inside {
            let due = claim.due(rate);
            let mut counts = claim.counts(counted) * worth;
            if rate <= 0.0 && outer > 0.0 {
                // All in here get what they want, though outside there is not enough.
                counts = counts.max(due / outer);
            }
            match one {
                One::Machine(at) => to[at] = Part { due, counts },
                One::Pool(at) => {
                    let outside = Outside {
                        counts,
                        rate: outer,
                    };
                    self.divide(Some(at), due, Some(outside), to);
                }
            }
        }
    }
}

/// Shares of a virtual machine: as given, or so many for each of its virtual processors.
pub(super) fn shares_of(given: Option<u32>, count: usize) -> f64 {
    given.map_or(NORMAL * count as f64, f64::from)
}

/// What each virtual machine of a host would get if all wanted all they can have [cores].
pub fn entitled(spec: &Spec, cores: f64) -> Vec<f64> {
    let claim = |partition: &Partition| match &partition.processors {
        Processors::Shared {
            r#virtual, host, ..
        } => {
            let count = f64::from(*r#virtual);
            let claim = Claim {
                shares: shares_of(host.machine().shares, usize::from(*r#virtual)),
                reserved: host.machine().reservation,
                most: host.cap.unwrap_or(count).min(count),
            };
            (host.machine().pool, claim)
        }
        Processors::Dedicated { cores, .. } => {
            let claim = Claim {
                shares: NORMAL,
                reserved: 0.0,
                most: cores.len() as f64,
            };
            (None, claim)
        }
    };
    let claims: Vec<_> = spec.partitions.iter().map(claim).collect();
    let parts = divide(cores, &spec.resource_pools, &claims);
    parts.iter().map(|part| part.due).collect()
}
