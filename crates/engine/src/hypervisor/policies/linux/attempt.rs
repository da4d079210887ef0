//! One processor's look for work in one of its domains.

use super::domains::{Domain, Domains, Level, Seat};
use super::ids::{CoreId, Span};
use super::tree::Tree;

/// Attempts that may fail before a task that is still warm is moved, within a cache and beyond.
const NICE_TRIES: [u32; 2] = [1, 2];

/// How busy the processor is that balances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idleness {
    /// It has work.
    Busy,
    /// It has idled for a while.
    Idle,
    /// It is about to idle.
    NewlyIdle,
}

/// Balancing of one processor in one domain.
pub struct Attempt<'a> {
    /// The processor.
    pub to: CoreId,
    /// Index of its seat in the domain.
    pub seat: usize,
    /// How busy it is.
    pub idleness: Idleness,
    /// What every processor keeps of those it is in.
    pub domains: &'a mut Domains,
    /// Processors that had only tasks which may not run here: others are looked at instead.
    pub excluded: Vec<CoreId>,
    /// Whether a task was left where it is as it may not run here (`LBF_SOME_PINNED`).
    pub pinned: bool,
}

impl Attempt<'_> {
    /// What the processor keeps of the domain.
    pub fn seat(&self) -> &Seat {
        &self.domains.seats[self.to][self.seat]
    }

    /// In which it looks for work.
    pub fn domain(&self) -> &Domain {
        &self.domains.all[self.seat().domain]
    }

    /// What its processors have in common.
    pub fn level(&self) -> Level {
        self.domain().level
    }

    /// The set of processors that it balances for.
    pub fn own_group(&self) -> Span<CoreId> {
        self.domain().groups[self.seat().own]
    }

    /// All other sets of the domain, those after the own one first: a processor's sets are a ring
    /// that begins with its own (`build_sched_groups`), so that of equals each finds the next one.
    pub fn other_groups(&self) -> impl Iterator<Item = Span<CoreId>> + Clone + '_ {
        let own = self.seat().own;
        let (before, after) = self.domain().groups.split_at(own);
        after[1..].iter().chain(before).copied()
    }

    /// Whether tasks could not be moved within a group of the domain. Who has just become idle is
    /// not told: two that become so in turn would take the same task from each other without end.
    pub fn is_imbalanced(&self, group: Span<CoreId>) -> bool {
        if self.idleness == Idleness::NewlyIdle {
            return false;
        }
        let mut by = self.domain().imbalanced.iter();
        by.any(|by| group.contains(*by))
    }

    /// Tells the domain above whether tasks could not be moved within this one, a group of it.
    pub fn tell_above(&mut self, is_imbalanced: bool) {
        let Some(above) = self.domains.seats[self.to].get(self.seat + 1) else {
            return;
        };
        let noted = &mut self.domains.all[above.domain].imbalanced;
        let at = noted.iter().position(|by| *by == self.to);
        match (at, is_imbalanced) {
            (None, true) => noted.push(self.to),
            (Some(at), false) => {
                noted.swap_remove(at);
            }
            _ => {}
        }
    }

    /// Attempts that may fail before a task that is still warm is moved.
    pub fn nice_tries(&self) -> u32 {
        NICE_TRIES[usize::from(self.level() == Level::Numa)]
    }

    /// Notes how it ended: balanced, or moved something, or wanted to and could not.
    pub fn settle(&mut self, tree: &Tree, balanced: bool, moved: bool) {
        let newly = self.idleness == Idleness::NewlyIdle;
        let least = self.domain().weight as u64 * tree.params.balance.interval_ns;
        let seat = &mut self.domains.seats[self.to][self.seat];
        let before = seat.interval;
        if balanced {
            seat.failed = 0;
            if !newly {
                seat.interval = (2 * seat.interval).min(2 * least);
            }
        } else {
            seat.interval = least;
            if moved {
                seat.failed = 0;
            } else if !newly {
                seat.failed += 1;
            }
        }
        if seat.interval != before {
            self.domains.plan(self.to, self.seat);
        }
    }
}
