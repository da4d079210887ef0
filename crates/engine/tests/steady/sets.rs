//! Solved Linux hosts on which sets of processors overlap and weights differ: the exact share, what
//! runs say, and laws that hold whatever the hosts.

use crate::common::host::{cgroup, group, host_machine, host_spec, threads};
use crate::common::{loops, run, transactions, MS, SECOND};
use homenode_engine::spec::{
    Cgroup, Distribution, HostThreads, Kvm, Policy, Processors, Spec, Workload,
};
use homenode_engine::steady::solve;
use proptest::prelude::*;

/// Threads in a group of their own, with what that may use.
#[derive(Clone, Debug)]
struct One {
    weight: u32,
    threads: u16,
    /// First and last processor.
    set: (u16, u16),
    /// Most hundredths of a processor.
    quota: Option<u64>,
    workload: Workload,
}

fn looping(weight: u32, threads: u16, set: (u16, u16)) -> One {
    One {
        weight,
        threads,
        set,
        quota: None,
        workload: loops(u32::from(threads)),
    }
}

fn host(cpus: u16, all: &[One]) -> Spec {
    let of_group = |(at, one): (usize, &One)| Cgroup {
        cpuset: Some((one.set.0..=one.set.1).collect()),
        quota_ns: one.quota.map(|of| of * MS),
        ..cgroup(&format!("g{at}"), one.weight)
    };
    let of_member = |(at, one): (usize, &One)| {
        let host = HostThreads {
            cgroup: Some(at as u16),
            ..HostThreads::default()
        };
        let processors = threads(one.threads, 100, host);
        let mut member = group(&format!("p{at}"), processors, one.workload.clone());
        member.profile.instructions_per_unit = 1e6;
        member
    };
    let machine = host_machine(Policy::Linux, &format!("core:{cpus}"));
    let groups = all.iter().enumerate().map(of_group).collect();
    let members = all.iter().enumerate().map(of_member).collect();
    let mut spec = host_spec(machine, groups, members);
    spec.warmup_ns = SECOND;
    spec.duration_ns = 4 * SECOND;
    spec
}

fn solved(cpus: u16, all: &[One]) -> Vec<f64> {
    let solved = solve(&host(cpus, all)).unwrap_or_else(|fault| panic!("{fault}"));
    solved.partitions.iter().map(|one| one.cores).collect()
}

/// The weighted max-min share of loops. So much can be had if no choice of them has more than the
/// processors that any of it may use (Hall); the level rises until some choice has all of these.
fn exact(all: &[One]) -> Vec<f64> {
    let choices: Vec<Vec<usize>> = (1_usize..1 << all.len())
        .map(|bits| (0..all.len()).filter(|at| bits >> at & 1 == 1).collect())
        .collect();
    let room = |choice: &Vec<usize>| {
        let within = |cpu: &u16| {
            let mut sets = choice.iter().map(|at| all[*at].set);
            sets.any(|(first, last)| (first..=last).contains(cpu))
        };
        (0..64).filter(within).count() as f64
    };
    let has = |choice: &[usize], of: &[f64]| choice.iter().map(|at| of[*at]).sum::<f64>();
    let mut fixed: Vec<Option<f64>> = vec![None; all.len()];
    while fixed.iter().any(Option::is_none) {
        let at_level = |level: f64| -> Vec<f64> {
            let each = all.iter().zip(&fixed);
            each.map(|(one, fixed)| {
                let due = level * f64::from(one.weight);
                fixed.unwrap_or(due.min(f64::from(one.threads)))
            })
            .collect()
        };
        let fits = |level: f64| {
            let each = at_level(level);
            choices.iter().all(|of| has(of, &each) <= room(of) + 1e-12)
        };
        let (mut low, mut high) = (0.0, 100.0);
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if fits(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        let each = at_level(low);
        let tight = choices
            .iter()
            .filter(|of| has(of, &each) >= room(of) - 1e-9);
        let mut held: Vec<usize> = tight.flatten().copied().collect();
        let full = |at: &usize| each[*at] >= f64::from(all[*at].threads) - 1e-9;
        held.extend((0..all.len()).filter(full));
        held.iter().for_each(|at| fixed[*at] = Some(each[*at]));
    }
    fixed.into_iter().flatten().collect()
}

fn any_loops() -> impl Strategy<Value = One> {
    let weight = prop::sample::select(vec![1_u32, 10, 50, 100, 400, 1000]);
    (weight, 1..=8_u16, 0..8_u16, 0..8_u16)
        .prop_map(|(weight, threads, a, b)| looping(weight, threads, (a.min(b), a.max(b))))
}

fn some_loops() -> impl Strategy<Value = Vec<One>> {
    prop::collection::vec(any_loops(), 2..6)
}

#[test]
fn one_within_the_set_of_another_of_more_weight_has_what_that_leaves() {
    let inner_first = [looping(1, 2, (0, 1)), looping(1000, 4, (0, 3))];
    let found = solved(4, &inner_first);
    assert!((found[0] - 4.0 / 1001.0).abs() < 1e-3, "{found:?}");
    // Two leave it the others; so does one of less weight, whatever it has to do.
    let found = solved(4, &[looping(1, 2, (0, 1)), looping(1000, 2, (0, 3))]);
    assert!((found[0] - 2.0).abs() < 0.02, "{found:?}");
    let found = solved(4, &[looping(1000, 2, (0, 1)), looping(1, 4, (0, 3))]);
    assert!((found[0] - 2.0).abs() < 0.01, "{found:?}");
}

#[test]
fn runs_share_sets_that_overlap_as_solved() {
    let hosts: [&[One]; 5] = [
        &[looping(1, 2, (0, 1)), looping(1000, 4, (0, 3))],
        &[looping(100, 4, (0, 1)), looping(100, 4, (0, 3))],
        &[looping(300, 4, (0, 3)), looping(100, 4, (0, 3))],
        &[looping(100, 8, (0, 3)), looping(100, 8, (2, 5))],
        &[
            looping(100, 8, (0, 3)),
            looping(400, 8, (0, 7)),
            looping(100, 8, (4, 7)),
        ],
    ];
    for all in hosts {
        let cpus = all.iter().map(|one| one.set.1 + 1).max().unwrap_or(1);
        let (found, outcome) = (solved(cpus, all), run(&host(cpus, all), 0));
        for (at, (found, exact)) in found.iter().zip(exact(all)).enumerate() {
            let name = format!("p{at}");
            let wanted = outcome.total(&name, "busy_ns") / (4 * SECOND) as f64;
            let what = format!("{all:?}, {name}: {found}, exactly {exact}, simulated {wanted}");
            assert!((found - exact).abs() < 0.01 * exact + 1e-3, "{what}");
            assert!((found - wanted).abs() < 0.1 * wanted + 0.02, "{what}");
        }
    }
}

/// Four that come for a moment and poll before they halt use up a quota beside those that loop:
/// they poll while their group may run, though they have next to nothing to do.
#[test]
fn who_polls_uses_up_the_quota_of_its_group() {
    let mut one = looping(100, 4, (0, 15));
    one.workload = transactions(40_000.0, Distribution::Exponential);
    let mut spec = host(16, &[one, looping(100, 8, (0, 15))]);
    spec.partitions[0].profile.instructions_per_unit = 1e3;
    for (at, of) in (1_u16..).zip(&mut spec.partitions) {
        if let Processors::Shared { host, .. } = &mut of.processors {
            host.cgroup = Some(at);
            host.kvm = (at == 1).then(Kvm::default);
        }
    }
    let all = Cgroup {
        quota_ns: Some(300 * MS),
        ..cgroup("all", 100)
    };
    spec.cgroups.insert(0, all);
    for of in &mut spec.cgroups[1..] {
        of.parent = Some(0);
    }
    let found = solve(&spec).unwrap_or_else(|fault| panic!("{fault}"));
    let outcome = run(&spec, 0);
    let mut all = 0.0;
    for (one, of) in found.partitions.iter().zip(&spec.partitions) {
        let wanted = outcome.total(&of.name, "busy_ns") / spec.duration_ns as f64;
        let what = format!("{}: solved {}, simulated {wanted}", of.name, one.cores);
        assert!((one.cores - wanted).abs() < 0.1 * wanted, "{what}");
        all += one.cores;
    }
    assert!(all < 3.01, "{all} of three");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn loops_have_the_exact_share_by_weight(all in some_loops()) {
        let found = solved(8, &all);
        for (found, exact) in found.iter().zip(exact(&all)) {
            prop_assert!((found - exact).abs() < 0.02 * exact + 0.02, "{found}, not {exact}");
        }
    }

    #[test]
    fn nobody_has_more_than_quota_set_and_host_allow(
        all in some_loops(),
        quotas in prop::collection::vec(prop::option::of(10..400_u64), 6),
    ) {
        let mut all = all;
        for (one, quota) in all.iter_mut().zip(quotas) {
            one.quota = quota;
        }
        let found = solved(8, &all);
        prop_assert!(found.iter().sum::<f64>() <= 8.0 * (1.0 + 1e-3), "{found:?}");
        for (found, one) in found.iter().zip(&all) {
            let quota = one.quota.map_or(f64::INFINITY, |of| of as f64 / 100.0);
            let cpus = f64::from(one.set.1 - one.set.0 + 1);
            prop_assert!(*found <= quota.min(cpus) * (1.0 + 1e-3), "{found} of {one:?}");
        }
    }

    #[test]
    fn more_weight_a_wider_set_and_fewer_neighbours_never_give_less(all in some_loops()) {
        let before = solved(8, &all);
        let never_less = |after: f64, what: &str| {
            prop_assert!(after >= before[0] * 0.98 - 0.02, "{what}: {before:?}, {after}");
            Ok(())
        };
        let with = |change: fn(&mut One)| {
            let mut all = all.clone();
            change(&mut all[0]);
            solved(8, &all)[0]
        };
        never_less(with(|one| one.weight *= 3), "weight")?;
        never_less(with(|one| one.set.1 = (one.set.1 + 2).min(7)), "set")?;
        never_less(solved(8, &all[..all.len() - 1])[0], "neighbour")?;
    }
}
