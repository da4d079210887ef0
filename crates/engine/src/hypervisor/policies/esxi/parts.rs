//! What the scheduler keeps of virtual machines, their worlds, and processors.

use crate::hypervisor::HostCount;
use crate::ids::{CoreId, PartitionId, Span, VpId};
use crate::kernel::When;

/// Shares of a virtual processor where nobody says otherwise ("normal").
pub(super) const NORMAL: f64 = 1_000.0;

/// What a world does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doing {
    /// It has no work.
    Asleep,
    /// It waits for a processor (%RDY).
    Ready,
    /// It runs.
    Running,
    /// It was stopped because it leads its siblings (%CSTP).
    Stopped,
}

/// A world: a virtual processor as it is scheduled.
#[derive(Clone, Debug)]
pub(super) struct World {
    pub(super) vm: PartitionId,
    pub(super) doing: Doing,
    /// Since when.
    pub(super) since: u64,
    /// Where it runs, or ran last.
    pub(super) core: Option<CoreId>,
    /// Where it may run by hand; empty = where its client is at home.
    pub(super) pins: Vec<CoreId>,
    /// Its NUMA client, by place in the list.
    pub(super) client: usize,
    /// Time that it has run, or had nothing to do, as its siblings' pace is measured [ns].
    pub(super) progress_ns: u64,
    /// Time for which it had work since nodes were last looked at [ns].
    pub(super) wanted_ns: u64,
    /// Time that it has got meanwhile [ns].
    pub(super) got_ns: f64,
}

/// A virtual machine.
#[derive(Clone, Debug)]
pub(super) struct Vm {
    pub(super) worlds: Span<VpId>,
    /// Shares that it was given.
    pub(super) shares: f64,
    /// Least that it gets if it wants it [cores].
    pub(super) reservation: f64,
    /// The pool that it is in.
    pub(super) pool: Option<u16>,
    /// Its limit and those of the pools that it is in.
    pub(super) limits: Vec<Bound>,
    /// Most that it may use by itself [cores].
    pub(super) most: f64,
    /// What it has been charged [ns].
    pub(super) charged_ns: f64,
    /// Since when it has been at its limit, or at a pool's; never = it is not.
    pub(super) held_from: When,
    /// Changes of its clients' homes that led to each node.
    pub(super) arrivals: Vec<u64>,
    pub(super) count: HostCount,
}

impl Vm {
    /// Whether it has siblings that are held to one pace.
    pub(super) fn is_wide(&self) -> bool {
        self.worlds.len() > 1
    }

    /// How many of its limits are its own, not a pool's.
    pub(super) fn own_limits(&self) -> usize {
        usize::from(self.most < f64::MAX)
    }

    /// Whether it is at its limit.
    pub(super) fn is_held(&self) -> bool {
        self.held_from.is_set()
    }
}

/// A limit as it binds one virtual machine.
#[derive(Clone, Debug)]
pub(super) struct Bound {
    /// By place in the list.
    pub(super) limit: usize,
    /// Its own part of it, while all in the pool want more than there is [cores].
    pub(super) cores: f64,
    /// What is left of that in this period [ns].
    pub(super) left_ns: i64,
}

impl Bound {
    /// All of a limit.
    pub(super) fn whole(limit: usize) -> Self {
        Self {
            limit,
            cores: f64::INFINITY,
            left_ns: i64::MAX,
        }
    }

    /// A period begins: it gets its part, and keeps what is left if it waits.
    pub(super) fn give_out(&mut self, period_ns: u64, waits: bool) {
        self.left_ns = refilled(self.left_ns, self.cores * period_ns as f64, waits);
    }
}

/// What may be used in a period: so much, less what was taken in advance. Who waits for a processor
/// has left nothing of what it could not use, up to a period's: limits are for longer than a period
/// (`Cpu.LimitEnforcementThreshold`, 200 ms).
pub(super) fn refilled(left_ns: i64, given_ns: f64, waits: bool) -> i64 {
    let given = given_ns.round() as i64;
    let kept = if waits { given } else { 0 };
    left_ns.min(kept).saturating_add(given)
}

/// A limit, of one virtual machine or of all in a pool.
#[derive(Clone, Debug)]
pub(super) struct Limit {
    /// The pool whose limit it is; none = a virtual machine's own.
    pub(super) pool: Option<usize>,
    /// Who shares it.
    pub(super) members: Vec<PartitionId>,
    /// Most that they may use together [cores].
    pub(super) cores: f64,
    /// What is left of it in this period [ns].
    pub(super) budget_ns: i64,
    /// Whether all of it has been used.
    pub(super) is_used_up: bool,
}

/// Virtual processors of a virtual machine with one home: all of it, but for one that is wider than
/// a node.
#[derive(Clone, Debug)]
pub(super) struct Client {
    pub(super) vm: PartitionId,
    pub(super) worlds: Span<VpId>,
    /// Its node, by place in the list.
    pub(super) home: usize,
    /// Whether it was placed by hand and stays.
    pub(super) is_pinned: bool,
    /// Shares that count where it is at home: more where its reservation asks for it, as if all
    /// were in no pool.
    pub(super) counts: f64,
    /// Whether it is due nothing of what it wants, so that it runs on what others leave.
    pub(super) is_left_out: bool,
    /// What it has used [ns], divided by those: who of a node has least is served first.
    pub(super) clock: f64,
    /// What it was due and got since fairness was last looked at.
    pub(super) had: Had,
}

impl Client {
    /// How much its clock goes on for what it uses.
    pub(super) fn pace(&self, used_ns: f64) -> f64 {
        used_ns / self.counts
    }

    /// The same for the time of one of its virtual processors, whatever its size.
    pub(super) fn lead_of(&self, ns: u64) -> f64 {
        self.pace(ns as f64 * self.worlds.len() as f64)
    }

    /// It is neither owed nor owes more than so much time of each of its virtual processors.
    pub(super) fn bound(&mut self, level: f64, lag_ns: u64) {
        let most = self.lead_of(lag_ns);
        self.clock = self.clock.clamp(level - most, level + most);
    }
}

/// What a client was due and what it got since nodes were last looked at [cores].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Had {
    pub(super) due: f64,
    pub(super) got: f64,
}

/// A logical processor.
#[derive(Clone, Debug)]
pub(super) struct Processor {
    pub(super) runner: Option<VpId>,
    /// Up to when its runner's time is booked.
    pub(super) booked_to: u64,
    /// When the runner's quantum ends.
    pub(super) turn_ends: u64,
    pub(super) look_at: When,
    /// Who is to run here next, for a sibling has made room.
    pub(super) hand_to: Option<VpId>,
    pub(super) is_pending: bool,
}

impl Processor {
    /// One that idles.
    pub(super) fn idle() -> Self {
        Self {
            runner: None,
            booked_to: 0,
            turn_ends: 0,
            look_at: When::NEVER,
            hand_to: None,
            is_pending: false,
        }
    }

    /// Whether a world that wakes may be sent here.
    pub(super) fn is_free(&self) -> bool {
        self.runner.is_none() && !self.is_pending
    }
}
