//! Those that a cap has stopped: all of them begin a window of PowerVM together.
//!
//! Who finds no core at home then goes elsewhere as long as one is idle there; the others wait. A
//! core that is left goes to one at home there, so these have one at home when their turn comes,
//! unless others are done with what is their own while some of this chip still wait.

use crate::ids::ChipId;
use crate::spec::Policy;
use crate::steady::layout::form::Form;
use crate::steady::layout::state::State;
use crate::steady::windows::evictions::waits_at_a_cap;

impl State {
    /// Part of those of a partition that all begin a window together, as a cap has stopped them in
    /// the one before: those that always have work; of others as many as it stops of those that it
    /// would if more came than it can do.
    pub(in crate::steady) fn begins(&self, at: usize, form: &Form) -> f64 {
        let doing = &self.doing[at];
        if self.machine.hypervisor.policy != Policy::Phyp {
            return 0.0;
        }
        if form.stays {
            return f64::from(u8::from(waits_at_a_cap(doing, form)));
        }
        let most = 1.0 - doing.due / form.in_turn.max(1e-12);
        (doing.load.stopped / most.max(1e-12)).clamp(0.0, 1.0)
    }

    /// Part of those that find no core of their node when a window begins that find one elsewhere.
    pub(in crate::steady) fn find_elsewhere(&self) -> f64 {
        let each = self.tree.nodes().into_iter();
        let each = each.map(|node| self.nodes.left(node.index()));
        let (mut left, mut lacking) = (0.0, 0.0);
        for of in each {
            left += of.max(0.0);
            lacking += (-of).max(0.0);
        }
        if left < lacking {
            left / lacking
        } else {
            1.0
        }
    }

    /// Part of those of a chip with such a slice that wait for a core when a window begins, and
    /// have one of the chip then: of those that find none on their node, or on the chip where none
    /// is idle beside it.
    pub(in crate::steady) fn waits_at_home(&self, chip: ChipId, slice: f64) -> f64 {
        let node = self.tree.node_of(chip);
        let spare: f64 = self.spare[0].slice(self.tree.chips_of(node)).iter().sum();
        let kept = [
            self.seats.kept_by_turns(chip.index(), slice),
            self.nodes.kept_at_beginning(node.index(), slice),
        ];
        let none = 1.0 - kept[0] - spare.min(1.0) * (kept[1] - kept[0]).max(0.0);
        none * (1.0 - self.goes_elsewhere) * (1.0 - self.strays_at_beginning(chip))
    }

    /// Part of what those of a chip do within what is their own that they do on others of the node,
    /// which are done with theirs sooner.
    fn strays_at_beginning(&self, home: ChipId) -> f64 {
        let own = self.seats.until_done(home.index());
        let chips = self.tree.chips_of(self.tree.node_of(home)).into_iter();
        let (mut cores, mut work) = (0.0, 0.0);
        for chip in chips.filter(|chip| *chip != home && self.free[*chip] > 0.0) {
            cores += self.free[chip];
            work += self.free[chip] * self.seats.until_done(chip.index());
        }
        let others = work / f64::max(cores, 1e-9);
        if own <= others {
            return 0.0;
        }
        (own - others) / own * cores / (cores + self.free[home])
    }
}

/// Part of a window to which each virtual processor is entitled.
pub(in crate::steady) fn slice(form: &Form) -> f64 {
    form.entitled / f64::from(form.partition.processors.count().max(1))
}
