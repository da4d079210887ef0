//! Control groups that compute without end on hosts of any size: what each gets is what its weight,
//! its quota and its threads say, also after its threads have moved about.

mod common;

use common::host::{cgroup, group, host_machine, host_spec, of_cgroup, threads};
use common::race::water_fill;
use common::{assert_all, loops, run, SECOND};
use homenode_engine::kernel::Stream;
use homenode_engine::spec::{Cgroup, Policy, Spec};

/// A group: weight, quota [cores], threads that never sleep.
type Of = (u32, Option<f64>, u16);

fn host(cpus: u16, groups: &[Of], seconds: u64) -> Spec {
    let named = groups.iter().enumerate().map(|(at, (weight, quota, _))| {
        let one = cgroup(&format!("g{at}"), *weight);
        Cgroup {
            quota_ns: quota.map(|cores| (cores * one.period_ns as f64) as u64),
            ..one
        }
    });
    let partitions = groups.iter().enumerate().map(|(at, (_, _, count))| {
        let own = threads(*count, 100, of_cgroup(at as u16));
        group(&format!("p{at}"), own, loops(u32::from(*count)))
    });
    let machine = host_machine(Policy::Linux, &format!("core:{cpus}"));
    let mut spec = host_spec(machine, named.collect(), partitions.collect());
    spec.warmup_ns = 2 * SECOND;
    spec.duration_ns = seconds * SECOND;
    spec.interval_ns = SECOND;
    spec
}

/// Cores that each gets.
fn used(spec: &Spec) -> Vec<f64> {
    let outcome = run(spec, 0);
    assert_all(spec, &outcome);
    let of = |at: usize| outcome.total(&format!("p{at}"), "busy_ns") / spec.duration_ns as f64;
    (0..spec.partitions.len()).map(of).collect()
}

/// Cores due to each.
fn due(cpus: u16, groups: &[Of]) -> Vec<f64> {
    let weights: Vec<f64> = groups.iter().map(|of| f64::from(of.0)).collect();
    let most = |of: &Of| of.1.map_or(f64::from(of.2), |cores| cores.min(of.2.into()));
    let most: Vec<f64> = groups.iter().map(most).collect();
    water_fill(f64::from(cpus), &weights, &most)
}

#[test]
fn one_more_than_processors_takes_turns() {
    for (cpus, count) in [(16, 17), (8, 9), (4, 5), (2, 3)] {
        let groups = vec![(100, None, 1); count];
        let got = used(&host(cpus, &groups, 30));
        let each = f64::from(cpus) / count as f64;
        let off = |cores: &f64| (cores / each - 1.0).abs();
        assert!(
            got.iter().all(|cores| off(cores) < 0.06),
            "{got:?} of {each}"
        );
    }
}

/// If each looked for work in the same order, two of ten would share a processor for good, and half
/// of twenty-four.
#[test]
fn equals_that_do_not_fit_take_turns() {
    for (cpus, count) in [(8, 10), (16, 24)] {
        let got = used(&host(cpus, &vec![(100, None, 1); count], 60));
        let each = f64::from(cpus) / count as f64;
        let off = |cores: &f64| (cores / each - 1.0).abs();
        assert!(
            got.iter().all(|cores| off(cores) < 0.2),
            "{got:?} of {each}"
        );
    }
}

/// A random host: processors and groups, some with quotas. Threads are as many as processors, or
/// any number up to twice as many.
fn random(seed: u64, any: bool) -> (u16, Vec<Of>) {
    let mut dice = Stream::new(seed, 0, "groups");
    let cpus = 2 + dice.below(15) as u16;
    let group = |_| {
        let weight = [25, 50, 100, 200, 400][dice.below(5) as usize];
        let threads = 1 + dice.below(2 * u64::from(cpus)) as u16;
        let quota = 0.2 + dice.below(20) as f64 / 10.0;
        let quota = (dice.below(4) == 0).then_some(quota);
        (weight, quota, if any { threads } else { cpus })
    };
    let count = 2 + Stream::new(seed, 0, "count").below(8);
    (cpus, (0..count).map(group).collect())
}

/// What groups of random hosts get by what is due to them, least first.
fn parts(any: bool) -> Vec<f64> {
    let mut parts = Vec::new();
    for seed in 0..45 {
        let (cpus, groups) = random(seed, any);
        let got = used(&host(cpus, &groups, 5));
        let due = due(cpus, &groups);
        parts.extend(got.iter().zip(due).map(|(got, due)| got / due));
    }
    parts.sort_by(f64::total_cmp);
    parts
}

/// Deviation that so great a part of them does not exceed.
fn deviation(parts: &[f64], share: f64) -> f64 {
    let mut off: Vec<f64> = parts.iter().map(|part| (part - 1.0).abs()).collect();
    off.sort_by(f64::total_cmp);
    off[((off.len() - 1) as f64 * share) as usize]
}

/// Half of all groups are off by so much at most, nine tenths, and nobody gets less than the last
/// of what is due.
fn assert_near(any: bool, half: f64, most: f64, least: f64) {
    let parts = parts(any);
    let told = [0.5, 0.9].map(|share| deviation(&parts, share));
    let told = (told, parts[0], parts[parts.len() - 1]);
    assert!(
        told.0[0] <= half && told.0[1] <= most && told.1 >= least,
        "{told:?}"
    );
}

#[test]
fn groups_get_what_weights_and_quotas_say() {
    assert_near(false, 0.02, 0.06, 0.85);
}

#[test]
fn groups_of_few_threads_come_near() {
    assert_near(true, 0.02, 0.11, 0.7);
}

#[test]
fn a_light_group_keeps_its_weight_where_its_threads_have_left() {
    // It got 0.09.
    let groups = [
        (100, None, 4),
        (255, None, 2),
        (200, None, 1),
        (50, None, 4),
    ];
    let got = used(&host(2, &groups, 20));
    assert!(got[3] > 0.8 * due(2, &groups)[3], "{got:?}");
}
