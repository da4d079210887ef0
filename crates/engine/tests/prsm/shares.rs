//! PR/SM: shares by weight, polarization, caps, management time.

use crate::common::*;
use homenode_engine::hypervisor::policies::by_weight;
use homenode_engine::sim::check;
use homenode_engine::spec::{
    DefinedCapacity, Distribution, Group, LogicalCores, Machine, Partition, Polarization, Policy,
    Processors, Spec, Workload,
};

/// A machine with PR/SM, a slice of 10 ms and no overheads.
fn z(text: &str) -> Machine {
    let mut machine = machine(text);
    machine.hypervisor.policy = Policy::Prsm;
    machine.hypervisor.prsm.run_time_ns = Some(10 * MS);
    machine.hypervisor.counts_redispatch = false;
    machine
}

/// A partition with so many logical cores and a loop on each.
fn busy(name: &str, weight: u16, cores: u16) -> Partition {
    lpar(name, weight, cores, loops(u32::from(cores)))
}

fn lpar(name: &str, of_weight: u16, cores: u16, workload: Workload) -> Partition {
    let processors = Processors::Shared {
        entitlement: 0.0,
        r#virtual: cores,
        capped: false,
        weight: of_weight,
        pool: 0,
        soft_cap: false,
        prsm: LogicalCores::default(),
        host: Box::default(),
    };
    partition(name, processors, workload)
}

fn set_capped(partition: &mut Partition) {
    if let Processors::Shared { capped, .. } = &mut partition.processors {
        *capped = true;
    }
}

fn sharing(partition: &mut Partition) -> &mut LogicalCores {
    match &mut partition.processors {
        Processors::Shared { prsm, .. } => prsm,
        Processors::Dedicated { .. } => panic!("dedicated"),
    }
}

fn vertical(mut partition: Partition) -> Partition {
    sharing(&mut partition).polarization = Polarization::Vertical;
    partition
}

/// Cores that a partition used on average.
fn used(outcome: &Outcome, spec: &Spec, name: &str) -> f64 {
    outcome.total(name, "busy_ns") / spec.duration_ns as f64
}

/// Writes down what the weights give, so that the invariants can be held against it.
fn entitle(spec: &mut Spec) {
    for (at, share) in by_weight(spec).into_iter().enumerate() {
        if let Processors::Shared { entitlement, .. } = &mut spec.partitions[at].processors {
            *entitlement = share.expect("shared");
        }
    }
}

fn run_all(machine: Machine, partitions: Vec<Partition>) -> (Spec, Outcome) {
    let mut spec = spec(machine, partitions);
    entitle(&mut spec);
    let outcome = run(&spec, 0);
    assert_all(&spec, &outcome);
    (spec, outcome)
}

#[test]
fn two_busy_partitions_share_by_weight() {
    for polarize in [|p| p, vertical] {
        let both = vec![polarize(busy("a", 70, 10)), polarize(busy("b", 30, 10))];
        let (spec, outcome) = run_all(z("chip:2 core:5"), both);
        let (a, b) = (used(&outcome, &spec, "a"), used(&outcome, &spec, "b"));
        assert!((a - 7.0).abs() < 0.02 && (b - 3.0).abs() < 0.02, "{a} {b}");
    }
}

#[test]
fn what_an_idle_one_leaves_the_other_takes_unless_capped() {
    let idle = || lpar("b", 30, 4, Workload::Idle);
    let (spec, outcome) = run_all(z("core:4"), vec![busy("a", 70, 4), idle()]);
    assert_eq!(used(&outcome, &spec, "a"), 4.0);
    let mut capped = busy("a", 70, 4);
    set_capped(&mut capped);
    let (spec, outcome) = run_all(z("core:4"), vec![capped, idle()]);
    assert!((used(&outcome, &spec, "a") - 2.8).abs() < 1e-6);
    assert_eq!(outcome.total("a", "excess_ns"), 0.0);
}

/// IBM's example of weight management: six physical cores, utilisation of each partition's logical
/// cores.
fn weights_are_kept(of_weights: [(u16, u16, f64); 3], cap: bool) {
    let names = ["a", "b", "c"];
    let make = |(name, (weight, cores, _)): (&&str, &(u16, u16, f64))| {
        let mut made = busy(name, *weight, *cores);
        if cap {
            set_capped(&mut made);
        }
        made
    };
    let all = names.iter().zip(&of_weights).map(make).collect();
    let (spec, outcome) = run_all(z("core:6"), all);
    for (name, (_, cores, expected)) in names.iter().zip(of_weights) {
        let each = used(&outcome, &spec, name) / f64::from(cores);
        assert!((each - expected).abs() < 0.002, "{name} {each} {expected}");
    }
}

#[test]
fn published_example_with_capping() {
    weights_are_kept([(500, 6, 0.5), (480, 3, 0.96), (20, 3, 0.04)], true);
}

/// 1.2 engines on two logical cores: six tenths of each, in either polarization.
#[test]
fn published_example_of_two_logical_cores() {
    for polarize in [|p| p, vertical] {
        let small = polarize(busy("small", 200, 2));
        let (spec, outcome) = run_all(z("core:6"), vec![small, busy("rest", 800, 6)]);
        assert!((used(&outcome, &spec, "small") - 1.2).abs() < 0.004);
        let [partition, cpu, user] = ["partition", "cpu", "user_ns"].map(|of| outcome.cpu.at(of));
        let mut each = [0.0; 2];
        for row in outcome.cpu.rows().filter(|row| row[partition] == 0) {
            each[row[cpu] as usize] += row[user] as f64 / spec.duration_ns as f64;
        }
        assert!(each.iter().all(|of| (of - 0.6).abs() < 0.02), "{each:?}");
    }
}

#[test]
fn published_example_without_capping() {
    weights_are_kept([(500, 6, 0.5), (300, 3, 0.6), (200, 3, 0.4)], false);
}

#[test]
fn excess_is_shared_by_weight() {
    // c is idle: its 4 cores go to a and b, 3 to 1, beside their own 3 and 1.
    let all = vec![
        busy("a", 300, 8),
        busy("b", 100, 8),
        lpar("c", 400, 8, Workload::Idle),
    ];
    let (spec, outcome) = run_all(z("core:8"), all);
    let (a, b) = (used(&outcome, &spec, "a"), used(&outcome, &spec, "b"));
    assert!((a + b - 8.0).abs() < 1e-6);
    assert!((a / b - 3.0).abs() < 0.15, "{a} {b}");
}

#[test]
fn excess_is_shared_by_weight_where_logical_cores_outnumber_physical_ones() {
    // d leaves what it is entitled to. Few quanta fit into a slice, as in the machine files: who
    // comes next at the end of a slice decides.
    for (of_a, of_b) in [(600, 100), (100, 300), (300, 300)] {
        let mut machine = z("core:10");
        machine.hypervisor.excess_quantum_ns = 6 * MS;
        let idle = 1000 - of_a - of_b;
        let all = vec![
            busy("a", of_a, 10),
            busy("b", of_b, 10),
            lpar("d", idle, 10, Workload::Idle),
        ];
        let (spec, outcome) = run_all(machine, all);
        let (a, b) = (used(&outcome, &spec, "a"), used(&outcome, &spec, "b"));
        let expected = 10.0 * f64::from(of_a) / f64::from(of_a + of_b);
        assert!((a + b - 10.0).abs() < 1e-6);
        assert!((a - expected).abs() < 0.3, "{a} and {expected}, {b}");
    }
}

#[test]
fn the_unused_share_of_one_logical_core_is_no_siblings_own() {
    // Horizontal: the one busy logical core of four is entitled to half of a core, the rest of its
    // partition's share is for all.
    let all = vec![lpar("a", 100, 4, loops(1)), busy("b", 300, 8)];
    let (spec, outcome) = run_all(z("core:8"), all.clone());
    let thin = used(&outcome, &spec, "a");
    assert!((0.6..0.9).contains(&thin), "{thin}");
    // Vertical: its first logical core is entitled to a whole one.
    let all = all.into_iter().map(vertical).collect();
    let (spec, outcome) = run_all(z("core:8"), all);
    assert_eq!(used(&outcome, &spec, "a"), 1.0);
}

#[test]
fn absolute_caps_hold_in_every_slice() {
    let mut one = busy("a", 900, 4);
    sharing(&mut one).cap = Some(1.3);
    let (spec, outcome) = run_all(z("core:4"), vec![one, busy("b", 100, 4)]);
    for busy in outcome.partition.series("partition", 0, "busy_ns") {
        assert!(busy <= 13 * MS as i64 + 1, "{busy}");
    }
    assert!(used(&outcome, &spec, "a") > 1.299);
    assert!(used(&outcome, &spec, "b") > 2.69);
}

#[test]
fn a_cap_leaves_room_for_what_idle_logical_cores_do_not_use() {
    let mut one = lpar("a", 500, 4, loops(2));
    sharing(&mut one).cap = Some(2.5);
    let other = lpar("b", 500, 4, Workload::Idle);
    let (spec, outcome) = run_all(z("core:4"), vec![one, other]);
    assert!(used(&outcome, &spec, "a") > 1.99);
}

#[test]
fn a_group_is_limited_together_and_shares_by_weight() {
    let grouped = |name, weight| {
        let mut one = busy(name, weight, 4);
        sharing(&mut one).group = Some(0);
        one
    };
    let all = vec![grouped("a", 300), grouped("b", 100), busy("c", 100, 4)];
    let mut spec = spec(z("core:4"), all);
    spec.groups = vec![Group {
        name: "g".into(),
        cap: 2.0,
    }];
    let outcome = run(&spec, 0);
    let (a, b) = (used(&outcome, &spec, "a"), used(&outcome, &spec, "b"));
    assert!((a + b - 2.0).abs() < 0.01, "{a} {b}");
    assert!((a - 1.5).abs() < 0.05, "{a}");
    assert!(used(&outcome, &spec, "c") > 1.9);
}

/// A partition of a group.
fn member(mut one: Partition) -> Partition {
    sharing(&mut one).group = Some(0);
    one
}

/// Those of a group with this cap, and others.
fn run_group(cap: f64, machine: Machine, partitions: Vec<Partition>) -> (Spec, Outcome) {
    let mut spec = spec(machine, partitions);
    let name = "g".into();
    spec.groups = vec![Group { name, cap }];
    entitle(&mut spec);
    let outcome = run(&spec, 0);
    assert_all(&spec, &outcome);
    (spec, outcome)
}

/// Bursts of a millisecond that keep so many cores busy if nobody is in their way.
fn bursts(cores: f64) -> Workload {
    transactions(1000.0 * cores, Distribution::Exponential)
}

#[test]
fn what_members_of_a_group_leave_of_their_slices_the_others_use() {
    for wanted in [0.0, 0.1, 0.3] {
        let other = match wanted {
            0.0 => Workload::Idle,
            _ => bursts(wanted),
        };
        let all = vec![
            member(lpar("a", 100, 4, loops(3))),
            member(lpar("b", 300, 4, other)),
        ];
        let (spec, outcome) = run_group(1.2, z("core:4"), all);
        let (a, b) = (used(&outcome, &spec, "a"), used(&outcome, &spec, "b"));
        assert!(a + b > 0.97 * 1.2, "{wanted}: {a} {b}");
        // Who wants less than it is entitled to has it.
        assert!((b - wanted).abs() < 0.05 + 0.1 * wanted, "{wanted}: {b}");
    }
}

#[test]
fn who_is_within_his_share_of_a_group_need_not_wait_for_the_next_slice() {
    let waits = |loops_beside: u32| {
        let all = vec![
            member(lpar("a", 100, 4, loops(loops_beside))),
            member(lpar("b", 300, 4, bursts(0.2))),
        ];
        let (_, outcome) = run_group(1.6, z("core:8"), all);
        outcome.total("b", "exhausted_ns") / outcome.total("b", "busy_ns")
    };
    assert!(waits(4) < 0.2 + waits(1), "{} {}", waits(4), waits(1));
}

#[test]
fn who_uses_up_his_slice_late_has_his_part_of_what_is_left() {
    // One thread of `a` needs most of a slice for its own, four of `b` a fifth: what `a`'s other
    // logical core leaves is `a`'s by weight all the same, as far as its thread can use it.
    let all = vec![
        member(lpar("a", 300, 2, loops(1))),
        member(lpar("b", 100, 4, loops(4))),
    ];
    let (spec, outcome) = run_group(1.6, z("core:8"), all);
    let (a, b) = (used(&outcome, &spec, "a"), used(&outcome, &spec, "b"));
    assert!(a + b > 0.97 * 1.6, "{a} {b}");
    assert!(a > 0.9, "{a} {b}");
}

#[test]
fn a_defined_capacity_bites_when_the_average_reaches_it() {
    let mut one = busy("a", 100, 4);
    sharing(&mut one).defined_capacity = Some(DefinedCapacity {
        cores: 1.0,
        window_ns: 4_800 * MS,
        start_cores: 0.0,
    });
    let mut spec = spec(z("core:4"), vec![one]);
    spec.duration_ns = 4 * SECOND;
    let outcome = run(&spec, 0);
    let slices = outcome.partition.series("partition", 0, "busy_ns");
    let cores = |from: usize, to: usize| -> f64 {
        let ns: i64 = slices[from..to].iter().sum();
        ns as f64 / ((to - from) as f64 * 10.0 * MS as f64)
    };
    // Four cores for 1.2 s make an average of one core over 4.8 s.
    assert!((cores(0, 119) - 4.0).abs() < 1e-9);
    assert!((cores(122, 400) - 1.0).abs() < 0.01, "{}", cores(122, 400));
}

#[test]
fn a_starting_average_bites_at_once_and_wears_off() {
    let mut one = lpar("a", 100, 4, loops(4));
    sharing(&mut one).defined_capacity = Some(DefinedCapacity {
        cores: 2.0,
        window_ns: 1_000 * MS,
        start_cores: 3.0,
    });
    let (spec, outcome) = run_all(z("core:4"), vec![one]);
    let slices = outcome.partition.series("partition", 0, "busy_ns");
    assert!(slices[..50].iter().all(|ns| *ns <= 20 * MS as i64 + 1));
    assert!(used(&outcome, &spec, "a") <= 2.01);
}

/// Times that a logical core went on on another physical core than the last.
fn moves(outcome: &Outcome, of: i64) -> usize {
    let at = |column| outcome.dispatches.at(column);
    let mut last = std::collections::BTreeMap::new();
    let mut rows: Vec<_> = outcome.dispatches.only("partition", of).collect();
    rows.sort_by_key(|row| row[at("start_ns")]);
    let mut count = 0;
    for row in rows {
        if let Some(core) = last.insert(row[at("vp")], row[at("core")]) {
            count += usize::from(core != row[at("core")]);
        }
    }
    count
}

#[test]
fn vertical_moves_less_than_horizontal_on_a_contended_machine() {
    let counted = |polarize: fn(Partition) -> Partition| {
        let all = vec![polarize(busy("a", 130, 10)), polarize(busy("b", 100, 7))];
        let mut spec = spec(z("chip:4 core:2"), all);
        spec.record_dispatches = true;
        entitle(&mut spec);
        let outcome = run(&spec, 0);
        assert_all(&spec, &outcome);
        moves(&outcome, 0) + moves(&outcome, 1)
    };
    let (spread, packed) = (counted(|p| p), counted(vertical));
    println!("{packed} {spread}");
    assert!(2 * packed < spread, "{packed} {spread}");
}

#[test]
fn a_vertical_high_core_is_as_good_as_dedicated() {
    // a is entitled to 4 of 8 cores with 8 logical ones: four of them are vertical-highs.
    let all = vec![
        vertical(lpar(
            "a",
            500,
            8,
            transactions(2_500.0, Distribution::Constant),
        )),
        busy("b", 500, 8),
    ];
    let mut spec = spec(z("chip:2 core:4"), all);
    spec.record_dispatches = true;
    let outcome = run(&spec, 0);
    let at = |column| outcome.dispatches.at(column);
    let mut homes = std::collections::BTreeMap::new();
    for row in outcome.dispatches.only("partition", 0) {
        if row[at("vp")] < 4 {
            let home = homes.entry(row[at("vp")]).or_insert(row[at("core")]);
            assert_eq!(*home, row[at("core")]);
            assert!(
                row[at("reason")] == 0 || row[at("reason")] == 6,
                "gave up only by itself"
            );
        }
    }
    assert_eq!(homes.len(), 4);
}

#[test]
fn with_dedicated_partitions_only_nothing_differs_from_cores_of_ones_own() {
    let mut one = partition(
        "a",
        dedicated(0..3, false),
        transactions(900.0, Distribution::Exponential),
    );
    one.profile = missing_profile(1e6);
    let two = partition("b", dedicated(4..8, false), loops(4));
    let mut here = spec(machine("node:2 core:4"), vec![one, two]);
    here.machine.hypervisor.dispatch_ns = 3_000;
    here.machine.hypervisor.cede_ns = 1_000;
    here.machine.hypervisor.prsm.physical_ns = 5_000;
    here.record_dispatches = true;
    let tables = |policy| {
        let mut spec = here.clone();
        spec.machine.hypervisor.policy = policy;
        let outcome = run(&spec, 3);
        let pools: Vec<i64> = outcome.pool.rows().map(|row| row[6]).collect();
        assert!(pools.iter().all(|ns| *ns == 0));
        (
            format!("{:?}", outcome.partition),
            format!("{:?}", outcome.cpu),
            format!("{:?}", outcome.dispatches),
        )
    };
    assert!(tables(Policy::Prsm) == tables(Policy::Dedicated));
}

#[test]
fn dedicated_partitions_do_not_pay_for_others_sharing() {
    let mut machine = z("node:2 core:4");
    machine.hypervisor.dispatch_ns = 5_000;
    machine.hypervisor.cede_ns = 2_000;
    machine.hypervisor.counts_redispatch = true;
    machine.hypervisor.prsm.physical_ns = 20_000;
    let own = partition(
        "own",
        dedicated(0..4, false),
        transactions(3_000.0, Distribution::Constant),
    );
    let all = vec![own, busy("a", 100, 3), busy("b", 100, 3)];
    let spec = spec(machine, all);
    let outcome = run(&spec, 0);
    assert_eq!(outcome.total("own", "book_hypervisor"), 0.0);
    assert_eq!(outcome.total("own", "ready_ns"), 0.0);
    let paid = outcome.total("a", "book_hypervisor");
    assert!(
        paid > 0.0 && paid < 0.02 * outcome.total("a", "busy_ns"),
        "{paid}"
    );
    // PR/SM's own time, the partitions' and the idle time are all there is.
    let pool = |column: &str| outcome.pool.series("pool", 0, column).iter().sum::<i64>();
    let slices = spec.duration_ns / (10 * MS);
    assert_eq!(pool("management_ns"), 4 * 20_000 * slices as i64);
    let all = pool("busy_ns") + pool("idle_ns") + pool("management_ns");
    assert_eq!(all, 4 * spec.duration_ns as i64);
    assert!(
        pool("idle_ns") < MS as i64,
        "two partitions of three loops fill four cores"
    );
}

#[test]
fn core_types_are_apart() {
    // Two cores are CPs, four are IFLs: the CP partition cannot use an idle IFL.
    let mut on_cp = busy("zos", 10, 4);
    if let Processors::Shared { pool, .. } = &mut on_cp.processors {
        *pool = 1;
    }
    let all = vec![lpar("linux", 999, 4, Workload::Idle), on_cp];
    let mut spec = spec(z("core:6"), all);
    spec.pools[0].cores = Some((2..6).collect());
    let mut cp = default_pool();
    cp.name = "cp".into();
    cp.cores = Some(vec![0, 1]);
    spec.pools.push(cp);
    spec.record_dispatches = true;
    let outcome = run(&spec, 0);
    assert_eq!(used(&outcome, &spec, "zos"), 2.0);
    let core = outcome.dispatches.at("core");
    assert!(outcome
        .dispatches
        .only("partition", 1)
        .all(|row| row[core] < 2));
    let idle = outcome
        .pool
        .series("pool", 0, "idle_ns")
        .iter()
        .sum::<i64>();
    assert_eq!(idle, 4 * SECOND as i64);
}

#[test]
fn the_time_slice_follows_the_rule() {
    use homenode_engine::hypervisor::policies::run_time_ns;
    let slice = |physical: &str, logical: u16| {
        let mut spec = spec(z(physical), vec![busy("a", 10, logical)]);
        spec.machine.hypervisor.prsm.run_time_ns = None;
        run_time_ns(&spec)
    };
    assert_eq!(slice("core:8", 8), Some(25 * MS));
    assert_eq!(slice("core:8", 10), Some(20 * MS));
    assert_eq!(slice("core:8", 32), Some(12_500_000));
    assert_eq!(slice("core:8", 1), Some(100 * MS));
    let spec = spec(
        z("core:2"),
        vec![partition("a", dedicated(0..2, false), loops(1))],
    );
    assert_eq!(run_time_ns(&spec), None);
}

#[test]
fn faults_are_named() {
    let refused = |change: &dyn Fn(&mut Spec)| {
        let mut spec = spec(z("core:2"), vec![busy("a", 10, 2)]);
        change(&mut spec);
        check(&spec).expect_err("unsound").to_string()
    };
    let weigh = |to: u16| {
        move |spec: &mut Spec| {
            if let Processors::Shared { weight, .. } = &mut spec.partitions[0].processors {
                *weight = to;
            }
        }
    };
    assert_eq!(
        refused(&weigh(1000)),
        "partition a: weight is 1000, it must be 1 to 999"
    );
    assert!(refused(&weigh(0)).contains("1 to 999"));
    assert!(refused(&|s| sharing(&mut s.partitions[0]).group = Some(0)).contains("group 0"));
    assert!(refused(&|s| sharing(&mut s.partitions[0]).cap = Some(0.0)).contains("cap is 0"));
    let run_time = |s: &mut Spec| s.machine.hypervisor.prsm.run_time_ns = Some(200 * MS);
    assert!(refused(&run_time).contains("1 ms to 100 ms"));
    let lent = |s: &mut Spec| s.partitions[0].processors = dedicated(0..1, true);
    assert!(refused(&lent).contains("lends no dedicated cores"));
    let none = |s: &mut Spec| s.pools[0].cores = Some(vec![]);
    assert!(refused(&none).contains("no physical core"));
    let wrong = |s: &mut Spec| {
        if let Processors::Shared { entitlement, .. } = &mut s.partitions[0].processors {
            *entitlement = 1.5;
        }
    };
    assert!(refused(&wrong).contains("the 2 cores that its weight gives"));
    let mut power = spec(
        machine("core:2"),
        vec![partition("a", shared(1.0, 2), loops(1))],
    );
    sharing(&mut power.partitions[0]).cap = Some(1.0);
    assert!(check(&power)
        .expect_err("PowerVM")
        .to_string()
        .contains("another hypervisor"));
}
