//! Data that are gone through once and in order: every line of them comes from memory, and a core
//! has several on their way while it works on what came before.

use crate::spec::{Machine, Profile};

/// Lines that an instruction goes through, and how a core gets them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stream {
    /// Lines of an instruction.
    pub lines: f64,
    /// Lines that a thread has on their way at a time: its part of the core's.
    under_way: f64,
    /// Least time between two lines of a thread [ns].
    transfer_ns: f64,
    /// What comes on top of a line's latency until its last byte is there [ns].
    bytes_ns: f64,
    /// Core part of an instruction that goes on meanwhile, at the machine's clock [ns].
    meanwhile_ns: f64,
}

impl Stream {
    /// Of work on a core with so many threads busy; none if it does not stream, or if nothing is
    /// known of how the machine does.
    pub fn of(machine: &Machine, profile: &Profile, threads: u8, core_ns: f64) -> Option<Self> {
        let path = machine.streams?;
        if profile.stream_bytes <= 0.0 {
            return None;
        }
        let threads = f64::from(threads);
        let waits_for_each = path.lines == 0.0;
        Some(Self {
            lines: profile.stream_bytes / f64::from(machine.line_bytes),
            under_way: if waits_for_each {
                1.0
            } else {
                path.lines / threads
            },
            transfer_ns: path.transfer_ns * threads,
            bytes_ns: path.transfer_ns,
            meanwhile_ns: if waits_for_each { 0.0 } else { core_ns },
        })
    }

    /// What an instruction waits for lines of a latency, beyond its core part [ns]; `cycle` is the
    /// time of a cycle in proportion to one of the machine's clock.
    pub fn wait_ns(&self, latency_ns: f64, cycle: f64) -> f64 {
        let line = ((latency_ns + self.bytes_ns) / self.under_way).max(self.transfer_ns);
        (self.lines * line - self.meanwhile_ns * cycle).max(0.0)
    }
}
