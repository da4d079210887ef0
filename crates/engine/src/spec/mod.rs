//! The frozen input of a simulation: what the front ends hand over, in base units only.
//!
//! Times are integer nanoseconds, sizes are bytes, capacities are cores. A `Spec` is read once,
//! checked once (`sim::check`) and never changed afterwards. People do not write it: they write
//! the scenario file, which the Python front reads, checks with file and line, and flattens into
//! this.

mod change;
mod devices;
mod interrupts;
mod io_threads;
mod limits;
mod linux;
mod machine;
mod memory;
mod policy;
mod profile;
mod prsm;
mod virtualized;
mod workload;
mod zvm;

pub use change::Change;
pub use devices::{Layer, Paging, StorageServer, Switch};
pub use interrupts::Interrupts;
pub use io_threads::IoThreads;
pub use linux::{
    Balance, Cgroup, Credit2, FairClass, HostThreads, Kvm, Linux, MachineShares, NumaBalancing,
    ParavirtualLocks, PauseLoop, Preemption, ResourcePool, RunQueues,
};
pub use machine::{
    Accounting, ByDistance, Cache, CacheScope, Coherence, Drains, Eviction, Hypervisor, Machine,
    MemoryBeside, MemoryLoad, Pipeline, Smt, StorePath, StreamPath, Translation,
};
pub use memory::MemoryPart;
pub(crate) use policy::host_policies;
pub use policy::Policy;
pub use profile::{LockKind, Profile};
pub use prsm::{DefinedCapacity, Group, LogicalCores, Polarization, PrSm};
pub use virtualized::{Virtualized, Walks};
pub use workload::{Distribution, Generator, Load, Spread, Workload};
pub use zvm::{
    CpLocks, CpPaths, CpShare, CpuPool, ExcessUse, GuestWork, PlayedWork, Role, Unparking,
    VirtualMachine, Zvm,
};

use serde::{Deserialize, Serialize};

/// One simulated machine with everything that runs on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Name of the scenario; part of every random stream's name.
    pub name: String,
    /// Seed of all random streams, together with the replication and the stream's name.
    pub seed: u64,
    /// Simulated time before anything is recorded [ns].
    pub warmup_ns: u64,
    /// Simulated time that is recorded [ns].
    pub duration_ns: u64,
    /// Length of one recorded interval [ns].
    pub interval_ns: u64,
    /// Whether every dispatch is recorded (`dispatches` table).
    pub record_dispatches: bool,
    /// The hardware and its hypervisor's constants.
    pub machine: Machine,
    /// Shared processor pools; index 0 is the default pool and always present.
    pub pools: Vec<Pool>,
    /// Partitions that PR/SM limits together.
    #[serde(default)]
    pub groups: Vec<Group>,
    /// Control groups of a Linux host, parents before children.
    #[serde(default)]
    pub cgroups: Vec<Cgroup>,
    /// Resource pools of an ESXi host, parents before children.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resource_pools: Vec<ResourcePool>,
    /// The partitions, in order of their index in every result table.
    pub partitions: Vec<Partition>,
    /// What becomes different while they run.
    #[serde(default)]
    pub changes: Vec<Change>,
}

/// A shared processor pool: a limit and a reserve on top of the physical pool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pool {
    /// Name, such as `DefaultPool`.
    pub name: String,
    /// Maximum capacity its partitions may use together [cores]; none for the default pool.
    pub maximum: Option<f64>,
    /// Reserved capacity on top of its partitions' entitlements, for its uncapped partitions
    /// [cores].
    pub reserved: f64,
    /// Physical cores that only this pool's partitions use, those of one type; none = all that no
    /// pool names. Dedicated cores among them do not count.
    #[serde(default)]
    pub cores: Option<Vec<u16>>,
}

/// A logical partition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Partition {
    /// Name, unique in the machine.
    pub name: String,
    /// Whether they are shared or its own, and how many.
    pub processors: Processors,
    /// Hardware threads used of each core.
    pub smt: u8,
    /// Its memory, part by part.
    pub memory: Vec<MemoryPart>,
    /// By which rule the guest puts data into these parts.
    pub memory_policy: MemoryPolicy,
    /// Data that the work touches all the time [bytes]; at most what the parts hold.
    pub data_bytes: u64,
    /// Memory domain at which its I/O hangs, for the kernel's I/O structures; none = with the rest.
    pub io_domain: Option<u16>,
    /// Length of its pages [bytes]; counts only where the machine has a translation cost, or in a
    /// virtual machine that pays for walks.
    pub page_bytes: u64,
    /// Share of its core time that goes to the hypervisor for what the guest may not do itself
    /// [0..1).
    pub hypervisor_share: f64,
    /// Chips on which its virtual processors are homed, in turn.
    pub home: Vec<u16>,
    /// Operating system.
    pub guest: Guest,
    /// What it runs.
    pub workload: Workload,
    /// How the work behaves on a processor.
    pub profile: Profile,
    /// What the devices cost that its work waits for; none = nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupts: Option<Box<Interrupts>>,
    /// Threads of the host that do its I/O; none = its virtual processors themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_threads: Option<IoThreads>,
    /// Name of that work where there is other work beside it; else empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub workload_name: String,
    /// What runs beside it, each with memory of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<Load>,
}

/// How a guest chooses among the parts of its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryPolicy {
    /// Each part in proportion to its size, wherever the thread runs.
    Proportional,
    /// Nearest part first, as seen from the thread that allocates, until it is full.
    LocalFirst,
    /// Interleaved parts first, then the others in proportion to their size.
    Interleaved,
    /// Parts of the thread's own domain only.
    Strict,
    /// One part after the other, as a guest does that knows no nodes: its memory is one row of
    /// addresses.
    InOrder,
}

/// Processor resources of a partition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "mode", rename_all = "lowercase", deny_unknown_fields)]
pub enum Processors {
    /// Virtual processors dispatched on the shared pool.
    Shared {
        /// Entitled capacity [cores]; PR/SM works it out from the weights.
        #[serde(default)]
        entitlement: f64,
        /// Online virtual processors.
        r#virtual: u16,
        /// Whether use beyond the entitlement is forbidden.
        capped: bool,
        /// Weight for excess capacity, 0..=255; with PR/SM for all capacity, 1..=999; with credit2
        /// for all, 1..=65535. With Linux the control groups have the weights.
        weight: u16,
        /// Whether it uses excess capacity only while nobody else wants it (AIX's weight -1).
        #[serde(default)]
        soft_cap: bool,
        /// Index of its shared processor pool.
        pool: u16,
        /// What PR/SM knows of them besides.
        #[serde(default)]
        prsm: LogicalCores,
        /// What a Linux or Xen host knows of them.
        #[serde(default)]
        host: Box<HostThreads>,
    },
    /// Whole cores of its own.
    Dedicated {
        /// The cores, by index counted over the whole machine.
        cores: Vec<u16>,
        /// Whether idle cores are lent to the shared pool.
        donating: bool,
        /// Utilisation under which it donates [percent] (`ded_cpu_donate_thresh`).
        donate_threshold_pct: f64,
    },
}

impl Partition {
    /// Whether NUMA balancing may move its memory: it may not be bound to nodes, nor of reserved
    /// large pages.
    pub fn has_movable_memory(&self) -> bool {
        let reserved = match &self.processors {
            Processors::Shared { host, .. } => host.virtualized.as_ref(),
            Processors::Dedicated { .. } => None,
        };
        self.data_bytes > 0
            && self.memory_policy != MemoryPolicy::Strict
            && !reserved.is_some_and(|by| by.has_reserved_pages())
    }

    /// Name, work and profile of one of its loads, of which the first has place 0.
    pub fn load(&self, place: usize) -> (&str, &Workload, &Profile) {
        match place.checked_sub(1).map(|at| &self.beside[at]) {
            None => (&self.workload_name, &self.workload, &self.profile),
            Some(load) => (&load.name, &load.workload, &load.profile),
        }
    }

    /// It with one of its loads alone.
    pub fn with_load(&self, place: usize) -> Self {
        let (name, workload, profile) = self.load(place);
        Self {
            workload_name: name.into(),
            workload: workload.clone(),
            profile: profile.clone(),
            beside: Vec::new(),
            ..self.clone()
        }
    }

    /// Each of what runs beside its first load as if it were alone.
    pub fn others(&self) -> impl Iterator<Item = Self> + '_ {
        (1..=self.beside.len()).map(|place| self.with_load(place))
    }
}

impl Processors {
    /// How many there are.
    pub fn count(&self) -> u16 {
        match self {
            Self::Shared { r#virtual, .. } => *r#virtual,
            Self::Dedicated { cores, .. } => cores.len() as u16,
        }
    }
}

/// Guest operating system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "os", rename_all = "lowercase", deny_unknown_fields)]
pub enum Guest {
    /// AIX 5.3 to 7.3.
    Aix(Aix),
    /// HP-UX 11i.
    Hpux(Unix),
    /// Linux as a guest, without processor folding.
    Linux(Unix),
    /// z/VM, which runs virtual machines in turn.
    Zvm(Box<Zvm>),
}

/// Scheduler of a guest without processor folding: run queues per processor, ticks, time slices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unix {
    /// Clock tick [ns].
    pub tick_ns: u64,
    /// Kernel time of one clock tick [ns].
    pub tick_cost_ns: u64,
    /// Time slice of equal-priority threads [ns].
    pub timeslice_ns: u64,
    /// Interval at which the load balancer moves a running thread to the less busy processor [ns];
    /// none = never.
    pub rebalance_ns: Option<u64>,
    /// Wake-ups of kernel daemons [1/s per partition].
    pub daemon_rate_per_s: f64,
    /// Processor time of one such wake-up [ns of a core at its single-thread speed].
    pub daemon_ns: u64,
    /// Daemons of which several threads wake at once.
    #[serde(default)]
    pub gangs: Vec<Gang>,
    /// Whether threads are packed on few virtual processors, one in each part of a core, rather
    /// than spread over all.
    #[serde(default)]
    pub packing: bool,
}

impl Unix {
    /// A scheduler without ticks and daemons, for a guest that dispatches by its own rules.
    fn none() -> Self {
        Self {
            tick_ns: 1_000_000_000,
            tick_cost_ns: 0,
            timeslice_ns: 1_000_000_000,
            rebalance_ns: None,
            daemon_rate_per_s: 0.0,
            daemon_ns: 0,
            gangs: Vec::new(),
            packing: false,
        }
    }
}

impl Guest {
    /// What all guests' schedulers have.
    pub fn unix(&self) -> Unix {
        match self {
            Guest::Aix(aix) => Unix {
                tick_ns: aix.tick_ns,
                tick_cost_ns: aix.tick_cost_ns,
                timeslice_ns: aix.timeslice_ns,
                rebalance_ns: aix.rebalance_ns,
                daemon_rate_per_s: aix.daemon_rate_per_s,
                daemon_ns: aix.daemon_ns,
                gangs: aix.gangs.clone(),
                packing: false,
            },
            Guest::Hpux(unix) | Guest::Linux(unix) => unix.clone(),
            Guest::Zvm(_) => Unix::none(),
        }
    }

    /// z/VM, if that is what it is.
    pub fn zvm(&self) -> Option<&Zvm> {
        match self {
            Guest::Zvm(zvm) => Some(zvm),
            _ => None,
        }
    }

    /// Share of a processor's time that its clock tick takes.
    pub fn tick_share(&self) -> f64 {
        let unix = self.unix();
        (unix.tick_cost_ns as f64 / unix.tick_ns as f64).min(0.5)
    }
}

/// AIX scheduler tunables, named as `schedo` names them where it does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Aix {
    /// `vpm_throughput_mode`: 0, 1, 2, 4 or 8 (threads of a virtual processor to load before the
    /// next one).
    pub throughput_mode: u8,
    /// `vpm_xvcpus`: virtual processors beyond the computed need; -1 switches folding off.
    pub xvcpus: i32,
    /// `vpm_fold_threshold`: physical utilisation of virtual processors above which another one is
    /// needed [percent].
    pub fold_threshold_pct: f64,
    /// `smt_snooze_delay`: how long a virtual processor without work polls before it cedes [ns];
    /// none = for ever.
    pub snooze_delay_ns: Option<u64>,
    /// Clock tick [ns].
    pub tick_ns: u64,
    /// Kernel time of one clock tick [ns].
    pub tick_cost_ns: u64,
    /// Time slice of equal-priority threads [ns].
    pub timeslice_ns: u64,
    /// Interval at which the load balancer moves a running thread to the less busy processor [ns];
    /// none = never.
    pub rebalance_ns: Option<u64>,
    /// Wake-ups of kernel daemons [1/s per partition].
    pub daemon_rate_per_s: f64,
    /// Processor time of one such wake-up [ns of a core at its single-thread speed].
    pub daemon_ns: u64,
    /// Daemons of which several threads wake at once.
    #[serde(default)]
    pub gangs: Vec<Gang>,
}

/// A daemon of which several threads wake at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gang {
    /// Threads that wake.
    pub threads: u16,
    /// Time from one wake-up to the next [ns].
    pub every_ns: u64,
    /// Processor time of a thread in one wake-up [ns of a core at its single-thread speed]; not
    /// read where its work was recorded.
    pub work_ns: u64,
    /// Length of each recorded step [ns], none if nothing was recorded. A step has at least one
    /// wake-up.
    #[serde(default)]
    pub lengths_ns: Vec<u64>,
    /// Work of all its threads in each step [instructions/s].
    #[serde(default)]
    pub instructions_per_s: Vec<f64>,
}
