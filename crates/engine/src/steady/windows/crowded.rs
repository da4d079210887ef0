//! On which of several home chips those of a partition are that come and go.
//!
//! Under PowerVM one comes back to the core that it was on last while that is idle and on any home
//! chip of its partition. So who finds his core taken, and none idle on his own home chip, is on
//! another home chip from then on, until his core is taken there. Where more come to a chip than
//! there are cores left of it these go on until each has one; where all home chips together have
//! too few, until these have as many for each core.
//!
//! ```text
//! goes(chip) = count(chip) - level left(chip)      level >= 1, sum over the chips that go = come
//! ```

use crate::ids::{ChipId, NodeId};
use crate::spec::Policy;
use crate::steady::layout::form::Form;
use crate::steady::layout::scope::Scope;
use crate::steady::layout::state::State;

/// Virtual processors that come and go on a chip, for the cores left there.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::steady) struct Throng {
    /// How many there are, each weighted by how much it does; those of them that have other home
    /// chips on the node.
    count: f64,
    movable: f64,
    /// Cores that those leave who always stay and are never thrown off: of the others who comes
    /// may take one.
    left: f64,
    /// How many go to other chips, and how many may come.
    goes: f64,
    room: f64,
}

/// Steps in which the level is found.
const STEPS: usize = 16;

impl State {
    /// Finds for each partition which part of it is on which of its home chips.
    pub(in crate::steady) fn settle_at_home(&mut self, forms: &[&Form], scope: &Scope) {
        for at in scope.there() {
            self.at_home[at].clear();
            let shares = forms[at].homes.iter().map(|(_, share)| *share);
            self.at_home[at].extend(shares);
        }
        let is_phyp = self.machine.hypervisor.policy == Policy::Phyp;
        if !is_phyp || !scope.there().any(|at| forms[at].roves) {
            return;
        }
        for node in scope.nodes.iter().copied() {
            let there = scope.there().filter(|at| forms[*at].comes());
            if self.count_crowds(node, there, forms) {
                let chips = self.tree.chips_of(node);
                level(self.crowds.slice_mut(chips));
                let there = scope.there().filter(|at| forms[*at].roves);
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
                crowd.movable += if form.roves { share * all } else { 0.0 };
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

/// How many go from each chip of a node and may come there, so that those that go find room.
fn level(crowds: &mut [Throng]) {
    let by_core = |of: &Throng| of.count / of.left.max(1e-9);
    let most = crowds.iter().filter(|of| of.movable > 0.0).map(by_core);
    let (mut low, mut high) = (1.0, most.fold(1.0, f64::max));
    for step in 0..=STEPS {
        let at = if step == 0 { low } else { 0.5 * (low + high) };
        let mut beyond = 0.0;
        for of in crowds.iter_mut().filter(|of| of.movable > 0.0) {
            let more = of.count - at * of.left;
            of.goes = more.clamp(0.0, of.movable);
            of.room = (-more).max(0.0);
            beyond += of.goes - of.room;
        }
        match (step, beyond <= 0.0) {
            (0, true) => return,
            (_, true) => high = at,
            (_, false) => low = at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crowd(count: f64, movable: f64, left: f64) -> Throng {
        Throng {
            count,
            movable,
            left,
            ..Throng::default()
        }
    }

    fn then(crowds: &[Throng]) -> Vec<f64> {
        let mut levelled = crowds.to_vec();
        level(&mut levelled);
        let gone: f64 = levelled.iter().map(|of| of.goes).sum();
        let room: f64 = levelled.iter().map(|of| of.room).sum();
        let come = |of: &Throng| of.count - of.goes + gone * of.room / room.max(1e-9);
        levelled.iter().map(come).collect()
    }

    #[test]
    fn where_there_is_a_core_for_each_only_those_go_that_have_none() {
        let found = then(&[crowd(5.0, 5.0, 3.0), crowd(2.0, 2.0, 6.0)]);
        assert!((found[0] - 3.0).abs() < 1e-3 && (found[1] - 4.0).abs() < 1e-3);
        let roomy = [crowd(2.0, 2.0, 3.0), crowd(6.0, 6.0, 6.0)];
        assert_eq!(then(&roomy), [2.0, 6.0]);
    }

    #[test]
    fn too_many_have_as_many_cores_each_on_all_chips() {
        let found = then(&[crowd(9.0, 9.0, 3.0), crowd(3.0, 3.0, 6.0)]);
        assert!((found[0] / 3.0 - found[1] / 6.0).abs() < 1e-3, "{found:?}");
    }

    #[test]
    fn who_has_no_other_home_stays_and_crowds_the_others_out() {
        let found = then(&[crowd(5.0, 1.0, 3.0), crowd(2.0, 2.0, 6.0)]);
        assert!((found[0] - 4.0).abs() < 1e-3, "{found:?}");
        // One more neighbour, and more go; none left of a chip, and all go that can.
        let more = then(&[crowd(6.0, 3.0, 3.0), crowd(2.0, 2.0, 6.0)]);
        assert!(more[1] > found[1]);
        let none = then(&[crowd(3.0, 3.0, 0.0), crowd(1.0, 1.0, 6.0)]);
        assert!(none[0] < 1e-3, "{none:?}");
    }
}
