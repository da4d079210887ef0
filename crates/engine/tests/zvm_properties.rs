//! Conservation on random partitions of z/VM: whatever the machine, the virtual machines and their
//! work, the books balance, transactions are kept, and the same seed gives the same rows.

mod common;

use common::zvm::{
    cores_of, cp, endless, free_cp, paging, real_locks, real_paths, switch, tile, web,
    zvm_partition,
};
use common::{assert_all, missing_profile, run, spec, Outcome, MS};
use homenode_engine::spec::{CpShare, Distribution, Layer, Spec, Unparking, Workload};
use proptest::prelude::*;

#[derive(Clone, Copy, Debug)]
struct Dice {
    chips: u16,
    cores: u16,
    tiles: u16,
    clients: u16,
    servers: u16,
    loops: u16,
    cpus: u16,
    think_us: u64,
    smt: u8,
    vertical: bool,
    list: bool,
    paged: bool,
    limited: bool,
    unparking: u8,
    seed: u64,
}

fn dice() -> impl Strategy<Value = Dice> {
    let size = (1u16..=5, 1u16..=6, 1u16..=3, 1u16..=3, 1u16..=6);
    let more = (0u16..=3, 1u16..=3, 0u64..=2_000, 1u8..=2);
    let flags = (any::<[bool; 4]>(), 0u8..3, 0u64..1_000);
    (size, more, flags).prop_map(|(size, more, (flags, unparking, seed))| Dice {
        chips: size.0,
        cores: size.1,
        tiles: size.2,
        clients: size.3,
        servers: size.4,
        loops: more.0,
        cpus: more.1,
        think_us: more.2.saturating_sub(1_000),
        smt: more.3,
        vertical: flags[0],
        list: flags[1],
        paged: flags[2],
        limited: flags[3],
        unparking,
        seed,
    })
}

fn spec_of(dice: &Dice) -> Spec {
    let mut machines: Vec<_> = (0..dice.tiles)
        .flat_map(|at| tile(at, dice.clients, dice.servers))
        .collect();
    machines.extend(endless(dice.loops));
    for machine in &mut machines {
        machine.cpus = dice.cpus;
    }
    if dice.limited {
        machines[0].maximum = Some(CpShare::Absolute(0.2));
        machines[0].limit_hard = dice.seed % 2 == 0;
        machines[0].share = CpShare::Absolute(0.3);
    }
    let switches = (0..dice.tiles)
        .map(|at| switch(&format!("s{at}")))
        .collect();
    let mut zvm = free_cp(machines, switches);
    zvm.vertical = dice.vertical;
    zvm.paths = real_paths();
    zvm.locks = real_locks();
    zvm.park_interval_ns = 20 * MS;
    zvm.unparking =
        [Unparking::Large, Unparking::Medium, Unparking::Small][usize::from(dice.unparking)];
    if dice.list {
        zvm.switches[0].layer = Layer::Ip;
    }
    let cores = dice.chips * dice.cores;
    let mut one = zvm_partition(cores, zvm, web());
    one.smt = dice.smt;
    one.profile = missing_profile(100_000.0);
    if let Workload::Web { think_ns, work, .. } = &mut one.workload {
        *think_ns = dice.think_us * 1_000;
        *work = Distribution::Exponential;
    }
    if dice.paged {
        let guests: u64 = cp(&mut one).machines.iter().map(|m| m.memory_bytes).sum();
        cp(&mut one).paging = Some(paging(3));
        one.memory[0].bytes = guests / 2;
        one.data_bytes = guests / 2;
    }
    let mut spec = spec(cores_of(dice.chips, dice.cores), vec![one]);
    spec.machine.memory_bytes_per_s = 1e11;
    spec.seed = dice.seed;
    spec.warmup_ns = 20 * MS;
    spec.duration_ns = 100 * MS;
    spec.interval_ns = 20 * MS;
    spec
}

/// Guest, chargeable and system time are the busy time, machine by machine and together.
fn owners_are_the_busy_time(outcome: &Outcome) {
    let at = |column: &str| outcome.partition.at(column);
    for row in outcome.partition.rows() {
        let owners = row[at("guest_ns")] + row[at("chargeable_ns")] + row[at("system_ns")];
        assert_eq!(owners, row[at("busy_ns")]);
        assert!(row[at("prorated_ns")] == row[at("busy_ns")]);
        assert!(row[at("thread_ns")] >= row[at("busy_ns")] - 1);
        assert!(row[at("mt1_ns")] >= row[at("busy_ns")] - 1);
    }
    for column in ["guest_ns", "chargeable_ns"] {
        let of = outcome.virtual_machine.at(column);
        let machines: i64 = outcome.virtual_machine.rows().map(|row| row[of]).sum();
        let whole = outcome.total("zvm", column);
        let rows = outcome.virtual_machine.rows().count() as f64;
        assert!((machines as f64 - whole).abs() <= rows + 2.0, "{column}");
    }
}

/// Every connection has a transaction inside or thinks; response times are Little's.
fn transactions_are_kept(spec: &Spec, dice: &Dice, outcome: &Outcome) {
    let at = |column: &str| outcome.partition.at(column);
    let connections = i64::from(dice.tiles * dice.clients * dice.servers);
    let mut inside = None;
    for row in outcome.partition.rows() {
        let now = row[at("tx_inside")];
        assert!(now <= connections && (dice.think_us > 0 || now == connections));
        if let Some(before) = inside {
            assert_eq!(before + row[at("tx_arrived")] - row[at("tx_done")], now);
        }
        inside = Some(now);
    }
    if dice.think_us == 0 {
        let responses = outcome.total("zvm", "response_ns");
        let (whole, longest) = (
            connections as f64 * spec.duration_ns as f64,
            connections as f64 * outcome.of("zvm").response.max as f64,
        );
        assert!(responses <= whole + longest);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 96,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_interval_balances(dice in dice()) {
        let spec = spec_of(&dice);
        let outcome = run(&spec, 0);
        assert_all(&spec, &outcome);
        owners_are_the_busy_time(&outcome);
        transactions_are_kept(&spec, &dice, &outcome);
    }

    #[test]
    fn the_same_seed_gives_the_same_rows(dice in dice()) {
        let spec = spec_of(&dice);
        let (one, other) = (run(&spec, 3), run(&spec, 3));
        prop_assert_eq!(one.partition, other.partition);
        prop_assert_eq!(one.virtual_machine, other.virtual_machine);
        prop_assert_eq!(one.switch, other.switch);
        prop_assert_eq!(one.volume, other.volume);
        prop_assert_eq!(one.summary.events, other.summary.events);
    }
}
