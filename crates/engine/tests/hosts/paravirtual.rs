//! What a guest that knows it is one does about virtual processors that are off: queue locks whose
//! waiters halt and that others may take meanwhile.

use crate::common::host::{
    cgroup, group, host_machine, host_spec, of_kvm, on_off, plain_kvm, threads,
};
use crate::common::{loops, run, Outcome, SECOND};
use homenode_engine::spec::{
    Cgroup, Kvm, LockKind, ParavirtualLocks, PauseLoop, Policy, Processors, Spec, Virtualized,
    Workload,
};
use homenode_engine::steady::solve;

const HALTING: ParavirtualLocks = ParavirtualLocks {
    spin_ns: 500_000,
    early_ns: 10_000,
    early_if_preempted: false,
    kick_yields: true,
};

fn knowing(locks: Option<ParavirtualLocks>) -> Kvm {
    Kvm {
        paravirtual_locks: locks,
        pause_loop: Some(PauseLoop::default()),
        directed_yield: true,
        ..plain_kvm()
    }
}

/// So many guests with as many virtual processors as there are processors, and a queue lock.
fn beside(guests: usize, vcpus: u16, kvm: &Kvm, lock_share: f64) -> Spec {
    let one = |at: usize| {
        let host = of_kvm(kvm.clone());
        let work = loops(u32::from(vcpus));
        let mut one = group(&format!("g{at}"), threads(vcpus, 100, host), work);
        one.profile.lock_share = lock_share;
        one.profile.lock_hold_instructions = 2_000.0;
        one.profile.lock_kind = LockKind::Queue;
        one
    };
    let machine = host_machine(Policy::Linux, &format!("core:{vcpus}"));
    let mut spec = host_spec(machine, vec![], (0..guests).map(one).collect());
    spec.duration_ns = 2 * SECOND;
    spec
}

fn done(outcome: &Outcome, guests: usize) -> f64 {
    let each = (0..guests).map(|at| outcome.total(&format!("g{at}"), "instructions"));
    each.sum::<f64>() / 2e9
}

fn together(guests: usize, vcpus: u16, kvm: &Kvm, lock_share: f64) -> f64 {
    done(&run(&beside(guests, vcpus, kvm, lock_share), 0), guests)
}

#[test]
fn a_guest_alone_never_waits_for_who_is_off() {
    let [spins, halts] = [None, Some(HALTING)].map(|locks| together(1, 8, &knowing(locks), 0.1));
    assert!((halts / spins - 1.0).abs() < 1e-3, "{halts} {spins}");
}

/// A queue waits for each that has lost its processor; with waiters that halt and a lock that may
/// be taken meanwhile, for its holder alone.
#[test]
fn waiters_that_halt_save_what_a_queue_loses() {
    for lock_share in [0.03, 0.1, 0.3] {
        let of = |guests, locks| together(guests, 8, &knowing(locks), lock_share);
        for guests in [2, 3] {
            let [spins, halts] = [None, Some(HALTING)].map(|locks| of(guests, locks));
            // Of a lock that is held most of the time, wake-ups take what is not spun.
            let least = if lock_share < 0.3 { 1.0 } else { 0.97 };
            assert!(
                halts > least * spins,
                "{lock_share} {guests}: {halts} {spins}"
            );
            let never = Kvm {
                lock_holder_preemption: false,
                ..knowing(None)
            };
            let never = together(guests, 8, &never, lock_share);
            assert!(
                halts < 1.01 * never,
                "{lock_share} {guests}: {halts} {never}"
            );
        }
    }
}

#[test]
fn a_guest_more_never_makes_another_one_faster() {
    for lock_share in [0.01, 0.1, 0.3] {
        for (early_if_preempted, kick_yields) in [(false, false), (false, true), (true, false)] {
            let locks = ParavirtualLocks {
                early_if_preempted,
                kick_yields,
                ..HALTING
            };
            let kvm = knowing(Some(locks));
            let [one, two, three] = [1, 2, 3].map(|n| {
                let outcome = run(&beside(n, 8, &kvm, lock_share), 0);
                outcome.total("g0", "instructions")
            });
            let told = format!("{lock_share} {locks:?}: {one} {two} {three}");
            assert!(two < 0.9 * one && three < 0.95 * two, "{told}");
        }
    }
}

/// Two guests with as many virtual processors as there are processors and a ticket lock: what they
/// do together, whose waiters spin on, and whose waiters halt [instructions a ns].
fn of_tickets(guests: usize, vcpus: u16, locks: Option<ParavirtualLocks>, share: f64) -> Vec<f64> {
    let mut spec = beside(guests, vcpus, &knowing(locks), share);
    for one in &mut spec.partitions {
        one.profile.lock_kind = LockKind::Ticket;
    }
    spec.duration_ns = SECOND;
    let outcome = run(&spec, 0);
    let each = (0..guests).map(|at| outcome.total(&format!("g{at}"), "instructions"));
    each.map(|done| done / 1e9).collect()
}

/// With tickets nobody halts early behind one that has halted, as nobody knows who is before him:
/// waiting by halting takes nothing from guests beside each other (Linux, commit 545ac13892ab).
#[test]
fn tickets_lose_nothing_by_halting() {
    let locks = ParavirtualLocks {
        kick_yields: false,
        ..HALTING
    };
    for (vcpus, share) in [(8, 0.02), (16, 0.02), (16, 0.05)] {
        let of = |locks| of_tickets(2, vcpus, locks, share).iter().sum::<f64>();
        let [spins, halts] = [None, Some(locks)].map(of);
        assert!(
            halts > 0.95 * spins && halts <= f64::from(vcpus),
            "{vcpus} {share}: {halts} {spins}"
        );
    }
}

/// Nor does a guest gain by one more beside it, however soon waiters halt.
#[test]
fn a_guest_more_never_helps_one_that_waits_for_tickets() {
    for (spin_ns, share) in [(20_000, 0.02), (500_000, 0.02), (500_000, 0.1)] {
        let locks = Some(ParavirtualLocks { spin_ns, ..HALTING });
        let [one, two, three] = [1, 2, 3].map(|guests| of_tickets(guests, 8, locks, share));
        let told = format!("{spin_ns} {share}: {one:?} {two:?} {three:?}");
        let all = |each: &[f64]| each.iter().sum::<f64>();
        assert!(
            all(&two) < 1.01 * one[0] && all(&three) < 1.01 * one[0],
            "{told}"
        );
        assert!(
            two.iter().chain(&three).all(|each| *each < 0.75 * one[0]),
            "{told}"
        );
    }
}

/// A ticket is nobody else's: while its owner wakes, all who come stand in line. Who takes a lock
/// out of order has no line to halt in.
#[test]
fn a_ticket_waits_for_its_owner_and_test_and_set_has_no_line() {
    let kvm = Kvm {
        pause_loop: None,
        ..knowing(Some(HALTING))
    };
    let of = |kind| {
        let mut spec = beside(2, 16, &kvm, 0.1);
        for one in &mut spec.partitions {
            one.profile.lock_kind = kind;
        }
        let outcome = run(&spec, 0);
        (done(&outcome, 2), outcome.total("g0", "nvcsw"))
    };
    let [queue, ticket, set] = [LockKind::Queue, LockKind::Ticket, LockKind::TestAndSet].map(of);
    assert!(ticket.0 < 0.9 * queue.0, "{ticket:?} {queue:?}");
    assert!(ticket.1 > 1_000.0, "{ticket:?}");
    assert_eq!(set.1, 0.0, "{set:?}");
}

/// What a hot lock costs two guests on the processors of one, all told [instructions a ns].
fn cascading(kvm: &Kvm, lock_share: f64) -> (f64, f64) {
    let outcome = run(&beside(2, 16, kvm, lock_share), 0);
    let halts = outcome.total("g0", "nvcsw") + outcome.total("g1", "nvcsw");
    (done(&outcome, 2), halts)
}

/// A line behind one that has halted lasts for as long as others come to a held lock while it
/// wakes: the slower wake-ups are, and the more of the time the lock is held, the fewer run.
#[test]
fn lines_last_where_wake_ups_are_slower_than_arrivals() {
    let early = ParavirtualLocks {
        early_if_preempted: true,
        kick_yields: false,
        ..HALTING
    };
    let of = |path_ns, share| {
        let kvm = Kvm {
            exit_ns: path_ns,
            entry_ns: path_ns,
            ..knowing(Some(early))
        };
        cascading(&kvm, share)
    };
    let hot = [0, 300, 1_000, 5_000].map(|path| of(path, 0.1));
    let sorted = hot.is_sorted_by(|one, next| one.0 > next.0 && one.1 < next.1);
    assert!(sorted && hot[3].0 < 0.8 * hot[0].0, "{hot:?}");
    // Seldom held, the lock is free when one comes to it, and no line lasts.
    let cool = of(1_000, 0.01);
    assert!(cool.0 > 15.5 && cool.1 < 0.1 * hot[2].1, "{cool:?}");
}

/// Whether the solver refuses a layout for its lines.
fn is_refused(spec: &Spec) -> bool {
    match solve(spec) {
        Ok(_) => false,
        Err(fault) => {
            assert!(format!("{fault:?}").contains("spun for"), "{fault:?}");
            true
        }
    }
}

/// The solver knows no such lines, and says so where they may last.
#[test]
fn lines_that_may_last_are_not_solved() {
    let kvm = knowing(Some(HALTING));
    let refused = |guests, kvm: &Kvm, share| is_refused(&beside(guests, 16, kvm, share));
    assert!(refused(2, &kvm, 0.1));
    assert!(!refused(1, &kvm, 0.1));
    assert!(!refused(2, &kvm, 0.01));
    // Those that spin in line wait no shorter for one that is off.
    assert!(refused(2, &knowing(None), 0.1));
    assert!(!refused(1, &knowing(None), 0.1));
}

/// Lines begin where virtual processors wait for processors, whatever keeps others from them.
#[test]
fn it_is_waits_for_processors_that_make_lines_last() {
    let kvm = knowing(Some(HALTING));
    // On a host with processors for both of them, both have to do with half of these.
    let mut spec = beside(2, 16, &kvm, 0.1);
    spec.machine = host_machine(Policy::Linux, "core:32");
    assert!(!is_refused(&spec));
    let mut pinned = spec.clone();
    for one in &mut pinned.partitions {
        if let Processors::Shared { host, .. } = &mut one.processors {
            host.pins = vec![(0..16).collect(); 16];
        }
    }
    assert!(is_refused(&pinned));
    let mut grouped = spec;
    grouped.cgroups = vec![Cgroup {
        cpuset: Some((0..16).collect()),
        ..cgroup("both", 100)
    }];
    for one in &mut grouped.partitions {
        if let Processors::Shared { host, .. } = &mut one.processors {
            host.cgroup = Some(0);
        }
    }
    assert!(is_refused(&grouped));
    // Guests that hardly do anything wait for nobody, and many may share a few processors.
    let mut idle = beside(4, 16, &kvm, 0.1);
    for one in &mut idle.partitions {
        on_off(16, 20_000.0, 100_000_000, one);
    }
    assert!(!is_refused(&idle));
}

/// Who halts in line is polled for, as after any halt: he is there sooner when it is his turn.
#[test]
fn waiters_that_halt_are_polled_for() {
    let of = |poll_ns| {
        let locks = ParavirtualLocks {
            early_if_preempted: true,
            ..HALTING
        };
        let kvm = Kvm {
            halt_poll_ns: poll_ns,
            ..knowing(Some(locks))
        };
        cascading(&kvm, 0.1)
    };
    let [never, polled] = [0, 200_000].map(of);
    assert!(
        polled.0 > never.0 && polled.1 < never.1,
        "{never:?} {polled:?}"
    );
}

/// A kick costs whoever does it the way out of its guest, whether its host polls for who is kicked
/// or has to wake it.
#[test]
fn a_kick_costs_the_kicker_though_the_kicked_is_polled_for() {
    let of = |exit_ns, poll_ns| {
        let locks = ParavirtualLocks {
            early_if_preempted: true,
            kick_yields: false,
            ..HALTING
        };
        let kvm = Kvm {
            halt_poll_ns: poll_ns,
            ..knowing(Some(locks))
        };
        let mut spec = beside(2, 16, &kvm, 0.5);
        for one in &mut spec.partitions {
            if let Processors::Shared { host, .. } = &mut one.processors {
                host.virtualized = Some(Box::new(Virtualized {
                    page_bytes: 4_096,
                    exit_ns,
                    timer_exits: 0,
                    posted_interrupts: true,
                }));
            }
        }
        done(&run(&spec, 0), 2)
    };
    for poll_ns in [0, 10_000_000] {
        let [free, paid] = [0, 20_000].map(|exit_ns| of(exit_ns, poll_ns));
        assert!(paid < 0.9 * free, "{poll_ns}: {free} {paid}");
    }
}

/// Whatever waits in whichever line, each guest goes on: its second half of the time brings about
/// what the first did.
#[test]
fn no_line_is_forgotten() {
    let kinds = [LockKind::Queue, LockKind::Ticket];
    let cases = kinds
        .into_iter()
        .flat_map(|kind| (0_u32..48).map(move |case| (kind, case)));
    for (kind, case) in cases {
        let vcpus = [3, 6, 12, 16][case as usize % 4];
        let locks = ParavirtualLocks {
            spin_ns: [20_000, 1_000_000][case as usize / 4 % 2],
            early_ns: 10_000,
            early_if_preempted: case / 8 % 2 == 1,
            kick_yields: case / 16 % 2 == 1,
        };
        let kvm = Kvm {
            halt_poll_ns: [0, 200_000][case as usize / 2 % 2],
            ..knowing(Some(locks))
        };
        let guests = 2 + case as usize % 2;
        let mut spec = beside(guests, vcpus, &kvm, [0.02, 0.1, 0.5][case as usize % 3]);
        for one in &mut spec.partitions {
            one.profile.lock_kind = kind;
        }
        if case % 5 == 0 {
            // More threads than virtual processors: the guest has slices of its own.
            spec.partitions[0].workload = loops(2 * u32::from(vcpus) + 1);
        }
        if case % 7 == 0 {
            // One that comes and goes: virtual processors sleep for want of work, too.
            spec.partitions[1].workload = Workload::Loops {
                count: u32::from(vcpus),
                endless: true,
                busy_ns: 300_000,
                rest_ns: 200_000,
            };
        }
        let [half, whole] = [SECOND / 2, SECOND].map(|duration| {
            spec.duration_ns = duration;
            let outcome = run(&spec, 0);
            let of = |at: usize| outcome.total(&format!("g{at}"), "instructions");
            (0..guests).map(of).collect::<Vec<_>>()
        });
        for (half, whole) in half.iter().zip(&whole) {
            let second = whole - half;
            // A ticket waits for its owner to wake, so that one guest may have more than another,
            // and it may collapse in the midst of the run.
            let least = if kind == LockKind::Ticket { 0.1 } else { 0.3 };
            assert!(
                *half > 1e7 && second > least * half,
                "{kind:?} {case}: {half} {second}"
            );
        }
    }
}

/// Nor is a virtual processor that has halted in one, when the lock is handed to another that has
/// lost its processor: each that always has work runs in each quarter of a second.
#[test]
fn who_sleeps_in_line_is_woken_though_the_lock_goes_to_one_that_is_away() {
    let cases = [4_u16, 8, 16].into_iter();
    for (vcpus, spin_ns) in cases.flat_map(|vcpus| [20_000, 1_000_000].map(|ns| (vcpus, ns))) {
        let locks = ParavirtualLocks { spin_ns, ..HALTING };
        let mut spec = beside(3, vcpus, &knowing(Some(locks)), 0.05);
        for one in &mut spec.partitions {
            one.profile.lock_kind = LockKind::Ticket;
        }
        spec.interval_ns = SECOND / 4;
        let cpus = run(&spec, 0).cpu;
        let [time, user, system] = ["time_ns", "user_ns", "sys_ns"].map(|name| cpus.at(name));
        for row in cpus.rows() {
            let (at, works) = (row[time], row[user] + row[system]);
            assert!(works > 0, "{vcpus} {spin_ns}: nothing at {at}");
        }
    }
}

/// Who halts gives its processor away: it is used for spinning no more.
#[test]
fn the_sooner_waiters_halt_the_less_they_spin() {
    let spun = |spin_ns| {
        let locks = ParavirtualLocks { spin_ns, ..HALTING };
        let kvm = Kvm {
            pause_loop: None,
            ..knowing(Some(locks))
        };
        let outcome = run(&beside(2, 8, &kvm, 0.1), 0);
        outcome.total("g0", "book_spin") / outcome.total("g0", "instructions")
    };
    let [soon, late, never] = [20_000, 500_000, 1_000_000_000].map(spun);
    assert!(soon < late && late < never, "{soon} {late} {never}");
}

/// Guests whose threads take a mapping back every so often, without a lock.
fn flushing(guests: usize, every: f64, kvm: &Kvm) -> Outcome {
    let mut spec = beside(guests, 8, kvm, 0.0);
    for one in &mut spec.partitions {
        one.profile.flush_instructions = every;
    }
    run(&spec, 0)
}

fn asking(paravirtual_flush: bool, helped: bool) -> Kvm {
    Kvm {
        paravirtual_flush,
        pause_loop: helped.then(PauseLoop::default),
        directed_yield: helped,
        ..plain_kvm()
    }
}

/// Alone nobody is off, and the hypervisor flushes for those that are.
#[test]
fn flushes_cost_nothing_where_nobody_waits_for_anybody() {
    let never = done(&flushing(3, 0.0, &asking(false, true)), 3);
    let deferred = done(&flushing(3, 1e5, &asking(true, true)), 3);
    assert_eq!(never, deferred);
    let [never, alone] = [0.0, 1e5].map(|every| done(&flushing(1, every, &asking(false, true)), 1));
    assert!((alone / never - 1.0).abs() < 1e-3, "{alone} {never}");
}

#[test]
fn flushes_wait_for_virtual_processors_that_are_off() {
    for helped in [false, true] {
        let kvm = asking(false, helped);
        let of = |guests, every| done(&flushing(guests, every, &kvm), guests);
        // All together do less the more there are of them, and the more often they flush.
        for every in [1e5, 1e6] {
            let [one, two, three] = [1, 2, 3].map(|guests| of(guests, every));
            // A yield finds who is waited for, so that little is lost where it helps.
            let most = if helped { 1.0 } else { 0.95 };
            assert!(
                two < most * one && three < 1.02 * two,
                "{helped} {every}: {one} {two} {three}"
            );
        }
        let by_rate = [1e5, 1e6, 1e8, 1e10].map(|every| of(2, every));
        assert!(helped || by_rate.is_sorted(), "{by_rate:?}");
        assert!(by_rate[3] > 7.9, "{helped} {by_rate:?}");
    }
    // Who waits for answers stands in no line of a lock, and never halts as waiters there do.
    let halting = Kvm {
        paravirtual_locks: Some(HALTING),
        ..asking(false, false)
    };
    for guests in [2, 3] {
        let [plain, halting] =
            [&asking(false, false), &halting].map(|kvm| done(&flushing(guests, 1e6, kvm), guests));
        assert_eq!(plain, halting, "{guests}");
    }
    // What is waited for is lost to spinning, and a yield finds those that are waited for.
    let [alone, helped] = [false, true].map(|helped| flushing(3, 1e5, &asking(false, helped)));
    assert!(alone.total("g0", "book_spin") > 0.3e9);
    assert!(done(&helped, 3) > done(&alone, 3));
}
