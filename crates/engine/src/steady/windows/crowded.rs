//! On which of several home chips those of a partition are that come and go.
//!
//! Under PowerVM one comes back to the core that it was on last while that is idle and on any home
//! chip of its partition. So who finds his core taken, and none idle on his own home chip, is on
//! another home chip from then on, until his core is taken there (`queues/throng.rs`).

use crate::ids::{ChipId, NodeId};
use crate::spec::Policy;
use crate::steady::layout::form::Form;
use crate::steady::layout::scope::Scope;
use crate::steady::layout::state::State;
use crate::steady::queues::throng::{level, Throng};

impl State {
    /// Finds for each partition which part of it is on which of its home chips.
    pub(in crate::steady) fn settle_at_home(&mut self, forms: &[&Form], scope: &Scope) {
        for at in scope.there() {
            self.at_home[at].clear();
            let shares = forms[at].homes.iter().map(|(_, share)| *share);
            self.at_home[at].extend(shares);
        }
        let is_phyp = self.machine.hypervisor.policy == Policy::Phyp;
        if !is_phyp || !scope.there().any(|at| forms[at].roves()) {
            return;
        }
        for node in scope.nodes.iter().copied() {
            let there = scope.there().filter(|at| forms[*at].comes());
            if self.count_crowds(node, there, forms) {
                let chips = self.tree.chips_of(node);
                level(self.crowds.slice_mut(chips));
                let there = scope.there().filter(|at| forms[*at].roves());
                there.for_each(|at| self.spread_out(at, forms[at], node));
            }
        }
    }

    /// How many come to each chip of a node; whether they are more than its cores anywhere.
    fn count_crowds(
        &mut self,
        node: NodeId,
        there: impl Iterator<Item = usize>,
        forms: &[&Form],
    ) -> bool {
        let chips = self.tree.chips_of(node);
        for chip in chips {
            self.crowds[chip] = Throng {
                left: (self.free[chip] - self.taken[chip]).max(0.0),
                ..Throng::default()
            };
        }
        for at in there {
            let (doing, form) = (&self.doing[at], forms[at]);
            let all: f64 = form.kinds.counts(doing.load.vps).iter().sum();
            for (chip, share) in form.homes.iter().filter(|(chip, _)| chips.contains(*chip)) {
                let crowd = &mut self.crowds[*chip];
                crowd.count += share * all;
                crowd.movable += if form.roves() { share * all } else { 0.0 };
            }
        }
        let all = self.crowds.slice(chips).iter();
        all.clone().any(|of| of.movable > 0.0 && of.count > of.left)
    }

    /// Those of a partition that go from its crowded home chips of a node come to the others.
    fn spread_out(&mut self, at: usize, form: &Form, node: NodeId) {
        let chips = self.tree.chips_of(node);
        let crowds = &self.crowds;
        let on_node = |of: &&(ChipId, f64)| chips.contains(of.0);
        let room: f64 = form
            .homes
            .iter()
            .filter(on_node)
            .map(|(chip, _)| crowds[*chip].room)
            .sum();
        if room <= 0.0 {
            return;
        }
        let mut gone = 0.0;
        for ((chip, share), here) in form.homes.iter().zip(&mut self.at_home[at]) {
            if chips.contains(*chip) && crowds[*chip].goes > 0.0 {
                *here = share * (1.0 - crowds[*chip].goes / crowds[*chip].movable);
                gone += share - *here;
            }
        }
        for ((chip, _), here) in form.homes.iter().zip(&mut self.at_home[at]) {
            if chips.contains(*chip) {
                *here += gone * crowds[*chip].room / room;
            }
        }
    }
}
