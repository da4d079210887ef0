//! Configuration that changes while the partitions run: PowerVM.

use crate::common::change::*;
use crate::common::*;
use homenode_engine::spec::{Change, Partition, Processors, Spread, Workload};

#[test]
fn a_cap_follows_the_entitlement_from_the_window_of_the_change() {
    let mut spec = two();
    spec.changes = vec![Change {
        entitlement: Some(2.0),
        ..change(0)
    }];
    let outcome = run(&spec, 0);
    adds_up(&outcome);
    assert_eq!(halves(&outcome, "lpar1"), (half(1.0), half(2.0)));
    assert_eq!(halves(&outcome, "lpar2"), (half(3.0), half(2.0)));
}

#[test]
fn virtual_processors_come_and_go() {
    let mut spec = two();
    spec.partitions.pop();
    entitle(&mut spec.partitions[0], 2.0, 2);
    spec.partitions[0].processors = shared(1.0, 2);
    for (vps, cores) in [(1, 1.0), (4, 4.0)] {
        spec.changes = vec![Change {
            r#virtual: Some(vps),
            ..change(0)
        }];
        let outcome = run(&spec, 0);
        adds_up(&outcome);
        assert_eq!(halves(&outcome, "lpar1"), (half(2.0), half(cores)), "{vps}");
        // All eight loops go on.
        let unfolded = outcome.series("lpar1", "vps_unfolded");
        assert_eq!(*unfolded.last().unwrap(), i64::from(vps));
        assert!(outcome.total("lpar1", "runq_ns") as i64 == 8 * SECOND as i64);
    }
}

#[test]
fn weights_and_caps_change_the_shares() {
    let mut spec = two();
    spec.partitions[0].processors = shared(1.0, 4);
    let even = halves(&run(&spec, 0), "lpar1");
    assert!((even.1 - half(2.0)).abs() < half(0.05), "{even:?}");
    spec.changes = vec![Change {
        weight: Some(255),
        ..change(0)
    }];
    let (before, after) = halves(&run(&spec, 0), "lpar1");
    // Two cores of excess, by 255 to 128.
    assert!((before - half(2.0)).abs() < half(0.05), "{before}");
    let expected = half(1.0 + 2.0 * 255.0 / 383.0);
    assert!((after - expected).abs() < half(0.05), "{after}");
    spec.changes = vec![Change {
        capped: Some(true),
        ..change(0)
    }];
    let outcome = run(&spec, 0);
    assert_eq!(halves(&outcome, "lpar1").1, half(1.0));
    assert_eq!(halves(&outcome, "lpar2").1, half(3.0));
}

#[test]
fn smt_off_and_on_keeps_work_and_charges_what_was_used() {
    let mut spec = two();
    spec.machine = machine("core:4 pu:4");
    spec.partitions.truncate(1);
    spec.partitions[0] = partition("lpar1", shared(2.0, 2), loops(8));
    for (from, to) in [(4, 1), (1, 4), (2, 4)] {
        spec.partitions[0].smt = from;
        spec.changes = vec![Change {
            smt: Some(to),
            ..change(0)
        }];
        let outcome = run(&spec, 0);
        adds_up(&outcome);
        assert_eq!(outcome.total("lpar1", "runq_ns"), 8.0 * SECOND as f64);
        // Every logical processor that is online is busy, and no other.
        let last: Vec<i64> = {
            let rows: Vec<&[i64]> = outcome.cpu.rows().collect();
            let (cpus, at) = (2 * usize::from(from.max(to)), outcome.cpu.at("user_ns"));
            rows[rows.len() - cpus..]
                .iter()
                .map(|row| row[at])
                .collect()
        };
        let stride = usize::from(from.max(to));
        for (cpu, busy) in last.iter().enumerate() {
            let online = cpu % stride < usize::from(to);
            assert_eq!(*busy > 0, online, "{from} to {to}: {last:?}");
        }
        let ticks: f64 = ["ticks_user", "ticks_sys", "ticks_wait", "ticks_idle"]
            .iter()
            .map(|name| outcome.total("lpar1", name))
            .sum();
        let lcpu_ns = 2 * AT * u64::from(from + to);
        assert_eq!(ticks as u64, lcpu_ns);
    }
}

#[test]
fn a_change_that_changes_nothing_leaves_the_same_numbers() {
    let plain = lively();
    let mut spec = plain.clone();
    spec.changes = vec![
        Change {
            entitlement: Some(1.5),
            r#virtual: Some(3),
            capped: Some(false),
            weight: Some(128),
            smt: Some(2),
            ..change(0)
        },
        change(1),
    ];
    let (a, b) = (run(&plain, 0), run(&spec, 0));
    assert_eq!(
        (&a.partition, &a.cpu, &a.pool),
        (&b.partition, &b.cpu, &b.pool)
    );
}

#[test]
fn a_change_at_the_start_is_the_scenario_that_states_it() {
    let mut stated = lively();
    entitle(&mut stated.partitions[0], 1.0, 2);
    stated.partitions[0].smt = 1;
    let mut changed = lively();
    changed.changes = vec![Change {
        at_ns: 0,
        entitlement: Some(1.0),
        r#virtual: Some(2),
        smt: Some(1),
        ..change(0)
    }];
    let (a, b) = (run(&stated, 0), run(&changed, 0));
    assert_eq!((a.partition, a.cpu, a.pool), (b.partition, b.cpu, b.pool));
}

#[test]
fn until_a_change_all_is_as_without_it() {
    let plain = lively();
    let mut spec = plain.clone();
    spec.changes = vec![
        Change {
            r#virtual: Some(4),
            smt: Some(1),
            ..change(0)
        },
        Change {
            r#virtual: Some(6),
            ..change(1)
        },
    ];
    let (a, b) = (run(&plain, 0), run(&spec, 0));
    let until = (AT / spec.interval_ns) as usize;
    for name in ["lpar1", "lpar2"] {
        for column in ["busy_ns", "tx_done", "vcsw", "ticks_idle", "interrupts"] {
            let (a, b) = (a.series(name, column), b.series(name, column));
            assert_eq!(a[..until], b[..until], "{name} {column}");
            assert_ne!(a, b, "{name} {column}");
        }
    }
}

#[test]
fn never_more_than_the_machine_has_through_any_change() {
    let mut spec = lively();
    spec.changes = (1..20)
        .map(|step| Change {
            at_ns: step * 150 * MS + 3 * MS,
            partition: (step % 2) as u16,
            entitlement: Some([0.5, 1.0, 1.5, 2.0][step as usize % 4]),
            r#virtual: Some([2, 5, 3][step as usize % 3]),
            capped: Some(step % 5 == 0),
            weight: Some([1, 255][step as usize % 2]),
            smt: Some([1, 2][step as usize / 2 % 2]),
            ..Change::default()
        })
        .collect();
    let outcome = run(&spec, 0);
    let window = spec.interval_ns as i64;
    let busy = ["lpar1", "lpar2"].map(|name| outcome.series(name, "busy_ns"));
    for (one, two) in busy[0].iter().zip(&busy[1]) {
        assert!(one + two <= 4 * window, "{one} {two}");
    }
    let idle = outcome.pool.series("pool", 0, "idle_ns");
    for ((one, two), idle) in busy[0].iter().zip(&busy[1]).zip(idle) {
        assert_eq!(one + two + idle, 4 * window);
    }
    assert!(outcome.total("lpar1", "tx_done") > 1_000.0);
}

#[test]
fn a_soft_cap_leaves_what_others_want_and_takes_what_they_leave() {
    // Both entitled to one core of four. The other one wants everything, then nothing.
    let soft = |partition: &mut Partition| {
        if let Processors::Shared { soft_cap, .. } = &mut partition.processors {
            *soft_cap = true;
        }
    };
    let mut one = partition("soft", shared(1.0, 4), loops(4));
    soft(&mut one);
    let trace = Workload::Trace {
        lengths_ns: vec![AT, AT],
        instructions_per_s: vec![2.5e9, 0.0],
        spread: Spread::Even,
    };
    let other = partition("other", shared(1.0, 4), loops(4));
    let mut spec = spec(machine("core:4"), vec![one, other]);
    let outcome = run(&spec, 0);
    adds_up(&outcome);
    let (used, rest) = (
        outcome.total("soft", "busy_ns"),
        outcome.total("other", "busy_ns"),
    );
    assert!((used / SECOND as f64 - 1.0).abs() < 0.02, "{used}");
    assert!((rest / SECOND as f64 - 3.0).abs() < 0.02, "{rest}");
    // Nobody else wants it.
    spec.partitions[1].workload = Workload::Idle;
    assert_eq!(run(&spec, 0).total("soft", "busy_ns"), 4.0 * SECOND as f64);
    // Where the other one stops wanting it, it goes to the soft one.
    spec.partitions[1].workload = trace;
    spec.partitions[1].profile.instructions_per_unit = 1e6;
    let (before, after) = halves(&run(&spec, 0), "soft");
    assert!((before - half(1.5)).abs() < half(0.05), "{before}");
    assert!(after > half(3.95), "{after}");
    // Two with a soft cap are alike.
    let mut two = spec.clone();
    two.partitions[1].workload = loops(4);
    soft(&mut two.partitions[1]);
    let (a, b) = (run(&two, 0).total("soft", "busy_ns"), 2.0 * SECOND as f64);
    assert!((a - b).abs() < 0.02 * b, "{a}");
}
