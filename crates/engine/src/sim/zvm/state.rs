//! What the Control Program of one partition keeps.

use super::budget::Budget;
use super::daemons::Daemons;
use super::inbox::{Connection, Inbox};
use super::locks::Locks;
use super::message::{Message, Part};
use super::pool::{InPool, Pool};
use super::port::Port;
use super::sending::Sending;
use super::served::{Request, Served};
use crate::cost::Unfetched;
use crate::devices::{Done, Pager, Started};
use crate::guest::zvm::ids::{ConnectionId, LpId, PoolId, SwitchId, VcpuId, VectorId, VmId};
use crate::guest::zvm::locks::Readied;
use crate::guest::zvm::park::History;
use crate::guest::zvm::segment::{Extra, Segment, OWNERS};
use crate::guest::zvm::sharing::Near;
use crate::guest::zvm::vectors::Vectors;
use crate::ids::{ById, ChipId, NodeId, PartitionId, Span, ThreadId, VpId};
use crate::kernel::{Stream, When};
use crate::machine::Distance;
use crate::spec::{Role, Zvm};

/// What a logical processor does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// Nothing: an enabled wait.
    Idle,
    /// It looks for work.
    Looking,
    /// It runs a virtual processor.
    Running(VcpuId),
}

/// Where a logical processor is, once and for all.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Its logical core.
    pub vp: VpId,
    /// Number of that in the partition.
    pub core: u16,
    /// Which hardware thread of its core.
    pub thread: u8,
    /// That thread among all of them.
    pub at: ThreadId,
    /// Chip of the core's home.
    pub chip: ChipId,
    /// Node of that.
    pub node: NodeId,
}

/// A logical processor of the partition.
#[derive(Clone, Debug)]
pub struct Lp {
    /// Where it is.
    pub place: Place,
    /// What it does.
    pub doing: Doing,
    /// Its present segment.
    pub segment: Segment,
    /// Shares of the owners in that segment's instructions.
    pub shares: [f64; OWNERS],
    /// Time of guests' own instructions [ns of core time].
    pub guest_ns: f64,
    /// For whom its present slice ends early: that one may wait in another vector.
    pub makes_way_for: Option<VcpuId>,
}

/// What a virtual processor waits for or does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// In an enabled wait.
    Idle,
    /// In a dispatch vector.
    Ready,
    /// On a logical processor.
    Running,
    /// Waits for a page.
    PageWait,
    /// Has used up a hard limit.
    Limited,
    /// Waits for time of its machine's pool.
    Pooled,
}

/// What a virtual processor has in hand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Task {
    /// Nothing.
    None,
    /// A request or an answer on its way to another machine.
    Message {
        /// Which.
        message: Message,
        /// The guest's instructions for this part of it.
        guest: f64,
        /// What of it is sent then.
        part: Part,
    },
    /// A transaction that came from outside.
    Transaction(Request),
    /// What its guest does on its own.
    Daemon,
    /// An endless loop.
    Loop,
}

/// Where a virtual processor was last, or the last of a machine's, and when in terms of others'
/// work.
#[derive(Clone, Copy, Debug)]
pub struct Left {
    /// Logical processor.
    pub lp: LpId,
    /// Work done so far on its core, its chip and its node when it left [ns of core time].
    pub clocks: [f64; 3],
    /// Whether it has run at all.
    pub warm: bool,
}

/// A virtual processor of a virtual machine. What every event needs comes first, and what a
/// dispatch needs last.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Vcpu {
    /// Its virtual machine.
    pub vm: VmId,
    /// Dispatch vector in which it waits when it has to.
    pub vector: VectorId,
    /// State.
    pub mode: Mode,
    /// Whether it waited for something before it became ready the last time, and has not used up
    /// a slice since.
    pub woken: bool,
    /// Whether a segment was cut short.
    pub cut: bool,
    /// What it has in hand.
    pub task: Task,
    /// Messages not taken yet.
    pub inbox: Inbox,
    /// Processor time since its deadline was set [ns].
    pub used_ns: f64,
    /// Time of its machine's hard limit that is set aside for it [ns].
    pub pledged_ns: f64,
    /// What it has of its machine's pool.
    pub in_pool: InPool,
    /// Deadline: time used by what it is worth [ns].
    pub deadline: f64,
    /// Part of all processors that its share is worth.
    pub weight: f64,
    /// Instructions of signals that it has to send.
    pub owes: f64,
    /// Virtual processors that it has made ready and not paid for.
    pub readied: Readied,
    /// Lines that it still has to fetch again, and what each costs beyond a line held [ns].
    pub cold: (f64, f64),
    /// What it has not fetched yet of what caches that cores share hold for it; none where that is
    /// nothing.
    pub unfetched: Option<Box<Unfetched>>,
    /// Page read that it has not paid for yet.
    pub started: Option<Started>,
    /// The file that it is sending.
    pub sending: Option<Sending>,
    /// Where it was last.
    pub left: Left,
    /// Since when it has been ready or, while it runs, has not been charged [ns].
    pub since: u64,
    /// Since when it has waited for a page [ns].
    pub page_wait_from: u64,
    /// Room for the rest of a segment that was cut short; few ever need it.
    pub rest: Option<Box<Segment>>,
    /// Whether it must start on the master processor.
    pub needs_master: bool,
    /// Wake-ups of its guest's daemons that it has not come to yet.
    pub daemons: u32,
}

/// A virtual machine.
#[derive(Clone, Debug)]
pub struct Vm {
    /// Its virtual processors.
    pub cpus: Span<VcpuId>,
    /// Where the last of them that ran was.
    pub left: Left,
    /// What its limit leaves it.
    pub limit: Budget,
    /// Whether that limit is hard.
    pub hard: bool,
    /// CPU pool that limits it with others.
    pub pool: Option<PoolId>,
    /// Whether it is to be looked at again once there is time of the limit.
    pub lifting: bool,
    /// Time of its guests' own instructions [ns].
    pub guest_ns: f64,
    /// Time of CP on its account [ns].
    pub chargeable_ns: f64,
    /// Both, of logical processors, which may share a core [ns].
    pub thread_ns: f64,
    /// Dispatches of its virtual processors.
    pub dispatches: u64,
    /// Time ready and not yet in the guest [ns].
    pub wait_ns: f64,
    /// Time waiting for pages [ns].
    pub page_wait_ns: u64,
    /// Reads of paging volumes for its pages.
    pub page_reads: u64,
    /// Transactions that its clients, or itself, finished.
    pub tx_done: u64,
    /// Their response times [ns].
    pub response_ns: u64,
    /// What comes to it from outside; few machines have both this and connections.
    pub served: Option<Box<Served>>,
}

/// Counters of the partition that only z/VM has.
#[derive(Clone, Debug, Default)]
pub struct CpMeter {
    /// Core time by owner [ns].
    pub owners: [f64; OWNERS],
    /// Instructions executed while spinning.
    pub spin_instructions: f64,
    /// Integral of unparked logical cores [core ns], up to `unparked_to`.
    pub unparked_ns: u64,
    /// Up to when.
    pub unparked_to: u64,
    /// Time of busy threads [ns].
    pub thread_ns: f64,
    /// What it would have been with one thread a core [ns].
    pub mt1_ns: f64,
}

/// The web workload, as guests need it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Web {
    /// Mean instructions of a guest for a request, for an answer, and after a think time.
    pub instructions: [f64; 3],
    /// Whether they are exponential; else they are always the same.
    pub varies: bool,
    /// Mean think time [ns].
    pub think_ns: u64,
    /// Pages of a file.
    pub pages: u32,
    /// Pieces in which it is sent.
    pub pieces: u16,
}

/// The Control Program of a partition.
pub struct Cp {
    /// What it is told.
    pub spec: Zvm,
    /// Virtual machines.
    pub vms: ById<VmId, Vm>,
    /// Virtual processors, machine by machine.
    pub vcpus: ById<VcpuId, Vcpu>,
    /// Logical processors.
    pub lps: ById<LpId, Lp>,
    /// Changes of each dispatch vector that each of them has seen, processor by processor.
    pub seen: Vec<u32>,
    /// Whether any machine has a hard limit.
    pub hard_limits: bool,
    /// CPU pools.
    pub pools: ById<PoolId, Pool>,
    /// What its machines do with messages.
    pub web: Web,
    /// Threads of a logical core.
    pub smt: u8,
    /// Dispatch vectors.
    pub vectors: Vectors,
    /// Deadline that the dispatch list has come to: who wakes up starts from there.
    pub clock: f64,
    /// Deadline that nobody falls behind.
    pub floor: f64,
    /// Whether the dispatch list is to be dealt out over the vectors.
    pub shuffling: bool,
    /// Logical processor whose event is being handled.
    pub acting: Option<LpId>,
    /// All pairs of a client's and a server's virtual processors.
    pub connections: ById<ConnectionId, Connection>,
    /// Switches.
    pub ports: ById<SwitchId, Port>,
    /// Costs on each chip in this window; those of chips without logical processors are not kept.
    pub near: ById<ChipId, Near>,
    /// Time beside instructions on each chip of the machine that is not booked yet.
    pub beside: ById<ChipId, Extra>,
    /// Locks, those of switches apart.
    pub locks: Locks,
    /// Work done on each core of the partition so far [ns].
    pub core_clock: Vec<f64>,
    /// By chip.
    pub chip_clock: ById<ChipId, f64>,
    /// By node.
    pub node_clock: ById<NodeId, f64>,
    /// Unparked logical cores.
    pub unparked: u16,
    /// What was seen at the last decisions to park.
    pub history: History,
    /// Core time that each partition had used at the last of them [ns].
    pub observed: ById<PartitionId, u64>,
    /// When that was [ns].
    pub observed_at: u64,
    /// Paging volumes.
    pub pager: Option<Pager>,
    /// When they are looked at next [ns].
    pub pager_at: When,
    /// Reads that have ended, while they are told.
    pub done: Vec<Done>,
    /// Which page reads end on the master processor.
    pub master: Stream,
    /// What guests do on their own.
    pub daemons: Daemons,
    /// Counters.
    pub meter: CpMeter,
}

impl Left {
    /// It has not run yet; a logical processor is given all the same.
    pub const fn nowhere(lp: LpId) -> Self {
        Self {
            lp,
            clocks: [0.0; 3],
            warm: false,
        }
    }
}

impl Place {
    /// Distance to another one.
    #[inline]
    pub fn distance(&self, other: &Self) -> Distance {
        if self.chip == other.chip {
            Distance::Local
        } else if self.node == other.node {
            Distance::Near
        } else {
            Distance::Far
        }
    }
}

impl Vm {
    /// Share of what arrives that its guest hands to another of its virtual processors by a signal,
    /// which CP carries out as one interruption more: each of them is as likely to be interrupted,
    /// and one of them has what waits for it.
    #[inline]
    pub fn signal_share(&self) -> f64 {
        1.0 - 1.0 / self.cpus.len() as f64
    }
}

impl Cp {
    /// Virtual machine of a virtual processor.
    #[inline]
    pub fn vm_of(&mut self, vcpu: VcpuId) -> &mut Vm {
        &mut self.vms[self.vcpus[vcpu].vm]
    }

    /// What the virtual machine of a virtual processor does.
    pub fn role_of(&self, vcpu: VcpuId) -> Role {
        self.spec.machines[self.vcpus[vcpu].vm.index()].role
    }
}
