//! Locks, and the lines that several processors write: how far away they are as seen from a chip.

use super::segment::{Owner, Segment};
use crate::cost::{lock, Surroundings};
use crate::spec::{self, Machine, Profile, Zvm};

/// Share of the newest window in the running average of a lock's use and of a switch's users:
/// assumed, as that of the machine's other averages.
pub const NEWEST: f64 = 0.25;

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
    pub taken: f64,
    /// Times in a window, running average.
    pub usual: f64,
    /// Mean wait for it [ns].
    pub wait_ns: f64,
}

/// Where a line lies that several processors write, as seen from a chip.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sharing {
    /// Chance that another processor wrote it last.
    pub elsewhere: f64,
    /// Shares of the others by their distance.
    pub by: [f64; 3],
    /// Latency of the line, by distance [ns].
    pub ns: [f64; 3],
}

impl Sharing {
    /// Mean time to get it, whether it is elsewhere or not [ns].
    pub fn transfer_ns(&self) -> f64 {
        let pairs = self.by.iter().zip(self.ns);
        self.elsewhere * pairs.map(|(by, ns)| by * ns).sum::<f64>()
    }
}

/// Costs on a chip in this window.
#[derive(Clone, Copy, Debug, Default)]
pub struct Near {
    /// Whether they are worked out: there are logical processors.
    pub kept: bool,
    /// What surrounds a core there.
    pub around: Surroundings,
    /// Of lines that all of the partition's processors write.
    pub sharing: Sharing,
    /// Instructions executed in a nanosecond of spinning.
    pub spin_per_ns: f64,
    /// Lines of its own that a virtual processor has in the private caches.
    pub own_lines: f64,
    /// What a dispatch costs, and its time [ns].
    pub dispatch: (Segment, f64),
}

impl Near {
    /// Around a core: lines of its own that a virtual processor of the profile has, and how fast it
    /// spins.
    pub fn of(around: Surroundings, profile: &Profile, machine: &Machine, spin_cpi: f64) -> Self {
        let own = profile.footprint_bytes as f64 * (1.0 - profile.footprint_common);
        let line_bytes = f64::from(machine.line_bytes);
        Self {
            kept: true,
            sharing: Sharing {
                elsewhere: around.elsewhere,
                by: around.by,
                ns: around.cache_ns,
            },
            spin_per_ns: machine.clock_hz * 1e-9 / spin_cpi,
            own_lines: (own / line_bytes).min(around.private_lines),
            dispatch: Default::default(),
            around,
        }
    }

    /// What a dispatch costs: its path, and the dispatcher's lock.
    pub fn dispatching(&self, zvm: &Zvm, lock: &Lock) -> Segment {
        let mut path = Segment::default();
        path.execute(Owner::System, zvm.paths.dispatch);
        let takes = (zvm.locks.dispatch, zvm.locks.lines);
        lock.cost(takes, Owner::System, &self.sharing, self, &mut path);
        path
    }

    /// What looking at dispatch vectors costs, of which so many lines come from elsewhere.
    pub fn looking(&self, zvm: &Zvm, vectors: f64, lines: [f64; 3]) -> Segment {
        let mut look = Segment::default();
        look.execute(Owner::System, vectors * zvm.paths.scan);
        look.fetch(Owner::System, lines, self.around.cache_ns);
        look
    }

    /// Time of a segment [ns].
    #[inline]
    pub fn time_of(&self, segment: &Segment) -> f64 {
        segment.all_instructions() * self.around.instruction_ns + segment.extra.ns
    }
}

impl Lock {
    /// Takes it so many times, each with so many lines.
    #[inline]
    pub fn take(
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
    pub fn cost(
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
    pub fn close(&mut self, engaged: f64, held: f64, transfer_ns: f64, window_ns: f64) {
        self.usual += NEWEST * (std::mem::take(&mut self.taken) - self.usual);
        if self.usual <= 0.0 || engaged <= 1.0 {
            self.wait_ns = 0.0;
            return;
        }
        let between = engaged * window_ns / self.usual;
        let outside = (between - held - transfer_ns - self.wait_ns).max(0.0);
        let wait = lock::wait_ns(
            spec::LockKind::TestAndSet,
            engaged,
            outside,
            held,
            transfer_ns,
        );
        self.wait_ns += NEWEST * (wait - self.wait_ns);
    }
}
