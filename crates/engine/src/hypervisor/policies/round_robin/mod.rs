//! Round robin: threads take turns on the processors, a quantum each, first come first served.
//!
//! ```text
//! line    A B C ..   one for the whole host; who wakes, or loses a processor, goes to its end
//! pick    a processor whose runner's turn is over takes the first of the line that may run there
//! alone   nobody in line may run there: the runner has another turn
//! idle    a processor that idles is asked as soon as somebody in line may run there
//! ```
//! After L. Kleinrock, "Analysis of a time-shared processor", Naval Research Logistics Quarterly 11
//! (1964), for several processors. A baseline: it has no weights, and knows neither caches nor
//! hardware threads nor nodes. One that wakes takes nobody's processor before the turn is over.

use std::collections::VecDeque;

use super::super::host::{HostCount, HostPolicy, HostScheduler, Setting};
use super::super::state::{State, Vp};
use crate::ids::{ById, CoreId, PartitionId, VpId};
use crate::kernel::When;
use crate::spec::{Processors, Spec};

/// Length of a turn.
const QUANTUM: Setting = Setting {
    name: "quantum_ns",
    usual: 10_000_000,
    least: 1_000_000,
    most: 100_000_000,
    meaning: "length of a turn",
    source: "",
    assumed: "a round number: systems with such turns have had 1 ms to 100 ms",
};

/// The scheduler.
#[derive(Clone, Debug)]
pub struct RoundRobin {
    quantum_ns: u64,
    threads: ById<VpId, Thread>,
    cores: ById<CoreId, Core>,
    /// Who waits, the first to come in front.
    line: VecDeque<VpId>,
    /// Cores that must be asked whom they run.
    pending: VecDeque<CoreId>,
    migrations: ById<PartitionId, u64>,
}

/// What is known of a thread.
#[derive(Clone, Debug)]
struct Thread {
    partition: PartitionId,
    /// Where it may run; everywhere if empty.
    pins: Vec<CoreId>,
    on: Option<CoreId>,
    last: Option<CoreId>,
}

/// What is known of a core.
#[derive(Clone, Debug)]
struct Core {
    runner: Option<VpId>,
    turn_ends: u64,
    is_pending: bool,
}

impl HostPolicy for RoundRobin {
    const SETTINGS: &'static [Setting] = &[QUANTUM];

    fn begin(spec: &Spec, state: &State, _replication: u64) -> Self {
        let idle = Core {
            runner: None,
            turn_ends: 0,
            is_pending: false,
        };
        Self {
            quantum_ns: QUANTUM.of(&spec.machine.hypervisor),
            threads: threads(spec, state),
            cores: ById::of(idle, state.active().len()),
            line: VecDeque::new(),
            pending: VecDeque::new(),
            migrations: ById::of(0, spec.partitions.len()),
        }
    }
}

/// All threads, asleep, in the order of their ids.
fn threads(spec: &Spec, state: &State) -> ById<VpId, Thread> {
    let thread = |vp: &Vp| {
        let pins = match &spec.partitions[vp.partition.index()].processors {
            Processors::Shared { host, .. } => host.pins.get(usize::from(vp.index)),
            Processors::Dedicated { .. } => None,
        };
        Thread {
            partition: vp.partition,
            pins: pins
                .into_iter()
                .flatten()
                .map(|cpu| (*cpu).into())
                .collect(),
            on: None,
            last: None,
        }
    };
    state.vps.iter().map(thread).collect()
}

impl RoundRobin {
    /// Whether a thread may run on a core.
    fn may(&self, vp: VpId, core: CoreId) -> bool {
        let pins = &self.threads[vp].pins;
        pins.is_empty() || pins.contains(&core)
    }

    /// A core must be asked whom it runs, once.
    fn ask(&mut self, core: CoreId) {
        if !std::mem::replace(&mut self.cores[core].is_pending, true) {
            self.pending.push_back(core);
        }
    }

    /// A thread goes to the end of the line; a core that idles may take it at once.
    fn line_up(&mut self, vp: VpId) {
        self.line.push_back(vp);
        if let Some(core) = self.idle_for(vp) {
            self.ask(core);
        }
    }

    /// A core that idles for a thread: where it ran last, or the first one. One that is pending
    /// looks at the line in any case.
    fn idle_for(&self, vp: VpId) -> Option<CoreId> {
        let idles = |core: &CoreId| {
            let at = &self.cores[*core];
            at.runner.is_none() && !at.is_pending && self.may(vp, *core)
        };
        let last = self.threads[vp].last.filter(idles);
        last.or_else(|| self.cores.ids().find(idles))
    }

    /// Takes the first in line that may run on a core.
    fn first_for(&mut self, core: CoreId) -> Option<VpId> {
        let place = self.line.iter().position(|vp| self.may(*vp, core))?;
        self.line.remove(place)
    }

    /// A thread's turn on a core begins.
    fn begin_turn(&mut self, vp: VpId, core: CoreId, now: u64) {
        let thread = &mut self.threads[vp];
        let moved = thread.last.is_some_and(|last| last != core);
        self.migrations[thread.partition] += u64::from(moved);
        (thread.on, thread.last) = (Some(core), Some(core));
        let at = &mut self.cores[core];
        (at.runner, at.turn_ends) = (Some(vp), now + self.quantum_ns);
    }

    /// Whom a core runs from now on.
    fn choose(&mut self, core: CoreId, now: u64) -> Option<VpId> {
        let runner = self.cores[core].runner;
        if runner.is_some() && now < self.cores[core].turn_ends {
            return runner;
        }
        let Some(next) = self.first_for(core).or(runner) else {
            return None; // It idles.
        };
        if let Some(before) = runner.filter(|runner| *runner != next) {
            self.threads[before].on = None;
            self.begin_turn(next, core, now);
            self.line_up(before);
        } else {
            self.begin_turn(next, core, now);
        }
        Some(next)
    }
}

impl HostScheduler for RoundRobin {
    fn wake(&mut self, vp: VpId, _waker: Option<CoreId>, _now: u64) {
        self.line_up(vp);
    }

    fn sleep(&mut self, vp: VpId, _now: u64) {
        match self.threads[vp].on.take() {
            Some(core) => {
                self.cores[core].runner = None;
                self.ask(core);
            }
            None => self.line.retain(|waiting| *waiting != vp),
        }
    }

    fn look(&mut self, core: CoreId, _now: u64) {
        self.ask(core);
    }

    fn look_at(&self, core: CoreId, _now: u64) -> When {
        let at = &self.cores[core];
        at.runner.map(|_| at.turn_ends).into()
    }

    fn timer(&mut self, _now: u64) {}

    fn timer_at(&self) -> When {
        When::NEVER // Turns are all that ends.
    }

    fn take_pending(&mut self) -> Option<CoreId> {
        let core = self.pending.pop_front()?;
        self.cores[core].is_pending = false;
        Some(core)
    }

    fn has_waiting(&self, core: CoreId) -> bool {
        self.line.iter().any(|vp| self.may(*vp, core))
    }

    fn pick(&mut self, core: CoreId, now: u64) -> Option<VpId> {
        self.choose(core, now)
    }

    /// The sibling comes first, and the turn of the one that yields is over.
    fn yield_to(&mut self, vp: VpId, sibling: VpId, now: u64) -> bool {
        let Some(core) = self.threads[vp].on else {
            return false;
        };
        let waits = self.line.iter().position(|waiting| *waiting == sibling);
        let Some(place) = waits.filter(|_| self.may(sibling, core)) else {
            return false;
        };
        self.line.remove(place);
        self.line.push_front(sibling);
        self.cores[core].turn_ends = now;
        self.ask(core);
        true
    }

    fn counted(&self, partition: PartitionId, _now: u64) -> HostCount {
        HostCount {
            migrations: self.migrations[partition],
            ..HostCount::default()
        }
    }
}

#[cfg(test)]
mod tests;
