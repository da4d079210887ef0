//! Partitions of z/VM for tests: plain numbers, and CP's operations free unless a test says
//! otherwise.

use homenode_engine::spec::{
    ByDistance, CpLocks, CpPaths, CpShare, Distribution, ExcessUse, Guest, GuestWork, Layer,
    Machine, Paging, Partition, Policy, Role, Spec, StorageServer, Switch, Unparking,
    VirtualMachine, Workload, Zvm,
};

use super::random::Dice;
use super::{dedicated, machine, partition, spec, GIB, MS, SECOND};

/// A dedicated machine with so many cores on each of `chips` chips, four chips to a node.
pub fn cores_of(chips: u16, cores: u16) -> Machine {
    let (nodes, chips) = (chips.div_ceil(4), chips.min(4));
    let mut machine = machine(&format!("node:{nodes} chip:{chips} core:{cores} pu:2"));
    machine.hypervisor.policy = Policy::Dedicated;
    machine.hypervisor.window_ns = 10 * MS;
    machine
}

/// Work of CP, all free.
pub fn free_paths() -> CpPaths {
    CpPaths {
        dispatch: 0.0,
        scan: 0.0,
        interruption: 0.0,
        frame: 0.0,
        searches: 0.0,
        element: 0.0,
        page_io: 0.0,
        page: 0.0,
        signal: 0.0,
        master: 0.0,
    }
}

/// Work of CP as on a real machine, by order of magnitude.
pub fn real_paths() -> CpPaths {
    CpPaths {
        dispatch: 1_500.0,
        scan: 60.0,
        interruption: 2_000.0,
        frame: 3_000.0,
        searches: 2.0,
        element: 10.0,
        page_io: 4_000.0,
        page: 500.0,
        signal: 100.0,
        master: 0.0,
    }
}

/// Locks that nobody takes.
pub fn no_locks() -> CpLocks {
    CpLocks {
        dispatch: 0.0,
        frame: 0.0,
        page: 0.0,
        ready: 0.0,
        asked: 0.0,
        hold: 0.0,
        lines: 0.0,
        search: 0.0,
        look: 5.0,
        delay: 600.0,
    }
}

/// Locks taken once for everything.
pub fn real_locks() -> CpLocks {
    CpLocks {
        dispatch: 1.0,
        frame: 1.0,
        page: 1.0,
        ready: 1.0,
        asked: 1.0,
        hold: 100.0,
        lines: 3.0,
        search: 1.0,
        look: 4.0,
        delay: 500.0,
    }
}

/// A switch of layer 2 with frames of 8 KiB.
pub fn switch(name: &str) -> Switch {
    Switch {
        name: name.into(),
        layer: Layer::Ethernet,
        frame_bytes: 8192,
    }
}

/// A virtual machine with one virtual processor and the usual share.
pub fn virtual_machine(name: &str, role: Role, switch: Option<u16>) -> VirtualMachine {
    VirtualMachine {
        name: name.into(),
        cpus: 1,
        memory_bytes: GIB / 64,
        role,
        share: CpShare::Relative(100),
        maximum: None,
        limit_hard: false,
        cpu_pool: None,
        switch,
        work: None,
    }
}

/// Clients and servers of one switch.
pub fn tile(switch: u16, clients: u16, servers: u16) -> Vec<VirtualMachine> {
    let client = |n| virtual_machine(&format!("client{switch}.{n}"), Role::Client, Some(switch));
    let server = |n| virtual_machine(&format!("server{switch}.{n}"), Role::Server, Some(switch));
    let clients = (0..clients).map(client);
    clients.chain((0..servers).map(server)).collect()
}

/// Loops without end.
pub fn endless(count: u16) -> Vec<VirtualMachine> {
    (0..count)
        .map(|n| virtual_machine(&format!("loop{n}"), Role::Loop, None))
        .collect()
}

/// z/VM in vertical polarization whose own operations are free.
pub fn free_cp(machines: Vec<VirtualMachine>, switches: Vec<Switch>) -> Zvm {
    Zvm {
        vertical: true,
        unparking: Unparking::Large,
        cpupad: 1.0,
        excessuse: ExcessUse::Medium,
        park_interval_ns: 2 * SECOND,
        minor_slice_ns: 5 * MS,
        daemon_rate_per_s: 0.0,
        daemon_ns: 0,
        steal_barrier: ByDistance {
            local: 1.0,
            near: 1.0,
            far: 2.0,
        },
        paths: free_paths(),
        locks: no_locks(),
        machines,
        cpu_pools: vec![],
        switches,
        paging: None,
    }
}

/// Requests of 300 bytes for files of 8 KiB, half of the work at either end, no think time.
pub fn web() -> Workload {
    Workload::Web {
        request_bytes: 300,
        file_bytes: 8192,
        files: 2,
        client_share: 0.5,
        think_ns: 0,
        work: Distribution::Constant,
    }
}

/// A partition of z/VM with the first cores of a machine for itself, 100,000 guest instructions a
/// transaction.
pub fn zvm_partition(cores: u16, zvm: Zvm, workload: Workload) -> Partition {
    let mut one = partition("zvm", dedicated(0..cores, false), workload);
    one.profile.instructions_per_unit = 100_000.0;
    one.memory[0].bytes = 64 * GIB;
    one.guest = Guest::Zvm(Box::new(zvm));
    one
}

/// A second of it on a machine with one chip of so many cores, after 100 ms.
pub fn alone(cores: u16, zvm: Zvm, workload: Workload) -> Spec {
    let mut spec = spec(
        cores_of(1, cores),
        vec![zvm_partition(cores, zvm, workload)],
    );
    spec.warmup_ns = 100 * MS;
    spec.interval_ns = 100 * MS;
    spec
}

/// The guest of a partition.
pub fn cp(partition: &mut Partition) -> &mut Zvm {
    match &mut partition.guest {
        Guest::Zvm(zvm) => zvm,
        other => panic!("{other:?} is not z/VM"),
    }
}

/// Paging volumes; a third of the guests' memory is out if central memory is two thirds of it.
pub fn paging(volumes: u16) -> Paging {
    Paging {
        volumes,
        control_units: 1,
        aliases: 0,
        transport: true,
        paths: 0,
        exchange_ns: 0,
        link_page_ns: 0,
        bytes: 1024 * GIB,
        block_pages: 8,
        changed: 0.25,
        guest_frames: 1.0,
        pend_ns: 100_000,
        connect_ns: 100_000,
        command_page_ns: 0,
        page_ns: 10_000,
        storage: StorageServer {
            cache_bytes: GIB,
            stage_pages: 8.0,
            disks: 8,
            disk_ns: MS,
        },
    }
}

/// A virtual machine to which so many transactions come a second, each of as many instructions.
pub fn served(name: &str, cpus: u16, rate_per_s: f64, instructions: f64) -> VirtualMachine {
    VirtualMachine {
        cpus,
        work: Some(GuestWork {
            rate_per_s,
            users: 0,
            think_ns: 0,
            instructions,
            work: Distribution::Constant,
            bursts: 1.0,
            wait_ns: 0,
            answer_bytes: 0,
            played: None,
        }),
        ..virtual_machine(name, Role::Work, None)
    }
}

/// Competitors for the processors of so many chips, for ten seconds: either polarization, any
/// parking, and minor time slices of so long.
pub fn contested(dice: &mut Dice, (chips, cores): (u16, u16), mut zvm: Zvm, slice_ns: u64) -> Spec {
    (zvm.vertical, zvm.minor_slice_ns) = (dice.chance(2), slice_ns);
    zvm.unparking = dice.pick(&[Unparking::Large, Unparking::Medium, Unparking::Small]);
    zvm.park_interval_ns = 200 * MS;
    let one = zvm_partition(chips * cores, zvm, Workload::Idle);
    let mut spec = spec(cores_of(chips, cores), vec![one]);
    spec.seed = u64::from(dice.next());
    (spec.warmup_ns, spec.duration_ns) = (2 * SECOND, 10 * SECOND);
    spec.interval_ns = SECOND;
    spec
}
