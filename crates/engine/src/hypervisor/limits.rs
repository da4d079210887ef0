//! Who may use how much in a window where PR/SM hands capacity out, and reserving it.
//!
//! A partition's weight gives it slices for its logical cores. Below that lie its limits: an
//! absolute cap, the cap of its group, and its defined capacity while the rolling average is not
//! below that. The least of them counts. A group's cap is shared out by weight among its members
//! as far as they are entitled; what members leave, others of the group may use. Initial capping is
//! a limit of its own, at the weight's share of the machine ("the relative processing weight is its
//! capping value"; IBM, "Capping processing weights"): who is capped may use what others of the
//! group leave until each logical core has had its whole slice ([`Slices::cut_ns`]).
//!
//! What a logical core leaves of its slice is there for others at once (IBM, "Processing weight
//! management"): of a limit so much is kept for one without work as it could still have, if it woke
//! now. That gets less while the window goes on, and what is not kept any more goes to those that
//! wait for more at the next of so many looks in a window ([`LOOKS`]).
//!
//! A limit cuts the slices of all logical cores by the same part, in either polarization. So a
//! member of a group with work for one of its two logical cores has half of its share of the cap
//! there, and of the other half its part by weight: what that core leaves is no more its sibling's
//! than anybody's in the group.

use super::capacity::Capacity;
use super::pool::LEAST_LOAN_NS;
use super::share::{Rule, Slices};
use super::state::{Mode, State};
use super::windows::Windows;
use crate::ids::{GroupId, PartitionId};

/// How often in a window it is looked for what logical cores without work can't have any more.
/// Assumed, 16 to 64: a cap is exceeded by 3.1 %, a 32nd, at most and very briefly (IBM, "Absolute
/// capping").
pub const LOOKS: u64 = 32;

impl Windows {
    /// Starts a window of `elapsed_ns`, in which a physical core has `capacity_ns` to give.
    pub fn hand_out_by_weight(&mut self, state: &State, elapsed_ns: u64, capacity_ns: u64) {
        for at in self.shares.ids() {
            self.limit_share(at, elapsed_ns, capacity_ns);
        }
        for group in self.groups.ids() {
            self.share_out_group(group);
        }
        for at in self.shares.ids() {
            self.open_share(state, at);
        }
        for group in self.groups.ids() {
            self.open_group(group);
        }
        self.opened = true;
    }

    /// Own limits: the least of the cap and the defined capacity.
    fn limit_share(&mut self, at: PartitionId, elapsed_ns: u64, capacity_ns: u64) {
        let share = &mut self.shares[at];
        let entitled = share.entitled_ns.max(1) as f64;
        let Rule::Slices(of) = &mut share.rule else {
            return;
        };
        let used = std::mem::take(&mut of.limit.used_ns);
        if let Some(average) = &mut of.average {
            if self.opened {
                average.add(used, elapsed_ns);
            }
        }
        let defined = of.average.as_ref().and_then(|a| a.limit_cores());
        let least = [of.cap, defined].into_iter().flatten().reduce(f64::min);
        let limit = least.map(|cores| (cores * capacity_ns as f64) as u64);
        of.limit.limit_to(limit);
        of.scale = limit.map_or(1.0, |limit| (limit as f64 / entitled).min(1.0));
    }

    /// A group's cap, by weight among its members and at most what each is entitled to.
    fn share_out_group(&mut self, group: GroupId) {
        let Some(cap) = self.groups[group].maximum_ns else {
            return;
        };
        let mut open: Vec<PartitionId> = self.members(group);
        let mut left = cap as f64;
        loop {
            let weights: f64 = open.iter().map(|at| self.of(*at).claim.weight).sum();
            let fits = |at: &PartitionId| {
                let (of, entitled_ns) = (self.of(*at), self.shares[*at].entitled_ns);
                let asks = entitled_ns as f64 * of.scale;
                (asks <= left * of.claim.weight / weights).then_some(asks)
            };
            let asks: f64 = open.iter().filter_map(fits).sum();
            let (full, rest): (Vec<PartitionId>, Vec<PartitionId>) =
                open.iter().partition(|at| fits(at).is_some());
            if full.is_empty() || rest.is_empty() {
                rest.into_iter()
                    .for_each(|at| self.scale_down(at, left, weights));
                return;
            }
            left -= asks;
            open = rest;
        }
    }

    /// Cuts a partition's slices to its part by weight of what is left [ns].
    fn scale_down(&mut self, at: PartitionId, left: f64, weights: f64) {
        let share = &mut self.shares[at];
        let entitled_ns = share.entitled_ns.max(1);
        if let Rule::Slices(of) = &mut share.rule {
            of.scale = left * of.claim.weight / weights / entitled_ns as f64;
        }
    }

    /// A partition's slices.
    fn of(&self, at: PartitionId) -> &Slices {
        match &self.shares[at].rule {
            Rule::Slices(of) => of,
            _ => unreachable!("members of groups have slices"),
        }
    }

    fn members(&self, group: GroupId) -> Vec<PartitionId> {
        let member = |at: &PartitionId| match &self.shares[*at].rule {
            Rule::Slices(of) => of.group == Some(group),
            _ => false,
        };
        self.shares.ids().filter(member).collect()
    }

    fn open_share(&mut self, state: &State, at: PartitionId) {
        let promised = self.promised_ns(at);
        let share = &mut self.shares[at];
        let active = share.active_vps;
        if let Rule::Slices(of) = &mut share.rule {
            for (index, vp) in (0..share.vps).zip(state.vps.slice(state.vps_of[at])) {
                let idle = vp.mode == Mode::Inactive;
                of.kept[usize::from(index)] = if idle { of.slice_ns(index) } else { 0 };
                of.beyond[usize::from(index)] = of.cut_ns(index);
            }
            of.limit.open_window(promised, active);
        }
    }

    fn open_group(&mut self, group: GroupId) {
        let members = self.members(group);
        let promised = members.iter().map(|at| self.promised_ns(*at)).sum();
        let active = members.iter().map(|at| self.shares[*at].active_vps).sum();
        self.groups[group].open_window(promised, active);
    }

    /// Slices of a partition's logical cores [ns].
    fn promised_ns(&self, at: PartitionId) -> u64 {
        let share = &self.shares[at];
        (0..share.vps).map(|index| share.slice_ns(index)).sum()
    }

    /// So much of a partition's slices is promised to nobody any more [ns].
    #[inline]
    pub fn release(&mut self, at: PartitionId, unused_ns: u64) {
        if let Rule::Slices(of) = &mut self.shares[at].rule {
            of.limit.release(unused_ns);
            if let Some(group) = of.group {
                self.groups[group].release(unused_ns);
            }
        }
    }

    /// With `left_ns` of the window to go, what logical cores without work can't have before the
    /// next look is promised to nobody any more.
    pub fn release_unused(&mut self, left_ns: u64) {
        let left_ns = left_ns.saturating_sub(self.capacity_ns / LOOKS);
        for at in self.shares.ids() {
            if let Rule::Slices(of) = &mut self.shares[at].rule {
                if of.is_limited() {
                    let unused = of.give_up(left_ns);
                    self.release(at, unused);
                }
            }
        }
    }

    /// Whether a partition may use what others leave within limits of its own or of its group,
    /// which may have something for it later in the window.
    #[inline]
    pub fn is_limited(&self, at: PartitionId) -> bool {
        let share = &self.shares[at];
        matches!(&share.rule, Rule::Slices(of) if of.is_limited()) && share.may_exceed()
    }

    /// One of a partition's virtual processors has nothing left: if it is its group or its pool
    /// that holds it back, it waits for what the others there leave, and competes for it.
    pub fn hold_back(&mut self, at: PartitionId, index: u16) {
        let share = &self.shares[at];
        match &share.rule {
            Rule::Slices(of) if self.is_limited(at) => {
                let own = of.limit.left_for(true, 0).min(share.may_use_ns(index));
                if let Some(group) = of.group.filter(|_| own >= LEAST_LOAN_NS) {
                    self.groups[group].held_back = true;
                    self.contests[at].waited = true;
                }
            }
            Rule::Lending(of) => self.contests[at].waited |= !of.claim.capped,
            Rule::Slices(_) | Rule::Own(_) => {}
        }
    }

    /// What all limits leave to a partition for use on this account [ns].
    #[inline]
    pub fn left_ns(&self, partition: PartitionId, capacity: Capacity) -> u64 {
        let kept = self.contests[partition].kept_ns;
        match &self.shares[partition].rule {
            Rule::Own(_) => u64::MAX,
            Rule::Lending(of) => {
                let unpromised = of.claim.is_unpromised(capacity);
                self.pools[of.claim.pool].left_for(unpromised, kept)
            }
            Rule::Slices(of) => {
                let unpromised = of.claim.is_unpromised(capacity);
                let left = self.pools[of.claim.pool].left_for(unpromised, 0);
                let group = of.group.map(|group| &self.groups[group]);
                left.min(of.limit.left_for(unpromised, 0))
                    .min(group.map_or(u64::MAX, |group| group.left_for(unpromised, kept)))
            }
        }
    }

    /// Reserves time for a stretch from everything that limits the partition.
    #[inline]
    pub fn reserve(&mut self, partition: PartitionId, wanted_ns: u64, capacity: Capacity) -> u64 {
        let kept = &mut self.contests[partition].kept_ns;
        match &mut self.shares[partition].rule {
            Rule::Own(_) => wanted_ns,
            Rule::Lending(of) => {
                let unpromised = of.claim.is_unpromised(capacity);
                self.pools[of.claim.pool].reserve(wanted_ns, unpromised, kept)
            }
            Rule::Slices(of) => {
                let unpromised = of.claim.is_unpromised(capacity);
                let pool = &mut self.pools[of.claim.pool];
                let from_pool = pool.reserve(wanted_ns, unpromised, &mut 0);
                let own = of.limit.reserve(from_pool, unpromised, &mut 0);
                pool.give_back(from_pool - own, unpromised);
                let Some(group) = of.group else {
                    return own;
                };
                let granted = self.groups[group].reserve(own, unpromised, kept);
                of.limit.give_back(own - granted, unpromised);
                pool.give_back(own - granted, unpromised);
                granted
            }
        }
    }

    /// Returns what was reserved and not used.
    #[inline]
    pub fn give_back(&mut self, partition: PartitionId, unused_ns: u64, capacity: Capacity) {
        match &mut self.shares[partition].rule {
            Rule::Own(_) => {}
            Rule::Lending(of) => {
                let unpromised = of.claim.is_unpromised(capacity);
                self.pools[of.claim.pool].give_back(unused_ns, unpromised);
            }
            Rule::Slices(of) => {
                let unpromised = of.claim.is_unpromised(capacity);
                self.pools[of.claim.pool].give_back(unused_ns, unpromised);
                of.limit.give_back(unused_ns, unpromised);
                if let Some(group) = of.group {
                    self.groups[group].give_back(unused_ns, unpromised);
                }
            }
        }
    }
}
