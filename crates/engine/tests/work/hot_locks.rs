//! Locks that get worse the more wait for them, where guests share processors: what is saved while
//! neighbours keep waiters away, and who is met at a lock.

use crate::common::host::{
    cgroup, group, host_machine, host_spec, of_cgroup, of_kvm, plain_kvm, threads,
    HALTING_IN_DOMAIN,
};
use crate::common::{
    capped, dedicated, loops, machine, partition, quiet_unix, run, shared, spec, transactions, MS,
    SECOND,
};
use homenode_engine::spec::{
    Change, DefinedCapacity, Distribution, Group, Guest, HostThreads, Kvm, LockKind, Partition,
    Policy, Pool, Processors, Spec, Workload,
};
use homenode_engine::steady::solve;

const KINDS: [LockKind; 3] = [LockKind::Queue, LockKind::Ticket, LockKind::TestAndSet];

fn guest(name: &str, vcpus: u16, host: HostThreads, (kind, share): (LockKind, f64)) -> Partition {
    let mut one = group(name, threads(vcpus, 256, host), loops(u32::from(vcpus)));
    one.profile.lock_share = share;
    one.profile.lock_hold_instructions = 200.0;
    one.profile.lock_kind = kind;
    one
}

/// Guests alike on the sixteen processors of two nodes; what each of them does [instructions a
/// ns].
fn beside(policy: Policy, (guests, vcpus): (usize, u16), kvm: &Kvm, lock: (LockKind, f64)) -> f64 {
    let one = |at| guest(&format!("g{at}"), vcpus, of_kvm(kvm.clone()), lock);
    let machine = host_machine(policy, "node:2 chip:1 core:8");
    let mut spec = host_spec(machine, vec![], (0..guests).map(one).collect());
    spec.duration_ns = SECOND;
    let outcome = run(&spec, 0);
    let each = (0..guests).map(|at| outcome.total(&format!("g{at}"), "instructions"));
    each.sum::<f64>() / guests as f64 / 1e9
}

/// Neighbours thin out who waits for a lock that has collapsed, so that a guest may do more beside
/// others than alone. It never does more than it would with as many virtual processors as it then
/// has processors.
#[test]
fn what_neighbours_relieve_is_never_more_than_fewer_processors_would() {
    let halting = Kvm {
        paravirtual_locks: Some(HALTING_IN_DOMAIN),
        ..plain_kvm()
    };
    for policy in [Policy::Linux, Policy::Credit2, Policy::Esxi] {
        let mut gained = 0;
        for lock in KINDS
            .into_iter()
            .flat_map(|kind| [(kind, 0.02), (kind, 0.1)])
        {
            for kvm in [plain_kvm(), halting.clone()] {
                let of = |guests, vcpus| beside(policy, (guests, vcpus), &kvm, lock);
                let alone = of(1, 16);
                for guests in [2_u16, 4] {
                    let (each, fewer) = (of(usize::from(guests), 16), of(1, 16 / guests));
                    let told = format!("{policy:?} {lock:?} {guests}: {each} {fewer} {alone}");
                    assert!(each < 1.02 * fewer, "{told}");
                    assert!(lock.0 != LockKind::Queue || each < alone, "{told}");
                    gained += u32::from(each > alone);
                }
            }
        }
        // ESXi runs all of a guest together, and under Xen equals take turns with all processors:
        // neighbours keep nobody from its lock while others of its guest run.
        assert_eq!(gained > 0, policy == Policy::Linux, "{policy:?}: {gained}");
    }
}

/// Virtual machines that ESXi runs in turn, each with all of its virtual processors at once.
fn in_turn(window_ns: u64, kind: LockKind) -> f64 {
    let one = |at| guest(&format!("g{at}"), 16, of_kvm(plain_kvm()), (kind, 0.1));
    let machine = host_machine(Policy::Esxi, "core:16");
    let mut spec: Spec = host_spec(machine, vec![], (0..2).map(one).collect());
    spec.machine.hypervisor.window_ns = window_ns;
    (spec.warmup_ns, spec.duration_ns) = (SECOND, 4 * SECOND);
    run(&spec, 0).total("g0", "instructions") / 4e9
}

/// Over how long who is busy is averaged decides nothing.
#[test]
fn a_lock_does_not_ask_how_often_occupancy_is_taken_anew() {
    for kind in KINDS {
        let [short, usual, long] = [1_000_000, 10_000_000, 50_000_000].map(|ns| in_turn(ns, kind));
        let told = format!("{kind:?}: {short} {usual} {long}");
        for some in [short, long] {
            assert!((some / usual - 1.0).abs() < 0.1, "{told}");
        }
    }
}

/// Eight threads that share a lock and may use so many processors on average [instructions in a
/// nanosecond of a processor].
fn rate(spec: &Spec) -> f64 {
    let outcome = run(spec, 0);
    outcome.total("a", "instructions") / outcome.total("a", "busy_ns")
}

/// A partition of PowerVM that is capped at so many cores.
fn at_cap(cap: f64, (kind, share): (LockKind, f64)) -> Spec {
    let mut one = partition("a", capped(cap, 8), loops(8));
    one.profile.lock_share = share;
    one.profile.lock_hold_instructions = 200.0;
    one.profile.lock_kind = kind;
    let mut made = spec(machine("core:8"), vec![one]);
    (made.warmup_ns, made.duration_ns) = (SECOND, 2 * SECOND);
    made
}

/// Processes of a Linux host with a quota of so many processors.
fn under_quota(cpus: u64, lock: (LockKind, f64)) -> Spec {
    let mut around = cgroup("g", 100);
    around.quota_ns = (cpus < 8).then_some(cpus * 100 * MS);
    let host = host_machine(Policy::Linux, "core:8");
    let mut made = host_spec(host, vec![around], vec![guest("a", 8, of_cgroup(0), lock)]);
    (made.warmup_ns, made.duration_ns) = (SECOND, 2 * SECOND);
    made
}

/// A partition of PR/SM that is capped at so many cores, alone or with its group.
fn at_slices(cap: f64, in_group: bool, lock: (LockKind, f64)) -> Spec {
    let mut made = at_cap(8.0, lock);
    made.machine.hypervisor.policy = Policy::Prsm;
    made.partitions[0].guest = Guest::Linux(quiet_unix());
    let Processors::Shared {
        capped,
        weight,
        prsm,
        ..
    } = &mut made.partitions[0].processors
    else {
        unreachable!("its processors are shared");
    };
    (*capped, *weight) = (false, 100);
    if in_group {
        prsm.group = Some(0);
        let name = "g".into();
        made.groups.push(Group { name, cap });
    } else {
        prsm.cap = Some(cap);
    }
    made
}

/// An uncapped partition of PowerVM in a pool of so many cores, or one that is capped later.
fn in_pool(maximum: f64, (changes, lock): (bool, (LockKind, f64))) -> Spec {
    let mut made = at_cap(maximum, lock);
    let Processors::Shared { capped, pool, .. } = &mut made.partitions[0].processors else {
        unreachable!("its processors are shared");
    };
    *capped = false;
    if changes {
        made.changes.push(Change {
            capped: Some(true),
            ..Change::default()
        });
    } else {
        *pool = 1;
        made.pools.push(Pool {
            name: "small".into(),
            maximum: Some(maximum),
            reserved: 0.0,
            cores: None,
        });
    }
    made
}

/// Whoever stops at a cap, a pool's maximum or a quota stops together with all others: while they
/// run they meet as many at a lock as without one, however short they run.
#[test]
fn a_limit_makes_no_lock_cheaper() {
    for lock in KINDS.map(|kind| (kind, 0.1)) {
        let pairs = [
            ("cap", at_cap(8.0, lock), at_cap(2.0, lock)),
            ("quota", under_quota(8, lock), under_quota(4, lock)),
            (
                "pool",
                in_pool(8.0, (false, lock)),
                in_pool(2.0, (false, lock)),
            ),
            (
                "later",
                in_pool(8.0, (true, lock)),
                in_pool(2.0, (true, lock)),
            ),
            (
                "slices",
                at_slices(8.0, false, lock),
                at_slices(2.0, false, lock),
            ),
            (
                "group",
                at_slices(8.0, true, lock),
                at_slices(2.0, true, lock),
            ),
        ];
        for (which, free, stopped) in pairs {
            let (all, few) = (rate(&free), rate(&stopped));
            let told = format!("{which} {lock:?}: {few} {all}");
            assert!((few / all - 1.0).abs() < 0.1, "{told}");
            if which == "later" {
                continue; // What changes has no steady state.
            }
            let solved = solve(&stopped).expect("it has a steady state");
            let found = &solved.partitions[0];
            let found = found.instructions / found.cores / 1e9;
            assert!((found / few - 1.0).abs() < 0.1, "solved {found}, {told}");
        }
    }
}

/// Beside another one that always has work for all cores and is due the rest.
fn beside_another(mut made: Spec, due: f64) -> Spec {
    let mut other = partition("b", shared(8.0 - due, 8), loops(8));
    other.guest = made.partitions[0].guest.clone();
    let slices = made.machine.hypervisor.policy == Policy::Prsm;
    let parts = [&mut made.partitions[0], &mut other].into_iter();
    for (one, cores) in parts.zip([due, 8.0 - due]) {
        let Processors::Shared {
            entitlement,
            weight,
            ..
        } = &mut one.processors
        else {
            unreachable!("its processors are shared");
        };
        if slices {
            (*entitlement, *weight) = (0.0, (100.0 * cores) as u16);
        } else {
            *entitlement = entitlement.min(cores);
        }
    }
    made.partitions.push(other);
    made
}

/// Nor does it matter whether a limit or others leave so much: not a step at the limit that is just
/// what others leave, and those meet at the lock that compute at once.
#[test]
fn others_make_no_lock_cheaper() {
    let uncapped = |mut made: Spec| {
        let Processors::Shared { capped, weight, .. } = &mut made.partitions[0].processors else {
            unreachable!("its processors are shared");
        };
        (*capped, *weight) = (false, 128);
        made
    };
    for lock in KINDS.map(|kind| (kind, 0.1)) {
        for due in [2.0, 4.0] {
            let pairs = [
                (
                    beside_another(uncapped(at_cap(due, lock)), due),
                    beside_another(at_cap(0.95 * due, lock), due),
                ),
                (
                    beside_another(at_slices(8.0, false, lock), due),
                    beside_another(at_slices(0.95 * due, false, lock), due),
                ),
            ];
            for (free, limited) in pairs {
                let (left, stopped) = (rate(&free), rate(&limited));
                let told = format!("{lock:?} {due}: {left}, {stopped} stopped");
                assert!((left / stopped - 1.0).abs() < 0.03, "{told}");
                assert!((told_over_run(&free) - 1.0).abs() < 0.06, "{told}");
            }
        }
    }
}

/// What comes and goes finds at its lock those that compute when it comes, itself included: of
/// eight that each compute for some third of the time more than the mean tells.
#[test]
fn who_comes_to_a_lock_finds_more_than_on_average() {
    let of = |workload: Workload| {
        let mut made = at_cap(8.0, (LockKind::Ticket, 0.1));
        made.machine.hypervisor.policy = Policy::Dedicated;
        let one = &mut made.partitions[0];
        one.processors = dedicated(0..8, false);
        one.guest = Guest::Linux(quiet_unix());
        one.profile.instructions_per_unit = 1e6;
        one.workload = workload;
        made.duration_ns = 8 * SECOND;
        made
    };
    let with = |per_s| of(transactions(per_s, Distribution::Exponential));
    let [alone, two, four] = [1, 2, 4].map(|count| rate(&of(loops(count))));
    let seldom = rate(&with(100.0));
    assert!((seldom / alone - 1.0).abs() < 0.01, "{seldom} {alone}");
    let some = with(2_400.0);
    let outcome = run(&some, 0);
    let mean = outcome.total("a", "busy_ns") / 8e9;
    let found = rate(&some);
    assert!(
        (2.0..3.0).contains(&mean) && found < two && found > four,
        "{mean}: {found}"
    );
    // As for a number that never changes, of one and the others' seven eighths.
    let meets = 1.0 + mean * 7.0 / 8.0;
    let steady = two + (meets - 2.0) / 2.0 * (four - two);
    assert!(
        (found / steady - 1.0).abs() < 0.02,
        "{mean}: {found} {steady}"
    );
    assert!((told_over_run(&some) - 1.0).abs() < 0.03, "{found}");
}

/// What is solved of a partition over what it does in a run [instructions of a processor].
fn told_over_run(made: &Spec) -> f64 {
    let found = &solve(made).expect("it has a steady state").partitions[0];
    found.instructions / found.cores / 1e9 / rate(made)
}

/// Nobody rests whom a limit does not stop, though a quota has fewer slices than processors; and of
/// short periods in which it does the mean is nearer than what few slices would make of it.
#[test]
fn a_quota_that_does_not_bind_is_none() {
    for lock in KINDS.map(|kind| (kind, 0.1)) {
        for (cpus, period) in [(8, 10), (20, 1), (4, 10)] {
            let mut made = under_quota(4, lock);
            made.cgroups[0].quota_ns = Some(cpus * period * MS);
            made.cgroups[0].period_ns = period * MS;
            let told = told_over_run(&made);
            assert!(
                (0.6..1.6).contains(&told),
                "{lock:?} {cpus} {period}: {told}"
            );
        }
    }
}

/// A limit that all together cannot reach changes nothing of a run.
#[test]
fn a_limit_beyond_all_processors_is_none() {
    let lock = (LockKind::Ticket, 0.1);
    let beside = |limit: Option<f64>| {
        let mut made = at_slices(8.0, false, lock);
        let mut other = partition("b", shared(4.0, 8), loops(8));
        other.guest = Guest::Linux(quiet_unix());
        for one in [&mut made.partitions[0], &mut other] {
            let Processors::Shared { weight, prsm, .. } = &mut one.processors else {
                unreachable!("its processors are shared");
            };
            (*weight, prsm.cap) = (100, None);
        }
        let Processors::Shared { entitlement, .. } = &mut other.processors else {
            unreachable!("its processors are shared");
        };
        *entitlement = 0.0;
        let Processors::Shared {
            entitlement, prsm, ..
        } = &mut made.partitions[0].processors
        else {
            unreachable!("its processors are shared");
        };
        (*entitlement, prsm.cap) = (0.0, limit);
        made.partitions.push(other);
        made
    };
    let free = rate(&beside(None));
    assert_eq!(rate(&beside(Some(8.0))), free);
    let mut averaged = beside(None);
    let Processors::Shared { prsm, .. } = &mut averaged.partitions[0].processors else {
        unreachable!("its processors are shared");
    };
    prsm.defined_capacity = Some(DefinedCapacity {
        cores: 8.0,
        window_ns: SECOND,
        start_cores: 0.0,
    });
    assert_eq!(rate(&averaged), free);
    // Who is capped below its share has all cores while it runs: it throws off who has more.
    for cap in [1.0, 2.0, 3.0] {
        let told = told_over_run(&beside(Some(cap)));
        assert!((0.8..1.25).contains(&told), "{cap}: {told}");
    }
}

/// Guests that share a set of processors meet as those do that share a host. A lock that is handed
/// on in order waits in lines that last, as threads of both are on the processors at once, and is
/// left to simulations.
#[test]
fn a_set_of_processors_is_as_a_host() {
    let of = |vcpus: u16, kind| {
        let mut made = under_quota(8, (kind, 0.05));
        made.machine = host_machine(Policy::Linux, "core:16");
        made.cgroups.clear();
        let one = |name| guest(name, vcpus, of_kvm(plain_kvm()), (kind, 0.05));
        made.partitions = vec![one("a"), one("b")];
        for one in &mut made.partitions {
            let Processors::Shared { host, .. } = &mut one.processors else {
                unreachable!("its processors are shared");
            };
            host.pins = (0..vcpus).map(|_| (0..8).collect()).collect();
        }
        made
    };
    for kind in KINDS {
        for (vcpus, within) in [(8, 0.02), (12, 0.1)] {
            let made = of(vcpus, kind);
            if kind.in_order() {
                let fault = solve(&made).expect_err("lines last").to_string();
                assert!(fault.contains("in order"), "{fault}");
            } else {
                let told = told_over_run(&made);
                assert!((told - 1.0).abs() < within, "{kind:?} {vcpus}: {told}");
            }
        }
    }
}
