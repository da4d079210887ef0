//! Which type each core is of, where a mainframe has several.

use crate::ids::CoreId;
use crate::spec::{Pool, Processors, Spec};

/// Which type each core is of, by the number of its pool; no core where all are alike.
#[derive(Clone, Debug, Default)]
pub(in crate::steady) struct CoreTypes {
    of: Vec<usize>,
    pub count: usize,
}

impl CoreTypes {
    /// Of a spec whose pools may have cores of their own.
    pub fn new(spec: &Spec) -> Self {
        let named = |pool: &&Pool| pool.cores.is_some();
        if spec.pools.iter().filter(named).count() < 2 {
            return Self {
                of: Vec::new(),
                count: 1,
            };
        }
        let rest = spec.pools.iter().position(|pool| pool.cores.is_none());
        let mut of = vec![rest.unwrap_or(0); usize::from(spec.machine.active_cores)];
        for (at, pool) in spec.pools.iter().enumerate() {
            for core in pool.cores.iter().flatten() {
                of[usize::from(*core)] = at;
            }
        }
        Self {
            of,
            count: spec.pools.len(),
        }
    }

    /// That of a core.
    pub fn of(&self, core: CoreId) -> usize {
        self.of.get(core.index()).copied().unwrap_or(0)
    }

    /// How many of so many cores are of each.
    pub fn cores(&self, active: u16) -> Vec<i32> {
        if self.count == 1 {
            return vec![active.into()];
        }
        let mut cores = vec![0; self.count];
        (0..active).for_each(|core| cores[self.of(core.into())] += 1);
        cores
    }

    /// That of a partition: dedicated cores are taken to be of one.
    pub fn of_partition(&self, processors: &Processors) -> usize {
        match processors {
            _ if self.count == 1 => 0,
            Processors::Shared { pool, .. } => usize::from(*pool),
            Processors::Dedicated { cores, .. } => self.of(cores[0].into()),
        }
    }
}
