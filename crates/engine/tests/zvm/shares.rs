//! What z/VM promises each virtual machine of a partition, on as many dispatch vectors as it has:
//! random shares, limits, demands and sizes against exact water-filling.

use crate::common::race::water_fill;
use crate::common::random::Dice;
use crate::common::zvm::{contested, cores_of, cp, endless, free_cp, served, zvm_partition};
use crate::common::{run, spec, told, Outcome, MS, SECOND};
use homenode_engine::guest::zvm::share::{weight_beside, weights};
use homenode_engine::spec::{CpShare, Spec, Unparking, VirtualMachine, Workload};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use std::env::var_os;

/// Dice that make a scenario.
pub const DICE: usize = 96;
/// Instructions of a transaction, at one a nanosecond.
pub const SMALL: f64 = 200_000.0;
/// Minor time slice: the shortest that there is, so that few of them tell.
pub const SLICE: u64 = MS;

/// Competitors, and what they are promised.
#[derive(Debug)]
pub struct Contest {
    /// The machine and its partition, for ten seconds.
    pub spec: Spec,
    /// Processors that each should have.
    pub wanted: Vec<f64>,
}

fn some_share(dice: &mut Dice) -> CpShare {
    if dice.chance(4) {
        CpShare::Absolute(dice.real(0.02, 0.1))
    } else {
        CpShare::Relative(dice.pick(&[100, 200, 400, 50, 1000]))
    }
}

/// Part of all processors that the limit of a machine is worth; all of them without one.
pub fn limits(machines: &[VirtualMachine]) -> Vec<f64> {
    let shares: Vec<_> = machines.iter().map(|one| one.share).collect();
    let of = |(at, one): (usize, &VirtualMachine)| {
        let limit = one.maximum.map(|most| weight_beside(most, at, &shares));
        limit.unwrap_or(1.0)
    };
    machines.iter().enumerate().map(of).collect()
}

/// Machines that compute without end, some of them limited, and enough without a limit to use all
/// processors.
fn computing(dice: &mut Dice, processors: u16) -> Vec<VirtualMachine> {
    let count = dice.between(2, 7);
    let mut all = endless(count);
    for one in &mut all {
        one.cpus = dice.between(1, 2 * processors.min(24));
        one.share = some_share(dice);
        if dice.chance(3) {
            one.maximum = Some(CpShare::Absolute(dice.real(0.03, 0.3)));
            one.limit_hard = dice.chance(2);
        }
    }
    all[0].maximum = None;
    all[0].cpus = all[0].cpus.max(processors).min(64);
    all
}

/// Machines to which transactions come: half of what they are promised, or more than one processor.
fn asking(dice: &mut Dice, all: &mut Vec<VirtualMachine>, processors: u16) {
    let first = all.len();
    for number in 0..dice.between(0, 4) {
        let mut one = served(&format!("asks{number}"), 1, 1.0, SMALL);
        one.share = some_share(dice);
        all.push(one);
    }
    let fair = promised(all, &vec![f64::INFINITY; all.len()], processors);
    for (one, fair) in all.iter_mut().zip(fair).skip(first) {
        let wants = if dice.chance(2) { 0.5 * fair } else { 1.3 };
        one.work.as_mut().expect("it asks").rate_per_s = wants * 1e9 / SMALL;
    }
}

/// Water-filling within processors, limits and demands. What nobody within his limit can use goes
/// to those whose limit is soft.
fn promised(all: &[VirtualMachine], demands: &[f64], processors: u16) -> Vec<f64> {
    let shares: Vec<_> = all.iter().map(|one| one.share).collect();
    let there = f64::from(processors);
    let wishes = all.iter().zip(demands);
    let wishes: Vec<f64> = wishes
        .map(|(one, of)| of.min(f64::from(one.cpus)))
        .collect();
    let least = |(wish, limit): (&f64, f64)| wish.min(limit * there);
    let most: Vec<f64> = wishes.iter().zip(limits(all)).map(least).collect();
    let mut filled = water_fill(there, &weights(&shares), &most);
    let beyond = all.iter().zip(&wishes).zip(&filled);
    let beyond: Vec<f64> = beyond
        .map(|((one, wish), has)| if one.limit_hard { 0.0 } else { wish - has })
        .collect();
    let left = there - filled.iter().sum::<f64>();
    let more = water_fill(left, &weights(&shares), &beyond);
    filled
        .iter_mut()
        .zip(more)
        .for_each(|(has, more)| *has += more);
    filled
}

/// Chips, so many at most, with cores of each, and machines that compete for them.
pub fn competitors(dice: &mut Dice, most: u16) -> ((u16, u16), Vec<VirtualMachine>) {
    let (chips, cores) = (dice.between(1, most), dice.between(2, 8));
    let mut all = computing(dice, chips * cores);
    asking(dice, &mut all, chips * cores);
    ((chips, cores), all)
}

fn contest(dice: &[u16]) -> Contest {
    let mut dice = Dice::new(dice);
    let (chips, all) = competitors(&mut dice, 10);
    let processors = chips.0 * chips.1;
    let demand = |one: &VirtualMachine| match &one.work {
        Some(work) => work.rate_per_s * SMALL / 1e9,
        None => f64::INFINITY,
    };
    let demands: Vec<f64> = all.iter().map(demand).collect();
    let wanted = promised(&all, &demands, processors);
    let zvm = free_cp(all, vec![]);
    let spec = contested(&mut dice, chips, zvm, SLICE);
    Contest { spec, wanted }
}

/// Processors that each virtual machine had.
pub fn used(spec: &Spec, outcome: &Outcome, count: usize) -> Vec<f64> {
    let of = |at: usize| {
        let all = &outcome.virtual_machine;
        let series = all.series("virtual_machine", at, "guest_ns");
        series.iter().sum::<i64>() as f64 / spec.duration_ns as f64
    };
    (0..count).map(of).collect()
}

/// Two in a hundred, a slice of each virtual processor at either end, and for transactions that
/// come by chance four times the spread of their number.
pub fn assert_promise(contest: &mut Contest) -> Outcome {
    let Contest { spec, wanted } = contest;
    let outcome = run(spec, 0);
    let got = used(spec, &outcome, wanted.len());
    let seconds = spec.duration_ns as f64 / 1e9;
    let machines = &cp(&mut spec.partitions[0]).machines;
    let all: Vec<_> = got.iter().zip(wanted.iter()).collect();
    for ((machine, got), wanted) in machines.iter().zip(&got).zip(wanted.iter()) {
        let slices = 2.0 * SLICE as f64 / 1e9 * f64::from(machine.cpus) / seconds;
        let chance = match &machine.work {
            Some(_) => 4.0 * (wanted * SMALL / 1e9 / seconds).sqrt(),
            None => 0.0,
        };
        let off = (got - wanted).abs();
        let VirtualMachine {
            name,
            cpus,
            share,
            maximum,
            limit_hard,
            ..
        } = machine;
        assert!(
            off <= 0.02 * wanted + slices + chance,
            "{name}: {got} of {wanted}; {cpus} of {share:?} {maximum:?} hard {limit_hard}; \
             all {all:?}"
        );
    }
    outcome
}

/// The same scenarios each time, unless the environment asks for others or for more.
pub fn config() -> Config {
    let asked = Config::default();
    Config {
        cases: var_os("PROPTEST_CASES").map_or(40, |_| asked.cases),
        rng_seed: var_os("PROPTEST_RNG_SEED").map_or(RngSeed::Fixed(1), |_| asked.rng_seed),
        failure_persistence: None,
        max_shrink_iters: 60,
        ..asked
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn shares_are_of_the_system(dice in prop::collection::vec(any::<u16>(), DICE)) {
        assert_promise(&mut contest(&dice));
    }
}

/// Machines with so many virtual processors and such relative shares.
pub fn loops(chips: u16, cores: u16, machines: &[(u16, u16)], vertical: bool) -> Contest {
    let mut all = endless(machines.len() as u16);
    for (one, (cpus, share)) in all.iter_mut().zip(machines) {
        (one.cpus, one.share) = (*cpus, CpShare::Relative(*share));
    }
    let processors = chips * cores;
    let wanted = promised(&all, &vec![f64::INFINITY; all.len()], processors);
    let mut zvm = free_cp(all, vec![]);
    (zvm.vertical, zvm.minor_slice_ns) = (vertical, SLICE);
    let mut spec = spec(
        cores_of(chips, cores),
        vec![zvm_partition(processors, zvm, Workload::Idle)],
    );
    (spec.warmup_ns, spec.duration_ns) = (SECOND, 10 * SECOND);
    Contest { spec, wanted }
}

#[test]
fn a_share_counts_in_all_vectors_together() {
    let mixed = [(4, 100), (4, 400), (1, 100)];
    let mut three = loops(1, 4, &mixed, false);
    assert!((three.wanted[2] - 2.0 / 3.0).abs() < 1e-9);
    told("mixed", "shares are of the system", || {
        assert_promise(&mut three);
    });
    assert_promise(&mut loops(1, 4, &[(1, 100); 5], false));
    assert_promise(&mut loops(2, 1, &[(1, 100); 3], true));
    assert_promise(&mut loops(
        4,
        6,
        &[(30, 100), (12, 300), (3, 50), (1, 20)],
        false,
    ));
}

#[test]
fn a_small_hard_limit_gives_all_that_it_says() {
    for limit in [0.0025, 0.01] {
        let mut held = loops(1, 4, &[(4, 100)], true);
        (held.spec.duration_ns, held.wanted) = (40 * SECOND, vec![4.0 * limit]);
        let zvm = cp(&mut held.spec.partitions[0]);
        zvm.machines[0].maximum = Some(CpShare::Absolute(limit));
        zvm.machines[0].limit_hard = true;
        assert_promise(&mut held);
    }
}

#[test]
fn limits_hold_on_what_parking_leaves() {
    for vertical in [true, false] {
        let mut held = loops(3, 6, &[(6, 100), (12, 300), (1, 50), (4, 100)], vertical);
        let zvm = cp(&mut held.spec.partitions[0]);
        zvm.unparking = Unparking::Small;
        zvm.park_interval_ns = 200 * MS;
        // Less than half of the processors may be used, so that others are parked.
        for (one, part) in zvm.machines.iter_mut().zip([0.1, 0.3, 0.02, 0.05]) {
            one.maximum = Some(CpShare::Absolute(part));
            one.limit_hard = true;
        }
        held.wanted = vec![1.8, 5.4, 0.36, 0.9];
        let unparked = assert_promise(&mut held).total("zvm", "unparked_ns");
        assert_eq!(unparked < 12.0 * held.spec.duration_ns as f64, vertical);
    }
}

/// Machines that compute without end beside some that run briefly and often: these wake in vectors
/// where others run, and whoever makes room for them is nobody's loss but theirs.
#[test]
fn short_work_beside_loops_leaves_shares_as_they_are() {
    for (brief, vertical) in [(50_000.0, false), (20_000.0, false), (50_000.0, true)] {
        let mut kept = loops(10, 2, &[(20, 1000), (10, 113), (1, 200)], vertical);
        let zvm = cp(&mut kept.spec.partitions[0]);
        zvm.minor_slice_ns = 5 * MS;
        let mut often = served("often", 2, 0.47 * 1e9 / brief, brief);
        often.share = CpShare::Relative(100);
        zvm.machines.push(often);
        zvm.machines[1].maximum = Some(CpShare::Absolute(0.15));
        zvm.machines[1].limit_hard = true;
        let demands = [f64::INFINITY, f64::INFINITY, f64::INFINITY, 0.47];
        kept.wanted = promised(&zvm.machines, &demands, 20);
        assert_promise(&mut kept);
    }
}

/// Virtual processors that are worth more than one are never off theirs for long, however many
/// others wake up for a moment: the clock goes on with those that use up their slices.
#[test]
fn who_is_worth_all_its_processors_has_them() {
    for vertical in [false, true] {
        let mut kept = loops(6, 4, &[(24, 1000), (3, 400)], vertical);
        let zvm = cp(&mut kept.spec.partitions[0]);
        zvm.minor_slice_ns = 5 * MS;
        let mut demands = vec![f64::INFINITY; 2];
        let brief = [
            (22, 400, 1.46),
            (7, 50, 0.36),
            (16, 100, 0.36),
            (18, 100, 0.36),
        ];
        for (cpus, share, cores) in brief {
            let name = format!("brief{cpus}");
            let mut one = served(&name, cpus, cores * 1e9 / 25_000.0, 25_000.0);
            one.share = CpShare::Relative(share);
            zvm.machines.push(one);
            demands.push(cores);
        }
        kept.wanted = promised(&zvm.machines, &demands, 24);
        assert_promise(&mut kept);
    }
}

#[test]
fn a_soft_limit_holds_as_long_as_anybody_else_wants_the_time() {
    for vertical in [false, true] {
        let mut held = loops(2, 2, &[(4, 200), (3, 200)], vertical);
        let zvm = cp(&mut held.spec.partitions[0]);
        zvm.minor_slice_ns = 5 * MS;
        let mut often = served("often", 2, 0.38 * 1e9 / 30_000.0, 30_000.0);
        often.share = CpShare::Relative(100);
        zvm.machines.push(often);
        zvm.machines[1].maximum = Some(CpShare::Absolute(0.05));
        let demands = [f64::INFINITY, f64::INFINITY, 0.38];
        held.wanted = promised(&zvm.machines, &demands, 4);
        assert_promise(&mut held);
    }
}

/// Hard limits are reached in the middle of a slice, by all processors of a machine at once: what
/// they leave is for who is behind, wherever that one waits.
#[test]
fn what_limits_leave_goes_by_shares() {
    for (vertical, smt) in [(true, 1), (false, 1), (true, 2), (false, 2)] {
        let machines = [
            (32, 1000),
            (20, 100),
            (12, 50),
            (42, 200),
            (17, 1000),
            (40, 400),
        ];
        let mut kept = loops(4, 8 / smt, &machines, vertical);
        kept.spec.partitions[0].smt = smt as u8;
        let zvm = cp(&mut kept.spec.partitions[0]);
        for (at, most) in [(1, 0.04), (3, 0.035), (4, 0.1), (5, 0.2)] {
            zvm.machines[at].maximum = Some(CpShare::Absolute(most));
            zvm.machines[at].limit_hard = true;
        }
        // Of 32 logical processors; a thread has half of a core where both are busy.
        let threads = promised(&zvm.machines, &[f64::INFINITY; 6], 32);
        assert!((threads[0] / threads[2] - 20.0).abs() < 1e-9);
        kept.wanted = threads.iter().map(|of| of / f64::from(smt)).collect();
        assert_promise(&mut kept);
    }
}

/// A soft limit leaves processors as a hard one does. Beside it, many virtual processors that are
/// worth little each wait in every vector, and are mostly the only ones that do.
#[test]
fn what_a_soft_limit_leaves_goes_by_shares() {
    for vertical in [false, true] {
        let machines = [(18, 100), (32, 100), (25, 50), (5, 100)];
        let mut kept = loops(6, 3, &machines, vertical);
        let zvm = cp(&mut kept.spec.partitions[0]);
        zvm.machines[1].share = CpShare::Absolute(0.027);
        zvm.machines[3].share = CpShare::Absolute(0.053);
        zvm.machines[2].maximum = Some(CpShare::Absolute(0.24));
        kept.wanted = promised(&zvm.machines, &[f64::INFINITY; 4], 18);
        assert_promise(&mut kept);
    }
}

/// Who runs briefly leaves processors between two deals as well: what it leaves is for who is
/// behind, though no machine here has a limit.
#[test]
fn what_brief_work_leaves_goes_by_shares() {
    let mut kept = loops(
        1,
        6,
        &[(6, 100), (3, 1000), (1, 100), (1, 1000), (1, 200)],
        false,
    );
    let zvm = cp(&mut kept.spec.partitions[0]);
    zvm.machines[2].share = CpShare::Absolute(0.0639);
    let mut demands = vec![f64::INFINITY; 5];
    let asking = [
        (CpShare::Relative(1000), 0.5),
        (CpShare::Relative(200), 1.3),
        (CpShare::Absolute(0.0213), 0.089),
    ];
    for (at, (share, cores)) in asking.into_iter().enumerate() {
        let mut one = served(&format!("asks{at}"), 1, cores * 1e9 / SMALL, SMALL);
        one.share = share;
        zvm.machines.push(one);
        demands.push(cores);
    }
    kept.wanted = promised(&zvm.machines, &demands, 6);
    kept.spec.duration_ns = 20 * SECOND;
    assert_promise(&mut kept);
}

/// The one without a limit has fewer virtual processors than there are processors, so that none
/// idles only if some of the limited one's run at any time.
#[test]
fn a_hard_limit_leaves_no_processor_idle_by_turns() {
    for vertical in [false, true] {
        let mut kept = loops(9, 8, &[(64, 400), (38, 1000)], vertical);
        let zvm = cp(&mut kept.spec.partitions[0]);
        zvm.machines[1].maximum = Some(CpShare::Absolute(0.25));
        zvm.machines[1].limit_hard = true;
        kept.wanted = vec![54.0, 18.0];
        assert_promise(&mut kept);
    }
}

/// What nobody within his limit can use is for who has passed a soft one.
#[test]
fn a_soft_limit_leaves_no_processor_idle() {
    for vertical in [false, true] {
        let mut kept = loops(9, 8, &[(60, 400), (38, 1000)], vertical);
        let zvm = cp(&mut kept.spec.partitions[0]);
        zvm.machines[1].maximum = Some(CpShare::Absolute(0.1));
        kept.wanted = promised(&zvm.machines, &[f64::INFINITY; 2], 72);
        assert!((kept.wanted[1] - 12.0).abs() < 1e-9);
        assert_promise(&mut kept);
    }
}
