//! When a runner makes way: at once, or lazily.
//!
//! With full preemption whoever is to have a processor has it at once: one that wakes a thread
//! elsewhere interrupts that processor. A kernel with lazy preemption (`PREEMPT_LAZY`, commit
//! 7c70cb94d29c of 6.13) only notes it for threads of the fair classes, and sends nothing
//! (`resched_curr_lazy`): the runner makes way when it next leaves the kernel for its program or
//! its guest, at a tick at the latest. An idle processor takes its work at once as before, and so
//! does one that is in the kernel anyway: at its own ticks, interrupts and wake-ups. Real-time
//! threads, which never wait, are not modelled.

use super::ids::CoreId;
use super::tree::Tree;

/// Runners that are to make way when their processors next leave the kernel.
#[derive(Clone, Debug, Default)]
pub struct Lazy {
    on: bool,
    /// The processor that is in the kernel now, at whatever is told.
    inside: Option<CoreId>,
    noted: Vec<bool>,
}

impl Lazy {
    /// Nothing noted for so many processors; `on` = lazily.
    pub fn new(on: bool, cpus: usize) -> Self {
        Self {
            on,
            inside: None,
            noted: vec![false; cpus],
        }
    }
}

impl Tree {
    /// What comes is told by this processor, which leaves the kernel then; none = by nobody's.
    pub fn is_inside(&mut self, cpu: Option<CoreId>) {
        if !self.lazy.on {
            return;
        }
        self.lazy.inside = cpu;
        if let Some(cpu) = cpu.filter(|cpu| self.lazy.noted[cpu.index()]) {
            self.resched(cpu);
        }
    }

    /// Another thread of the fair class is to have a processor.
    pub fn preempt(&mut self, cpu: CoreId) {
        let at_once = !self.lazy.on || self.lazy.inside == Some(cpu);
        if at_once || self.cpus[cpu].curr.is_none() {
            self.resched(cpu);
        } else {
            self.lazy.noted[cpu.index()] = true;
            self.look_again(cpu);
        }
    }

    /// Whether a runner is to make way at its next tick.
    pub fn makes_way_soon(&self, cpu: CoreId) -> bool {
        self.lazy.noted[cpu.index()]
    }

    /// A processor is to choose anew.
    pub fn resched(&mut self, cpu: CoreId) {
        self.cpus[cpu].resched = true;
        self.lazy.noted[cpu.index()] = false;
        self.look_again(cpu);
    }

    /// A processor is to be looked at.
    pub fn look_again(&mut self, cpu: CoreId) {
        if !std::mem::replace(&mut self.cpus[cpu].pending, true) {
            self.pending.push_back(cpu);
        }
    }
}
