//! z/VM in a partition: its Control Program (CP), its virtual machines, and what connects them.

use serde::{Deserialize, Serialize};

use super::devices::{Paging, Switch};
use super::machine::ByDistance;
use super::workload::Distribution;

/// z/VM's Control Program with its virtual machines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Zvm {
    /// Whether the partition runs in vertical polarization.
    pub vertical: bool,
    /// Which logical cores stay unparked (`SRM UNPARKING`); counts in vertical polarization only.
    pub unparking: Unparking,
    /// Room kept above the forecast need when cores are parked (`SRM CPUPAD`) [cores].
    pub cpupad: f64,
    /// How boldly unentitled power is counted on (`SRM EXCESSUSE`).
    pub excessuse: ExcessUse,
    /// Interval of the decision to park or unpark [ns].
    pub park_interval_ns: u64,
    /// Minor time slice of a virtual processor [ns].
    pub minor_slice_ns: u64,
    /// Virtual processors that must wait in a dispatch vector before a processor at that distance
    /// steals one.
    pub steal_barrier: ByDistance,
    /// Wake-ups of the daemons of each virtual machine's guest [1/s].
    #[serde(default)]
    pub daemon_rate_per_s: f64,
    /// Processor time of one, at the speed of a core that misses nothing [ns].
    #[serde(default)]
    pub daemon_ns: u64,
    /// Instructions of CP's own work.
    pub paths: CpPaths,
    /// Formal spin locks.
    pub locks: CpLocks,
    /// Virtual machines, in order of their index in every result table.
    pub machines: Vec<VirtualMachine>,
    /// CPU pools: machines that may use so much together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpu_pools: Vec<CpuPool>,
    /// Virtual switches.
    pub switches: Vec<Switch>,
    /// Paging volumes; none = nothing can be paged out.
    pub paging: Option<Paging>,
}

/// Which logical cores stay unparked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unparking {
    /// All that the hypervisor beneath is likely to power.
    Large,
    /// The entitled ones, and others as the load needs them.
    Medium,
    /// As few as the load needs.
    Small,
}

/// How boldly a partition counts on power beyond its entitlement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExcessUse {
    /// On what it will get with a chance of one half.
    High,
    /// On what it will very likely get.
    Medium,
    /// On what it will almost surely get.
    Low,
    /// On none.
    None,
}

/// Path lengths of the Control Program [instructions].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CpPaths {
    /// Putting a virtual processor on a logical one and taking it off again; not chargeable.
    pub dispatch: f64,
    /// Looking at one dispatch vector for work; not chargeable.
    pub scan: f64,
    /// Intercept, interruption and return to the guest, once for all that arrived together;
    /// chargeable.
    pub interruption: f64,
    /// One frame through a virtual switch; chargeable to the sender.
    pub frame: f64,
    /// Searches of a layer-3 switch's list for one frame.
    pub searches: f64,
    /// One control block passed in a search, found in the own caches; chargeable.
    pub element: f64,
    /// One paging read or write, from the fault to its end; chargeable.
    pub page_io: f64,
    /// One page brought in or stolen; not chargeable.
    pub page: f64,
    /// Signalling the idle processor that takes a virtual processor which has become ready.
    /// Chargeable.
    #[serde(default)]
    pub signal: f64,
    /// Share of paging reads whose end only the master processor may handle [0..1].
    #[serde(default)]
    pub master: f64,
}

/// Formal spin locks of the Control Program.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CpLocks {
    /// Times that the scheduler's lock is taken shared, and a dispatch vector's, for one dispatch.
    pub dispatch: f64,
    /// Times that the scheduler's lock is taken exclusive for a virtual processor that becomes
    /// ready: an element of each unparked processor is closed.
    #[serde(default)]
    pub ready: f64,
    /// Times that a switch's lock is taken for one frame.
    pub frame: f64,
    /// Times that the lock of pages is taken for a page that comes in, whose frame another page
    /// loses.
    pub page: f64,
    /// Lines of each other unparked processor that who takes a page's translation away fetches one
    /// after the other.
    #[serde(default)]
    pub asked: f64,
    /// Instructions for which a lock is held at a time.
    pub hold: f64,
    /// Lines that come with a lock to its new holder, its own included.
    pub lines: f64,
    /// Searches of a layer-3 switch's list done under one take of its lock.
    #[serde(default)]
    pub search: f64,
    /// Instructions of a look at a lock's line while spinning.
    pub look: f64,
    /// Cycles for which a spinning processor stops after a look if the line does not change.
    pub delay: f64,
}

/// Virtual machines that may use so many cores together (`DEFINE CPUPOOL`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CpuPool {
    /// Name, unique in the partition.
    pub name: String,
    /// Most that its members may use together [cores].
    pub cores: f64,
}

/// A virtual machine (guest).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VirtualMachine {
    /// Name, unique in the partition.
    pub name: String,
    /// Its virtual processors.
    pub cpus: u16,
    /// Guest real memory [bytes].
    pub memory_bytes: u64,
    /// What it does.
    pub role: Role,
    /// Least it is to get (`SHARE`).
    pub share: CpShare,
    /// Most it may get; none = no limit.
    pub maximum: Option<CpShare>,
    /// Whether that limit holds even if processors idle (`LIMITHARD`), or gives way then
    /// (`LIMITSOFT`).
    pub limit_hard: bool,
    /// CPU pool that it is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_pool: Option<u16>,
    /// Virtual switch it is coupled to.
    pub switch: Option<u16>,
    /// What comes to it from outside the partition, for a machine whose role that is.
    #[serde(default)]
    pub work: Option<GuestWork>,
}

/// Transactions that come to a virtual machine from outside the partition: at random and whether
/// or not it keeps up (open Poisson arrivals), or from users who think between two. Each is done by
/// one of its virtual processors, in one go or in bursts, in the order in which they came.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuestWork {
    /// Arrivals [1/s]; of no meaning where there are users or work is played.
    pub rate_per_s: f64,
    /// Users, each with one transaction at a time; 0 = open arrivals.
    #[serde(default, skip_serializing_if = "no_users")]
    pub users: u32,
    /// Mean think time of a user (exponential) [ns].
    #[serde(default, skip_serializing_if = "no_time")]
    pub think_ns: u64,
    /// Mean of the guest's instructions for one.
    pub instructions: f64,
    /// Their distribution, of each burst where there are several.
    pub work: Distribution,
    /// Mean number of bursts of one, between which it waits (geometric, at least 1).
    #[serde(default = "one_burst", skip_serializing_if = "is_one_burst")]
    pub bursts: f64,
    /// Mean wait between two bursts [ns] (exponential).
    #[serde(default, skip_serializing_if = "no_time")]
    pub wait_ns: u64,
    /// What it sends for one over its switch [bytes]; 0 = nothing.
    pub answer_bytes: u64,
    /// Work that is played step by step, in transactions that come at random.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub played: Option<PlayedWork>,
}

/// Work of a virtual machine, step by step; the warm-up plays the first step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlayedWork {
    /// Length of each step [ns].
    pub lengths_ns: Vec<u64>,
    /// Work that arrives in each step [instructions/s].
    pub instructions_per_s: Vec<f64>,
}

fn one_burst() -> f64 {
    1.0
}

fn is_one_burst(bursts: &f64) -> bool {
    *bursts == 1.0
}

fn no_users(users: &u32) -> bool {
    *users == 0
}

fn no_time(ns: &u64) -> bool {
    *ns == 0
}

/// What a virtual machine does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Sends requests to all servers on its switch.
    Client,
    /// Answers them.
    Server,
    /// Does what comes to it from outside the partition.
    Work,
    /// Computes without end on every virtual processor.
    Loop,
    /// Nothing.
    Idle,
}

/// A share of the partition's processors.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CpShare {
    /// Of all processors [0..1].
    Absolute(f64),
    /// In proportion to the others' (1..=10000).
    Relative(u16),
}
