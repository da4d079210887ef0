//! Home nodes: a virtual machine, or each of its NUMA clients where it is wider than a node, runs
//! on one memory node, and changes it when nodes are loaded unevenly.
//!
//! A wide one is divided into as few clients as fit the cores of a node, threads not counted; at
//! most one a node as long as there are nodes. Where its memory lies decides where a client begins,
//! else the least loaded node. Memory follows one that moves, as the simulation moves pages.

use super::{Client, Doing, Esxi};
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
    /// Moves clients if nodes are loaded unevenly, then gives shares anew by what was wanted: what
    /// they count for depends on who is at home where.
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
        self.add_due(&wanted);
        self.even_out(&wanted, now);
        self.rebalanced += 1;
        let periods = self.rules.fairness_periods;
        if periods > 0 && self.rebalanced % periods == 0 {
            self.pay_owed(now);
        }
        self.count_shares(&wanted);
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
            let apart = client.home != from && client.vm != of.vm;
            apart && self.may_swap(poor, *at) && owed[*at] < 0.0
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
        if left <= self.rules.thrash * first + CLOSE {
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
    /// Two of one virtual machine that would share a node may still change places.
    fn best_move(&self, from: usize, to: usize, apart: f64, wants: &[f64]) -> Option<Move> {
        let moved = |at: usize| wants[at] / self.capacity(from) + wants[at] / self.capacity(to);
        let on = |node: usize| {
            let all = self.clients.iter().enumerate();
            let able =
                move |(_, client): &(usize, &Client)| client.home == node && !client.is_pinned;
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
        let (going, coming) = (on(from), on(to));
        let goes_alone = |at: &usize| !self.has_sibling(&self.clients[*at], to);
        for goes in going.iter().filter(|at| goes_alone(at)) {
            consider(*goes, None);
        }
        for goes in &going {
            for comes in &coming {
                if self.may_swap(*goes, *comes) {
                    consider(*goes, Some(*comes));
                }
            }
        }
        best
    }

    /// Whether two clients may change their nodes: no two of one virtual machine share one then.
    fn may_swap(&self, goes: usize, comes: usize) -> bool {
        let (one, other) = (&self.clients[goes], &self.clients[comes]);
        let apart = !self.has_sibling(one, other.home) && !self.has_sibling(other, one.home);
        one.vm == other.vm || apart
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
    /// those that run lose theirs. Clocks of two nodes have nothing in common: what it is owed, or
    /// owes, where others waited goes along.
    fn change_home(&mut self, client: usize, home: usize, now: u64) {
        let from = self.clients[client].home;
        let apart = if self.is_contested(from) {
            self.clients[client].clock - self.levels[from]
        } else {
            0.0
        };
        if !self.is_contested(home) {
            self.begin_contest(home);
        }
        let one = &mut self.clients[client];
        one.clock = self.levels[home] + apart;
        one.bound(self.levels[home], self.rules.lag_ns);
        one.home = home;
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
}

/// Part by which two figures of a division may differ for their bits.
const CLOSE: f64 = 1e-9;
