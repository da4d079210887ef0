//! What the Control Program of a z/VM has come to so far on the way to the fixed point.

use crate::devices::Search;
use crate::guest::zvm::locks::Lock;
use crate::guest::zvm::segment::{Segment, EXTRA_BOOKS, OWNERS};
use crate::steady::cp::station::Crowd;

/// The Control Program of a partition.
#[derive(Clone, Debug, Default)]
pub(in crate::steady) struct Cp {
    /// The scheduler's lock, and that of a dispatch vector.
    pub scheduler: Lock,
    pub door: Lock,
    /// Share of the time in which somebody waits for a logical processor.
    pub waits: f64,
    /// Speed of a virtual processor with work, by what it would be alone.
    pub speed: f64,
    /// Logical processors at work, those that look in vain left out.
    pub busy: f64,
    /// Share of these beside whom the core's other thread is at work.
    pub beside: f64,
    /// What each kind of machine comes to.
    pub kinds: Vec<Crowd>,
    /// What each tile's servers and clients come to.
    pub tiles: Vec<[Crowd; 2]>,
    /// How long their virtual processors wait for a logical one [ns].
    pub wait_ns: f64,
    /// Virtual switches, and frames sent on each in a nanosecond.
    pub ports: Vec<Port>,
    pub frames: Vec<f64>,
    /// Shares of the owners in the time.
    pub owners: [f64; OWNERS],
    /// Logical cores not parked.
    pub unparked: f64,
}

/// What comes on top of a partition's instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::steady) struct Beside {
    /// Time for each burst [ns].
    pub ns: f64,
    /// The same by book, in the order of `EXTRA_BOOKS`.
    pub books: [f64; EXTRA_BOOKS.len()],
    /// Instructions executed while spinning.
    pub spin_instructions: f64,
}

/// A switch on the way to the fixed point.
#[derive(Clone, Debug, Default)]
pub(in crate::steady) struct Port {
    pub lock: Lock,
    pub search: Search,
    /// What a frame costs.
    pub frame: Segment,
}

impl Port {
    /// Whether it was worked out already.
    pub fn is_known(&self) -> bool {
        self.frame.all_instructions() > 0.0
    }
}
