//! The scheduler alone on two processors with 250 ticks a second and the kernel's defaults: what
//! arithmetic says of loads like those of the study `linux-dispatch`, which holds the recorded
//! figures, and properties that hold whatever the load.

mod cfs;

use super::driver::{Came, Does, Driver};
use super::ids::{CoreId, EntityId, PartitionId, TaskId};
use super::Linux;
use crate::hypervisor::{HostScheduler, State};
use crate::ids::VpId;
use crate::machine::parse_short;
use crate::spec::{
    Cgroup, FairClass, HostThreads, LogicalCores, MemoryBeside, Partition, Policy, Processors,
};
use crate::spec::{Guest, MemoryPart, MemoryPolicy, Pool, Profile, Spec, Unix, Workload};

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;
/// The first task.
const TASK: EntityId = EntityId::new(0);
/// The only processor, or the first one.
pub const CPU: CoreId = CoreId::new(0);

fn vp(number: usize) -> VpId {
    VpId::new(number)
}

pub fn group(name: &str, weight: u32) -> Cgroup {
    Cgroup {
        name: name.into(),
        parent: None,
        weight,
        quota_ns: None,
        period_ns: 100 * MS,
        burst_ns: 0,
        cpuset: None,
        idle: false,
    }
}

fn partition(name: &str, threads: u16, cgroup: Option<u16>) -> Partition {
    Partition {
        name: name.into(),
        processors: Processors::Shared {
            entitlement: 0.0,
            r#virtual: threads,
            capped: false,
            weight: 100,
            pool: 0,
            soft_cap: false,
            prsm: LogicalCores::default(),
            host: Box::new(HostThreads {
                cgroup,
                ..HostThreads::default()
            }),
        },
        smt: 1,
        memory: vec![MemoryPart {
            domains: vec![0],
            bytes: 1 << 30,
        }],
        memory_policy: MemoryPolicy::Proportional,
        data_bytes: 1 << 30,
        io_domain: None,
        page_bytes: 4096,
        hypervisor_share: 0.0,
        workload_name: String::new(),
        interrupts: None,
        io_threads: None,
        beside: Vec::new(),
        home: vec![0],
        guest: Guest::Linux(Unix {
            tick_ns: SECOND,
            tick_cost_ns: 0,
            timeslice_ns: SECOND,
            rebalance_ns: None,
            daemon_rate_per_s: 0.0,
            daemon_ns: 0,
            gangs: Vec::new(),
            packing: false,
        }),
        workload: Workload::Idle,
        profile: profile(),
    }
}

fn profile() -> Profile {
    Profile {
        issue_share: 1.0,
        ..Profile::steady()
    }
}

/// Threads by group on so many processors.
pub fn spec(cpus: u16, groups: Vec<Cgroup>, threads: &[u16]) -> Spec {
    let mut machine = parse_short(&format!("core:{cpus}")).unwrap();
    machine.hypervisor.policy = Policy::Linux;
    let own = |at: usize| (at < groups.len()).then_some(at as u16);
    let partitions = threads
        .iter()
        .enumerate()
        .map(|(at, count)| partition(&format!("p{at}"), *count, own(at)))
        .collect();
    Spec {
        name: "test".into(),
        seed: 1,
        warmup_ns: 0,
        duration_ns: SECOND,
        interval_ns: SECOND,
        record_dispatches: false,
        machine,
        pools: vec![Pool {
            name: "DefaultPool".into(),
            maximum: None,
            reserved: 0.0,
            cores: None,
        }],
        groups: vec![],
        cgroups: groups,
        resource_pools: vec![],
        partitions,
        changes: vec![],
    }
}

pub fn scheduler(spec: &Spec, replication: u64) -> Linux {
    Linux::new(spec, &State::new(spec), replication)
}

const SPIN: Does = Does::Compute(u64::MAX / 4);

fn sum(came: &[Came], of: impl Fn(&Came) -> u64) -> f64 {
    came.iter().map(of).sum::<u64>() as f64
}

/// Threads by group, for so many seconds; what came of each group, and the scheduler.
fn play(spec: &Spec, does: &[Does], split: &[usize], seconds: u64) -> (Vec<Vec<Came>>, Linux) {
    let cpus = usize::from(spec.machine.active_cores);
    let driver = Driver::new(scheduler(spec, 0), cpus, does);
    let (came, linux) = driver.run(seconds * SECOND);
    let mut rest = came.into_iter();
    let by_group = split.iter().map(|n| rest.by_ref().take(*n).collect());
    (by_group.collect(), linux)
}

/// Processors that a group used.
fn cpus(came: &[Came], seconds: u64) -> f64 {
    sum(came, |c| c.ran) / (seconds * SECOND) as f64
}

fn close(value: f64, expected: f64, part: f64) {
    let off = value / expected - 1.0;
    assert!(
        off.abs() <= part,
        "{value} for {expected}: {:+.1} %",
        100.0 * off
    );
}

fn capped(name: &str, weight: u32, quota_ns: u64) -> Cgroup {
    Cgroup {
        quota_ns: Some(quota_ns),
        ..group(name, weight)
    }
}

/// Ends of equal loops of a second each: last, first, and switches for a second of processor time.
fn loops(count: u16, replication: u64) -> (f64, f64, f64) {
    let spec = spec(2, vec![], &[count]);
    let does = vec![Does::Compute(SECOND); usize::from(count)];
    let driver = Driver::new(scheduler(&spec, replication), 2, &does);
    let (came, _) = driver.run(20 * SECOND);
    let ends = came.iter().map(|c| c.ended as f64 * 1e-9);
    let switches = sum(&came, |c| c.lost) / sum(&came, |c| c.ran) * 1e9;
    (
        ends.clone().fold(0.0, f64::max),
        ends.fold(f64::INFINITY, f64::min),
        switches,
    )
}

#[test]
fn equal_loops_share_the_processors_to_their_end() {
    for count in 2..=8 {
        close(loops(count, 0).0, f64::from(count) / 2.0, 0.04);
    }
}

#[test]
fn a_slice_ends_at_a_tick() {
    // The slice of 1.4 ms is over at the next tick: 250 turns a second of processor time where two
    // or more share a processor, which of three loops two do.
    for count in [4, 5, 6, 8] {
        close(loops(count, 0).2, 250.0, 0.05);
    }
    close(loops(3, 0).2, 125.0, 0.15);
    assert_eq!(loops(2, 0).2, 0.0);
}

#[test]
fn an_odd_loop_is_passed_around_so_that_some_end_early() {
    let runs: Vec<_> = (0..16).map(|replication| loops(3, replication)).collect();
    let mean = |of: fn(&(f64, f64, f64)) -> f64| runs.iter().map(of).sum::<f64>() / 16.0;
    close(mean(|r| r.0), 1.5, 0.04);
    // Never passed on, one would end after 1 s; passed on all the time, all after 1.5 s.
    let first = mean(|r| r.1);
    assert!((1.1..1.48).contains(&first), "{first}");
}

#[test]
fn saturated_groups_share_by_weight() {
    // Turns of two ticks and one: 12 ms for both.
    let turns = 6.0 / 0.012;
    let spec_b1 = spec(2, vec![group("a", 200), group("b", 100)], &[2, 2]);
    let (came, _) = play(&spec_b1, &[SPIN; 4], &[2, 2], 6);
    assert!((cpus(&came[0], 6) / 2.0 - 2.0 / 3.0).abs() < 0.01);
    close(sum(&came[0], |c| c.lost), 2.0 * turns, 0.2);
    close(sum(&came[1], |c| c.lost), 2.0 * turns, 0.2);
    let spec_b2 = spec(1, vec![group("a", 200), group("b", 100)], &[1, 1]);
    let (came, _) = play(&spec_b2, &[SPIN; 2], &[1, 1], 6);
    assert!((cpus(&came[0], 6) - 2.0 / 3.0).abs() < 0.01);
    close(sum(&came[0], |c| c.lost), turns, 0.15);
    close(sum(&came[1], |c| c.lost), turns, 0.15);
    let three = vec![group("a", 300), group("b", 200), group("c", 100)];
    let (came, _) = play(&spec(2, three, &[2, 2, 2]), &[SPIN; 6], &[2, 2, 2], 6);
    for (came, sixths) in came.iter().zip([3.0, 2.0, 1.0]) {
        assert!((cpus(came, 6) / 2.0 - sixths / 6.0).abs() < 0.01);
    }
}

#[test]
fn one_thread_of_twice_the_weight_gets_a_processor_and_no_more() {
    let spec = spec(2, vec![group("a", 200), group("b", 100)], &[1, 2]);
    let (came, _) = play(&spec, &[SPIN; 3], &[1, 2], 6);
    assert!((cpus(&came[0], 6) / 2.0 - 0.5).abs() < 0.01);
    // The other's two threads take turns of a tick on theirs.
    close(sum(&came[1], |c| c.lost), 6.0 * 250.0, 0.15);
}

#[test]
fn a_capped_group_gets_its_quota_and_the_rest_goes_to_the_other() {
    let spec = spec(2, vec![capped("a", 100, 50 * MS), group("b", 100)], &[2, 2]);
    let (came, linux) = play(&spec, &[SPIN; 4], &[2, 2], 6);
    close(cpus(&came[0], 6), 0.5, 0.025);
    close(cpus(&came[1], 6), 1.5, 0.025);
    assert!(
        linux
            .counted(PartitionId::new(0), 6 * SECOND)
            .throttled_periods
            >= 59
    );
}

#[test]
fn two_capped_groups_do_not_disturb_each_other() {
    let groups = vec![capped("a", 100, 50 * MS), capped("b", 100, 50 * MS)];
    let (came, _) = play(&spec(2, groups, &[2, 2]), &[SPIN; 4], &[2, 2], 5);
    close(cpus(&came[0], 5), 0.5, 0.025);
    close(cpus(&came[1], 5), 0.5, 0.025);
    // One alone runs 25 ms of each 100 ms on both processors and is throttled for the rest.
    let spec = spec(2, vec![capped("a", 100, 50 * MS)], &[2]);
    let (came, linux) = play(&spec, &[SPIN; 2], &[2], 5);
    close(cpus(&came[0], 5), 0.5, 0.025);
    let throttled = linux.counted(PartitionId::new(0), 5 * SECOND).throttled_ns as f64 * 1e-9;
    close(throttled, 2.0 * 5.0 * 0.75, 0.025);
}

/// Two threads that compute 2 ms and sleep 8 ms and the timer's slack of 50 us, which keeps them
/// from falling into step with the ticks, beside two that never sleep.
fn sleepers(weight: u32) -> (f64, f64, f64) {
    let spec = spec(2, vec![group("a", weight), group("b", 100)], &[2, 2]);
    let turns = Does::Turns(2 * MS, 8_050_000);
    let (came, _) = play(&spec, &[turns, turns, SPIN, SPIN], &[2, 2], 5);
    let bursts = sum(&came[0], |c| c.bursts);
    let delay = sum(&came[0], |c| c.waited) / bursts * 1e-6;
    (cpus(&came[0], 5), bursts, delay)
}

#[test]
fn sleepers_wait_longer_the_less_they_weigh() {
    let (heavy, light) = (sleepers(200), sleepers(25));
    for (used, bursts, delay) in [heavy, light] {
        // A cycle is work, sleep and waiting.
        close(bursts, 2.0 * 5_000.0 / (10.05 + delay), 0.01);
        close(used, bursts * 0.002 / 5.0, 0.01);
        assert!(
            delay > 0.1 && delay < 4.0,
            "{delay} ms against a tick of 4 ms"
        );
    }
    assert!(light.2 > 3.0 * heavy.2, "{} against {}", light.2, heavy.2);
}

#[test]
fn the_older_class_gives_the_same_shares_in_longer_turns() {
    let mut spec = spec(2, vec![group("a", 200), group("b", 100)], &[2, 2]);
    spec.machine.hypervisor.linux.scheduler = FairClass::Cfs;
    let (came, _) = play(&spec, &[SPIN; 4], &[2, 2], 6);
    assert!((cpus(&came[0], 6) / 2.0 - 0.667).abs() < 0.01);
    // A period of 12 ms for two: turns of 8 and 4 ms, cut at ticks.
    let turns = sum(&came[0], |c| c.lost);
    assert!((600.0..1100.0).contains(&turns), "{turns}");
}

#[test]
fn groups_in_groups_share_what_their_parent_gets() {
    let inner = |name: &str, weight| Cgroup {
        parent: Some(0),
        ..group(name, weight)
    };
    let groups = vec![
        group("a", 100),
        inner("a1", 300),
        inner("a2", 100),
        group("b", 100),
    ];
    let mut spec = spec(2, groups, &[2, 2, 2]);
    for (partition, cgroup) in spec.partitions.iter_mut().zip([1, 2, 3]) {
        if let Processors::Shared { host, .. } = &mut partition.processors {
            host.cgroup = Some(cgroup);
        }
    }
    let (came, _) = play(&spec, &[SPIN; 6], &[2, 2, 2], 6);
    for (came, share) in came.iter().zip([0.375, 0.125, 0.5]) {
        let got = cpus(came, 6) / 2.0;
        assert!((got - share).abs() < 0.01, "{got} for {share}");
    }
}

#[test]
fn nobody_leaves_their_cpuset_and_overlaps_are_shared() {
    let on = |name: &str, cpus: &[u16]| Cgroup {
        cpuset: Some(cpus.to_vec()),
        ..group(name, 100)
    };
    let groups = vec![on("a", &[0, 1]), on("b", &[1, 2])];
    let (came, _) = play(&spec(3, groups, &[3, 3]), &[SPIN; 6], &[3, 3], 6);
    close(cpus(&came[0], 6), 1.5, 0.05);
    close(cpus(&came[1], 6), 1.5, 0.05);
    let alone = vec![on("a", &[2])];
    let (came, _) = play(&spec(3, alone, &[3]), &[SPIN; 3], &[3], 1);
    close(cpus(&came[0], 1), 1.0, 1e-3);
}

#[test]
fn a_cpuset_that_begins_within_a_cache_is_filled() {
    // The first idle processor of the first cache may not have any of them, and finds work for the
    // others that may.
    let mut spec = spec(8, vec![group("a", 100)], &[8]);
    spec.machine = parse_short("chip:2 core:4").unwrap();
    spec.machine.hypervisor.policy = Policy::Linux;
    spec.cgroups[0].cpuset = Some(vec![1, 2, 3, 4]);
    let (came, _) = play(&spec, &[SPIN; 8], &[8], 6);
    close(cpus(&came[0], 6), 4.0, 0.01);
}

#[test]
fn a_group_marked_idle_gets_what_is_left() {
    let idle = Cgroup {
        idle: true,
        ..group("b", 100)
    };
    let (came, _) = play(
        &spec(1, vec![group("a", 100), idle], &[1, 1]),
        &[SPIN; 2],
        &[1, 1],
        6,
    );
    assert!(cpus(&came[0], 6) > 0.98, "{}", cpus(&came[0], 6));
}

#[test]
fn burst_lets_a_group_use_what_it_saved() {
    let of = |burst_ns| {
        let limited = Cgroup {
            burst_ns,
            ..capped("a", 100, 20 * MS)
        };
        // 60 ms of work every 400 ms: more than a period's quota, less than four periods'.
        let turns = Does::Turns(60 * MS, 340 * MS);
        let (came, _) = play(&spec(1, vec![limited], &[1]), &[turns], &[1], 20);
        sum(&came[0], |c| c.waited) / sum(&came[0], |c| c.bursts) * 1e-6
    };
    assert!(of(0) > 100.0, "{}", of(0));
    assert!(of(60 * MS) < 5.0, "{}", of(60 * MS));
}

#[test]
fn a_group_that_only_fills_gaps_is_spread_over_processors_without_a_floor() {
    // 3 beside 1024, on each of four processors (`cpu.idle`).
    let mut gaps = group("gaps", 100);
    gaps.idle = true;
    let spec = spec(4, vec![gaps, group("b", 100)], &[4, 4]);
    let (came, _) = play(&spec, &[SPIN; 8], &[4, 4], 20);
    let share = sum(&came[0], |c| c.ran) / (4 * 20 * SECOND) as f64;
    assert!((share - 3.0 / 1027.0).abs() < 0.001, "{share}");
}

#[test]
fn two_that_share_a_cache_beside_an_empty_one_are_parted() {
    // 0 and 2 start on the first chip, 1 and 3 on the second, which soon end.
    let mut spec = spec(4, vec![], &[4]);
    let policy = spec.machine.hypervisor.clone();
    spec.machine = parse_short("chip:2 core:2").unwrap();
    spec.machine.hypervisor = policy;
    spec.machine.memory_beside = MemoryBeside::Node;
    let short = Does::Compute(100 * MS);
    let (_, linux) = play(&spec, &[SPIN, short, SPIN, short], &[4], 1);
    let chip = |task: usize| linux.tree.tasks[TaskId::new(task)].cpu.index() / 2;
    assert_ne!(chip(0), chip(2));
    assert_eq!(linux.counted(PartitionId::new(0), SECOND).migrations, 1);
}

#[test]
fn who_is_switched_to_and_off_at_once_displaces_the_runner() {
    // Two take turns on one processor: each switch to one is one from the other, those to a
    // throttled task too, which goes off at once.
    let groups = vec![capped("a", 100, 10 * MS), group("b", 100)];
    let (came, linux) = play(&spec(1, groups, &[1, 1]), &[SPIN; 2], &[1, 1], 6);
    assert!(
        linux
            .counted(PartitionId::new(0), 6 * SECOND)
            .throttled_periods
            > 50
    );
    let (a, b) = (sum(&came[0], |c| c.lost), sum(&came[1], |c| c.lost));
    assert!((a - b).abs() <= 1.0, "{a} and {b}");
}

/// A scheduler of one processor with so many awake threads and no groups, of which the first runs.
fn awake(threads: u16, in_sums: bool) -> Linux {
    let mut spec = spec(1, vec![], &[threads]);
    spec.machine.hypervisor.linux.reweigh_in_sums = in_sums;
    woken(&spec, u32::from(threads))
}

/// A scheduler whose threads, so many, have woken one after the other.
fn woken(spec: &Spec, threads: u32) -> Linux {
    let mut linux = scheduler(spec, 0);
    for thread in 0..threads {
        linux.wake(VpId::from(thread), None, 0);
        while let Some(core) = linux.take_pending() {
            linux.pick(core, 0);
        }
    }
    linux
}

#[test]
fn a_runner_made_lighter_gains_where_it_stays_in_the_sums() {
    // It is owed 1 ms beside one of equal weight. At half the weight that is 2 ms of virtual time;
    // 20/9 ms where its place is worked out from sums in which it stands already.
    for (in_sums, owed) in [(false, 2_000_000), (true, 2_222_222)] {
        let mut linux = awake(2, in_sums);
        assert_eq!(linux.tree.cpus[CPU].curr, Some(TASK));
        let tree = &mut linux.tree;
        tree.entities[TASK].vruntime = tree.entity(TASK.plus(1)).vruntime - 2_000_000;
        tree.reweigh(TASK, tree.entity(TASK).weight / 2);
        let lag = tree.virtual_time(tree.entity(TASK).queue) - tree.entity(TASK).vruntime;
        assert!((lag - owed).abs() < 5, "{lag} for {owed}");
    }
}

#[test]
fn the_one_that_a_runner_yields_to_comes_next() {
    for sibling in [1, 2, 3] {
        let mut linux = awake(4, true);
        assert!(linux.yield_to(vp(0), vp(sibling), 0));
        assert_eq!(linux.take_pending(), Some(CPU));
        assert_eq!(linux.pick(CPU, 0), Some(vp(sibling)));
    }
    // Not one that does not wait.
    let mut linux = awake(2, true);
    linux.sleep(vp(1), 0);
    assert!(!linux.yield_to(vp(0), vp(1), 0) && !linux.yield_to(vp(1), vp(0), 0));
}

#[test]
fn a_buddy_that_runs_leaves_no_note_in_the_queues_above() {
    // Two in a group beside one: the group runs already, so that only its member changes.
    let groups = vec![group("a", 100), group("b", 100)];
    let mut linux = woken(&spec(1, groups, &[2, 1]), 3);
    assert_eq!(linux.tree.cpus[CPU].curr, Some(TASK));
    assert!(linux.yield_to(vp(0), vp(1), 0));
    let noted = |linux: &Linux| {
        linux
            .tree
            .queues
            .iter()
            .filter(|q| q.buddy.is_some())
            .count()
    };
    assert_eq!(noted(&linux), 2);
    assert_eq!(linux.take_pending(), Some(CPU));
    assert_eq!(linux.pick(CPU, 0), Some(vp(1)));
    assert_eq!(noted(&linux), 0);
}

#[test]
fn a_quota_above_counts_for_those_it_stops() {
    // A parent's half processor for two spinners in one child and one in the other, a processor
    // each.
    let inner = |name: &str, cpus: &[u16]| Cgroup {
        parent: Some(0),
        cpuset: Some(cpus.to_vec()),
        ..group(name, 100)
    };
    let groups = vec![
        capped("p", 100, 50 * MS),
        inner("a", &[0, 1]),
        inner("b", &[2]),
    ];
    let mut spec = spec(3, groups, &[2, 1]);
    for (partition, cgroup) in spec.partitions.iter_mut().zip([1, 2]) {
        if let Processors::Shared { host, .. } = &mut partition.processors {
            host.cgroup = Some(cgroup);
        }
    }
    let (came, linux) = play(&spec, &[SPIN; 3], &[2, 1], 6);
    for (index, threads) in [(0, 2.0), (1, 1.0)] {
        let count = linux.counted(PartitionId::new(index), 6 * SECOND);
        assert!(count.throttled_periods > 50);
        // Each has its processor to itself: what it does not run, it is stopped.
        let stopped = count.throttled_ns as f64 / (6 * SECOND) as f64;
        close(stopped, threads - cpus(&came[index], 6), 0.05);
    }
}
