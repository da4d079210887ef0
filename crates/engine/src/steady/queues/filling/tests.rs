//! How a guest fills its virtual processors, against guests that were played.

use super::*;

fn threads(filled: Filled, busy: u32) -> (f64, f64) {
    let (mut vps, mut threads) = (0.0, 0.0);
    filled.each(busy, |each, count| {
        vps += count;
        threads += count * each as f64;
    });
    (vps, threads)
}

#[test]
fn all_busy_threads_are_somewhere() {
    for (smt, first) in [(1, 1), (2, 1), (2, 2), (4, 2), (4, 4), (8, 8)] {
        let filled = Filled::told(6, smt, first);
        for busy in 0..=filled.threads() {
            for filled in [filled, filled.strayed(0.3)] {
                let (vps, all) = threads(filled, busy);
                assert!(
                    (all - f64::from(busy)).abs() < 1e-6,
                    "{smt} {first} {busy}: {all}"
                );
                assert!(vps <= 6.0 + 1e-9 && vps <= all + 1e-9);
            }
        }
    }
}

#[test]
fn the_fewer_are_on_ones_own_chip_the_sooner_all_of_them_have_work() {
    assert_eq!(near(&[0, 1, 2, 3], 16), 0.25);
    assert_eq!(near(&[0, 1, 2, 3], 2), 0.5);
    assert!((near(&[0, 0, 0, 1], 4) - 0.625).abs() < 1e-12);
    let on = |near: f64| Filled {
        near,
        returns: true,
        ..Filled::told(16, 2, 1)
    };
    let full = [1.0, 0.5, 0.25, 0.125].map(|near| Busy::of(on(near), 10).full);
    assert!(full.windows(2).all(|two| two[0][1] < two[1][1]), "{full:?}");
    assert!(full.iter().all(|of| of[0] == full[0][0] && of[0] <= of[1]));
    // Of two of sixteen, ten of which have work, both do in 10 9 / 16 15.
    assert!((full[3][1] - 0.375).abs() < 1e-9);
    let stray = full.map(|full| on(1.0).with(0.9).astray(10.0, full, 0.0));
    assert!(stray.windows(2).all(|two| two[0] < two[1]), "{stray:?}");
}

/// A guest that sends threads back to where they ran, on so many virtual processors.
fn returns(vps: u16, smt: u32, stray: f64) -> Filled {
    Filled {
        returns: true,
        ..Filled::told(vps, smt, 1).with(0.9).strayed(stray)
    }
}

#[test]
fn on_one_virtual_processor_it_is_all_the_same_beside_whom_a_thread_runs() {
    for (smt, stray) in [(2, 0.1), (4, 0.3), (8, 0.05), (8, 0.9)] {
        let there = returns(1, smt, stray);
        for busy in 1..=smt {
            let found = Busy::of(there, busy);
            assert!((found.with[busy as usize] - 1.0).abs() < 1e-12, "{found:?}");
            assert!((found.vps - 1.0).abs() < 1e-12 && found.wakes < 1e-12);
            assert!((found.full[0] - 1.0).abs() < 1e-12);
        }
        let none = Busy::of(there, 0);
        assert!((none.wakes - 1.0).abs() < 1e-12 && none.full[0] == 0.0);
    }
}

/// Of two virtual processors of two threads: where each pair of logical processors may be.
#[test]
fn two_threads_of_two_virtual_processors_are_where_counting_has_them() {
    // One astray: it is beside the other one in one of two cases. Two astray: never.
    let (half, all) = (returns(2, 2, 0.5), returns(2, 2, 1.0));
    assert!((threads(half, 2).0 - 1.5).abs() < 1e-12);
    assert!((threads(all, 2).0 - 2.0).abs() < 1e-12);
    assert!((half.full(2) - 0.5).abs() < 1e-12 && (all.full(2) - 1.0).abs() < 1e-12);
    // Of four astray on the 14 of two virtual processors of eight threads 2 C(7, 4) of C(14, 4)
    // cases leave one without work: nearly so many are found.
    let left = 1.0 - returns(2, 8, 1.0).full(4);
    assert!((left - 70.0 / 1001.0).abs() < 0.04, "{left}");
}

#[test]
fn raw_filling_takes_one_each_and_packing_takes_fewer() {
    assert_eq!(threads(Filled::told(6, 2, 1), 4).0, 4.0);
    let packed = threads(Filled::told(6, 2, 2), 4).0;
    assert!(packed > 2.0 && packed < 3.5, "{packed}");
    let fours = threads(Filled::told(60, 4, 4), 40).0;
    assert!(fours > 10.0 && fours < 14.0, "{fours}");
}

/// Against guests of which each coming was played, 200,000 of them: threads loaded before the
/// next, those that are busy on the mean, the share of the time in which a dispatch holds up,
/// how many find nobody to join, and virtual processors with work.
#[test]
fn as_many_wake_one_as_when_each_coming_is_played_held_up_or_not() {
    let played = [
        (2, 17, 0.0, 0.134, 9.59),
        (4, 17, 0.0, 0.034, 5.48),
        (4, 9, 0.0, 0.053, 3.20),
        (8, 30, 0.0, 0.005, 5.10),
        (2, 11, 0.59, 0.240, 6.27),
        (2, 6, 0.75, 0.367, 3.60),
        (2, 19, 0.91, 0.367, 9.77),
        (4, 17, 0.88, 0.177, 4.85),
    ];
    for (first, busy, held, wakes, vps) in played {
        let filled = Filled::told(30, first, first).held(held);
        let (found, with) = (filled.wakes(busy), threads(filled, busy).0);
        // Where many are loaded before the next, still more wake one than when played.
        let most = match first {
            2 => 1.15,
            4 => 1.5,
            _ => 3.0,
        };
        let by = found / wakes;
        assert!(by < most && 1.0 / by < most, "{first} {found} {wakes}");
        assert!(
            (with / vps - 1.0).abs() < 0.08,
            "{first} {busy} {with} {vps}"
        );
    }
}

/// Against the balance of all states of virtual processors with one thread at work and with two,
/// which do 1.4 times what one does: threads, who finds nobody to join, those with work.
#[test]
fn threads_that_slow_each_other_leave_fewer_holes() {
    let balanced = [
        (8, 0.2284, 4.687),
        (17, 0.1584, 9.490),
        (29, 0.1217, 15.783),
    ];
    let slowed = Filled {
        vps: 30,
        smt: 2,
        ..Filled::order(2, &[1.0, 1.4])
    };
    for (busy, wakes, vps) in balanced {
        let (found, with) = (slowed.wakes(busy), threads(slowed, busy).0);
        assert!(
            (found / wakes - 1.0).abs() < 0.06,
            "{busy}: {found} {wakes}"
        );
        assert!((with / vps - 1.0).abs() < 0.01, "{busy}: {with} {vps}");
        let alike = Filled::told(30, 2, 2);
        assert!(alike.wakes(busy) < 0.9 * found);
        assert!(slowed.varies(busy) < alike.varies(busy) && slowed.varies(busy) > 0.0);
    }
    assert_eq!(Filled::told(30, 2, 1).varies(17), 0.0);
}

#[test]
fn whoever_finds_a_virtual_processor_with_a_hole_wakes_none() {
    let filled = Filled::told(30, 8, 8).held(0.5);
    assert!((1..8).all(|busy| filled.wakes(busy) == 0.0));
    assert_eq!((filled.wakes(0), filled.wakes(240)), (1.0, 0.0));
    // The more is held up, the fewer holes are left and the more are woken.
    let at = |held: f64| filled.held(held).wakes(40);
    assert!(at(0.0) < at(0.3) && at(0.3) < at(0.6) && at(0.6) < at(0.99));
}

/// Two threads each: singles go up and down as the module says; played here.
#[test]
fn holes_are_as_many_as_a_walk_leaves() {
    let (mut sum, mut all, mut chance) = (0.0, 1.0, 1.0);
    let n = 24.0_f64;
    for hole in 0..24 {
        let (from, to) = (f64::from(hole), f64::from(hole) + 1.0);
        chance *= if hole == 0 { 2.0 * n } else { n - from } / (n + to);
        all += chance;
        sum += chance * to;
    }
    let (vps, _) = threads(Filled::told(30, 2, 2), 24);
    assert!(((n + sum / all) / 2.0 / vps - 1.0).abs() < 0.02, "{vps}");
}

/// Against guests that were played, 8,000 services of a thread: virtual processors, threads of
/// each, those that come while one is served, virtual processors with work.
#[test]
fn new_threads_lie_apart_as_when_each_coming_is_played() {
    let played = [
        (1, 8, 1.57, 0.790),
        (2, 8, 1.81, 1.323),
        (4, 8, 4.2, 3.136),
        (8, 2, 10.2, 7.221),
    ];
    for (vps, smt, come, with) in played {
        let new = returns(vps, smt, 0.5).with(0.0);
        let (mut chance, mut all, mut sum) = (1.0, 0.0, 0.0);
        for (busy, found) in new.returning(come).into_iter().enumerate() {
            let threads = found.with.iter().zip(0_u8..);
            let threads: f64 = threads.map(|(vps, of)| vps * f64::from(of)).sum();
            assert!((threads - busy as f64).abs() < 1e-6, "{busy} {found:?}");
            chance *= if busy > 0 { come / busy as f64 } else { 1.0 };
            all += chance;
            sum += chance * found.vps;
        }
        assert!(
            (sum / all / with - 1.0).abs() < 0.01,
            "{vps} {smt} {}",
            sum / all
        );
    }
}
