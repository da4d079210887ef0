//! Interrupts of the devices that a partition waits for, and who takes them.

use serde::{Deserialize, Serialize};

/// What the devices of a partition cost the processors that they interrupt.
///
/// Processors are the host's where Linux is the hypervisor, else the partition's own logical ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interrupts {
    /// Processors that take them, in turn (`smp_affinity`, `intctl`, `bindintcpu`); empty = all.
    #[serde(default)]
    pub to: Vec<u16>,
    /// Processors that do the work that follows, in turn (`rps_cpus`); empty = who took it.
    #[serde(default)]
    pub soft_to: Vec<u16>,
    /// Of an interrupt itself [instructions].
    pub instructions: f64,
    /// Of the work that follows: driver, protocol, completion (soft interrupt) [instructions].
    pub soft_instructions: f64,
    /// Lines that the device has written and that work reads, one after the other.
    pub lines: f64,
    /// Memory domain that these lie in; none = beside each processor.
    #[serde(default)]
    pub domain: Option<u16>,
    /// Interrupts that nothing here waits for [1/s].
    #[serde(default)]
    pub rate_per_s: f64,
    /// Whether a processor that still works on what a device has brought takes up what comes
    /// meanwhile without a further interrupt (NAPI).
    #[serde(default)]
    pub polls: bool,
    /// For how long a device waits for more before it interrupts (`rx-usecs`) [ns].
    #[serde(default)]
    pub coalesce_ns: u64,
    /// For how many at most (`rx-frames`); 0 = any number.
    #[serde(default)]
    pub coalesce_most: u32,
}
