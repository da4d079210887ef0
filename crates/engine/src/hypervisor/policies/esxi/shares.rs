//! Shares that count: those of a virtual machine, or more where what is reserved asks for it.
//!
//! What shares of pools are worth is told by the whole host. How much more a reservation must count
//! for, and how much less a limit, is told by those that are at home on the same node, since nobody
//! else competes with it: a host may have enough for all while a node has not.

use super::claims::{divide, has_room, sure, Claim, Part};
use super::parts::Had;
use super::{Client, Esxi, Vm, World};
use crate::ids::VpId;
use crate::spec::ResourcePool;

/// A claim, and the pool that it is made in.
type Claimed = (Option<u16>, Claim);

/// What a virtual processor of a wide one wants at least, as its shares are divided among nodes: it
/// may begin to work before that is looked at again. Assumed, 0.01 to 0.5.
const LEAST_WANT: f64 = 0.1;

/// Part of what one wants below which what it is due is nothing. Assumed, 1e-4 to 1e-2.
const LEAST_DUE: f64 = 1e-3;

/// Part by which two figures of a division may differ for their bits.
const CLOSE: f64 = 1e-9;

impl Esxi {
    /// Shares that count until the next look, by what is wanted: what is reserved and what pools
    /// get is in them.
    pub(super) fn count_shares(&mut self, wanted: &[f64]) {
        let claims = self.claims(|vm| wanted[vm.worlds.numbers()].iter().sum());
        let usable = self.claims(|vm| vm.worlds.len() as f64);
        self.share_limits(&claims);
        let before: Vec<f64> = self.clients.iter().map(|client| client.counts).collect();
        if self.nodes.len() == 1 {
            let all: Vec<usize> = (0..self.clients.len()).collect();
            self.count_on(0, &all, &self.pools.clone(), [&claims, &usable]);
        } else {
            let worlds = vec![1.0; wanted.len()];
            let (claims, usable) = (
                self.by_client(&claims, wanted),
                self.by_client(&usable, &worlds),
            );
            for node in 0..self.nodes.len() {
                let all = 0..self.clients.len();
                let here: Vec<usize> = all.filter(|at| self.clients[*at].home == node).collect();
                let [claims, usable] =
                    [&claims, &usable].map(|of| here.iter().map(|at| of[*at]).collect::<Vec<_>>());
                self.count_on(node, &here, &[], [&claims, &usable]);
            }
        }
        // What one is ahead or behind is time: who counts for more from now on makes it up sooner.
        for (client, before) in self.clients.iter_mut().zip(before) {
            let level = self.levels[client.home];
            client.clock = level + (client.clock - level) * before / client.counts;
        }
    }

    /// What each client was due in the last period, by what was wanted on the whole host, and got.
    pub(super) fn had(&mut self, wanted: &[f64]) -> Vec<Had> {
        let claims = self.claims(|vm| wanted[vm.worlds.numbers()].iter().sum());
        let parts = divide(self.cores.len() as f64, &self.pools, &claims);
        let period = self.rules.rebalance_ns as f64;
        let (worlds, vms) = (&mut self.worlds, &self.vms);
        let one = |client: &Client| {
            let sum = |numbers: std::ops::Range<usize>| wanted[numbers].iter().sum::<f64>();
            let own = sum(client.worlds.numbers());
            let all = sum(vms[client.vm].worlds.numbers());
            let part = if all > 0.0 { own / all } else { 0.0 };
            let take = |vp: VpId| std::mem::take(&mut worlds[vp].got_ns);
            Had {
                due: part * parts[client.vm.index()].due,
                got: client.worlds.into_iter().map(take).sum::<f64>() / period,
            }
        };
        self.clients.iter().map(one).collect()
    }

    /// What all claim that want so much [cores].
    fn claims(&self, wants: impl Fn(&Vm) -> f64) -> Vec<Claimed> {
        let claim = |vm: &Vm| {
            let claim = Claim {
                shares: vm.shares,
                reserved: vm.reservation,
                most: vm.most.min(wants(vm)),
            };
            (vm.pool, claim)
        };
        self.vms.iter().map(claim).collect()
    }

    /// What clients claim, as if all were in no pool: their parts of what their virtual machines
    /// do, by what their virtual processors want.
    fn by_client(&self, claims: &[Claimed], wanted: &[f64]) -> Vec<Claimed> {
        let certain = sure(&self.pools, claims);
        let unreserved = |(pool, claim): &Claimed| {
            let reserved = 0.0;
            (*pool, Claim { reserved, ..*claim })
        };
        let plain: Vec<_> = claims.iter().map(unreserved).collect();
        let without = |pool: &ResourcePool| ResourcePool {
            reservation: 0.0,
            ..pool.clone()
        };
        let pools: Vec<_> = self.pools.iter().map(without).collect();
        let parts = divide(self.cores.len() as f64, &pools, &plain);
        let sum = |numbers: std::ops::Range<usize>| {
            let wants = wanted[numbers].iter();
            wants.map(|want| want.max(LEAST_WANT)).sum::<f64>()
        };
        let one = |client: &Client| {
            let (at, vm) = (client.vm.index(), &self.vms[client.vm]);
            let part = sum(client.worlds.numbers()) / sum(vm.worlds.numbers());
            // A pool's limit leaves each so much.
            let bounds = vm.limits.iter().map(|bound| bound.cores);
            let most = bounds.fold(claims[at].1.most, f64::min);
            let claim = Claim {
                shares: part * parts[at].counts,
                reserved: part * certain[at],
                most: part * most,
            };
            (None, claim)
        };
        self.clients.iter().map(one).collect()
    }

    /// Shares that count on a node, of those at home there that want so much, and can use so much.
    fn count_on(
        &mut self,
        node: usize,
        here: &[usize],
        pools: &[ResourcePool],
        [wanted, usable]: [&[Claimed]; 2],
    ) {
        let cores = self.nodes[node].len() as f64;
        let (due, entitled) = (divide(cores, pools, wanted), divide(cores, pools, usable));
        for (at, (part, (_, claim))) in here.iter().zip(due.iter().zip(wanted)) {
            let client = &mut self.clients[*at];
            client.counts = part.counts;
            client.is_left_out = part.due < LEAST_DUE * claim.most;
        }
        if has_room(cores, pools, usable) {
            self.count_due(here, &due, &entitled);
        } else {
            self.count_limits(here, usable, &entitled);
        }
    }

    /// Where each could have all that it can use and may, shares have no say: what one with a limit
    /// uses at once it must not take from others, whatever they count for.
    fn count_due(&mut self, here: &[usize], due: &[Part], entitled: &[Part]) {
        let is_pinned = |world: &World| !world.pins.is_empty();
        if self.limits.is_empty() || self.worlds.iter().any(is_pinned) {
            return;
        }
        let of = |at: usize| entitled[at].due.max(due[at].due);
        let all: f64 = here.iter().map(|at| self.clients[*at].counts).sum();
        let sum: f64 = (0..here.len()).map(of).sum();
        for (at, client) in here.iter().enumerate() {
            self.clients[*client].counts = entitled[at].counting(of(at) * all / sum);
        }
    }

    /// Who has a limit counts for what that leaves it: what one has used is held against what it is
    /// entitled to, and a limit is part of that. With all of its shares one of many virtual
    /// processors would be before all others whenever it may run again, on all processors at once.
    /// Beside pins no division of the whole host tells what one is due, and what one leaves of a
    /// pool's limit is its neighbours': there shares count as they are.
    fn count_limits(&mut self, here: &[usize], usable: &[Claimed], entitled: &[Part]) {
        let is_pinned = |world: &World| !world.pins.is_empty();
        if self.worlds.iter().any(is_pinned) {
            return;
        }
        let is_short = |at: &usize| entitled[*at].due < (1.0 - CLOSE) * usable[*at].1.most;
        let vm = |at: &usize| &self.vms[self.clients[here[*at]].vm];
        let is_limited = |at: &usize| !vm(at).limits.is_empty();
        let is_alone = |at: &usize| is_limited(at) && vm(at).limits.len() == vm(at).own_limits();
        let short: Vec<usize> = (0..entitled.len()).filter(is_short).collect();
        let share = |at: usize| entitled[at].due / entitled[at].counts;
        let free = short.into_iter().filter(|at| !is_limited(at));
        let rate = free.map(share).fold(0.0, f64::max);
        if rate > 0.0 {
            let limited: Vec<usize> = (0..here.len()).filter(is_alone).collect();
            for at in limited {
                self.clients[here[at]].counts = entitled[at].counting(entitled[at].due / rate);
            }
        }
    }
}
