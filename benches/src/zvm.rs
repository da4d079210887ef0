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
    let workload = Workload::Web {
        request_bytes: 300,
        file_bytes: 8192,
        files: 2,
        client_share: 0.5,
        think_ns: 0,
        work: Distribution::Exponential,
    };
    let mut spec = scenarios::spec("zvm", vec![partition(workload)]);
    spec.machine.hypervisor.policy = Policy::Dedicated;
    spec.warmup_ns = 100 * MS;
    spec.duration_ns = 900 * MS;
    spec.interval_ns = 100 * MS;
    spec
}

fn partition(workload: Workload) -> Partition {
    let mut partition = scenarios::partition("zvm".into(), 1.0, CORES, workload);
    partition.processors = Processors::Dedicated {
        cores: (0..CORES).collect(),
        donating: false,
        donate_threshold_pct: 80.0,
    };
    partition.smt = 1;
    partition.profile.instructions_per_unit = 8e5;
    partition.guest = Guest::Zvm(Box::new(control_program()));
    partition
}

fn control_program() -> Zvm {
    Zvm {
        vertical: true,
        unparking: Unparking::Large,
        cpupad: 1.0,
        excessuse: ExcessUse::Medium,
        park_interval_ns: 2_000 * MS,
        minor_slice_ns: 5 * MS,
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
            page_io: 2.0,
            search: 0.0,
            hold: 100.0,
            lines: 2.0,
            spin_cpi: 1.5,
        },
        machines: (0..TILES).flat_map(tile).collect(),
        switches: (0..TILES).map(switch).collect(),
        paging: None,
    }
}

fn switch(tile: u16) -> Switch {
    Switch {
        name: format!("tile{tile}"),
        layer: Layer::Ip,
        frame_bytes: 1492,
    }
}

fn tile(tile: u16) -> Vec<VirtualMachine> {
    let machine = |role, name: &str, n| VirtualMachine {
        name: format!("{name}{tile}.{n}"),
        cpus: 1,
        memory_bytes: 64 << 20,
        role,
        share: CpShare::Relative(100),
        maximum: None,
        limit_hard: false,
        switch: Some(tile),
    };
    let clients = (0..CLIENTS).map(|n| machine(Role::Client, "client", n));
    let servers = (0..SERVERS).map(|n| machine(Role::Server, "server", n));
    clients.chain(servers).collect()
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
