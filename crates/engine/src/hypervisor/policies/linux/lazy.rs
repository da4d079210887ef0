//! When a runner makes way: at once, or lazily.
//!
//! With full preemption whoever is to have a processor has it at once: one that wakes a thread
//! elsewhere interrupts that processor. A kernel with lazy preemption (`PREEMPT_LAZY`, commit
//! 7c70cb94d29c of 6.13) only notes it for threads of the fair classes, and sends nothing
//! (`resched_curr_lazy`): the runner makes way when it next leaves the kernel for its program or
//! its guest, at a tick at the latest. One under another last-level cache is interrupted to wake
//! the thread itself, and makes way as that interrupt ends (`ttwu_queue_cond`). An idle processor
//! takes its work at once as before, and so does one that is in the kernel anyway: at its own
//! ticks, interrupts and wake-ups. Real-time threads, which never wait, are not modelled.

use super::ids::CoreId;

/// Runners that are to make way when their processors next leave the kernel.
#[derive(Clone, Debug, Default)]
pub struct Lazy {
    /// The processor that is in the kernel now, at whatever is told.
    pub inside: Option<CoreId>,
    /// Those processors.
    pub noted: Vec<bool>,
}

impl Lazy {
    /// Nothing noted for so many processors.
    pub fn new(cpus: usize) -> Self {
        Self {
            inside: None,
            noted: vec![false; cpus],
        }
    }
}
