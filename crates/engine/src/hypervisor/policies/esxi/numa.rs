//! Home nodes: a virtual machine, or each of its NUMA clients where it is wider than a node, runs
//! on one memory node, and changes it when nodes are loaded unevenly.
//!
//! A wide one is divided into as few clients as fit the cores of a node, threads not counted; at
//! most one a node as long as there are nodes. Where its memory lies decides where a client begins,
//! else the least loaded node. Memory follows one that moves, as the simulation moves pages.

use super::claims::{divide, Claim, Part};
use super::{Client, Doing, Esxi, Vm, World};
use crate::ids::PartitionId;
use crate::kernel::When;

/// A client that goes to the less loaded node, and perhaps one that comes from there.
#[derive(Clone, Copy, Debug)]
struct Move {
    goes: usize,
    comes: Option<usize>,
    /// Difference in load that is left.
    left: f64,
}

impl Esxi {
    /// Gives shares anew by what was wanted, then moves a client if nodes are loaded unevenly.
    pub(super) fn rebalance(&mut self, now: u64) {
        let period = self.rules.rebalance_ns as f64;
        self.rebalance_at = When::at(now + self.rules.rebalance_ns);
        for core in self.cores.ids() {
            self.book(core, now);
        }
        let worlds = self.worlds.iter_mut();
        let wanted: Vec<f64> = worlds
            .map(|world| {
                let waits = matches!(world.doing, Doing::Ready | Doing::Stopped);
                let open = if waits {
                    (now - world.since).min(period as u64)
                } else {
                    0
                };
                (std::mem::take(&mut world.wanted_ns) + open) as f64 / period
            })
            .map(|cores| cores.min(1.0))
            .collect();
        self.count_shares(&wanted);
        self.even_out(&wanted, now);
        self.rebalanced += 1;
        let periods = self.rules.fairness_periods;
        if periods > 0 && self.rebalanced % periods == 0 {
            self.pay_owed(now);
        }
    }

    /// The client that is owed most changes its node with the one that got most elsewhere beyond
    /// what it was due: on nodes of their own no clock makes them equal.
    fn pay_owed(&mut self, now: u64) {
        let mut owed = Vec::with_capacity(self.clients.len());
        for client in &self.clients {
            let mut sums = (0.0, 0.0);
            for vp in client.worlds {
                let world = &mut self.worlds[vp];
                sums.0 += std::mem::take(&mut world.due_ns);
                sums.1 += std::mem::take(&mut world.got_ns);
            }
            owed.push(if sums.0 > 0.0 {
                1.0 - sums.1 / sums.0
            } else {
                0.0
            });
        }
        let able = |at: &usize| !self.clients[*at].is_pinned;
        let by_owed = |a: &usize, b: &usize| owed[*a].total_cmp(&owed[*b]);
        let Some(poor) = (0..owed.len()).filter(able).max_by(by_owed) else {
            return;
        };
        let (from, of) = (self.clients[poor].home, &self.clients[poor]);
        let other = |at: &usize| {
            let client = &self.clients[*at];
            let apart = client.home != from && !self.has_sibling(of, client.home);
            apart && !self.has_sibling(client, from) && owed[*at] < 0.0
        };
        let rich = (0..owed.len()).filter(able).filter(other).min_by(by_owed);
        if let Some(rich) = rich.filter(|_| owed[poor] > self.rules.owed) {
            let to = self.clients[rich].home;
            self.change_home(poor, to, now);
            self.change_home(rich, from, now);
        }
    }

    /// Moves clients between the two nodes that differ most, or swaps pairs, until the two are even
    /// enough or a further move would bring too little; none where too much would be left.
    fn even_out(&mut self, wanted: &[f64], now: u64) {
        let of = |client: &Client| wanted[client.worlds.numbers()].iter().sum::<f64>();
        let wants: Vec<f64> = self.clients.iter().map(of).collect();
        let load = self.loads(&wants);
        let nodes = 0..load.len();
        let by_load = |a: &usize, b: &usize| load[*a].total_cmp(&load[*b]);
        let (Some(to), Some(from)) = (nodes.clone().min_by(by_load), nodes.max_by(by_load)) else {
            return;
        };
        let before: Vec<usize> = self.clients.iter().map(|client| client.home).collect();
        let first = load[from] - load[to];
        let mut left = first;
        let mut nodes = (from, to);
        while let Some(found) = self.next_move(nodes, left, &wants) {
            self.clients[found.goes].home = nodes.1;
            if let Some(comes) = found.comes {
                self.clients[comes].home = nodes.0;
            }
            let load = self.loads(&wants);
            left = load[nodes.0] - load[nodes.1];
            if left < 0.0 {
                (left, nodes) = (-left, (nodes.1, nodes.0));
            }
        }
        let clients = self.clients.iter_mut().zip(before);
        let after: Vec<usize> = clients
            .map(|(client, home)| std::mem::replace(&mut client.home, home))
            .collect();
        if left <= self.rules.thrash * first {
            for (at, home) in after.into_iter().enumerate() {
                if self.clients[at].home != home {
                    self.change_home(at, home, now);
                }
            }
        }
    }

    /// What the clients at home on each node want, as a part of its cores.
    fn loads(&self, wants: &[f64]) -> Vec<f64> {
        let mut load = vec![0.0; self.nodes.len()];
        for (client, cores) in self.clients.iter().zip(wants) {
            load[client.home] += cores / self.capacity(client.home);
        }
        load
    }

    /// The best move between two nodes, if they differ enough and it brings enough.
    fn next_move(&self, nodes: (usize, usize), apart: f64, wants: &[f64]) -> Option<Move> {
        if apart <= self.rules.imbalance {
            return None;
        }
        let found = self.best_move(nodes.0, nodes.1, apart, wants)?;
        let enough = found.left <= apart - self.rules.improvement && found.left < apart - CLOSE;
        enough.then_some(found)
    }

    /// The client, or the two, whose move leaves least of a difference; fewer moves among equals.
    fn best_move(&self, from: usize, to: usize, apart: f64, wants: &[f64]) -> Option<Move> {
        let moved = |at: usize| wants[at] / self.capacity(from) + wants[at] / self.capacity(to);
        let on = |node: usize, other: usize| {
            let all = self.clients.iter().enumerate();
            let able = move |(_, client): &(usize, &Client)| {
                client.home == node && !client.is_pinned && !self.has_sibling(client, other)
            };
            all.filter(able).map(|(at, _)| at).collect::<Vec<_>>()
        };
        let mut best: Option<Move> = None;
        let mut consider = |goes: usize, comes: Option<usize>| {
            let net = moved(goes) - comes.map_or(0.0, moved);
            let left = (apart - net).abs();
            if best.is_none_or(|best| left < best.left) {
                best = Some(Move { goes, comes, left });
            }
        };
        let (going, coming) = (on(from, to), on(to, from));
        for goes in &going {
            consider(*goes, None);
        }
        for goes in &going {
            for comes in &coming {
                consider(*goes, Some(*comes));
            }
        }
        best
    }

    /// Whether another client of the same virtual machine is at home on a node.
    fn has_sibling(&self, client: &Client, node: usize) -> bool {
        let mut others = self.clients.iter();
        others.any(|other| other.vm == client.vm && other.home == node)
    }

    /// Cores of a node.
    fn capacity(&self, node: usize) -> f64 {
        self.nodes[node].len() as f64 / self.siblings as f64
    }

    /// A client is at home elsewhere from now on: those that wait look for a processor there, and
    /// those that run lose theirs.
    fn change_home(&mut self, client: usize, home: usize, now: u64) {
        self.clients[client].home = home;
        self.vms[self.clients[client].vm].arrivals[home] += 1;
        for vp in self.clients[client].worlds {
            match (self.worlds[vp].doing, self.worlds[vp].core) {
                (Doing::Running, Some(core)) => self.ask(core),
                (Doing::Ready, _) => {
                    self.ready.retain(|waits| *waits != vp);
                    self.line_up(vp, now);
                }
                _ => {}
            }
        }
    }

    /// Shares that count until the next look, by what is wanted: what is reserved and what pools
    /// get is in them.
    pub(super) fn count_shares(&mut self, wanted: &[f64]) {
        let all = self.cores.len() as f64;
        let counted: Vec<f64> = self.vms.iter().map(|vm| vm.counts).collect();
        let claim = |vm: &Vm, wants: f64| {
            let claim = Claim {
                shares: vm.shares,
                reserved: vm.reservation,
                most: vm.most.min(wants),
            };
            (vm.pool, claim)
        };
        let wants = |vm: &Vm| wanted[vm.worlds.numbers()].iter().sum();
        let claims: Vec<_> = self.vms.iter().map(|vm| claim(vm, wants(vm))).collect();
        let parts = divide(all, &self.pools, &claims);
        self.share_limits(&claims);
        let period = self.rules.rebalance_ns as f64;
        for (vm, part) in self.vms.iter_mut().zip(parts) {
            vm.counts = part.counts;
            for vp in vm.worlds {
                self.worlds[vp].due_ns += part.due / vm.worlds.len() as f64 * period;
            }
        }
        let usable = |vm: &Vm| claim(vm, vm.worlds.len() as f64);
        let usable: Vec<_> = self.vms.iter().map(usable).collect();
        let entitled = divide(all, &self.pools, &usable);
        self.count_limits(&usable, &entitled);
        // What one is ahead or behind is time: who counts for more from now on makes it up sooner.
        for (vm, before) in self.vms.iter_mut().zip(counted) {
            vm.clock = self.level + (vm.clock - self.level) * before / vm.counts;
        }
    }

    /// Who has a limit counts for what that leaves it: what one has used is held against what it is
    /// entitled to, and a limit is part of that. With all of its shares one of many virtual
    /// processors would be before all others whenever it may run again, on all processors at once.
    /// Where each could have all that it can use, shares have no say. Beside pins no division of
    /// the whole host tells what one is due, and in pools what one leaves is its neighbours': there
    /// shares count as they are.
    fn count_limits(&mut self, usable: &[(Option<u16>, Claim)], entitled: &[Part]) {
        let is_pinned = |world: &World| !world.pins.is_empty();
        if !self.pools.is_empty() || self.worlds.iter().any(is_pinned) {
            return;
        }
        let is_short = |at: &usize| entitled[*at].due < (1.0 - CLOSE) * usable[*at].1.most;
        let is_free = |at: &usize| self.vms[PartitionId::new(*at)].limits.is_empty();
        let short: Vec<usize> = (0..entitled.len()).filter(is_short).collect();
        if short.is_empty() {
            let all: f64 = self.vms.iter().map(|vm| vm.counts).sum();
            let due: f64 = entitled.iter().map(|part| part.due).sum();
            for (vm, part) in self.vms.iter_mut().zip(entitled) {
                vm.counts = part.counting(part.due * all / due);
            }
            return;
        }
        let share = |at: usize| entitled[at].due / entitled[at].counts;
        let free = short.into_iter().filter(is_free);
        let rate = free.map(share).fold(0.0, f64::max);
        if rate > 0.0 {
            let limited = self.vms.iter_mut().zip(entitled);
            for (vm, part) in limited.filter(|(vm, _)| !vm.limits.is_empty()) {
                vm.counts = part.counting(part.due / rate);
            }
        }
    }
}

/// Part by which two figures of a division may differ for their bits.
const CLOSE: f64 = 1e-9;
