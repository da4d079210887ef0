//! Locks for which threads sleep, solved: as a run finds them, which way they go, what is refused.

use crate::common;
use crate::common::{
    dedicated, loops, machine, partition, quiet_unix, run, shared, spec, transactions, SECOND,
};
use homenode_engine::cost::Book;
use homenode_engine::spec::{Distribution, Guest, Load, LockKind, Machine, Spec, Workload};
use homenode_engine::steady::{solve, SolvedPartition};

/// Share of the work with the lock, and instructions that it is held and that a switch takes.
type Section = (f64, f64, f64);

fn lock(spec: &mut Spec, (share, held, switch): Section) {
    for one in &mut spec.partitions {
        one.profile.lock_kind = LockKind::Sleeping;
        one.profile.lock_share = share;
        one.profile.lock_hold_instructions = held;
        one.profile.lock_switch_instructions = switch;
    }
}

/// One chip on which the lock's line is everywhere at once.
fn near(cores: u16) -> Machine {
    let mut machine = machine(&format!("core:{cores}"));
    machine.cache_to_cache_ns.local = 0.0;
    machine
}

fn layout(workload: Workload, cores: u16, section: Section) -> Spec {
    let mut one = partition("a", dedicated(0..cores, false), workload);
    one.guest = Guest::Hpux(quiet_unix());
    one.profile.instructions_per_unit = 1e6;
    let mut made = spec(near(cores), vec![one]);
    made.duration_ns = 4 * SECOND;
    lock(&mut made, section);
    made
}

fn one(spec: &Spec) -> SolvedPartition {
    let solved = solve(spec).unwrap_or_else(|fault| panic!("{fault}"));
    solved.partitions.into_iter().next().expect("a partition")
}

fn alike(spec: &Spec, within: f64, what: &str) {
    let (solved, outcome) = (one(spec), run(spec, 0));
    let seconds = spec.duration_ns as f64 / 1e9;
    let told = [
        (solved.throughput, outcome.total("a", "tx_done") / seconds),
        (solved.cores, outcome.total("a", "busy_ns") / 1e9 / seconds),
    ];
    for (found, wanted) in told {
        let off = (found / wanted - 1.0).abs();
        assert!(off < within, "{what}: solved {found}, simulated {wanted}");
    }
}

#[test]
fn threads_that_never_stop_are_as_simulated() {
    for (count, cores, section) in [
        (8, 8, (0.1, 1_000.0, 2_500.0)),
        (16, 16, (0.1, 5_000.0, 2_500.0)),
        (16, 16, (0.02, 2_000.0, 2_500.0)),
        (12, 12, (0.3, 4_000.0, 1_000.0)),
        (32, 32, (0.1, 4_000.0, 2_500.0)),
    ] {
        let spec = layout(Workload::Warehouses { count }, cores, section);
        alike(&spec, 0.05, &format!("{count} on {cores}, {section:?}"));
    }
}

/// Nobody has the lock while the processor of the one that was woken is dispatched.
#[test]
fn who_is_woken_comes_to_the_lock_after_its_processor_has_been_dispatched() {
    for (count, section) in [
        (16, (0.1, 5_000.0, 2_500.0)),
        (24, (0.06, 2_000.0, 1_000.0)),
    ] {
        let mut spec = layout(Workload::Warehouses { count }, count as u16, section);
        let free = one(&spec).throughput;
        spec.machine.hypervisor.dispatch_ns = 6_000;
        spec.machine.hypervisor.cede_ns = 2_000;
        alike(&spec, 0.06, &format!("{count}, {section:?}"));
        assert!(one(&spec).throughput < 0.95 * free);
    }
}

#[test]
fn threads_that_sleep_for_a_lock_come_back_to_cores_that_others_have_had() {
    let of = |kind: LockKind| {
        let own = Workload::Warehouses { count: 8 };
        let beside = transactions(1_500.0, Distribution::Exponential);
        let mut both = vec![
            partition("a", shared(4.0, 8), own),
            partition("b", shared(4.0, 8), beside),
        ];
        for one in &mut both {
            one.profile = common::missing_profile(1e6);
        }
        let mut made = spec(machine("core:14"), both);
        lock(&mut made, (0.2, 5_000.0, 2_500.0));
        made.partitions[0].profile.lock_kind = kind;
        made.partitions[1].profile.lock_share = 0.0;
        one(&made).books.of(Book::Reload)
    };
    assert_eq!(of(LockKind::Queue), 0.0);
    assert!(of(LockKind::Sleeping) > 0.0);
}

#[test]
fn what_comes_from_outside_waits_for_the_lock_longer_the_more_it_is_held() {
    let work = || transactions(3_000.0, Distribution::Exponential);
    let of = |share| one(&layout(work(), 8, (share, 4_000.0, 2_500.0)));
    let response = |of: &SolvedPartition| of.response_ns.expect("it is steady");
    let found = [0.01, 0.1, 0.2, 0.25].map(of);
    assert!(found.iter().all(|one| one.steady));
    let longer = |two: &[SolvedPartition]| response(&two[1]) > response(&two[0]);
    assert!(found.windows(2).all(longer));
    assert!(found
        .windows(2)
        .all(|two| two[1].cores > two[0].cores - 1e-6));
    alike(
        &layout(work(), 8, (0.1, 4_000.0, 2_500.0)),
        0.05,
        "from outside",
    );
    // More than one can ever have the lock for leaves no steady state.
    assert!(!of(0.5).steady);
}

#[test]
fn one_user_more_never_means_less_and_a_greater_share_never_means_more() {
    let users = |count, section| one(&layout(common::users(count, 2_000_000), 32, section));
    let section = (0.2, 4_000.0, 2_500.0);
    let by_users = [2, 3, 8, 9, 20, 21, 40, 41].map(|count| users(count, section).throughput);
    assert!(
        by_users
            .windows(2)
            .all(|two| two[1] >= two[0] * (1.0 - 1e-3)),
        "{by_users:?}"
    );
    // A longer hold of the same share is a rarer one: it is the share that lets fewer work.
    let by_share = [0.01, 0.05, 0.2, 0.4].map(|share| users(20, (share, 4_000.0, 2_500.0)));
    assert!(by_share
        .windows(2)
        .all(|two| two[1].throughput <= two[0].throughput * (1.0 + 1e-3)));
    let response = |of: &SolvedPartition| of.response_ns.expect("it is steady");
    assert!(by_share
        .windows(2)
        .all(|two| response(&two[1]) >= response(&two[0]) * (1.0 - 1e-3)));
}

#[test]
fn without_a_lock_nothing_changes_and_a_rare_one_costs_little() {
    let of = |section| one(&layout(Workload::Warehouses { count: 8 }, 8, section));
    let (free, rare) = (of((0.0, 1_000.0, 0.0)), of((1e-4, 1_000.0, 2_500.0)));
    assert!((rare.throughput / free.throughput - 1.0).abs() < 0.002);
    assert!((rare.cores / free.cores - 1.0).abs() < 0.002);
}

#[test]
fn where_a_lock_is_held_for_moments_or_by_who_has_no_processor_or_is_anothers_it_is_simulated_only()
{
    let told = |spec: &Spec| solve(spec).expect_err("it is refused").to_string();
    let short = layout(Workload::Warehouses { count: 4 }, 4, (0.1, 200.0, 2_500.0));
    assert!(told(&short).contains("less than a tenth of a switch"));
    let mut several = layout(
        Workload::Warehouses { count: 2 },
        4,
        (0.1, 2_000.0, 2_500.0),
    );
    several.partitions[0].beside = vec![Load {
        name: "b".into(),
        workload: loops(1),
        profile: several.partitions[0].profile.clone(),
    }];
    assert!(told(&several).contains("a lock for which threads sleep, of one of several"));
    // Three threads for each processor of a partition: two of them wait in the guest's own queues.
    let crowded = layout(
        Workload::Warehouses { count: 24 },
        8,
        (0.05, 4_000.0, 2_500.0),
    );
    assert!(told(&crowded).contains("holders wait for a processor"));
    // Eight that always have work on four cores: whoever has the lock is away half of the time.
    let both = ["a", "b"].map(|name| {
        let mut one = partition(name, shared(2.0, 4), Workload::Warehouses { count: 4 });
        one.profile.instructions_per_unit = 1e6;
        one
    });
    let mut short = spec(near(4), both.to_vec());
    lock(&mut short, (0.1, 2_000.0, 2_500.0));
    assert!(
        told(&short).contains("holders wait for a processor"),
        "{}",
        told(&short)
    );
}
