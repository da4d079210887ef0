//! Threads of the host that do a guest's input and output.

use serde::{Deserialize, Serialize};

/// Threads of the host that do a KVM guest's I/O outside its virtual processors: QEMU's main loop,
/// its I/O threads, vhost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IoThreads {
    /// Index of the partition whose threads they are: processes without work of their own.
    pub partition: u16,
    /// What a request takes before the device has it [ns of a core at its single-thread speed].
    pub request_ns: u64,
    /// What its answer takes, or something that arrives, before the guest has it [ns, likewise].
    pub answer_ns: u64,
    /// What it takes to wake one of them that sleeps, or a virtual processor for which one has an
    /// answer: of who wakes [ns].
    #[serde(default)]
    pub kick_ns: u64,
}
