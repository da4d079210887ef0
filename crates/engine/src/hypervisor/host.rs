//! Schedulers of hosts that put threads on logical processors by clocks of their own: Linux, Xen.
//!
//! PowerVM and PR/SM hand capacity out in windows; a host's scheduler does not. It keeps all
//! of its state itself, is told what happens, and answers who should run where and when it must be
//! asked again. The simulation carries that out. A thread of the host is a virtual processor here,
//! whether of a guest or a process; a logical processor is a core.
//!
//! ```text
//! told:    wake, sleep, look (the time it asked for has come), timer, yield_to
//! answers: take_pending -> a core; pick(core) -> who runs there now; look_at(core), timer_at()
//! ```
//! After each thing told, the simulation takes all pending cores one by one and asks whom they run.

use serde::Serialize;

use super::state::State;
use crate::ids::{CoreId, PartitionId, Span, VpId};
use crate::kernel::When;
use crate::spec::{Hypervisor, Spec};

/// A host's scheduler. Times are absolute simulated times [ns].
pub trait HostScheduler {
    /// A thread that slept has work. `waker` is the core whose runner woke it; none = a timer or an
    /// interrupt on the core where it ran last.
    fn wake(&mut self, vp: VpId, waker: Option<CoreId>, now: u64);

    /// A thread that ran or waited has no work any more. Its core becomes pending if it ran.
    fn sleep(&mut self, vp: VpId, now: u64);

    /// The time that `look_at` gave for a core has come: a tick, the end of a slice or of a quota.
    fn look(&mut self, core: CoreId, now: u64);

    /// When a core with a runner must be looked at next; never = not before something else happens
    /// there.
    fn look_at(&self, core: CoreId, now: u64) -> When;

    /// The time that `timer_at` gave has come: periods of quotas, balancing of idle cores.
    fn timer(&mut self, now: u64);

    /// When that is; never = no timer is set.
    fn timer_at(&self) -> When;

    /// A core whose runner is to be chosen anew or whose `look_at` has changed; each once, in the
    /// order in which they became so.
    fn take_pending(&mut self) -> Option<CoreId>;

    /// Whether somebody waits for a core besides its runner. A runner that only polls for work
    /// makes room then.
    fn has_waiting(&self, core: CoreId) -> bool {
        let _ = core;
        false
    }

    /// A thread that was put on a core and taken off again without running, because several things
    /// happened at once; asked until there is none. Each counts as switched against its will.
    fn take_passed(&mut self, core: CoreId) -> Option<VpId> {
        let _ = core;
        None
    }

    /// Who runs on a core from now on, none = it idles. May be the one that runs there.
    fn pick(&mut self, core: CoreId, now: u64) -> Option<VpId>;

    /// A runner gives its core up for a sibling, as far as the rules let it; whether it does. Its
    /// core becomes pending then.
    fn yield_to(&mut self, vp: VpId, sibling: VpId, now: u64) -> bool;

    /// A runner gives its core up for whoever is next, where the hypervisor knows of no yield to a
    /// sibling; whether it has asked for that. Its core becomes pending then.
    fn gives_way(&mut self, vp: VpId, now: u64) -> bool {
        let _ = (vp, now);
        false
    }

    /// A thread had better be on one of these cores, for its memory lies beside them.
    fn prefer(&mut self, vp: VpId, cores: Span<CoreId>) {
        let _ = (vp, cores);
    }

    /// A thread that runs elsewhere is moved to the cores that it prefers if one idles there or
    /// another thread would gain by changing places. The cores concerned become pending.
    fn draw_home(&mut self, vp: VpId, now: u64) {
        let _ = (vp, now);
    }

    /// Interrupts of devices keep a core for so long [ns], from now on or from when those that came
    /// before are done.
    fn interrupted(&mut self, core: CoreId, ns: u64, now: u64) {
        let _ = (core, ns, now);
    }

    /// What the scheduler itself has counted for a partition so far.
    fn counted(&self, partition: PartitionId, now: u64) -> HostCount;

    /// The nodes on which a partition's threads may be at home; none where threads have no home.
    fn homes(&self, partition: PartitionId) -> Vec<HomeCount> {
        let _ = partition;
        Vec::new()
    }
}

/// A host's scheduler that a machine can name: what the list in `spec::policy` asks of each.
pub trait HostPolicy: HostScheduler + Sized + 'static {
    /// Numbers of its own that a scenario may set.
    const SETTINGS: &'static [Setting] = &[];

    /// With all threads asleep and all cores idle.
    fn begin(spec: &Spec, state: &State, replication: u64) -> Self;
}

/// A number of a scheduler, with where it is from. A scenario names it without its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// Name; it ends in `_ns` if it is a time.
    pub name: &'static str,
    /// Where nobody sets it.
    pub usual: u64,
    /// Least that is possible.
    pub least: u64,
    /// Most that is possible.
    pub most: u64,
    /// What it is.
    pub meaning: &'static str,
    /// Where the usual one is published; empty where nobody does.
    pub source: &'static str,
    /// Why the usual one, where nobody publishes it.
    pub assumed: &'static str,
}

impl Setting {
    /// Its value on a machine.
    pub fn of(&self, hypervisor: &Hypervisor) -> u64 {
        let set = hypervisor.settings.get(self.name);
        set.copied().unwrap_or(self.usual)
    }
}

/// A memory node as a partition's home.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HomeCount {
    /// Processors beside it.
    pub cores: Span<CoreId>,
    /// Virtual processors that are at home there now.
    pub vps: u64,
    /// Changes of home that led there, since the start.
    pub arrivals: u64,
}

/// Counters that only a host's scheduler knows, since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostCount {
    /// Threads that were moved to another core.
    pub migrations: u64,
    /// Periods of the quota under which the partition stands.
    pub periods: u64,
    /// Those in which it ran out.
    pub throttled_periods: u64,
    /// Time for which it was throttled, summed over the processors [ns].
    pub throttled_ns: u64,
    /// Time for which ESXi stopped those that lead their siblings, summed over them [ns].
    pub costop_ns: u64,
    /// Time that ESXi charges to it: beside a busy thread of the core a part of what passes [ns].
    pub charged_ns: u64,
}
