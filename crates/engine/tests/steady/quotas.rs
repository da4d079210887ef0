//! Solved Linux hosts on which quotas of control groups stop several members: as runs say.

use crate::common::host::{cgroup, group, host_machine, host_spec, threads};
use crate::common::{loops, run, transactions, users, MS, SECOND};
use homenode_engine::spec::{Cgroup, Distribution, HostThreads, Partition, Policy, Spec, Workload};
use homenode_engine::steady::solve;

/// A group with a quota of so many hundredths of a processor, within another or none.
fn within(name: &str, weight: u32, hundredths: Option<u64>, parent: Option<u16>) -> Cgroup {
    Cgroup {
        quota_ns: hundredths.map(|of| of * MS),
        parent,
        ..cgroup(name, weight)
    }
}

fn member(name: &str, cgroup: u16, count: u16, workload: Workload) -> Partition {
    let host = HostThreads {
        cgroup: Some(cgroup),
        ..HostThreads::default()
    };
    let mut one = group(name, threads(count, 100, host), workload);
    one.profile.instructions_per_unit = 1e6;
    one
}

fn host(cores: u16, cgroups: Vec<Cgroup>, partitions: Vec<Partition>) -> Spec {
    let machine = host_machine(Policy::Linux, &format!("core:{cores}"));
    let mut spec = host_spec(machine, cgroups, partitions);
    spec.warmup_ns = SECOND;
    spec.duration_ns = 4 * SECOND;
    spec
}

fn solved(spec: &Spec) -> Vec<f64> {
    let solved = solve(spec).unwrap_or_else(|fault| panic!("{fault}"));
    solved.partitions.iter().map(|one| one.cores).collect()
}

/// Solves it and runs it: each partition within so much, and what each uses as solved.
fn alike(spec: &Spec, within: f64, what: &str) -> Vec<f64> {
    let (solved, outcome) = (solved(spec), run(spec, 0));
    for (one, found) in spec.partitions.iter().zip(&solved) {
        let wanted = outcome.total(&one.name, "busy_ns") / spec.duration_ns as f64;
        let off = (found - wanted).abs();
        assert!(
            off < within * wanted + 0.01,
            "{what}, {}: solved {found}, simulated {wanted}",
            one.name
        );
    }
    solved
}

/// Loops of two members, each in a group of its own with such a weight, under a quota of so much.
fn two(counts: [u16; 2], weights: [u32; 2], quota: u64) -> Spec {
    let groups = vec![
        within("all", 100, Some(quota), None),
        within("one", weights[0], None, Some(0)),
        within("other", weights[1], None, Some(0)),
    ];
    let [one, other] = counts.map(|count| (count, loops(u32::from(count))));
    let members = vec![
        member("a", 1, one.0, one.1),
        member("b", 2, other.0, other.1),
    ];
    host(16, groups, members)
}

#[test]
fn who_has_more_running_uses_more_of_a_quota_whatever_the_weights() {
    for weights in [[100, 100], [50, 400], [400, 50]] {
        let found = alike(&two([8, 1], weights, 200), 0.05, &format!("{weights:?}"));
        assert!((found[0] / found[1] - 8.0).abs() < 0.1, "{found:?}");
    }
    // More of them take more, and a greater quota gives both more.
    let more = alike(&two([12, 1], [100, 100], 200), 0.05, "twelve");
    assert!(more[1] < solved(&two([8, 1], [100, 100], 200))[1]);
    let wide = alike(
        &two([8, 1], [100, 100], 450),
        0.05,
        "four and a half processors",
    );
    assert!((wide[0] - 4.0).abs() < 0.05 && (wide[1] - 0.5).abs() < 0.05);
    // One that does not bind changes nothing.
    let free = alike(
        &two([8, 1], [50, 400], 1000),
        0.02,
        "more than they can use",
    );
    assert!((free[0] - 8.0).abs() < 0.05 && (free[1] - 1.0).abs() < 0.02);
}

#[test]
fn weights_tell_where_members_share_processors() {
    let on = |mut spec: Spec, sets: [Vec<u16>; 2]| {
        for (group, set) in spec.cgroups[1..].iter_mut().zip(sets) {
            group.cpuset = Some(set);
        }
        spec
    };
    let few: Vec<u16> = (0..4).collect();
    let spec = on(two([4, 4], [300, 100], 200), [few.clone(), few.clone()]);
    let shared = alike(&spec, 0.1, "the same four");
    assert!(shared[0] > 2.5 * shared[1]);
    let spec = on(two([4, 4], [300, 100], 200), [few, (4..8).collect()]);
    let apart = alike(&spec, 0.05, "four each");
    assert!((apart[0] - apart[1]).abs() < 0.02);
    // Those that have one processor between them run as one.
    let spec = on(two([2, 3], [100, 100], 200), [vec![0], (1..4).collect()]);
    alike(&spec, 0.05, "one and three");
}

#[test]
fn who_has_a_quota_of_his_own_leaves_the_others_longer() {
    let mut before = f64::INFINITY;
    for own in [10, 30, 80, 150] {
        let mut spec = two([3, 3], [100, 100], 200);
        spec.cgroups[2].quota_ns = Some(own * MS);
        let found = alike(&spec, 0.05, &format!("{own} of the inner"));
        assert!(found[0] <= before + 1e-6 && found[0] + found[1] < 2.02);
        before = found[0];
    }
}

#[test]
fn what_comes_and_goes_is_made_up_for_while_its_group_runs() {
    let groups = || {
        vec![
            within("all", 100, Some(200), None),
            within("one", 100, None, Some(0)),
            within("other", 100, None, Some(0)),
        ]
    };
    let mut left = f64::INFINITY;
    for rate in [200.0, 500.0] {
        let comes = member("a", 1, 4, transactions(rate, Distribution::Exponential));
        let spec = host(16, groups(), vec![comes, member("b", 2, 8, loops(8))]);
        let found = alike(&spec, 0.1, &format!("{rate} a second"));
        assert!(found[1] < left, "more work of one leaves the other less");
        left = found[1];
    }
    let mut wanted = 0.0;
    for count in [100, 300, 1000] {
        let comes = member("a", 1, 4, users(count, 400 * MS));
        let spec = host(16, groups(), vec![comes, member("b", 2, 8, loops(8))]);
        let found = alike(&spec, 0.15, &format!("{count} users"));
        assert!(found[0] > wanted, "more users use more");
        wanted = found[0];
    }
}

/// Eight processors, on which six loops and one run beside what comes to eight, as long as their
/// group may: 2 of them on the mean.
#[test]
fn who_is_done_before_the_group_is_stopped_leaves_its_processors_to_others() {
    let mut groups = vec![within("all", 100, Some(200), None)];
    groups.extend(["comes", "many", "one"].map(|name| within(name, 100, None, Some(0))));
    let members = vec![
        member("a", 1, 8, transactions(400.0, Distribution::Exponential)),
        member("b", 2, 6, loops(6)),
        member("c", 3, 1, loops(1)),
    ];
    alike(&host(8, groups, members), 0.1, "all at once are too many");
}
