//! Who loses a core with a spin lock in its hands holds its siblings up: under PowerVM and PR/SM as
//! under KVM (`kvm.rs`).

use crate::common::*;
use homenode_engine::hypervisor::policies::by_weight;
use homenode_engine::spec::{LockKind, Partition, Policy, Processors};

/// As many loops as processors, which hold a lock for 2 us at a time.
fn locking(processors: Processors, lock_share: f64) -> Partition {
    let count = match &processors {
        Processors::Shared { r#virtual, .. } => u32::from(*r#virtual),
        Processors::Dedicated { .. } => unreachable!("they are shared"),
    };
    let mut one = partition("a", processors, loops(count));
    one.profile.lock_share = lock_share;
    one.profile.lock_kind = LockKind::TestAndSet;
    one.profile.lock_hold_instructions = 2_000.0;
    one
}

/// Two partitions on four cores, of which ours is due 2.4: it has a lock and so many logical cores.
fn under_prsm(cores: u16, lock_share: f64) -> Outcome {
    let other = partition("b", vertical(4), loops(4));
    let mut spec = spec(
        machine("core:4"),
        vec![locking(vertical(cores), lock_share), other],
    );
    for (one, parts) in spec.partitions.iter_mut().zip([60, 40]) {
        if let Processors::Shared { weight, .. } = &mut one.processors {
            *weight = parts;
        }
    }
    spec.machine.hypervisor.policy = Policy::Prsm;
    spec.machine.hypervisor.prsm.run_time_ns = Some(10 * MS);
    for (at, share) in by_weight(&spec).into_iter().enumerate() {
        if let Processors::Shared { entitlement, .. } = &mut spec.partitions[at].processors {
            *entitlement = share.expect("shared");
        }
    }
    let outcome = run(&spec, 0);
    assert_all(&spec, &outcome);
    outcome
}

/// Eight virtual processors of 0.8 cores beside others that leave them little more.
fn under_phyp(lock_share: f64, held: f64) -> Outcome {
    let mut one = locking(shared(0.8, 8), lock_share);
    one.profile.lock_hold_instructions = held;
    let other = partition("b", shared(3.1, 4), loops(4));
    let spec = spec(machine("core:4"), vec![one, other]);
    let outcome = run(&spec, 0);
    assert_all(&spec, &outcome);
    outcome
}

fn instructions_per_ns(outcome: &Outcome) -> f64 {
    outcome.total("a", "instructions") / outcome.total("a", "busy_ns")
}

/// Two logical cores keep their cores; of three or four some are entitled to a part of one and away
/// for whole slices, with the lock now and then.
#[test]
fn fewer_logical_cores_do_more_where_a_holder_may_lose_its_core() {
    for (share, gain) in [(0.02, 1.0001), (0.1, 1.003), (0.3, 1.02)] {
        let [two, three, four] = [2, 3, 4].map(|cores| under_prsm(cores, share));
        let [few, more, most] = [&two, &three, &four].map(instructions_per_ns);
        assert!(few > gain * more, "{share}: {few} {more}");
        assert!(few > gain * most, "{share}: {few} {most}");
        assert!(two.total("a", "busy_ns") <= 1.001 * four.total("a", "busy_ns"));
    }
    // Without a lock they are alike.
    let [few, most] = [2, 4].map(|cores| instructions_per_ns(&under_prsm(cores, 0.0)));
    assert!((few / most - 1.0).abs() < 1e-6, "{few} {most}");
}

/// What is lost goes to nothing with the lock.
#[test]
fn a_lock_that_is_hardly_held_costs_hardly_anything() {
    let free = instructions_per_ns(&under_prsm(4, 0.0));
    let lost = |share| 1.0 - instructions_per_ns(&under_prsm(4, share)) / free;
    let losses = [0.1, 0.01, 0.001, 1e-6].map(lost);
    assert!(losses.windows(2).all(|two| two[0] > two[1]), "{losses:?}");
    assert!(losses[2] < 2e-3 && losses[3] < 1e-5, "{losses:?}");
}

#[test]
fn who_comes_to_the_lock_spins_and_confers() {
    let outcome = under_phyp(0.3, 2_000.0);
    let (calls, spun) = (
        outcome.total("a", "confer_calls"),
        outcome.total("a", "book_spin"),
    );
    assert!(calls > 50.0, "{calls} calls");
    // A thousand turns of ten nanoseconds each time, and what is spun on holders that run.
    assert!(spun > 10_000.0 * calls, "{spun} in {calls} calls");
    // Two or three compute at once and hold it three tenths of the time each.
    let (spun, busy) = (spun, outcome.total("a", "busy_ns"));
    assert!(
        spun < 0.3 * busy,
        "the holder runs again at once: {spun} of {busy}"
    );
}

#[test]
fn who_does_not_come_to_the_lock_meanwhile_does_not_confer() {
    // Held for a second at a time, seldom: a sibling comes to it once in two seconds.
    let outcome = under_phyp(0.3, 1e9);
    let calls = outcome.total("a", "confer_calls");
    assert!(calls < 10.0, "{calls} calls");
}

/// Under PowerVM, too; and who confers to the one that the lock has gone to gets it back soon.
#[test]
fn a_lock_that_goes_round_in_order_waits_for_who_is_away() {
    let with = |kind, lock_share| {
        let mut one = locking(shared(0.8, 8), lock_share);
        one.profile.lock_kind = kind;
        let other = partition("b", shared(3.1, 4), loops(4));
        let spec = spec(machine("core:4"), vec![one, other]);
        let outcome = run(&spec, 0);
        assert_all(&spec, &outcome);
        outcome
    };
    let [set, queue] = [LockKind::TestAndSet, LockKind::Queue].map(|kind| with(kind, 0.3));
    let spun = |outcome: &Outcome| outcome.total("a", "book_spin");
    assert!(spun(&queue) > 2.0 * spun(&set));
    assert!(queue.total("a", "confer_calls") > set.total("a", "confer_calls"));
    assert!(instructions_per_ns(&queue) < instructions_per_ns(&set));
    let [set, queue] = [LockKind::TestAndSet, LockKind::Queue].map(|kind| with(kind, 1e-5));
    let ratio = instructions_per_ns(&queue) / instructions_per_ns(&set);
    assert!((ratio - 1.0).abs() < 1e-3, "{ratio}");
}

/// However long a dispatch takes, who is handed a core for the lock's sake computes until it comes
/// to the lock again: a line of waiters that hand their cores on does some work for each of them.
#[test]
fn who_gets_a_core_for_the_lock_computes_before_it_comes_back_to_it() {
    let mut one = locking(shared(0.8, 8), 0.05);
    one.profile.lock_kind = LockKind::Queue;
    one.profile.lock_hold_instructions = 20.0;
    let other = partition("b", shared(3.1, 4), loops(4));
    let mut spec = spec(machine("core:4"), vec![one, other]);
    spec.machine.hypervisor.dispatch_ns = 5_000;
    spec.machine.hypervisor.confer_ns = 1_000;
    let outcome = run(&spec, 0);
    let calls = outcome.total("a", "confer_calls");
    assert!(calls > 1_000.0, "{calls}");
    let each = outcome.total("a", "instructions") / calls;
    // 380 instructions between two turns with it.
    assert!(each > 300.0, "{each} instructions for each of {calls}");
}
