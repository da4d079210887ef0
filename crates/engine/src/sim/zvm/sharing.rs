//! Locks, and the lines that several processors write: how far away they are as seen from a chip.

use crate::cost::{lock, Surroundings};
use crate::guest::zvm::segment::{Owner, Segment};
use crate::spec;

/// Share of the newest window in the running average of a lock's use and of a switch's users:
/// assumed, as that of the machine's other averages.
pub(super) const NEWEST: f64 = 0.25;

/// Formal spin locks, by what they protect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum LockKind {
    /// The dispatcher's lists.
    Dispatch,
    /// Taken for paging reads and writes.
    Paging,
}

/// Use of a lock.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lock {
    /// Times that it was taken in this window.
    pub(super) taken: f64,
    /// Times in a window, running average.
    pub(super) usual: f64,
    /// Mean wait for it [ns].
    pub(super) wait_ns: f64,
}

/// Where a line lies that several processors write, as seen from a chip.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sharing {
    /// Chance that another processor wrote it last.
    pub(super) elsewhere: f64,
    /// Shares of the others by their distance.
    pub(super) by: [f64; 3],
    /// Latency of the line, by distance [ns].
    pub(super) ns: [f64; 3],
}

impl Sharing {
    /// Mean time to get it, whether it is elsewhere or not [ns].
    pub(super) fn transfer_ns(&self) -> f64 {
        let pairs = self.by.iter().zip(self.ns);
        self.elsewhere * pairs.map(|(by, ns)| by * ns).sum::<f64>()
    }
}

/// Costs on a chip in this window.
#[derive(Clone, Copy, Debug, Default)]
pub struct Near {
    /// Whether they are worked out: there are logical processors.
    pub(super) kept: bool,
    /// What surrounds a core there.
    pub around: Surroundings,
    /// Of lines that all of the partition's processors write.
    pub(super) sharing: Sharing,
    /// Instructions executed in a nanosecond of spinning.
    pub(super) spin_per_ns: f64,
    /// Lines of its own that a virtual processor has in the private caches.
    pub(super) own_lines: f64,
    /// What a dispatch costs, and its time [ns].
    pub(super) dispatch: (Segment, f64),
}

impl Lock {
    /// Takes it so many times, each with so many lines.
    #[inline]
    pub(super) fn take(
        &mut self,
        takes: (f64, f64),
        owner: Owner,
        sharing: &Sharing,
        near: &Near,
        into: &mut Segment,
    ) {
        self.taken += takes.0;
        self.cost(takes, owner, sharing, near, into);
    }

    /// Adds what that costs.
    #[inline]
    pub(super) fn cost(
        &self,
        (times, lines): (f64, f64),
        owner: Owner,
        sharing: &Sharing,
        near: &Near,
        into: &mut Segment,
    ) {
        if times <= 0.0 {
            return;
        }
        let spun = times * self.wait_ns;
        into.spin(owner, spun, spun * near.spin_per_ns);
        let lines = times * lines * sharing.elsewhere;
        into.fetch(owner, sharing.by.map(|by| by * lines), sharing.ns);
    }

    /// The wait in a closed queue of the engaged processors: each does other things, takes the
    /// lock, holds it, and hands its line over. All that wait read that line again; the others that
    /// come with it belong to the time it is held.
    pub(super) fn close(&mut self, engaged: f64, held: f64, transfer_ns: f64, window_ns: f64) {
        self.usual += NEWEST * (std::mem::take(&mut self.taken) - self.usual);
        if self.usual <= 0.0 || engaged <= 1.0 {
            self.wait_ns = 0.0;
            return;
        }
        let between = engaged * window_ns / self.usual;
        let outside = (between - held - transfer_ns - self.wait_ns).max(0.0);
        let wait = lock::wait_ns(spec::LockKind::Ticket, engaged, outside, held, transfer_ns);
        self.wait_ns += NEWEST * (wait - self.wait_ns);
    }
}
