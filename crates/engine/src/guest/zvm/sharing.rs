//! Lines that several processors write: how far away they are as seen from a chip, and what CP's
//! own steps cost there.

use super::looks::Looks;
use super::segment::{Owner, Segment};
use crate::cost::{Beyond, Surroundings};
use crate::spec::{CpLocks, Machine, Profile, Zvm};

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
    /// How a processor spins.
    pub looks: Looks,
    /// Other unparked processors, by distance: counted anew each window.
    pub others: [f64; 3],
    /// Lines that a virtual processor has in the private caches, and the part of them that is its
    /// own: the rest all of its machine's have in common.
    pub lines: f64,
    /// That part.
    pub own: f64,
    /// What it has beyond, in caches that cores share.
    pub beyond: Beyond,
    /// What a dispatch costs, and its time [ns].
    pub dispatch: (Segment, f64),
}

impl Near {
    /// Around a core: lines that a virtual processor of the profile has, and how fast it spins.
    pub fn of(around: Surroundings, profile: &Profile, machine: &Machine, locks: &CpLocks) -> Self {
        let footprint = profile.footprint_bytes as f64 / f64::from(machine.line_bytes);
        Self {
            kept: true,
            sharing: Sharing {
                elsewhere: around.elsewhere,
                by: around.by,
                ns: around.cache_ns,
            },
            looks: Looks {
                instructions: locks.look,
                delay_ns: locks.delay * 1e9 / machine.clock_hz,
            },
            lines: footprint.min(around.private_lines),
            own: 1.0 - profile.footprint_common,
            others: [0.0; 3],
            beyond: Beyond::default(),
            dispatch: Default::default(),
            around,
        }
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
