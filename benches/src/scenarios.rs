//! Specs for the engine: W2's load and the two frames of the study p795-lpar-affinity, both on an
//! IBM Power 795. The numbers are those of the shipped files `machines/ibm-power-795.toml` and
//! `profiles/oltp.toml`, which say where they come from.

use homenode_engine::spec::{
    Accounting, Aix, ByDistance, Cache, CacheScope, Coherence, Credit2, Distribution, Eviction,
    Guest, Hypervisor, Linux, LockKind, LogicalCores, Machine, MemoryBeside, MemoryLoad,
    MemoryPart, MemoryPolicy, Partition, Policy, Pool, PrSm, Processors, Profile, Smt, Spec,
    Workload,
};

use crate::load::{SLEEP_NS, VPS};

const MS: u64 = 1_000_000;
const CHIPS_PER_NODE: u16 = 4;
const CORES_PER_CHIP: u16 = 8;
/// Cores of a book.
pub const CORES_PER_NODE: u16 = CHIPS_PER_NODE * CORES_PER_CHIP;
/// Books of the machine as it is sold.
const NODES: u16 = 8;
const CLOCK_HZ: f64 = 4.004e9;
/// Memory of each partition; its size is of no account here [bytes].
const MEMORY_BYTES: u64 = 64 << 30;

/// Instructions that take W2's burst of 2 ms, alone on a core of this machine.
pub const W2_BURST: f64 = 2.57e6;
/// Instructions of the study's transaction, calibrated on its first partition.
const TRANSACTION: f64 = 2.148e7;

/// W2's load under the whole model: four capped partitions on two books, each virtual processor
/// entitled to 4 ms of a window, one thread a core. Instructions are chosen so that a burst takes
/// W2's 2 ms; the guest, the costs and the hypervisor's own time come on top.
pub fn w2_load() -> Spec {
    let partition = |i: u16| {
        let mut partition = w2_partition(i, (VPS / 4) as u16);
        set_capped(&mut partition, true);
        set_home(&mut partition, i / 2..i / 2 + 1);
        partition
    };
    let mut spec = spec("w2", (0..4).map(partition).collect());
    set_cores(&mut spec.machine, 64);
    spec.duration_ns = 10_000 * MS;
    spec
}

/// So many of W2's virtual processors; of four partitions three have users and one has loops.
pub fn w2_partition(i: u16, vps: u16) -> Partition {
    let workload = if i % 4 < 3 {
        Workload::Users {
            count: u32::from(vps),
            think_ns: SLEEP_NS,
            bursts: 1.0,
            wait_ns: 0,
            burst_work: Distribution::Exponential,
            think: Distribution::Exponential,
        }
    } else {
        Workload::Loops {
            count: u32::from(vps),
            endless: true,
            busy_ns: 0,
            rest_ns: 0,
        }
    };
    let mut partition = partition(format!("w2-{i}"), 0.4 * f64::from(vps), vps, workload);
    partition.smt = 1;
    partition.profile.instructions_per_unit = W2_BURST;
    partition
}

/// The study's frames: two partitions with a book each, and two that share one.
pub fn study_frames() -> Vec<Spec> {
    let lpar = |name: &str, node| {
        let mut lpar = partition(name.to_string(), 3.0, 30, transactions(1_400.0));
        set_home(&mut lpar, node..node + 1);
        lpar
    };
    vec![
        spec("frame1", vec![lpar("lpar1", 5), lpar("lpar2", 6)]),
        spec("frame2", vec![lpar("lpar3", 5), lpar("lpar4", 5)]),
    ]
}

/// Partitions on the Power 795, as the study has them.
pub fn spec(name: &str, partitions: Vec<Partition>) -> Spec {
    Spec {
        name: name.to_string(),
        seed: 1,
        warmup_ns: 500 * MS,
        duration_ns: 1_500 * MS,
        interval_ns: 500 * MS,
        record_dispatches: false,
        machine: power_795(),
        pools: vec![Pool {
            name: "DefaultPool".to_string(),
            maximum: None,
            reserved: 0.0,
            cores: None,
        }],
        groups: vec![],
        cgroups: vec![],
        resource_pools: vec![],
        partitions,
        changes: vec![],
    }
}

/// Transactions of the study that come at this rate.
pub fn transactions(rate_per_s: f64) -> Workload {
    Workload::Transactions {
        rate_per_s,
        bursts: 90.5,
        wait_ns: 5 * MS,
        burst_work: Distribution::Exponential,
    }
}

/// A partition under AIX with the profile `oltp`.
pub fn partition(name: String, entitlement: f64, vps: u16, workload: Workload) -> Partition {
    let mut partition = Partition {
        name,
        processors: Processors::Shared {
            entitlement,
            r#virtual: vps,
            capped: false,
            weight: 128,
            pool: 0,
            soft_cap: false,
            prsm: LogicalCores::default(),
            host: Box::default(),
        },
        smt: 2,
        memory: Vec::new(),
        memory_policy: MemoryPolicy::Proportional,
        data_bytes: MEMORY_BYTES,
        io_domain: None,
        page_bytes: 64 << 10,
        hypervisor_share: 0.0,
        workload_name: String::new(),
        interrupts: None,
        io_threads: None,
        beside: Vec::new(),
        home: Vec::new(),
        guest: aix(),
        workload,
        profile: oltp(),
    };
    set_home(&mut partition, 0..1);
    partition
}

/// Whether a partition gets no more than its entitlement.
pub fn set_capped(partition: &mut Partition, cap: bool) {
    if let Processors::Shared { capped, .. } = &mut partition.processors {
        *capped = cap;
    }
}

/// Home and memory on all chips of some books.
pub fn set_home(partition: &mut Partition, nodes: std::ops::Range<u16>) {
    partition.home = (nodes.start * CHIPS_PER_NODE..nodes.end * CHIPS_PER_NODE).collect();
    let bytes = MEMORY_BYTES / partition.home.len() as u64;
    let part = |&chip| MemoryPart {
        domains: vec![chip],
        bytes,
    };
    partition.memory = partition.home.iter().map(part).collect();
    partition.data_bytes = partition.memory.iter().map(|part| part.bytes).sum();
}

/// A machine of so many cores, in as many books as they need.
pub fn set_cores(machine: &mut Machine, cores: u16) {
    machine.nodes = cores.div_ceil(CORES_PER_NODE);
    machine.active_cores = cores;
}

fn aix() -> Guest {
    Guest::Aix(Aix {
        throughput_mode: 2,
        xvcpus: 0,
        fold_threshold_pct: 49.0,
        snooze_delay_ns: Some(0),
        tick_ns: 10 * MS,
        tick_cost_ns: 5_000,
        timeslice_ns: 10 * MS,
        rebalance_ns: Some(1_000 * MS),
        daemon_rate_per_s: 20.0,
        daemon_ns: 50_000,
        gangs: Vec::new(),
    })
}

/// The shipped profile `oltp`.
pub fn oltp() -> Profile {
    Profile {
        name: "oltp".to_string(),
        instructions_per_unit: TRANSACTION,
        system_share: 0.2,
        kernel_ns: 0.0,
        host_ns: 0.0,
        eicpi: 1.3,
        issue_share: 0.6,
        miss_m0: 0.05,
        miss_c0_bytes: 32_768.0,
        miss_exponent: 0.5,
        working_set_bytes: 0.0,
        working_set_touches: 0.0,
        buffers_bytes: 0.0,
        copied_bytes: 0.0,
        sharing: 0.3,
        footprint_bytes: 512 << 10,
        footprint_common: 0.75,
        roaming: 0.0,
        overlap: 0.25,
        dirty_share: 0.0,
        stream_bytes: 0.0,
        lock_share: 0.0,
        lock_hold_instructions: 1_000.0,
        lock_kind: LockKind::Ticket,
        lock_switch_instructions: 2_500.0,
        flush_instructions: 0.0,
        control_share: 0.0,
        branch_misses: 0.0,
        private_data: 0.0,
        io_data: 0.0,
        store_share: 0.0,
        store_run: 1.0,
    }
}

fn power_795() -> Machine {
    let cycles = |count: f64| count / CLOCK_HZ * 1e9;
    let cache = |name: &str, bytes, scope, latency_ns, victim| Cache {
        name: name.to_string(),
        bytes,
        scope,
        latency_ns,
        victim,
        bytes_per_s: None,
        line_ns: 0.0,
    };
    let distance = |local, near, far| ByDistance { local, near, far };
    Machine {
        turbo_hz: vec![],
        name: "ibm-power-795".to_string(),
        generation: "POWER7".to_string(),
        clock_hz: CLOCK_HZ,
        core_rate: 1.0,
        pipeline: None,
        nodes: NODES,
        nodes_per_socket: 1,
        chips_per_node: CHIPS_PER_NODE,
        cores_per_chip: CORES_PER_CHIP,
        threads_per_core: 4,
        active_cores: NODES * CORES_PER_NODE,
        line_bytes: 128,
        caches: vec![
            cache("L1", 32 << 10, CacheScope::Core, cycles(2.0), false),
            cache("L2", 256 << 10, CacheScope::Core, cycles(8.0), false),
            cache("L3", 4 << 20, CacheScope::Core, cycles(25.0), true),
            cache("L3 chip", 32 << 20, CacheScope::Chip, cycles(65.0), false),
        ],
        cache_to_cache_ns: distance(cycles(70.0), 110.0, 230.0),
        coherence: Coherence::Owner,
        memory_beside: MemoryBeside::Chip,
        memory_ns: distance(100.0, 150.0, 270.0),
        node_distance: Vec::new(),
        memory_bytes_per_s: 100e9,
        memory_load: MemoryLoad {
            channels: 8,
            bank_ns: 45.0,
            channel_wait: 0.3,
            write_cost: 1.3,
        },
        chip_link_bytes_per_s: 360e9,
        node_link_bytes_per_s: 160e9,
        chip_links: 3,
        node_links: 8,
        translation: None,
        walks: None,
        stores: None,
        throttle: None,
        streams: None,
        smt: Smt {
            gain: vec![1.0, 1.4, 1.52, 1.6],
            reference: oltp(),
            parts: 1,
        },
        accounting: Accounting::Calibrated,
        hypervisor: hypervisor(Policy::Phyp),
    }
}

/// PowerVM's constants.
pub fn hypervisor(policy: Policy) -> Hypervisor {
    Hypervisor {
        policy,
        window_ns: 10 * MS,
        min_entitlement_per_vp: 0.1,
        dispatch_ns: 2_000,
        cede_ns: 1_000,
        prod_ns: 1_020,
        confer_ns: 1_000,
        phantom_ns: 1_000,
        excess_quantum_ns: MS,
        counts_redispatch: true,
        eviction: Eviction::OtherPartition,
        prsm: PrSm::default(),
        siblings: 1,
        linux: Linux::default(),
        credit2: Credit2::default(),
        settings: std::collections::BTreeMap::new(),
    }
}

#[cfg(test)]
mod tests {
    use homenode_engine::sim;

    use super::*;

    fn summary(spec: &Spec) -> sim::Summary {
        sim::run(spec, 0, |_| true).expect("a sound spec")
    }

    fn total(summary: &sim::Summary, partition: usize, column: &str) -> f64 {
        let columns = sim::columns::partition();
        let index = columns.iter().position(|name| name == column);
        summary.partitions[partition].totals[index.expect("a column")] as f64
    }

    #[test]
    fn the_engine_takes_the_specs() {
        let specs = study_frames().into_iter();
        for spec in specs.chain([w2_load()]) {
            assert_eq!(sim::check(&spec), Ok(()), "{}", spec.name);
        }
    }

    /// W2's virtual processors are on a core for 2 ms a burst. Its utilisation is not asked for:
    /// here what one cedes its siblings may use, there it is lost.
    #[test]
    fn the_load_of_w2_is_that_of_w2() {
        let summary = summary(&w2_load());
        for partition in 0..3 {
            let total = |column| total(&summary, partition, column);
            let burst_ms = total("busy_ns") / total("tx_done") / MS as f64;
            assert!((burst_ms - 2.0).abs() < 0.3, "{burst_ms} ms");
        }
    }
}
