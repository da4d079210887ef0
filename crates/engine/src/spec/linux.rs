//! Linux and Xen as hypervisors: control groups, host threads, and the constants of their
//! schedulers.
//!
//! Defaults are the kernel's (6.18 unless told otherwise) and Xen's (4.19). A default of `None`
//! means that the kernel works the value out itself, from the number of processors.

use serde::{Deserialize, Serialize};

use super::virtualized::Virtualized;

/// A control group of the host's processor controller, version 2 in its terms.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cgroup {
    /// Name, unique in the machine.
    pub name: String,
    /// Index of its parent, which comes before it; none = below the root.
    #[serde(default)]
    pub parent: Option<u16>,
    /// `cpu.weight`, 1..=10000; shares of version 1 are `weight * 1024 / 100`.
    #[serde(default = "default_weight")]
    pub weight: u32,
    /// Time that it may use in a period, all processors together (`cpu.max`) [ns]; none = no limit.
    #[serde(default)]
    pub quota_ns: Option<u64>,
    /// Length of that period [ns].
    #[serde(default = "default_period")]
    pub period_ns: u64,
    /// Time that may be saved up beyond the quota (`cpu.max.burst`) [ns].
    #[serde(default)]
    pub burst_ns: u64,
    /// Logical processors of the host (`cpuset.cpus`), by index; none = its parent's.
    #[serde(default)]
    pub cpuset: Option<Vec<u16>>,
    /// Whether it runs only where nobody else wants to (`cpu.idle`).
    #[serde(default)]
    pub idle: bool,
}

fn default_weight() -> u32 {
    100
}

fn default_period() -> u64 {
    100_000_000
}

/// What a host knows of a partition's threads: virtual processors of a KVM guest, or processes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HostThreads {
    /// Control group that they belong to; none = the root.
    pub cgroup: Option<u16>,
    /// Logical processors of the host that each may use, by virtual processor; empty = all of its
    /// control group's.
    pub pins: Vec<Vec<u16>>,
    /// Those that each of a Xen domain runs on where one is free (soft affinity); empty = it has no
    /// preference.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub soft_pins: Vec<Vec<u16>>,
    /// Slice asked for by the threads (`sched_attr.sched_runtime`) [ns]; none = the base slice.
    pub slice_ns: Option<u64>,
    /// Nice value, -20..=19.
    pub nice: i8,
    /// What the hypervisor does about halts and spinning, if the threads are virtual processors of
    /// a guest of KVM, Xen or ESXi; none = plain processes.
    pub kvm: Option<Kvm>,
    /// Most that Xen lets the domain use (`cap`), or ESXi the virtual machine (limit) [cores]; none
    /// = no cap.
    pub cap: Option<f64>,
    /// What ESXi knows of a virtual machine besides; none = what it has as a rule.
    pub machine: Option<Box<MachineShares>>,
    /// What it costs to be a virtual machine, of whichever hypervisor; none = nothing.
    pub virtualized: Option<Box<Virtualized>>,
}

impl HostThreads {
    /// Whether its control group, or one above that, has a quota.
    pub fn has_quota(&self, cgroups: &[Cgroup]) -> bool {
        let group = |at: u16| &cgroups[usize::from(at)];
        let mut groups = std::iter::successors(self.cgroup, |at| group(*at).parent);
        groups.any(|at| group(at).quota_ns.is_some())
    }

    /// What ESXi knows of the virtual machine besides.
    pub fn machine(&self) -> MachineShares {
        self.machine.as_deref().copied().unwrap_or_default()
    }
}

/// An ESXi virtual machine's claim on the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MachineShares {
    /// Shares of all its virtual processors together; none = 1000 each.
    pub shares: Option<u32>,
    /// Least that it gets if it wants it [cores].
    pub reservation: f64,
    /// Index of the resource pool that it is in; none = none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool: Option<u16>,
}

/// A resource pool of ESXi: virtual machines and other pools that share what it gets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResourcePool {
    /// Name, unique in the machine.
    pub name: String,
    /// Index of the one that it is in, which comes before it; none = none.
    #[serde(default)]
    pub parent: Option<u16>,
    /// Shares among its neighbours.
    pub shares: u32,
    /// Least that those in it get together if they want it [cores].
    #[serde(default)]
    pub reservation: f64,
    /// Most that they may use together [cores]; none = no limit.
    #[serde(default)]
    pub limit: Option<f64>,
    /// Whether those in it may reserve more than it has reserved, of what is around it.
    #[serde(default)]
    pub expandable: bool,
}

/// What KVM does for a guest's virtual processors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Kvm {
    /// Longest time that a halted virtual processor keeps polling for work (`halt_poll_ns`) [ns].
    pub halt_poll_ns: u64,
    /// Length with which polling starts (`halt_poll_ns_grow_start`) [ns].
    pub halt_poll_grow_start_ns: u64,
    /// Factor by which polling gets longer (`halt_poll_ns_grow`); 0 = never.
    pub halt_poll_grow: u32,
    /// Divisor by which it gets shorter (`halt_poll_ns_shrink`); 0 = down to nothing at once.
    pub halt_poll_shrink: u32,
    /// Time from a halt in the guest to the host's scheduler [ns].
    pub exit_ns: u64,
    /// Time from the host's scheduler into the guest [ns].
    pub entry_ns: u64,
    /// Exits of its kernel on its way into idling, and as many on its way out: its tick is stopped,
    /// and set anew. One that is found while the guest itself polls needs none.
    pub idle_exits: u32,
    /// Detection of spin loops by the processor; none = spinning is never noticed.
    pub pause_loop: Option<PauseLoop>,
    /// Whether a virtual processor caught spinning yields to one that may hold the lock.
    pub directed_yield: bool,
    /// Whether a virtual processor may lose its processor while its guest holds a lock that
    /// siblings spin on; off = as if critical sections were never interrupted.
    pub lock_holder_preemption: bool,
    /// How waiters of the guest's queue locks halt; none = they spin on.
    pub paravirtual_locks: Option<ParavirtualLocks>,
    /// Whether the hypervisor flushes translations for those that are off their processors.
    pub paravirtual_flush: bool,
    /// Whether the guest itself polls before it halts (`cpuidle-haltpoll`), and its host does not.
    pub polls_in_guest: bool,
}

impl Default for Kvm {
    fn default() -> Self {
        Self {
            halt_poll_ns: 200_000,
            halt_poll_grow_start_ns: 10_000,
            halt_poll_grow: 2,
            halt_poll_shrink: 2,
            exit_ns: 1_000,
            entry_ns: 1_000,
            idle_exits: 0,
            pause_loop: Some(PauseLoop::default()),
            directed_yield: true,
            lock_holder_preemption: true,
            paravirtual_locks: None,
            paravirtual_flush: true,
            polls_in_guest: false,
        }
    }
}

/// Queue locks of a guest that knows it is one (`CONFIG_PARAVIRT_SPINLOCKS`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParavirtualLocks {
    /// How long a waiter spins before it halts (`SPIN_THRESHOLD` turns) [ns].
    pub spin_ns: u64,
    /// How long, if whoever is before it in line has halted (`PV_PREV_CHECK_MASK` turns) [ns].
    pub early_ns: u64,
    /// Whether one that has merely lost its processor counts as halted.
    pub early_if_preempted: bool,
    /// Whether who wakes a waiter lends it its processor.
    pub kick_yields: bool,
}

/// Pause-loop exiting: how the processor tells that a guest spins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PauseLoop {
    /// Longest time between two pauses of one loop (`ple_gap`) [cycles].
    pub gap_cycles: u32,
    /// Time in a loop after which it exits (`ple_window`) [cycles].
    pub window_cycles: u32,
}

impl Default for PauseLoop {
    fn default() -> Self {
        Self {
            gap_cycles: 128,
            window_cycles: 4096,
        }
    }
}

/// Class of the kernel's fair schedulers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FairClass {
    /// Earliest eligible virtual deadline first, since 6.6.
    #[default]
    Eevdf,
    /// Completely fair scheduler, up to 6.5.
    Cfs,
}

/// When a runner makes way for a thread that another processor has woken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Preemption {
    /// At once: that processor is interrupted. So it is without preemption of the kernel, too, for
    /// runners that are in their programs or guests.
    #[default]
    Full,
    /// When it next leaves the kernel, at a tick at the latest (`PREEMPT_LAZY`, since 6.13).
    Lazy,
}

/// Constants of the Linux scheduler.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Linux {
    /// Which fair class.
    pub scheduler: FairClass,
    /// When a runner makes way.
    pub preemption: Preemption,
    /// Clock tick (`CONFIG_HZ`) [ns].
    pub tick_ns: u64,
    /// Most by which a processor handles its tick late [ns]; assumed, 0 to 50 us.
    pub tick_late_ns: u64,
    /// Slice of EEVDF (`base_slice_ns`) [ns]; none = 0.7 ms * (1 + log2 of at most 8 processors).
    pub base_slice_ns: Option<u64>,
    /// Whether a runner keeps its processor until its slice or its lag is used up
    /// (`RUN_TO_PARITY`).
    pub run_to_parity: bool,
    /// Whether a sleeper keeps the lag it left with (`PLACE_LAG`).
    pub place_lag: bool,
    /// Whether a sleeper that has had too much stays queued until it has not (`DELAY_DEQUEUE`).
    pub delay_dequeue: bool,
    /// Whether a runner whose weight changes is placed anew as if it came to a queue that it is
    /// still in: Linux 6.13 to 6.19. It makes what it is owed, or owes, grow.
    pub reweigh_in_sums: bool,
    /// Period in which CFS serves everybody (`sched_latency_ns`) [ns]; none = 6 ms * that factor.
    pub latency_ns: Option<u64>,
    /// Least slice of CFS (`sched_min_granularity_ns`) [ns]; none = 0.75 ms * that factor.
    pub min_granularity_ns: Option<u64>,
    /// Lead that a woken one needs to preempt under CFS (`sched_wakeup_granularity_ns`) [ns];
    /// none = 1 ms * that factor.
    pub wakeup_granularity_ns: Option<u64>,
    /// Whether CFS gives sleepers half a period of credit rather than a whole one
    /// (`GENTLE_FAIR_SLEEPERS`).
    pub gentle_sleepers: bool,
    /// Slice in which a quota is handed to a processor (`sched_cfs_bandwidth_slice_us`) [ns].
    pub bandwidth_slice_ns: u64,
    /// Time for which one that ran is taken to be warm (`migration_cost_ns`) [ns].
    pub migration_cost_ns: u64,
    /// Most tasks moved in one go (`nr_migrate`).
    pub migrate_most: u32,
    /// Direct cost of a switch between two tasks [ns].
    pub switch_ns: u64,
    /// Processor time that a thread needs to interrupt another processor for one that it wakes
    /// there; in a guest, an exit [ns].
    pub wake_interrupt_ns: u64,
    /// Time from a thread's wake-up on an idle processor by another until it runs: the way of the
    /// interrupt and out of idling [ns]. Nobody is charged for it.
    pub wake_idle_ns: u64,
    /// For how long an idle processor polls before it halts, and needs neither [ns].
    pub idle_poll_ns: u64,
    /// Whether a waking task may be drawn to its waker's processor (`WA_IDLE`, `WA_WEIGHT`).
    pub wake_affine: bool,
    /// Load balancing by domain.
    pub balance: Balance,
    /// Movement of tasks and memory towards each other; none = off.
    pub numa_balancing: Option<NumaBalancing>,
}

impl Default for Linux {
    fn default() -> Self {
        Self {
            scheduler: FairClass::Eevdf,
            preemption: Preemption::Full,
            tick_ns: 4_000_000,
            tick_late_ns: 5_000,
            base_slice_ns: None,
            run_to_parity: true,
            place_lag: true,
            delay_dequeue: true,
            reweigh_in_sums: true,
            latency_ns: None,
            min_granularity_ns: None,
            wakeup_granularity_ns: None,
            gentle_sleepers: true,
            bandwidth_slice_ns: 5_000_000,
            migration_cost_ns: 500_000,
            migrate_most: 32,
            switch_ns: 1_500,
            wake_interrupt_ns: 0,
            wake_idle_ns: 0,
            idle_poll_ns: 0,
            wake_affine: true,
            balance: Balance::default(),
            numa_balancing: Some(NumaBalancing::default()),
        }
    }
}

/// Load balancing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Balance {
    /// Whether processors take work from others at all.
    pub enabled: bool,
    /// Whether one that becomes idle looks for work at once.
    pub newly_idle: bool,
    /// Shortest time between two attempts of an idle processor, for each processor of the domain
    /// [ns].
    pub interval_ns: u64,
    /// Factor on that time while the processor is busy (`busy_factor`).
    pub busy_factor: u32,
    /// Load of the busiest over the own at which it is worth the while [percent], between hardware
    /// threads of a core.
    pub imbalance_smt_pct: u32,
    /// The same between cores, chips and nodes.
    pub imbalance_pct: u32,
}

impl Default for Balance {
    fn default() -> Self {
        Self {
            enabled: true,
            newly_idle: true,
            interval_ns: 1_000_000,
            busy_factor: 16,
            imbalance_smt_pct: 110,
            imbalance_pct: 117,
        }
    }
}

/// Automatic NUMA balancing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NumaBalancing {
    /// Time before a new task's memory is scanned (`scan_delay_ms`) [ns].
    pub scan_delay_ns: u64,
    /// Least time between two scans (`scan_period_min_ms`) [ns].
    pub scan_period_min_ns: u64,
    /// Longest (`scan_period_max_ms`) [ns].
    pub scan_period_max_ns: u64,
    /// Memory made to fault in a scan (`scan_size_mb`) [bytes].
    pub scan_bytes: u64,
    /// Time of such a fault [ns]. Assumed, 500 to 3000.
    pub fault_ns: u64,
    /// Time to move a page, besides [ns]. Assumed, 1000 to 10000 for 4 KiB.
    pub move_ns: u64,
}

impl Default for NumaBalancing {
    fn default() -> Self {
        Self {
            scan_delay_ns: 1_000_000_000,
            scan_period_min_ns: 1_000_000_000,
            scan_period_max_ns: 60_000_000_000,
            scan_bytes: 256 << 20,
            fault_ns: 1_000,
            move_ns: 2_000,
        }
    }
}

/// Which processors of a Xen host share a run queue (`credit2_runqueue`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunQueues {
    /// One for each logical processor.
    Cpu,
    /// The threads of a core.
    Core,
    /// A package: a chip with memory of its own, or the chips beside one memory.
    #[default]
    Socket,
    /// A memory node.
    Node,
    /// The whole machine.
    All,
}

/// Constants of Xen's scheduler `credit2`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Credit2 {
    /// Least time that one runs before another may take its processor (`sched_ratelimit_us`) [ns].
    pub rate_limit_ns: u64,
    /// Who shares a run queue.
    pub runqueue: RunQueues,
    /// Most processors of a run queue (`sched_credit2_max_cpus_runqueue`).
    pub max_per_queue: u16,
    /// Credit with which everybody starts anew [ns].
    pub credit_init_ns: u64,
    /// Credit at or below which all start anew [ns of the greatest weight].
    pub reset_below_ns: i64,
    /// Shortest time to the next look at the queue [ns].
    pub min_timer_ns: u64,
    /// Longest [ns].
    pub max_timer_ns: u64,
    /// Whether the next look is also due when the runner's credit is down to that of whom it took
    /// the processor from; else whoever waits already counts, and that one not yet.
    pub outgoing_counts: bool,
    /// Most by which the timer of a look comes late [ns].
    pub timer_late_ns: u64,
    /// Credit by which one on another processor must lead to be moved [ns].
    pub migrate_resist_ns: u64,
    /// How often a capped domain gets its budget anew [ns].
    pub cap_period_ns: u64,
    /// Window of the average load is 2^this [ns].
    pub load_window_shift: u8,
    /// Direct cost of a switch [ns].
    pub switch_ns: u64,
}

impl Default for Credit2 {
    fn default() -> Self {
        Self {
            rate_limit_ns: 1_000_000,
            runqueue: RunQueues::Socket,
            max_per_queue: 16,
            credit_init_ns: 10_000_000,
            reset_below_ns: 0,
            min_timer_ns: 500_000,
            max_timer_ns: 10_000_000,
            outgoing_counts: false,
            timer_late_ns: 5_000,
            migrate_resist_ns: 500_000,
            cap_period_ns: 10_000_000,
            load_window_shift: 30,
            switch_ns: 2_000,
        }
    }
}
