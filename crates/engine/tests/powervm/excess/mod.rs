//! What others leave is shared out by weight: random frames of endless loops against exact
//! water-filling ([`due`]), under PowerVM (pools with maximum and reserve, caps, donated cores) and
//! PR/SM (both polarizations, initial capping, groups).

mod due;
mod frames;

use crate::common::{aix, machine, partition, run, shared, spec, MS, SECOND};
use due::{excess, Limit, Sharer};
use frames::{Frame, Kind};
use homenode_engine::spec::{Partition, Processors, Spread, Workload};

/// Frames of each kind.
const FRAMES: u64 = 24;
/// By how much one may be off over ten seconds, of all excess.
const TOLERANCE: f64 = 0.01;

/// What each got and what it is due of all that is not entitled: no core may be idle for which
/// somebody has work.
fn off(frame: &Frame) -> f64 {
    let outcome = run(&frame.spec, 0);
    let names = 0..frame.sharers.len();
    let used = names.map(|at| outcome.total(&format!("p{at}"), "busy_ns") / (10 * SECOND) as f64);
    let used: Vec<f64> = used.collect();
    let more = excess(f64::from(frame.cores), &frame.limits, &frame.sharers);
    let all: f64 = more.iter().sum::<f64>().max(0.1);
    let each = used.iter().zip(&more).zip(&frame.sharers);
    each.map(|((used, more), one)| (used - one.own() - more).abs() / all)
        .fold(0.0, f64::max)
}

fn assert_shared_out(kind: Kind) {
    assert_shared_out_within(TOLERANCE, kind);
}

/// The same, with this part off at most.
fn assert_shared_out_within(part: f64, kind: Kind) {
    for seed in 0..FRAMES {
        let frame = kind.frame(seed);
        let off = off(&frame);
        assert!(off <= part, "{seed}: {off} off: {frame:?}");
    }
}

#[test]
fn powervm() {
    assert_shared_out(Kind::POWERVM);
}

#[test]
fn powervm_with_few_virtual_processors() {
    assert_shared_out(Kind {
        few: true,
        ..Kind::POWERVM
    });
}

#[test]
fn powervm_with_pools() {
    assert_shared_out(Kind {
        limits: true,
        ..Kind::POWERVM
    });
}

/// Beside capped partitions two virtual processors have 1.86 cores of a maximum of 1.90 in one
/// frame.
#[test]
fn powervm_with_pools_of_few_virtual_processors() {
    let few = Kind {
        few: true,
        ..Kind::POWERVM
    };
    assert_shared_out_within(
        0.04,
        Kind {
            limits: true,
            ..few
        },
    );
}

/// A pool's maximum is used up by twelve virtual processors before a thirteenth has used what it is
/// entitled to: it competes all the same, and has what its weight says.
#[test]
fn who_comes_late_to_a_used_up_maximum_competes_for_it() {
    let one = |vps: u16, entitled: f64, weight: u16| Sharer {
        vps,
        busy: vps,
        entitled,
        weight,
        capped: false,
        pool: 0,
    };
    let of_pool = Limit {
        maximum: Some(5.0),
        reserved: 0.0,
    };
    let all = [one(1, 0.4, 128), one(5, 0.5, 64), one(7, 1.1, 64)];
    let frame = Kind::POWERVM.of(machine("core:20"), all.to_vec(), vec![of_pool]);
    let off = off(&frame);
    assert!(off <= TOLERANCE, "{off} off");
}

/// Twelve virtual processors use eight cores up in the first part of each window, as a cap or a
/// pool's maximum ends them then; five can use no more than five cores after that, and have four on
/// the mean all the same.
#[test]
fn what_ends_early_in_a_window_leaves_the_rest_of_all_of_it() {
    let one = |vps: u16, entitled: f64, weight: u16, capped: bool, pool: usize| Sharer {
        vps,
        busy: vps,
        entitled,
        weight,
        capped,
        pool,
    };
    let none = Limit {
        maximum: None,
        reserved: 0.0,
    };
    let eight = Limit {
        maximum: Some(8.0),
        ..none
    };
    let capped = [one(5, 1.0, 10, false, 0), one(12, 8.0, 128, true, 0)];
    let of_pool = [one(5, 1.0, 10, false, 0), one(12, 1.0, 255, false, 1)];
    for (all, limits) in [(capped, vec![none]), (of_pool, vec![none, eight])] {
        let frame = Kind::POWERVM.of(machine("core:12"), all.to_vec(), limits);
        let off = off(&frame);
        assert!(off <= TOLERANCE, "{off} off: {frame:?}");
    }
}

#[test]
fn donated_capacity() {
    assert_shared_out(Kind {
        donors: true,
        few: true,
        ..Kind::POWERVM
    });
}

#[test]
fn horizontal_polarization() {
    assert_shared_out(Kind::PRSM);
}

#[test]
fn vertical_polarization() {
    assert_shared_out(Kind {
        vertical: true,
        ..Kind::PRSM
    });
}

/// One that has to wait for its own slice as well, when a slice begins, gets little of what is left
/// then, and there may be little: a tenth of a core of half a core in one frame of 48, where it got
/// a twenty-fifth while those that are listed first began each slice.
#[test]
fn initial_capping() {
    for vertical in [false, true] {
        assert_shared_out_within(
            0.2,
            Kind {
                capping: true,
                vertical,
                ..Kind::PRSM
            },
        );
    }
}

#[test]
fn groups() {
    assert_shared_out(Kind {
        limits: true,
        few: false,
        ..Kind::PRSM
    });
}

/// A small one that always gets all that it can use falls behind for good; whoever comes back
/// beside it is behind no more than that, and not by all the time that it slept.
#[test]
fn who_comes_back_has_nothing_to_catch_up_with() {
    let work = |lengths_ns: [u64; 2], per_s: [f64; 2]| Workload::Trace {
        lengths_ns: lengths_ns.to_vec(),
        instructions_per_s: per_s.to_vec(),
        spread: Spread::Even,
    };
    let all = work([SECOND, 9 * SECOND], [8e9, 8e9]);
    let late = work([8 * SECOND, 2 * SECOND], [0.0, 8e9]);
    let one = |name: &str, vps: u16, of: u16, work: &Workload| -> Partition {
        let mut own = shared(0.1, vps);
        if let Processors::Shared { weight, .. } = &mut own {
            *weight = of;
        }
        let mut one = partition(name, own, work.clone());
        one.profile.instructions_per_unit = 1e5;
        aix(&mut one).xvcpus = -1;
        one
    };
    let small = one("small", 1, 255, &all);
    let (busy, back) = (one("busy", 8, 128, &all), one("back", 8, 128, &late));
    let mut spec = spec(machine("core:8"), vec![small, busy, back]);
    (spec.duration_ns, spec.interval_ns) = (10 * SECOND, 100 * MS);
    let outcome = run(&spec, 0);
    let busy = outcome.series("busy", "busy_ns");
    let after: i64 = busy[80..85].iter().sum();
    // Half of what the small one leaves, were it not for what the other may be ahead.
    let fair = 0.5 * 7.0 * 0.5 * SECOND as f64;
    assert!(after as f64 >= 0.75 * fair, "{after} ns of {fair}");
}
