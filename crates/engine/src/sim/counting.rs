//! Counting switches where they happen.

use super::columns::DISPATCH;
use super::meters::Reason;
use super::system::System;
use super::world::World;
use crate::ids::{CoreId, VpId};
use crate::machine::Distance;

impl<S: System> World<S> {
    /// An involuntary switch counts once for every thread that was busy.
    pub fn count_involuntary(&mut self, vp: VpId) {
        let mask = self.mask(vp);
        let (first, _) = self.threads_of(vp);
        for thread in threads(mask) {
            self.meters.cpus[first.plus(thread)].ilcs += 1;
        }
    }

    /// A voluntary switch counts for the thread whose cede released the core.
    pub fn count_voluntary(&mut self, vp: VpId) {
        let (first, _) = self.threads_of(vp);
        self.meters.cpus[first.plus(usize::from(self.at.vps[vp].last_thread))].vlcs += 1;
    }

    /// Counts a dispatch for every thread that has work.
    pub fn count_thread_dispatches(&mut self, vp: VpId, distance: Distance) {
        let (first, _) = self.threads_of(vp);
        for thread in threads(self.mask(vp)) {
            self.meters.cpus[first.plus(thread)].home_dispatches[distance as usize] += 1;
        }
    }

    /// Records the dispatches that the end of the simulation cuts short.
    pub fn record_open_dispatches(&mut self) {
        for core in self.at.active() {
            if let Some(vp) = self.at.cores[core].running {
                self.record_dispatch(vp, core, Reason::RunEnd);
            }
        }
    }

    /// Keeps a record of a dispatch that ends now, if records are wanted.
    pub fn record_dispatch(&mut self, vp: VpId, core: CoreId, reason: Reason) {
        if !self.spec.record_dispatches || self.now < self.spec.warmup_ns {
            return;
        }
        let row = self.dispatch_row(vp, core, reason);
        for (column, value) in self.meters.dispatches.iter_mut().zip(row) {
            column.push(value);
        }
    }

    /// Dispatches that go on, as rows for somebody who looks on, if records are wanted.
    pub fn open_dispatches(&self) -> impl Iterator<Item = [i64; DISPATCH.len()]> + '_ {
        let wanted = self.spec.record_dispatches && self.now >= self.spec.warmup_ns;
        let cores = wanted.then(|| self.at.active()).into_iter().flatten();
        cores.filter_map(|core| {
            let vp = self.at.cores[core].running?;
            Some(self.dispatch_row(vp, core, Reason::Unended))
        })
    }

    fn dispatch_row(&self, vp: VpId, core: CoreId, reason: Reason) -> [i64; DISPATCH.len()] {
        let v = self.vp(vp);
        let since = |ns: u64| ns.saturating_sub(self.spec.warmup_ns) as i64;
        [
            since(v.record_from.min(self.now)),
            since(self.now),
            i64::from(v.partition),
            i64::from(v.index),
            i64::from(core),
            self.at.distance_from_home(vp, core) as i64,
            i64::from(v.record_excess),
            reason as i64,
        ]
    }
}

/// Numbers of busy threads.
fn threads(mut mask: u8) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let thread = mask.trailing_zeros() as usize;
        (mask != 0).then(|| {
            mask &= mask - 1;
            thread
        })
    })
}
