//! Ten layouts of one or two virtual partitions on a server of two cells, those of the study
//! hp-vpars: where the cores are, where the memory is, and how much of it is cell-local. The
//! machine is a round one of that kind; the study has the numbers of the real one.

use homenode_engine::spec::{
    Accounting, ByDistance, Cache, CacheScope, Coherence, Guest, Machine, MemoryBeside, MemoryPart,
    MemoryPolicy, Partition, Policy, Processors, Profile, Smt, Spec, Unix, Workload,
};

use crate::scenarios::{hypervisor, oltp, spec};

const GIB: u64 = 1 << 30;
const MS: u64 = 1_000_000;
const CORES_PER_CHIP: u16 = 2;
const CHIPS_PER_CELL: u16 = 4;

/// Where a virtual partition is: cores on each cell, and its memory.
type Layout = ([u16; 2], Vec<MemoryPart>);

/// The ten configurations.
pub fn configurations() -> Vec<Spec> {
    let alone = || ([8, 0], vec![part(&[0], 32)]);
    let split = || ([4, 4], vec![part(&[0, 1], 32)]);
    let local = |cell: u16| ([8 * (1 - cell), 8 * cell], local_memory(cell));
    let remote = |cell: u16| ([8 * (1 - cell), 8 * cell], local_memory(1 - cell));
    let layouts: [(&str, f64, Vec<Layout>); 10] = [
        ("1A", 0.0, vec![alone()]),
        ("1B", 0.01, vec![alone()]),
        ("2A", 0.01, vec![split()]),
        ("2B", 0.01, vec![([8, 0], vec![part(&[0, 1], 32)])]),
        ("3A", 0.01, vec![([4, 4], local_memory(0))]),
        ("3B", 0.01, vec![local(0)]),
        ("3C", 0.01, vec![remote(0)]),
        ("4A", 0.01, vec![local(0), local(1)]),
        ("4B", 0.01, vec![remote(0), remote(1)]),
        ("4C", 0.01, vec![split(), split()]),
    ];
    let specs = layouts.into_iter();
    specs
        .map(|(name, share, layouts)| configuration(name, share, layouts))
        .collect()
}

/// Every core of every partition busy.
pub fn busy(spec: &Spec) -> Vec<Vec<f64>> {
    let chips = usize::from(spec.machine.nodes * spec.machine.chips_per_node);
    let row = |partition: &Partition| {
        let mut row = vec![0.0; chips];
        if let Processors::Dedicated { cores, .. } = &partition.processors {
            let chips = cores.iter().map(|core| core / CORES_PER_CHIP);
            chips.for_each(|chip| row[usize::from(chip)] += 1.0);
        }
        row
    };
    spec.partitions.iter().map(row).collect()
}

fn configuration(name: &str, hypervisor_share: f64, layouts: Vec<Layout>) -> Spec {
    let mut free = [0, CHIPS_PER_CELL * CORES_PER_CHIP];
    let mut partitions = Vec::new();
    for (index, (cores, memory)) in layouts.into_iter().enumerate() {
        let mut own = Vec::new();
        for (cell, count) in cores.into_iter().enumerate() {
            own.extend(free[cell]..free[cell] + count);
            free[cell] += count;
        }
        partitions.push(partition(index, own, memory, hypervisor_share));
    }
    let mut spec = spec(name, partitions);
    spec.machine = two_cells(spec.machine);
    spec
}

fn partition(
    index: usize,
    cores: Vec<u16>,
    memory: Vec<MemoryPart>,
    hypervisor_share: f64,
) -> Partition {
    Partition {
        name: format!("vpar{index}"),
        home: cores.iter().map(|core| core / CORES_PER_CHIP).collect(),
        workload: Workload::Warehouses {
            count: cores.len() as u32,
        },
        processors: Processors::Dedicated {
            cores,
            donating: false,
            donate_threshold_pct: 0.0,
        },
        smt: 1,
        data_bytes: memory.iter().map(|part| part.bytes).sum(),
        memory,
        memory_policy: MemoryPolicy::LocalFirst,
        io_domain: Some(index as u16),
        page_bytes: GIB,
        hypervisor_share,
        workload_name: String::new(),
        interrupts: None,
        io_threads: None,
        beside: Vec::new(),
        guest: Guest::Hpux(Unix {
            tick_ns: 10 * MS,
            tick_cost_ns: 5_000,
            timeslice_ns: 100 * MS,
            rebalance_ns: Some(1_000 * MS),
            daemon_rate_per_s: 0.0,
            daemon_ns: 0,
            gangs: Vec::new(),
            packing: false,
        }),
        profile: Profile {
            sharing: 0.0,
            ..oltp()
        },
    }
}

fn part(domains: &[u16], gib: u64) -> MemoryPart {
    MemoryPart {
        domains: domains.to_vec(),
        bytes: gib * GIB,
    }
}

/// Three quarters on a cell, the rest interleaved.
fn local_memory(cell: u16) -> Vec<MemoryPart> {
    vec![part(&[cell], 24), part(&[0, 1], 8)]
}

fn two_cells(other: Machine) -> Machine {
    let cache = |name: &str, bytes, latency_ns| Cache {
        name: name.to_string(),
        bytes,
        scope: CacheScope::Core,
        latency_ns,
        victim: false,
        bytes_per_s: None,
        line_ns: 0.0,
    };
    let distance = |local, near, far| ByDistance { local, near, far };
    Machine {
        name: "two-cells".to_string(),
        generation: "IA-64".to_string(),
        clock_hz: 1.6e9,
        nodes: 2,
        chips_per_node: CHIPS_PER_CELL,
        cores_per_chip: CORES_PER_CHIP,
        threads_per_core: 1,
        active_cores: 16,
        caches: vec![
            cache("L1", 16 << 10, 1.0),
            cache("L2", 256 << 10, 4.0),
            cache("L3", 9 << 20, 9.0),
        ],
        coherence: Coherence::Home,
        memory_beside: MemoryBeside::Node,
        cache_to_cache_ns: distance(150.0, 200.0, 320.0),
        memory_ns: distance(185.0, 185.0, 313.0),
        memory_bytes_per_s: 16e9,
        chip_link_bytes_per_s: 8e9,
        node_link_bytes_per_s: 16e9,
        chip_links: 1,
        node_links: 3,
        smt: Smt {
            gain: vec![1.0],
            reference: oltp(),
            parts: 1,
        },
        accounting: Accounting::Elapsed,
        hypervisor: hypervisor(Policy::Dedicated),
        ..other
    }
}

#[cfg(test)]
mod tests {
    use homenode_engine::steady::price;

    use super::*;

    /// Throughput in proportion to that of the first configuration, all partitions together.
    fn throughput() -> Vec<(String, f64)> {
        let instructions = |spec: &Spec| {
            let prices = price(spec, &busy(spec)).expect("a sound spec");
            let costs = prices.iter().map(|it| it.cost.expect("busy cores"));
            let rate: f64 = costs.map(|cost| 1.0 / cost.ns).sum();
            rate / spec.partitions.len() as f64
        };
        let specs = configurations();
        let rates: Vec<f64> = specs.iter().map(instructions).collect();
        let names = specs.into_iter().map(|spec| spec.name);
        names
            .zip(rates.iter().map(|rate| rate / rates[0]))
            .collect()
    }

    #[test]
    fn locality_ranks_the_configurations() {
        let rates = throughput();
        let of = |name: &str| rates.iter().find(|(it, _)| it == name).expect("a name").1;
        assert!((of("1B") - 0.99).abs() < 1e-3, "{rates:?}");
        // What is read from both cells uses the links in one direction or in both.
        assert!((of("2A") - of("2B")).abs() < 5e-3, "{rates:?}");
        assert!(
            of("1B") >= of("3B") && of("3B") > of("3A") && of("3A") > of("3C"),
            "{rates:?}"
        );
        assert!(of("4A") > of("4C") && of("4C") > of("4B"), "{rates:?}");
        assert!(of("4B") < of("3C") && of("4C") < of("2A"), "{rates:?}");
    }
}
