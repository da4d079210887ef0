//! CPU pools of z/VM: members have so many cores together, divided by their shares, whatever else
//! runs; random ones against exact water-filling.

use super::shares::{
    assert_promise, competitors, config, limits, loops, used, Contest, DICE, SLICE, SMALL,
};
use crate::common::random::Dice;
use crate::common::zvm::{contested, cores_of, cp, endless, free_cp, served, zvm_partition};
use crate::common::{run, spec, Outcome, SECOND};
use homenode_engine::guest::zvm::share::weights;
use homenode_engine::spec::{CpuPool, Spec, VirtualMachine, Workload, Zvm};
use proptest::prelude::*;

/// Pools of so many cores each.
fn pools(cores: &[f64]) -> Vec<CpuPool> {
    let of = |(at, cores): (usize, &f64)| CpuPool {
        name: format!("pool{at}"),
        cores: *cores,
    };
    cores.iter().enumerate().map(of).collect()
}

/// Water-filling where some fill up together: each rises with its weight until it has all that it
/// wants, or its pool is full, or all is handed out. Found by halving.
fn fill(capacity: f64, zvm: &Zvm, most: &[f64]) -> Vec<f64> {
    let shares: Vec<_> = zvm.machines.iter().map(|one| one.share).collect();
    let weights = weights(&shares);
    let at = |level: f64, those: &[usize]| -> f64 {
        those
            .iter()
            .map(|i| most[*i].min(level * weights[*i]))
            .sum()
    };
    let level = |room: f64, those: &[usize]| {
        let (mut low, mut high) = (0.0, 1e9);
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if at(middle, those) <= room {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    };
    let members = |pool: Option<u16>| -> Vec<usize> {
        let all = zvm.machines.iter().enumerate();
        all.filter(|(_, one)| one.cpu_pool == pool)
            .map(|(at, _)| at)
            .collect()
    };
    let mut groups: Vec<(Vec<usize>, f64)> = vec![(members(None), f64::INFINITY)];
    for (at, pool) in zvm.cpu_pools.iter().enumerate() {
        let those = members(Some(at as u16));
        let own = level(pool.cores, &those);
        groups.push((those, own));
    }
    let all = |level: f64| -> f64 { groups.iter().map(|(of, own)| at(level.min(*own), of)).sum() };
    let (mut low, mut high) = (0.0, 1e9);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if all(middle) <= capacity {
            low = middle;
        } else {
            high = middle;
        }
    }
    let mut got = vec![0.0; most.len()];
    for (those, own) in &groups {
        for i in those {
            got[*i] = most[*i].min(low.min(*own) * weights[*i]);
        }
    }
    got
}

/// Most that each machine can use, whoever else wants what.
fn most(all: &[VirtualMachine], processors: u16) -> Vec<f64> {
    let of = |(one, limit): (&VirtualMachine, f64)| {
        let wants = one.work.as_ref().map(|work| work.rate_per_s * SMALL / 1e9);
        let wants = wants.unwrap_or(f64::INFINITY).min(f64::from(one.cpus));
        wants.min(limit * f64::from(processors))
    };
    all.iter().zip(limits(all)).map(of).collect()
}

/// The first machine computes on all processors and is in no pool; others are, or have limits of
/// their own, or both.
fn contest(dice: &[u16]) -> Contest {
    let mut dice = Dice::new(dice);
    let (chips, mut all) = competitors(&mut dice, 6);
    let processors = chips.0 * chips.1;
    let count = dice.between(1, 4);
    let sizes: Vec<f64> = (0..count)
        .map(|_| f64::from(processors) * dice.real(0.05, 0.6))
        .collect();
    for one in &mut all[1..] {
        one.cpu_pool = Some(dice.between(0, count + 1)).filter(|pool| *pool < count);
        one.limit_hard = one.maximum.is_some();
    }
    let mut zvm = free_cp(all, vec![]);
    zvm.cpu_pools = pools(&sizes);
    let most = most(&zvm.machines, processors);
    let wanted = fill(f64::from(processors), &zvm, &most);
    let spec = contested(&mut dice, chips, zvm, SLICE);
    Contest { spec, wanted }
}

/// What the members of each pool used together [cores].
fn of_pools(spec: &mut Spec, outcome: &Outcome) -> Vec<f64> {
    let zvm = cp(&mut spec.partitions[0]).clone();
    let got = used(spec, outcome, zvm.machines.len());
    let of = |at: usize| {
        let all = zvm.machines.iter().zip(&got);
        all.filter(|(one, _)| one.cpu_pool.map(usize::from) == Some(at))
            .map(|(_, got)| got)
            .sum()
    };
    (0..zvm.cpu_pools.len()).map(of).collect()
}

/// No pool has more than its cores: beyond what it saved in ten slices, and a slice of each of its
/// processors.
fn assert_capped(spec: &mut Spec, outcome: &Outcome) {
    let got = of_pools(spec, outcome);
    let (slice, seconds) = (SLICE as f64 / 1e9, spec.duration_ns as f64 / 1e9);
    for (pool, got) in cp(&mut spec.partitions[0]).cpu_pools.iter().zip(got) {
        let beyond = (10.0 * pool.cores.max(0.05) + 64.0) * slice / seconds;
        assert!(got <= pool.cores + beyond, "{pool:?} {got}");
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_pool_divides_its_cores_by_shares(dice in prop::collection::vec(any::<u16>(), DICE)) {
        let mut contest = contest(&dice);
        let outcome = assert_promise(&mut contest);
        assert_capped(&mut contest.spec, &outcome);
    }
}

/// Loops with so many processors and such shares in one pool, and nobody else.
fn pooled(machines: &[(u16, u16)], cores: f64, (chips, smt): (u16, u8)) -> Contest {
    let mut one = loops(chips, 8 / u16::from(smt), machines, true);
    one.spec.partitions[0].smt = smt;
    let zvm = cp(&mut one.spec.partitions[0]);
    zvm.cpu_pools = pools(&[cores]);
    zvm.machines.iter_mut().for_each(|of| of.cpu_pool = Some(0));
    let most = most(&zvm.machines, 8 * chips);
    one.wanted = fill(f64::from(8 * chips), zvm, &most);
    one
}

#[test]
fn members_divide_by_shares_while_processors_idle() {
    for cores in [0.05, 0.5, 1.0, 2.7, 5.5] {
        let mut one = pooled(&[(4, 100), (4, 300), (1, 100)], cores, (2, 1));
        let outcome = assert_promise(&mut one);
        assert_capped(&mut one.spec, &outcome);
    }
}

/// Two threads of a core divide its time, and the pool counts cores.
#[test]
fn a_pool_counts_cores_whatever_their_threads() {
    for cores in [0.5, 1.7, 3.0] {
        let mut one = pooled(&[(8, 100), (4, 200)], cores, (1, 2));
        let outcome = run(&one.spec, 0);
        let got = of_pools(&mut one.spec, &outcome)[0];
        assert!((got / cores - 1.0).abs() < 0.02, "{got} of {cores}");
    }
}

/// Some that work by turns, in a pool of so many cores.
fn by_turns(cores: Option<f64>) -> Spec {
    let mut all = endless(1);
    all[0].cpus = 3;
    for at in 0..3 {
        all.push(served(&format!("asks{at}"), 2, 2_000.0, 150_000.0));
    }
    if let Some(cores) = cores {
        let zvm = free_cp(all, vec![]);
        let mut spec = with(zvm);
        let zvm = cp(&mut spec.partitions[0]);
        zvm.cpu_pools = pools(&[cores]);
        zvm.machines
            .iter_mut()
            .skip(1)
            .for_each(|of| of.cpu_pool = Some(0));
        return spec;
    }
    with(free_cp(all, vec![]))
}

fn with(zvm: Zvm) -> Spec {
    let mut spec = spec(cores_of(2, 4), vec![zvm_partition(8, zvm, Workload::Idle)]);
    (spec.warmup_ns, spec.duration_ns) = (SECOND, 4 * SECOND);
    spec
}

/// They want .9 of a core: a pool that leaves that, and what more comes by chance, changes nothing.
#[test]
fn a_pool_that_is_never_short_changes_nothing() {
    let alone = run(&by_turns(None), 0);
    for cores in [4.0, 6.0, 8.0] {
        let beside = run(&by_turns(Some(cores)), 0);
        assert_eq!(
            format!("{:?}", alone.virtual_machine),
            format!("{:?}", beside.virtual_machine)
        );
        assert_eq!(
            format!("{:?}", alone.partition),
            format!("{:?}", beside.partition)
        );
    }
    let short = run(&by_turns(Some(0.5)), 0);
    assert_ne!(
        format!("{:?}", alone.partition),
        format!("{:?}", short.partition)
    );
}

/// A larger pool never gives its members less, and they answer no later.
#[test]
fn a_larger_pool_gives_no_less() {
    let (mut last, mut later) = (0.0, f64::INFINITY);
    for cores in [0.2, 0.4, 0.6, 0.8, 1.0, 1.5, 2.0, 4.0] {
        let mut spec = by_turns(Some(cores));
        let outcome = run(&spec, 0);
        let got = of_pools(&mut spec, &outcome)[0];
        assert!(got >= last - 0.002, "{cores}: {got} after {last}");
        assert!(got <= cores + 0.01, "{cores}: {got}");
        let done = outcome.total("zvm", "tx_done");
        let mean = outcome.total("zvm", "response_ns") / done;
        assert!(
            cores < 0.9 || mean <= later * 1.001,
            "{cores}: {mean} after {later}"
        );
        (last, later) = (got, mean);
    }
}

/// One more member takes from the others, and the pool has no more than before.
#[test]
fn one_more_member_takes_from_the_others() {
    let mut last = f64::INFINITY;
    for count in 1..6 {
        let machines = vec![(2, 100); count];
        let mut one = pooled(&machines, 1.5, (2, 1));
        let outcome = assert_promise(&mut one);
        let got = of_pools(&mut one.spec, &outcome)[0];
        let first = used(&one.spec, &outcome, count)[0];
        assert!((got - 1.5).abs() < 0.02 && first < last, "{got} {first}");
        last = first;
    }
}

/// A limit of a member's own holds in a pool that has room, and leaves the rest to the others.
#[test]
fn a_members_own_limit_remains() {
    let mut one = pooled(&[(4, 100), (4, 100), (4, 100)], 3.0, (2, 1));
    let zvm = cp(&mut one.spec.partitions[0]);
    zvm.machines[0].maximum = Some(homenode_engine::spec::CpShare::Absolute(0.02));
    zvm.machines[0].limit_hard = true;
    let most = most(&zvm.machines, 16);
    one.wanted = fill(16.0, zvm, &most);
    assert!((one.wanted[0] - 0.32).abs() < 1e-9 && (one.wanted[1] - 1.34).abs() < 1e-9);
    assert_promise(&mut one);
}
