//! PR/SM: logical cores that spin for a lock give their time to its holder. That is their
//! partition's affair: a neighbour that has no lock, and always wants to run, has all that it is
//! entitled to in each slice, whatever locks the others have.

use crate::common::*;
use homenode_engine::hypervisor::policies::by_weight;
use homenode_engine::spec::{LockKind, LogicalCores, Partition, Polarization, Policy, Processors};
use proptest::prelude::*;
use Polarization::{Horizontal, Vertical};

const SLICE_NS: u64 = 10 * MS;

/// Endless loops, two a logical core.
fn looping(name: &str, cores: u16, weight: u16, polarization: Polarization) -> Partition {
    let processors = Processors::Shared {
        entitlement: 0.0,
        r#virtual: cores,
        capped: false,
        weight,
        pool: 0,
        soft_cap: false,
        prsm: LogicalCores {
            polarization,
            ..LogicalCores::default()
        },
        host: Box::default(),
    };
    partition(name, processors, loops(2 * u32::from(cores)))
}

/// Has a lock for a part of its time; one of vertical logical cores has its homes to give.
#[derive(Clone, Copy, Debug)]
struct Lock {
    share: f64,
    hold: f64,
    kind: LockKind,
    cap: Option<f64>,
}

fn locking(name: &str, cores: u16, weight: u16, lock: Lock) -> Partition {
    let mut made = looping(name, cores, weight, Vertical);
    made.profile.lock_share = lock.share;
    made.profile.lock_hold_instructions = lock.hold;
    made.profile.lock_kind = lock.kind;
    if let Processors::Shared { prsm, .. } = &mut made.processors {
        prsm.cap = lock.cap;
    }
    made
}

/// The least that a partition has in a slice, in parts of what its weight entitles it to; how
/// often others gave their time away.
fn least_of(name: &str, cores: u16, partitions: Vec<Partition>) -> (f64, i64) {
    let mut spec = spec(machine(&format!("core:{cores}")), partitions);
    spec.machine.hypervisor.policy = Policy::Prsm;
    spec.machine.hypervisor.prsm.run_time_ns = Some(SLICE_NS);
    spec.duration_ns = 40 * SLICE_NS;
    let mut due = 0.0;
    for (at, share) in by_weight(&spec).into_iter().enumerate() {
        let one = &mut spec.partitions[at];
        if let Processors::Shared { entitlement, .. } = &mut one.processors {
            *entitlement = share.expect("shared");
            due = if one.name == name { *entitlement } else { due };
        }
    }
    let outcome = run(&spec, 0);
    assert_all(&spec, &outcome);
    let had = outcome.series(name, "busy_ns").into_iter().min();
    let gifts = spec.partitions.iter();
    let gifts = gifts.map(|one| outcome.total(&one.name, "confer_calls") as i64);
    let had = had.expect("slices") as f64;
    (had / (due * SLICE_NS as f64), gifts.sum())
}

fn assert_has_its_due(cores: u16, free: Partition, lockers: Vec<Partition>) {
    let name = free.name.clone();
    let (least, gifts) = least_of(&name, cores, [vec![free], lockers].concat());
    assert!(gifts > 0, "nobody gives anything");
    assert!(least > 0.99, "{least} of its due on {cores} cores");
}

#[test]
fn what_spinners_give_is_not_taken_from_a_neighbour() {
    let lock = |share, hold, kind, cap| Lock {
        share,
        hold,
        kind,
        cap,
    };
    let queue = LockKind::Queue;
    for (cores, of_free, weights, lock) in [
        (6, 3, (8, 92), lock(0.3, 2_000.0, queue, None)),
        (6, 3, (8, 92), lock(0.3, 2_000.0, queue, Some(5.6))),
        (12, 7, (5, 100), lock(0.6, 200.0, queue, None)),
        (12, 1, (5, 100), lock(0.6, 200.0, queue, None)),
        (4, 2, (10, 100), lock(0.6, 200.0, queue, None)),
        (12, 7, (5, 100), lock(0.1, 2_000.0, LockKind::Ticket, None)),
        (20, 20, (3, 100), lock(0.6, 200.0, queue, None)),
    ] {
        let free = looping("free", of_free, weights.0, Horizontal);
        let locker = locking("locks", cores, weights.1, lock);
        assert_has_its_due(cores, free, vec![locker]);
    }
}

#[test]
fn two_neighbours_with_locks_take_nothing_either() {
    let lock = Lock {
        share: 0.3,
        hold: 2_000.0,
        kind: LockKind::Queue,
        cap: None,
    };
    let lockers = ["a", "b"].map(|name| locking(name, 3, 46, lock));
    assert_has_its_due(6, looping("free", 3, 8, Horizontal), lockers.to_vec());
}

fn any_lock() -> impl Strategy<Value = Lock> {
    let kinds = vec![LockKind::Queue, LockKind::Ticket, LockKind::TestAndSet];
    let holds = vec![200.0, 500.0, 2_000.0, 20_000.0];
    let of = (0.02..0.9, prop::sample::select(holds));
    let and = (prop::sample::select(kinds), prop::option::of(0.3..12.0));
    (of, and).prop_map(|((share, hold), (kind, cap))| Lock {
        share,
        hold,
        kind,
        cap,
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 80,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Who always wants to run and has no lock gets what he is entitled to, slice by slice.
    #[test]
    fn who_has_no_lock_has_his_due(
        (cores, free) in (2u16..13).prop_flat_map(|cores| (Just(cores), 1..=cores)),
        weight in 2u16..60,
        vertical in any::<bool>(),
        lockers in prop::collection::vec((any_lock(), 0.5..1.0_f64, 50u16..200), 1..3),
    ) {
        let polarization = if vertical { Vertical } else { Horizontal };
        let mut partitions = vec![looping("free", free, weight, polarization)];
        for (at, (lock, part, weight)) in lockers.into_iter().enumerate() {
            let of_it = (f64::from(cores) * part).ceil() as u16;
            partitions.push(locking(["a", "b"][at], of_it, weight, lock));
        }
        let (least, _) = least_of("free", cores, partitions);
        prop_assert!(least > 0.98, "{least}");
    }
}
