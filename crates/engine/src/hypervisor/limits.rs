//! Who may use how much in a window where PR/SM hands capacity out, and reserving it.
//!
//! A partition's weight gives it slices for its logical cores. Below that lie its limits: an
//! absolute cap, the cap of its group, and its defined capacity while the rolling average is not
//! below that. The least of them counts. A group's cap is shared out by weight among its members
//! as far as they are entitled; what members leave, others of the group may use.

use super::{Capacity, Mode, PoolBudget, State};

impl State {
    /// Starts a window of `elapsed_ns`, in which a physical core has `capacity_ns` to give.
    pub fn hand_out_by_weight(&mut self, elapsed_ns: u64, capacity_ns: u64) {
        for at in 0..self.shares.len() {
            if !self.shares[at].is_dedicated() {
                self.limit_share(at, elapsed_ns, capacity_ns);
            }
        }
        for group in 0..self.groups.len() {
            self.share_out_group(group);
        }
        for at in 0..self.shares.len() {
            if !self.shares[at].is_dedicated() {
                self.open_share(at);
            }
        }
        for group in 0..self.groups.len() {
            self.open_group(group);
        }
        self.opened = true;
    }

    /// Own limits: the least of the cap and the defined capacity.
    fn limit_share(&mut self, at: usize, elapsed_ns: u64, capacity_ns: u64) {
        let share = &mut self.shares[at];
        let used = std::mem::take(&mut share.limit.used_ns);
        if let Some(average) = &mut share.average {
            if self.opened {
                average.add(used, elapsed_ns);
            }
        }
        let defined = share.average.as_ref().and_then(|a| a.limit_cores());
        let least = [share.cap, defined].into_iter().flatten().reduce(f64::min);
        let limit = least.map(|cores| (cores * capacity_ns as f64) as u64);
        share.limit.limit_to(limit);
        let entitled = share.entitled_ns.max(1) as f64;
        share.scale = limit.map_or(1.0, |limit| (limit as f64 / entitled).min(1.0));
    }

    /// A group's cap, by weight among its members and at most what each is entitled to.
    fn share_out_group(&mut self, group: usize) {
        let Some(cap) = self.groups[group].maximum_ns else {
            return;
        };
        let mut open: Vec<usize> = self.members(group);
        let mut left = cap as f64;
        loop {
            let weights: f64 = open.iter().map(|at| self.shares[*at].weight).sum();
            let fits = |at: &usize| {
                let share = &self.shares[*at];
                let asks = share.entitled_ns as f64 * share.scale;
                (asks <= left * share.weight / weights).then_some(asks)
            };
            let asks: f64 = open.iter().filter_map(fits).sum();
            let (full, rest): (Vec<usize>, Vec<usize>) =
                open.iter().partition(|at| fits(at).is_some());
            if full.is_empty() || rest.is_empty() {
                for at in rest {
                    let share = &mut self.shares[at];
                    let part = left * share.weight / weights;
                    share.scale = part / share.entitled_ns.max(1) as f64;
                }
                return;
            }
            left -= asks;
            open = rest;
        }
    }

    fn members(&self, group: usize) -> Vec<usize> {
        let shares = self.shares.iter().enumerate();
        let member = |share: &super::Share| share.group.map(usize::from) == Some(group);
        shares
            .filter(|(_, share)| !share.is_dedicated() && member(share))
            .map(|(at, _)| at)
            .collect()
    }

    fn open_share(&mut self, at: usize) {
        let promised = self.promised_ns(at);
        let share = &mut self.shares[at];
        share.promised = share.active_vps > 0;
        share.kept = (0..share.vps).map(|index| share.slice_ns(index)).collect();
        let active = share.active_vps;
        share.limit.open_window(promised, active);
    }

    fn open_group(&mut self, group: usize) {
        let members = self.members(group);
        let promised = members.iter().map(|at| self.promised_ns(*at)).sum();
        let active = members.iter().map(|at| self.shares[*at].active_vps).sum();
        self.groups[group].open_window(promised, active);
    }

    /// Slices of a partition's logical cores that have work [ns].
    fn promised_ns(&self, at: usize) -> u64 {
        let share = &self.shares[at];
        let first = share.first_vp as usize;
        let vps = &self.vps[first..first + usize::from(share.vps)];
        vps.iter()
            .filter(|vp| vp.mode != Mode::Inactive)
            .map(|vp| share.slice_ns(vp.index))
            .sum()
    }

    /// What all limits leave to a partition for use on this account [ns].
    #[inline]
    pub fn left_ns(&self, partition: usize, capacity: Capacity) -> u64 {
        let share = &self.shares[partition];
        let unpromised = share.is_unpromised(capacity);
        let left = self.pools[usize::from(share.pool)].left_for(unpromised);
        if share.lends() {
            return left;
        }
        let group = share.group.map(|g| &self.groups[usize::from(g)]);
        left.min(share.limit.left_for(unpromised))
            .min(group.map_or(u64::MAX, |group| group.left_for(unpromised)))
    }

    /// Reserves time for a stretch from everything that limits the partition.
    #[inline]
    pub fn reserve(&mut self, partition: usize, wanted_ns: u64, capacity: Capacity) -> u64 {
        let share = &mut self.shares[partition];
        let unpromised = share.is_unpromised(capacity);
        let pool = &mut self.pools[usize::from(share.pool)];
        let from_pool = pool.reserve(wanted_ns, unpromised);
        if share.lends() {
            return from_pool;
        }
        let own = share.limit.reserve(from_pool, unpromised);
        pool.give_back(from_pool - own, unpromised);
        let Some(group) = share.group else {
            return own;
        };
        let granted = self.groups[usize::from(group)].reserve(own, unpromised);
        share.limit.give_back(own - granted, unpromised);
        pool.give_back(own - granted, unpromised);
        granted
    }

    /// Returns what was reserved and not used.
    #[inline]
    pub fn give_back(&mut self, partition: usize, unused_ns: u64, capacity: Capacity) {
        let share = &mut self.shares[partition];
        let unpromised = share.is_unpromised(capacity);
        self.pools[usize::from(share.pool)].give_back(unused_ns, unpromised);
        if !share.lends() {
            share.limit.give_back(unused_ns, unpromised);
            if let Some(group) = share.group {
                self.groups[usize::from(group)].give_back(unused_ns, unpromised);
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
