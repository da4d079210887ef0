//! On which of several home chips those of a partition are that come and go.
//!
//! Under PowerVM one comes back to the core that it was on last while that is idle and on any home
//! chip of its partition. So who finds his core taken, and none idle on his own home chip, is on
//! another home chip from then on, until his core is taken there (`queues/throng.rs`).

use crate::ids::{ChipId, NodeId, Span};
use crate::spec::Policy;
use crate::steady::layout::form::Form;
use crate::steady::layout::scope::Scope;
use crate::steady::layout::state::State;
use crate::steady::layout::stints::in_use;
use crate::steady::queues::throng::{level, Throng};
use crate::steady::windows::evictions::LONG_NS;
use crate::steady::windows::homes::offered;

impl State {
    /// Which share of a partition is on which of its home chips.
    pub(in crate::steady) fn homes_of<'a>(
        &'a self,
        at: usize,
        form: &'a Form,
    ) -> impl Iterator<Item = (ChipId, f64)> + Clone + 'a {
        let found = self.at_home[at].iter().copied();
        let rest = form.homes.iter().skip(found.len());
        let shares = found.chain(rest.map(|(_, share)| *share));
        form.home_chips().zip(shares)
    }

    /// Share of a partition that is on other home chips than its virtual processors' own.
    pub(in crate::steady) fn moved_home(&self, at: usize, form: &Form) -> f64 {
        let own = form.homes.iter().map(|(_, share)| *share);
        let own = own.chain(form.more_homes.iter().map(|_| 0.0));
        let pairs = self.at_home[at].iter().zip(own);
        pairs.map(|(now, own)| (now - own).max(0.0)).sum()
    }

    /// Finds for each partition which part of it is on which of its home chips.
    pub(in crate::steady) fn settle_at_home(&mut self, forms: &[&Form], scope: &Scope) {
        let is_phyp = self.machine.hypervisor.policy == Policy::Phyp;
        for at in scope.there() {
            self.at_home[at].clear();
            let form = forms[at];
            self.at_home[at].extend(form.homes.iter().map(|(_, share)| *share));
            if is_phyp && form.roves() {
                self.at_home[at].extend(form.more_homes.iter().map(|_| 0.0));
            }
        }
        if !is_phyp || !scope.there().any(|at| forms[at].roves()) {
            return;
        }
        for node in scope.nodes.iter().copied() {
            let there = scope.there().filter(|at| forms[*at].comes());
            if !self.count_crowds(node, there, forms) {
                continue;
            }
            let chips = self.tree.chips_of(node);
            for chip in chips {
                if self.crowds[chip].set == chip.index() {
                    level(self.crowds.slice_mut(chips), chip.index());
                }
            }
            let there = scope.there().filter(|at| forms[*at].roves());
            there.for_each(|at| self.spread_out(at, forms[at], node));
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
                set: chip.index(),
                ..Throng::default()
            };
        }
        for at in there {
            let form = forms[at];
            let all: f64 = form.kinds.counts(self.doing[at].load.vps).iter().sum();
            let here = || form.homes.iter().filter(|(chip, _)| chips.contains(*chip));
            let more = || form.more_homes.iter().filter(|chip| chips.contains(**chip));
            let moves = here().count() + more().count() > 1;
            for (chip, share) in here() {
                let crowd = &mut self.crowds[*chip];
                crowd.count += share * all;
                crowd.movable += if moves { share * all } else { 0.0 };
                crowd.wanted.add(offered(&self.doing[at], form, *share));
            }
            if moves {
                let all = here().map(|(chip, _)| *chip).chain(more().copied());
                self.put_together(chips, all);
            }
        }
        let mut all = self.crowds.slice(chips).iter();
        all.any(|of| of.movable > 0.0 && of.count > of.left)
    }

    /// Some chips of a node are of one set, and so are those that were of one set with them.
    fn put_together(&mut self, chips: Span<ChipId>, some: impl Iterator<Item = ChipId> + Clone) {
        let sets = some.clone().map(|chip| self.crowds[chip].set);
        let least = sets.min().unwrap_or_default();
        for chip in some {
            let set = self.crowds[chip].set;
            let all = self.crowds.slice_mut(chips).iter_mut();
            all.filter(|of| of.set == set).for_each(|of| of.set = least);
        }
    }

    /// Those of a partition that go from its crowded home chips of a node come to the others.
    fn spread_out(&mut self, at: usize, form: &Form, node: NodeId) {
        let chips = self.tree.chips_of(node);
        let (crowds, doing) = (&self.crowds, &self.doing[at]);
        let comes_per_ns = doing.load.wakes_per_ns / in_use(doing, form);
        let here = || form.home_chips().filter(|chip| chips.contains(*chip));
        let room: f64 = here().map(|chip| crowds[chip].room).sum();
        if room <= 0.0 || here().count() < 2 {
            return;
        }
        let mut gone = 0.0;
        for (chip, now) in form.home_chips().zip(&mut self.at_home[at]) {
            if chips.contains(chip) && crowds[chip].goes > 0.0 {
                let goes = *now * crowds[chip].goes / crowds[chip].movable;
                let goes = goes * crowds[chip].gone(comes_per_ns, LONG_NS);
                *now -= goes;
                gone += goes;
            }
        }
        for (chip, now) in form.home_chips().zip(&mut self.at_home[at]) {
            if chips.contains(chip) {
                *now += gone * crowds[chip].room / room;
            }
        }
    }
}
