//! A partition of z/VM with dedicated cores: web servers and their clients in tiles, every part of
//! the Control Program switched on. The paths and locks are those of the shipped file
//! `control_programs/zvm.toml`, which says where they come from; the machine is the frame of the
//! other cases, since a bench compares speeds and not machines.

use homenode_engine::spec::{
    ByDistance, CpLocks, CpPaths, CpShare, Distribution, ExcessUse, Guest, Layer, Partition,
    Policy, Processors, Role, Spec, Switch, Unparking, VirtualMachine, Workload, Zvm,
};

use crate::scenarios;

const MS: u64 = 1_000_000;
const CORES: u16 = 76;
const TILES: u16 = 4;
const CLIENTS: u16 = 9;
const SERVERS: u16 = 36;

/// Four tiles of nine clients and thirty-six servers on 76 processors.
pub fn tiles() -> Spec {
    tiles_of(CORES, TILES, CLIENTS, SERVERS)
}

/// So many tiles of so many clients and servers, on so many processors.
pub fn tiles_of(cores: u16, tiles: u16, clients: u16, servers: u16) -> Spec {
    let machines = (0..tiles).flat_map(|at| tile(at, clients, servers));
    let switches = (0..tiles).map(|at| switch(format!("tile{at}")));
    spec(cores, machines.collect(), switches.collect())
}

/// A partition that has nothing but these virtual machines.
pub fn spec(cores: u16, machines: Vec<VirtualMachine>, switches: Vec<Switch>) -> Spec {
    let guest = control_program(machines, switches);
    let mut spec = scenarios::spec("zvm", vec![partition(cores, guest)]);
    spec.machine.hypervisor.policy = Policy::Dedicated;
    spec.warmup_ns = 100 * MS;
    spec.duration_ns = 900 * MS;
    spec.interval_ns = 100 * MS;
    spec
}

fn partition(cores: u16, guest: Zvm) -> Partition {
    let workload = Workload::Web {
        request_bytes: 300,
        file_bytes: 8192,
        files: 2,
        client_share: 0.5,
        think_ns: 0,
        work: Distribution::Exponential,
    };
    let mut partition = scenarios::partition("zvm".into(), 1.0, cores, workload);
    partition.processors = Processors::Dedicated {
        cores: (0..cores).collect(),
        donating: false,
        donate_threshold_pct: 80.0,
    };
    partition.smt = 1;
    partition.profile.instructions_per_unit = 8e5;
    partition.guest = Guest::Zvm(Box::new(guest));
    partition
}

fn control_program(machines: Vec<VirtualMachine>, switches: Vec<Switch>) -> Zvm {
    Zvm {
        vertical: true,
        unparking: Unparking::Large,
        cpupad: 1.0,
        excessuse: ExcessUse::Medium,
        park_interval_ns: 2_000 * MS,
        minor_slice_ns: 5 * MS,
        daemon_rate_per_s: 0.0,
        daemon_ns: 0,
        steal_barrier: ByDistance {
            local: 1.0,
            near: 1.0,
            far: 2.0,
        },
        paths: CpPaths {
            dispatch: 1_500.0,
            scan: 100.0,
            interruption: 3_000.0,
            frame: 3_000.0,
            searches: 2.0,
            element: 6.0,
            page_io: 15_000.0,
            page: 1_500.0,
            signal: 3_000.0,
            master: 0.0,
        },
        locks: CpLocks {
            dispatch: 1.0,
            frame: 0.25,
            page: 1.0,
            ready: 1.0,
            asked: 2.0,
            search: 0.0,
            hold: 100.0,
            lines: 2.0,
            look: 5.0,
            delay: 600.0,
        },
        machines,
        cpu_pools: vec![],
        switches,
        paging: None,
    }
}

/// A switch that hands packets on.
pub fn switch(name: String) -> Switch {
    Switch {
        name,
        layer: Layer::Ip,
        frame_bytes: 1492,
    }
}

/// A virtual machine of one processor.
pub fn machine(role: Role, name: String, switch: Option<u16>) -> VirtualMachine {
    VirtualMachine {
        name,
        cpus: 1,
        memory_bytes: 64 << 20,
        role,
        share: CpShare::Relative(100),
        maximum: None,
        limit_hard: false,
        cpu_pool: None,
        switch,
        work: None,
    }
}

fn tile(tile: u16, clients: u16, servers: u16) -> impl Iterator<Item = VirtualMachine> {
    let clients = (0..clients).map(move |n| (Role::Client, format!("client{tile}.{n}")));
    let servers = (0..servers).map(move |n| (Role::Server, format!("server{tile}.{n}")));
    let all = clients.chain(servers);
    all.map(move |(role, name)| machine(role, name, Some(tile)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use homenode_engine::sim;

    #[test]
    fn the_tiles_keep_their_processors_busy() {
        let spec = tiles();
        let summary = sim::run(&spec, 0, |_| true).unwrap();
        let names = sim::columns::partition();
        let of = |name: &str| {
            let at = names.iter().position(|n| n == name).unwrap();
            summary.partitions[0].totals[at] as f64
        };
        let busy = of("busy_ns") / (f64::from(CORES) * spec.duration_ns as f64);
        assert!(busy > 0.9, "{busy}");
        assert!(of("tx_done") > 50_000.0);
    }
}
