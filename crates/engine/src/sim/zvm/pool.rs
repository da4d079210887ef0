//! What is kept of a CPU pool, and what a virtual processor has of it.

use super::budget::Budget;
use crate::guest::zvm::ids::{PoolId, VcpuId};
use crate::ids::ById;
use crate::spec::{CpuPool, Zvm};

/// Virtual machines that are limited together, and what their limit leaves them.
#[derive(Clone, Debug)]
pub struct Pool {
    pub budget: Budget,
    /// All virtual processors of its members.
    pub members: Vec<VcpuId>,
    /// Those that wait for time of it.
    pub held: Vec<VcpuId>,
    /// Least claim of these.
    pub least: f64,
    /// Claim up to which those were let go that were held.
    pub clock: f64,
    /// Until when it counts as short [ns].
    pub short_until: u64,
    /// When it is looked at next [ns].
    pub lift_at: u64,
}

/// What a virtual processor has of its machine's pool.
#[derive(Clone, Copy, Debug, Default)]
pub struct InPool {
    /// Core time since it was charged [ns].
    pub used_ns: f64,
    /// Time of the pool that is set aside for it [ns].
    pub pledged_ns: f64,
    /// Time used while the pool was short, by what it is worth [ns].
    pub claim: f64,
}

impl Pool {
    /// All of a partition with so many cores, full. One that its members' processors, or all cores,
    /// cannot use up has no limit.
    pub fn all(
        spec: &Zvm,
        members: impl Fn(PoolId) -> Vec<VcpuId>,
        cores: usize,
    ) -> ById<PoolId, Self> {
        let slice = spec.minor_slice_ns as f64;
        let of = |(at, pool): (usize, &CpuPool)| {
            let members = members(PoolId::new(at));
            let binds = pool.cores < (members.len() as f64).min(cores as f64);
            let rate = if binds { pool.cores } else { f64::INFINITY };
            Self {
                budget: Budget::full(rate, slice),
                members,
                held: Vec::new(),
                least: f64::INFINITY,
                clock: 0.0,
                short_until: 0,
                lift_at: u64::MAX,
            }
        };
        spec.cpu_pools.iter().enumerate().map(of).collect()
    }
}
