//! Formal spin locks of z/VM's Control Program: who spins, for which lock, and what that follows
//! from.

use crate::common::zvm::{
    cores_of, cp, free_cp, no_locks, paging, real_paths, switch, tile, web, zvm_partition,
};
use crate::common::{run, spec, Outcome, GIB, MS, SECOND};
use homenode_engine::spec::{CpLocks, Spec, Unparking, Workload};

const LOCKS: [&str; 3] = ["scheduler", "vector", "page"];

fn all_locks() -> CpLocks {
    CpLocks {
        dispatch: 1.0,
        ready: 1.0,
        frame: 0.25,
        page: 1.0,
        asked: 2.0,
        hold: 100.0,
        lines: 2.0,
        search: 0.0,
        look: 5.0,
        delay: 600.0,
    }
}

/// One client and six servers with a third of their files paged out, on so many processors.
fn paged(cores: u16, locks: CpLocks) -> Spec {
    let mut zvm = free_cp(tile(0, 1, 6), vec![switch("s")]);
    zvm.paging = Some(paging(64));
    zvm.paths = real_paths();
    zvm.locks = locks;
    for machine in &mut zvm.machines {
        machine.memory_bytes = GIB;
    }
    let machine = cores_of(cores.div_ceil(6), 6);
    let mut spec = spec(machine, vec![zvm_partition(cores, zvm, web())]);
    spec.partitions[0].memory[0].bytes = 7 * GIB * 2 / 3;
    if let Workload::Web { file_bytes, .. } = &mut spec.partitions[0].workload {
        *file_bytes = 1 << 20;
    }
    (spec.warmup_ns, spec.duration_ns) = (5 * SECOND, 4 * SECOND);
    spec.interval_ns = 500 * MS;
    spec
}

fn spun(outcome: &Outcome, lock: &str) -> f64 {
    outcome.total("zvm", &format!("{lock}_spin_ns"))
}

/// Time spun for pages, for each that came in.
fn a_page(outcome: &Outcome) -> f64 {
    spun(outcome, "page") / outcome.total("zvm", "pages_in")
}

#[test]
fn a_page_costs_more_the_more_processors_are_unparked() {
    let of = |cores| a_page(&run(&paged(cores, all_locks()), 0));
    let seen: Vec<f64> = [6, 12, 24, 48].into_iter().map(of).collect();
    assert!(seen.windows(2).all(|pair| pair[1] > pair[0]), "{seen:?}");
    // Each of the others is asked: 47 of them take more than eight times as long as five.
    assert!(seen[3] > 8.0 * seen[0], "{seen:?}");
}

#[test]
fn parking_makes_processors_spin_less() {
    let of = |unparking| {
        let mut spec = paged(48, all_locks());
        cp(&mut spec.partitions[0]).unparking = unparking;
        run(&spec, 0)
    };
    let (large, small) = (of(Unparking::Large), of(Unparking::Small));
    assert!(small.total("zvm", "unparked_ns") < 0.5 * large.total("zvm", "unparked_ns"));
    assert!(a_page(&small) < 0.8 * a_page(&large));
    let a_take =
        |outcome: &Outcome| spun(outcome, "scheduler") / outcome.total("zvm", "scheduler_locks");
    assert!(a_take(&small) < a_take(&large));
}

#[test]
fn who_takes_no_lock_spins_for_none() {
    let none = run(&paged(12, no_locks()), 0);
    assert_eq!(none.total("zvm", "book_spin"), 0.0);
    for lock in LOCKS {
        let mut locks = all_locks();
        match lock {
            "scheduler" => locks.ready = 0.0,
            "vector" => (locks.dispatch, locks.ready) = (0.0, 1.0),
            // A report counts for the lock of pages what its holder fetches.
            _ => (locks.page, locks.asked) = (0.0, 0.0),
        }
        let outcome = run(&paged(12, locks), 0);
        // Nobody waits for the scheduler's lock that all share.
        assert_eq!(spun(&outcome, lock), 0.0, "{lock}");
        for other in LOCKS.into_iter().filter(|other| *other != lock) {
            assert!(spun(&outcome, other) >= 0.0);
        }
        assert!(outcome.total("zvm", "book_spin") > 0.0, "{lock}");
    }
}

#[test]
fn what_is_spun_for_each_lock_is_all_that_is_spun() {
    // What is asked is fetched, not spun. Who makes others ready pays for their vectors.
    for hold in [50.0, 1_000.0] {
        let locks = CpLocks {
            asked: 0.0,
            hold,
            ..all_locks()
        };
        spun_for_each_is_all(&run(&paged(24, locks), 0));
    }
}

fn spun_for_each_is_all(outcome: &Outcome) {
    let of_switches = {
        let at = outcome.switch.at("lock_spin_ns");
        outcome.switch.rows().map(|row| row[at]).sum::<i64>() as f64
    };
    let parts: f64 = LOCKS.iter().map(|lock| spun(outcome, lock)).sum();
    let all = outcome.total("zvm", "book_spin");
    // What is taken is counted at once, and spun a little later.
    assert!(
        ((parts + of_switches) / all - 1.0).abs() < 0.01,
        "{parts} {all}"
    );
}

/// Lines that came from other processors' caches, for each page that came in.
fn fetched_a_page(outcome: &Outcome) -> f64 {
    let lines = ["chip", "near", "far"].map(|at| format!("lines_cache_{at}"));
    let all: f64 = lines.iter().map(|of| outcome.total("zvm", of)).sum();
    all / outcome.total("zvm", "pages_in")
}

/// What is asked is fetched: no time in a core that could go on, and no instruction.
#[test]
fn who_asks_the_others_waits_for_their_lines_and_executes_nothing() {
    let of = |asked| {
        let locks = CpLocks {
            asked,
            ..all_locks()
        };
        run(&paged(24, locks), 0)
    };
    let [none, two, four] = [0.0, 2.0, 4.0].map(of);
    let fetched = [&none, &two, &four].map(fetched_a_page);
    // Two of each of 23 others, whether they work or not.
    let more = [fetched[1] - fetched[0], fetched[2] - fetched[1]];
    assert!(
        more.iter().all(|lines| (lines - 46.0).abs() < 1.0),
        "{more:?}"
    );
    let executed = |of: &Outcome| of.total("zvm", "instructions") / of.total("zvm", "tx_done");
    assert!((executed(&four) / executed(&none) - 1.0).abs() < 0.02);
    assert!(a_page(&two) > 5.0 * a_page(&none));
    assert!((a_page(&four) / a_page(&two) - 2.0).abs() < 0.1);
}

/// Each page that loses its frame is asked for once: takes of the lock have no part in it.
#[test]
fn how_often_the_lock_is_taken_changes_nothing_in_whom_a_page_asks() {
    let lines_asked = |page| {
        let of = |asked| {
            let locks = CpLocks {
                page,
                asked,
                ..all_locks()
            };
            fetched_a_page(&run(&paged(24, locks), 0))
        };
        of(2.0) - of(0.0)
    };
    for page in [0.0, 0.25, 4.0] {
        let lines = lines_asked(page);
        assert!((lines - 46.0).abs() < 1.0, "{page}: {lines}");
    }
}

#[test]
fn guests_do_the_same_work_whatever_is_spun() {
    let guest = |locks| {
        let outcome = run(&paged(24, locks), 0);
        let (busy, done) = (
            outcome.total("zvm", "busy_ns"),
            outcome.total("zvm", "tx_done"),
        );
        let owners = ["guest_ns", "chargeable_ns", "system_ns"];
        let parts: f64 = owners.iter().map(|of| outcome.total("zvm", of)).sum();
        assert_eq!(parts, busy);
        outcome.total("zvm", "guest_ns") / done
    };
    let (free, spun) = (guest(no_locks()), guest(all_locks()));
    assert!((spun / free - 1.0).abs() < 0.01, "{free} {spun}");
}

/// Who spins stops after each look: how long is a matter of time and not of instructions.
#[test]
fn a_longer_delay_means_fewer_instructions_for_the_same_time() {
    let of = |delay| {
        let outcome = run(
            &paged(
                24,
                CpLocks {
                    delay,
                    ..all_locks()
                },
            ),
            0,
        );
        let spun = outcome.total("zvm", "book_spin");
        (outcome.total("zvm", "spin_instructions") / spun, spun)
    };
    let seen = [20.0, 200.0, 2_000.0].map(of);
    assert!(
        seen.windows(2).all(|pair| pair[1].0 < pair[0].0),
        "{seen:?}"
    );
    assert!((seen[2].1 / seen[0].1 - 1.0).abs() < 0.05, "{seen:?}");
}

#[test]
fn more_processors_spin_longer_and_execute_hardly_more() {
    let of = |cores| {
        let outcome = run(&paged(cores, all_locks()), 0);
        let path = outcome.total("zvm", "instructions");
        let cpi = outcome.total("zvm", "cycles") / path;
        (cpi, outcome.total("zvm", "spin_instructions") / path)
    };
    let seen = [6, 12, 24, 48].map(of);
    assert!(
        seen.windows(2).all(|pair| pair[1].0 > pair[0].0),
        "{seen:?}"
    );
    assert!(seen[3].1 < 0.02, "{seen:?}");
}
