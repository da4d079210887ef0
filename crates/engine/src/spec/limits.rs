//! Limits that stop all virtual processors of a partition together.

use crate::spec::{LockKind, Partition, Policy, Processors, Profile, Spec};

impl Partition {
    /// Whether its virtual processors may run together and rest together: a limit of its own, of
    /// its pool or of its groups stops all of them until the next window, slice or period. One that
    /// they cannot reach stops nobody. ESXi always runs them together.
    pub fn stops_together(&self, spec: &Spec) -> bool {
        let Processors::Shared {
            capped,
            pool,
            r#virtual,
            prsm,
            host,
            ..
        } = &self.processors
        else {
            return false;
        };
        let all = f64::from(*r#virtual);
        match spec.machine.hypervisor.policy {
            Policy::Phyp => {
                let of = spec.pools.get(usize::from(*pool));
                let maximum = of.and_then(|pool| pool.maximum);
                *capped || maximum.is_some_and(|most| most < spec.virtual_in(in_pool(*pool)))
            }
            Policy::Prsm => {
                let own = prsm.cap.is_some_and(|most| most < all);
                let group = prsm.group.is_some_and(|at| {
                    let most = spec.groups[usize::from(at)].cap;
                    most < spec.virtual_in(in_group(at))
                });
                let mean = prsm.defined_capacity.is_some_and(|of| of.cores < all);
                *capped || own || group || mean
            }
            Policy::Esxi => true,
            Policy::Linux | Policy::Credit2 => {
                host.cap.is_some_and(|most| most < all) || host.has_quota(&spec.cgroups)
            }
            _ => false,
        }
    }

    /// Whether threads of one of its loads spin for a lock.
    pub fn spins(&self) -> bool {
        let spins = |of: &Profile| of.lock_share > 0.0 && of.lock_kind != LockKind::Sleeping;
        spins(&self.profile) || self.beside.iter().any(|load| spins(&load.profile))
    }
}

impl Spec {
    /// Virtual processors of the partitions of which this is so.
    fn virtual_in(&self, is_in: impl Fn(&Processors) -> bool) -> f64 {
        let those = self.partitions.iter().map(|one| &one.processors);
        let each = those.filter(|of| is_in(of)).map(|of| match of {
            Processors::Shared { r#virtual, .. } => f64::from(*r#virtual),
            Processors::Dedicated { .. } => 0.0,
        });
        each.sum()
    }
}

fn in_pool(at: u16) -> impl Fn(&Processors) -> bool {
    move |of| matches!(of, Processors::Shared { pool, .. } if *pool == at)
}

fn in_group(at: u16) -> impl Fn(&Processors) -> bool {
    move |of| matches!(of, Processors::Shared { prsm, .. } if prsm.group == Some(at))
}
