//! How work behaves on a processor.

use serde::{Deserialize, Serialize};

/// Behaviour of the work on a processor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Name, such as `oltp`.
    pub name: String,
    /// Instructions of one transaction, or of one loop.
    pub instructions_per_unit: f64,
    /// Share of the processor time that is spent in the kernel [0..1].
    pub system_share: f64,
    /// Time of its kernel for a transaction or a loop beside these instructions, whatever misses
    /// they have: pages that it brings in from its own swap device [ns].
    #[serde(default)]
    pub kernel_ns: f64,
    /// The same of its hypervisor: pages that the host brings in [ns].
    #[serde(default)]
    pub host_ns: f64,
    /// Cycles per instruction with an infinite cache and one thread on the core.
    pub eicpi: f64,
    /// Instructions that change the state of the processor or are left to millicode, in one
    /// instruction [0..1]; what they cost the core for which `eicpi` is stated is within that.
    #[serde(default)]
    pub control_share: f64,
    /// Taken branches in an instruction whose targets a core does not know that keeps 8192 [0..1].
    #[serde(default)]
    pub branch_misses: f64,
    /// Share of `eicpi` in which issue slots are really used; the rest waits inside the core
    /// [0..1].
    pub issue_share: f64,
    /// Misses per instruction of an empty cache: `m(C) = m0 (1 + C/C0)^-a`.
    pub miss_m0: f64,
    /// `C0` of the miss curve [bytes].
    pub miss_c0_bytes: f64,
    /// `a` of the miss curve.
    pub miss_exponent: f64,
    /// Size of a working set that fits into a cache or does not, beside that curve [bytes].
    #[serde(default)]
    pub working_set_bytes: f64,
    /// Touches of its lines per instruction, those that the first level serves left out.
    #[serde(default)]
    pub working_set_touches: f64,
    /// What a job copies from and to, again and again and piece by piece [bytes].
    #[serde(default)]
    pub buffers_bytes: f64,
    /// Bytes of them that an instruction goes through, without those of pieces that were copied
    /// just before.
    #[serde(default)]
    pub copied_bytes: f64,
    /// Share of the misses of a 2 MiB cache that go to lines last written by another core
    /// (communication) [0..1].
    pub sharing: f64,
    /// Bytes a thread touches again after it was off its core.
    pub footprint_bytes: u64,
    /// Share of that footprint that all threads of the partition have in common (code, shared
    /// buffers), so that a core on which a sibling ran last holds it already [0..1].
    pub footprint_common: f64,
    /// Share of the rest that is work which any processor of the partition takes up, so that it
    /// lies in the caches of all of them by turns [0..1]; the rest stays with a processor.
    #[serde(default)]
    pub roaming: f64,
    /// Share of a miss's latency hidden by other work of the same thread [0..1].
    pub overlap: f64,
    /// Share of the lines from memory that are written back there later [0..1].
    #[serde(default)]
    pub dirty_share: f64,
    /// Bytes that an instruction goes through once and in order: their lines come from memory
    /// whatever the caches, several at a time.
    #[serde(default)]
    pub stream_bytes: f64,
    /// Share of the processor time in which a lock is held that others may spin on [0..1].
    pub lock_share: f64,
    /// Instructions for which it is held at a time.
    pub lock_hold_instructions: f64,
    /// What those do that wait for it.
    #[serde(default)]
    pub lock_kind: LockKind,
    /// Instructions of a switch: who sleeps for it pays two, away from the processor and back.
    #[serde(default = "usual_switch")]
    pub lock_switch_instructions: f64,
    /// Instructions of a thread between two flushes of translations that siblings may hold; 0 = it
    /// never takes a mapping back.
    #[serde(default)]
    pub flush_instructions: f64,
    /// Share of memory accesses to data of the thread's own, which it allocated itself [0..1].
    pub private_data: f64,
    /// Share of memory accesses to the kernel's I/O structures [0..1].
    pub io_data: f64,
    /// Stores of 8 bytes in an instruction [0..1].
    pub store_share: f64,
    /// Neighbouring stores that follow each other.
    pub store_run: f64,
}

/// What those do that wait for a lock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LockKind {
    /// They spin, each on a line of its own: the release goes to the next one alone (MCS, the
    /// `qspinlock` of Linux since 4.2).
    #[default]
    Queue,
    /// They spin on the lock's own line, which each release takes from all of them, and have it in
    /// the order in which they came.
    Ticket,
    /// They spin on the lock's own line, and whoever runs and comes first has it.
    #[serde(rename = "test-and-set")]
    TestAndSet,
    /// They spin for a little, then leave the processor until they are woken (mutexes, futexes,
    /// semaphores).
    Sleeping,
}

impl LockKind {
    /// Whether the lock goes to those that spin for it in the order in which they came, on a core
    /// or not.
    pub fn in_order(self) -> bool {
        matches!(self, Self::Queue | Self::Ticket)
    }
}

/// What a switch is taken to cost where nothing is said: without effect where nobody sleeps.
fn usual_switch() -> f64 {
    2_500.0
}

impl Profile {
    /// Work of an instruction a cycle, issuing in half of it, that misses and shares nothing.
    pub fn steady() -> Self {
        Self {
            name: "steady".into(),
            instructions_per_unit: 1e6,
            system_share: 0.0,
            kernel_ns: 0.0,
            host_ns: 0.0,
            eicpi: 1.0,
            control_share: 0.0,
            branch_misses: 0.0,
            issue_share: 0.5,
            miss_m0: 0.0,
            miss_c0_bytes: 1.0,
            miss_exponent: 0.5,
            working_set_bytes: 0.0,
            working_set_touches: 0.0,
            buffers_bytes: 0.0,
            copied_bytes: 0.0,
            sharing: 0.0,
            footprint_bytes: 0,
            footprint_common: 0.0,
            roaming: 0.0,
            overlap: 0.0,
            dirty_share: 0.0,
            stream_bytes: 0.0,
            lock_share: 0.0,
            lock_hold_instructions: 1.0,
            lock_kind: LockKind::Queue,
            lock_switch_instructions: usual_switch(),
            flush_instructions: 0.0,
            private_data: 0.0,
            io_data: 0.0,
            store_share: 0.0,
            store_run: 1.0,
        }
    }
}
