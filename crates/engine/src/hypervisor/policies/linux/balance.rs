//! Load balancing by domain: when a processor looks for work in which domain, and how that ends.

use super::attempt::{Attempt, Idleness};
use super::busiest::Amount;
use super::domains::Domains;
use super::ids::CoreId;
use super::tree::Tree;

impl Tree {
    /// Balances a processor in all its domains whose time has come; whether it got anything.
    pub fn balance(&mut self, domains: &mut Domains, cpu: CoreId, idleness: Idleness) -> bool {
        let mut moved = false;
        let mut idleness = idleness;
        for seat in 0..domains.seats[cpu].len() {
            let due = domains.due_at(cpu, seat, idleness == Idleness::Busy);
            if self.now < due {
                continue;
            }
            if self.attempt(domains, cpu, seat, idleness) {
                moved = true;
                idleness = Idleness::Busy;
            }
            domains.balanced(cpu, seat, self.now);
        }
        moved
    }

    /// One that is about to idle looks for work in all its domains, unless it will not idle for
    /// long enough.
    pub fn balance_newly_idle(&mut self, domains: &mut Domains, cpu: CoreId) -> bool {
        let balance = self.params.balance;
        if !(balance.enabled && balance.newly_idle) || self.overloaded == 0 {
            return false;
        }
        let mut cost = 0;
        for seat in 0..domains.seats[cpu].len() {
            let domain = domains.seats[cpu][seat].domain;
            let own = look_cost(domains.all[domain].weight);
            if self.cpus[cpu].idle_mean < cost + own {
                return false;
            }
            if self.attempt(domains, cpu, seat, Idleness::NewlyIdle) {
                return true;
            }
            cost += own;
        }
        false
    }

    /// Whether another processor that shares the last cache level is busy too: one of theirs might
    /// be better off elsewhere.
    pub fn is_in_company(&self, domains: &Domains, cpu: CoreId) -> bool {
        let cache = domains.cache_of(cpu);
        let busy = cache.len() as u32 - self.idle.count(cache);
        busy > u32::from(!self.is_idle(cpu))
    }

    fn attempt(&mut self, domains: &mut Domains, to: CoreId, seat: usize, idle: Idleness) -> bool {
        let mut attempt = Attempt {
            to,
            seat,
            idleness: idle,
            domains,
            excluded: Vec::new(),
            pinned: false,
        };
        if !self.should_balance(&attempt) {
            attempt.tell_above(false);
            return false;
        }
        let found = self.find_busiest(&mut attempt);
        let Some((from, amount)) = found else {
            attempt.tell_above(attempt.pinned);
            if let Some(from) = self.most_held_up(&attempt) {
                attempt.settle(self, false, true);
                return self.move_runner(from, to);
            }
            attempt.settle(self, true, false);
            return false;
        };
        let moved = self.move_tasks(&mut attempt, from, amount);
        if attempt.pinned {
            attempt.tell_above(true);
        }
        if moved > 0 {
            attempt.settle(self, false, true);
            return true;
        }
        attempt.settle(self, false, false);
        let failed = attempt.seat().failed;
        if matches!(amount, Amount::Tasks(_)) && failed > attempt.nice_tries() + 2 {
            return self.move_runner(from, to);
        }
        false
    }

    /// Of a set of processors, only the first idle one balances with the other sets, or its first.
    fn should_balance(&self, attempt: &Attempt) -> bool {
        if attempt.idleness == Idleness::NewlyIdle {
            return self.queue(self.root_of(attempt.to)).tasks == 0;
        }
        let own = attempt.own_group();
        self.idle.first(own).unwrap_or(own.at(0)) == attempt.to
    }
}

/// What a look around in a domain of so many processors costs [ns]; assumed.
fn look_cost(cpus: usize) -> u64 {
    500 + 100 * cpus as u64
}
