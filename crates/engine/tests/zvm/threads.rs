//! z/VM on cores of two threads: a core that rests comes before the second thread of one that
//! works, so threads cost nothing while cores idle.

use crate::common::zvm::{alone, cp, endless, free_cp, real_locks, real_paths, served};
use crate::common::{run, MS, SECOND};
use homenode_engine::kernel::Stream;
use homenode_engine::spec::{Spec, VirtualMachine, Workload};
use homenode_engine::steady::solve;

/// Users of a machine, who think for so long, then want so many instructions of a nanosecond each.
fn users(name: &str, cpus: u16, users: u32, think_ms: u64, instructions: f64) -> VirtualMachine {
    let mut one = served(name, cpus, 0.0, instructions);
    let work = one.work.as_mut().expect("it has work");
    (work.users, work.think_ns) = (users, think_ms * MS);
    one
}

/// Virtual machines on so many cores; the second thread of a core gets two fifths more out of it.
fn on(cores: u16, smt: u8, vertical: bool, machines: &[VirtualMachine]) -> Spec {
    let mut spec = alone(
        cores,
        free_cp(machines.to_vec(), Vec::new()),
        Workload::Idle,
    );
    let zvm = cp(&mut spec.partitions[0]);
    (zvm.vertical, zvm.paths, zvm.locks) = (vertical, real_paths(), real_locks());
    spec.machine.smt.gain = vec![1.0, 1.4];
    spec.machine.smt.reference = spec.partitions[0].profile.clone();
    spec.partitions[0].smt = smt;
    spec.duration_ns = 2 * SECOND;
    spec
}

/// Transactions a second, and cores in use.
fn done(spec: &Spec) -> [f64; 2] {
    let outcome = run(spec, 0);
    let seconds = spec.duration_ns as f64 * 1e-9;
    let cores = outcome.total("zvm", "busy_ns") / spec.duration_ns as f64;
    [outcome.total("zvm", "tx_done") / seconds, cores]
}

/// Machines with so many virtual processors in all, at most.
fn some(chance: &mut Stream, most: u64) -> Vec<VirtualMachine> {
    let (mut left, mut all) = (most, Vec::new());
    while left > 0 {
        let cpus = 1 + chance.below(left.min(3));
        let (count, think) = (4 + chance.below(30) as u32, 1 + chance.below(8));
        let work = 2e5 + 1e6 * chance.uniform();
        all.push(users(&format!("u{left}"), cpus as u16, count, think, work));
        left -= cpus;
    }
    all
}

#[test]
fn with_a_core_for_each_threads_change_nothing() {
    let mut chance = Stream::new(7, 0, "threads");
    for case in 0..6 {
        let machines = some(&mut chance, 4);
        let of = |smt| done(&on(4 + case % 3, smt, case % 2 == 0, &machines));
        let ([off, cores], [smt, threaded]) = (of(1), of(2));
        assert!((smt / off - 1.0).abs() < 0.02, "{case}: {smt} {off}");
        assert!(
            (threaded / cores - 1.0).abs() < 0.03,
            "{case}: {threaded} {cores}"
        );
    }
}

#[test]
fn while_cores_idle_threads_cost_little() {
    let mut chance = Stream::new(8, 0, "threads");
    for case in 0..6 {
        // More virtual processors than cores, of which some idle all the same.
        let machines = some(&mut chance, 8);
        let of = |smt| done(&on(6, smt, case % 2 == 0, &machines));
        let ([off, cores], [smt, _]) = (of(1), of(2));
        assert!(smt > 0.95 * off, "{case}: {smt} {off} {cores}");
    }
}

/// Whoever works beside a machine takes cores from it, and never gives it any.
#[test]
fn a_neighbour_never_helps() {
    for vertical in [true, false] {
        let mut before = f64::INFINITY;
        for loops in [0, 1, 2, 4, 8] {
            let mut machines = vec![users("u", 2, 40, 5, 1e6)];
            machines.extend(endless(loops));
            let [now, _] = done(&on(4, 2, vertical, &machines));
            assert!(now < 1.02 * before, "{vertical} {loops}: {now} {before}");
            before = now;
        }
    }
}

/// Two loops have a core each, also if they had to share one for a while.
#[test]
fn who_shares_a_core_moves_to_one_that_rests() {
    for vertical in [true, false] {
        for loops in 1..=4 {
            let [_, cores] = done(&on(4, 2, vertical, &endless(loops)));
            assert!(
                (cores - f64::from(loops)).abs() < 0.01,
                "{vertical} {loops}: {cores}"
            );
        }
        // Six users of long work, who are rarely more than the cores.
        let long = [users("long", 6, 6, 400, 2e8)];
        let of = |smt| done(&on(4, smt, vertical, &long))[0];
        assert!(of(2) > 0.95 * of(1), "{} {}", of(2), of(1));
    }
}

/// Near what cores can do it is told up to 6 % too much: who comes back to a second thread is
/// beside the same other one as before, while solved all with work are as slow as each other.
#[test]
fn it_is_solved_as_it_runs() {
    let mut chance = Stream::new(9, 0, "threads");
    for case in 0..12 {
        let machines = some(&mut chance, [4, 6, 8, 16][case % 4]);
        let spec = on(4, 2, case % 2 == 0, &machines);
        let [done, cores] = done(&spec);
        let solved = solve(&spec).expect("it can be solved");
        let one = &solved.partitions[0];
        let rate = one.throughput;
        assert!((rate / done - 1.0).abs() < 0.06, "{case}: {rate} {done}");
        assert!(
            (one.cores / cores - 1.0).abs() < 0.05,
            "{case}: {} {cores}",
            one.cores
        );
    }
}
