//! Control groups that compute without end on hosts of any size: what each gets is what its weight,
//! its quota and its threads say, also after its threads have moved about.

use crate::common::host::{cgroup, group, host_machine, host_spec, of_cgroup, threads};
use crate::common::race::water_fill;
use crate::common::{assert_all, loops, run, SECOND};
use homenode_engine::kernel::Stream;
use homenode_engine::spec::{Cgroup, Policy, Processors, Spec};

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

/// Heavy groups that have a processor each lift the mean load of all above that of those who wait.
/// The light ones take turns all the same; one had a processor for good, the others shared one.
#[test]
fn light_groups_take_turns_beside_heavy_ones() {
    let heavy = (400, None, 1);
    let light = (25, None, 1);
    let got = used(&host(4, &[heavy, heavy, light, light, light], 60));
    assert!(got[..2].iter().all(|cores| *cores > 0.97), "{got:?}");
    let even = |cores: &f64| (cores / (2.0 / 3.0) - 1.0).abs() < 0.2;
    assert!(got[2..].iter().all(even), "{got:?}");
}

/// The same host with groups around those: how many each holds, one after the other, and its
/// weight.
fn nested(cpus: u16, around: &[(u32, usize)], groups: &[Of], seconds: u64) -> Spec {
    let mut spec = host(cpus, groups, seconds);
    let first = around.len() as u16;
    let parents = around.iter().zip(0..);
    let parents = parents.flat_map(|((_, members), at)| std::iter::repeat_n(at, *members));
    for (group, parent) in spec.cgroups.iter_mut().zip(parents) {
        group.parent = Some(parent);
    }
    for (at, partition) in (first..).zip(&mut spec.partitions) {
        if let Processors::Shared { host, .. } = &mut partition.processors {
            host.cgroup = Some(at);
        }
    }
    let named = around.iter().enumerate();
    let outer = named.map(|(at, (weight, _))| cgroup(&format!("around{at}"), *weight));
    spec.cgroups.splice(0..0, outer);
    spec
}

/// Cores by what each group's threads weigh at the root: its part of the load of the group around
/// it, of that one's weight (`calc_group_shares`), whether it can use that or not.
fn by_weight_of_threads(cpus: u16, around: &[(u32, usize)], groups: &[Of]) -> Vec<f64> {
    let mut weights = Vec::new();
    for (weight, members) in around {
        let inside = &groups[weights.len()..weights.len() + members];
        let all: u32 = inside.iter().map(|of| of.0).sum();
        let part = |of: &Of| f64::from(of.0 * weight) / f64::from(all);
        weights.extend(inside.iter().map(part));
    }
    let most: Vec<f64> = groups.iter().map(|of| f64::from(of.2)).collect();
    water_fill(f64::from(cpus), &weights, &most)
}

/// One thread has a processor to itself, which takes four fifths of its group's weight; the other
/// two keep a tenth each. By hand: four threads of 256 and two of 205 on three processors. Shared
/// out from the root down the two would get 0.83.
#[test]
fn what_one_cannot_use_of_its_groups_weight_the_others_do_not_get() {
    let around = [(100, 1), (200, 3)];
    let groups = [(100, None, 4), (200, None, 1), (25, None, 1), (25, None, 1)];
    let told = by_weight_of_threads(4, &around, &groups);
    let by_hand = [2.143, 1.0, 0.429, 0.429];
    let got = used(&nested(4, &around, &groups, 30));
    for ((got, told), by_hand) in got.iter().zip(told).zip(by_hand) {
        assert!((told - by_hand).abs() < 1e-3);
        assert!((got / told - 1.0).abs() < 0.08, "{got} for {told}");
    }
}

/// Two to five groups around one to three of few threads each.
#[test]
fn nested_groups_of_few_threads_get_what_their_threads_weigh() {
    let mut parts = Vec::new();
    for seed in 0..45 {
        let mut dice = Stream::new(seed, 0, "nested");
        let cpus = 2 + dice.below(15) as u16;
        let weight = |dice: &mut Stream| [25, 50, 100, 200, 400][dice.below(5) as usize];
        let (mut around, mut groups) = (Vec::new(), Vec::new());
        for _ in 0..2 + dice.below(4) {
            let members = 1 + dice.below(3) as usize;
            around.push((weight(&mut dice), members));
            for _ in 0..members {
                let threads = 1 + dice.below(u64::from(cpus / 3).max(1)) as u16;
                groups.push((weight(&mut dice), None, threads));
            }
        }
        let told = by_weight_of_threads(cpus, &around, &groups);
        let got = used(&nested(cpus, &around, &groups, 5));
        parts.extend(got.iter().zip(told).map(|(got, told)| got / told));
    }
    let told = [0.5, 0.9, 1.0].map(|share| deviation(&parts, share));
    assert!(told[0] < 0.02 && told[1] < 0.12, "{told:?}");
}
