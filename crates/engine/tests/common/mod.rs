//! Specs for tests, made of plain round numbers, and results by column name.
#![allow(dead_code, unused_imports)] // Each test file takes what it needs of this.

pub mod change;
pub mod esxi;
pub mod host;
mod invariants;
pub mod known;
mod outcome;
pub mod pipeline;
pub mod platform;
pub mod race;
pub mod random;
pub mod strangers;
pub mod zvm;

pub use invariants::{assert_all, told};
pub use outcome::{run, run_some, Outcome, Table};
pub use random::{dice, scenarios, sound, Scenario, DICE};

use homenode_engine::machine::{parse_short, Topology};
use homenode_engine::spec::{
    Aix, Distribution, Guest, HostThreads, LogicalCores, Machine, MemoryPart, MemoryPolicy,
    Partition, Polarization, Pool, Processors, Profile, Spec, Unix, Workload,
};
use homenode_engine::steady::{price, Cost};

/// A millisecond [ns].
pub const MS: u64 = 1_000_000;
/// A second [ns].
pub const SECOND: u64 = 1_000_000_000;
/// A gibibyte [bytes].
pub const GIB: u64 = 1 << 30;

/// A machine in one line; everything else is round (1 GHz, no overheads).
pub fn machine(text: &str) -> Machine {
    parse_short(text).expect("a sound short form")
}

/// Work without misses: an instruction is a nanosecond at 1 GHz, and all of it needs issue slots.
pub fn plain_profile(instructions_per_unit: f64) -> Profile {
    Profile {
        instructions_per_unit,
        issue_share: 1.0,
        miss_c0_bytes: 1024.0,
        lock_hold_instructions: 1_000.0,
        ..Profile::steady()
    }
}

/// Work that misses caches, shares lines and leaves a footprint.
pub fn missing_profile(instructions_per_unit: f64) -> Profile {
    Profile {
        name: "missing".into(),
        issue_share: 0.5,
        miss_m0: 0.05,
        sharing: 0.2,
        footprint_bytes: 256 << 10,
        footprint_common: 0.5,
        overlap: 0.25,
        system_share: 0.25,
        ..plain_profile(instructions_per_unit)
    }
}

/// A guest that adds nothing of its own: no folding, ticks, daemons or balancing.
pub fn quiet_guest() -> Aix {
    Aix {
        throughput_mode: 0,
        xvcpus: -1,
        fold_threshold_pct: 49.0,
        snooze_delay_ns: Some(0),
        tick_ns: 10 * MS,
        tick_cost_ns: 0,
        timeslice_ns: 10 * MS,
        rebalance_ns: None,
        daemon_rate_per_s: 0.0,
        daemon_ns: 0,
        gangs: Vec::new(),
    }
}

/// The same without folding: HP-UX or Linux.
pub fn quiet_unix() -> Unix {
    let aix = quiet_guest();
    Unix {
        tick_ns: aix.tick_ns,
        tick_cost_ns: aix.tick_cost_ns,
        timeslice_ns: aix.timeslice_ns,
        rebalance_ns: aix.rebalance_ns,
        daemon_rate_per_s: aix.daemon_rate_per_s,
        daemon_ns: aix.daemon_ns,
        gangs: aix.gangs.clone(),
        packing: false,
    }
}

/// Uncapped processors of weight 128 in the default pool.
pub fn shared(entitlement: f64, vps: u16) -> Processors {
    Processors::Shared {
        entitlement,
        r#virtual: vps,
        capped: false,
        weight: 128,
        pool: 0,
        soft_cap: false,
        prsm: LogicalCores::default(),
        host: Box::default(),
    }
}

/// Capped processors in the default pool.
pub fn capped(entitlement: f64, vps: u16) -> Processors {
    Processors::Shared {
        entitlement,
        r#virtual: vps,
        capped: true,
        weight: 0,
        pool: 0,
        soft_cap: false,
        prsm: LogicalCores::default(),
        host: Box::default(),
    }
}

/// Cores of its own; a donating partition lends idle ones whatever its load.
pub fn dedicated(cores: std::ops::Range<u16>, donating: bool) -> Processors {
    Processors::Dedicated {
        cores: cores.collect(),
        donating,
        donate_threshold_pct: 100.0,
    }
}

/// A part of a partition's memory.
pub fn memory(domains: &[u16], bytes: u64) -> MemoryPart {
    MemoryPart {
        domains: domains.to_vec(),
        bytes,
    }
}

/// A quiet partition homed, with its memory, on chip 0; single-threaded.
pub fn partition(name: &str, processors: Processors, workload: Workload) -> Partition {
    Partition {
        name: name.into(),
        processors,
        smt: 1,
        memory: vec![memory(&[0], GIB)],
        memory_policy: MemoryPolicy::Proportional,
        data_bytes: GIB,
        io_domain: None,
        page_bytes: 64 << 10,
        hypervisor_share: 0.0,
        workload_name: String::new(),
        interrupts: None,
        io_threads: None,
        beside: Vec::new(),
        home: vec![0],
        guest: Guest::Aix(quiet_guest()),
        workload,
        profile: plain_profile(1e6),
    }
}

/// Tunables of a partition's guest.
pub fn aix(partition: &mut Partition) -> &mut Aix {
    match &mut partition.guest {
        Guest::Aix(aix) => aix,
        other => panic!("{other:?} is no AIX"),
    }
}

/// Processor-bound jobs without end.
pub fn loops(count: u32) -> Workload {
    Workload::Loops {
        count,
        endless: true,
        busy_ns: 0,
        rest_ns: 0,
    }
}

/// Open arrivals of one burst each.
pub fn transactions(rate_per_s: f64, burst_work: Distribution) -> Workload {
    Workload::Transactions {
        rate_per_s,
        bursts: 1.0,
        wait_ns: 0,
        burst_work,
    }
}

/// Transactions of two exponential bursts, with a wait for a device between them.
pub fn waiting(rate_per_s: f64, wait_ns: u64) -> Workload {
    Workload::Transactions {
        rate_per_s,
        bursts: 2.0,
        wait_ns,
        burst_work: Distribution::Exponential,
    }
}

/// Users whose interactions are one exponential burst each.
pub fn users(count: u32, think_ns: u64) -> Workload {
    Workload::Users {
        count,
        think_ns,
        bursts: 1.0,
        wait_ns: 0,
        burst_work: Distribution::Exponential,
        think: Distribution::Exponential,
    }
}

/// One second of these partitions on a machine, recorded window by window.
pub fn spec(machine: Machine, partitions: Vec<Partition>) -> Spec {
    Spec {
        name: "test".into(),
        seed: 1,
        warmup_ns: 0,
        duration_ns: SECOND,
        interval_ns: machine.hypervisor.window_ns,
        record_dispatches: false,
        machine,
        pools: vec![default_pool()],
        groups: vec![],
        cgroups: vec![],
        resource_pools: vec![],
        partitions,
        changes: vec![],
    }
}

/// The pool that is always there.
pub fn default_pool() -> Pool {
    Pool {
        name: "DefaultPool".into(),
        maximum: None,
        reserved: 0.0,
        cores: None,
    }
}

/// Every core of every partition busy.
pub fn busy(spec: &Spec) -> Vec<Vec<f64>> {
    let tree = Topology::new(&spec.machine);
    let row = |one: &Partition| {
        let mut row = vec![0.0; tree.chips().len()];
        if let Processors::Dedicated { cores, .. } = &one.processors {
            cores
                .iter()
                .for_each(|core| row[tree.chip_of((*core).into()).index()] += 1.0);
        }
        row
    };
    spec.partitions.iter().map(row).collect()
}

/// Costs of the partitions of a spec, all of whose cores are busy.
pub fn costs(spec: &Spec) -> Vec<Cost> {
    let prices = price(spec, &busy(spec)).unwrap_or_else(|fault| panic!("{fault}"));
    prices
        .iter()
        .map(|it| it.cost.expect("busy cores"))
        .collect()
}

/// Vertical logical cores of weight 50.
pub fn vertical(cores: u16) -> Processors {
    Processors::Shared {
        entitlement: 0.0,
        r#virtual: cores,
        capped: false,
        weight: 50,
        pool: 0,
        soft_cap: false,
        prsm: LogicalCores {
            polarization: Polarization::Vertical,
            ..LogicalCores::default()
        },
        host: Box::default(),
    }
}
