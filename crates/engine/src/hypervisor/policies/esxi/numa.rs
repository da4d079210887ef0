//! Home nodes: a virtual machine, or each of its NUMA clients where it is wider than a node, runs
//! on one memory node, and changes it when nodes are loaded unevenly.
//!
//! A wide one is divided into as few clients as fit the cores of a node, threads not counted; at
//! most one a node as long as there are nodes. Where its memory lies decides where a client begins,
//! else the least loaded node. Memory follows one that moves, as the simulation moves pages.

use super::parts::Had;
use super::{Doing, Esxi};
use crate::kernel::When;

impl Esxi {
    /// Moves clients where some lack what others have, then gives shares anew by what was wanted:
    /// what they count for depends on who is at home where.
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
                    now - world.since.max(self.looked_at)
                } else {
                    0
                };
                (std::mem::take(&mut world.wanted_ns) + open) as f64 / period
            })
            .map(|cores| cores.min(1.0))
            .collect();
        self.looked_at = now;
        let had = self.had(&wanted);
        self.even_out(&had, now);
        for (client, had) in self.clients.iter_mut().zip(had) {
            client.had.due += had.due;
            client.had.got += had.got;
        }
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
        let owed = self.clients.iter_mut().map(|client| {
            let Had { due, got } = std::mem::take(&mut client.had);
            if due > 0.0 {
                1.0 - got / due
            } else {
                0.0
            }
        });
        let owed: Vec<f64> = owed.collect();
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

    /// A client is at home elsewhere from now on: those that wait look for a processor there, and
    /// those that run lose theirs. Clocks of two nodes have nothing in common: what it is owed, or
    /// owes, where others waited goes along.
    pub(super) fn change_home(&mut self, client: usize, home: usize, now: u64) {
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
